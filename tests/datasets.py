"""Datasets that tests change: other rows, and a manifest that is true of them again."""

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from numerate.lm.data.integrity import add_rows, content_hash, seal
from numerate.lm.data.schema import SPLITS


def replace_rows(folder: Path, split: str, table: pa.Table | None) -> None:
    """Put a table in the place of a split's rows; None: leave the split without a file."""
    manifest = json.loads((folder / "manifest.json").read_text())
    about = manifest["splits"][split]
    digest = hashlib.sha256()
    if table is None:
        about["shards"] = []
    else:
        (shard,) = about["shards"]
        pq.write_table(table, folder / shard)
        for batch in table.to_batches():
            add_rows(digest, batch)
    about |= {
        "paragraphs": 0 if table is None else table.num_rows,
        "content_hash": digest.hexdigest(),
    }
    manifest["content_hash"] = content_hash(manifest["splits"][s]["content_hash"] for s in SPLITS)
    shards = [name for s in SPLITS for name in manifest["splits"][s]["shards"]]
    summaries = [manifest["splits"][s] for s in SPLITS]
    sights = [summary["sight"]["file"] for summary in summaries]  # still of the rows that were
    manifest["files"] = seal(folder, [*shards, *manifest["tables"], *sights])
    (folder / "manifest.json").write_text(json.dumps(manifest))

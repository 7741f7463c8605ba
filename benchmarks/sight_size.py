"""How much do the numbers in sight add to a dataset, and how many are in view of a paragraph?

python benchmarks/sight_size.py DATASET [DATASET …]
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from numerate.lm.data.dataset import SPLITS, Dataset

TOKENS = {"tokens", "starts", "ends", "numerals"}


def stored(path: Path) -> int:
    """Bytes of the columns of tokens as they are stored, compressed."""
    about = pq.ParquetFile(path).metadata
    groups = [about.row_group(group) for group in range(about.num_row_groups)]
    columns = [group.column(index) for group in groups for index in range(group.num_columns)]
    return sum(
        column.total_compressed_size
        for column in columns
        if column.path_in_schema.split(".")[0] in TOKENS
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+", type=Path, metavar="DATASET")
    for folder in parser.parse_args().datasets:
        dataset = Dataset.open(folder)
        summaries = [dataset.manifest["splits"][name] for name in SPLITS]
        sight = sum((folder / summary["sight"]["file"]).stat().st_size for summary in summaries)
        tokens = sum(summary["tokens"] for summary in summaries)
        numerals = sum(summary["numerals"] for summary in summaries)
        compressed = sum(stored(folder / shard) for s in summaries for shard in s["shards"])
        print(f"{folder.name}: {tokens:,} tokens, {sight:,} bytes of sight")
        for label, size in (
            ("tokens as 32-bit integers", 4 * tokens),
            ("tokens, offsets and numerals as such", 12 * tokens + 4 * numerals),
            ("the same as stored", compressed),
        ):
            print(f"  over {label}: {sight / size:.2f}")
        for level in ("tables", "document"):
            columns = dataset.split("test").sight(level)
            ends = np.append(0, np.cumsum(np.diff(columns.number_offsets)[columns.views]))
            in_view = np.diff(ends[columns.view_offsets])
            print(f"  in view at level {level}: {in_view.mean():.0f}, at most {in_view.max():,}")


if __name__ == "__main__":
    main()

"""The columns of a dataset, and the shape of its manifest."""

import pyarrow as pa

from numerate.storage.records import Shape

FORMAT_NAME = "numerate dataset"
FORMAT_VERSION = 1
SPLITS = ("train", "dev", "test")

PARAGRAPHS = pa.schema(
    [
        ("document", pa.string()),
        ("text", pa.string()),  # as extracted, case kept
        ("tokens", pa.list_(pa.string())),
        ("starts", pa.list_(pa.int32())),  # offsets of each token into text
        ("ends", pa.list_(pa.int32())),
        ("numerals", pa.list_(pa.int32())),  # positions of the tokens that are numerals
        ("tables", pa.list_(pa.string())),  # ids of the tables it refers to
    ]
)
ORACLE = pa.field("log_probs", pa.list_(pa.float64()))  # one per token, one for the end
ORACLE_WITH_TABLES = ORACLE.with_name("log_probs_with_tables")
TABLES = pa.schema(
    [
        ("document", pa.string()),
        ("id", pa.string()),
        ("label", pa.string()),
        ("caption", pa.string()),
        ("header", pa.list_(pa.list_(pa.string()))),
        ("body", pa.list_(pa.list_(pa.string()))),
        ("repeated", pa.list_(pa.list_(pa.int32(), 2))),  # rows and columns: see Table
    ]
)

_SPLIT: dict[str, Shape] = {
    "documents": int,
    "paragraphs": int,
    "tokens": int,
    "numerals": int,
    "shards": [str],
    "content_hash": str,
    "tables": [str],
    "sight": {"file": str, "sha256": str, "tables": int, "numbers": int},
}
MANIFEST_SHAPE: dict[str, Shape] = {
    "numerate": str,
    "options": {
        "source": str,
        "reading": {"decimal": str, "split_names": bool, "grammar": int},
        "tables?": bool,  # of the built-in corpus
    },
    "oracle": bool,
    "counts": {"*": int},
    "splits": dict.fromkeys(SPLITS, _SPLIT),
    "tables": [str],
    "content_hash": str,
    "files": {"*": {"bytes": int, "sha256": str}},
}


def paragraph_schema(oracle: bool, with_tables: bool = False) -> pa.Schema:
    """The columns of paragraphs: what the source knows of their probability beside the texts."""
    if not oracle:
        return PARAGRAPHS
    schema = PARAGRAPHS.append(ORACLE)
    return schema.append(ORACLE_WITH_TABLES) if with_tables else schema

"""What a dataset looks like: the statistics of the paper's Table 1, and more."""

import math
from dataclasses import dataclass

import numpy as np

from numerate.errors import NumerateError
from numerate.lm.data.dataset import SPLITS, Dataset, Encoded, Split
from numerate.numeral import is_numeral
from numerate.text.quantities import quantities
from numerate.text.tokenizer import Token


@dataclass(frozen=True, slots=True)
class SplitStatistics:
    documents: int
    instances: int  # paragraphs
    max_length: int
    average_length: float
    words_percent: float
    numerals_percent: float
    min: float
    median: float
    mean: float
    max: float
    unknown_words_percent: float  # of word tokens
    unknown_numerals_percent: float  # of numeral tokens
    oracle: dict[str, float] | None  # perplexity of words, numerals, all
    oracle_with_tables: dict[str, float] | None


@dataclass(frozen=True, slots=True)
class Description:
    splits: dict[str, SplitStatistics]
    vocabulary_size: int  # asked for, or all training types where there are fewer
    types: int  # in the training split
    numeral_types_percent: float
    frequent_numerals: list[tuple[str, int]]  # of the training split
    tables: int
    table_counts: dict[str, int]  # what is known of them; nothing of datasets made before sight
    signed: bool = False  # whether min, median, mean and max are of quantities read whole


def describe(dataset: Dataset, vocabulary_size: int = 1000, *, signed: bool = False) -> Description:
    """With `signed`, numbers are quantities as a reader takes them: `−1.2 × 10^5` is one number."""
    if vocabulary_size < 1:
        raise NumerateError(f"vocabulary size: got {vocabulary_size}, expected 1 or more")
    train = dataset.split("train").encode()
    ranked = sorted(zip(train.types, train.counts.tolist(), strict=True), key=_by_frequency)
    vocabulary = {type for type, _ in ranked[:vocabulary_size]}
    numerals = [(type, count) for type, count in ranked if is_numeral(type)]
    return Description(
        splits={
            name: _statistics(dataset, name, train if name == "train" else None, vocabulary, signed)
            for name in SPLITS
        },
        vocabulary_size=len(vocabulary),
        types=len(train.types),
        numeral_types_percent=100 * len(numerals) / len(train.types),
        frequent_numerals=numerals[:10],
        tables=sum(batch.num_rows for batch in dataset.tables()),
        table_counts={
            name: count
            for name, count in dataset.manifest["counts"].items()
            if name.startswith(("table", "numbers"))
        },
        signed=signed,
    )


def description_rows(description: Description) -> dict[str, list[str]]:
    """The statistics in words and figures: the name of each, and its value in every split."""
    figures = {
        "documents": ("documents", "{:,}"),
        "instances": ("instances", "{:,}"),
        "max_length": ("max length", "{:,}"),
        "average_length": ("average length", "{:.1f}"),
        "words_percent": ("% words", "{:.1f}"),
        "numerals_percent": ("% numerals", "{:.1f}"),
        "min": ("min quantity" if description.signed else "min number", "number"),
        "median": ("median", "number"),
        "mean": ("mean", "number"),
        "max": ("max", "number"),
        "unknown_words_percent": ("% unknown words", "{:.1f}"),
        "unknown_numerals_percent": ("% unknown numerals", "{:.1f}"),
    }
    splits = [description.splits[split] for split in SPLITS]
    rows = {}
    for attribute, (label, style) in figures.items():
        values = [getattr(split, attribute) for split in splits]
        rows[label] = [format_number(v) if style == "number" else style.format(v) for v in values]
    for label, oracles in (
        ("oracle perplexity", [split.oracle for split in splits]),
        ("oracle perplexity with tables", [split.oracle_with_tables for split in splits]),
    ):
        for kind in ("words", "numerals", "all"):
            if known := [oracle[kind] for oracle in oracles if oracle]:
                rows[f"{label}, {kind}"] = [f"{perplexity:.3f}" for perplexity in known]
    return rows


def tables_in_words(description: Description) -> str:
    """How many tables there are, what they hold, and which of them are none."""
    counts = description.table_counts
    if not description.tables or not counts:
        return f"{description.tables:,} tables." if description.tables else ""
    told = {
        "tables_pictures": "pictures", "tables_empty": "empty", "tables_layout": "for layout",
        "tables_without_numbers": "without numbers", "tables_nested": "nested in cells",
    }  # fmt: skip
    parts = [f"{counts[name]:,} {words}" for name, words in told.items() if counts.get(name)]
    left_out = counts.get("table_numbers_left_out", 0)
    out_of_view = counts.get("numbers_out_of_view", 0)
    return (
        f"{description.tables:,} tables, {counts.get('tables_referred', 0):,} of them referred to"
        + (f" ({', '.join(parts)})" if parts else "")
        + f": {counts.get('table_cells', 0):,} cells ({counts.get('table_cells_merged', 0):,} "
        f"merged), {counts.get('table_numbers', 0):,} numbers."
        + (f" Left out: {left_out:,} numbers of too large tables." if left_out else "")
        + (f" Out of view: {out_of_view:,} numbers." if out_of_view else "")
    )


def format_number(value: float) -> str:
    """A number for a table: short, and honest about its magnitude."""
    if math.isnan(value):
        return "–"
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.1e}"
    return f"{value:,.1f}"


def _by_frequency(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _statistics(
    dataset: Dataset, name: str, encoded: Encoded | None, vocabulary: set[str], signed: bool
) -> SplitStatistics:
    split = dataset.split(name)
    encoded = encoded or split.encode()
    numeral_type = np.array([is_numeral(type) for type in encoded.types], dtype=bool)
    known_type = np.array([type in vocabulary for type in encoded.types], dtype=bool)
    counts = encoded.counts
    values = np.array(
        [float(type) for type, numeral in zip(encoded.types, numeral_type, strict=True) if numeral]
    )
    weights = counts[numeral_type]
    numerals, tokens = int(weights.sum()), int(counts.sum())
    if signed:
        values = _quantities(split)
        weights = np.ones_like(values)
    total = weights.sum()
    log_probs = split.log_probs() if dataset.has_oracle else None
    with_tables = split.log_probs(with_tables=True) if dataset.has_oracle_with_tables else None
    return SplitStatistics(
        documents=split.summary["documents"],
        instances=split.summary["paragraphs"],
        max_length=int(encoded.lengths.max()),
        average_length=float(encoded.lengths.mean()),
        words_percent=100 * (tokens - numerals) / tokens,
        numerals_percent=100 * numerals / tokens,
        min=float(values.min()) if total else np.nan,
        median=_weighted_median(values, weights) if total else np.nan,
        mean=float(values @ weights / total) if total else np.nan,
        max=float(values.max()) if total else np.nan,
        unknown_words_percent=_percent(counts[~numeral_type & ~known_type], tokens - numerals),
        unknown_numerals_percent=_percent(counts[numeral_type & ~known_type], numerals),
        oracle=_oracle(log_probs, encoded, numeral_type),
        oracle_with_tables=_oracle(with_tables, encoded, numeral_type),
    )


def _quantities(split: Split) -> np.ndarray:
    """The values of all quantities of a split, signs and powers of ten included: [Q]."""
    values: list[float] = []
    for batch in split.batches(["tokens", "starts", "ends", "numerals"]):
        for row in batch.to_pylist():
            numerals = set(row["numerals"])
            places = zip(row["tokens"], row["starts"], row["ends"], strict=True)
            tokens = [Token(*place, index in numerals) for index, place in enumerate(places)]
            values += [float(found.value) for found in quantities(tokens)]
    return np.array(values)


def _percent(part: np.ndarray, whole: int) -> float:
    return 100 * int(part.sum()) / whole if whole else np.nan


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The median of the values, each repeated as often as its weight says."""
    order = np.argsort(values)
    ends = np.cumsum(weights[order])
    middle = (int(ends[-1]) - 1) / 2
    low, high = np.searchsorted(ends, [np.floor(middle), np.ceil(middle)], side="right")
    return float((values[order[low]] + values[order[high]]) / 2)


def _oracle(
    log_probs: np.ndarray | None, encoded: Encoded, numeral_type: np.ndarray
) -> dict[str, float] | None:
    """Perplexity of the process that wrote the corpus: no model can do better in expectation."""
    if log_probs is None:
        return None
    is_end = np.zeros(len(log_probs), dtype=bool)
    is_end[encoded.offsets[1:] + np.arange(len(encoded.lengths))] = True  # after each paragraph
    numeral = np.zeros(len(log_probs), dtype=bool)
    numeral[~is_end] = numeral_type[encoded.codes]
    return {
        "words": float(np.exp(-log_probs[~numeral].mean())),
        "numerals": float(np.exp(-log_probs[numeral].mean())),
        "all": float(np.exp(-log_probs.mean())),
    }

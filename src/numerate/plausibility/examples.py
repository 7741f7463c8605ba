"""Texts that a run knows how to read: from the dev split of its dataset, if it is still there."""

from pathlib import Path

from numerate.errors import NumerateError
from numerate.runs.folder import RunFolder

SHORTEST, LONGEST = 150, 900  # characters of a text that is read at a glance
LEAST_NUMERALS = 3


def example_texts(run: Path, dataset: Path | None = None, count: int = 5) -> list[str]:
    """Some paragraphs that the run was not trained on; none where its dataset has gone."""
    try:
        opened = RunFolder(run).open_dataset(dataset)
        columns = opened.split("dev").read(["text", "numerals"])
    except (NumerateError, OSError):
        return []
    fitting = [
        text
        for text, numerals in zip(
            columns["text"].to_pylist(), columns["numerals"].to_pylist(), strict=True
        )
        if SHORTEST <= len(text) <= LONGEST and len(numerals) >= LEAST_NUMERALS
    ]
    return fitting[:: max(1, len(fitting) // count)][:count]

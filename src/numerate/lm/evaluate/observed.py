"""What the figures of a run are made of, document by document, and its file in the run."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from numerate.errors import RunError
from numerate.lm.model.run_folder import OBSERVED
from numerate.lm.perplexity import perplexity
from numerate.reports.tables import HIGH, LOW
from numerate.storage.records import Shape, parse_record

FigurePath = tuple[str, ...]  # table, figure; or table, class, figure

# The tables that a choice of metrics has; one of an older version may lack some.
PARTS = {
    "perplexity": ("perplexity",),
    "paper": ("perplexity", "number_line"),
    "all": ("perplexity", "number_line", "beyond", "selected", "central"),
}

_FORMAT = "numerate observed 1"
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    function.__name__: function for function in (perplexity, math.sqrt, float)
}
_PARTS_OF_FIGURE = ("values", "sizes", "documents")
_FIGURE: Shape = [str, str, str, bool]  # function, bounds, whether it is a median
_GOALS = {"accuracy": HIGH, "order_accuracy": HIGH, "coverage_50": 0.5, "coverage_90": 0.9}


def goal_of(path: FigurePath) -> float:
    """How a figure is good: `LOW`, `HIGH`, or a number that it should be near.

    Of some the best means nothing, and their goal is nan: PP flatters small vocabularies, and
    narrow intervals are good where they hold.
    """
    no_goal = path[-1] == "pp" or "_width_" in path[-1]
    return math.nan if no_goal else _GOALS.get(path[-1], LOW)


@dataclass(frozen=True, slots=True)
class Observed:
    """A function of a mean, by the sum and size of each document; or a median of single values."""

    values: np.ndarray = field(repr=False)  # [n] sums of documents; for a median, all values
    sizes: np.ndarray = field(repr=False)  # [n] how many are summed up in each
    documents: np.ndarray = field(repr=False)  # [n] ranks of ids, the same for every run of a split
    function: Callable[[float], float] = float
    bounds: tuple[float, float] = (-math.inf, math.inf)  # of the mean
    is_median: bool = False

    @property
    def estimate(self) -> float:
        """The mean, before the function; or the median. nan of nothing."""
        if not self.values.size:
            return math.nan
        if self.is_median:
            return float(np.median(self.values))
        return float(self.values.sum() / self.sizes.sum())


def by_document(values: np.ndarray, documents: np.ndarray, **about: Any) -> Observed:
    """Of single values, each of a document: what is needed of them."""
    if about.get("is_median"):
        return Observed(values, np.ones_like(values), documents, **about)
    distinct, document = np.unique(documents, return_inverse=True)
    sums = np.zeros(len(distinct))
    np.add.at(sums, document, values)
    return Observed(sums, np.bincount(document).astype(np.float64), distinct, **about)


def save_observed(run: Path, observed: dict[FigurePath, Observed], basis: dict[str, Any]) -> None:
    """Write the file; `basis` says what it rests on, as `metrics.json` does."""
    import torch

    from numerate.lm.data.tensor_file import save_tensors

    tensors, about = {}, {}
    for path, one in observed.items():
        name = ".".join(path)
        about[name] = [one.function.__name__, *map(str, one.bounds), one.is_median]
        for part in _PARTS_OF_FIGURE:
            # Copied: figures may share arrays, which the file does not have.
            tensors[f"{name}/{part}"] = torch.from_numpy(np.array(getattr(one, part)))
    record = {"figures": json.dumps(about), "basis": json.dumps(basis, sort_keys=True)}
    save_tensors(run / OBSERVED, _FORMAT, tensors, record)


def load_observed(run: Path, basis: dict[str, Any]) -> dict[FigurePath, Observed]:
    """Read the file, if it is there, whole, and rests on the same; else nothing."""
    from numerate.lm.data.tensor_file import load_tensors

    path = run / OBSERVED
    try:
        tensors, record = load_tensors(path, _FORMAT)
        figures = parse_record(record.get("figures", ""), {"*": _FIGURE}, RunError, path)
    except RunError:
        return {}
    parts = {f"{name}/{part}" for name in figures for part in _PARTS_OF_FIGURE}
    functions = {function for function, *_ in figures.values()}
    if record.get("basis") != json.dumps(basis, sort_keys=True) or parts != tensors.keys():
        return {}
    if not functions <= _FUNCTIONS.keys():
        return {}
    return {
        tuple(name.split(".")): Observed(
            tensors[f"{name}/values"].numpy(),
            tensors[f"{name}/sizes"].numpy(),
            tensors[f"{name}/documents"].numpy(),
            function=_FUNCTIONS[function],
            bounds=(float(low), float(high)),
            is_median=is_median,
        )
        for name, (function, low, high, is_median) in figures.items()
    }

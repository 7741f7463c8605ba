"""Models of several seeds each, in the same tables: mean, spread, intervals, and who is best."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Any

from numerate.lm.evaluate.bootstrap import PairedResult
from numerate.lm.evaluate.crossed import OverSeeds, against_best
from numerate.lm.evaluate.evaluate import ORACLES, Evaluation, strict
from numerate.lm.evaluate.figures import Figures, put
from numerate.lm.evaluate.observed import FigurePath, goal_of

USUAL_LEVEL = 0.95
_WITHOUT = ("numerals", "all")


@dataclass(slots=True)
class SeedEvaluation(Evaluation):
    """Of one model, all of its seeds together: figures are means over them.

    Perplexities are those of mean nats, RMSE that of mean squares: what intervals are around, and
    tests are of. The spread is of the figures as they are.
    """

    seeds: int = 1
    level: float = USUAL_LEVEL
    spread: Figures = field(default_factory=dict)  # standard deviations over seeds; {}: one seed
    against_best: dict[FigurePath, PairedResult] = field(default_factory=dict)

    def is_among_best(self, path: FigurePath) -> bool:
        """Whether nothing tells it from the best in this figure."""
        found = self.against_best.get(path)
        return found is not None and found.p_holm > 1 - self.level

    def record(self) -> dict[str, Any]:
        compared: Figures = {}
        for path, result in self.against_best.items():
            put(compared, path, {**asdict(result), "among_best": self.is_among_best(path)})
        about = {"seeds": self.seeds, "spread": self.spread, "against_best": compared}
        return {**Evaluation.record(self), **strict(about)}


def together(
    rows: Mapping[str, Sequence[Evaluation]], confidence: float | None
) -> list[SeedEvaluation]:
    """Each row's runs, which differ by their seed alone, as one, and compared with the best row.

    All are of the same data. Without `confidence` there are no intervals; who cannot be told from
    the best is then said at the usual level.
    """
    level = USUAL_LEVEL if confidence is None else confidence
    crossed = {name: _crossed(runs) for name, runs in rows.items()}
    found = {}
    for name, runs in rows.items():
        one = found[name] = _as_one(name, runs, level, confidence)
        for path, figure in crossed[name].items():
            if len(runs) > 1:
                put(one.spread, path, figure.spread)
            if path[0] in ORACLES.values():
                put(getattr(one, path[0]), path[1:], figure.mean)
                continue
            put(one.figures, path, figure.mean)
            if confidence is not None:
                put(one.intervals, path, list(figure.interval(confidence)))
    for column in _columns(crossed).values():
        goal = goal_of(next(iter(column))[1])
        if not math.isnan(goal):
            for (name, path), result in against_best(column, goal, level).items():
                found[name].against_best[path] = result
    return list(found.values())


def _columns(
    crossed: Mapping[str, Mapping[FigurePath, OverSeeds]],
) -> dict[FigurePath, dict[tuple[str, FigurePath], OverSeeds]]:
    """What stands in one column is tested together: of intervals, own and calibrated ones."""
    columns: dict[FigurePath, dict[tuple[str, FigurePath], OverSeeds]] = {}
    for name, figures in crossed.items():
        for path, figure in figures.items():
            column = (path[0], path[-1]) if path[0] == "central" else path
            columns.setdefault(column, {})[name, path] = figure
    return columns


def _crossed(runs: Sequence[Evaluation]) -> dict[FigurePath, OverSeeds]:
    """The figures that all of a row's runs have."""
    paths = [path for path in runs[0].observed if all(path in run.observed for run in runs)]
    return {path: OverSeeds([run.observed[path] for run in runs]) for path in paths}


def _as_one(
    name: str, runs: Sequence[Evaluation], level: float, confidence: float | None
) -> SeedEvaluation:
    """What all of a row's runs have in common, and means of what differs."""
    common = {one.name: getattr(runs[0], one.name) for one in fields(Evaluation)}
    common |= {"name": name, "folder": Path("runs") / name, "intervals": {}, "observed": {}}
    common["confidence"] = confidence
    for part in ("figures", "oracle", "oracle_with_tables"):
        common[part] = _mean([getattr(run, part) for run in runs])
    if without := _without_improbable(runs):
        common["figures"]["perplexity"]["without_improbable"] = without
    return SeedEvaluation(**common, seeds=len(runs), level=level)


def _without_improbable(runs: Sequence[Evaluation]) -> Figures | None:
    """Of the seeds whose perplexity is that of a few numerals: how many they are, and means."""
    found = [run.figures["perplexity"].get("without_improbable") for run in runs]
    found = [one for one in found if one is not None]
    if not found:
        return None
    perplexities = {name: geometric_mean([one[name] for one in found]) for name in _WITHOUT}
    return {"seeds": len(found), "count": fmean(one["count"] for one in found), **perplexities}


def _mean(values: Sequence[Any]) -> Any:
    """Of each figure that all have."""
    first = values[0]
    if first is None:
        return None
    if not isinstance(first, dict):
        return fmean(values)
    shared = [name for name in first if all(name in one for one in values)]
    return {name: _mean([one[name] for one in values]) for name in shared}

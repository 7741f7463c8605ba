"""Models of several seeds each, in the same tables: mean, spread, intervals, and who is best."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from numerate.evaluation.bootstrap import PairedResult
from numerate.evaluation.crossed import OverSeeds, against_best
from numerate.evaluation.evaluate import ABOVE_ORACLE, Evaluation, strict
from numerate.evaluation.figures import Figures, put
from numerate.evaluation.observed import FigurePath, goal_of

USUAL_LEVEL = 0.95


@dataclass(slots=True)
class SeedEvaluation(Evaluation):
    """Of one model, all of its seeds together: figures are means over them."""

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
    crossed = {
        name: {path: OverSeeds([run.observed[path] for run in runs]) for path in runs[0].observed}
        for name, runs in rows.items()
    }
    found = {}
    for name, runs in rows.items():
        one = found[name] = _as_one(name, runs, level)
        for path, figure in crossed[name].items():
            if path == ABOVE_ORACLE:
                assert one.best_possible is not None
                one.best_possible["nats_above"]["numerals"] = figure.mean
            else:
                put(one.figures, path, figure.mean)
            if len(runs) > 1:
                put(one.spread, path, figure.spread)
            if confidence is not None and path != ABOVE_ORACLE:
                put(one.intervals, path, list(figure.interval(confidence)))
    for path in {path: None for figures in crossed.values() for path in figures}:
        goal = goal_of(path)
        if not math.isnan(goal):
            column = {name: figures[path] for name, figures in crossed.items() if path in figures}
            for name, result in against_best(column, goal, level).items():
                found[name].against_best[path] = result
    return list(found.values())


def _as_one(name: str, runs: Sequence[Evaluation], level: float) -> SeedEvaluation:
    """What all of a row's runs have in common; of what is of one run alone, the first's."""
    first = runs[0]
    common = {one.name: getattr(first, one.name) for one in fields(Evaluation)}
    common |= {"name": name, "folder": Path("runs") / name, "intervals": {}, "observed": {}}
    for part in ("figures", "oracle", "oracle_with_tables"):
        common[part] = _copied(common[part])
    return SeedEvaluation(**common, seeds=len(runs), level=level)


def _copied(value: Any) -> Any:
    return {name: _copied(one) for name, one in value.items()} if isinstance(value, dict) else value

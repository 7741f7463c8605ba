"""How good is checking? Known errors put into held-out articles, and who finds them.

A threshold that so many right numerals exceed (1 %) tells what is found, by each kind of evidence
alone and by all of them together, as in `check`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from numerate.detector.scored import ERROR_RATE
from numerate.detector.trained import Detector
from numerate.lm.data.dataset import Dataset
from numerate.lm.evaluate.bootstrap import Interval, bootstrap_mean
from numerate.lm.evaluate.detection import FALSE_ALARMS, Pool, Quality, precision_of_first, quality
from numerate.lm.evaluate.judges import (
    Distance,
    Judgement,
    Oddness,
    Ruled,
    RuledRegion,
    Told,
    at_first_sight,
    by_detector,
    by_model,
    by_rules,
    by_surprisal,
    nobody,
)
from numerate.lm.evaluate.trial import Region, Trial
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.proofread.model_evidence import MOST_CERTAIN, probability_of, probability_of_odd

RULES_ALONE, DETECTOR_ALONE = "rules", "detector"
LIKELIHOOD, TOGETHER = "likelihood", "all together"
TEXTS, CELLS, BOTH = "texts", "table cells", "texts and table cells"


class Hearing:
    """What everybody says of a trial, each by itself."""

    def __init__(
        self,
        trial: Trial,
        models: Sequence[NumeralLM],
        detectors: Sequence[Detector],
        processes: int = 0,
        told: Told = nobody,
    ) -> None:
        self.trial = trial
        self.rules = by_rules(trial, processes, told)
        self.judged: dict[str, Judgement] = {RULES_ALONE: self.rules.judgement()}
        self.detected: list[Judgement] = []
        self.plausible: list[Oddness] = []  # share of right numerals as odd
        for detector in detectors:
            found = by_detector(detector, trial, processes, told)
            self.judged[_named(DETECTOR_ALONE, detector.name, len(detectors))] = found
            self.detected.append(found)
        for model in models:
            ways = (model.checker.strangeness, at_first_sight(model))
            strange, sight = by_model(model, ways, trial)
            share = model.checker.calibration.plausibility
            wrong = {name: share(values) for name, values in strange.wrong.items()}
            plausible = Oddness(share(strange.right), wrong)
            self.plausible.append(plausible)
            name = _named(LIKELIHOOD, str(model.name), len(models))
            flagged = plausible.right <= FALSE_ALARMS
            self.judged[name] = Judgement(replace(strange, flagged=flagged))
            self.judged[f"{name} at first sight"] = Judgement(sight)


def _named(kind: str, name: str, count: int) -> str:
    return kind if count == 1 else f"{kind} {name}"


def together(hearing: Hearing) -> Judgement:
    """Return the probability that `check` gives to a numeral of which it says anything: the
    highest that a rule or a model gives."""

    def probability(
        ruled: Ruled, detected: Sequence[np.ndarray], plausible: Sequence[np.ndarray]
    ) -> np.ndarray:
        found = [np.minimum(ruled.scores(), MOST_CERTAIN)]
        found += [np.vectorize(probability_of, otypes=[float])(odds) for odds in detected]
        found += [np.vectorize(probability_of_odd, otypes=[float])(odd) for odd in plausible]
        highest: np.ndarray = np.max(found, axis=0)
        return highest

    def judged(ruled: RuledRegion, detected: Sequence[Oddness], odd: Sequence[Oddness]) -> Oddness:
        return Oddness(
            probability(ruled.right, [one.right for one in detected], [one.right for one in odd]),
            {
                row: probability(
                    some, [one.wrong[row] for one in detected], [one.wrong[row] for one in odd]
                )
                for row, some in ruled.wrong.items()
            },
        )

    texts = [one.texts for one in hearing.detected]
    cells = [one.cells for one in hearing.detected if one.cells is not None]
    return Judgement(
        judged(hearing.rules.texts, texts, hearing.plausible),
        judged(hearing.rules.cells, cells, ()),  # of tables, language models say nothing
    )


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    split: str
    seed: int
    paragraphs: int
    numerals: int
    cells: int
    judges: dict[str, dict[str, Quality]]  # by who judges, and by kind of error
    first: dict[str, dict[str, Interval]]  # precision among the first findings, of which numerals
    flagged: dict[str, dict[str, Interval]]  # right ones that `check` flags at 1 % alarms

    def record(self) -> dict[str, Any]:
        return asdict(self)


def run_benchmark(
    dataset: Dataset,
    *,
    models: Sequence[NumeralLM] = (),
    detectors: Sequence[Detector] = (),
    softmax: NumeralLM | None = None,
    split: str = "test",
    seed: int = 1,
    limit: int | None = None,
    processes: int = 0,
    told: Told = nobody,
) -> BenchmarkResult:
    """Everybody on a split; `softmax` is a plain softmax's, for its surprisal.

    `limit` takes so many paragraphs only, always the same.
    """
    trial = Trial(dataset, split, seed=seed, limit=limit)
    hearing = Hearing(trial, models, detectors, processes, told)
    judged = dict(hearing.judged)
    if models or detectors:
        judged[TOGETHER] = together(hearing)
    if models:
        distance = Distance(models[0].reference.median)
        rows = trial.in_texts.rows
        wrong = {name: distance(injected.numerals) for name, injected in rows.items()}
        judged["distance from the median"] = Judgement(Oddness(distance(trial.numerals), wrong))
    if softmax is not None:
        (surprisal,) = by_model(softmax, [by_surprisal(softmax)], trial)
        judged[f"surprisal of {softmax.name}"] = Judgement(surprisal)
    return BenchmarkResult(
        split,
        seed,
        len(trial.chosen),
        len(trial.numerals),
        len(trial.in_tables.documents),
        {name: _qualities(one, trial) for name, one in judged.items()},
        {name: _first(one, trial) for name, one in judged.items()},
        {name: found for name, one in judged.items() if (found := _flagged(one, trial))},
    )


def _regions(judgement: Judgement, trial: Trial) -> dict[str, tuple[Oddness, Region]]:
    found = {TEXTS: (judgement.texts, trial.in_texts)}
    if judgement.cells is not None and len(trial.in_tables.documents):
        found[CELLS] = (judgement.cells, trial.in_tables)
    return found


def _qualities(judgement: Judgement, trial: Trial) -> dict[str, Quality]:
    return {
        name: quality(oddness.right, oddness.wrong[name], injected.places, region.documents)
        for oddness, region in _regions(judgement, trial).values()
        for name, injected in region.rows.items()
        if len(injected)
    }


def _first(judgement: Judgement, trial: Trial) -> dict[str, Interval]:
    pools = {}
    for name, (oddness, region) in _regions(judgement, trial).items():
        rows = [row for row, injected in region.rows.items() if len(injected)]
        if rows:
            pools[name] = Pool(
                oddness.right,
                region.documents,
                [oddness.wrong[row] for row in rows],
                [region.documents[region.rows[row].places] for row in rows],
            )
    found = {name: precision_of_first([pool], rate=ERROR_RATE) for name, pool in pools.items()}
    if len(pools) > 1:
        found[BOTH] = precision_of_first(list(pools.values()), rate=ERROR_RATE)
    return found


def _flagged(judgement: Judgement, trial: Trial) -> dict[str, Interval]:
    return {
        name: bootstrap_mean(oddness.flagged, region.documents, bounds=(0.0, 1.0))
        for name, (oddness, region) in _regions(judgement, trial).items()
        if oddness.flagged is not None
    }

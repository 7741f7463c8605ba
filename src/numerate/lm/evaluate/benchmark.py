"""How good is checking? Known errors put into held-out articles, and who finds them.

A threshold that so many right numerals exceed (1 %) tells what is found, by each kind of evidence
alone and by all of them joined as `check` joins them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from numerate.detector.kinds_of_error import HELD_OUT
from numerate.detector.scored import ERROR_RATE
from numerate.detector.trained import Detector
from numerate.lm.data.dataset import Dataset
from numerate.lm.evaluate.bootstrap import Interval, bootstrap_mean
from numerate.lm.evaluate.detection import FALSE_ALARMS, Pool, Quality, precision_of_first, quality
from numerate.lm.evaluate.fit_joining import fit_joining
from numerate.lm.evaluate.judges import (
    Distance,
    Judgement,
    Oddness,
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
from numerate.proofread.joining import (
    UNFITTED,
    Features,
    Joining,
    features_of,
    probability,
)
from numerate.reports.notices import say

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

    def texts(self, row: str | None) -> list[Features]:
        """Of the errors of a row in texts; None: of all numerals as they are."""
        ruled = self.rules.texts.right if row is None else self.rules.texts.wrong[row]
        detected = [_of(one.texts, row) for one in self.detected]
        plausible = [_of(one, row) for one in self.plausible]
        return list(_features(ruled.pointed, ruled.involved, detected, plausible))

    def cells(self, row: str | None) -> list[Features]:
        """The same of tables, of which language models say nothing."""
        ruled = self.rules.cells.right if row is None else self.rules.cells.wrong[row]
        detected = [_of(one.cells, row) for one in self.detected if one.cells is not None]
        return list(_features(ruled.pointed, ruled.involved, detected, []))


def _named(kind: str, name: str, count: int) -> str:
    return kind if count == 1 else f"{kind} {name}"


def _of(oddness: Oddness, row: str | None) -> np.ndarray:
    return oddness.right if row is None else oddness.wrong[row]


def _features(
    pointed: np.ndarray,
    involved: np.ndarray,
    detected: Sequence[np.ndarray],
    plausible: Sequence[np.ndarray],
) -> Iterator[Features]:
    of_models = [
        np.stack(some, axis=1).tolist() if some else [()] * len(pointed)
        for some in (detected, plausible)
    ]
    for rule, several, odds, shares in zip(
        pointed.tolist(), involved.tolist(), *of_models, strict=True
    ):
        yield features_of(
            [rule] if rule == rule else [], [several] if several == several else [], odds, shares
        )


def together(hearing: Hearing, joining: Joining) -> Judgement:
    """The probability that `check` gives to a numeral of which it says anything."""

    def joined(features: Sequence[Features]) -> np.ndarray:
        return np.array([probability(one, joining) for one in features])

    return Judgement(
        *(
            Oddness(joined(known(None)), {row: joined(known(row)) for row in region.rows})
            for region, known in (
                (hearing.trial.in_texts, hearing.texts),
                (hearing.trial.in_tables, hearing.cells),
            )
        )
    )


def fitted_joining(hearing: Hearing) -> Joining:
    """Fitted to right numerals, and to errors of all trained kinds, which count as many as they
    would be among them. Where a language model is asked, those of texts alone: of numbers of
    tables, which are ten times as many, it says nothing, and would count for too little.
    """
    trial = hearing.trial
    regions = [(trial.in_texts, hearing.texts), (trial.in_tables, hearing.cells)]
    vectors: list[tuple[float, ...]] = []
    is_wrong: list[np.ndarray] = []
    weights: list[np.ndarray] = []
    for region, known in regions[:1] if hearing.plausible else regions:
        right = known(None)
        wrong = [one for row in region.rows if row not in HELD_OUT for one in known(row)]
        vectors += [one.vector() for one in (*right, *wrong)]
        rarity = ERROR_RATE / (1 - ERROR_RATE) * len(right) / max(len(wrong), 1)
        is_wrong += [np.zeros(len(right), dtype=np.bool_), np.ones(len(wrong), dtype=np.bool_)]
        weights += [np.ones(len(right)), np.full(len(wrong), rarity)]
    return fit_joining(np.array(vectors), np.concatenate(is_wrong), np.concatenate(weights))


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
    joining: dict[str, float]

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

    `limit` takes so many paragraphs only, always the same. All kinds of evidence are joined by
    what was fitted on the dev split, on as many paragraphs of it; on the dev split itself, as if
    they were independent: what is fitted to a text says little of how good it is on it.
    """
    trial = Trial(dataset, split, seed=seed, limit=limit)
    hearing = Hearing(trial, models, detectors, processes, told)
    judged = dict(hearing.judged)
    joining = UNFITTED
    if models or detectors:
        if split == "dev":
            say("all together: joined as if independent, since joining is fitted on the dev split")
        else:
            dev = Trial(dataset, "dev", seed=seed + 1, limit=limit)
            joining = fitted_joining(Hearing(dev, models, detectors, processes, told))
        judged[TOGETHER] = together(hearing, joining)
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
        joining.record(),
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

"""Figures for other programs: CSV and JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from numerate.lm.evaluate.bootstrap import PairedResult
from numerate.lm.evaluate.comparable import differences
from numerate.lm.evaluate.evaluate import Evaluation, strict
from numerate.lm.evaluate.figures import Figures
from numerate.lm.evaluate.seeds import SeedEvaluation
from numerate.reports.tables import csv_text


def as_csv(
    evaluations: Sequence[Evaluation], compared: dict[str, PairedResult] | None = None
) -> str:
    """One line per figure: model, figure, value and, where known, its interval."""
    several = any(isinstance(evaluation, SeedEvaluation) for evaluation in evaluations)
    of_seeds = ["sd", "seeds", "p_holm", "among_best"] if several else []
    rows: list[Sequence[object]] = [["run", "model", "figure", "value", "low", "high", *of_seeds]]
    for evaluation in evaluations:
        intervals = dict(_leaves(strict(evaluation.intervals)))
        known = {
            "baselines": evaluation.baselines,
            "oracle": evaluation.oracle or {},
            "oracle_with_tables": evaluation.oracle_with_tables or {},
        }
        for name, value in _leaves(strict(evaluation.figures | known)):
            low, high = intervals.get(name, ("", ""))
            row = [evaluation.folder, evaluation.name, name, value, low, high]
            rows.append([*row, *_of_seeds(evaluation, name)])
    for name, result in strict({k: asdict(v) for k, v in (compared or {}).items()}).items():
        both = [evaluations[0].folder, "against " + str(evaluations[1].folder)]
        figure = f"comparison.{name}"
        rows.append([*both, figure, result["difference"], result["low"], result["high"]])
        kinds = ("p_value", "p_holm")
        rows += [[*both, f"{figure}.{kind}", result[kind], "", ""] for kind in kinds]
    return csv_text(rows).rstrip("\n")


def _of_seeds(evaluation: Evaluation, name: str) -> list[object]:
    """Spread, seeds, p against the best, and whether it is among the best."""
    if not isinstance(evaluation, SeedEvaluation):
        return []
    path = tuple(name.split("."))
    spread = dict(_leaves(strict(evaluation.spread))).get(name, "")
    against = evaluation.against_best.get(path)
    found = ("", "") if against is None else (against.p_holm, evaluation.is_among_best(path))
    return [spread, evaluation.seeds, *found]


def _leaves(figures: Figures, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def as_json(evaluations: Sequence[Evaluation], compared: dict[str, PairedResult] | None) -> str:
    record: dict[str, Any] = {
        "runs": {str(evaluation.folder): evaluation.record() for evaluation in evaluations}
    }
    if len(evaluations) > 1 and all(one.parameters for one in evaluations):
        record["cost"] = {
            str(one.folder): strict(
                {"parameters": one.parameters, "tokens_per_second": one.tokens_per_second}
            )
            for one in evaluations
        }
    if notes := differences(evaluations):
        record["notes"] = list(dict.fromkeys(notes.values()))
    if compared is not None:
        record["comparison"] = strict({name: asdict(result) for name, result in compared.items()})
    return json.dumps(record, indent=2, ensure_ascii=False)

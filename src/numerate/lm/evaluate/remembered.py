"""Figures read back from the `metrics.json` of a run."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from numerate.lm.backbones.contract import Targets
from numerate.lm.evaluate.evaluate import Evaluation
from numerate.lm.evaluate.observed import PARTS
from numerate.lm.model.run_folder import RunFolder


def read_evaluation(run: Path, folder: Path | None = None) -> Evaluation | None:
    """The figures as they were found; without the tokens, which tables do not need.

    `folder` is how tables shall name the run.
    """
    record = RunFolder(run).metrics()
    return evaluation_of(record, folder or run) if record is not None else None


def evaluation_of(record: dict[str, Any], folder: Path) -> Evaluation:
    nothing = np.empty(0)
    return Evaluation(
        name=record["model"],
        folder=folder,
        dataset=record["dataset"],
        split=record["split"],
        limit=record["limit"],
        figures=_figures(
            {name: record[name] for name in PARTS["all"] if record.get(name) is not None}
        ),
        intervals=_figures(record["intervals"]),
        counts=record["counts"],
        baselines=_figures(record["baselines"]),
        sight=record["sight"],
        oracle=record["oracle"] and _figures(record["oracle"]),
        oracle_with_tables=_figures(record["oracle_with_tables"] or {}) or None,
        adjusted=nothing,
        targets=Targets(nothing, nothing, nothing, nothing),
        documents=nothing,
        by_numeral={},
        calibrated_on=record["calibrated_on"],
        oov_set=record["oov_set"],
        confidence=record["confidence"],
    )


def _figures(value: Any) -> Any:
    """With nan again where JSON has none."""
    if isinstance(value, dict):
        return {name: _figures(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_figures(item) for item in value]
    return math.nan if value is None else value

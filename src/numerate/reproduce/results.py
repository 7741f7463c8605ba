"""Trained runs to figures, evaluated once and remembered in each run's `metrics.json`."""

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from numerate.atomic import write_file
from numerate.evaluation.evaluate import METRICS, Evaluation, evaluate
from numerate.evaluation.score import Targets
from numerate.model.language_model import WEIGHTS, read_json
from numerate.reproduce.board import Board
from numerate.reproduce.plan import Plan
from numerate.reproduce.workers import each_model


def evaluate_models(plan: Plan, models: Sequence[str], board: Board) -> list[Evaluation]:
    """Evaluate each run unless its figures are there already; the board says which failed."""
    waiting = [model for model in models if _remembered(plan, model) is None]
    for model in models:
        if model in waiting:
            board.rows[model].state = "evaluating"
        else:
            board.rows[model].state = "evaluated"
    for model, error in each_model(plan, evaluate_run, waiting) if waiting else ():
        if error is None:
            board.rows[model].end("evaluated")
        else:
            board.rows[model].end("failed", str(error))
        board.ended(model)
    found = {model: _remembered(plan, model) for model in models}
    return [_evaluation(record, model) for model, record in found.items() if record is not None]


def evaluate_run(plan: Plan, model: str) -> None:
    folder = plan.run(model)
    result = evaluate(
        folder,
        plan.dataset,
        everything=plan.everything,
        confidence=plan.confidence,
        device=plan.device,
    )
    record = {**result.record(), "evaluated": _basis(plan, model)}
    write_file(folder / METRICS, (json.dumps(record, indent=2) + "\n").encode())


def _basis(plan: Plan, model: str) -> dict[str, Any]:
    """What the figures of a run depend on beyond its dataset."""
    weights = hashlib.sha256((plan.run(model) / WEIGHTS).read_bytes()).hexdigest()
    return {
        "weights": weights,
        "confidence": plan.confidence,
        "metrics": "all" if plan.everything else "paper",
    }


def _remembered(plan: Plan, model: str) -> dict[str, Any] | None:
    path = plan.run(model) / METRICS
    if not path.exists():
        return None
    record = read_json(path)
    return record if record.get("evaluated") == _basis(plan, model) else None


def _evaluation(record: dict[str, Any], model: str) -> Evaluation:
    """The figures as they were found; without the tokens, which tables do not need."""
    nothing = np.empty(0)
    parts = ("perplexity", "number_line", "beyond")
    return Evaluation(
        name=model,
        folder=Path("runs") / model,
        dataset=record["dataset"],
        split=record["split"],
        figures=_figures({name: record[name] for name in parts if name in record}),
        intervals=_figures(record["intervals"]),
        counts=record["counts"],
        baselines=_figures(record["baselines"]),
        oracle=record["oracle"] and _figures(record["oracle"]),
        adjusted=nothing,
        targets=Targets(nothing, nothing, nothing, nothing),
        documents=nothing,
    )


def _figures(value: Any) -> Any:
    """With nan again where JSON has none."""
    if isinstance(value, dict):
        return {name: _figures(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_figures(item) for item in value]
    return math.nan if value is None else value

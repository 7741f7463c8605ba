"""Trained runs to figures, evaluated once and remembered in each run's `metrics.json`."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numerate.errors import RunError
from numerate.evaluation.evaluate import Evaluation, evaluate
from numerate.evaluation.remembered import PARTS, evaluation_of
from numerate.records import write_record
from numerate.reproduce.board import Board
from numerate.reproduce.choices import Plan
from numerate.reproduce.pool import each_model
from numerate.runs.folder import METRICS, WEIGHTS, RunFolder


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
    return [
        evaluation_of(record, Path("runs") / model)
        for model, record in found.items()
        if record is not None
    ]


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
    write_record(folder / METRICS, record)


def _basis(plan: Plan, model: str) -> dict[str, Any]:
    """What the figures of a run depend on beyond its dataset."""
    weights = hashlib.sha256((plan.run(model) / WEIGHTS).read_bytes()).hexdigest()
    return {
        "weights": weights,
        "confidence": plan.confidence,
        "metrics": "all" if plan.everything else "paper",
    }


def _remembered(plan: Plan, model: str) -> dict[str, Any] | None:
    try:
        record = RunFolder(plan.run(model)).metrics()
    except RunError:  # spoilt, so it is evaluated again
        return None
    if record is None:
        return None
    basis = _basis(plan, model)
    whole = all(record.get(part) is not None for part in PARTS[basis["metrics"]])
    return record if whole and record.get("evaluated") == basis else None

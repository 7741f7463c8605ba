"""Trained runs to figures, evaluated once and remembered in each run's `metrics.json`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numerate
from numerate.errors import RunError
from numerate.evaluation.evaluate import Evaluation, evaluate
from numerate.evaluation.observed import PARTS, load_observed, save_observed
from numerate.evaluation.remembered import evaluation_of
from numerate.pretrained.files import digest
from numerate.records import write_record
from numerate.reproduce.board import Board
from numerate.reproduce.choices import Plan, Task, backbone_path
from numerate.reproduce.pool import each_task
from numerate.runs.folder import METRICS, WEIGHTS, RunFolder, digest_of_tables


def evaluate_tasks(plan: Plan, tasks: Sequence[Task], board: Board) -> dict[Task, Evaluation]:
    """Evaluate each run unless its figures are there already; the board says which failed."""
    waiting = [task for task in tasks if _remembered(plan, task) is None]
    for task in tasks:
        board.rows[task.name].state = "evaluating" if task in waiting else "evaluated"
    for task, error in each_task(plan, evaluate_task, waiting) if waiting else ():
        if error is None:
            board.rows[task.name].end("evaluated")
        else:
            board.rows[task.name].end("failed", str(error))
        board.ended(task.name)
    found = {task: _remembered(plan, task) for task in tasks}
    for task, evaluation in found.items():
        if evaluation is None and not board.rows[task.name].reason:
            board.rows[task.name].end("failed", f"{plan.run(task)}: no figures of these choices")
    return {task: evaluation for task, evaluation in found.items() if evaluation is not None}


def evaluate_task(plan: Plan, task: Task) -> None:
    row, folder = task.row, plan.run(task)
    sight = None if row.is_trained else row.sight  # runs see as they were trained to
    result = evaluate(
        folder if row.is_trained else row.backbone,
        plan.dataset,
        metrics=plan.metrics,
        confidence=plan.confidence,
        device=plan.device,
        settings=plan.settings_of_models(vocabulary=plan.vocabulary, sight=sight),
    )
    basis = _basis(plan, task)
    folder.mkdir(parents=True, exist_ok=True)
    if plan.compares:
        save_observed(folder, result.observed, basis)
    write_record(folder / METRICS, {**result.record(), "evaluated": basis})


def _basis(plan: Plan, task: Task) -> dict[str, Any]:
    """What the figures of a run depend on."""
    if task.row.is_trained:
        weights = RunFolder(plan.run(task)).digest(WEIGHTS)
    else:
        weights = digest(backbone_path(task.row))
    return {
        "numerate": numerate.__version__,
        "dataset": plan.content_hash,
        "tables": digest_of_tables(plan.opened),
        "reading": plan.opened.reading.record(),
        "vocabulary": plan.vocabulary,
        "sight": task.row.sight,
        "weights": weights,
        "confidence": plan.confidence,
        "metrics": plan.metrics,
    }


def _remembered(plan: Plan, task: Task) -> Evaluation | None:
    try:
        record = RunFolder(plan.run(task)).metrics()
    except RunError:  # spoilt, so it is evaluated again
        return None
    if record is None:
        return None
    basis = _basis(plan, task)
    whole = all(record.get(part) is not None for part in PARTS[basis["metrics"]])
    if not whole or record.get("evaluated") != basis:
        return None
    found = evaluation_of(record, Path("runs") / task.row.name)
    observed = load_observed(plan.run(task), basis) if plan.compares else {}
    return replace(found, observed=observed) if observed or not plan.compares else None

"""Trained runs to figures, evaluated once and remembered in each run's `metrics.json`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numerate
from numerate.errors import RunError
from numerate.lm.backbones.pretrained.files import digest
from numerate.lm.evaluate.evaluate import ORACLES, Evaluation, evaluate
from numerate.lm.evaluate.observed import PARTS, load_observed, save_observed
from numerate.lm.evaluate.remembered import evaluation_of
from numerate.lm.model.run_folder import METRICS, WEIGHTS, RunFolder, digest_of_tables
from numerate.lm.reproduce.choices import Plan, Task, backbone_path
from numerate.lm.reproduce.pool import each_task
from numerate.lm.reproduce.standings import Standings
from numerate.storage.records import write_record


def evaluate_tasks(
    plan: Plan, tasks: Sequence[Task], standings: Standings
) -> dict[Task, Evaluation]:
    """Evaluate each run unless its figures are there already; the standings say which failed."""
    rows = standings.rows
    waiting = [task for task in tasks if _remembered(plan, task) is None]
    for task in tasks:
        rows[task.name].end("evaluating" if task in waiting else "evaluated")
    ended = each_task(plan, evaluate_task, waiting) if waiting else ()
    for count, (task, error) in enumerate(ended, 1):
        if error is None:
            rows[task.name].end("evaluated")
        else:
            rows[task.name].end("failed", str(error))
        standings.ended(task.name)
        standings.show("evaluating", "runs", count, len(waiting))
    found = {task: _remembered(plan, task) for task in tasks}
    for task, evaluation in found.items():
        if evaluation is None and not rows[task.name].reason:
            rows[task.name].end("failed", f"{plan.run(task)}: no figures of these choices")
    return {task: evaluation for task, evaluation in found.items() if evaluation is not None}


def evaluate_task(plan: Plan, task: Task) -> None:
    """Evaluate a run and keep its figures."""
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
    """Read what an evaluation of these metrics, or of more, has found."""
    try:
        record = RunFolder(plan.run(task)).metrics()
    except RunError:  # spoilt, so it is evaluated again
        return None
    if record is None:
        return None
    parts, basis = PARTS[plan.metrics], record.get("evaluated") or {}
    if {**basis, "metrics": plan.metrics} != _basis(plan, task):
        return None
    if any(record.get(part) is None for part in {*parts, *PARTS.get(basis["metrics"], ())}):
        return None
    observed = load_observed(plan.run(task), basis)
    if not observed:
        return None
    asked = {*parts, *ORACLES.values()}
    found = evaluation_of(record, Path("runs") / task.row.name)
    return replace(
        found,
        figures={part: found.figures[part] for part in parts},
        intervals={part: ends for part, ends in found.intervals.items() if part in parts},
        observed={path: one for path, one in observed.items() if path[0] in asked},
        calibrated_on=found.calibrated_on if "central" in parts else None,
    )

"""`numerate reproduce`: all rows of a suite, all tables, one report; goes on where it stopped."""

import sys
from collections.abc import Sequence
from dataclasses import replace

from numerate.corpus.dataset import Dataset
from numerate.errors import FailureError, printable
from numerate.evaluation.evaluate import Evaluation
from numerate.evaluation.result_tables import result_tables
from numerate.evaluation.seeds import together
from numerate.heads.combination import CombinationHead
from numerate.heads.registry import head_class
from numerate.reproduce.board import Board
from numerate.reproduce.children import Children, exclusive
from numerate.reproduce.choices import Plan, Task
from numerate.reproduce.estimate import expected_seconds, makespan
from numerate.reproduce.results import evaluate_tasks
from numerate.reproduce.write import rows_lost, write_report, write_tables
from numerate.tables import print_tables


def reproduce(plan: Plan) -> None:
    """Train, evaluate and report; prints the tables, and where the report is."""
    dataset = Dataset.open(plan.dataset)
    board = Board([task.name for task in plan.tasks], plan.options.epochs)
    try:
        with exclusive(plan.out) as lock:
            _reproduce(plan, dataset, board, lock)
    except (KeyboardInterrupt, SystemExit) as stop:
        print("numerate: interrupted; the same command goes on where it stopped", file=sys.stderr)
        raise SystemExit(stop.code if isinstance(stop, SystemExit) else 130) from None
    failed = [f"{name} ({row.reason})" for name, row in board.rows.items() if row.reason]
    if failed:
        again = f"the same command tries again; what is spoilt, remove from {plan.out}/runs first"
        raise FailureError(f"failed: {', '.join(failed)}; {again}")


def _reproduce(plan: Plan, dataset: Dataset, board: Board, lock: int) -> None:
    waiting = [task for task in plan.tasks if not plan.is_trained(task)]
    order = _longest_first(plan, waiting, board) if waiting else []
    with board:
        Children(plan, board, lock).train(order)
        for task in waiting:
            row = board.rows[task.name]
            if not row.reason and not plan.is_trained(task):
                row.end("failed", "interrupted")
        trained = [task for task in plan.tasks if not board.rows[task.name].reason]
        found = evaluate_tasks(plan, trained, board)
    if found:
        evaluations = _compared(plan, found, board) if plan.compares else list(found.values())
        inspected = _inspected(found)
        lost = rows_lost(plan.out, evaluations)
        write_tables(plan, dataset, evaluations)
        # The terminal has no room for intervals.
        print_tables(result_tables([replace(one, intervals={}) for one in evaluations]))
        combinations = [
            task.row.name
            for task in inspected
            if issubclass(head_class(task.row.model), CombinationHead)
        ]
        if combinations:
            print(f"{', '.join(combinations)}: {plan.options.combination}")
        if lost:
            print(
                f"The tables have no more: {', '.join(lost)}; of these there are runs still, which "
                "stand in the tables of a command that names them too."
            )
        # Figures over a pretrained model take long.
        print(f"\nTables, figures and runs: {printable(plan.out)}", flush=True)
        if inspected:
            board.say("drawing figures …")
            report = write_report(plan, evaluations, inspected, board.say)
            print(f"Report: {printable(report)}")


def _compared(plan: Plan, found: dict[Task, Evaluation], board: Board) -> Sequence[Evaluation]:
    """The seeds of each row together, in the order of the suite."""
    board.say("comparing rows …")
    rows = {row.name: [one for task, one in found.items() if task.row == row] for row in plan.rows}
    return together({name: runs for name, runs in rows.items() if runs}, plan.confidence)


def _inspected(found: dict[Task, Evaluation]) -> list[Task]:
    """One run of each row that is trained: what models learnt is shown of their first seed."""
    first: dict[str, Task] = {}
    for task in found:
        if task.row.is_trained:
            first.setdefault(task.row.name, task)
    return list(first.values())


def _longest_first(plan: Plan, tasks: Sequence[Task], board: Board) -> list[Task]:
    """Say how long it will take, and give the order in which no process idles at the end.

    A pretrained model would have to read the dataset before a step could be timed.
    """
    if any(task.row.is_pretrained for task in tasks):
        return list(tasks)
    rows = dict.fromkeys(task.row.name for task in tasks)
    board.say(f"timing a few steps of {', '.join(rows)} …")
    seconds = expected_seconds(plan, tasks)
    if any(seconds.values()):
        board.expect(makespan(list(seconds.values()), plan.workers))
    return sorted(tasks, key=lambda task: -seconds[task])

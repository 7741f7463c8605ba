"""`numerate reproduce`: all models, all tables, one report; goes on where it stopped."""

import sys
from collections.abc import Sequence
from dataclasses import replace

from numerate.corpus.dataset import Dataset
from numerate.errors import FailureError, printable
from numerate.evaluation.result_tables import result_tables
from numerate.heads.combination import CombinationHead
from numerate.heads.registry import head_class
from numerate.reproduce.board import Board
from numerate.reproduce.children import Children, exclusive
from numerate.reproduce.choices import Plan
from numerate.reproduce.estimate import expected_seconds, makespan
from numerate.reproduce.results import evaluate_models
from numerate.reproduce.write import write_results
from numerate.tables import print_tables


def reproduce(plan: Plan) -> None:
    """Train, evaluate and report; prints the tables, and where the report is."""
    dataset = Dataset.open(plan.dataset)
    board = Board(plan.models, plan.options.epochs)
    try:
        with exclusive(plan.out) as lock:
            _reproduce(plan, dataset, board, lock)
    except (KeyboardInterrupt, SystemExit) as stop:
        print("numerate: interrupted; the same command goes on where it stopped", file=sys.stderr)
        raise SystemExit(stop.code if isinstance(stop, SystemExit) else 130) from None
    failed = [f"{model} ({row.reason})" for model, row in board.rows.items() if row.reason]
    if failed:
        raise FailureError(f"failed: {', '.join(failed)}; the same command tries again")


def _reproduce(plan: Plan, dataset: Dataset, board: Board, lock: int) -> None:
    content = dataset.manifest["content_hash"]
    waiting = [model for model in plan.models if not plan.is_trained(model, content)]
    order = _longest_first(plan, waiting, board) if waiting else []
    with board:
        Children(plan, board, lock).train(order)
        for model in waiting:
            row = board.rows[model]
            if not row.reason and not plan.is_trained(model, content):
                row.end("failed", "interrupted")
        trained = [model for model in plan.models if not board.rows[model].reason]
        evaluations = evaluate_models(plan, trained, board)
    if evaluations:
        board.say("drawing figures …")
        report = write_results(plan, dataset, evaluations, board.say)
        # The terminal has no room for intervals.
        print_tables(result_tables([replace(found, intervals={}) for found in evaluations]))
        for model in plan.models:
            if issubclass(head_class(model), CombinationHead):
                print(f"{model}: {plan.options.combination}")
        print(f"\nTables, figures and runs: {printable(plan.out)}\nReport: {printable(report)}")


def _longest_first(plan: Plan, models: Sequence[str], board: Board) -> list[str]:
    """Say how long it will take, and give the order in which no process idles at the end."""
    board.say(f"timing a few steps of {', '.join(models)} …")
    seconds = expected_seconds(plan, models)
    board.expect(makespan(list(seconds.values()), plan.workers))
    return sorted(models, key=lambda model: -seconds[model])

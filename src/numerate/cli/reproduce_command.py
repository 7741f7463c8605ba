"""`numerate reproduce`: all rows of a suite, all tables, one report; goes on where it stopped."""

import sys
from collections.abc import Sequence
from dataclasses import replace

from numerate.errors import FailureError, NumerateError, one_line, printable
from numerate.lm.data.dataset import Dataset
from numerate.lm.evaluate.evaluate import Evaluation
from numerate.lm.evaluate.result_tables import result_tables
from numerate.lm.evaluate.seeds import together
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.heads.registry import head_class
from numerate.lm.inspect.inspect import check_folder
from numerate.lm.reproduce.children import Children, exclusive
from numerate.lm.reproduce.choices import Plan, Task
from numerate.lm.reproduce.own_folder import OwnFolder, tasks_of_tables
from numerate.lm.reproduce.results import evaluate_tasks
from numerate.lm.reproduce.standings import Standings
from numerate.lm.reproduce.suites import PAPER, rows_of
from numerate.lm.reproduce.write import FILES, untrained_runs, write_report, write_tables
from numerate.reports.notices import warn
from numerate.reports.tables import print_tables


def reproduce(plan: Plan) -> None:
    """Train, evaluate and report; print the tables, and where the report is.

    Whatever goes wrong with a run or in the report, the tables are there; what did is raised at
    the end.
    """
    dataset = Dataset.open(plan.dataset)
    broken: Exception | None = None
    try:
        with exclusive(plan.out) as lock:
            own = OwnFolder(plan.out)
            tasks = tasks_of_tables(plan, own.record.rows)
            own.check(FILES)
            check_folder(plan.out)
            own.claim(untrained_runs(plan, tasks), plan.rows)
            standings = Standings([task.name for task in tasks])
            found = _found(plan, tasks, standings, lock)
            if found:
                own.claim(FILES)
                evaluations = _show_tables(plan, dataset, found, standings)
                broken = _report(plan, evaluations, found, standings)
    except (KeyboardInterrupt, SystemExit) as stop:
        print("numerate: interrupted; the same command goes on where it stopped", file=sys.stderr)
        raise SystemExit(stop.code if isinstance(stop, SystemExit) else 130) from None
    failed = [f"{name} ({row.reason})" for name, row in standings.rows.items() if row.reason]
    if failed:
        again = f"the same command tries again; what is spoilt, remove from {plan.out}/runs first"
        failure = f"failed: {', '.join(failed)}; {again}"
        if broken is None:
            raise FailureError(failure)
        warn(failure)
    if broken is not None:
        raise broken


def _found(
    plan: Plan, tasks: Sequence[Task], standings: Standings, lock: int
) -> dict[Task, Evaluation]:
    """Train what is not trained, and return the figures of all that is."""
    waiting = [task for task in plan.tasks if not plan.is_trained(task)]
    try:
        Children(plan, standings, lock).train(waiting)
        for task in waiting:
            row = standings.rows[task.name]
            if not row.reason and not plan.is_trained(task):
                row.end("failed", "interrupted")
        trained = [task for task in tasks if not standings.rows[task.name].reason]
        return evaluate_tasks(plan, trained, standings)
    finally:
        standings.close()


def _show_tables(
    plan: Plan, dataset: Dataset, found: dict[Task, Evaluation], standings: Standings
) -> Sequence[Evaluation]:
    """Write and print the tables; returns what they show of each row."""
    evaluations: Sequence[Evaluation] = list(found.values())
    if _compares(plan, found):
        standings.say("comparing rows …")
        rows: dict[str, list[Evaluation]] = {}
        for task, one in found.items():
            rows.setdefault(task.row.name, []).append(one)
        evaluations = together(rows, plan.confidence)
    write_tables(plan, dataset, evaluations)
    # The terminal has no room for intervals.
    print_tables(result_tables([replace(one, intervals={}) for one in evaluations]))
    combinations = [
        task.row.name
        for task in _inspected(found)
        if issubclass(head_class(task.row.model), CombinationHead)
    ]
    if combinations:
        print(f"{', '.join(combinations)}: {plan.options.combination}")
    # Figures over a pretrained model take long.
    print(f"\nTables, figures and runs: {printable(plan.out)}", flush=True)
    return evaluations


def _compares(plan: Plan, found: dict[Task, Evaluation]) -> bool:
    """Whether tables say who cannot be told from the best. The paper's, of one seed, do not."""
    beyond_the_paper = not {task.row for task in found} <= set(rows_of(PAPER))
    return plan.suite != PAPER or beyond_the_paper or len({task.seed for task in found}) > 1


def _report(
    plan: Plan,
    evaluations: Sequence[Evaluation],
    found: dict[Task, Evaluation],
    standings: Standings,
) -> Exception | None:
    """Write the report; returns what went wrong with it."""
    inspected = _inspected(found)
    if not inspected:
        return None
    standings.say("drawing figures …")
    results = evaluations if _compares(plan, found) else []
    try:
        report = write_report(plan, results, inspected, standings.say)
    except NumerateError as error:
        return FailureError(f"report: {error}; the tables are in {plan.out}")
    except Exception as error:  # a mistake of ours, which is for the caller to raise
        what = f"{type(error).__name__}: {one_line(error)}"
        warn(f"report: {what}; the tables are in {plan.out}")
        return error
    print(f"Report: {printable(report)}")
    return None


def _inspected(found: dict[Task, Evaluation]) -> list[Task]:
    """Return one run of each row that is trained: the report shows what its first seed learnt."""
    first: dict[str, Task] = {}
    for task in found:
        if task.row.is_trained:
            first.setdefault(task.row.name, task)
    return list(first.values())

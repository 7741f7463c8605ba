"""Everything a reproduction leaves behind besides its runs."""

from collections.abc import Sequence
from pathlib import Path

from numerate.analysis.inspect import Say, inspect_runs
from numerate.analysis.sections import statistics_table
from numerate.atomic import write_file
from numerate.corpus.dataset import Dataset
from numerate.corpus.describe import describe
from numerate.evaluation.evaluate import Evaluation
from numerate.evaluation.figures_as_data import as_csv, as_json
from numerate.evaluation.result_tables import result_tables
from numerate.model.opening import Settings
from numerate.reproduce.choices import Plan, Task
from numerate.tables import as_latex, as_markdown


def write_tables(plan: Plan, dataset: Dataset, evaluations: Sequence[Evaluation]) -> None:
    """Each file appears whole."""
    tables = result_tables(evaluations)
    texts = {
        "tables.md": as_markdown(tables),
        "tables.tex": as_latex(tables),
        "tables.csv": as_csv(evaluations),
        "metrics.json": as_json(evaluations, None),
        "statistics.md": as_markdown([statistics_table(describe(dataset, plan.vocabulary))]),
    }
    for name, text in texts.items():
        write_file(plan.out / name, (text.rstrip("\n") + "\n").encode())


def write_report(
    plan: Plan, evaluations: Sequence[Evaluation], inspected: Sequence[Task], say: Say
) -> Path:
    """Of the runs that are `inspected`. It comes last, so where it is, all is."""
    return inspect_runs(
        [plan.run(task) for task in inspected],
        plan.out,
        dataset=plan.dataset,
        device=plan.device,
        settings=Settings(plan.cache, trust_remote_code=plan.trust_remote_code),
        among_others=True,
        results=result_tables(evaluations) if plan.compares else [],
        say=say,
    )

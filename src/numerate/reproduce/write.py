"""Everything a reproduction leaves behind besides its runs."""

from collections.abc import Sequence
from pathlib import Path

from numerate.analysis.inspect import Say, inspect_runs
from numerate.analysis.sections import statistics_table
from numerate.atomic import write_file
from numerate.corpus.dataset import Dataset
from numerate.corpus.describe import describe
from numerate.errors import RunError, counted
from numerate.evaluation.evaluate import Evaluation
from numerate.evaluation.figures_as_data import as_csv, as_json
from numerate.evaluation.result_tables import result_tables
from numerate.records import read_record
from numerate.reproduce.choices import Plan, Task
from numerate.tables import as_latex, as_markdown

FIGURES = "metrics.json"


def rows_lost(out: Path, evaluations: Sequence[Evaluation]) -> list[str]:
    """What the tables in a folder have that those of these evaluations will not have: rows, or
    seeds of them."""
    try:
        before = read_record(out / FIGURES, {"runs": dict}, RunError)["runs"]
    except (FileNotFoundError, RunError):
        return []
    now = {str(one.folder): getattr(one, "seeds", 1) for one in evaluations}
    lost = []
    for row, record in before.items():
        seeds = record.get("seeds", 1)
        if row not in now:
            lost.append(Path(row).name)
        elif now[row] < seeds:
            lost.append(f"{Path(row).name} of {counted(seeds, 'seed')}")
    return lost


def write_tables(plan: Plan, dataset: Dataset, evaluations: Sequence[Evaluation]) -> None:
    """Each file appears whole."""
    tables = result_tables(evaluations)
    texts = {
        "tables.md": as_markdown(tables),
        "tables.tex": as_latex(tables),
        "tables.csv": as_csv(evaluations),
        FIGURES: as_json(evaluations, None),
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
        settings=plan.settings_of_models(),
        among_others=True,
        results=result_tables(evaluations) if plan.compares else [],
        say=say,
    )

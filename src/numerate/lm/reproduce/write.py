"""Everything a reproduction leaves behind besides its runs."""

from collections.abc import Sequence
from pathlib import Path

from numerate.errors import RunError
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.describe import describe
from numerate.lm.evaluate.evaluate import Evaluation
from numerate.lm.evaluate.figures_as_data import as_csv, as_json
from numerate.lm.evaluate.result_tables import result_tables
from numerate.lm.inspect.inspect import FILES as REPORT_FILES
from numerate.lm.inspect.inspect import Say, inspect_runs
from numerate.lm.inspect.sections import statistics_table
from numerate.lm.model.run_folder import RunFolder
from numerate.lm.reproduce.choices import Plan, Task
from numerate.reports.tables import as_latex, as_markdown
from numerate.storage.atomic import write_file

TABLES = ("tables.md", "tables.tex", "tables.csv", "metrics.json", "statistics.md")
FILES = (*TABLES, *REPORT_FILES)


def untrained_runs(plan: Plan, tasks: Sequence[Task]) -> list[str]:
    """Return the folders of figures of models that are not trained, as seen from that of all.

    `numerate train` looks after all other runs.
    """
    runs = [plan.run(task) for task in tasks if not task.row.is_trained]
    return [str(run.relative_to(plan.out)) for run in runs if not _is_evaluated(run)]


def _is_evaluated(run: Path) -> bool:
    """Whether a reproduction evaluated it."""
    try:
        record = RunFolder(run).metrics()
    except RunError:
        return False
    return record is not None and "evaluated" in record


def write_tables(plan: Plan, dataset: Dataset, evaluations: Sequence[Evaluation]) -> None:
    """Write the tables; each file appears whole."""
    tables = result_tables(evaluations)
    texts = (
        as_markdown(tables),
        as_latex(tables),
        as_csv(evaluations),
        as_json(evaluations, None),
        as_markdown([statistics_table(describe(dataset, plan.vocabulary))]),
    )
    for name, text in zip(TABLES, texts, strict=True):
        write_file(plan.out / name, (text.rstrip("\n") + "\n").encode())


def write_report(
    plan: Plan, results: Sequence[Evaluation], inspected: Sequence[Task], say: Say
) -> Path:
    """Write the report of the runs that are `inspected`, with the tables of the results or, if
    there are none, of each run's own figures. It comes last, so where it is, all is."""
    return inspect_runs(
        [plan.run(task) for task in inspected],
        plan.out,
        dataset=plan.dataset,
        device=plan.device,
        settings=plan.settings_of_models(),
        among_others=True,
        results=result_tables(results) if results else [],
        say=say,
    )

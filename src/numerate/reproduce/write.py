"""Everything a reproduction leaves behind besides its runs."""

from pathlib import Path

from numerate.analysis.inspect import Say, inspect_runs
from numerate.analysis.sections import statistics_table
from numerate.atomic import write_file
from numerate.corpus.dataset import Dataset
from numerate.corpus.describe import describe
from numerate.evaluation.evaluate import Evaluation
from numerate.evaluation.result_tables import as_csv, as_json, result_tables
from numerate.reproduce.choices import Plan
from numerate.tables import as_latex, as_markdown


def write_results(plan: Plan, dataset: Dataset, evaluations: list[Evaluation], say: Say) -> Path:
    """Each file appears whole; the report comes last, so where it is, all is."""
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
    folders = [plan.run(found.name) for found in evaluations]
    return inspect_runs(
        folders,
        plan.out,
        dataset=plan.dataset,
        device=plan.device,
        among_others=True,
        say=say,
    )

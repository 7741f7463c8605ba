"""Everything a reproduction leaves behind besides its runs."""

import json

from numerate.atomic import write_file
from numerate.corpus.dataset import Dataset
from numerate.corpus.describe import describe
from numerate.evaluation.evaluate import Evaluation
from numerate.evaluation.tables import as_csv, as_json, as_latex, as_markdown, result_tables
from numerate.reproduce.figures import Histories, history_csv, save_figure, training_curves
from numerate.reproduce.plan import Plan
from numerate.reproduce.report import Picture, report, statistics_table
from numerate.training.loop import LOG

REPORT = "report.html"


def write_results(plan: Plan, dataset: Dataset, evaluations: list[Evaluation]) -> None:
    """Each file appears whole; the report comes last, so where it is, all is."""
    tables = result_tables(evaluations)
    description = describe(dataset, plan.vocabulary)
    histories = {found.name: _history(plan, found.name) for found in evaluations}
    pictures = _pictures(plan, histories)
    texts = {
        "tables.md": as_markdown(tables),
        "tables.tex": as_latex(tables),
        "tables.csv": as_csv(evaluations),
        "metrics.json": as_json(evaluations, None),
        "statistics.md": as_markdown([statistics_table(description)]),
        REPORT: report(plan, dataset, description, evaluations, histories, pictures),
    }
    for name, text in texts.items():
        write_file(plan.out / name, (text.rstrip("\n") + "\n").encode())


def _history(plan: Plan, model: str) -> list[dict[str, float]]:
    lines = (plan.run(model) / LOG).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _pictures(plan: Plan, histories: Histories) -> list[Picture]:
    """All figures there are, saved; one more is one more line here."""
    folder = plan.out / "figures"
    curves = save_figure(
        training_curves(histories), folder, "training-curves", history_csv(histories)
    )
    caption = (
        "Dev loss after each epoch; a dot marks the epoch that was kept. Models with a closed "
        "vocabulary lie lower because they count all unknown numerals as one."
    )
    return [Picture(curves, caption)]

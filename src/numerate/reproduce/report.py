"""`report.html`: the results, how they came about, and of what."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from numerate.corpus.dataset import SPLITS, Dataset
from numerate.corpus.describe import Description, description_rows
from numerate.evaluation.evaluate import Evaluation
from numerate.evaluation.tables import ResultTable, result_tables
from numerate.reproduce.board import duration
from numerate.reproduce.environment import read_environment
from numerate.reproduce.figures import INK, Histories
from numerate.reproduce.page import Section, escape, figure, page, table
from numerate.reproduce.plan import Plan


@dataclass(frozen=True, slots=True)
class Picture:
    svg: str
    caption: str


def statistics_table(description: Description) -> ResultTable:
    """The paper's Table 1 for this corpus."""
    title = (
        f"Statistics; a vocabulary of {description.vocabulary_size:,} out of "
        f"{description.types:,} training types"
    )
    rows = [[label, *cells] for label, cells in description_rows(description).items()]
    return ResultTable(title, ["", *SPLITS], rows)


def report(
    plan: Plan,
    dataset: Dataset,
    description: Description,
    evaluations: list[Evaluation],
    histories: Histories,
    pictures: list[Picture],
) -> str:
    name = dataset.folder.resolve().name
    sections = [
        Section("Results", _results(plan, evaluations)),
        Section("Figures", "".join(figure(p.svg, p.caption, INK) for p in pictures)),
        Section(
            "Runs",
            table(_training_table(histories)) + table(_environment_table(plan, histories)),
        ),
        Section("Options", _facts(_options(plan))),
        Section("Corpus", _facts(_corpus(dataset)) + table(statistics_table(description))),
    ]
    lead = (
        f"Models trained on <strong>{escape(name)}</strong> and evaluated on its test split. "
        "Click the name of a column to sort by it."
    )
    return page(f"numerate: {name}", lead, sections)


def _results(plan: Plan, evaluations: list[Evaluation]) -> str:
    text = (
        "Lower is better for perplexities and errors. Perplexity (PP) takes the class of all "
        "unknown tokens for a hit, which flatters a small vocabulary; adjusted perplexity (APP) "
        "does not, and is the one to compare."
    )
    if plan.confidence is not None:
        text += f" In brackets, the {100 * plan.confidence:g} % interval from resampling documents."
    if any(evaluation.oracle for evaluation in evaluations):
        text += (
            " The oracle is the process that wrote the corpus: no model can do better in "
            "expectation."
        )
    return f"<p>{escape(text)}</p>" + "".join(table(t) for t in result_tables(evaluations))


def _training_table(histories: Histories) -> ResultTable:
    columns = ["model", "epochs", "best epoch", "best dev loss", "seconds", "tokens/s"]
    rows = []
    for model, history in histories.items():
        best = min(history, key=lambda record: record["dev_loss"])
        seconds = sum(record["seconds"] for record in history)
        tokens = sum(record["seconds"] * record["tokens_per_second"] for record in history)
        figures = [len(history), best["epoch"], f"{best['dev_loss']:.4f}", f"{seconds:,.1f}"]
        rows.append([model, *map(str, figures), f"{tokens / max(seconds, 1e-9):,.0f}"])
    total = sum(record["seconds"] for history in histories.values() for record in history)
    title = f"Training, {duration(total)} in all; seconds without those for the dev split"
    return ResultTable(title, columns, rows)


def _environment_table(plan: Plan, models: Iterable[str]) -> ResultTable:
    columns = ["started", "finished", "numerate", "torch", "python", "device", "threads"]
    rows = []
    for model in models:
        environment = read_environment(plan.run(model))
        rows.append([model, *(str(environment.get(name, "–")) for name in columns)])
    return ResultTable("When, and with what", ["model", *columns], rows)


def _options(plan: Plan) -> dict[str, Any]:
    return {
        "models": ", ".join(plan.models),
        **plan.settings,
        "processes": plan.workers,
        "threads each": plan.threads,
        "metrics": "all" if plan.everything else "paper",
        "confidence": plan.confidence,
    }


def _corpus(dataset: Dataset) -> dict[str, Any]:
    manifest = dataset.manifest
    return {
        **manifest["options"],
        **{name: f"{count:,}" for name, count in manifest["counts"].items()},
        **{
            f"{name} split": f"{split['documents']:,} documents, {split['paragraphs']:,} "
            f"paragraphs, {split['tokens']:,} tokens, {split['numerals']:,} numerals"
            for name, split in manifest["splits"].items()
        },
        "content hash": manifest["content_hash"],
        "prepared by": f"numerate {manifest['numerate']}",
    }


def _facts(facts: dict[str, Any]) -> str:
    """Names and values; what was not chosen is left out."""
    rows = "".join(
        f"<dt>{escape(name.replace('_', ' '))}</dt><dd>{escape(_plain(value))}</dd>\n"
        for name, value in facts.items()
        if value is not None
    )
    return f"<dl>{rows}</dl>"


def _plain(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value

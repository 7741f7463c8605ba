"""`numerate predict`, `rank`, `check` and `check-benchmark`."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from numerate.atomic import write_file
from numerate.corpus.dataset import Dataset
from numerate.errors import NumerateError, check_choice
from numerate.notices import say
from numerate.plausibility.benchmark.benchmark import FALSE_ALARMS, BenchmarkResult, run_benchmark
from numerate.plausibility.benchmark.corruption import KINDS
from numerate.plausibility.checking.check import check_documents
from numerate.plausibility.checking.documents import read_document
from numerate.plausibility.checking.formats import as_csv, as_json, print_report
from numerate.plausibility.checking.page import as_html
from numerate.plausibility.checking.sarif import as_sarif
from numerate.plausibility.distribution import NumeralDistribution
from numerate.plausibility.rank import Ranking
from numerate.plausibility.source import ModelSource
from numerate.pretrained.progress import PassProgress
from numerate.tables import ResultTable, as_markdown, print_tables

CHECK_FORMATS = ("terminal", "json", "csv", "sarif", "html")


def predict_numeral(
    source: ModelSource,
    text: str,
    *,
    top: int,
    interval: float,
    plot: Path | None,
    format: str,
) -> None:
    check_choice("format", format, ("table", "json"))
    model = source.load()
    found = model.predict(text)
    record = _prediction(found, top, interval)
    if plot is not None:
        draw(found, plot)
    if format == "json":
        print(json.dumps({"model": model.name, "text": text, **record}, ensure_ascii=False))
    else:
        _print_prediction(record, interval)


def _prediction(found: NumeralDistribution, top: int, level: float) -> dict[str, Any]:
    return {
        "top": [{"numeral": text, "probability": p} for text, p in found.top(top)],
        "median": found.median(),
        "level": level,
        "interval": found.interval(level),
        "shares": found.shares,
        "unnamed": found.unnamed,
        "unresolved": found.unresolved,
    }


def _print_prediction(record: dict[str, Any], level: float) -> None:
    console = Console(highlight=False)
    table = Table("numeral", "probability")
    table.columns[1].justify = "right"
    for entry in record["top"]:
        table.add_row(entry["numeral"], f"{entry['probability']:.4f}")
    console.print(table)
    low, high = record["interval"]
    console.print(f"median {record['median']:.9g}, {level:.0%} between {low:.9g} and {high:.9g}")
    if record["shares"]:
        shares = ", ".join(f"{name} {part:.1%}" for name, part in record["shares"].items())
        console.print(f"shares: {shares}")
    if record["unnamed"] > 0.01:
        console.print(f"no numeral that can be named: {record['unnamed']:.1%}")


def draw(found: NumeralDistribution, path: Path) -> None:
    """Write the figure; the suffix says in which format."""
    from numerate.report.look import look

    kind = path.suffix.lower().removeprefix(".")
    check_choice("kind of picture", kind, ("png", "svg", "pdf"))
    stream = io.BytesIO()
    with look():
        found.plot().savefig(stream, format=kind, dpi=300)
    write_file(path, stream.getvalue())


def rank_claims(source: ModelSource, claims: list[str], *, by: str, format: str) -> None:
    check_choice("format", format, ("table", "json"))
    ranking = source.load().rank(claims, by)
    if format == "json":
        print(json.dumps(ranking.record(), ensure_ascii=False))
    else:
        _print_ranking(ranking)


def _print_ranking(ranking: Ranking) -> None:
    console = Console(highlight=False)
    table = Table("", "claim", "log p", "against the first")
    table.columns[2].justify = "right"
    for place, claim in enumerate(ranking.claims, 1):
        table.add_row(str(place), claim.text, f"{claim.log_prob:.2f}", claim.reason)
    console.print(table)


def check_files(
    source: ModelSource,
    files: list[str],
    *,
    alarms: float,
    input_format: str,
    format: str,
    everything: bool,
    colour: bool | None,
    verbose: bool = False,
) -> int:
    """Print what was found; the exit status: 1 when something is flagged."""
    check_choice("format", format, CHECK_FORMATS)
    if not 0 < alarms < 1:
        raise NumerateError(f"alarms: got {alarms}, expected between 0 and 1")
    documents = [read_document(file, input_format) for file in files]
    model = source.load()
    model.calibration.check_alarms(alarms)  # done now, what is not done yet has its own progress
    with PassProgress() as progress:
        report = check_documents(model, documents, alarms, everything=everything, progress=progress)
    if format == "terminal":
        console = Console(force_terminal=colour, no_color=None if colour is None else not colour)
        print_report(report, console, everything=everything, verbose=verbose)
    elif format == "html":
        print(as_html(report, verbose=verbose))
    else:
        write = {"json": as_json, "csv": as_csv, "sarif": as_sarif}[format]
        print(write(report, everything=everything))
    for document in report.without_numerals:
        say(f"{document.name}: no numeral in it, though it has text; was it read as what it is?")
    return int(report.flagged > 0)


def benchmark_checking(
    source: ModelSource,
    *,
    softmax: str | None,
    split: str,
    seed: int,
    limit: int | None,
    format: str,
) -> None:
    check_choice("format", format, ("table", "markdown", "json"))
    assert source.dataset is not None
    opened = Dataset.open(source.dataset)
    model = source.load()
    baseline = replace(source, run=softmax).load() if softmax else None
    if baseline is None:
        say("no --softmax RUN given, so no baseline of surprisal")
    result = run_benchmark(model, opened, softmax=baseline, split=split, seed=seed, limit=limit)
    if format == "json":
        print(json.dumps(result.record(), ensure_ascii=False))
        return
    tables = _benchmark_tables(result)
    if format == "markdown":
        print(as_markdown(tables))
    else:
        print_tables(tables)
    print(
        f"{result.numerals:,} right numerals of the {result.split} split; the threshold of the "
        f"dev split for {FALSE_ALARMS:.0%} flags {result.flagged:.2%} of them."
    )


def _benchmark_tables(result: BenchmarkResult) -> list[ResultTable]:
    titles = {
        "auc": "Area under the ROC curve: errors against the numerals they replace",
        "recall": f"Recall, %, at {FALSE_ALARMS:.0%} false alarms",
    }
    columns = ["error", "count", *result.detectors]
    tables = []
    for figure, title in titles.items():
        digits, scale = (3, 1) if figure == "auc" else (1, 100)
        rows, values = [], []
        for kind in KINDS:
            found = [
                qualities[kind] for qualities in result.detectors.values() if kind in qualities
            ]
            if found:
                values.append([scale * getattr(quality, figure) for quality in found])
                cells = [f"{value:.{digits}f}" for value in values[-1]]
                rows.append([kind, f"{found[0].count:,}", *cells])
        means = [sum(column) / len(column) for column in zip(*values, strict=True)]
        rows.append(["mean", "", *(f"{mean:.{digits}f}" for mean in means)])
        tables.append(ResultTable(title, columns, rows))
    return tables

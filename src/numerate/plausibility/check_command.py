"""`numerate check` and `check-benchmark`."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from numerate.configuration import CHECK_FORMATS, Configuration, find_configuration
from numerate.corpus.dataset import Dataset
from numerate.detector.slips import KINDS
from numerate.documents import STANDARD_INPUT, read_file
from numerate.documents.document import Document
from numerate.errors import NumerateError, check_choice
from numerate.notices import plain_console, say
from numerate.plausibility.benchmark import FALSE_ALARMS, BenchmarkResult, run_benchmark
from numerate.plausibility.checking.check import check_documents, without_ignored
from numerate.plausibility.checking.formats import as_csv, as_json, print_report
from numerate.plausibility.checking.html_page import as_html
from numerate.plausibility.checking.sarif import as_sarif
from numerate.plausibility.given_tables import check_given, read_given, tell_if_none
from numerate.plausibility.source import ModelSource
from numerate.progress import PassProgress
from numerate.tables import ResultTable, as_markdown, print_tables, resting_on


def check_files(
    source: ModelSource,
    files: list[str],
    tables: Sequence[Path] = (),
    *,
    alarms: float,
    input_format: str,
    field: str = "text",
    format: str,
    everything: bool,
    colour: bool | None,
    force_domain: bool = False,
    verbose: bool = False,
) -> int:
    """Print what was found; the exit status: 1 when something is flagged, or when there is a
    document that the model does not fit, of which it cannot say that nothing is wrong."""
    check_choice("format", format, CHECK_FORMATS)
    if not 0 < alarms < 1:
        raise NumerateError(f"alarms: got {alarms}, expected between 0 and 1")
    documents: list[Document] = []
    chosen: list[Configuration] = []
    for file in files:
        project = configuration_for(file)
        if project.leaves_out(file):
            say(f"{file}: not checked, as {project.path} says")
        else:
            read = read_file(file, input_format, field)
            documents += read
            chosen += [project] * len(read)
    given = read_given(tables)
    model = source.load(with_tables=bool(given))
    check_given(model, given)
    tell_if_none(model, documents, given)
    model.checker.calibration.check_alarms(
        alarms
    )  # done now, what is not done yet has its own progress
    with PassProgress() as progress:
        report = check_documents(
            model,
            documents,
            alarms,
            tables=given,
            everything=everything,
            force_domain=force_domain,
            progress=progress,
        )
    found = report.flagged
    report = without_ignored(report, chosen)
    if found > report.flagged:
        say(f"{found - report.flagged} flagged but ignored, as the configuration says")
    if format == "terminal":
        no_color = None if colour is None else not colour
        console = plain_console(force_terminal=colour, no_color=no_color)
        print_report(report, console, everything=everything, verbose=verbose)
    elif format == "html":
        print(as_html(report, verbose=verbose))
    else:
        write = {"json": as_json, "csv": as_csv, "sarif": as_sarif}[format]
        print(write(report, everything=everything))
    for document in report.without_numerals:
        say(f"{document.name}: no numeral in it, though it has text; was it read as what it is?")
    if format != "terminal":
        for line in report.misfits:
            say(line)
    return int(report.flagged > 0 or bool(report.misfits))


def configuration_for(file: str) -> Configuration:
    """The nearest to a document, or to the working folder for standard input."""
    return find_configuration(Path() if file == STANDARD_INPUT else Path(file).parent)


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
    whole = opened.split(split).summary["paragraphs"]
    part = limit if limit is not None and limit < whole else None
    tables = resting_on(_benchmark_tables(result), split, part)
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

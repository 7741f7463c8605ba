"""`numerate check-benchmark`."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from numerate.detector.kinds_of_error import HELD_OUT
from numerate.detector.trained import Detector
from numerate.errors import check_choice
from numerate.lm.data.dataset import Dataset
from numerate.lm.evaluate.benchmark import BOTH, CELLS, TEXTS, BenchmarkResult, run_benchmark
from numerate.lm.evaluate.bootstrap import Interval
from numerate.lm.evaluate.detection import FALSE_ALARMS, FIRST
from numerate.lm.evaluate.trial import FIGURES, TABLE_CELL
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import refuse_training_documents
from numerate.lm.model.run_folder import DOCUMENTS, RunFolder
from numerate.lm.model.run_reference import split_reference
from numerate.lm.model.shipped.installed import is_shipped, shipped
from numerate.lm.model.source import ModelSource
from numerate.proofread.models import open_models
from numerate.reports.notices import say
from numerate.reports.progress import PassProgress
from numerate.reports.tables import ResultTable, as_markdown, print_tables, resting_on


def benchmark_checking(
    source: ModelSource,
    references: Sequence[str],
    *,
    softmax: str | None,
    split: str,
    seed: int,
    limit: int | None,
    format: str,
    processes: int = 0,
) -> None:
    check_choice("format", format, ("table", "markdown", "json"))
    check_choice("split", split, ("test", "dev"))
    opened = Dataset.open(source.dataset or Path())
    detectors: list[Detector] = []
    models: list[NumeralLM] = []
    for reference in references:
        _refuse_what_it_was_trained_on(reference, opened, split)
        for model in open_models(reference, source):
            if isinstance(model, Detector):
                detectors.append(model)
            else:
                assert isinstance(model, NumeralLM)
                models.append(model)
    baseline = replace(source, run=softmax).load() if softmax else None
    if baseline is None:
        say("no --softmax RUN given, so no baseline of surprisal")
    with PassProgress("steps") as progress:
        result = run_benchmark(
            opened,
            models=models,
            detectors=detectors,
            softmax=baseline,
            split=split,
            seed=seed,
            limit=limit,
            processes=processes,
            told=progress,
        )
    if format == "json":
        print(json.dumps(result.record(), ensure_ascii=False))
        return
    whole = opened.split(split).summary["paragraphs"]
    part = limit if limit is not None and limit < whole else None
    tables = resting_on(benchmark_tables(result), split, part)
    if format == "markdown":
        print(as_markdown(tables))
    else:
        print_tables(tables)
    print(
        f"{result.numerals:,} right numerals of {result.paragraphs:,} paragraphs of the "
        f"{result.split} split, {result.cells:,} numbers of tables; false alarms are counted in "
        "the texts as they are, errors are scored one in a paragraph or table."
    )


def _refuse_what_it_was_trained_on(reference: str, dataset: Dataset, split: str) -> None:
    folders: list[Path | None] = [split_reference(reference)[0]]
    if is_shipped(reference):
        model = shipped(reference)
        folders = [model.language_model, model.detector]
    for folder in filter(None, folders):
        if (folder / DOCUMENTS).is_file():
            refuse_training_documents(RunFolder(folder), dataset, split)


def benchmark_tables(result: BenchmarkResult) -> list[ResultTable]:
    titles = {
        "recall": f"Recall, %, at {FALSE_ALARMS:.0%} false alarms",
        "auc": "Area under the ROC curve: errors against the numerals they replace",
    }
    columns = ["error", "count", *result.judges]
    tables = []
    for figure, title in titles.items():
        digits, scale = (3, 1.0) if figure == "auc" else (1, 100.0)
        rows = []
        for kind in (*FIGURES, TABLE_CELL):
            found = [qualities.get(kind) for qualities in result.judges.values()]
            if known := next(filter(None, found), None):
                cells = [
                    "–" if one is None else _shown(getattr(one, figure), digits, scale)
                    for one in found
                ]
                name = f"{kind} (held out)" if kind in HELD_OUT else kind
                rows.append([name, f"{known.count:,}", *cells])
        tables.append(ResultTable(title, columns, rows))
    title = f"Precision, %, among the first {FIRST} findings, were one number in 200 wrong"
    tables.append(_by_region(title, result.first, list(result.judges)))
    title = f"Right numbers that check flags at --alarms {FALSE_ALARMS}, %"
    if result.flagged:
        tables.append(_by_region(title, result.flagged, list(result.flagged)))
    return tables


def _by_region(
    title: str, figures: dict[str, dict[str, Interval]], judges: list[str]
) -> ResultTable:
    rows = []
    for name in (TEXTS, CELLS, BOTH):
        found = [figures[judge].get(name) for judge in judges]
        if any(found):
            rows.append([name, *("–" if one is None else _shown(one, 2, 100.0) for one in found)])
    return ResultTable(title, ["", *judges], rows)


def _shown(figure: Interval, digits: int, scale: float) -> str:
    value, low, high = (
        f"{scale * one:.{digits}f}" for one in (figure.estimate, figure.low, figure.high)
    )
    return f"{value} [{low}, {high}]"

"""`numerate check-benchmark`."""

import json
from dataclasses import replace

from numerate.corpus.dataset import Dataset
from numerate.detector.slips import KINDS
from numerate.errors import check_choice
from numerate.notices import say
from numerate.plausibility.benchmark import FALSE_ALARMS, BenchmarkResult, run_benchmark
from numerate.plausibility.source import ModelSource
from numerate.tables import ResultTable, as_markdown, print_tables, resting_on


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

"""`numerate evaluate`: several runs in the same tables."""

from pathlib import Path

from numerate.errors import NumerateError
from numerate.evaluation.evaluate import Evaluation, compare, evaluate
from numerate.evaluation.tables import as_csv, as_json, comparison_table, result_tables
from numerate.tables import FORMATS, as_latex, as_markdown, print_tables


def evaluate_runs(
    runs: list[Path],
    dataset: Path | None,
    *,
    split: str,
    metrics: str,
    confidence: float | None,
    compared: bool,
    oov_set: str,
    format: str,
    device: str | None,
) -> None:
    if format not in FORMATS:
        raise NumerateError(f"format: got {format!r}, expected one of {', '.join(FORMATS)}")
    if metrics not in {"paper", "all"}:
        raise NumerateError(f"metrics: got {metrics!r}, expected paper or all")
    if confidence is not None and not 0 < confidence < 1:
        raise NumerateError(f"confidence: got {confidence}, expected between 0 and 1")
    if compared and len(runs) != 2:
        raise NumerateError(f"a comparison needs two runs: got {len(runs)}")
    evaluations = [
        evaluate(
            run,
            dataset,
            split=split,
            oov_set=oov_set,
            everything=metrics == "all",
            confidence=confidence,
            device=device,
        )
        for run in runs
    ]
    results = compare(evaluations[0], evaluations[1], confidence or 0.95) if compared else None
    for evaluation in evaluations:
        evaluation.save()
    if format == "csv":
        print(as_csv(evaluations, results))
    elif format == "json":
        print(as_json(evaluations, results))
    else:
        # Baselines and oracle belong to the data: runs share tables where they share data.
        groups: dict[str, list[Evaluation]] = {}
        for evaluation in evaluations:
            groups.setdefault(evaluation.dataset, []).append(evaluation)
        tables = [table for group in groups.values() for table in result_tables(group)]
        if results is not None:
            tables.append(comparison_table(evaluations[0], evaluations[1], results))
        if format == "table":
            print_tables(tables)
        else:
            print(as_markdown(tables) if format == "markdown" else as_latex(tables))

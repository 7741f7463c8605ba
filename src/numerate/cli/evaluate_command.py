"""`numerate evaluate`: several runs in the same tables."""

from pathlib import Path

from numerate.errors import NumerateError, check_choice
from numerate.lm.backbones.pretrained.backbone import PREFIX, parse_reference
from numerate.lm.backbones.pretrained.block_reader import Readers
from numerate.lm.evaluate.bootstrap import PairedResult
from numerate.lm.evaluate.comparable import comparable_tables, differences, noted
from numerate.lm.evaluate.compared_tables import comparison_tables, models_table
from numerate.lm.evaluate.comparison import compare
from numerate.lm.evaluate.evaluate import Evaluation, evaluate
from numerate.lm.evaluate.figures_as_data import as_csv, as_json
from numerate.lm.evaluate.observed import PARTS
from numerate.lm.evaluate.result_tables import result_tables
from numerate.lm.model.opening import Settings
from numerate.lm.model.run_folder import METRICS
from numerate.lm.model.run_reference import split_reference
from numerate.lm.model.stored import StoredModel
from numerate.places import as_named
from numerate.reports.notices import say
from numerate.reports.progress import PassProgress
from numerate.reports.tables import FORMATS, ResultTable, as_latex, as_markdown, print_tables
from numerate.text.columns import check_level
from numerate.text.vocabulary import Vocabulary


def evaluate_runs(
    runs: list[str],
    dataset: Path | None,
    *,
    split: str,
    metrics: str,
    confidence: float | None,
    compared: bool,
    oov_set: str,
    format: str,
    device: str | None,
    limit: int | None = None,
    vocabulary: int | None = None,
    backbone: str | None = None,
    cache: Path | None = None,
    trust_remote_code: bool = False,
    sight: str | None = None,
    readers: Readers | None = None,
) -> None:
    if format not in FORMATS:
        raise NumerateError(f"format: got {format!r}, expected one of {', '.join(FORMATS)}")
    check_choice("metrics", metrics, PARTS)
    if confidence is not None and not 0 < confidence < 1:
        raise NumerateError(f"confidence: got {confidence}, expected between 0 and 1")
    if compared and len(runs) != 2:
        raise NumerateError(f"a comparison needs two runs: got {len(runs)}")
    if sight is not None:
        check_level(sight)
        own = [run for run in runs if parse_reference(run) is None]
        if own:
            raise NumerateError(
                f"sight: got {sight} for {own[0]}, which sees as it was trained to; "
                f"expected {PREFIX}PATH alone"
            )
    evaluations = []
    known = vocabulary if vocabulary is not None else _vocabulary_of(runs)
    with PassProgress() as progress:
        for run in runs:
            evaluation = evaluate(
                run,
                dataset,
                split=split,
                oov_set=oov_set,
                metrics=metrics,
                confidence=confidence,
                device=device,
                limit=limit,
                settings=Settings(
                    cache, known, trust_remote_code, progress, sight, readers, backbone
                ),
            )
            evaluations.append(evaluation)
    results = compare(evaluations[0], evaluations[1], confidence or 0.95) if compared else None
    _print(evaluations, results, format)
    for evaluation in evaluations:  # what was found is worth more than its file
        try:
            evaluation.save()
        except (OSError, NumerateError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            say(f"{evaluation.folder / METRICS}: not saved: {reason or error}")


def _print(
    evaluations: list[Evaluation], results: dict[str, PairedResult] | None, format: str
) -> None:
    if format == "csv":
        print(as_named(as_csv(evaluations, results)))
    elif format == "json":
        print(as_named(as_json(evaluations, results)))
    else:
        tables = comparable_tables(evaluations, _tables)
        if results is not None:
            compared = comparison_tables(evaluations[0], evaluations[1], results)
            tables += noted(compared, differences(evaluations).values())
        if format == "table":
            print_tables(tables)
        else:
            print(as_markdown(tables) if format == "markdown" else as_latex(tables))


def _tables(evaluations: list[Evaluation]) -> list[ResultTable]:
    last = [models_table(evaluations)] if len(evaluations) > 1 else []
    return result_tables(evaluations) + last


def _vocabulary_of(runs: list[str]) -> Vocabulary | None:
    """That of the first run of our own: all are to rank the same candidates."""
    own = (split_reference(run)[0] for run in runs if parse_reference(run) is None)
    return next((StoredModel.read(run).vocabulary for run in own), None)

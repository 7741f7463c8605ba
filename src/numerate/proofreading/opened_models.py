"""What `--model` names is opened as what it is: a run, a pretrained model, a detector."""

from dataclasses import replace
from pathlib import Path

from numerate.plausibility.source import ModelSource
from numerate.proofreading.witnesses import Model


def open_model_or_detector(
    reference: str, source: ModelSource | None = None, *, with_tables: bool = False
) -> Model:
    """`source` has what else was said of models on the command line."""
    from numerate.detector.trained import is_detector, open_detector

    source = replace(source or ModelSource(reference), run=reference)
    if is_detector(Path(reference)):
        return open_detector(reference, source.device)
    return source.load(with_tables=with_tables)

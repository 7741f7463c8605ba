"""What `--model` names is opened as what it is: a run, a pretrained model, a detector, or a model
that is installed, which may be both a language model and a detector."""

from dataclasses import replace
from pathlib import Path

from numerate.plausibility.source import ModelSource
from numerate.proofreading.witnesses import Model
from numerate.shipped.installed import is_shipped, shipped


def open_models(
    reference: str, source: ModelSource | None = None, *, with_tables: bool = False
) -> list[Model]:
    """`source` has what else was said of models on the command line."""
    from numerate.detector.trained import is_detector, open_detector

    source = replace(source or ModelSource(reference), run=reference)
    if is_shipped(reference):
        found: list[Model] = []
        named = shipped(reference)
        if named.detector is not None:
            detector = open_detector(named.detector, source.device)
            detector.name = named.name
            found.append(detector)
        if named.language_model is not None:
            found.append(source.load(with_tables=with_tables))
        return found
    if is_detector(Path(reference)):
        return [open_detector(reference, source.device)]
    return [source.load(with_tables=with_tables)]

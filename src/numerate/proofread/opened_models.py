"""What `--model` names is opened as what it is: a run, a pretrained model, a detector, or a model
that is installed, which may be both a language model and a detector."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from numerate.lm.model.shipped.installed import is_shipped, shipped
from numerate.lm.model.source import ModelSource
from numerate.proofread.joining import UNFITTED, Joining, read_joining
from numerate.proofread.witnesses import Model
from numerate.storage import file_here


def open_models(
    reference: str, source: ModelSource | None = None, *, with_tables: bool = False
) -> list[Model]:
    """`source` has what else was said of models on the command line."""
    from numerate.detector.trained import is_detector, open_detector
    from numerate.lm.backbones.pretrained.backbone import parse_reference
    from numerate.lm.model.run_reference import split_reference

    source = replace(source or ModelSource(reference), run=reference)
    if is_shipped(reference):
        found: list[Model] = []
        named = shipped(reference)
        if named.detector is not None:
            detector = open_detector(named.detector, source.device)
            detector.name = named.name
            found.append(detector)
        if named.language_model is not None:
            # It comes calibrated, whatever dataset others are to be calibrated on.
            found.append(replace(source, dataset=None).load(with_tables=with_tables))
        return found
    if parse_reference(reference) is None and is_detector(split_reference(reference)[0]):
        return [open_detector(reference, source.device)]
    return [source.load(with_tables=with_tables)]


def joining_for(references: Sequence[object], told: str | Path | None = None) -> Joining:
    """How evidence is joined where these models are asked: as told, or as was fitted for the one
    that is installed."""
    if told is not None:
        return read_joining(file_here(told))
    if len(references) == 1 and is_shipped(references[0]):
        fitted = shipped(references[0]).joining
        return UNFITTED if fitted is None else read_joining(fitted)
    return UNFITTED

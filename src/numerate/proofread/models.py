"""Decide which models `check` asks: those that are named, or the one of the package."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from numerate.documents.document import Document, Table
from numerate.errors import NumerateError
from numerate.lm.model.shipped.installed import is_shipped, shipped
from numerate.proofread.model_evidence import Model, check_alarms
from numerate.proofread.options import CheckOptions
from numerate.reports.notices import say

if TYPE_CHECKING:
    from numerate.lm.model.source import ModelSource

USUAL: tuple[str, ...] = ("articles",)
"""The models that are asked where none is named."""


@dataclass(frozen=True)
class Models:
    """Models that are asked together; they are opened when a document is first shown to them."""

    references: tuple[str, ...] = ()
    is_implied: bool = False  # nobody named them: they are silent about what they do not fit
    open: Callable[[], Sequence[Model]] = field(default=list, repr=False)

    @classmethod
    def opened(cls, models: Sequence[Model]) -> "Models":
        return cls(tuple(str(model.name) for model in models), False, lambda: models)

    @cached_property
    def models(self) -> Sequence[Model]:
        return self.open()

    @cached_property
    def is_broken(self) -> bool:
        """Whether they cannot be opened, which one line says: nobody asked for them."""
        try:
            return not self.models
        except NumerateError as error:
            say(f"{error}; left out")
            return True

    @property
    def names(self) -> tuple[str, ...]:
        """For people: installed models by their reference, others by their own name."""
        if self.is_implied or all(map(is_shipped, self.references)):
            return self.references
        return tuple(str(model.name) for model in self.models)


NO_MODELS = Models()


def make_ready(
    models: Sequence[Model],
    documents: list[Document],
    given: list[Table],
    alarms: float | None,
    *,
    is_named: bool = True,
) -> None:
    """Refuse what cannot be asked for, and say what is not seen, to who has named the model; what
    must be calibrated is now, with its own progress."""
    from numerate.lm.model.given_tables import check_given, tell_if_none
    from numerate.lm.model.numeral_lm import NumeralLM

    for model in models:
        if isinstance(model, NumeralLM):
            if not given or model.sees_tables:
                check_given(model, given)
                if is_named:
                    tell_if_none(model, documents, given)
            elif is_named:
                say(f"{model.name} sees no tables: they are for the rules alone")
        if alarms is not None:
            check_alarms(model, alarms)


class OpenModel(Protocol):
    """Opens what a reference names."""

    def __call__(self, reference: str, *, with_tables: bool) -> Sequence[Model]: ...


class Opening:
    """Open models with these options; nothing is loaded before a document needs them."""

    def __init__(
        self,
        dataset: Path | None = None,
        cache: Path | None = None,
        trust_remote_code: bool = False,
        device: str | None = None,
        backbone: str | None = None,
    ) -> None:
        self._options = dataset, cache, trust_remote_code, device, backbone

    def __call__(self, reference: str, *, with_tables: bool) -> list[Model]:
        from numerate.lm.model.source import ModelSource

        source = ModelSource(reference, *self._options)
        return open_models(reference, source, with_tables=with_tables)


def open_models(
    reference: str, source: "ModelSource | None" = None, *, with_tables: bool = False
) -> list[Model]:
    """Open a run, a pretrained model, a detector, or an installed model, which may be both a
    language model and a detector. `source` has the other options of models."""
    from numerate.detector.trained import is_detector, open_detector
    from numerate.lm.backbones.pretrained.backbone import parse_reference
    from numerate.lm.model.run_reference import split_reference
    from numerate.lm.model.source import ModelSource

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


def models_asked(
    options: CheckOptions,
    open_model: OpenModel,
    documents: list[Document] | None = None,
    given: list[Table] | None = None,
) -> Models:
    """Return the models that the options name, or those of the package; `documents` will be
    checked, with the tables `given` beside them."""
    if not options.models and not options.chooses:
        return NO_MODELS
    references = options.models or USUAL

    def open() -> list[Model]:
        found = [model for one in references for model in open_model(one, with_tables=bool(given))]
        is_named = bool(options.models)
        make_ready(found, documents or [], given or [], options.alarms, is_named=is_named)
        return found

    return Models(references, not options.models, open)

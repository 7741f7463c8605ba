"""Decide which models `check` asks: those that are named, or the one of the package."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.documents.document import Document, Table
from numerate.errors import NumerateError
from numerate.lm.model.shipped.installed import is_shipped, shipped
from numerate.proofread.model_evidence import Model, check_alarms
from numerate.proofread.model_rules import MODEL_RULES
from numerate.proofread.options import CheckOptions
from numerate.proofread.proofread import ProofreadDocument
from numerate.reports.notices import say

if TYPE_CHECKING:
    from numerate.lm.model.source import ModelSource

USUAL: tuple[str, ...] = ("articles",)
"""The models that are asked where none is named."""
Open = Callable[[str], Sequence[Model]]
"""What a reference names, opened."""


@dataclass(frozen=True)
class Asked:
    """Models that are asked together; they are opened when a document is first shown to them."""

    references: tuple[str, ...] = ()
    is_implied: bool = False  # nobody named it: it is silent about what it does not fit
    open: Open = field(default=lambda _: (), repr=False)
    _ready: Callable[[Sequence[Model]], None] = field(default=lambda _: None, repr=False)

    @cached_property
    def models(self) -> list[Model]:
        found = [model for reference in self.references for model in self.open(reference)]
        self._ready(found)
        return found

    @cached_property
    def is_broken(self) -> bool:
        """Whether it cannot be opened, which is told once: nobody asked for it."""
        try:
            return not self.models
        except NumerateError as error:
            say(f"{error}; left out")
            return True

    @property
    def names(self) -> tuple[str, ...]:
        """For people: what is installed by its name, others by their own."""
        if self.is_implied or all(map(is_shipped, self.references)):
            return self.references
        return tuple(str(model.name) for model in self.models)


NOBODY = Asked()


def proofread_as_it_fits(
    asked: Asked, proof_by: Callable[[Asked], ProofreadDocument]
) -> tuple[ProofreadDocument, Asked]:
    """Proofread a document, and return by whom it was.

    A document that a model does not fit which nobody has named is recomputed alone, and a line says
    so."""
    if asked.is_implied and asked.is_broken:
        asked = NOBODY
    proof = proof_by(asked)
    if not asked.is_implied or all(fit.calibrated for fit in proof.fits):
        return proof, asked
    known = ", ".join(asked.references)
    say(f"{proof.document.name}: unlike what {known} knows: recomputed alone")
    return proof_by(NOBODY), NOBODY


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


class Opening:
    """Open models with these options; nothing is loaded before a document needs them."""

    def __init__(
        self,
        dataset: Path | None = None,
        cache: Path | None = None,
        trust_remote_code: bool = False,
        device: str | None = None,
    ) -> None:
        self._options = dataset, cache, trust_remote_code, device

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
    codes: frozenset[str],
    open_model: Opening,
    documents: list[Document],
    given: list[Table],
) -> Asked:
    """Return the models to ask: nobody where no code that a model finds is looked for."""
    if not codes & MODEL_RULES.keys() or not (options.models or options.chooses):
        return NOBODY

    def open(reference: str) -> list[Model]:
        return open_model(reference, with_tables=bool(given))

    def ready(models: Sequence[Model]) -> None:
        make_ready(models, documents, given, options.alarms, is_named=bool(options.models))

    return Asked(options.models or USUAL, not options.models, open, ready)

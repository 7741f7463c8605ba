"""Which models `check` asks: those that are named, or the best installed one that fits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from numerate.documents.document import Document, Table
from numerate.errors import NumerateError
from numerate.notices import say
from numerate.proofreading.joining import UNFITTED, Joining, read_joining
from numerate.proofreading.opened_models import joining_for
from numerate.proofreading.proofread import ProofreadDocument
from numerate.proofreading.witnesses import Model, check_alarms
from numerate.shipped.installed import installed, is_shipped

Open = Callable[[str], Sequence[Model]]
"""What a reference names, opened."""


@dataclass(frozen=True)
class Asked:
    """Models that are asked together; they are opened when a document is first shown to them."""

    references: tuple[str, ...] = ()
    joining: Joining = UNFITTED
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


def named_models(
    references: tuple[str, ...],
    joining: Path | None,
    open: Open,
    ready: Callable[[Sequence[Model]], None],
) -> Asked:
    return Asked(references, joining_for(references, joining), False, open, ready)


def installed_models(
    joining: Path | None, open: Open, ready: Callable[[Sequence[Model]], None]
) -> list[Asked]:
    """The best first; each joins evidence as was fitted for it, unless told otherwise."""
    told = None if joining is None else read_joining(joining)
    found = []
    for model in installed():
        try:
            how = told or (UNFITTED if model.joining is None else read_joining(model.joining))
        except NumerateError as error:  # nobody asked for it
            say(f"{error}; left out")
            continue
        found.append(Asked((model.name,), how, True, open, ready))
    return found


def first_that_fits(
    asked: Sequence[Asked], proof_by: Callable[[Asked], ProofreadDocument]
) -> tuple[ProofreadDocument, Asked]:
    """A document as the first of them proofreads it that fits it; of those that are installed, none
    may, and then it is recomputed alone."""
    misfits: list[str] = []
    for one in asked:
        if one.is_implied and one.is_broken:
            continue
        proof = proof_by(one)
        if not one.is_implied or all(fit.calibrated for fit in proof.fits):
            return proof, one
        misfits += one.references
    alone = proof_by(NOBODY)
    if misfits:
        say(f"{alone.document.name}: unlike what {', '.join(misfits)} knows: recomputed alone")
    return alone, NOBODY


def make_ready(
    models: Sequence[Model],
    documents: list[Document],
    given: list[Table],
    alarms: float,
    *,
    is_named: bool = True,
) -> None:
    """Refuse what cannot be asked for, and say what is not seen, to who has named the model; what
    must be calibrated is now, with its own progress."""
    from numerate.model.numeral_lm import NumeralLM
    from numerate.plausibility.given_tables import check_given, tell_if_none

    for model in models:
        if isinstance(model, NumeralLM):
            if not given or model.sees_tables:
                check_given(model, given)
                if is_named:
                    tell_if_none(model, documents, given)
            elif is_named:
                say(f"{model.name} sees no tables: they are for the rules alone")
        check_alarms(model, alarms)

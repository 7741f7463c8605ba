"""One text proofread as `check` would, by models that remember what they have read before."""

from collections.abc import Callable, Sequence
from threading import Lock

from numerate.configuration import Configuration, find_configuration
from numerate.documents.document import Document
from numerate.lsp.buffers import Buffer
from numerate.lsp.proof import Proof
from numerate.lsp.remembering import RememberingDetector, RememberingModel
from numerate.notices import silently
from numerate.proofreading.asked_models import (
    NOBODY,
    Asked,
    first_that_fits,
    installed_models,
    named_models,
)
from numerate.proofreading.baseline import read_baseline, without_known
from numerate.proofreading.check_command import Opening
from numerate.proofreading.model_rules import MODEL_RULES, UNLIKELY_CODE
from numerate.proofreading.proofread import ProofreadDocument, proofread
from numerate.proofreading.proofread_report import failures_of
from numerate.proofreading.selection import chosen_codes, split_codes
from numerate.proofreading.suppression import suppress
from numerate.proofreading.told import likely, without_ignored
from numerate.proofreading.wanted import Wanted
from numerate.proofreading.witnesses import DetectorLike, Model, check_alarms, looked_for
from numerate.shipped.installed import is_shipped

FOR_MODELS = 200_000  # characters of a text that models are shown
FEW = 3  # paragraphs that are read so fast that nobody waits for the rules alone


class SupersededError(Exception):
    """Nobody wants to know any more."""


Tell = Callable[[Proof], None]
"""May be called several times, each time with more."""


class Proofreader:
    """Keeps models open, and what they said. One thread may proofread, others ask of numerals."""

    def __init__(self) -> None:
        self._lock = Lock()  # of the models
        self._opened: dict[str, list[Model]] = {}
        self._asked: dict[object, list[Asked]] = {}

    def proofread(self, buffer: Buffer, is_current: Callable[[], bool], tell: Tell) -> None:
        """What rules find at once, if models have much to read; then what all find.

        Raises `SupersededError` as soon as it is not current; what was read is not in vain.
        """
        project = find_configuration(buffer.folder)
        if buffer.path is not None and project.leaves_out(buffer.path):
            tell(Proof(buffer, proofread(Document(buffer.name, ()))))
            return
        document = buffer.read()
        task = _Task(buffer, document, project, is_current)
        asks = bool(task.codes & MODEL_RULES.keys())
        if asks and len(buffer.text) > FOR_MODELS:
            task.notes += (f"{buffer.name}: more than {FOR_MODELS:,} characters: recomputed alone",)
            asks = False
        if asks and self._has_to_read(document, task.wanted):
            tell(task.told(task.heard(NOBODY), NOBODY))
        asked = self._models(task.wanted) if asks else []
        with silently():
            found, by = first_that_fits(asked, task.heard)
        if asked and not by.references:
            known = ", ".join(name for one in asked for name in one.references)
            task.notes += (f"{buffer.name}: unlike what {known} knows: recomputed alone",)
        proof = task.told(found, by)
        tell(proof)
        model, odd = proof.language_model, _unlikely(proof.found)
        if model and odd and model.look_closer(document, odd, task.wanted.alarms, task.go_on):
            tell(task.told(task.heard(by), by))

    def _has_to_read(self, document: Document, wanted: Wanted) -> bool:
        """Whether it takes a while until models have something to say."""
        asked = self._asked.get(_of_models(wanted))
        if asked is None:
            return True
        models = [model for one in asked for model in one.models]
        return any(
            isinstance(model, RememberingModel) and model.unread(document, wanted.alarms) > FEW
            for model in models
        )

    def _models(self, wanted: Wanted) -> list[Asked]:
        """Opened once for each configuration; one that is installed but broken is told once."""
        key = _of_models(wanted)
        if key not in self._asked:

            def ready(models: Sequence[Model]) -> None:
                for model in models:
                    check_alarms(model, wanted.alarms)

            if wanted.models:
                found = [named_models(wanted.models, wanted.joining, self._open, ready)]
            elif wanted.chooses:
                found = installed_models(wanted.joining, self._open, ready)
            else:
                found = []
            self._asked[key] = [one for one in found if not (one.is_implied and one.is_broken)]
        return self._asked[key]

    def _open(self, reference: str) -> list[Model]:
        if reference not in self._opened:
            self._opened[reference] = [
                RememberingDetector(model, self._lock)
                if isinstance(model, DetectorLike)
                else RememberingModel(
                    model, reference if is_shipped(reference) else str(model.name), self._lock
                )
                for model in Opening()(reference, with_tables=False)
            ]
        return self._opened[reference]


class _Task:
    """One text, as its project wants it checked."""

    def __init__(
        self,
        buffer: Buffer,
        document: Document,
        project: Configuration,
        is_current: Callable[[], bool],
    ) -> None:
        self.wanted = Wanted().configured(project)
        self.codes = chosen_codes(split_codes(self.wanted.select), split_codes(self.wanted.ignore))
        self.notes: tuple[str, ...] = ()
        self._buffer, self._document, self._project = buffer, document, project
        self._is_current = is_current

    def heard(self, asked: Asked) -> ProofreadDocument:
        """All that is said by rules and some models."""
        return proofread(
            self._document,
            models=asked.models,
            select=self.codes,
            alarms=self.wanted.alarms,
            joining=asked.joining,
            told=self.go_on,
        )

    def told(self, found: ProofreadDocument, asked: Asked) -> Proof:
        """What is left of it, as `check` tells it."""
        self.go_on(0)
        found, _ = suppress(found, looked_for(self.codes, asked.models))
        found = without_ignored(found, self._project)
        if self.wanted.baseline is not None:
            (found,) = without_known([found], read_baseline(self.wanted.baseline))
        found = likely(found, self.wanted.least, self.wanted.least_of_models)
        models = (one for one in asked.models if isinstance(one, RememberingModel))
        notes = (*self.notes, *failures_of(found))
        return Proof(self._buffer, found, notes, next(models, None))

    def go_on(self, _: int) -> None:
        if not self._is_current():
            raise SupersededError


def _of_models(wanted: Wanted) -> object:
    """What models and their answers depend on."""
    return wanted.models, wanted.chooses, wanted.joining, wanted.alarms


def _unlikely(found: ProofreadDocument) -> set[int]:
    """Paragraphs in which something is told that a language model finds odd."""
    return {
        one.where.paragraph
        for one in found
        if UNLIKELY_CODE in one.codes and one.where.paragraph is not None
    }

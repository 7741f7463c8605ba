"""One text proofread as `check` would, by models that remember what they have read before."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock

from numerate.config import find_configuration
from numerate.documents.document import Document
from numerate.lm.model.shipped.installed import is_shipped
from numerate.proofread.baseline import read_baseline, without_known
from numerate.proofread.model_evidence import DetectorLike, Model
from numerate.proofread.model_rules import UNLIKELY_CODE
from numerate.proofread.models import NO_MODELS, Models, Opening, models_asked
from numerate.proofread.options import CheckOptions
from numerate.proofread.proofread import proofread
from numerate.proofread.report import failures_of
from numerate.proofread.session import Session
from numerate.reports.notices import silently
from numerate.serve.editors.buffers import Buffer
from numerate.serve.editors.proof import Proof
from numerate.serve.editors.remembering import RememberingDetector, RememberingModel

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
        self._asked: dict[object, Models] = {}

    def proofread(self, buffer: Buffer, is_current: Callable[[], bool], tell: Tell) -> None:
        """What rules find at once, if models have much to read; then what all find.

        Raises `SupersededError` as soon as it is not current; what was read is not in vain.
        """
        project = find_configuration(buffer.folder)
        if buffer.path is not None and project.leaves_out(buffer.path):
            tell(Proof(buffer, proofread(Document(buffer.name, ()))))
            return
        document = buffer.read()
        options = CheckOptions().configured(project)
        rules = Session(options, project)
        task = _Task(buffer, document, is_current)
        asks = rules.needs_models
        if asks and len(buffer.text) > FOR_MODELS:
            task.notes += (f"{buffer.name}: more than {FOR_MODELS:,} characters: recomputed alone",)
            asks = False
        if not asks:
            tell(task.proof(rules))
            return
        if self._has_to_read(document, options):
            tell(task.proof(rules))
        session = replace(rules, models=self._models(options))
        proof = task.proof(session)
        if session.models.references and not proof.found.models:
            known = ", ".join(session.models.references)
            task.notes += (f"{buffer.name}: unlike what {known} knows: recomputed alone",)
            proof = replace(proof, notes=(*task.notes, *proof.notes))
        tell(proof)
        if proof.found.models and task.looks_closer(proof, session):
            tell(task.proof(session))

    def _has_to_read(self, document: Document, options: CheckOptions) -> bool:
        """Whether it takes a while until models have something to say."""
        asked = self._asked.get(_key(options))
        if asked is None:
            return True
        return any(
            isinstance(model, RememberingDetector) and model.unread(document) > FEW
            for model in asked.models
        )

    def _models(self, options: CheckOptions) -> Models:
        """Open the models once for each configuration; a line about broken ones comes once."""
        key = _key(options)
        if key not in self._asked:
            found = models_asked(options, self._open)
            self._asked[key] = NO_MODELS if found.is_implied and found.is_broken else found
        return self._asked[key]

    def _open(self, reference: str, *, with_tables: bool = False) -> Sequence[Model]:
        if reference not in self._opened:
            self._opened[reference] = [
                RememberingDetector(model, self._lock)
                if isinstance(model, DetectorLike)
                else RememberingModel(
                    model, reference if is_shipped(reference) else str(model.name), self._lock
                )
                for model in Opening()(reference, with_tables=with_tables)
            ]
        return self._opened[reference]


class _Task:
    """One version of one text."""

    def __init__(self, buffer: Buffer, document: Document, is_current: Callable[[], bool]) -> None:
        self.notes: tuple[str, ...] = ()
        self._buffer, self._document, self._is_current = buffer, document, is_current

    def proof(self, session: Session) -> Proof:
        """Check the text, without the findings that a baseline knows."""
        self.go_on(0)
        with silently():
            found = session.check(self._document, progress=self.go_on)
        if session.options.baseline is not None:
            (found,) = without_known([found], read_baseline(session.options.baseline))
        self.go_on(0)
        asked = session.models.models if found.models else ()
        models = (one for one in asked if isinstance(one, RememberingModel))
        notes = (*self.notes, *failures_of(found))
        return Proof(self._buffer, found, notes, next(models, None))

    def looks_closer(self, proof: Proof, session: Session) -> bool:
        """Look at what a language model finds odd and is reported, and at tables whose texts have
        changed; return whether there is more to report now."""
        odd = {one.where.paragraph for one in proof.found if UNLIKELY_CODE in one.codes}
        paragraphs = {index for index in odd if index is not None}
        is_new = False
        for model in session.models.models:
            if isinstance(model, RememberingDetector):
                is_new |= model.catch_up(self._document, self.go_on)
            elif isinstance(model, RememberingModel):
                is_new |= model.look_closer(self._document, paragraphs, session.alarms, self.go_on)
        return is_new

    def go_on(self, _: int) -> None:
        if not self._is_current():
            raise SupersededError


def _key(options: CheckOptions) -> object:
    """What models and their answers depend on."""
    return options.models, options.chooses, options.alarms

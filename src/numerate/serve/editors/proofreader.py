"""One text proofread as `check` would, by models that remember what they have read before."""

from collections.abc import Callable, Sequence
from threading import Lock

from numerate.config import Configuration, find_configuration
from numerate.documents.document import Document
from numerate.lm.model.shipped.installed import is_shipped
from numerate.proofread import models
from numerate.proofread.baseline import read_baseline, without_known
from numerate.proofread.filters import likely, without_ignored
from numerate.proofread.model_evidence import (
    DetectorLike,
    Model,
    ask,
    check_alarms,
    evidence_of,
    looked_for,
    usual_alarms,
)
from numerate.proofread.model_rules import MODEL_RULES, UNLIKELY_CODE
from numerate.proofread.models import (
    NOBODY,
    Asked,
    Opening,
    proofread_as_it_fits,
)
from numerate.proofread.options import CheckOptions
from numerate.proofread.proofread import ProofreadDocument, grouped, proofread
from numerate.proofread.report import failures_of
from numerate.proofread.selection import chosen_codes, split_codes
from numerate.proofread.suppression import suppress
from numerate.reports.notices import silently
from numerate.rules.reading import ReadDocument
from numerate.rules.recompute import recompute
from numerate.serve.editors.buffers import Buffer
from numerate.serve.editors.proof import Proof
from numerate.serve.editors.recheck import Places, that_matter
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
        self._asked: dict[object, Asked] = {}

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
        asked = self._models(task.wanted) if asks else NOBODY
        with silently():
            found, by = proofread_as_it_fits(asked, task.heard)
        if asked.references and not by.references:
            known = ", ".join(asked.references)
            task.notes += (f"{buffer.name}: unlike what {known} knows: recomputed alone",)
        proof = task.told(found, by)
        tell(proof)
        if task.looks_closer(proof, by):
            tell(task.told(task.heard(by), by))

    def _has_to_read(self, document: Document, wanted: CheckOptions) -> bool:
        """Whether it takes a while until models have something to say."""
        asked = self._asked.get(_of_models(wanted))
        if asked is None:
            return True
        return any(
            isinstance(model, RememberingDetector) and model.unread(document) > FEW
            for model in asked.models
        )

    def _models(self, wanted: CheckOptions) -> Asked:
        """Open the models once for each configuration; what is broken is said once."""
        key = _of_models(wanted)
        if key not in self._asked:

            def ready(some: Sequence[Model]) -> None:
                for model in some:
                    if wanted.alarms is not None:
                        check_alarms(model, wanted.alarms)

            found = NOBODY
            if wanted.models or wanted.chooses:
                references = wanted.models or models.USUAL
                found = Asked(references, not wanted.models, self._open, ready)
            self._asked[key] = NOBODY if found.is_implied and found.is_broken else found
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
        self.wanted = CheckOptions().configured(project)
        self.codes = chosen_codes(split_codes(self.wanted.select), split_codes(self.wanted.ignore))
        self.notes: tuple[str, ...] = ()
        self._places: Places | None = None  # at which language models look twice
        self._buffer, self._document, self._project = buffer, document, project
        self._is_current = is_current

    def heard(self, asked: Asked) -> ProofreadDocument:
        """All that is said by rules and some models."""
        read = ReadDocument(self._document)
        alarms = self.wanted.alarms or usual_alarms(asked.models)
        recomputed = recompute(read, codes=self.codes)
        self.go_on(0)
        detectors = [model for model in asked.models if isinstance(model, RememberingDetector)]
        evidence = [ask(model, read, alarms, self.go_on) for model in detectors]
        for model in asked.models:
            if not isinstance(model, RememberingModel):
                continue
            if asked.is_implied:
                suspicions = [one for some in evidence for one in some.suspicions]
                self._places = that_matter(
                    recomputed.findings,
                    suspicions,
                    model.calibration.finest,
                    self.wanted.min_probability,
                )
            assessed = model.sift(self._document, alarms, self._places, self.go_on)
            evidence.append(evidence_of(assessed, read))
        return grouped(read, evidence, self.codes, recomputed=recomputed)

    def looks_closer(self, proof: Proof, asked: Asked) -> bool:
        """At what a language model finds odd and is told, and at tables whose texts have changed;
        whether there is more to tell now."""
        odd = {one.where.paragraph for one in proof.found if UNLIKELY_CODE in one.codes}
        paragraphs = {index for index in odd if index is not None}
        alarms = self.wanted.alarms or usual_alarms(asked.models)
        is_new = False
        for model in asked.models:
            if isinstance(model, RememberingDetector):
                is_new |= model.catch_up(self._document, self.go_on)
            elif isinstance(model, RememberingModel):
                is_new |= model.look_closer(
                    self._document, paragraphs, alarms, self._places, self.go_on
                )
        return is_new

    def told(self, found: ProofreadDocument, asked: Asked) -> Proof:
        """What is left of it, as `check` tells it."""
        self.go_on(0)
        found, _ = suppress(found, looked_for(self.codes, asked.models))
        found = without_ignored(found, self._project)
        if self.wanted.baseline is not None:
            (found,) = without_known([found], read_baseline(self.wanted.baseline))
        found = likely(found, self.wanted.min_probability)
        models = (one for one in asked.models if isinstance(one, RememberingModel))
        notes = (*self.notes, *failures_of(found))
        return Proof(self._buffer, found, notes, next(models, None))

    def go_on(self, _: int) -> None:
        if not self._is_current():
            raise SupersededError


def _of_models(wanted: CheckOptions) -> object:
    """What models and their answers depend on."""
    return wanted.models, wanted.chooses, wanted.alarms

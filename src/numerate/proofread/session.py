"""The one way from a document to the findings that every front door reports."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from numerate.config import Configuration
from numerate.detector.scored import Told
from numerate.documents.document import Document, Table
from numerate.proofread.filters import likely, without_ignored
from numerate.proofread.model_evidence import ask_all, looked_for, usual_alarms
from numerate.proofread.model_rules import MODEL_RULES
from numerate.proofread.models import NO_MODELS, Models
from numerate.proofread.options import CheckOptions
from numerate.proofread.proofread import ProofreadDocument, grouped
from numerate.proofread.selection import chosen_codes, split_codes
from numerate.proofread.suppression import suppress
from numerate.reports.notices import say
from numerate.rules.reading import ReadDocument


@dataclass(frozen=True)
class Session:
    """Checks documents, by options, a project's configuration and models that are chosen once.

    Make one for each worker and keep it: it opens models when a document first needs them.
    `replace(session, project=…)` makes another that shares them.
    """

    options: CheckOptions = field(default_factory=CheckOptions)
    project: Configuration = field(default_factory=Configuration)
    models: Models = NO_MODELS

    @cached_property
    def codes(self) -> frozenset[str]:
        """The codes that are looked for, if there are models for those that only models find."""
        return chosen_codes(split_codes(self.options.select), split_codes(self.options.ignore))

    @property
    def needs_models(self) -> bool:
        return bool(self.codes & MODEL_RULES.keys())

    @property
    def alarms(self) -> float:
        """The share of right numbers that each model may flag."""
        return self._alarms_of(self.models)

    def _alarms_of(self, models: Models) -> float:
        return self.options.alarms or usual_alarms(models.models)

    def check(
        self,
        document: Document,
        tables: Sequence[Table] = (),
        *,
        beside: bool = True,
        progress: Told | None = None,
    ) -> ProofreadDocument:
        """Find what is wrong with the numbers of a document.

        The `tables` are in view beside the document's own; without `beside`, errors within them
        are not reported. `progress` hears how many paragraphs the models have read, all together.
        """
        found, models = self._proofread(document, tables, beside, progress)
        sought = looked_for(self.codes, models.models)
        found, unneeded = suppress(found, sought)
        left = without_ignored(found, self.project)
        left = replace(
            left,
            models=models.names,
            looked_for=sought,
            unneeded=tuple(unneeded),
            ignored=len(found) - len(left),
        )
        return likely(left, self.options.min_probability, is_implied=models.is_implied)

    def _proofread(
        self,
        document: Document,
        tables: Sequence[Table],
        beside: bool,
        progress: Told | None,
    ) -> tuple[ProofreadDocument, Models]:
        """Ask the models, and return those that were asked. Models that nobody named are asked
        only about documents that they fit; others are recomputed alone, and one line says so."""

        def by(models: Models) -> ProofreadDocument:
            read = ReadDocument(document, tables)
            evidence = ask_all(models.models, read, self._alarms_of(models), progress)
            return grouped(read, evidence, self.codes, beside=beside)

        if not self.needs_models or (self.models.is_implied and self.models.is_broken):
            return by(NO_MODELS), NO_MODELS
        found = by(self.models)
        if not self.models.is_implied:
            return found, self.models
        if all(fit.calibrated for fit in found.fits):
            # You did not ask the model: you do not hear what it finds odd but does not flag.
            return replace(found, unusual=()), self.models
        known = ", ".join(self.models.references)
        say(f"{document.name}: unlike what {known} knows: recomputed alone")
        return by(NO_MODELS), NO_MODELS

"""What is said of one numeral, and of a text: assessments, as a sequence that shows itself."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar, overload

from numerate.errors import counted
from numerate.lm.model.domain import Fit
from numerate.lm.model.wording import explain, verdict
from numerate.reports.notebook import as_table
from numerate.text.seen_numbers import Source

REASONS = ("magnitude", "precision", "digits")
SHOWN = 5  # numerals that are named in a line


@dataclass(frozen=True, slots=True)
class Glance:
    """How plausible it is, without what was expected instead: that takes longer to find out."""

    start: int  # offsets into the text that was given
    end: int
    numeral: str  # normalised
    written: str  # as it stands in the text, in one line
    surprisal: float  # nats: −log p(numeral | a numeral comes)
    plausibility: float  # share of the dev split's numerals at least as odd
    flagged: bool


@dataclass(frozen=True, slots=True)
class Assessment:
    start: int  # offsets into the text that was given
    end: int
    numeral: str  # normalised
    written: str  # as it stands in the text, in one line
    surprisal: float  # nats: −log p(numeral | a numeral comes)
    percentile: float  # 0 to 1: where its value lies in the predicted distribution
    interval: tuple[float, float]  # plausible range
    likely: str  # the most likely numeral
    reason: str  # what is odd about it, were it flagged: one of REASONS
    plausibility: float  # share of the dev split's numerals at least as odd
    flagged: bool
    sign: int = 1  # of the number as a reader takes it, −1 in `−0.5`
    power: int = 0  # and its power of ten, −16 in `2.2e-16`
    sources: tuple[Source, ...] = ()  # of what was expected instead, where it is flagged

    def record(self) -> dict[str, Any]:
        return asdict(self) | {"sources": [source.record() for source in self.sources]}


def name_some(written: Sequence[str]) -> str:
    return ", ".join([*written[:SHOWN], *["…"][: len(written) > SHOWN]])


Found = TypeVar("Found", bound=Assessment | Glance)


class Assessments(Sequence[Found], Generic[Found]):
    """In the order of the text. `numerals` is how many the text has, flagged or not; `domain` says
    whether the text is of the kind that the model knows. `unusual` is not flagged, but nothing that
    is odd gets an all-clear: the oddest first. `glances` are at every numeral, where these are
    only the flagged ones."""

    def __init__(
        self,
        found: Sequence[Found],
        numerals: int,
        domain: Fit | None = None,
        unusual: Sequence[Assessment | Glance] = (),
        glances: Sequence[Glance] = (),
    ) -> None:
        self.glances = glances
        self._found = tuple(found)
        self.numerals = numerals
        self.domain = domain or Fit()
        self.unusual = sorted(
            unusual, key=lambda assessment: (assessment.plausibility, assessment.start)
        )

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Found: ...
    @overload
    def __getitem__(self, index: slice) -> list[Found]: ...
    def __getitem__(self, index: int | slice) -> Found | list[Found]:
        return list(self._found[index]) if isinstance(index, slice) else self._found[index]

    def __eq__(self, other: object) -> bool:
        """As a list of the same assessments is."""
        return isinstance(other, list | tuple | Assessments) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        flagged = [assessment.written for assessment in self if assessment.flagged]
        named = f": {name_some(flagged)}" if flagged else ""
        odd = [assessment.written for assessment in self.unusual]
        return f"Assessments({self._summary}{named}{f'; unusual: {name_some(odd)}' if odd else ''})"

    def _repr_html_(self) -> str:
        rows = (
            (assessment.start, assessment.written, self._why(assessment)) for assessment in self
        )
        return as_table(self._summary, ("at", "numeral", "why"), rows)

    def _why(self, assessment: Found) -> str:
        if isinstance(assessment, Assessment):
            return explain(assessment, self.domain)
        return verdict(assessment, self.domain)

    @property
    def _summary(self) -> str:
        flagged = sum(assessment.flagged for assessment in self)
        said = f"{flagged} of {counted(self.numerals, 'numeral')} flagged"
        return said if self.domain.calibrated else f"{said}, uncalibrated"

"""A gap with text after it: numerals are judged by what comes before and by what follows."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from numerate.documents.document import Table
from numerate.errors import NumerateError, TooLongError
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.known_numerals import KnownNumerals
from numerate.numeral import NARROW_SPACES
from numerate.text.seen_numbers import Source, merged

if TYPE_CHECKING:
    from numerate.lm.model.numeral_lm import NumeralLM

BEST = 200  # of the most probable numerals before the gap that are tried, beside the grid
LONGEST = 2_000  # tokens around a gap: they are read once for every candidate
READ_AT_ONCE = 50_000  # tokens
_OPENING = {"Ps", "Pi", "Sc"}  # brackets, quotation marks, signs of currencies
Reached = Callable[[int, int], None]  # how many numerals were read, of how many
GAP = re.compile(r"_{3,}")
_CARRIES_ON = re.compile(rf"[^\W_]|[.,:/’'·∙ {NARROW_SPACES}][0-9]|[-‐‑](?:[0-9]|[A-Z]{{2}})")
_THOUSANDS = re.compile(rf"[0-9][ {NARROW_SPACES}]\Z")


def split_at_gap(text: str) -> tuple[str, str]:
    """What stands before and after the gap `___`; without one, all stands before."""
    parts = GAP.split(text)
    if len(parts) > 2:
        raise NumerateError(f"text: got {len(parts) - 1} gaps ___, expected at most one")
    return (parts[0], parts[1]) if len(parts) == 2 else (text, "")


def before_numeral(text: str) -> str:
    """What comes before a numeral, with the space that a writer would leave: none in `(5`, `$5`."""
    is_space = not text or text[-1].isspace()
    return text if is_space or unicodedata.category(text[-1]) in _OPENING else text + " "


def after_numeral(text: str) -> str:
    """What follows a numeral, apart from it: `5 mg`, not `5mg`, which might be another token.

    Nor may what follows carry it on (`.5`, `,000`, `-HT`, ` 000`), whatever numeral is tried.
    """
    return " " + text if _CARRIES_ON.match(text) else text


def apart_from_numeral(text: str) -> str:
    """What comes before one, such that no thousands go on after it: `17  863` is two numerals."""
    return text + " " if _THOUSANDS.search(text) else text


class Gap:
    """p(numeral | before, after), by Bayes: each candidate is read with all that follows it.

    Normalised over the candidates: the numerals that are most probable from what comes before,
    and the grid. Other numerals are scored in the same measure.
    """

    def __init__(
        self,
        model: "NumeralLM",
        before: str,
        after: str,
        tables: Sequence[Table] = (),
        longest: int = LONGEST,
        report: Reached | None = None,
    ) -> None:
        self._model = model
        self._before, self._after = apart_from_numeral(before_numeral(before)), after_numeral(after)
        self._tables = tables
        self._place = len(model.tokens(self._before))  # of the numeral among the tokens
        self._length = self._place + len(model.tokens(self._after))
        if self._length > longest:
            raise TooLongError(
                f"text: got {self._length:,} tokens around the gap, expected at most {longest:,}"
            )
        self.context = model.context_after([self._before], model.columns([tables]))
        best = [text for text, _ in islice(model.next_numeral(self.context).stream(), BEST)]
        candidates = list(dict.fromkeys([*best, *model.candidates.texts]))
        joint = self._joint(candidates, report)
        self._normaliser = float(np.logaddexp.reduce(joint))
        self.numerals = KnownNumerals(candidates, joint - self._normaliser)

    def score(self, numerals: NumeralTable) -> np.ndarray:
        """log p of each numeral: [C]."""
        return self._joint(numerals.texts) - self._normaliser

    def sources(self) -> list[Source]:
        """Those before the gap, by Bayes: what follows depends on the numeral alone."""
        found = self._model.sources(self.context, self._model.tokens(self._before))
        numerals = list(dict.fromkeys(source.numeral for source in found))
        if not numerals:
            return []
        prior = self._model.log_prob_table(self.context, NumeralTable(numerals))[0]
        factors = dict(
            zip(numerals, np.exp(self.score(NumeralTable(numerals)) - prior), strict=True)
        )
        return merged(
            replace(source, probability=source.probability * float(factors[source.numeral]))
            for source in found
        )

    def _joint(self, numerals: list[str], report: Reached | None = None) -> np.ndarray:
        """log p(numeral, what follows | what comes before, a numeral): [C]."""
        prior = self._model.log_prob_table(self.context, NumeralTable(numerals))[0]
        at_once = max(
            1, min(self._model.backbone.texts_at_once, READ_AT_ONCE // (self._length + 1))
        )
        following: list[float] = []
        for start in range(0, len(numerals), at_once):
            if report:
                report(start, len(numerals))
            some = numerals[start : start + at_once]
            texts = [f"{self._before}{numeral}{self._after}" for numeral in some]
            readings = self._model.read_texts(texts, self._tables)
            # The text may go on: its end does not count.
            following += [reading.log_probs[self._place + 1 : -1].sum() for reading in readings]
        if report:
            report(len(numerals), len(numerals))
        joint: np.ndarray = prior + np.array(following)
        return joint

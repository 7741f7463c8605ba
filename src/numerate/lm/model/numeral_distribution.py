"""The distribution over the next numeral, as people ask about it."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, overload

import numpy as np
import torch
from torch import Tensor

from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import (
    Context,
    NextNumeral,
    NumeralHead,
    log_prob_row,
    mass_surely_up_to,
)
from numerate.lm.model.candidate_line import CandidateLine
from numerate.lm.model.conformal import ConformalIntervals
from numerate.numeral import Numeral
from numerate.text.seen_numbers import Source, merged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN_LEVEL = 0.9  # of the interval by which a distribution introduces itself
CURVE_BEST = 200  # of the most probable numerals that a drawing shows beside the grid
Numeric = str | int | float | Decimal
_POINTS = 64  # where the distribution function is looked at in each round of a search
_MOST_ROUNDS = 1000  # of draws, before a model is given up that hardly names a numeral
_DIGITS = 11  # significant digits of a quantile, where no more are needed
_MOST_DIGITS = 17  # that tell a float from all others
_PRECISION = 1e-13  # relative, to which a quantile is searched for
_BEFORE = 1e-7  # of a number: so far below it are the numbers less than it


@dataclass(frozen=True, slots=True)
class Curve:
    """What a drawing needs: numerals in ascending order of value, [C] each."""

    numerals: list[str]
    values: np.ndarray
    probabilities: np.ndarray
    decimals: np.ndarray


class NumeralDistribution:
    """What a model expects where a numeral is to come.

    `prob` and `top` are about numerals, as they are written: `2` and `2.0` are two. `cdf`,
    `median`, `interval` are about the numbers they write, among numerals that can be named:
    `unnamed` is the probability of the rest, such as the unknown of a closed vocabulary.

    An interval is the distribution's own: how often it contains the number depends on how good
    the model is. A calibrated one contains it as often as it says, on text like the training data.

    Examples:
        >>> import numerate
        >>> d = numerate.load("demo/runs/combination").predict("The patient weighs")
        >>> d.log_prob("74.0") < d.log_prob("74")
        True
        >>> low, high = d.interval(0.9)
        >>> low < d.median() < high
        True
        >>> d.cdf(high) - d.cdf(low) > 0.8
        True
        >>> low, high = d.interval(0.9, calibrated=True)
        >>> len(d.sample(1000))
        1000

    Of a head in a model of your own, in many places at once:

        >>> import torch
        >>> from numerate.lm.heads import Context, HeadOptions, TrainingNumerals, head_class
        >>> numerals = TrainingNumerals.of(["54", "55", "61.5", "60"])
        >>> head = head_class("mog").fit(numerals, 8, HeadOptions())
        >>> many = numerate.NumeralDistribution.batch(head, Context(torch.zeros(3, 8)))
        >>> many.log_prob(["55", "61.5", "7"]).shape
        torch.Size([3])
        >>> many.cdf(100.0) > many.cdf(50.0)
        tensor([True, True, True])
    """

    def __init__(
        self,
        numerals: NextNumeral,
        score: Callable[[NumeralTable], np.ndarray],
        candidates: NumeralTable,
        mixture_weights: dict[str, float],
        sources: Callable[[], list[Source]] = list,
        intervals: Callable[[], ConformalIntervals | None] = lambda: None,
    ) -> None:
        self._numerals = numerals
        self._score = score  # log p of each numeral: [C]
        self._candidates = candidates
        self.mixture_weights = (
            mixture_weights  # of the members of a combination; empty for other models
        )
        self._find_sources = sources
        self._intervals = intervals  # how they are calibrated; None: not known here

    @staticmethod
    def batch(head: NumeralHead, context: Context) -> "NumeralDistributions":
        """What a head expects in every place of a context."""
        return NumeralDistributions(head, context)

    def __repr__(self) -> str:
        if not self._numerals.total > 0:
            return "NumeralDistribution(no numeral that can be named)"
        low, high = (f"{end:.6g}" for end in self.interval(SHOWN_LEVEL))
        where = f"{SHOWN_LEVEL * 100:.0f} % in {low}–{high}"
        return f"NumeralDistribution(median {self.median():.6g}, {where})"

    def _repr_html_(self) -> str:
        from numerate.reports.notebook import as_picture

        return as_picture(self.plot(), repr(self)) if self._numerals.total > 0 else repr(self)

    @cached_property
    def sources(self) -> list[Source]:
        """Where its probability comes from, as far as it is from numbers in view: the most probable
        copies and results, each with its numbers. Strategies that look at no numbers have the
        rest: `mixture_weights` tells how much."""
        return self._find_sources()

    @property
    def unnamed(self) -> float:
        """The probability of what cannot be named, such as the unknown of a closed vocabulary."""
        return max(0.0, 1.0 - self._numerals.total)

    @property
    def unresolved(self) -> float:
        """Probability, among that of numbers, whose place on the line is only known from below."""
        return self._numerals.unresolved / self._numerals.total

    def top(self, count: int = 5) -> list[tuple[str, float]]:
        """The most probable numerals with their probabilities."""
        if count < 1:
            raise NumerateError(f"number of numerals: got {count}, expected 1 or more")
        best = islice(self._numerals.stream(), count)
        return [(text, float(np.exp(log_prob))) for text, log_prob in best]

    def prob(self, numeral: str | int | float | Decimal) -> float:
        """The probability of one numeral, given that a numeral comes."""
        return float(np.exp(self.log_prob(numeral)))

    def log_prob(self, numeral: str | int | float | Decimal) -> float:
        """The logarithm of it."""
        return float(self._score(NumeralTable([_written(numeral)]))[0])

    def cdf(self, number: float) -> float:
        """The probability that the number is at most this one."""
        return float(self._cdf([float(number)])[0])

    def masses(self, edges: Iterable[float]) -> np.ndarray:
        """The probability of a number from each edge up to, not including, the next: [E - 1]."""
        ends = np.asarray(edges, dtype=float)
        below = self._cdf(ends * (1 - _BEFORE) - _BEFORE**2)
        return np.maximum(np.diff(below), 0.0)

    def median(self) -> float:
        """The number that half of the probability is at most."""
        return self.quantile(0.5)

    def icdf(self, q: float) -> float:
        """The quantile, as torch.distributions calls it."""
        return self.quantile(q)

    def is_calibrated(self) -> bool:
        """Whether its intervals can be calibrated; the dev split may be read for it, once."""
        return self._intervals() is not None

    def interval(self, level: float = 0.9, *, calibrated: bool = False) -> tuple[float, float]:
        """The central interval that holds at least this probability, both ends included, but for
        what is `unresolved`. Where a little is known to lie in a small range and no nearer, an end
        is that of the range.

        A `calibrated` one, of candidate numerals, contains the number as often as it says: at this
        level the numbers of the dev split lie in it (`lm/model/conformal.py`).
        """
        if not 0 < level < 1:
            raise NumerateError(f"level: got {level}, expected between 0 and 1")
        if calibrated:
            intervals = self._intervals()
            if intervals is None:
                raise NumerateError(
                    "interval: not calibrated, as was said when it was first asked for; expected a "
                    "model that is, and nothing after the number"
                )
            line = CandidateLine.of(self._candidates, self._score(self._candidates)[None])
            (low,), (high,) = intervals.bounds(line, level)
            return float(low), float(high)
        return self.quantile((1 - level) / 2), self._reached((1 + level) / 2, self._cdf_surely)

    def quantile(self, q: float) -> float:
        """The smallest number x with cdf(x) ≥ q."""
        if not 0 < q < 1:
            raise NumerateError(f"quantile: got {q}, expected between 0 and 1")
        return self._reached(q, self._cdf)

    def _reached(self, q: float, cdf: Callable[[Iterable[float]], np.ndarray]) -> float:
        low, high = 0.0, 1.0
        if cdf([low])[0] >= q:
            return low
        while cdf([high])[0] < q and high < 1e33:
            low, high = high, 10 * high
        while high - low > _PRECISION * high:
            points = np.linspace(low, high, _POINTS + 1)
            index = int(np.searchsorted(cdf(points[1:-1]), q)) + 1
            low, high = float(points[index - 1]), float(points[index])
        # Numerals have few digits: the float that was closed in on is one of them.
        for digits in range(_DIGITS, _MOST_DIGITS):
            number = float(f"{high:.{digits}g}")
            if low < number <= (1 + _PRECISION) * high and cdf([number])[0] >= q:
                return number
        return high

    def sample(self, count: int = 1, seed: int | tuple[int, ...] = 0) -> list[str]:
        """Independent draws from the model itself, among numerals that can be named."""
        if count < 0:
            raise NumerateError(f"number of samples: got {count}, expected 0 or more")
        return draw_named(self._numerals, count, np.random.default_rng(seed))

    def curve(self) -> Curve:
        """The grid of candidates and the most probable numerals, for a drawing."""
        best = [text for text, _ in islice(self._numerals.stream(), CURVE_BEST)]
        table = NumeralTable(list(dict.fromkeys([*best, *self._candidates.texts])))
        order = np.lexsort((table.precisions, table.values))
        return Curve(
            [table.texts[index] for index in order],
            table.values[order],
            np.exp(self._score(table))[order],
            table.precisions[order],
        )

    def plot(self, *, calibrated: bool = False) -> "Figure":
        """The distribution over the number line, drawn with its interval of 90 %."""
        from numerate.lm.model.drawing import draw_distribution

        return draw_distribution(self, self.interval(SHOWN_LEVEL, calibrated=calibrated))

    def _cdf(self, numbers: Iterable[float]) -> np.ndarray:
        if not self._numerals.total > 0:
            raise NumerateError("no number to expect: the model knows no numeral by name")
        return self._numerals.mass_up_to(np.asarray(numbers, dtype=float)) / self._numerals.total

    def _cdf_surely(self, numbers: Iterable[float]) -> np.ndarray:
        mass = mass_surely_up_to(self._numerals, np.asarray(numbers, dtype=float))
        return mass / self._numerals.total


class NumeralDistributions(Sequence[NumeralDistribution]):
    """What a head expects in N places at once: a `NumeralDistribution` in batches.

    With the names of torch.distributions. Answers are tensors where the head is: `log_prob` has
    gradients, so that the head can be trained in a network of anyone's.
    """

    def __init__(self, head: NumeralHead, context: Context) -> None:
        self._head, self._context = head, context

    @property
    def batch_shape(self) -> torch.Size:
        """[N]"""
        return torch.Size([len(self)])

    def __repr__(self) -> str:
        return f"NumeralDistributions({type(self._head).__name__}, {len(self)} places)"

    def __len__(self) -> int:
        return len(self._context)

    @overload
    def __getitem__(self, index: int) -> NumeralDistribution: ...
    @overload
    def __getitem__(self, index: slice) -> "NumeralDistributions": ...
    def __getitem__(self, index: int | slice) -> "NumeralDistribution | NumeralDistributions":
        if isinstance(index, slice):
            return NumeralDistributions(self._head, self._context[index])
        return self._each[index]

    def log_prob(self, numerals: Numeric | Sequence[Numeric]) -> Tensor:
        """log p(numeral | a numeral comes), of one numeral for each place or for all: [N]."""
        if isinstance(numerals, str | int | float | Decimal):
            numerals = [numerals] * len(self)
        if len(numerals) != len(self):
            raise NumerateError(f"numerals: got {len(numerals)}, expected {len(self)}, one a place")
        if not numerals:
            return self._tensor([])
        written = [_written(numeral) for numeral in numerals]
        table = NumeralTable.of_text(written, {}).to(self._context.hidden.device)
        index = {text: row for row, text in enumerate(table.texts)}
        rows = np.array([index[text] for text in written], dtype=np.int64)
        return self._head.log_prob(self._context, table.batch(rows))

    def cdf(self, numbers: float | Tensor) -> Tensor:
        """The probability that each number is at most so large: float64 [N]."""
        asked = torch.as_tensor(numbers, dtype=torch.float64).expand(len(self)).tolist()
        return self._tensor([one.cdf(x) for one, x in zip(self, asked, strict=True)])

    def icdf(self, q: float | Tensor) -> Tensor:
        """The smallest numbers that are reached with these probabilities: float64 [N]."""
        asked = torch.as_tensor(q, dtype=torch.float64).expand(len(self)).tolist()
        return self._tensor([one.icdf(p) for one, p in zip(self, asked, strict=True)])

    def sample(self, sample_shape: int | Sequence[int] = (), seed: int = 0) -> Tensor:
        """The numbers that draws write, the same for the same seed: float64 [*shape, N]."""
        if isinstance(sample_shape, int):
            sample_shape = (sample_shape,)
        count = math.prod(sample_shape)
        drawn = [one.sample(count, (seed, place)) for place, one in enumerate(self)]
        values = self._tensor([float(text) for texts in drawn for text in texts])
        return values.view(len(self), count).T.reshape(*sample_shape, len(self))

    @cached_property
    def _each(self) -> list[NumeralDistribution]:
        return [self._at(place) for place in range(len(self))]

    def _at(self, place: int) -> NumeralDistribution:
        head, here = self._head, self._context[place : place + 1]

        def score(numerals: NumeralTable) -> np.ndarray:
            return log_prob_row(head, here, numerals.texts)

        with torch.no_grad():
            weights = head.mixture_weights(here)[0].tolist()
            numerals = head.next_numeral(here)
        by_name = dict(zip(head.members_by_name(), weights, strict=True))

        def sources() -> list[Source]:
            with torch.no_grad():
                return merged(head.sources(here))

        return NumeralDistribution(numerals, score, NumeralTable(()), by_name, sources)

    def _tensor(self, values: Sequence[object]) -> Tensor:
        return torch.tensor(values, dtype=torch.float64, device=self._context.hidden.device)


def draw_named(numerals: NextNumeral, count: int, generator: np.random.Generator) -> list[str]:
    """So many draws that can be named; what cannot is drawn again."""
    drawn: list[str] = []
    for _ in range(_MOST_ROUNDS):
        missing = count - len(drawn)
        if not missing:
            return drawn
        drawn += numerals.draw(2 * missing, generator)[:missing]
    raise NumerateError("nothing to draw from: the model knows hardly any numeral by name")


def _written(numeral: str | int | float | Decimal) -> str:
    text = numeral if isinstance(numeral, str) else f"{Decimal(str(numeral)):f}"
    try:
        return Numeral.parse(text).text
    except ValueError as error:
        raise NumerateError(str(error)) from None

"""How well sources support a number: who says the same, of what, and from what it follows."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from numerate.comparison.mentions import SCALES, Mention
from numerate.comparison.ways import Computed, Way, by_chance

FEATURES = (
    "always",
    "rounded",
    "words",
    "neighbours",
    "beside",
    "same unit",
    "per cent or not",
    "times",
    "by chance",
    "others are more alike",
    "by how much",
    "quoted beside it, too",
    "from its own text",
    "from a source",
    "words of what it follows from",
    "ways by chance",
)
DIGITS = 3  # significant ones of a number: one, two, or more
KINDS = 2 * DIGITS  # of numbers that somebody says, and of those that only follow from others
FEW_NEIGHBOURS = 2
ABOUT = 0.5  # of likeness
MEANT = 0.6  # likeness from which it may be what was meant
DECADE = 1.05  # numbers that are further apart are not taken for each other
TINY = 1e-9
FEW = 1e-3  # expected by chance: fewer are as good as none


@dataclass(frozen=True, slots=True)
class Support:
    quote: Mention | None  # of the same number, the most alike
    way: Way | None  # in which it follows from others, the most alike
    own: Way | None  # in which it is a percentage of the two numbers right before it
    chance: float  # of such ways, so many are expected by chance
    other: Mention | None  # of another number, which may have been meant
    features: np.ndarray  # float64 [KINDS · FEATURES]


class Postings:
    """Which of some things have what."""

    def __init__(self, things: Iterable[Iterable[Hashable]]) -> None:
        found: dict[Hashable, list[int]] = {}
        self.size = 0
        for index, keys in enumerate(things):
            self.size += 1
            for key in keys:
                found.setdefault(key, []).append(index)
        self._rows = {key: np.array(rows) for key, rows in found.items()}

    def count(self, key: Hashable) -> int:
        return len(self._rows.get(key, ()))

    def share(self, weights: Mapping[Hashable, float]) -> np.ndarray:
        """How much of these each of them has: [things], 0 to 1."""
        found, whole = np.zeros(self.size), sum(weights.values())
        for key, weight in weights.items():
            if key in self._rows:
                found[self._rows[key]] += weight
        return found / whole if whole else found


class Likeness:
    """How alike a mention is to all of the sources, [mentions] each."""

    def __init__(
        self, words: np.ndarray, neighbours: np.ndarray, beside: np.ndarray, unit: np.ndarray
    ) -> None:
        self.words, self.neighbours, self.beside, self.unit = words, neighbours, beside, unit
        self.total = 2 * words + neighbours + 0.5 * unit


class Sources:
    """The numbers of what is compared with."""

    def __init__(self, mentions: Sequence[Mention]) -> None:
        self.mentions = mentions
        self._words = Postings(mention.words for mention in mentions)
        self._neighbours = Postings(mention.neighbours for mention in mentions)
        self._beside = Postings(mention.neighbours | mention.beside for mention in mentions)
        self._units = Postings([mention.unit] if mention.unit else [] for mention in mentions)
        self._per_cent = np.array([mention.unit == "%" for mention in mentions], dtype=np.bool_)
        self._values = np.array([mention.value for mention in mentions])
        self._sorted = np.sort(self._values)
        self._amounts = np.array([mention.amount for mention in mentions])
        self._is_scaled = np.array([mention.unit in SCALES for mention in mentions], dtype=np.bool_)
        self._homes = np.array([id(mention.read) for mention in mentions])
        self._precisions = np.array([mention.number.precision for mention in mentions])

    @cached_property
    def computed(self) -> Computed:
        return Computed(self.mentions)

    def likeness(self, mention: Mention) -> Likeness:
        return Likeness(
            self._words.share(self._weighed(mention.words)),
            # One neighbour alone proves little.
            self._neighbours.share(dict.fromkeys(mention.neighbours, 1.0))
            * (len(mention.neighbours) / (len(mention.neighbours) + FEW_NEIGHBOURS)),
            self._beside.share(dict.fromkeys(mention.beside, 1.0)),
            self._units.share({mention.unit: 1.0}),
        )

    def _weighed(self, words: Mapping[str, float]) -> dict[Hashable, float]:
        """Rare words count most; those that no source has tell nothing."""
        counts = {word: self._words.count(word) for word in words}
        size = self._words.size
        return {w: words[w] * math.log1p(size / n) for w, n in counts.items() if n}

    def quotes(self, mention: Mention) -> np.ndarray:
        """Which are the same number; else, which it rounds."""
        same = self._of_its_unit(mention, self._amounts == mention.amount)
        if not len(same):  # unless both are scaled, by different words
            both = self._is_scaled & (mention.unit in SCALES)
            same = self._of_its_unit(mention, (self._values == mention.value) & ~both)
        if len(same):
            return same
        found = self._rounded(mention, mention.bounds, self._precisions > mention.number.precision)
        if not len(found) and mention.is_round:
            found = self._rounded(mention, mention.rough_bounds, self._values != mention.value)
        return found

    def _rounded(
        self, mention: Mention, bounds: tuple[float, float], may_be: np.ndarray
    ) -> np.ndarray:
        low, high = bounds
        return self._of_its_unit(mention, (self._values >= low) & (self._values <= high) & may_be)

    def _of_its_unit(self, mention: Mention, chosen: np.ndarray) -> np.ndarray:
        rows = np.flatnonzero(chosen)
        others = [mention.is_of_another_unit(self.mentions[row]) for row in rows.tolist()]
        return rows[~np.array(others, dtype=np.bool_)]

    def support(self, mentions: Sequence[Mention]) -> list[Support]:
        """Of all numbers of a text, one after another."""
        own = Computed(mentions)
        # Twice, since to hold all of it would take memory for every pair of text and sources.
        quotes = [self.quotes(one) for one in mentions]
        pairs = zip(mentions, quotes, strict=True)
        quoted = [self._best(rows, self.likeness(one)) for one, rows in pairs]
        return [
            self._support(one, own, quoted[index], len(quotes[index]), _around(quoted, index))
            for index, one in enumerate(mentions)
        ]

    def _best(self, rows: np.ndarray, alike: Likeness) -> int | None:
        return int(rows[np.argmax(alike.total[rows])]) if len(rows) else None

    def _support(
        self, mention: Mention, own: Computed, quote: int | None, times: int, around: set[int]
    ) -> Support:
        alike = self.likeness(mention)
        others = np.where(self._values == mention.value, -1.0, alike.total)
        ahead = 0.0
        of_quote = [0.0] * 11
        if quote is not None:
            # Who says it is believed of what else it says, not of others' words.
            others = np.where(self._homes == self._homes[quote], others, -1.0)
            ahead = max(0.0, float(others.max() - alike.total[quote]))
            of_quote = [
                float(
                    mention.value != self._values[quote] and mention.amount != self._amounts[quote]
                ),
                float(alike.words[quote]),
                float(alike.neighbours[quote]),
                float(alike.beside[quote]),
                float(alike.unit[quote]),
                float(self._per_cent[quote] != (mention.unit == "%")),
                math.log1p(times),
                math.log(FEW + by_chance(self._sorted, mention)),
                float(ahead > 0),
                ahead,
                float(quote in around),
            ]
        of_own, ways = own.to(mention), self.computed.to(mention)
        weighed = self._weighed(mention.words)
        likely = [_of_way(weighed, way) for way in ways]
        both = ((own, of_own), (self.computed, ways))
        chances = [computed.by_chance(mention) for computed, found in both if found]
        chance = min(chances, default=0.0)
        features = [
            1.0,
            *of_quote,
            float(bool(of_own)),
            float(bool(ways)),
            max(likely, default=0.0),
            math.log(FEW + chance) if chances else 0.0,
        ]
        kind = min(max(mention.digits, 1), DIGITS) - 1
        row = np.zeros((KINDS, len(FEATURES)))
        row[kind if quote is not None else DIGITS + kind] = features
        best = of_own[0] if of_own else (ways[int(np.argmax(likely))] if ways else None)
        return Support(
            None if quote is None else self.mentions[quote],
            best,
            next((way for way in of_own if way.is_share_of(mention)), None),
            chance,
            self._meant(mention, others) if quote is None or ahead > 0 else None,
            row.ravel(),
        )

    def _meant(self, mention: Mention, alike: np.ndarray) -> Mention | None:
        """Of those that are about as much alike as any, and of no other unit, the nearest number,
        if it is near."""
        rows = np.flatnonzero(alike >= max(alike.max(initial=0.0) - ABOUT, MEANT))
        apart = np.abs(np.log10((self._values[rows] + TINY) / (mention.value + TINY)))
        near = [
            (distance, row)
            for distance, row in zip(apart.tolist(), rows.tolist(), strict=True)
            if distance < DECADE and not mention.is_of_another_unit(self.mentions[row])
        ]
        return self.mentions[min(near)[1]] if near else None


def _around(quoted: Sequence[int | None], index: int) -> set[int]:
    """What the numbers right before and after it quote."""
    near = (*quoted[max(index - 1, 0) : index], *quoted[index + 1 : index + 2])
    return {one for one in near if one is not None}


def _of_way(weighed: Mapping[Hashable, float], way: Way) -> float:
    words = {word for operand in way.operands for word in operand.words}
    whole = sum(weighed.values())
    return sum(weight for word, weight in weighed.items() if word in words) / whole if whole else 0

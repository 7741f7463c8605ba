"""Is a text of the kind that a model knows? Its dev split, which is of that kind, tells.

A model on text of another kind finds everything odd, or nothing: its findings mean little, and no
rate of false alarms is kept. A text is therefore compared with stretches of the dev split that are
no longer than itself, since the shorter a stretch is, the more it differs by chance. What hardly
any of them exceeds, and by an amount that matters, does not fit. A text that is shorter than all
stretches is too short to tell.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from typing import Any

import numpy as np

from numerate.lm.model.assess import first_sight
from numerate.lm.model.numeral_lm import TextReading
from numerate.storage.records import Shape

REFUSED = 0.02  # of the texts that fit, by chance: each trait has its part of it
SHORTEST = 8  # words, or numerals, that tell something
FEWEST = 40  # stretches that make a limit; up to 150, the largest of them makes it
LONGER = 1.5  # times as long is the next longer stretch
MOST_SURPRISAL = 50.0  # nats: what cannot be at all, counts so much

Traits = dict[str, np.ndarray]
"""By the name of the trait, its value at every word, or at every numeral, of a text."""


@dataclass(frozen=True, slots=True)
class _Trait:
    typical: Callable[..., np.ndarray]  # of stretches: [S, L] → [S]
    margin: float  # above what is usual that makes a difference
    at_least: float = 0.0  # the same, for a stretch as a whole: no single word makes a difference

    def margin_of(self, length: int) -> float:
        return max(self.margin, self.at_least / length)


TRAITS = {
    "unknown_words": _Trait(np.mean, margin=0.1, at_least=3),  # share
    "word_surprisal": _Trait(np.mean, margin=1.0, at_least=16),  # nats: log of the perplexity
    # The median: some absurd numerals must not make a text foreign.
    "strangeness": _Trait(np.median, margin=1.0),  # nats
}
DOMAIN_SHAPE: Shape = {f"{name}?": [[int, float, float]] for name in TRAITS}


def traits_of(reading: TextReading) -> Traits:
    is_word = np.ones(len(reading.tokens), dtype=np.bool_)
    is_word[reading.positions] = False
    sight = first_sight([token.text for token in reading.numerals], reading.numeral_log_probs)
    found = {
        "word_surprisal": np.minimum(-reading.log_probs[:-1][is_word], MOST_SURPRISAL),
        "strangeness": np.minimum(sight, MOST_SURPRISAL),
    }
    if reading.unknown is None:
        return found
    return {"unknown_words": reading.unknown[is_word].astype(np.float64), **found}


def join_traits(parts: Sequence[Traits]) -> Traits:
    """Those of a whole, from its parts in their order."""
    return {
        name: np.concatenate([part[name] for part in parts]) for name in (parts[0] if parts else ())
    }


@dataclass(frozen=True, slots=True)
class Compared:
    """A trait of a text beside that of the dev split."""

    value: float
    usual: float
    limit: float

    @property
    def fits(self) -> bool:
        return self.value <= self.limit


@dataclass(frozen=True, slots=True)
class Fit:
    """How a text fits the model that checks it, by the names of the traits that were compared."""

    compared: dict[str, Compared] = field(default_factory=dict)

    @property
    def fits(self) -> bool | None:
        """None: too short to tell."""
        return all(trait.fits for trait in self.compared.values()) if self.compared else None

    @property
    def calibrated(self) -> bool:
        """Whether findings can be taken for what they say."""
        return self.fits is not False

    def record(self) -> dict[str, Any]:
        traits = {name: asdict(trait) for name, trait in self.compared.items()}
        return {"fits": self.fits, **traits}


@dataclass(frozen=True, slots=True)
class Stretches:
    """A trait in stretches of one length: what half of them have, what hardly any exceeds."""

    length: int
    usual: float
    limit: float


@dataclass(frozen=True, slots=True)
class Domain:
    """What is usual in texts that a model knows; the stretches of each trait, longer and longer."""

    stretches: dict[str, list[Stretches]] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: Sequence[Traits]) -> "Domain":
        names = documents[0] if documents else ()
        return cls({name: _stretches(name, [d[name] for d in documents]) for name in names})

    @classmethod
    def read(cls, record: dict[str, list[tuple[int, float, float]]]) -> "Domain":
        return cls(
            {
                name: [Stretches(length, usual, limit) for length, usual, limit in rows]
                for name, rows in record.items()
            }
        )

    def record(self) -> dict[str, list[list[float]]]:
        return {
            name: [[s.length, float(f"{s.usual:.7g}"), float(f"{s.limit:.7g}")] for s in rows]
            for name, rows in self.stretches.items()
        }

    def compare(self, traits: Traits) -> Fit:
        compared = {}
        for name, values in traits.items():
            known = [s for s in self.stretches.get(name, ()) if s.length <= len(values)]
            if known:
                value = float(TRAITS[name].typical(values))
                compared[name] = Compared(value, known[-1].usual, known[-1].limit)
        return Fit(compared)


class KnownTexts:
    """Takes heed of texts that fit while they are read, and then says what is usual in them."""

    def __init__(self) -> None:
        self._documents: dict[object, list[Traits]] = {}

    def heed(
        self, readings: Iterable[TextReading], documents: Iterable[object] | None
    ) -> Iterator[TextReading]:
        for document, reading in zip(documents or count(), readings, strict=False):
            self._documents.setdefault(document, []).append(traits_of(reading))
            yield reading

    def domain(self) -> Domain:
        return Domain.of([join_traits(parts) for parts in self._documents.values()])


class Comparison:
    """Takes heed of a text while it is read, and then says how it fits."""

    def __init__(self, domain: Domain, parts: Iterable[Traits] = ()) -> None:
        self._domain = domain
        self.parts = list(parts)  # of what has been read

    def heed(self, reading: TextReading) -> None:
        self.parts.append(traits_of(reading))

    def fit(self) -> Fit:
        return self._domain.compare(join_traits(self.parts))


def _stretches(name: str, documents: Sequence[np.ndarray]) -> list[Stretches]:
    """Longer and longer ones, none of them over the border of a document."""
    trait, length = TRAITS[name], SHORTEST
    found: list[Stretches] = []
    while True:
        rows = [d[: len(d) // length * length].reshape(-1, length) for d in documents]
        typical = np.sort(trait.typical(np.concatenate(rows), axis=1))
        if len(typical) < FEWEST:
            return found
        usual = float(np.median(typical))
        rank = int(REFUSED / len(TRAITS) * (len(typical) + 1))  # of a conformal p-value
        exceeded = float(typical[-max(1, rank)])
        found.append(Stretches(length, usual, max(exceeded, usual + trait.margin_of(length))))
        length = round(LONGER * length)

"""Where the numerals of a corpus come from: as a model has it, and as the data has it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from numerate.backbones.contract import Reading, exactly
from numerate.heads.copy import is_copy
from numerate.model.numeral_lm import NumeralLM
from numerate.ragged import ranges
from numerate.sight.collate import CorpusSight
from numerate.sight.operations import OPERATIONS
from numerate.sight.view import COPY, Ways

BLOCK = 2048  # numerals at a time
SOURCES = ("table", "table, rounded", "earlier text", *(o.name for o in OPERATIONS), "others")
"""What a model takes a numeral from: a table in view, as it is or with fewer decimals; the text
before it; a computation; and what its other members know."""

STANDINGS = (
    "in a table",
    "in a table, rounded",
    "earlier in the text",
    "can be computed",
    "none of these",
)
"""The first of these that is true of a numeral, whatever a model makes of it."""

_TABLE, _ROUNDED, _TEXT, _FIRST_OPERATION, _OTHERS = 0, 1, 2, 3, len(SOURCES) - 1
_PER_CENT = ("%", "percent")


@dataclass(frozen=True)
class Traced:
    """N numerals of a corpus that a model has read with numbers in view."""

    sight: CorpusSight
    shares: np.ndarray  # [N, SOURCES] p(source | the numeral)
    copied: np.ndarray  # [N] p of the numeral by copies alone

    @cached_property
    def standing(self) -> np.ndarray:
        """Which of the `STANDINGS` each numeral has: [N]."""
        sight = self.sight
        places = sight.numeral_places
        found = np.zeros((len(places), len(STANDINGS)), dtype=np.bool_)
        found[:, -1] = True
        keys = sight.table.keys
        for begin in range(0, len(places), BLOCK):
            some = places[begin : begin + BLOCK]
            texts = sight.place_texts[some]
            starts = sight.offsets[texts]
            counts = sight.in_tables[texts] + sight.before[some]
            numbers = ranges(starts, starts + counts)
            owners = np.repeat(np.arange(begin, begin + len(some)), counts)
            same, dropped = is_copy(
                torch.from_numpy(keys[sight.rows[numbers]]),
                torch.from_numpy(keys[sight.own.rows[owners]]),
            )
            (hits,) = np.nonzero(same.numpy())
            kinds = _kinds_of_copies(sight, numbers[hits], dropped.numpy()[hits])
            found[owners[hits], kinds] = True
        derived = np.zeros(len(sight.place_texts), dtype=np.bool_)
        derived[sight.derivations.places] = True
        found[:, _FIRST_OPERATION] = derived[places]
        first: np.ndarray = found.argmax(1)
        return first

    @cached_property
    def is_percentage(self) -> np.ndarray:
        """Whether a sign or word for per cent comes next: bool [N]."""
        own = self.sight.own
        named = np.array([type.lower() in _PER_CENT for type in own.types] or [False])
        ends = np.repeat(own.offsets[1:], np.diff(own.numeral_offsets))
        following = np.minimum(own.numerals + 1, len(own.codes) - 1)
        is_one: np.ndarray = named[own.codes[following]] & (own.numerals + 1 < ends)
        return is_one


def trace(model: NumeralLM, reading: Reading) -> Traced:
    """Ask every member of a combination how it makes each numeral of what is in view.

    A member has written a numeral with probability weight · p(numeral by it) / p(numeral), and of
    that each of its ways has the part that it has of p(numeral by it).
    """
    corpus, sight = reading.corpus, reading.corpus.sight
    assert sight is not None, "the model sees numbers"
    members = model.head.members_by_name()
    shares = np.zeros((len(corpus.rows), len(SOURCES)))
    copied = np.zeros(len(corpus.rows))
    with exactly():
        for begin in range(0, len(corpus.rows), BLOCK):
            cut = slice(begin, begin + BLOCK)
            context, numerals = reading.context[cut], corpus.table.batch(corpus.rows[cut])
            count = len(numerals)
            weights = model.head.mixture_weights(context).double().log().cpu().numpy()
            joint = np.empty((count, len(members)))
            ways_of: dict[int, Ways] = {}
            for index, member in enumerate(members.values()):
                ways = member.ways(context, numerals)
                if ways is None:
                    log_probs = member.log_prob(context, numerals).double().cpu().numpy()
                else:
                    ways_of[index] = ways
                    total = _by_place(ways, count)
                    log_probs = np.log(total, out=np.full(count, -np.inf), where=total > 0)
                joint[:, index] = weights[:, index] + log_probs
            joint = np.exp(joint - joint.max(1, keepdims=True))
            responsible = joint / joint.sum(1, keepdims=True)  # [n, M]
            places = sight.numeral_places[cut]
            for index in range(len(members)):
                if index not in ways_of:
                    shares[cut, _OTHERS] += responsible[:, index]
                    continue
                _add(shares[cut], sight, places, ways_of[index], responsible[:, index])
                is_copied = (ways_of[index].operations == COPY).any()
                copied[cut] += _by_place(ways_of[index], count) if is_copied else 0.0
    return Traced(sight, shares, copied)


def _by_place(ways: Ways, count: int) -> np.ndarray:
    """The sum of their probabilities in each place: [n]."""
    probabilities = ways.probabilities.cpu().numpy()
    return np.bincount(ways.places.cpu().numpy(), probabilities, minlength=count)


def _add(
    shares: np.ndarray, sight: CorpusSight, places: np.ndarray, ways: Ways, responsible: np.ndarray
) -> None:
    """What a member has written [n], to the sources of its ways: [n, SOURCES]."""
    total = _by_place(ways, len(places))
    at, operations, a, dropped = (
        part.cpu().numpy() for part in (ways.places, ways.operations, ways.a, ways.dropped)
    )
    numbers = sight.offsets[sight.place_texts[places[at]]] + a
    kinds = np.where(
        operations == COPY,
        _kinds_of_copies(sight, numbers, dropped),
        _FIRST_OPERATION + operations,
    )
    parts = ways.probabilities.cpu().numpy() / np.where(total > 0, total, 1.0)[at]
    np.add.at(shares, (at, kinds), responsible[at] * parts)


def _kinds_of_copies(sight: CorpusSight, numbers: np.ndarray, dropped: np.ndarray) -> np.ndarray:
    """Of numbers of the corpus: [K]."""
    return np.where(in_text(sight, numbers), _TEXT, np.where(dropped > 0, _ROUNDED, _TABLE))


def in_text(sight: CorpusSight, numbers: np.ndarray) -> np.ndarray:
    """Which numbers stand in text, not in tables; an earlier paragraph, read as one, is text."""
    tables = sight.number_tables[numbers]
    found: np.ndarray = tables < 0
    if sight.columns.sources is not None and len(sight.columns.sources):
        found |= sight.columns.sources[tables] < 0
    return found

"""Where the numerals of a corpus come from: as a model has it, and as the data has it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from numerate.lm.backbones.contract import Reading, exactly
from numerate.lm.data.sight.corpus_sight import CorpusSight
from numerate.lm.data.sight.view import COPY, Ways
from numerate.lm.heads.copy import is_copy
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.text.operations import OPERATIONS
from numerate.text.ragged import ranges

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
    from_tables: np.ndarray  # [N] p of the numeral by copies from tables alone

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
            counts = sight.numbers_in_tables[texts] + sight.before[some]
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

    By Bayes' rule, a numeral is from a source with probability Σ weight · p(numeral from the source
    by the member) / p(numeral), the sum over the members.
    """
    corpus, sight = reading.corpus, reading.corpus.sight
    assert sight is not None, "the model sees numbers"
    shares = np.zeros((len(corpus.rows), len(SOURCES)))
    from_tables = np.zeros(len(corpus.rows))
    with exactly():
        for begin in range(0, len(corpus.rows), BLOCK):
            cut = slice(begin, begin + BLOCK)
            context, numerals = reading.context[cut], corpus.table.batch(corpus.rows[cut])
            weights = model.head.mixture_weights(context).double().log().cpu().numpy()  # [n, M]
            joint = []  # log p(member, source, numeral) of each member: [n, SOURCES]
            for index, member in enumerate(model.head.members_by_name().values()):
                ways = member.ways(context, numerals)
                by_source = np.full((len(numerals), len(SOURCES)), -np.inf)
                if ways is None:
                    by_source[:, _OTHERS] = member.log_prob(context, numerals).double().cpu()
                else:
                    found = _by_source(sight, sight.numeral_places[cut], ways)
                    np.log(found, out=by_source, where=found > 0)
                    from_tables[cut] += found[:, [_TABLE, _ROUNDED]].sum(1)
                joint.append(weights[:, [index]] + by_source)
            together = np.logaddexp.reduce(joint)
            odds = np.exp(together - together.max(1, keepdims=True))
            shares[cut] = odds / odds.sum(1, keepdims=True)
    return Traced(sight, shares, from_tables)


def _by_source(sight: CorpusSight, places: np.ndarray, ways: Ways) -> np.ndarray:
    """The sum of their probabilities in each place, by source: [n, SOURCES]."""
    at, operations, a, dropped, probabilities = (
        part.cpu().numpy()
        for part in (ways.places, ways.operations, ways.a, ways.dropped, ways.probabilities)
    )
    numbers = sight.offsets[sight.place_texts[places[at]]] + a
    copies = _kinds_of_copies(sight, numbers, dropped)
    kinds = np.where(operations == COPY, copies, _FIRST_OPERATION + operations)
    found = np.zeros((len(places), len(SOURCES)))
    np.add.at(found, (at, kinds), probabilities)
    return found


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

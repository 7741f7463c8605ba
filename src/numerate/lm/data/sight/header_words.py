"""Which words of the headers in view stand before a place: numbers are named before they come."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numerate.lm.data.sight.corpus_sight import CorpusSight

JUST_BEFORE, NEAR = 8, 32  # words before a place in which those of headers are looked for


def overlap_starts(sight: "CorpusSight") -> np.ndarray:
    """Where the overlaps of each place with the bags of its text begin."""
    counts = np.diff(sight.bag_offsets)[sight.place_texts]
    starts: np.ndarray = np.cumsum(counts) - counts
    return starts


def overlaps_of(sight: "CorpusSight") -> np.ndarray:
    """How much of each bag stands just before each place, and near it: float16 [·, 2].

    Place by place, and of each place bag by bag of its text: see `overlap_starts`.
    """
    words = {word: index for index, word in enumerate(sight.columns.words)}
    types = np.array([words.get(type, -1) for type in sight.own.types] or [-1])
    tokens = types[sight.own.codes] if len(sight.own.codes) else np.zeros(0, dtype=np.int64)
    weights = np.append(word_weights(sight), 0.0)
    parts = []
    for text in range(len(sight)):
        begin, end = sight.own.offsets[text : text + 2]
        numerals = sight.own.numerals[slice(*sight.own.numeral_offsets[text : text + 2])]
        places = np.append(numerals, end) - begin
        bags = sight.bag_words[slice(*sight.bag_offsets[text : text + 2])]
        found = np.zeros((len(places), len(bags), 2), dtype=np.float16)
        parts.append(found.reshape(-1, 2))
        named = tokens[begin:end]
        at = np.flatnonzero(named >= 0)
        if not len(at) or len(bags) == 1:
            continue
        distinct, local = np.unique(bags, return_inverse=True)
        local = local.reshape(bags.shape)
        column = np.searchsorted(distinct, named[at]).clip(max=len(distinct) - 1)
        hit = distinct[column] == named[at]
        at, column = at[hit], column[hit]
        distance = places[:, None] - at  # [n, hits]
        weight = weights[distinct]
        for index, reach in enumerate((JUST_BEFORE, NEAR)):
            inside = np.zeros((len(places), len(distinct)))
            near, which = np.nonzero((distance > 0) & (distance <= reach))
            inside[near, column[which]] = 1.0
            inside *= weight
            found[:, :, index] = inside[:, local].sum(2)
    return np.concatenate(parts) if parts else np.zeros((0, 2), dtype=np.float16)


def word_weights(sight: "CorpusSight") -> np.ndarray:
    """Words that are rare say more: those that the vocabulary lacks most."""
    rank = {word: index for index, word in enumerate(sight.vocabulary.words)}
    most = len(rank) + 1
    ranks = np.array([rank.get(word, most) for word in sight.columns.words], dtype=np.float64)
    weights: np.ndarray = np.log2(1 + ranks) / np.log2(1 + most)
    return weights

"""What is to be known of a number at a place without any learning.

Where it stands, whether its headers were just named, and how it stands to what was written last:
tables are read along their rows and columns. Nothing of it changes in training, so it is made once
for a corpus, a byte each.
"""

from typing import TYPE_CHECKING

import numpy as np

from numerate.lm.data.sight.header_words import overlap_starts, overlaps_of
from numerate.text.ragged import ranges

if TYPE_CHECKING:
    from numerate.lm.data.sight.corpus_sight import CorpusSight

FEATURES = 15
SCALE = 50.0  # a byte of 50 is 1
TEXTS_AT_ONCE = 256
_NEVER = 1 << 30


def features_of(sight: "CorpusSight") -> np.ndarray:
    """Of every pair of a place and a number it sees: uint8 [P, FEATURES]."""
    first, words = _first_written(sight), (overlap_starts(sight), overlaps_of(sight))
    parts = [np.zeros((0, FEATURES), dtype=np.uint8)]
    for begin in range(0, len(sight), TEXTS_AT_ONCE):
        end = min(begin + TEXTS_AT_ONCE, len(sight))
        places = np.arange(sight.place_offsets[begin], sight.place_offsets[end])
        parts.append(_features(sight, places, first, *words))
    return np.concatenate(parts)


def _features(
    sight: "CorpusSight",
    places: np.ndarray,
    first: np.ndarray,
    overlap_at: np.ndarray,
    overlaps: np.ndarray,
) -> np.ndarray:
    counts = np.diff(sight.pair_offsets)[places]
    starts = sight.offsets[sight.place_texts[places]]
    numbers = ranges(starts, starts + counts)  # [P]
    place = np.repeat(np.arange(len(places)), counts)
    before = sight.before[places][place]
    keys, order = sight.table.keys[sight.rows[numbers]], sight.order[numbers]
    rows, columns = sight.row_bags[numbers], sight.column_bags[numbers]
    bags = int(max(rows.max(initial=0), columns.max(initial=0))) + 1
    own = order >= 0
    distance = np.maximum(before - order, 1)
    found = [own, own / distance, own & (distance == 1)]

    def shares(same: np.ndarray, of: np.ndarray) -> np.ndarray:
        """Whether a number shares a row or column with one of those."""
        index = place * bags + of
        hits = np.bincount(index[same], minlength=len(places) * bags) > 0
        shared: np.ndarray = hits[index] & ~same & (of > 0)
        return shared

    for back in (1, 2):
        is_last = own & (distance == back)
        last = np.full(len(places), np.iinfo(np.int64).min)
        last[place[is_last]] = keys[is_last]
        same = ~own & (keys == last[place])
        found += [same, shares(same, rows), shares(same, columns)]
        if back == 1:  # the next one of the table, as it is read
            found.append(np.concatenate([[False], same[:-1]])[: len(same)] & ~own)
    found.append(~own & (first[numbers] < before))
    named = overlap_at[places][place]
    words = [overlaps[named + of] for of in (rows, columns)]  # [P, 2] each
    everything = np.column_stack([np.stack(found, axis=1).astype(np.float32), *words])
    rounded: np.ndarray = np.minimum(np.rint(SCALE * everything), 255).astype(np.uint8)
    return rounded


def _first_written(sight: "CorpusSight") -> np.ndarray:
    """The first of the text's own numerals that is the same as each number: [E]."""
    keys, texts = sight.table.keys[sight.rows], sight.number_texts
    order = np.where(sight.order >= 0, sight.order, _NEVER)
    if not len(keys):
        return order
    by_both = np.lexsort((order, keys, texts))  # of equal ones, the first written first
    key, text = keys[by_both], texts[by_both]
    new = np.concatenate([[True], (key[1:] != key[:-1]) | (text[1:] != text[:-1])])
    least = order[by_both][new][np.cumsum(new) - 1]
    found = np.empty_like(order)
    found[by_both] = least
    return found

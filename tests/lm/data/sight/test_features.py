"""What is known of a number at a place, against loops that say it in words."""

import numpy as np
from tests.tiny_sight import ROWS, TEXTS, tiny_sight

from numerate.lm.data.sight.corpus_sight import CorpusSight
from numerate.lm.data.sight.features import FEATURES, SCALE
from numerate.lm.data.sight.header_words import word_weights

HEADERS = {"rows": ["age", "weight", "dose"], "columns": ["placebo", "drug"]}


def expected(sight: CorpusSight, text: int, before: int) -> list[list[float]]:
    tokens = TEXTS[text]
    numerals = [index for index, token in enumerate(tokens) if token[0].isdigit()]
    written = [tokens[index] for index in numerals][:before]
    place = numerals[before] if before < len(numerals) else len(tokens)
    found = []
    cells = [(r, c) for r in range(3) for c in range(2)] if text < 2 else []
    for at, (row, column) in enumerate(cells):
        features = [0.0, 0.0, 0.0]
        for back in (1, 2):
            last = written[-back] if len(written) >= back else None
            hits = [cell for cell in cells if ROWS[cell[0]][cell[1]] == last]
            same = (row, column) in hits
            features.append(same)
            features.append(not same and any(hit[0] == row for hit in hits))
            features.append(not same and any(hit[1] == column for hit in hits))
            if back == 1:
                features.append(at > 0 and cells[at - 1] in hits)
        features.append(ROWS[row][column] in written)
        for kind, which in (("rows", row), ("columns", column)):
            word = HEADERS[kind][which]
            for reach in (8, 32):
                near = tokens[max(0, place - reach) : place]
                weight = word_weights(sight)[sight.columns.words.index(word)]
                features.append(weight if word in near else 0.0)
        found.append(features)
    for order in range(before):
        distance = before - order
        found.append([1.0, 1 / distance, distance == 1, *[0.0] * (FEATURES - 3)])
    return found


def test_features_are_what_they_say() -> None:
    sight = tiny_sight()
    for place in range(len(sight.place_texts)):
        text, before = int(sight.place_texts[place]), int(sight.before[place])
        pairs = slice(*sight.pair_offsets[place : place + 2])
        wanted = np.array(expected(sight, text, before), dtype=float).reshape(-1, FEATURES)
        np.testing.assert_allclose(sight.features[pairs] / SCALE, wanted, atol=0.51 / SCALE)

"""How a tokenizer can spell a numeral, and which of its tokens start one or let it go on.

A pretrained language model has a distribution over tokens, not over numerals. The probability
of a numeral is a sum over every sequence of tokens that writes it, each ended: `120` may be
`120`, `12` `0` or `1` `2` `0`, with the space before it in the first token or in one of its own.
These sequences share their beginnings, so they are kept as a tree.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from numerate.lm.backbones.spelling.written import goes_on, is_digit

MAX_EXACT = (
    12  # characters without commas; longer numerals are spelled as the tokenizer spells them
)
REACH = 48  # no spelling, with what could carry it on, has more tokens
_NUMERAL_PIECE = re.compile(r" ?[0-9.,]*")
KINDS = ("0", " 0", ".0", ",0", "end")  # tokens that begin so, 0 for any digit; the text's end
DIGIT, SPACE_DIGIT, POINT_DIGIT, COMMA_DIGIT, TEXT_END = range(len(KINDS))
_BYTE_MARKS = str.maketrans({"Ġ": " ", "Ċ": "\n"})
_PIECE_MARKS = str.maketrans({"▁": " "})  # SentencePiece
_NEWLINE_BYTE = "<0x0A>"


@dataclass(frozen=True, slots=True)
class End:
    """A node where a numeral is complete, and the nodes from where it could still go on.

    After a point or a comma only the next token tells; −1 where such a mark ends the numeral.
    """

    numeral: int  # which of the tree's numerals
    node: int
    point: int
    comma: int


@dataclass(frozen=True, slots=True)
class SpellingTree:
    """Ways to go on from a root. Node 0 is the root; parents come before their children."""

    parents: np.ndarray  # int64 [K], −1 for the root
    tokens: np.ndarray  # int64 [K], −1 for the root
    depths: np.ndarray  # int64 [K], 0 for the root
    starts: tuple[tuple[int, int], ...]  # node and kind of token: together, a numeral begins
    ends: tuple[End, ...]
    closings: tuple[tuple[int, int, int], ...]  # numeral, node, a token that also ends it
    # The same as rows of a forest (`forest.py`) of this tree alone:
    start_terms: np.ndarray
    end_terms: np.ndarray
    closing_terms: np.ndarray


class NumeralTokens:
    """The tokens of a vocabulary that have to do with numerals, by what they write.

    Tokens that stand for single bytes (`<0x31>`) are left out: no tokenizer writes digits so.
    """

    def __init__(self, tokenizer: Any, end_ids: Sequence[int]) -> None:
        self.tokenizer = tokenizer
        self.texts: dict[int, str] = {}
        self.pieces: dict[str, int] = {}  # tokens that may be parts of a numeral
        # A numeral's end and more, as in `5mg`: by the numeral's part, the rest and the token.
        self.overhangs: dict[str, list[tuple[str, int]]] = {}
        vocabulary = tokenizer.get_vocab()
        marks = _PIECE_MARKS if "▁" in vocabulary else _BYTE_MARKS
        kinds: list[list[int]] = [[] for _ in KINDS]
        begins = [*enumerate(KINDS[:TEXT_END]), (TEXT_END, "\n")]
        special = set(tokenizer.all_special_ids)
        for token, index in sorted(vocabulary.items(), key=lambda pair: pair[1]):
            if index in special:
                continue
            text = "\n" if token == _NEWLINE_BYTE else token.translate(marks)
            self.texts[index] = text
            for kind, begin in begins:
                if re.sub("[0-9]", "0", text[: len(begin)]) == begin:
                    kinds[kind].append(index)
            self._add(text, index)
        kinds[TEXT_END] += set(end_ids) - set(kinds[TEXT_END])
        self.kinds = [np.array(ids, dtype=np.int64) for ids in kinds]
        self.longest = max((len(piece) for piece in self.pieces), default=0)
        self.space = self.pieces.get(" ")
        self._trees: dict[tuple[str, tuple[str, ...]], SpellingTree] = {}

    def _add(self, text: str, index: int) -> None:
        like_numeral = _NUMERAL_PIECE.match(text)
        size = like_numeral.end() if like_numeral else 0
        if size and size == len(text):
            self.pieces.setdefault(text, index)
        for cut in range(1, min(size + 1, len(text))):
            if is_digit(text[cut - 1]) and not is_digit(text[cut]):
                self.overhangs.setdefault(text[:cut], []).append((text[cut:], index))

    def spell(self, text: str) -> list[int]:
        """The tokenizer's own tokens for a part of a text that is not its beginning."""
        # Some tokenizers put a space before whatever they are given: here, before a line break.
        encoded = self.tokenizer(
            "\n" + text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        pairs = list(zip(encoded["input_ids"], encoded["offset_mapping"], strict=True))
        return [token for token, (start, end) in pairs if end > 1]

    def tree(self, space: str, numerals: tuple[tuple[str, ...], ...]) -> SpellingTree:
        """All spellings of numerals, each given by its written forms, after `space`."""
        builder = _Builder(self, space)
        for index, forms in enumerate(numerals):
            for form in forms:
                builder.add(index, form)
        return builder.finish()

    def tree_of(self, space: str, forms: tuple[str, ...]) -> SpellingTree:
        """The tree of one numeral; remembered, since numerals come again."""
        key = (space, forms)
        found = self._trees.get(key)
        if found is None:
            found = self._trees[key] = self.tree(space, (forms,))
        return found


class _Builder:
    def __init__(self, tokens: NumeralTokens, space: str) -> None:
        self.tokens = tokens
        self.space = space
        self.children: dict[tuple[int, int], int] = {}
        self.parents, self.ids = [-1], [-1]
        self.starts = [(0, SPACE_DIGIT if space else DIGIT)]
        if space and tokens.space is not None:
            self.starts.append((self.child(0, tokens.space), DIGIT))
        self.ends: list[End] = []
        self.closings: list[tuple[int, int, int]] = []

    def child(self, node: int, token: int) -> int:
        found = self.children.get((node, token))
        if found is None:
            found = self.children[node, token] = len(self.ids)
            self.parents.append(node)
            self.ids.append(token)
        return found

    def add(self, numeral: int, form: str) -> None:
        """Every way to spell a written form; of a long one, the tokenizer's own."""
        whole = self.space + form
        if len(form.replace(",", "")) > MAX_EXACT:
            node = 0
            for token in self.tokens.spell(whole):
                node = self.child(node, token)
            self._end(numeral, node, form)
            return
        waiting = [(0, 0)]
        while waiting:
            node, done = waiting.pop()
            rest = whole[done:]
            if not rest:
                self._end(numeral, node, form)
                continue
            for tail, token in self.tokens.overhangs.get(rest, ()):
                self._overhang(numeral, node, token, goes_on(form, tail))
            for length in range(1, min(self.tokens.longest, len(rest)) + 1):
                piece = self.tokens.pieces.get(rest[:length])
                if piece is not None:
                    waiting.append((self.child(node, piece), done + length))

    def _overhang(self, numeral: int, node: int, token: int, continues: bool | None) -> None:
        if continues is None:
            after = self.child(node, token)
            self.ends.append(End(numeral, after, -1, -1))
        elif not continues:
            self.closings.append((numeral, node, token))

    def _end(self, numeral: int, node: int, form: str) -> None:
        point, comma = (
            self.child(node, self.tokens.pieces[mark]) if goes_on(form, mark) is None else -1
            for mark in ".,"
        )
        self.ends.append(End(numeral, node, point, comma))

    def finish(self) -> SpellingTree:
        depths = [0]
        for parent in self.parents[1:]:
            depths.append(depths[parent] + 1)
        return SpellingTree(
            np.array(self.parents, dtype=np.int64),
            np.array(self.ids, dtype=np.int64),
            np.array(depths, dtype=np.int64),
            tuple(self.starts),
            tuple(self.ends),
            tuple(self.closings),
            _rows([(0, 0, node, kind) for node, kind in self.starts], 4),
            _rows([(end.numeral, 0, end.node, end.point, end.comma) for end in self.ends], 5),
            _rows([(numeral, 0, node, token) for numeral, node, token in self.closings], 4),
        )


def _rows(terms: list[tuple[int, ...]], columns: int) -> np.ndarray:
    return np.array(terms, dtype=np.int64).reshape(-1, columns)

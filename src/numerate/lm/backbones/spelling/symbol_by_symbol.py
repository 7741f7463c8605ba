"""A language model of tokens as a writer of numerals, symbol by symbol.

A tokenizer writes `120` as one, two or three tokens, and `2000` may come as `2,000`. What is asked
here is about characters: how probable is it that the numeral begins so, goes on so, ends here? All
follows from one function, the mass of a written beginning: the probability of every sequence of
tokens whose text begins with it. Where a sequence stands exactly at its end, the model is read.

This is the sum of `sums.py`, put together from the other side. There a numeral is given, and its
ends are added up; here endlessly many numerals begin alike, and what they have together cannot be
added up numeral by numeral. It is the mass of their beginning; what one numeral has is what is
left, the mass of what begins so, less that of what goes on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from numerate.lm.backbones.spelling.numeral_tokens import MAX_EXACT, NumeralTokens
from numerate.lm.backbones.spelling.sums import LEAST_STOP
from numerate.lm.backbones.spelling.token_reader import Reader
from numerate.lm.backbones.spelling.written import goes_on, written_forms
from numerate.lm.data.numeral_table import END, POINT, SYMBOL_COUNT, SYMBOLS

DIGITS = SYMBOLS[:POINT]
NEGLIGIBLE = 1e-9  # spellings of less probability, given a numeral, are not read on
_GROUP = 3  # digits between two commas


class NumeralPieces:
    """The tokens of a vocabulary with which a numeral begins, goes on or ends."""

    def __init__(self, tokens: NumeralTokens) -> None:
        chosen = [
            (index, text)
            for index, text in tokens.texts.items()
            if text.removeprefix(" ")[:1] in {*DIGITS, ".", ","} or text == " "
            if tokens.pieces.get(text, index) == index
        ]
        self.ids = np.array([index for index, _ in chosen], dtype=np.int64)
        self.texts = [text for _, text in chosen]
        self.longest = max(map(len, self.texts))
        self._places = {text: place for place, text in enumerate(self.texts)}
        self._starting: dict[str, np.ndarray] = {}

    def place(self, text: str) -> int | None:
        """Where the token that writes just this text is among `ids`."""
        return self._places.get(text)

    def starting(self, text: str) -> np.ndarray:
        """Places of the tokens whose text begins so."""
        found = self._starting.get(text)
        if found is None:
            places = [place for place, own in enumerate(self.texts) if own.startswith(text)]
            found = self._starting[text] = np.array(places, dtype=np.int64)
        return found


@dataclass(frozen=True, slots=True)
class _Node:
    """Where a sequence of tokens stands."""

    probability: float  # of the sequence after the context
    following: np.ndarray  # [K] p of each piece


class NumeralWriter:
    """A `Writer` of `lm/heads/digit_tree.py`, of numerals that come after a text and a space.

    The reader is asked about the pieces. States are the beginnings of numerals themselves. Numerals
    of more than `MAX_EXACT` characters are not written: of those the model's probability is not a
    sum over spellings.
    """

    def __init__(self, reader: Reader, pieces: NumeralPieces, root: int, space: str) -> None:
        self._reader = reader
        self._pieces = pieces
        self._root = root
        self._space = space
        (following,) = reader.at(np.array([root])).exp().cpu().numpy()
        self._nodes = [_Node(1.0, following)]  # the end of the text, and what is read after it
        self._at = {"": [0]}  # which nodes have just written a text
        self._least = 0.0
        self._read([""])
        self._least = NEGLIGIBLE * self._prefix_mass("")

    def start(self) -> tuple[str, np.ndarray]:
        states, following = self._write([""])
        return states[0], following[0]

    def write(self, states: Sequence[str], symbols: Sequence[int]) -> tuple[list[str], np.ndarray]:
        """One more symbol in each of P states: log p of what follows, [P, 12]."""
        return self._write(
            [state + SYMBOLS[symbol] for state, symbol in zip(states, symbols, strict=True)]
        )

    def _write(self, prefixes: list[str]) -> tuple[list[str], np.ndarray]:
        self._read([text for prefix in prefixes for text in _needed(prefix)])
        return prefixes, np.stack([self._following_symbols(prefix) for prefix in prefixes])

    def _following_symbols(self, prefix: str) -> np.ndarray:
        """log p of each symbol after a prefix: [12]. What is malformed has no symbol."""
        masses = np.zeros(SYMBOL_COUNT)
        if len(prefix) < MAX_EXACT:
            masses[:POINT] = [self._prefix_mass(prefix + digit) for digit in DIGITS]
        if prefix and "." not in prefix and len(prefix) + 1 < MAX_EXACT:
            masses[POINT] = self._prefix_mass(prefix + ".")
        if prefix and not prefix.endswith("."):
            masses[END] = sum(self._ended(form) for form in written_forms(prefix))
        here = self._prefix_mass(prefix)
        with np.errstate(divide="ignore"):
            following = np.log(masses / here if here else masses)
        bounded: np.ndarray = np.minimum(following, 0.0)  # but for rounding, it is
        return bounded

    def _prefix_mass(self, prefix: str) -> float:
        """The probability that a numeral comes whose normalised form begins so.

        It does not end with its point: a digit follows that, or it belongs to the text after.
        """
        is_open = not prefix or prefix.endswith(".")
        more = DIGITS if is_open else [""]
        return sum(
            self._mass(self._space + form + digit) for form in _beginnings(prefix) for digit in more
        )

    def _ended(self, form: str) -> float:
        """The probability of a numeral, written so, that does not go on."""
        marks = ["", *_marks(form)]
        text = self._space + form
        whole = self._mass(text)
        more = sum(self._mass(text + mark + digit) for mark in marks for digit in DIGITS)
        return max(whole - more, LEAST_STOP * whole)

    def _mass(self, text: str) -> float:
        """The probability of all sequences of tokens that begin with this text."""
        total = 0.0
        for cut in range(max(0, len(text) - self._pieces.longest), len(text)):
            for number in self._at[text[:cut]]:
                node = self._nodes[number]
                places = self._pieces.starting(text[cut:])
                total += node.probability * float(node.following[places].sum())
        return total

    def _read(self, forms: Iterable[str]) -> None:
        """Have the model read all that writes these forms or their beginnings, in one pass."""
        texts = [self._space + form for form in forms]
        missing = {text[:cut] for text in texts for cut in range(len(text) + 1)} - self._at.keys()
        known = len(self._nodes)
        steps: list[tuple[int, int]] = []  # from which node, and by which piece
        for text in sorted(missing, key=lambda text: (len(text), text)):
            self._at[text] = []
            for cut in range(max(0, len(text) - self._pieces.longest), len(text)):
                place = self._pieces.place(text[cut:])
                if place is None:
                    continue
                for parent in self._at[text[:cut]]:
                    if parent >= known or self._step(parent, place) >= self._least:
                        self._at[text].append(known + len(steps))
                        steps.append((parent, place))
        if not steps:
            return
        tokens = self._pieces.ids[[place for _, place in steps]].tolist()
        parents = [parent - 1 for parent, _ in steps]
        following = self._reader.read(parents, tokens, [self._root] * len(steps))
        for (parent, place), row in zip(steps, following.exp().cpu().numpy(), strict=True):
            self._nodes.append(_Node(self._step(parent, place), row))

    def _step(self, parent: int, place: int) -> float:
        """The probability of a node and a piece after it."""
        node = self._nodes[parent]
        return node.probability * float(node.following[place])


def _needed(prefix: str) -> list[str]:
    """Forms that have to be read to know what follows a prefix."""
    forms = _beginnings(prefix)
    if prefix and not prefix.endswith("."):
        forms += [form + mark for form in written_forms(prefix) for mark in _marks(form)]
    return forms


def _marks(form: str) -> list[str]:
    """Marks that carry a numeral on if a digit comes after them."""
    return [mark for mark in ".," if goes_on(form, mark) is None]


def _beginnings(prefix: str) -> list[str]:
    """How text may write a numeral that begins so: plain, or with commas that come so far."""
    whole, point, decimals = prefix.partition(".")
    if point:
        return [form + point + decimals for form in written_forms(whole)]
    forms = [prefix]
    if whole[:1] not in {"", "0"}:
        for head in range(1, min(len(whole), _GROUP + 1)):
            groups = [whole[at : at + _GROUP] for at in range(head, len(whole), _GROUP)]
            forms.append(",".join([whole[:head], *groups]))
    return forms

"""Probabilities of numerals by plain forward passes: no masks, no trees, no cache.

Every sequence of tokens is read from the start, and what it writes is looked at character by
character. Slow, and written apart from what it is to check.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

import numpy as np
import torch

DEAD = "dead"  # what is written can no longer be what is asked for
Outcome = Hashable | None  # None: what follows decides
DIGITS = "0123456789"


@cache
def _byte_of_character() -> dict[str, int]:
    """How byte-level tokens write bytes: printable ones as they are, others from 256 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    written = {chr(byte): byte for byte in plain}
    return written | {chr(256 + n): byte for n, byte in enumerate(others)}


def written_by(tokenizer: Any) -> list[str]:
    """What each token writes, a character for a byte; symbols that write nothing are `\0`."""
    tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    special = set(tokenizer.all_special_tokens)
    pieces = "▁" in tokens
    texts = []
    for token in tokens:
        if token in special:
            texts.append("\0")
        elif pieces:
            is_byte = len(token) == 6 and token.startswith("<0x")
            # A digit as a byte is no digit to us: tokenizers never write it so.
            texts.append("\1" if is_byte else token.replace("▁", " "))
        else:
            texts.append(bytes(_byte_of_character()[c] for c in token).decode("latin-1"))
    return texts


class Model:
    """A language model that is only ever asked what comes next."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.texts = written_by(tokenizer)
        firsts = [text[0] if text[0] in DIGITS + "., " else "x" for text in self.texts]
        self.firsts = {first: np.flatnonzero(np.array(firsts) == first) for first in set(firsts)}

    @torch.no_grad()
    def next(self, sequences: list[list[int]]) -> np.ndarray:
        """p of every token after each sequence: float64 [sequences, V]."""
        found = torch.empty(len(sequences), len(self.texts), dtype=torch.float64)
        by_length = defaultdict(list)
        for index, sequence in enumerate(sequences):
            by_length[len(sequence)].append(index)
        for members in by_length.values():
            for some in torch.split(torch.tensor(members), 4096):
                ids = torch.tensor([sequences[index] for index in some])
                logits = self.model(input_ids=ids, use_cache=False, logits_to_keep=1).logits
                found[some] = logits[:, -1].double().softmax(-1)[:, : len(self.texts)]
        return found.numpy()

    def outcomes(
        self, context: list[int], classify: Callable[[str], Outcome]
    ) -> dict[Hashable, float]:
        """The probability of every outcome of the text that the model writes after a context.

        What is decided stays so, whatever follows. So sequences that write the same text are
        looked at together, and the tokens that begin with a character only if it decides nothing.
        """
        total: dict[Hashable, float] = defaultdict(float)
        level = {"": [(context, 1.0)]}
        while level:
            table = self.next([sequence for some in level.values() for sequence, _ in some])
            table *= np.array([p for some in level.values() for _, p in some])[:, None]
            starts = np.cumsum([0, *(len(some) for some in level.values())])
            masses = np.add.reduceat(table, starts[:-1])  # [texts, V]
            below: dict[str, list[tuple[list[int], float]]] = defaultdict(list)
            for first, tokens in self.firsts.items():
                together = masses[:, tokens].sum(1)
                for index, (text, some) in enumerate(level.items()):
                    if (outcome := classify(text + first)) is not None:
                        total[outcome] += together[index]
                        continue
                    for token in tokens.tolist():
                        written = text + self.texts[token]
                        if (outcome := classify(written)) is not None:
                            total[outcome] += masses[index, token]
                            continue
                        steps = table[starts[index] : starts[index + 1], token].tolist()
                        for (sequence, _), p in zip(some, steps, strict=True):
                            below[written].append(([*sequence, token], p))
            level = below
        return total

    def numeral(self, context: list[int], space: str, written: str) -> float:
        """p(the model goes on with this numeral, written so, and ends it)."""
        whole = space + written

        @cache
        def classify(text: str) -> Outcome:
            if not text.startswith(whole):
                return None if whole.startswith(text) else DEAD
            rest = text.removeprefix(space)
            found = first_numeral(rest)
            if found is None and len(rest.rstrip(".,")) > len(written):
                return DEAD
            return None if found is None else found == written

        return self.outcomes(context, classify)[True]

    def begins(self, context: list[int], space: str) -> float:
        """p(a numeral begins)."""

        def classify(text: str) -> Outcome:
            rest = text.removeprefix(space)
            return None if text == space or not rest else text.startswith(space) and is_digit(rest)

        return self.outcomes(context, classify)[True]


def is_digit(text: str) -> bool:
    return text[0] in DIGITS


def first_numeral(text: str) -> str | None:
    """The numeral that a text begins with; None where it may still go on.

    A comma and a digit carry it on wherever a thousands group could follow, so that `1,2` may
    come out, which is no numeral.
    """
    done = 1
    while done < len(text):
        mark, after = text[done], text[done + 1 : done + 2]
        written = text[:done]
        if mark in DIGITS:
            done += 1
        elif (mark == "." and "." not in written) or (mark == "," and can_group(written)):
            if not after:
                return None
            if after not in DIGITS:
                return written
            done += 2
        else:
            return written
    return None


def can_group(written: str) -> bool:
    head, *groups = written.split(",")
    is_head = len(head) <= 3 and head.isdigit() and head[0] != "0"
    return is_head and all(len(group) == 3 and group.isdigit() for group in groups)

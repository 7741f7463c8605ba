"""The probability of a numeral, by a model that says only how likely a text is after another.

The probability of a numeral is that of its text less that of all texts that carry it on, so that it
has ended. A text has the one spelling that the tokenizer gives it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import exp, log
from typing import Any

import numpy as np

from numerate.errors import BackboneError, NumerateError, check_choice
from numerate.lm.backbones.pretrained.language_model import (
    WRITTEN,
    read_paragraphs,
    sources_in_view,
)
from numerate.lm.backbones.pretrained.layout import as_spelled
from numerate.lm.backbones.pretrained.written_tables import Prefixes, TableWriter
from numerate.lm.backbones.spelling.written import goes_on, written_forms
from numerate.lm.data.dataset import Dataset, order_of_sampling
from numerate.lm.evaluate.central_intervals import LEVELS
from numerate.lm.model.candidate_line import CandidateLine, scaled
from numerate.storage.records import misfit

ROOM = 6000  # characters of tables before a paragraph
DIGITS = "0123456789"
ROUND_OFF = 0.05  # of models in short floats
LEAST = 1e-7  # of what is left when all that carries a numeral on is taken away


@dataclass(frozen=True, slots=True)
class Choice:
    """What is asked of a dataset; `dataset_kwargs` in a task's YAML file."""

    numerals: int = 200  # of the split, always the same
    candidates: int = 20  # of which intervals are made: 0 for no coverage
    sight: str = "none"  # what is written before a paragraph: none, tables or document
    ended: bool = True  # whether a numeral has to end: where every digit is a token

    def __post_init__(self) -> None:
        check_choice("sight", self.sight, ("none", *WRITTEN))
        for name, least in (("numerals", 1), ("candidates", 0)):
            if getattr(self, name) < least:
                raise NumerateError(f"{name}: got {getattr(self, name)}, expected {least} or more")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Choice":
        known = {one.name: one for one in fields(cls)}
        for name in given:
            check_choice("key of dataset_kwargs", name, known)
        if wrong := misfit({**asdict(cls()), **given}, cls):
            raise NumerateError(f"dataset_kwargs: {wrong}")
        return cls(**given)


def texts_asked(doc: dict[str, str], candidates: Sequence[str], *, ended: bool) -> list[str]:
    """Return the texts whose probability is asked for, each once."""
    forms = [(form, doc["listed"]) for form in forms_of(doc)]
    forms += [(form, "") for text in candidates for form in written_forms(text)]
    texts = dict.fromkeys(form for form, _ in forms)
    if ended:
        texts |= dict.fromkeys(text for form in forms for text in carried_on(*form))
    return list(texts)


def log_prob(
    forms: Sequence[str], log_probs: Mapping[str, float], listed: str = "", *, ended: bool
) -> float:
    """Return the log-probability of a numeral, in any of its forms, by those of texts."""
    found = []
    for form in forms:
        whole = log_probs[form]
        if ended:
            on = sum(exp(log_probs[text] - whole) for text in carried_on(form, listed))
            if on > 1 + ROUND_OFF:
                raise BackboneError(
                    f"numerals that begin with {form} are likelier than {form}, so tokens have "
                    "several digits: expected ended: false"
                )
            whole += log(max(1 - on, LEAST))
        found.append(whole)
    return float(np.logaddexp.reduce(found))


def coverage(
    doc: dict[str, str], candidates: Sequence[str], log_probs: Mapping[str, float], *, ended: bool
) -> dict[float, bool]:
    """Return whether the central interval of each level, made of candidates, has the number."""
    table = [log_prob(written_forms(text), log_probs, ended=ended) for text in candidates]
    line = CandidateLine(np.array(candidates, dtype=np.float64), scaled(np.array([table])))
    found = {}
    for level in LEVELS:
        low, high = (line.quantile((1 + sign * level) / 2)[0] for sign in (-1, 1))
        found[level] = bool(low <= float(doc["numeral"]) <= high)
    return found


class _Characters:
    """A tokenizer to which every character is a token."""

    def __call__(self, texts: Sequence[str], **_: Any) -> dict[str, list[Any]]:
        return {
            "input_ids": [list(map(ord, text)) for text in texts],
            "offset_mapping": [[(n, n + 1) for n in range(len(text))] for text in texts],
        }


def places(opened: Dataset, name: str, choice: Choice) -> Iterator[dict[str, str]]:
    """Yield some numerals of a split with what stands before them; none that begins a paragraph."""
    split = opened.split(name)
    paragraphs = read_paragraphs(split)
    ids = split.read(["document"])["document"].to_pylist()
    before = [""] * len(paragraphs)
    if choice.sight in WRITTEN:
        writer = TableWriter(_Characters(), 0, ROOM, opened.reading)
        texts = (paragraph.text for paragraph in paragraphs)
        prefixes = Prefixes(writer, *sources_in_view(split, choice.sight, paragraphs), texts)
        before = [
            "" if prefix is None else "".join(map(chr, [*prefix.tokens[1:], prefix.last]))
            for prefix in (prefixes[index] for index in range(len(prefixes)))
        ]
    found = [
        (index, numeral)
        for index, paragraph in enumerate(paragraphs)
        for numeral in sorted(paragraph.numerals)
        if paragraph.text[: paragraph.starts[numeral]].strip()
    ]
    if not found:
        raise NumerateError(f"{opened.folder}, {name}: no numeral with text before it")
    for place in order_of_sampling(len(found))[: choice.numerals].tolist():
        index, numeral = found[place]
        plain = as_spelled(paragraphs[index])
        start, end = plain.starts[numeral], plain.ends[numeral]
        stem = plain.text[:start].rstrip()
        after = plain.text[end : end + 2]
        yield {
            "document": ids[index],
            "before": before[index] + stem,
            "space": plain.text[len(stem) : start],
            "written": plain.text[start:end],
            "numeral": plain.written[numeral],
            # `1,23` without a space: here the mark does not belong to the numeral.
            "listed": after[0] if after[:1] in {".", ","} and after[1:].isdecimal() else "",
        }


def forms_of(doc: dict[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((doc["written"], *written_forms(doc["numeral"]))))


def carried_on(form: str, listed: str = "") -> list[str]:
    """Return all that a written form may go on with, by one digit."""
    marks = [mark for mark in ".," if mark != listed and goes_on(form, mark) is None]
    return [form + mark + digit for mark in ("", *marks) for digit in DIGITS]

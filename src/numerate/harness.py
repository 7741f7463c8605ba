"""A task of lm-evaluation-harness: perplexity of a dataset's numerals, and coverage of intervals.

The harness knows models by one question alone, how likely a text is after another. A numeral's
probability is that of its text less that of all texts which carry it on, so that it has ended. A
text has the one spelling that the tokenizer gives it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

from numerate.batching import load_corpora
from numerate.corpus.dataset import Dataset, order_of_sampling
from numerate.errors import BackboneError, NumerateError, check_choice
from numerate.evaluation.central_intervals import LEVELS
from numerate.model.candidate_line import CandidateLine, scaled
from numerate.model.candidates import percentile_numerals
from numerate.pretrained.language_model import WRITTEN, read_paragraphs, sources_in_view
from numerate.pretrained.layout import as_spelled
from numerate.pretrained.written_tables import Prefixes, TableWriter
from numerate.records import misfit
from numerate.spelling.written import goes_on, written_forms
from numerate.vocabulary import Vocabulary

try:
    from lm_eval.api.instance import Instance
    from lm_eval.api.metrics import mean, perplexity
    from lm_eval.api.task import Task, TaskConfig
    from lm_eval.filters import build_filter_ensemble
except ImportError:
    raise NumerateError("numerate.harness needs lm_eval: pip install 'numerate[harness]'") from None

PERPLEXITY = "numeral_perplexity"
COVERAGE = {level: f"coverage_{level * 100:.0f}" for level in LEVELS}
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


def _choice(told: dict[str, Any]) -> Choice:
    known = {one.name: one for one in fields(Choice)}
    for name in told:
        check_choice("key of dataset_kwargs", name, known)
    if wrong := misfit({**asdict(Choice()), **told}, Choice):
        raise NumerateError(f"dataset_kwargs: {wrong}")
    return Choice(**told)


def task(
    dataset: str | Path, *, split: str = "test", name: str | None = None, **choice: Any
) -> "NumeralTask":
    """The task of a prepared dataset, for `lm_eval.simple_evaluate(tasks=[…])`; see `Choice`."""
    return NumeralTask(
        {
            "task": name or f"numerals-{Path(dataset).name}",
            "dataset_path": str(dataset),
            "test_split": split,
            "dataset_kwargs": choice,
        }
    )


class NumeralTask(Task):  # type: ignore[misc]
    """`class: !function numerate.harness.NumeralTask` in a YAML file; a numeral is a document."""

    VERSION = 1
    OUTPUT_TYPE = "loglikelihood"

    def __init__(self, config: dict[str, Any]) -> None:
        self._choice = _choice(config.get("dataset_kwargs") or {})
        about = {name: value for name, value in config.items() if name != "class"}
        told = {"dataset_kwargs": asdict(self._choice), "output_type": self.OUTPUT_TYPE}
        # That of `Task` would complain of a configuration it makes up.
        self._filters = [build_filter_ensemble("none", [["take_first", None]])]
        self._config = TaskConfig(**{"test_split": "test", "num_fewshot": 0} | about | told)
        opened = Dataset.open(self._config.dataset_path)
        self._candidates: list[str] = []
        if self._choice.candidates:
            train = load_corpora(opened, Vocabulary.nothing())["train"]
            self._candidates = percentile_numerals(train, self._choice.candidates)
        self._docs = list(_places(opened, self._config.test_split, self._choice))

    def has_training_docs(self) -> bool:
        return False

    def has_validation_docs(self) -> bool:
        return False

    def has_test_docs(self) -> bool:
        return True

    def test_docs(self) -> list[dict[str, str]]:
        return self._docs

    def doc_to_text(self, doc: dict[str, str]) -> str:
        return doc["before"]

    def doc_to_target(self, doc: dict[str, str]) -> str:
        return doc["space"] + doc["written"]

    def fewshot_context(self, doc: dict[str, str], *_: Any, **__: Any) -> str:
        """Nothing but what stands before it in its document."""
        return self.doc_to_text(doc)

    def construct_requests(self, doc: dict[str, str], ctx: str, **about: Any) -> list[Any]:
        return [
            Instance(self.OUTPUT_TYPE, doc, (ctx, doc["space"] + text), number, about["metadata"])
            for number, text in enumerate(self._asked(doc))
        ]

    def process_results(
        self, doc: dict[str, str], results: Sequence[tuple[float, bool]]
    ) -> dict[str, float]:
        log_probs = dict(zip(self._asked(doc), (value for value, _ in results), strict=True))
        found = {PERPLEXITY: self._log_prob(_forms_of(doc), log_probs, doc["listed"])}
        if self._candidates:
            table = [self._log_prob(written_forms(text), log_probs) for text in self._candidates]
            line = CandidateLine(
                np.array(self._candidates, dtype=np.float64), scaled(np.array([table]))
            )
            for level, name in COVERAGE.items():
                low, high = (line.quantile((1 + sign * level) / 2)[0] for sign in (-1, 1))
                found[name] = float(low <= float(doc["numeral"]) <= high)
        return found

    def aggregation(self) -> dict[str, Any]:
        return {PERPLEXITY: perplexity, **dict.fromkeys(COVERAGE.values(), mean)}

    def higher_is_better(self) -> dict[str, bool]:
        """Coverage shall be as its level says."""
        return {PERPLEXITY: False}

    def _asked(self, doc: dict[str, str]) -> list[str]:
        """The texts whose probability is asked for, each once."""
        forms = [(form, doc["listed"]) for form in _forms_of(doc)]
        forms += [(form, "") for text in self._candidates for form in written_forms(text)]
        texts = dict.fromkeys(form for form, _ in forms)
        if self._choice.ended:
            texts |= dict.fromkeys(text for form in forms for text in _carried_on(*form))
        return list(texts)

    def _log_prob(
        self, forms: Sequence[str], log_probs: dict[str, float], listed: str = ""
    ) -> float:
        """Of a numeral, in any of its forms."""
        found = []
        for form in forms:
            whole = log_probs[form]
            if self._choice.ended:
                on = sum(exp(log_probs[text] - whole) for text in _carried_on(form, listed))
                if on > 1 + ROUND_OFF:
                    raise BackboneError(
                        f"{self.task_name}: numerals that begin with {form} are likelier than "
                        f"{form}, so tokens have several digits: expected ended: false"
                    )
                whole += log(max(1 - on, LEAST))
            found.append(whole)
        return float(np.logaddexp.reduce(found))


class _Characters:
    """A tokenizer to which every character is a token."""

    def __call__(self, texts: Sequence[str], **_: Any) -> dict[str, list[Any]]:
        return {
            "input_ids": [list(map(ord, text)) for text in texts],
            "offset_mapping": [[(n, n + 1) for n in range(len(text))] for text in texts],
        }


def _places(opened: Dataset, name: str, choice: Choice) -> Iterator[dict[str, str]]:
    """Some numerals of a split with what stands before them; none that begins a paragraph."""
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
    places = [
        (index, numeral)
        for index, paragraph in enumerate(paragraphs)
        for numeral in sorted(paragraph.numerals)
        if paragraph.text[: paragraph.starts[numeral]].strip()
    ]
    if not places:
        raise NumerateError(f"{opened.folder}, {name}: no numeral with text before it")
    for place in order_of_sampling(len(places))[: choice.numerals].tolist():
        index, numeral = places[place]
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


def _forms_of(doc: dict[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((doc["written"], *written_forms(doc["numeral"]))))


def _carried_on(form: str, listed: str = "") -> list[str]:
    """All that a written form may go on with, by one digit."""
    marks = [mark for mark in ".," if mark != listed and goes_on(form, mark) is None]
    return [form + mark + digit for mark in ("", *marks) for digit in DIGITS]

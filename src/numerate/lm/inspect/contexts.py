"""What stands before a numeral: typed by the user, or picked from the dev split."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import torch

from numerate.errors import NumerateError
from numerate.lm.backbones.contract import Targets
from numerate.lm.data.batching import Corpus
from numerate.lm.data.dataset import Dataset
from numerate.lm.evaluate.distribution import quantiles
from numerate.lm.heads.base import Context as Place
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.model.candidates import candidate_numerals

DRAWN = 64  # numerals of each kind among which contexts are picked
INTERESTING = 5.0  # ratio of the ends of the interval that holds 90 % of a prediction
LEAST_TOKENS = 12  # before a numeral that is picked: less says too little
_SENTENCE_ENDS = (". ", "? ", "! ", "\n")


@dataclass(frozen=True, slots=True)
class Context:
    """Text before a numeral; of the dev split, also which numeral it is and how it goes on."""

    before: str
    dev_place: int | None = None  # among the numerals of the dev split
    truth: str | None = None
    after: str = ""

    def place(self, run: Run) -> Place:
        """Where the run stands after this text."""
        return run.after(self.before) if self.dev_place is None else run.at(self.dev_place)

    def ending(self, length: int = 60) -> str:
        """The last words, for a title."""
        text = " ".join(self.before.split())
        if len(text) <= length:
            return text
        tail = text[-length:]
        return "… " + (tail.partition(" ")[2] or tail)


def typed_context(text: str) -> Context:
    """A context that the user gives."""
    if not text.strip():
        raise NumerateError("context: got an empty text, expected words before a numeral")
    return Context(text.strip())


def picked_contexts(runs: Sequence[Run], count: int = 2, seed: int = 1) -> list[Context]:
    """Some of the dev split, in turn before a decimal and before a whole number.

    Of some drawn at random, after enough tokens to say something, those are taken where a
    model is neither certain nor clueless.
    """
    run = min(runs, key=lambda run: (run.model.head.uses_digits, not run.model.open_vocabulary))
    corpus = run.shared.dev
    rows = corpus.rows
    steps = np.arange(len(corpus.words)) - np.repeat(corpus.offsets[:-1], corpus.lengths)
    possible = np.ones(len(rows), dtype=bool)
    if run.model.head.uses_digits:
        possible = np.isin(np.arange(len(rows)), run.shared.ranked)
    enough = (steps[corpus.is_numeral] >= LEAST_TOKENS) & (corpus.table.values[rows] > 0) & possible
    if not enough.any():
        enough = possible
    has_decimals = corpus.table.precisions[rows] > 0
    generator = np.random.default_rng(seed)
    pools = [
        _by_interest(run, generator.permutation(np.flatnonzero(enough & kind))[:DRAWN])
        for kind in (has_decimals, ~has_decimals)
    ]
    turns = [place for pair in zip_longest(*pools) for place in pair if place is not None]
    return dev_contexts(run.shared.dataset, corpus, turns[:count])


def _by_interest(run: Run, places: np.ndarray) -> list[int]:
    """Those first whose 5 % and 95 % quantiles have a ratio nearest to `INTERESTING`."""
    candidates = candidate_numerals(run.shared.corpora["train"]).to(run.shared.dev.table.device)
    if not len(places):
        return []
    table = torch.cat([some for _, some in run.tables(candidates, places)])
    shares = torch.softmax(table, dim=1).cpu().numpy()
    low, high = (quantiles(shares, candidates.values, q) for q in (0.05, 0.95))
    width = np.log(np.maximum(high, 1e-3)) - np.log(np.maximum(low, 1e-3))
    order = np.argsort(np.abs(width - np.log(INTERESTING)), kind="stable")
    return [int(place) for place in places[order]]


def dev_contexts(dataset: Dataset, corpus: Corpus, places: list[int]) -> list[Context]:
    """The contexts of these numerals of the dev split, each within its own sentence."""
    columns = ["text", "starts", "ends", "numerals"]
    table = dataset.split("dev").read(columns)
    targets = Targets.of(corpus)
    paragraphs = targets.paragraphs[targets.is_numeral]  # [N]
    first = np.searchsorted(paragraphs, paragraphs)  # [N] the paragraph's first numeral
    found = []
    for place in places:
        text, starts, ends, numerals = (
            table[name][int(corpus.sources[paragraphs[place]])].as_py() for name in columns
        )
        token = numerals[place - first[place]]
        found.append(
            Context(
                before=_sentence_before(text[: starts[token]]),
                dev_place=place,
                truth=corpus.table.texts[targets.rows[place]],
                after=_sentence_after(text[ends[token] :]),
            )
        )
    return found


def _sentence_before(text: str) -> str:
    starts = [text.rfind(end) + len(end) for end in _SENTENCE_ENDS if end in text]
    return text[max(starts) :] if starts else text


def _sentence_after(text: str) -> str:
    cuts = [text.find(end) + 1 for end in _SENTENCE_ENDS if end in text]
    return text[: min(cuts)] if cuts else text

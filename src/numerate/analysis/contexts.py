"""What stands before a numeral: typed by the user, or picked from the dev split."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import torch
from torch import Tensor

from numerate.analysis.runs import Run
from numerate.batching import Corpus
from numerate.corpus.dataset import Dataset
from numerate.errors import NumerateError
from numerate.evaluation.candidates import candidate_numerals
from numerate.evaluation.distribution import quantiles
from numerate.evaluation.score import Targets, numeral_states
from numerate.plausibility.run_model import Paragraphs

DRAWN = 64  # numerals of each kind among which contexts are picked
INTERESTING = 5.0  # ratio of the ends of the interval that holds 90 % of a prediction
LEAST_TOKENS = 12  # before a numeral that is picked: less says too little
_STAND_IN = "0"  # after a typed context: a state is that before a numeral
_SENTENCE_ENDS = (". ", "? ", "! ", "\n")


@dataclass(frozen=True, slots=True)
class Context:
    """Text before a numeral; of the dev split, also which numeral it is and how it goes on."""

    before: str
    place: int | None = None  # among the numerals of the dev split
    truth: str | None = None
    after: str = ""

    def state(self, run: Run) -> Tensor:
        """The hidden state of the run after this text: [1, D]."""
        if self.place is not None:
            return run.dev_states[self.place : self.place + 1]
        return _typed_state(run, self.before)

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
    corpus = runs[0].dev
    rows = runs[0].dev_rows
    steps = np.arange(len(corpus.tokens)) - np.repeat(corpus.offsets[:-1], corpus.lengths)
    enough = (steps[corpus.tokens < 0] >= LEAST_TOKENS) & (corpus.table.values[rows] > 0)  # [N]
    if not enough.any():
        enough = np.ones_like(enough)
    has_decimals = corpus.table.precisions[rows] > 0
    generator = np.random.default_rng(seed)
    pools = [
        _by_interest(runs, generator.permutation(np.flatnonzero(enough & kind))[:DRAWN])
        for kind in (has_decimals, ~has_decimals)
    ]
    turns = [place for pair in zip_longest(*pools) for place in pair if place is not None]
    return dev_contexts(runs[0].dataset, corpus, turns[:count])


def _by_interest(runs: Sequence[Run], places: np.ndarray) -> list[int]:
    """Those first whose 5 % and 95 % quantiles have a ratio nearest to `INTERESTING`."""
    run = min(runs, key=lambda run: not run.model.output.open_vocabulary)
    candidates = candidate_numerals(run.corpora["train"]).to(run.dev.table.device)
    if not len(places):
        return []
    with torch.no_grad():
        states = run.dev_states[torch.from_numpy(places).to(run.dev_states.device)]
        table = run.model.output.numeral_table(states, candidates).double()
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
            table[name][int(paragraphs[place])].as_py() for name in columns
        )
        token = numerals[place - first[place]]
        found.append(
            Context(
                before=_sentence_before(text[: starts[token]]),
                place=place,
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


def _typed_state(run: Run, text: str) -> Tensor:
    split_names = bool(run.dataset.manifest["options"].get("split_names"))
    corpus = Paragraphs([f"{text} {_STAND_IN}"], split_names=split_names).corpus(run.model)
    corpus.table.to(run.dev.table.device)
    return numeral_states(run.model, corpus)[-1:]

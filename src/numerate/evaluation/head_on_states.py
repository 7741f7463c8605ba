"""A head over a pretrained model against a dataset, from the states that a store keeps."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numerate.batching import Corpus
from numerate.evaluation.score import TABLE_ROWS, Tables, Targets, exactly
from numerate.heads.combination import CombinationHead
from numerate.numeral_table import NumeralTable
from numerate.pretrained.backbone_run import AT_ONCE, BackboneRun
from numerate.pretrained.best import Beside
from numerate.pretrained.plan import Plan
from numerate.pretrained.store import Progress, SplitStore, Store


@dataclass(frozen=True)
class HeadOnStates:
    """Places are among the numerals of a corpus; what the store lacks of it is read first.

    `detailed` reads what a head beside this one needs to adapt digits, so as to read once.
    """

    run: BackboneRun
    store: Store
    progress: Progress | None = None
    detailed: bool = False

    def read(self, corpus: Corpus) -> SplitStore:
        """The part of the store that knows this corpus."""
        split = self.store.split(corpus.name)
        split.fill(corpus.sources, self.progress, detailed=self.detailed or self.run.reads_details)
        return split

    def states(self, corpus: Corpus, places: np.ndarray) -> Tensor:
        """The language model's, before some numerals: [n, S]."""
        split = self.read(corpus)
        return self._states(split, split.numerals_of(corpus.sources)[places])

    def hidden(self, corpus: Corpus) -> Tensor:
        """What the head sees before every numeral: [N, D]."""
        split = self.read(corpus)
        places = split.numerals_of(corpus.sources)
        with exactly():
            parts = [
                self.run.head.project(self._states(split, places[begin : begin + AT_ONCE]))
                for begin in range(0, max(1, len(places)), AT_ONCE)
            ]
        return torch.cat(parts)

    def numeral_log_probs(self, corpus: Corpus) -> np.ndarray:
        """log p(this numeral | a numeral comes) of every numeral: float64 [N]."""
        split = self.read(corpus)
        places = split.numerals_of(corpus.sources)
        with exactly():
            rows = Targets.of(corpus).rows
            return self.run.stored_log_probs(split, places, corpus.table, rows)

    def log_probs(self, corpus: Corpus) -> np.ndarray:
        """log p of every target: float64 [T]. Words and class gate are the language model's."""
        split = self.read(corpus)
        result = np.array(split.targets[split.targets_of(corpus.sources)])
        own = split.numerals[split.numerals_of(corpus.sources)]
        result[Targets.of(corpus).is_numeral] += self.numeral_log_probs(corpus) - own
        return result

    def tables(
        self, corpus: Corpus, candidates: NumeralTable, places: np.ndarray | None = None
    ) -> Tables:
        """log p(candidate | a numeral comes) before each numeral, or before some of them."""
        split = self.read(corpus)
        wanted = split.numerals_of(corpus.sources)
        paragraphs = corpus.sources
        if places is not None:
            wanted = wanted[places]
            paragraphs = np.unique(np.searchsorted(split.numeral_starts, wanted, "right") - 1)
        own = None
        if self.run.head.needs_lm:
            own = split.table(candidates, paragraphs, self.progress, self.run.head.adapter)
        with exactly():
            for begin in range(0, len(wanted), TABLE_ROWS):
                some = wanted[begin : begin + TABLE_ROWS]
                given = torch.zeros(0)
                if own is not None:
                    given = torch.from_numpy(own[some].astype(np.float64)).to(self._device)
                table = self.run.head.numeral_table(self._states(split, some), candidates, given)
                yield np.arange(begin, begin + len(some)), table.double()

    def best(self, corpus: Corpus, candidates: NumeralTable) -> np.ndarray | None:
        """The likeliest candidate before each numeral [N]; None where tables cost no more."""
        head, lm = self.run.head, self.run.lm
        combination = head.head
        if not isinstance(combination, CombinationHead):
            return None
        split = self.read(corpus)
        if split.has_table(candidates, corpus.sources, head.adapter):
            return None

        def find(plan: Plan, numerals: np.ndarray) -> np.ndarray:
            hidden = head.project(self._states(split, numerals))
            share, rest = combination.beside_given(hidden, candidates)
            beside = Beside(share.cpu().numpy(), rest.cpu().numpy())
            return lm.best(plan, candidates, beside, head.adapter)

        with exactly():
            found = split.best(candidates, find, corpus.sources, self.progress, head)
        return np.asarray(found[split.numerals_of(corpus.sources)])

    @property
    def _device(self) -> torch.device:
        return self.run.lm.scorer.device

    def _states(self, split: SplitStore, numerals: np.ndarray) -> Tensor:
        return torch.from_numpy(split.states[numerals].astype(np.float32)).to(self._device)

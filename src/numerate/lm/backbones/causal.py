"""A pretrained causal language model as a backbone: its states before numerals, and its digits.

Words keep the language model's own distribution, and so does the class gate: only what a numeral
is, given that one comes, is the head's.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from numerate.lm.backbones.causal_batches import PretrainedBatch, StateBatch
from numerate.lm.backbones.contract import AFTER, Backbone, Reading, exactly
from numerate.lm.backbones.lm_digits import PlacedDigits, StoredDigits, TextDigits
from numerate.lm.backbones.pretrained.backbone import trained_weights
from numerate.lm.backbones.pretrained.block_reader import Readers
from numerate.lm.backbones.pretrained.language_model import (
    WRITTEN,
    LaidOut,
    ParagraphScores,
    PretrainedLM,
    join_scores,
    prefixes_in_view,
)
from numerate.lm.backbones.pretrained.layout import Paragraph
from numerate.lm.backbones.pretrained.prefix import Prefix
from numerate.lm.backbones.pretrained.store import Progress, Store
from numerate.lm.backbones.spelling.best_first import Beside
from numerate.lm.backbones.texts import Texts, paragraphs_of
from numerate.lm.data.batching import Corpus
from numerate.lm.data.dataset import Dataset, Split
from numerate.lm.data.numeral_table import SYMBOLS, NumeralTable
from numerate.lm.data.sight.collate import ReadSight
from numerate.lm.data.sight.corpus_sight import CorpusSight
from numerate.lm.data.sight.view import Sight
from numerate.lm.heads.base import Context, DigitTable, NumeralHead
from numerate.lm.heads.dropout import ByteDropout
from numerate.places import default_cache
from numerate.text.columns import EarlierParagraph, SightColumns
from numerate.text.tokenizer import DEFAULT_RULES, Token
from numerate.text.vocabulary import Vocabulary

RATE_OF_ADAPTERS, RATE_OF_ALL = 0.1, 0.02  # parts of the learning rate of the head
AT_ONCE = 1024  # states projected at a time


class CausalBackbone(Backbone):
    """Frozen, its states are read once and cached; `tuned`, it is trained with the head."""

    open_words = True
    records_steps = False  # its batches have shapes of their own
    packages = ("torch", "transformers")
    texts_at_once = 8  # some seconds of a small model on two cores
    second_looks = 0.1  # each costs some hundred tokens

    def __init__(
        self,
        lm: PretrainedLM,
        size: int | None,
        dropout: float = 0.0,
        *,
        tuned: bool = False,
        sight: str = "none",
        vocabulary: Vocabulary | None = None,
    ) -> None:
        """Without a `size`, heads see no states: those of a model as it comes need none.

        `sight` is how far it sees; of its `vocabulary`, headers of tables have words.
        """
        super().__init__()
        self.sight = sight
        self.vocabulary = vocabulary or Vocabulary.nothing()
        self.size = size or 0  # of what heads see
        self.lm = lm
        self.title = lm.backbone.name
        self.project: nn.Module | None = None
        if size is not None:
            self.project = nn.Sequential(
                nn.LayerNorm(lm.scorer.state_size),
                ByteDropout(dropout),
                nn.Linear(lm.scorer.state_size, size),
                nn.Tanh(),
                ByteDropout(dropout),
            )
        self.see: nn.Module | None = None  # what heads see of the numbers in view
        if size is not None and sight != "none":
            self.see = nn.Sequential(
                nn.LayerNorm(lm.scorer.number_size),
                ByteDropout(dropout),
                nn.Linear(lm.scorer.number_size, size),
            )
        self.tuned: nn.Module | None = lm.backbone.model if tuned else None
        self.tunes = tuned
        self.store: Store | None = None
        self.progress: Progress | None = None
        self.reads_nodes = False  # whether a model beside this one adapts digits: read once for all
        self.remembered: Path | None = None  # where training cached what the model says

    @property
    def device(self) -> torch.device:
        return self.lm.scorer.device

    def use(
        self,
        dataset: Dataset,
        cache: Path | None,
        progress: Progress | None,
        beside: Sequence[Backbone] = (),
        *,
        detailed: bool = False,
        readers: Readers | None = None,
    ) -> None:
        """What is said of this dataset is cached, once for all over the same language model."""
        self.progress, self.reads_nodes = progress, detailed
        together = [self, *(other for other in beside if isinstance(other, CausalBackbone))]
        stores = [other.store for other in together if other.store]
        # A model as it comes reads no numbers of its own paragraph but with the text.
        sight = self.sight if self.see is not None or self.sight in WRITTEN else "none"
        known = [store for store in stores if (store.dataset, store.sight) == (dataset, sight)]
        folders = [cache, *(other.remembered for other in together)]
        folder = next(filter(None, folders), None) or default_cache()
        self.store = known[0] if known else Store(folder, self.lm, dataset, sight, readers)

    def hidden(self, states: Tensor) -> Tensor:
        """What a head sees of the language model's states: [N, S] → [N, D]."""
        if self.project is None:
            return states[:, :0]
        projected: Tensor = self.project(states)
        return projected

    # Training

    def log_prob(self, batch: PretrainedBatch, head: NumeralHead) -> Tensor:
        read = batch.read(self.lm)
        if read.numerals is None:  # then there is nothing to differentiate
            weights = (*self.parameters(), *head.parameters())
            trained = next(weight for weight in weights if weight.requires_grad)
            return read.words + 0.0 * trained.sum()
        context = self._context(read)
        # The model may have been read in mixed precision; what is made of it is not.
        with torch.autocast(self.device.type, enabled=False):
            numerals = head.log_prob(context, read.numerals)
        return torch.cat([read.words, read.gates + numerals])

    def contexts(self, batch: PretrainedBatch) -> Context:
        return self._context(batch.read(self.lm))

    def _context(self, batch: StateBatch) -> Context:
        with torch.autocast(self.device.type, enabled=False):
            sight: Sight | None = None
            if self.see is not None and batch.seen is not None:
                vectors = self.see(batch.seen.states.float())
                sight = batch.seen.numbers.with_vectors(vectors, batch.seen.read)
            return Context(self.hidden(batch.states.float()), sight, batch.digits)

    def parameter_groups(self, head: NumeralHead) -> list[dict[str, Any]]:
        own = [part for part in (self.project, self.see) if part is not None]
        weights = [weight for part in (*own, head) for weight in part.parameters()]
        groups: list[dict[str, Any]] = [{"params": weights, "scale": 1.0}]
        if self.tuned is not None:
            tuned = [weight for weight in self.tuned.parameters() if weight.requires_grad]
            is_all = len(tuned) == len(list(self.tuned.parameters()))
            scale = RATE_OF_ALL if is_all else RATE_OF_ADAPTERS
            groups.append({"params": tuned, "scale": scale, "decays": True})
        return groups

    def unstored(self) -> set[str]:
        if self.tuned is None:
            return set()
        trained = trained_weights(self.tuned)
        return {f"backbone.tuned.{name}" for name in self.tuned.state_dict() if name not in trained}

    # Reading

    def read(self, corpus: Corpus, head: NumeralHead, *, going_on: bool = False) -> Reading:
        detailed = self.reads_nodes or head.digit_adapter() is not None
        if isinstance(corpus.split, Split):
            return self._read_split(corpus, detailed)
        paragraphs = paragraphs_of(corpus)
        columns = None if corpus.sight is None else corpus.sight.columns
        laid_out = self.lm.lay_out(paragraphs, self._prefixes(columns, paragraphs))
        scores = self.lm.score(laid_out, detailed=detailed)
        joined = join_scores(scores)
        log_probs = joined.targets.copy()
        log_probs[corpus.target_is_numeral] = joined.gates
        digits = TextDigits(self.lm, laid_out, joined, np.arange(len(corpus.rows)))
        sight = None
        if self.see is not None and corpus.sight is not None:
            states, read = _in_view(corpus.sight, scores)
            sight = self._read_sight(corpus.sight, states, read, corpus.sight.numeral_places)
        context = Context(self._hidden_of(joined.states), sight, digits)
        return Reading(corpus, log_probs, context, digits)

    def pretrained_parameters(self) -> Iterable[nn.Parameter]:
        found: Iterable[nn.Parameter] = self.lm.backbone.model.parameters()
        return found

    def reads_anew(self, corpus: Corpus) -> bool:
        if not isinstance(corpus.split, Split) or self.store is None:
            return True
        return not self.store.split(corpus.name).done[corpus.sources].any()

    def _prefixes(
        self, columns: SightColumns | None, paragraphs: Sequence[Paragraph]
    ) -> list[Prefix | None] | None:
        """What stands before texts of the user's."""
        if self.sight not in WRITTEN or columns is None or columns.tables is None:
            return None
        used, views = np.unique(columns.views, return_inverse=True)
        sources = [
            Paragraph.of(source.text, source.tokens)
            if isinstance(source, EarlierParagraph)
            else source
            for source in map(columns.tables.__getitem__, used.tolist())
        ]
        found = prefixes_in_view(
            self.lm,
            sources,
            views,
            columns.view_offsets,
            paragraphs,
            columns.rules or DEFAULT_RULES,
        )
        return [found[index] for index in range(len(found))]

    def _read_split(self, corpus: Corpus, detailed: bool) -> Reading:
        """From what is cached; what the cache lacks is read first."""
        assert self.store is not None, "a dataset is to be used first"
        split = self.store.split(corpus.name)
        split.fill(corpus.sources, self.progress, detailed=detailed)
        places = split.numerals_of(corpus.sources)
        log_probs = np.array(split.targets[split.targets_of(corpus.sources)])
        log_probs[corpus.target_is_numeral] = split.gates[places]
        digits = StoredDigits(self.lm, split, places, self.progress)
        sight = None
        if self.see is not None and corpus.sight is not None and split.numbers is not None:
            states, read = split.numbers.gather(corpus.sources, corpus.sight.numbers_in_tables)
            sight = self._read_sight(corpus.sight, states, read, corpus.sight.numeral_places)
        context = Context(self._hidden_of(split.states, places), sight, digits)
        return Reading(corpus, log_probs, context, digits)

    def _hidden_of(self, states: np.ndarray, rows: np.ndarray | None = None) -> Tensor:
        """What heads see of states, or of some of them: [N, S] → [N, D]."""
        return self._projected(self.hidden, states, rows)

    def _read_sight(
        self, sight: CorpusSight, states: np.ndarray, read: np.ndarray, places: np.ndarray
    ) -> Sight:
        """The numbers in view of some places, with the states after all of them."""
        assert self.see is not None, "a head that sees numbers sees states"
        vectors = self._projected(self.see, states)
        return ReadSight(sight, vectors, torch.from_numpy(read).to(self.device), places)

    def _projected(
        self,
        project: Callable[[Tensor], Tensor],
        states: np.ndarray,
        rows: np.ndarray | None = None,
    ) -> Tensor:
        rows = np.arange(len(states)) if rows is None else rows
        parts = [torch.empty(0, self.size, device=self.device)]
        with exactly():
            for begin in range(0, len(rows), AT_ONCE):
                some = states[rows[begin : begin + AT_ONCE]].astype(np.float32)
                parts.append(project(torch.from_numpy(some).to(self.device)))
        return torch.cat(parts)

    def after(self, texts: Texts) -> Context:
        """It reads text as it stands, so the white space before a numeral matters: whoever has a
        text without one at its end, as people type it, adds what a writer would leave."""
        paragraphs = []
        for text, cut in zip(texts.texts, texts.tokens, strict=True):
            some_numeral = Token("0", len(text), len(text) + 1, True)  # only its place counts
            paragraphs.append(Paragraph.of(text + "0", [*cut, some_numeral]))
        prefixes = self._prefixes(texts.columns, [Paragraph.of(t, []) for t in texts.texts])
        if self.see is not None:
            return self._after_and_in_view(texts, self.lm.lay_out(paragraphs, prefixes))
        before = prefixes or [None] * len(paragraphs)
        plans = [
            self.lm.lay_out_before(paragraph, len(paragraph.ends) - 1, prefix)
            for paragraph, prefix in zip(paragraphs, before, strict=True)
        ]
        digits = PlacedDigits(self.lm, [(plan, 0) for plan in plans])
        if self.project is None:  # whoever sees no states has none read
            return Context(torch.empty(len(plans), 0, device=self.device), digits=digits)
        with exactly():
            states = [self.lm.scorer.score([plan]).states.float() for plan in plans]
            return Context(self.hidden(torch.cat(states)), digits=digits)

    def _after_and_in_view(self, texts: Texts, laid_out: list[LaidOut]) -> Context:
        """The same for who sees the numbers of the texts: those are read with all of them."""
        scores = self.lm.score(laid_out)
        sight = texts.corpus(self.vocabulary).sight
        assert sight is not None, "texts say what is in view"
        sight.table.to(self.device)
        before = [  # without the numeral to come
            replace(score, number_states=score.number_states[:-1], seen=score.seen[:-1])
            for score in scores
        ]
        read = self._read_sight(sight, *_in_view(sight, before), sight.end_places)
        states = np.stack([score.states[-1] for score in scores])
        digits = PlacedDigits(self.lm, [paragraph.places[-1] for paragraph in laid_out])
        return Context(self._hidden_of(states), read, digits)

    def following(
        self, reading: Reading, head: NumeralHead, rows: np.ndarray, numerals: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Read after the text itself: what a cached split may have is of other numerals."""
        result = np.empty((2, len(rows)))
        for row in np.unique(rows).tolist():
            mine = np.flatnonzero(rows == row).tolist()
            table = NumeralTable(list(dict.fromkeys(numerals[index] for index in mine)))
            columns = {text: column for column, text in enumerate(table.texts)}
            laid_out, numeral = reading.memory.laid_out(row)
            digits = PlacedDigits(self.lm, [laid_out.places[numeral]])
            with exactly():
                context = replace(reading.context[row : row + 1], digits=digits)
                found = head.log_prob_table(context, table.to(self.device))[0].double()
            which = [columns[numerals[index]] for index in mine]
            after = self._after(laid_out, numeral, table.texts)
            result[:, mine] = found.cpu().numpy()[which], after[which]
        return result[0], result[1]

    def _after(self, laid_out: LaidOut, which: int, numerals: list[str]) -> np.ndarray:
        """log p(the next tokens | what stands before, the numeral, which has ended): [C].

        Of a numeral's spellings the tokenizer's own is read, and of what follows too.
        """
        paragraph = laid_out.paragraph
        place = sorted(paragraph.numerals)[which]
        last = min(place + AFTER, len(paragraph.ends) - 1)
        if last == place or not self.lm.scorer.takes_masks:  # without masks it takes too long
            return np.zeros(len(numerals))
        text = paragraph.text[paragraph.ends[place] : paragraph.ends[last]]
        plan, index = laid_out.places[which]
        return self.lm.follows(plan, index, numerals, text)

    def best(
        self, reading: Reading, head: NumeralHead, candidates: NumeralTable
    ) -> np.ndarray | None:
        """Where the language model's digits have a part, they are searched best first."""
        digits = reading.memory
        if not head.uses_digits or not isinstance(digits, StoredDigits):
            return None
        split, sources = digits.split, reading.corpus.sources
        adapter = head.digit_adapter()
        if split.has_table(candidates, sources, adapter):
            return None

        rows = np.zeros(len(split.numerals), dtype=np.int64)
        rows[digits.places] = np.arange(len(digits.places))

        def beside(numerals: np.ndarray) -> Beside:
            context = reading.context[torch.from_numpy(rows[numerals]).to(self.device)]
            found = head.beside_digits(context, candidates)
            assert found is not None, "a head that uses digits says what stands beside them"
            weight, rest = (part.cpu().numpy() for part in found)
            return Beside(weight, rest)

        found = split.best(candidates, beside, sources, self.progress, head)
        return np.asarray(found[digits.places])

    def digit_tables(self) -> dict[str, Any]:
        """Those of the pretrained model, which has no end of a numeral."""
        model: Any = self.lm.backbone.model
        ids = torch.tensor([self.lm.tokens.pieces[symbol] for symbol in SYMBOLS])

        def digits(embedding: Any, *, of_lm_digits: bool = False) -> DigitTable:
            weight = embedding.weight[ids.to(embedding.weight.device)]
            return DigitTable(tuple(SYMBOLS), weight, of_lm_digits)

        reads, writes = model.get_input_embeddings(), model.get_output_embeddings()
        found = {"read at the input": digits(reads)}
        if writes.weight is not reads.weight:
            found["to be written (lm)"] = digits(writes, of_lm_digits=True)
        return found


def _in_view(
    sight: CorpusSight, scores: Sequence[ParagraphScores]
) -> tuple[np.ndarray, np.ndarray]:
    """States after all numbers in view of texts that were read, [E, R], and which were, [E].

    Of a text's tables only so many are in view as heads are given.
    """
    states, read = [np.empty((0, 0))], [np.empty(0, dtype=np.bool_)]
    for score, tables, own in zip(
        scores, sight.numbers_in_tables, np.diff(sight.own.numeral_offsets), strict=True
    ):
        first = len(score.seen) - own
        rows = np.concatenate([np.arange(tables), np.arange(first, first + own)]).astype(np.int64)
        states.append(score.number_states[rows])
        read.append(score.seen[rows])
    return np.concatenate(states[1:] or states), np.concatenate(read)

"""A detector over a pretrained language model, which reads a paragraph twice.

After the tables in view, the paragraph stands two times: a numeral of the second is read by a model
that has seen all of the text, before it and after it. What the model makes of it there is added to
what the small detector says, which compares it with every number in sight. Its pointer, too, asks
with the model's state before the numeral, and among the numbers as the model has read them: which
cell belongs here is a question of words. That state has met the numeral in the first reading; what
the pointer learns is which number should stand there, also where another does.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.attention import sdpa_kernel

from numerate.detector.articles import Article, Errors, Selection
from numerate.detector.classifier import Logits, NumeralClassifier, Prepared
from numerate.detector.edits import apply, apply_to_table
from numerate.detector.evidence import Evidence
from numerate.detector.small import Aside, SmallClassifier, SmallPrepared, stored_options
from numerate.documents.document import Table
from numerate.packing import move
from numerate.pretrained.backbone import Backbone, add_adapters, open_backbone
from numerate.pretrained.memory_room import in_batches, kept_tokens, room
from numerate.pretrained.merged_adapters import AdaptedLayers
from numerate.pretrained.scorer import OF_ANY_SHAPE
from numerate.pretrained.written_tables import TableWriter, Written, words_of
from numerate.vocabulary import Vocabulary

TABLE_ROOM = 1536  # tokens of tables before a paragraph, at most
AT_ONCE = {"cpu": 4096, "cuda": 32768}  # tokens that are read together
PADDING = {"cpu": 512, "cuda": 12288}
KEPT = 4096  # tokens of which all that gradients need is kept on a CPU; beyond, it is made anew
KEPT_A_TOKEN = 120  # bytes of a GPU's memory for each, and for all else: see `kept_tokens`
TOGETHER = {"cpu": 1000, "cuda": 8000}  # tokens of texts, as we count them, between two reports
RATE_OF_ADAPTERS, RATE_OF_ALL = 0.4, 0.1  # parts of the small detector's learning rate
JUDGED = 256  # size of what is made of a state
POINTING = 64  # of what the pointer compares
BETWEEN = "\n\n"  # the two readings


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as tokens of the language model."""

    ids: list[int]
    first: list[int]  # of each numeral, its first token
    last: list[int]  # and its last one


@dataclass(frozen=True, slots=True)
class Gathered:
    """Some articles as they are read once."""

    small: Evidence
    sequences: list[list[int]]  # of each text that is scored: tables, the text, the text again
    places: list[np.ndarray]  # tokens of each whose states are asked for; below 0: cut off
    scored: np.ndarray  # int64 [M] which numerals are of these texts
    last: np.ndarray  # int64 [M] of these the states after them, among all that are asked for
    before: np.ndarray  # int64 [M] and before them
    pair_states: (
        np.ndarray
    )  # int64 [K] of each pair of a place and a number, the number's; −1: none


class PretrainedPrepared(Prepared):
    def __init__(
        self,
        small: SmallPrepared,
        texts: list[list[Encoded]],
        tables: list[list[Written]],
        lines: list[list[list[list[bool]]]],
    ) -> None:
        self.small, self.articles = small, small.articles
        self.texts, self.tables = texts, tables
        self.lines = lines  # of each article and text, which lines of each of its tables are read

    @property
    def sizes(self) -> np.ndarray:
        return np.array([sum(len(text.ids) for text in texts) for texts in self.texts])


class PretrainedClassifier(NumeralClassifier):
    kind = "pretrained"

    def __init__(self, opened: Backbone, small: SmallClassifier, finetune: str = "none") -> None:
        super().__init__()
        self._opened, self.finetune = opened, finetune
        add_adapters(opened.model, finetune)
        self.small = small
        self.lm: nn.Module = opened.model.base_model
        self.is_tuned = finetune != "none"
        if self.is_tuned and opened.model.supports_gradient_checkpointing:
            opened.model.gradient_checkpointing_enable(
                {"use_reentrant": False, "context_fn": self._contexts}
            )
        self.adapted = AdaptedLayers(opened.model)
        self._merged: list[Tensor] = []  # their weights, as they are read with
        self.size = opened.model.get_output_embeddings().weight.shape[1]
        last = nn.Linear(JUDGED, 1)
        nn.init.zeros_(last.weight)  # at first the small detector decides
        nn.init.zeros_(last.bias)
        self.judge = nn.Sequential(
            nn.LayerNorm(self.size), nn.Linear(self.size, JUDGED), nn.GELU(), last
        )
        self.context = nn.Sequential(
            nn.LayerNorm(self.size), nn.Linear(self.size, small.chosen.hidden)
        )
        self.queries, self.keys = (
            nn.Sequential(nn.LayerNorm(self.size), nn.Linear(self.size, POINTING)) for _ in range(2)
        )
        for part in (self.context[-1], self.queries[-1]):
            assert isinstance(part, nn.Linear)
            nn.init.zeros_(part.weight)
            nn.init.zeros_(part.bias)
        ends = opened.end_ids or (0,)
        self._start = ends[0] if opened.adds_start is None else opened.adds_start
        self._between: list[int] = opened.tokenizer(BETWEEN, add_special_tokens=False)["input_ids"]

    # What does not change with errors

    def prepare(self, articles: Sequence[Article]) -> PretrainedPrepared:
        pairs = [
            (text, tokens) for a in articles for text, tokens in zip(a.texts, a.tokens, strict=True)
        ]
        spans = [[(t.start, t.end) for t in tokens if t.is_numeral] for _, tokens in pairs]
        encoded = iter(self._encode([text for text, _ in pairs], spans))
        tables = [self._write(article, article.tables) for article in articles]
        lines = [
            [
                self._writer(article).selected([written[view] for view in views], words_of(text))
                for text, views in zip(article.texts, article.views, strict=True)
            ]
            for article, written in zip(articles, tables, strict=True)
        ]
        texts = [[next(encoded) for _ in article.texts] for article in articles]
        return PretrainedPrepared(self.small.prepare(articles), texts, tables, lines)

    def _writer(self, article: Article) -> TableWriter:
        room = min(TABLE_ROOM, self._opened.window // 4)
        return TableWriter(self._opened.tokenizer, self._start, room, article.rules)

    def _write(self, article: Article, tables: Sequence[Table]) -> list[Written]:
        return self._writer(article).written(tables) if tables else []

    def _encode(self, texts: list[str], spans: list[list[tuple[int, int]]]) -> list[Encoded]:
        if not texts:
            return []
        encoded = self._opened.tokenizer(
            texts,
            add_special_tokens=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            verbose=False,
        )
        found = []
        for ids, offsets, places in zip(
            encoded["input_ids"], encoded["offset_mapping"], spans, strict=True
        ):
            begins = np.array([start for start, _ in offsets])
            starts, ends = np.array(places, dtype=np.int64).reshape(-1, 2).T
            first = np.searchsorted(begins, starts, side="right") - 1
            last = np.searchsorted(begins, ends, side="left") - 1
            found.append(Encoded(ids, first.tolist(), last.tolist()))
        return found

    # Reading

    def gather(
        self,
        prepared: PretrainedPrepared,
        rows: Sequence[int],
        errors: Sequence[Errors] | None = None,
        *,
        selections: Sequence[Selection] | None = None,
        generator: np.random.Generator | None = None,
    ) -> Gathered:
        asked = _Asked()
        window = self._opened.window
        for index, row in enumerate(rows):
            article = prepared.articles[row]
            wrong = None if errors is None else errors[index]
            writer = self._writer(article)
            written = self._with_errors(article, prepared.tables[row], wrong)
            texts = self._texts_with_errors(article, prepared.texts[row], wrong)
            selection = Selection() if selections is None else selections[index]
            for at in range(len(texts)) if selection.texts is None else selection.texts:
                text, views = texts[at], [written[view] for view in article.views[at]]
                if not selection.scores_texts or not text.last:
                    asked.skip(len(text.last), sum(table.numbers for table in views))
                    continue
                prefix = writer.prefix(views, prepared.lines[row][at])
                before = [self._start] if prefix is None else [*prefix.tokens.tolist(), prefix.last]
                again = len(before) + len(text.ids) + len(self._between)
                tokens = [*before, *text.ids, *self._between, *text.ids]
                beyond = max(0, len(tokens) - window)  # what comes first is left out
                first, last = (np.array(some) + again for some in (text.first, text.last))
                seen = np.zeros(0, dtype=np.int64) if prefix is None else prefix.ends
                asked.add(tokens[beyond:], first - beyond, last - beyond, seen - beyond)
        small = self.small.gather(
            prepared.small, rows, errors, selections=selections, generator=generator
        )
        return asked.gathered(small)

    def logits(self, gathered: Gathered, *, suggest: bool = False) -> Logits:
        states = self._read(gathered.sequences, gathered.places)
        # Of what did not fit the window it says nothing.
        read = np.concatenate([np.zeros(0, dtype=np.bool_), *(at >= 0 for at in gathered.places)])
        with torch.autocast(self.device.type, enabled=False):
            states = states.float()
            aside = self._aside(gathered, states, read)
            found: Logits = self.small(gathered.small, suggest=suggest, aside=aside)
            judged = self.judge(states.index_select(0, move(gathered.last, self.device)))[:, 0]
        judged = judged * move(read[gathered.last], self.device)
        at = move(gathered.scored, self.device)
        return replace(found, texts=found.texts.float().index_add(0, at, judged))

    def _aside(self, gathered: Gathered, states: Tensor, read: np.ndarray) -> Aside:
        """What the states say of where numerals stand, and of what they are compared with."""
        device, evidence = self.device, gathered.small
        known = read[gathered.before]
        asking = states.index_select(0, move(gathered.before[known], device))
        scored = gathered.scored[known]
        context = states.new_zeros(len(evidence.figures), self.small.chosen.hidden)
        context = context.index_add(0, move(scored, device), self.context(asking))
        row_of = np.full(len(evidence.figures), -1)
        row_of[scored] = np.arange(len(scored))
        rows, numbers = row_of[evidence.pair_places], gathered.pair_states
        pairs = np.flatnonzero((rows >= 0) & (numbers >= 0))
        pairs = pairs[read[numbers[pairs]]]
        products = (
            self.queries(asking).index_select(0, move(rows[pairs], device))
            * self.keys(states).index_select(0, move(numbers[pairs], device))
        ).sum(1) / POINTING**0.5
        fits = states.new_zeros(len(rows)).index_add(0, move(pairs, device), products)
        return Aside(context, fits)

    @property
    def tokens_at_once(self) -> int:
        return TOGETHER.get(self.device.type, TOGETHER["cpu"])

    def _read(self, sequences: list[list[int]], places: list[np.ndarray]) -> Tensor:  # [N, S]
        """The states at places of each sequence: about numerals, after numbers of tables."""
        kind = self.device.type
        counts = np.array([len(some) for some in places])
        firsts = np.cumsum(counts) - counts
        found: list[Tensor] = []
        order: list[np.ndarray] = []
        sizes = [len(tokens) for tokens in sequences]
        most, waste = room(AT_ONCE, self.device), PADDING.get(kind, PADDING["cpu"])
        kept = kept_tokens(self._opened.model, KEPT_A_TOKEN, on_cpu=KEPT)
        layers: list[Any] = [m for m in self.lm.modules() if hasattr(m, "gradient_checkpointing")]
        for layer in layers:
            layer.gradient_checkpointing = self.is_tuned and sum(sizes) > kept
        with (
            torch.set_grad_enabled(self.is_tuned and torch.is_grad_enabled()),
            torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda"),
            self._reading(self.adapted.merged()),
        ):
            for batch in in_batches(sizes, most, waste):
                batch = [index for index in batch if counts[index]]
                if not batch:
                    continue
                length = max(sizes[index] for index in batch)
                # Padded at the end, where nothing that came before it can see it.
                tokens = np.zeros((len(batch), length), dtype=np.int64)
                for line, index in zip(tokens, batch, strict=True):
                    line[: sizes[index]] = sequences[index]
                states = self.lm(input_ids=move(tokens, self.device), use_cache=False)
                here = [
                    line * length + places[index].clip(min=0) for line, index in enumerate(batch)
                ]
                flat = states.last_hidden_state.flatten(0, 1)
                found.append(flat.index_select(0, move(np.concatenate(here), self.device)))
                order += [firsts[index] + np.arange(counts[index]) for index in batch]
        if not found:
            return torch.zeros(0, self.size, device=self.device)
        back = np.argsort(np.concatenate(order), kind="stable")
        return torch.cat(found).index_select(0, move(back, self.device))

    @contextmanager
    def _reading(self, merged: list[Tensor]) -> Iterator[None]:
        self._merged = merged
        with sdpa_kernel(OF_ANY_SHAPE), self.adapted.using(merged):
            yield
        self._merged = []

    def _contexts(self) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        """In which layers are run, and run again for their gradients: both times the same."""
        return nullcontext(), self._reading(self._merged)

    def _with_errors(
        self, article: Article, written: list[Written], errors: Errors | None
    ) -> list[Written]:
        if errors is None:
            return written
        seen = {view for views in article.views for view in views}
        wrong = [table for table, edits in enumerate(errors.tables) if edits and table in seen]
        tables = [
            apply_to_table(article.tables[table], errors.tables[table], article.rules)
            for table in wrong
        ]
        anew = dict(zip(wrong, self._write(article, tables), strict=True))
        # In few tables an error changes what is one number; these are read as they were.
        return [
            anew[table] if table in anew and anew[table].numbers == one.numbers else one
            for table, one in enumerate(written)
        ]

    def _texts_with_errors(
        self, article: Article, encoded: list[Encoded], errors: Errors | None
    ) -> list[Encoded]:
        if errors is None:
            return encoded
        wrong = [text for text, edits in enumerate(errors.texts) if edits]
        texts, spans = [], []
        for text in wrong:
            before = [(t.start, t.end) for t in article.tokens[text] if t.is_numeral]
            one, places = apply(article.texts[text], before, errors.texts[text])
            texts.append(one)
            spans.append(places)
        anew = dict(zip(wrong, self._encode(texts, spans), strict=True))
        return [anew.get(text, one) for text, one in enumerate(encoded)]

    # Training and storage

    def parameter_groups(self, rate: float) -> list[dict[str, Any]]:
        ours = (self.small, self.judge, self.context, self.queries, self.keys)
        part = RATE_OF_ALL if self.finetune == "full" else RATE_OF_ADAPTERS
        groups = [
            {"params": [weight for one in ours for weight in one.parameters()], "lr": rate},
            {"params": [w for w in self.lm.parameters() if w.requires_grad], "lr": part * rate},
        ]
        return [group for group in groups if group["params"]]

    def options(self) -> dict[str, Any]:
        return {
            "path": self._opened.place,
            "digest": self._opened.digest,
            "finetune": self.finetune,
            "small": self.small.options(),
        }

    def weights(self) -> dict[str, Tensor]:
        """Without those that the pretrained model has."""
        trained = {name for name, weight in self.named_parameters() if weight.requires_grad}
        return {name: value for name, value in self.state_dict().items() if name in trained}

    def trained(self) -> None:
        self.adapted.merge_for_good()

    def keep(self, folder: Path) -> None:
        self.small.keep(folder)


class _Asked:
    """What is to be read of some texts, one after another, as their numerals and pairs are counted
    in the small detector's evidence."""

    def __init__(self) -> None:
        self.sequences: list[list[int]] = []
        self.places: list[np.ndarray] = []
        nothing = np.zeros(0, dtype=np.int64)
        self._scored, self._last = [nothing], [nothing]
        self._before, self._pair_states = [nothing], [nothing]
        self._numerals = self._states = 0

    def skip(self, numerals: int, seen: int) -> None:
        """A text that is not scored, with so many numerals, and numbers in view."""
        self._numerals += numerals
        self._pair_states.append(np.full(numerals * (seen + numerals - 1), -1))

    def add(self, tokens: list[int], first: np.ndarray, last: np.ndarray, seen: np.ndarray) -> None:
        """Where in its tokens its numerals begin and end, and numbers in view end."""
        count, size = len(last), len(seen) + len(last)
        self.sequences.append(tokens)
        self.places.append(np.concatenate([last, first - 1, seen]))
        own = self._states + np.arange(count)
        self._scored.append(self._numerals + np.arange(count))
        self._last.append(own)
        self._before.append(own + count)
        in_view = self._states + 2 * count + np.arange(len(seen))
        pairs = np.tile(np.concatenate([in_view, own]), (count, 1))
        itself = np.eye(count, size, len(seen), dtype=np.bool_)
        self._pair_states.append(pairs[~itself])
        self._numerals += count
        self._states += count + size

    def gathered(self, small: Evidence) -> Gathered:
        parts = (self._scored, self._last, self._before, self._pair_states)
        return Gathered(small, self.sequences, self.places, *map(np.concatenate, parts))


def open_classifier(options: dict[str, Any], vocabulary: Vocabulary) -> PretrainedClassifier:
    """What `options` says of one, before its weights are read."""
    opened = open_backbone(options["path"], digest=options["digest"])
    small = SmallClassifier(vocabulary, stored_options(options["small"]))
    return PretrainedClassifier(opened, small, options["finetune"])

"""A detector over a pretrained language model, which reads a paragraph twice.

After the tables in view, the paragraph stands two times: a numeral of the second is read by a model
that has seen all of the text, before it and after it. What the model makes of it there is added to
what the small detector says, which compares it with every number in sight, and reads tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.attention import sdpa_kernel

from numerate.detector.articles import Article, Errors, Selection
from numerate.detector.channel import apply, apply_to_table
from numerate.detector.classifier import Logits, NumeralClassifier, Prepared
from numerate.detector.evidence import Evidence
from numerate.detector.small import SmallClassifier, SmallPrepared, stored_options
from numerate.documents.document import Table
from numerate.packing import move
from numerate.pretrained.backbone import Backbone, add_adapters, open_backbone
from numerate.pretrained.scorer import OF_ANY_SHAPE, in_batches
from numerate.pretrained.written_tables import TableWriter, Written, words_of
from numerate.vocabulary import Vocabulary

TABLE_ROOM = 1536  # tokens of tables before a paragraph, at most
AT_ONCE = {"cpu": 4096, "cuda": 32768}  # tokens that are read together
PADDING = {"cpu": 512, "cuda": 4096}
TOGETHER = {"cpu": 1000, "cuda": 8000}  # tokens of texts, as we count them, between two reports
RATE = 0.05  # of the small detector's learning rate: 1e-4 unless told
JUDGED = 256  # size of what is made of a state
BETWEEN = "\n\n"  # the two readings


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as tokens of the language model."""

    ids: list[int]
    last: list[int]  # of each numeral, its last token


@dataclass(frozen=True, slots=True)
class Gathered:
    """Some articles as they are read once."""

    small: Evidence
    sequences: list[list[int]]  # of each text that is scored: tables, the text, the text again
    places: list[np.ndarray]  # in each of them, the last token of each numeral
    scored: np.ndarray  # bool [N] whether a numeral is of one of these texts


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
        self.size = opened.model.get_output_embeddings().weight.shape[1]
        last = nn.Linear(JUDGED, 1)
        nn.init.zeros_(last.weight)  # at first the small detector decides
        nn.init.zeros_(last.bias)
        self.judge = nn.Sequential(
            nn.LayerNorm(self.size), nn.Linear(self.size, JUDGED), nn.GELU(), last
        )
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
            starts = np.array([start for start, _ in offsets])
            ends = np.array([end for _, end in places])
            found.append(Encoded(ids, (np.searchsorted(starts, ends, side="left") - 1).tolist()))
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
        sequences: list[list[int]] = []
        places: list[np.ndarray] = []
        scored: list[np.ndarray] = [np.zeros(0, dtype=np.bool_)]
        window = self._opened.window
        for index, row in enumerate(rows):
            article = prepared.articles[row]
            wrong = None if errors is None else errors[index]
            writer = self._writer(article)
            written = self._with_errors(article, prepared.tables[row], wrong)
            texts = self._texts_with_errors(article, prepared.texts[row], wrong)
            selection = Selection() if selections is None else selections[index]
            for at in range(len(texts)) if selection.texts is None else selection.texts:
                scored.append(np.full(len(texts[at].last), selection.scores_texts))
                if not selection.scores_texts:
                    continue
                text, lines = texts[at], prepared.lines[row][at]
                prefix = writer.prefix([written[view] for view in article.views[at]], lines)
                before = [self._start] if prefix is None else [*prefix.tokens.tolist(), prefix.last]
                again = len(before) + len(text.ids) + len(self._between)
                tokens = [*before, *text.ids, *self._between, *text.ids]
                beyond = max(0, len(tokens) - window)  # what comes first is left out
                sequences.append(tokens[beyond:])
                places.append(np.array(text.last, dtype=np.int64) + again - beyond)
        small = self.small.gather(
            prepared.small, rows, errors, selections=selections, generator=generator
        )
        return Gathered(small, sequences, places, np.concatenate(scored))

    def logits(self, gathered: Gathered, *, suggest: bool = False) -> Logits:
        found = self.small.logits(gathered.small, suggest=suggest)
        states = self._read(gathered.sequences, gathered.places)
        with torch.autocast(self.device.type, enabled=False):
            judged = self.judge(states.float())[:, 0]
        # Of what did not fit the window it says nothing.
        read = np.concatenate([np.zeros(0, dtype=np.bool_), *(at >= 0 for at in gathered.places)])
        judged = judged * move(read, self.device)
        at = move(np.flatnonzero(gathered.scored), self.device)
        return replace(found, texts=found.texts.float().index_add(0, at, judged))

    @property
    def tokens_at_once(self) -> int:
        return TOGETHER.get(self.device.type, TOGETHER["cpu"])

    def _read(self, sequences: list[list[int]], places: list[np.ndarray]) -> Tensor:  # [N, S]
        """The states after numerals."""
        kind = self.device.type
        counts = np.array([len(some) for some in places])
        firsts = np.cumsum(counts) - counts
        found: list[Tensor] = []
        order: list[np.ndarray] = []
        sizes = [len(tokens) for tokens in sequences]
        room, waste = (most.get(kind, most["cpu"]) for most in (AT_ONCE, PADDING))
        with (
            torch.set_grad_enabled(self.is_tuned and torch.is_grad_enabled()),
            torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda"),
            sdpa_kernel(OF_ANY_SHAPE),
        ):
            for batch in in_batches(sizes, room, waste):
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
        return [anew.get(table, one) for table, one in enumerate(written)]

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
        groups = [
            {"params": [*self.small.parameters(), *self.judge.parameters()], "lr": rate},
            {"params": [w for w in self.lm.parameters() if w.requires_grad], "lr": RATE * rate},
        ]
        return [group for group in groups if group["params"]]

    def options(self) -> dict[str, Any]:
        return {
            "path": str(self._opened.path),
            "digest": self._opened.digest,
            "finetune": self.finetune,
            "small": self.small.options(),
        }

    def weights(self) -> dict[str, Tensor]:
        """Without those that the pretrained model has."""
        trained = {name for name, weight in self.named_parameters() if weight.requires_grad}
        return {name: value for name, value in self.state_dict().items() if name in trained}

    def keep(self, folder: Path) -> None:
        self.small.keep(folder)


def open_classifier(options: dict[str, Any], vocabulary: Vocabulary) -> PretrainedClassifier:
    """What `options` says of one, before its weights are read."""
    opened = open_backbone(options["path"], digest=options["digest"])
    small = SmallClassifier(vocabulary, stored_options(options["small"]))
    return PretrainedClassifier(opened, small, options["finetune"])

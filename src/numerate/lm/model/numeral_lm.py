"""`NumeralLM`: a backbone that reads text and words, and a head that knows numerals.

Whoever trains, evaluates, inspects, predicts, ranks or checks has one of these; models from
scratch, pretrained ones as they come, and heads over them differ in their backbones alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

import numerate
from numerate.documents.document import Table
from numerate.errors import NumerateError
from numerate.lm.backbones.contract import Backbone, Reading, Tables, Targets, exactly
from numerate.lm.backbones.texts import Texts
from numerate.lm.data.batching import Corpus
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context, NextNumeral, NumeralHead
from numerate.lm.model.config import ModelConfig
from numerate.lm.model.conformal import ConformalIntervals
from numerate.lm.model.gap import LONGEST, Gap, Reached, before_numeral, split_at_gap
from numerate.lm.model.numeral_distribution import NumeralDistribution
from numerate.lm.model.rank import Ranking, rank
from numerate.lm.model.reference import Reference
from numerate.lm.model.run_folder import RunFolder
from numerate.lm.model.sharing import share
from numerate.lm.model.stored import save
from numerate.lm.perplexity import adjusted_log_probs, numeral_shares, proper
from numerate.reports.notices import say
from numerate.text.columns import SightColumns, sees_tables
from numerate.text.quantities import signs_and_powers
from numerate.text.seen_numbers import Source, located, merged
from numerate.text.table_numbers import columns_of_texts
from numerate.text.tokenizer import Token, tokenize
from numerate.text.vocabulary import Vocabulary

TABLE_ROWS = 64  # places whose candidates are scored at a time: their prefix states fit the cache
NUMERALS = 2048  # scored at a time
ALARMS = 0.01


@dataclass(frozen=True)
class TextReading:
    """One text as a model reads it: T tokens and the end, N of the tokens numerals.

    Log-probabilities are adjusted: a token outside a closed vocabulary has its part of the
    unknown symbol's probability (see `lm/perplexity.py`).
    """

    text: str
    tokens: list[Token]  # with offsets into the text
    log_probs: np.ndarray  # [T + 1] log p of every token, and of the end
    positions: np.ndarray  # [N] which tokens are numerals
    numeral_log_probs: np.ndarray  # [N] log p(numeral | a numeral comes next)
    gates: np.ndarray  # [N] log p(a numeral comes next)
    unknown: np.ndarray | None  # [T] which tokens the model has no symbol for, if it has one
    within: Reading = field(repr=False)  # of this text and others
    first: int  # of its numerals among theirs

    def __post_init__(self) -> None:
        proper(self.log_probs)
        proper(self.numeral_log_probs)

    @property
    def context(self) -> Context:
        """Before its numerals: [N]."""
        return self.within.context[self.first : self.first + len(self.positions)]

    @property
    def numerals(self) -> list[Token]:
        return [self.tokens[position] for position in self.positions]

    @cached_property
    def signs_and_powers(self) -> list[tuple[int, int]]:
        """Of each numeral, 1 or −1 and a power of ten: tokens beside it that a reader takes in."""
        return signs_and_powers(self.tokens)


class Checker(Protocol):
    """What finds numerals that are implausible where they stand; `numerate.load` brings one."""

    def check(
        self,
        text: str,
        alarms: float,
        *,
        tables: Sequence[Table] = (),
    ) -> Sequence[Any]: ...


class NumeralLM(nn.Module):
    """A language model that knows numbers: predict a numeral, rank claims, check a text.

    Examples:
        >>> import numerate
        >>> lm = numerate.load("demo/runs/combination")
        >>> isinstance(lm, numerate.NumeralLM), lm.members
        (True, ('h-softmax', 'd-rnn', 'mog'))
    """

    def __init__(
        self, config: ModelConfig, vocabulary: Vocabulary, backbone: Backbone, head: NumeralHead
    ) -> None:
        super().__init__()
        self.config = config
        self.vocabulary = vocabulary
        self.backbone = backbone
        self.head = head
        self.member: str | None = None  # of a combination, where nothing else is left of it
        self.run: RunFolder | None = None  # that it was opened from, if it was
        self._reference: Reference | None = None
        self._checker: Checker | None = None
        self._intervals: ConformalIntervals | None = None
        self._told: set[str] = set()  # why there are none

    def __repr__(self) -> str:
        of = f" of {', '.join(self.members)}" if self.members else ""
        return f"NumeralLM({self.name}{of})"

    @property
    def name(self) -> str:
        """For tables and figures."""
        parts = [part for part in (self.backbone.title, self.config.model) if part]
        name = self.backbone.title if self.is_bare and self.backbone.title else " · ".join(parts)
        return name if self.member is None else f"{name}: {self.member}"

    @property
    def is_bare(self) -> bool:
        """Whether it is a pretrained model as it comes, with nothing trained of ours."""
        return self.backbone.title is not None and not any(True for _ in self.parameters())

    @property
    def members(self) -> tuple[str, ...]:
        """The strategies of a combination; empty for other models."""
        return tuple(self.head.members_by_name())

    @property
    def open_vocabulary(self) -> bool:
        """Whether every numeral has a probability of its own."""
        return self.head.open_vocabulary

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.backbone.device

    @property
    def parameter_count(self) -> int:
        """With those of a pretrained model that it stands on."""
        weights = (*self.parameters(), *self.backbone.pretrained_parameters())
        return sum({id(weight): weight.numel() for weight in weights}.values())

    # Training

    def log_prob(self, batch: Any) -> Tensor:
        """log p of a batch's targets, words first: [W + N]."""
        return self.backbone.log_prob(batch, self.head)

    def forward(self, batch: Any) -> Tensor:
        """The summed negative log-probability of the batch's tokens."""
        log_probs = self.log_prob(batch)
        if batch.weights is not None:
            log_probs = log_probs * batch.weights
        return -log_probs.sum()

    def parameter_groups(self) -> list[dict[str, Any]]:
        return self.backbone.parameter_groups(self.head)

    def weights(self) -> dict[str, Tensor]:
        """A copy of all that is stored, on the CPU."""
        return {
            name: tensor.detach().to("cpu", copy=True).contiguous()
            for name, tensor in self.state_dict().items()
        }

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        """Without what a pretrained backbone brings itself and nobody trained."""
        everything: dict[str, Any] = super().state_dict(*args, **kwargs)
        left_out = self.backbone.unstored()
        return {name: tensor for name, tensor in everything.items() if name not in left_out}

    def load_state_dict(self, tensors: Any, strict: bool = True, assign: bool = False) -> Any:
        different = set(self.state_dict()) ^ set(tensors)
        if different:
            raise RuntimeError(f"not the same tensors: {', '.join(sorted(different)[:3])}")
        return super().load_state_dict(tensors, strict=False, assign=assign)

    def save(
        self, folder: Path, about: dict[str, Any] | None = None, *, weights: bool = True
    ) -> None:
        """Write config, vocabulary and weights; `about` is what the first shall also say."""
        save(self, folder, about or {}, weights=weights)

    def save_pretrained(self, folder: str | Path, *, licence: str | None = None) -> None:
        """Write a new folder to share: the model, what its use needs of the dataset, and a card.

        The card, `README.md`, says what it was trained on and how, and how good it is; `licence` is
        that of the model, by its SPDX identifier. A pretrained model that a head stands on is not
        copied: the folder names it.

        Examples:
            >>> import numerate
            >>> lm = numerate.load("demo/runs/combination")
            >>> lm.save_pretrained("shared", licence="CC-BY-4.0")
            >>> again = type(lm).from_pretrained("shared")
            >>> text = "The patient weighs"
            >>> again.predict(text).median() == lm.predict(text).median()
            True
        """
        share(self, folder, licence)

    @staticmethod
    def from_pretrained(folder: str | Path, *, device: str | None = None) -> "NumeralLM":
        """What `save_pretrained` wrote, or any run: `numerate.load` by the name people know."""
        return numerate.load(folder, device=device)

    def keep_member(self, name: str) -> None:
        """Leave nothing of a combination but one member: what does one strategy know?"""
        members = self.head.members_by_name()
        if not members:
            raise NumerateError(f"{self.config.model} has no members, so no {name!r}")
        known = [member for member, head in members.items() if head.open_vocabulary]
        if name not in known:
            closed = ": it has no probability for numerals that it does not know"
            raise NumerateError(
                f"member {name!r}{closed if name in members else ''}; "
                f"expected one of {', '.join(known)}"
            )
        self.head, self.member = members[name], name

    # Reading what is to be scored: a split of a dataset, or texts

    def read(self, corpus: Corpus, *, going_on: bool = False) -> Reading:
        return self.backbone.read(corpus, self.head, going_on=going_on)

    def numeral_log_probs(self, reading: Reading) -> np.ndarray:
        """log p(this numeral | a numeral comes) of every numeral: float64 [N]."""
        corpus, result = reading.corpus, np.empty(len(reading.corpus.rows))
        corpus.table.to(self.device)
        with exactly():
            for begin in range(0, len(result), NUMERALS):
                cut = slice(begin, begin + NUMERALS)
                numerals = corpus.table.batch(corpus.rows[cut])
                found = self.head.log_prob(reading.context[cut], numerals)
                result[cut] = found.double().cpu().numpy()
        return result

    def log_probs(self, reading: Reading) -> np.ndarray:
        """log p of every target, in the order of the corpus: float64 [T]."""
        result = reading.log_probs.copy()
        result[reading.corpus.target_is_numeral] += self.numeral_log_probs(reading)
        return result

    def tables(
        self, context: Context, candidates: NumeralTable, places: np.ndarray | None = None
    ) -> Tables:
        """log p(candidate | a numeral comes) in every place, or in some, a few at a time."""
        wanted = np.arange(len(context)) if places is None else places
        candidates.to(self.device)
        for begin in range(0, len(wanted), TABLE_ROWS):
            some = wanted[begin : begin + TABLE_ROWS]
            rows = torch.from_numpy(some).to(self.device)
            with exactly():
                table = self.head.log_prob_table(context[rows], candidates).double()
            yield np.arange(begin, begin + len(some)), table

    def best(self, reading: Reading, candidates: NumeralTable) -> np.ndarray | None:
        """The likeliest candidate before each numeral [N], where that takes less than a table."""
        with exactly():
            return self.backbone.best(reading, self.head, candidates)

    # Texts of the user's

    @property
    def reference(self) -> Reference:
        """What is known of the data it was trained on."""
        if self._reference is None:
            raise NumerateError("the model was not opened by numerate.load: it knows no dataset")
        return self._reference

    def use(self, reference: Reference, checker: Checker | None = None) -> "NumeralLM":
        """With what the use of a model needs beyond its network."""
        self._reference, self._checker = reference, checker
        self._intervals = None
        self.__dict__.pop("candidates", None)
        return self.eval()

    @cached_property
    def candidates(self) -> NumeralTable:
        """A fixed grid of numerals over the number line, for percentiles and ranges."""
        return NumeralTable(self.reference.candidates).to(self.device)

    def find_intervals(self) -> ConformalIntervals | None:
        """How intervals on that grid are calibrated, found out when first needed; where that cannot
        be, why is said once, and it is tried again."""
        if self._intervals is None:
            try:
                self._intervals = self.checker.find_intervals()
            except NumerateError as error:
                if str(error) not in self._told:
                    say(f"intervals are not calibrated: {error}")
                self._told.add(str(error))
        return self._intervals

    def tokens(self, text: str) -> list[Token]:
        """How the model cuts a text, and what it takes for numerals."""
        return tokenize(text, self.reference.reading)

    def read_texts(
        self, texts: Sequence[str], tables: Sequence[Table] = (), *, going_on: bool = False
    ) -> list[TextReading]:
        """Score every token of every text; each text is one sequence from its start, with all
        `tables` in view.

        `going_on`, so that `in_place` can be asked.
        """
        self.check_tables(tables)
        return self.read_in_view(texts, self.columns([tables] * len(texts)), going_on=going_on)

    def read_in_view(
        self, texts: Sequence[str], columns: SightColumns | None, *, going_on: bool = False
    ) -> list[TextReading]:
        """The same, where each text has its own tables in view."""
        if not texts:
            return []
        tokens = [self.tokens(text) for text in texts]
        corpus = Texts(texts, tokens, columns).corpus(self.vocabulary)
        return list(self.text_readings(texts, tokens, self.read(corpus, going_on=going_on)))

    def text_readings(
        self, texts: Sequence[str], tokens: list[list[Token]], reading: Reading
    ) -> Iterator[TextReading]:
        """What was read of all texts together, text by text."""
        numerals = self.numeral_log_probs(reading)
        targets = self.targets(reading.corpus)
        charges = self.charges(targets, self.reference.oov)
        log_probs = reading.log_probs + charges
        log_probs[targets.is_numeral] += numerals
        numerals = numerals + charges[targets.is_numeral]
        start = first = 0
        for text, cut in zip(texts, tokens, strict=True):
            end = start + len(cut) + 1
            positions = np.flatnonzero(targets.is_numeral[start:end])
            here = slice(first, first + len(positions))
            yield TextReading(
                text=text,
                tokens=cut,
                log_probs=log_probs[start:end],
                positions=positions,
                numeral_log_probs=numerals[here],
                gates=reading.gates[here],
                unknown=None if self.backbone.open_words else targets.is_unknown[start : end - 1],
                within=reading,
                first=first,
            )
            start, first = end, here.stop

    def targets(self, corpus: Corpus) -> Targets:
        """What is to be predicted, and what of it this model has no symbol for."""
        targets = Targets.of(corpus)
        if not self.open_vocabulary:
            known = self.head.knows(corpus.table)
            targets.is_unknown[targets.is_numeral] = ~known[corpus.rows]
        return targets.knowing_words() if self.backbone.open_words else targets

    def charges(self, targets: Targets, oov: tuple[int, int]) -> np.ndarray:
        """What unknown tokens pay for being one of many, given the sizes of the OOV sets: [T].

        A token may be of a type that is in neither set, where they are of other texts.
        """
        oov_words, oov_numerals = (max(1, size) for size in oov)
        return adjusted_log_probs(
            np.zeros(len(targets.is_numeral)),
            targets.is_numeral,
            targets.is_unknown,
            oov_words,
            oov_numerals,
            open_vocabulary=self.open_vocabulary,
        )

    def in_place(
        self, reading: TextReading, rows: np.ndarray, numerals: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Other numerals [E] written where the numerals `rows` [E] of a text stand: log p of each,
        given that a numeral comes, and of the few tokens that follow it, given it: [E] each.
        """
        places = rows + reading.first
        log_p, after = self.backbone.following(reading.within, self.head, places, numerals)
        return log_p + self.numeral_charges(NumeralTable(numerals)), after

    def context_after(self, texts: Sequence[str], columns: SightColumns | None = None) -> Context:
        """After exactly each text, white space at its end included, with what it has in view: [N].

        Without `columns`, no tables.
        """
        if columns is None:
            columns = self.columns([()] * len(texts))
        return self.backbone.after(Texts(texts, [self.tokens(text) for text in texts], columns))

    @property
    def sees_tables(self) -> bool:
        """Whether a table in view changes what it expects."""
        blind = self.backbone.title is None and not self.head.uses_sight
        return not blind and sees_tables(self.config.sight)

    def check_tables(self, tables: Sequence[Table]) -> None:
        """Refuse what is no list of tables, and any table where the model would not see it."""
        alone = isinstance(tables, Table | str | Path)
        wrong = [tables] if alone else [one for one in tables if not isinstance(one, Table)]
        if wrong:
            expected = "a list of tables, as numerate.read_tables gives"
            raise NumerateError(f"tables: got {type(wrong[0]).__name__}, expected {expected}")
        if tables and not self.sees_tables:
            raise NumerateError(
                f"tables: {self.name} sees none; expected a model with tables in sight, such as "
                "one trained with --model grounded"
            )

    def columns(self, tables: Sequence[Sequence[Table]]) -> SightColumns | None:
        """The tables in view of each text, as far as the model sees any numbers."""
        if self.config.sight == "none":
            return None
        if self.config.sight == "paragraph":
            return SightColumns.nothing(len(tables))
        return columns_of_texts(tables, self.reference.reading)

    def log_prob_table(self, context: Context, numerals: NumeralTable) -> np.ndarray:
        """log p(numeral | a numeral comes next), adjusted: float64 [N, C]."""
        parts = [table.cpu().numpy() for _, table in self.tables(context, numerals)]
        empty = np.empty((0, len(numerals)))
        table: np.ndarray = np.concatenate([empty, *parts]) + self.numeral_charges(numerals)
        return table

    def numeral_charges(self, numerals: NumeralTable) -> np.ndarray:
        """What numerals outside a closed vocabulary pay for being one of many: [C]."""
        known = self.head.knows(numerals)
        oov = self.reference.oov_numerals
        return numeral_shares(known, oov, open_vocabulary=self.open_vocabulary)

    def next_numeral(self, context: Context) -> NextNumeral:
        """The whole distribution in one place."""
        with exactly():
            return self.head.next_numeral(context)

    def mixture_weights(self, context: Context) -> np.ndarray:
        """Of the members of a combination in each place: [N, M]; M is 0 without members."""
        parts = [np.empty((0, len(self.members)))]
        with exactly():
            for begin in range(0, len(context), NUMERALS):
                some = self.head.mixture_weights(context[begin : begin + NUMERALS])
                parts.append(some.double().cpu().numpy())
        return np.concatenate(parts)

    # What people ask

    def predict(
        self,
        text: str,
        tables: Sequence[Table] = (),
        *,
        longest: int = LONGEST,
        report: Reached | None = None,
    ) -> NumeralDistribution:
        """The distribution over the numeral that comes next, or stands in the gap `___`.

        `tables` are in view, of a model that sees any (see `numerate.read_tables`). `longest` is
        how many tokens may stand around a gap with text after it, where every candidate is read
        with it: `report` is told how far that is.
        """
        self.check_tables(tables)
        before, after = split_at_gap(text)
        if not text.strip() or not (before + after).strip():
            raise NumerateError("text: got none, expected some before or after the numeral")
        if after.strip():
            gap = Gap(self, before, after, tables, longest, report)
            return self._distribution(
                gap.context, gap.numerals, gap.score, gap.sources, lambda: None
            )
        before = before_numeral(before)
        context = self.context_after([before], self.columns([tables]))
        return self.distribution(context, lambda: self.sources(context, self.tokens(before)))

    def sources(self, context: Context, tokens: Sequence[Token]) -> list[Source]:
        """Where probability in one place comes from, the most probable first; `tokens` are those
        of the text before it, by whose offsets its numbers are found."""
        with exactly():
            found = merged(self.head.sources(context))
        return [located(source, tokens) for source in found]

    def distribution(
        self, context: Context, sources: Callable[[], list[Source]]
    ) -> NumeralDistribution:
        """What it expects in one place; `sources` are asked for when they are needed."""

        def score(numerals: NumeralTable) -> np.ndarray:
            row: np.ndarray = self.log_prob_table(context, numerals)[0]
            return row

        numerals = self.next_numeral(context)
        return self._distribution(context, numerals, score, sources, self.find_intervals)

    def _distribution(
        self,
        context: Context,
        numerals: NextNumeral,
        score: Callable[[NumeralTable], np.ndarray],
        sources: Callable[[], list[Source]],
        intervals: Callable[[], ConformalIntervals | None],
    ) -> NumeralDistribution:
        weights = dict(zip(self.members, map(float, self.mixture_weights(context)[0]), strict=True))
        return NumeralDistribution(numerals, score, self.candidates, weights, sources, intervals)

    def rank(
        self, claims: Sequence[str], by: str = "numerals", *, tables: Sequence[Table] = ()
    ) -> Ranking:
        """Claims, the most probable first, and what drives the order; all see the `tables`."""
        return rank(self, claims, by, tables)

    @property
    def checker(self) -> Any:
        """What else can be asked about the numerals of a text; `lm/model/checker.py`."""
        if self._checker is None:
            raise NumerateError("the model was not opened by numerate.load: it cannot check")
        return self._checker

    def check(
        self,
        text: str,
        alarms: float = ALARMS,
        *,
        tables: Sequence[Table] = (),
    ) -> Any:
        """The numerals that are implausible where they stand, as `Assessments`.

        `tables` are in view of every paragraph, beside those of the document itself.

        `alarms` is the share of numerals that may be flagged on text like the training data. A
        text that is unlike it is told by the `domain` of the result, and the first time by a
        warning.
        """
        return self.checker.check(text, alarms, tables=tables)

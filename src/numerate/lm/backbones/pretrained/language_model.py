"""A pretrained language model as something that scores words and numerals of paragraphs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache, partial

import numpy as np
import torch
from torch import Tensor

from numerate.errors import BackboneError
from numerate.lm.backbones.pretrained.backbone import Backbone, open_backbone
from numerate.lm.backbones.pretrained.branches import Branches, Following
from numerate.lm.backbones.pretrained.layout import Paragraph, Plan, Planner
from numerate.lm.backbones.pretrained.memory_room import PADDING, PREFIX_TOKENS, in_batches, room
from numerate.lm.backbones.pretrained.prefix import Prefix
from numerate.lm.backbones.pretrained.ranking import Ranking
from numerate.lm.backbones.pretrained.scorer import ReadPrefixes, Scorer, Scores
from numerate.lm.backbones.pretrained.written_tables import Prefixes, Source, TableWriter
from numerate.lm.backbones.spelling.best_first import Beside
from numerate.lm.backbones.spelling.numeral_tokens import (
    DIGIT,
    POINT_DIGIT,
    REACH,
    NumeralTokens,
    SpellingTree,
)
from numerate.lm.backbones.spelling.sums import log_stop
from numerate.lm.backbones.spelling.symbol_by_symbol import NumeralPieces, NumeralWriter
from numerate.lm.data.dataset import Split
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.digit_adapter import DigitAdapter
from numerate.reports.notices import say
from numerate.text.reading_rules import ReadingRules

WINDOW = 1024  # tokens of a window, where the model can take more
TABLES = 2048  # and of the tables before it
LEAST_WINDOW = 2 * REACH
NODES = {"cpu": 2048, "cuda": 32768}  # nodes of a batch
SEEN = {"cpu": 8192, "cuda": 65536}  # nodes of a batch and of what stands before it
TRIAL = 8  # paragraphs on which starts are compared
RANKINGS = 4  # of different candidates, whose trees are cached
WRITTEN = ("tables", "document")  # levels of sight at which something stands before a paragraph
CACHED_NODES = 2**20  # of the paragraphs of a split that stay laid out: some 160 bytes each


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A paragraph as the model reads it: all that is asked of it is asked of its windows."""

    paragraph: Paragraph
    windows: list[Plan]

    @property
    def places(self) -> list[tuple[Plan, int]]:
        """Of each numeral: its window, and which of the window's numerals it is."""
        return [(plan, index) for plan in self.windows for index in range(len(plan.numerals))]

    @property
    def trees(self) -> list[SpellingTree | None]:
        """Of each numeral: its spellings; none where they are not those of the numeral alone."""
        return [pair and pair[0] for plan in self.windows for pair in plan.trees]


@dataclass(frozen=True, slots=True)
class ParagraphScores:
    """What the model says of one paragraph; see `Scores`."""

    targets: np.ndarray
    gates: np.ndarray
    numerals: np.ndarray
    states: np.ndarray
    # Of the numbers of its tables, then of its own: what is kept of the states after each, and
    # which were read; see `Scorer.number_size`.
    number_states: np.ndarray
    seen: np.ndarray
    # At the nodes of the numerals' trees, if asked for; see `NodeDetails`.
    node_states: np.ndarray
    node_masses: np.ndarray
    node_costs: np.ndarray
    node_closings: np.ndarray


class PretrainedLM:
    """A backbone with a start symbol, asked for targets of our tokenisation."""

    def __init__(self, backbone: Backbone, start: int | None = None) -> None:
        self.backbone = backbone
        self.digest = backbone.digest  # of all weights: another one once they are trained on
        self.tokens = NumeralTokens(backbone.tokenizer, backbone.end_ids)
        missing = [mark for mark in "0123456789.," if mark not in self.tokens.pieces]
        if missing:
            raise BackboneError(f"{backbone.path}: its tokenizer has no token for {missing[0]!r}")
        # Within the reach of sliding attention, all layers see the whole window.
        reach = getattr(backbone.model.config.get_text_config(), "sliding_window", None)
        self._limit = min(backbone.window, reach or backbone.window)
        self.window = min(self._limit, WINDOW)
        if self.window < LEAST_WINDOW:
            raise BackboneError(
                f"{backbone.path}: its window is {self.window} tokens, "
                f"expected {LEAST_WINDOW} or more"
            )
        self.scorer = Scorer(backbone.model, self.tokens)
        self.start = backbone.adds_start if start is None else start
        self.ranking = lru_cache(RANKINGS)(partial(Ranking, self.scorer, self.tokens))
        # How other processes open it, from what is on disk; whoever tunes it says how otherwise.
        self.open_again: Callable[[torch.device], PretrainedLM] = partial(
            _open_again, backbone.place, backbone.trusted
        )

    def choose_start(self, paragraphs: Sequence[Paragraph]) -> int:
        """The symbol before a text: the tokenizer's own, else the one that predicts best.

        Models differ in what they were trained to see first, and their files do not say; a wrong
        choice can double the perplexity.
        """
        if self.start is not None:
            return self.start
        tokenizer = self.backbone.tokenizer
        line_breaks = [token for token, text in self.tokens.texts.items() if text == "\n"]
        starts = {*tokenizer.all_special_ids, *self.backbone.end_ids, *line_breaks}
        known = self.backbone.model.get_input_embeddings().weight.shape[0]
        found = {}
        for start in sorted(start for start in starts if start < known):
            self.start = start
            scores = self.score(self.lay_out(paragraphs[:TRIAL]))
            found[start] = float(np.mean(np.concatenate([score.targets for score in scores])))
        self.start = max(found, key=lambda start: found[start])
        return self.start

    @property
    def window_beside_tables(self) -> int:
        """Tokens of a window where tables stand before it: at most half of what the model takes."""
        window = min(WINDOW, self._limit // 2)
        if window < LEAST_WINDOW:
            raise BackboneError(
                f"{self.backbone.path}: its window is {self._limit} tokens, expected "
                f"{2 * LEAST_WINDOW} or more for tables in sight"
            )
        return window

    def table_writer(self, rules: ReadingRules) -> TableWriter:
        """Tables have what the window leaves, up to a limit."""
        assert self.start is not None, "choose a start first"
        room = min(TABLES, self._limit - self.window_beside_tables)
        return TableWriter(self.backbone.tokenizer, self.start, room, rules)

    def planner(self, *, beside_tables: bool) -> Planner:
        assert self.start is not None, "choose a start first"
        window = self.window_beside_tables if beside_tables else self.window
        return Planner(self.backbone.tokenizer, self.tokens, self.start, window)

    def lay_out(
        self, paragraphs: Sequence[Paragraph], prefixes: Sequence[Prefix | None] | None = None
    ) -> list[LaidOut]:
        """With `prefixes`, each after its own, if it has one."""
        planner = self.planner(beside_tables=prefixes is not None)
        plans = planner.plans(paragraphs, prefixes)
        return [LaidOut(*pair) for pair in zip(paragraphs, plans, strict=True)]

    def lay_out_before(
        self, paragraph: Paragraph, target: int, prefix: Prefix | None = None
    ) -> Plan:
        """One window with only one of a paragraph's tokens to predict, and what leads to it."""
        return self.planner(beside_tables=prefix is not None).before(paragraph, target, prefix)

    def score(
        self, paragraphs: Sequence[LaidOut], *, detailed: bool = False
    ) -> list[ParagraphScores]:
        """Without gradients, in batches of similar length, in the order given."""
        plans = [plan for paragraph in paragraphs for plan in paragraph.windows]
        found: dict[int, ParagraphScores] = {}
        with torch.inference_mode():
            for together in self._sharing_prefixes(plans):
                prefixes = self.scorer.read_prefixes(plans[index].prefix for index in together)
                done = []  # looked at last of all, so that the device is not waited for
                for batch in self.batches([plans[index] for index in together]):
                    which = [together[index] for index in batch]
                    some = [plans[index] for index in which]
                    done.append((which, some, self.scorer.score(some, prefixes, detailed=detailed)))
                for which, some, scores in done:
                    found.update(zip(which, _split(scores, some, prefixes), strict=True))
        parts = iter(found[index] for index in range(len(plans)))
        return [join_scores([next(parts) for _ in paragraph.windows]) for paragraph in paragraphs]

    def batches(self, plans: Sequence[Plan]) -> list[list[int]]:
        """Which windows are read together: those of similar size."""
        sizes = [len(plan.tokens) for plan in plans]
        longest = max((len(plan.before) for plan in plans), default=0)
        nodes, seen = (room(most, self.scorer.device) for most in (NODES, SEEN))
        waste = PADDING.get(self.scorer.device.type, PADDING["cpu"])
        return [
            batch[begin : begin + count]
            for batch in in_batches(sizes, nodes, waste)
            for count in [max(1, seen // (longest + max(sizes[index] for index in batch)))]
            for begin in range(0, len(batch), count)
        ]

    def _sharing_prefixes(self, plans: Sequence[Plan]) -> list[list[int]]:
        """Which windows' prefixes are held at a time: those that are the same side by side."""
        places: dict[Prefix | None, list[int]] = {}
        for index, plan in enumerate(plans):
            places.setdefault(plan.prefix, []).append(index)
        most = room(PREFIX_TOKENS, self.scorer.device)
        groups: list[list[int]] = []
        left = 0
        for prefix, some in places.items():
            size = 0 if prefix is None else len(prefix)
            if not groups or size > left:
                groups.append([])
                left = most
            groups[-1] += some
            left -= size
        return groups

    def table(
        self,
        plan: Plan,
        candidates: NumeralTable,
        which: Sequence[int] | None = None,
        adapter: DigitAdapter | None = None,
    ) -> np.ndarray:
        """log p(candidate | a numeral comes) before each numeral of a plan, or some: [N, C]."""
        return self.ranking(tuple(candidates.texts)).table(plan.with_roots(which), adapter)

    def best(
        self,
        plan: Plan,
        candidates: NumeralTable,
        beside: Beside | None = None,
        adapter: DigitAdapter | None = None,
    ) -> np.ndarray:
        """The likeliest candidate before each numeral of a plan: int64 [N]."""
        return self.ranking(tuple(candidates.texts)).best(plan, beside, adapter)

    def writer(self, plan: Plan, index: int, adapter: DigitAdapter | None = None) -> NumeralWriter:
        """What the model would write before a numeral of a plan, symbol by symbol."""
        root, space = plan.roots[index]
        branches = Branches(self.scorer, plan, root + 1)
        reader = Following(branches, self._pieces.ids, adapter)
        return NumeralWriter(reader, self._pieces, root, space)

    @cached_property
    def _pieces(self) -> NumeralPieces:
        return NumeralPieces(self.tokens)

    def follows(self, plan: Plan, index: int, numerals: Sequence[str], text: str) -> np.ndarray:
        """log p(a text | what stands before a plan's numeral, another numeral there, ended): [C].

        Numerals and text are spelled as the tokenizer does it, each by itself.
        """
        root, space = plan.roots[index]
        branches = Branches(self.scorer, plan, root + 1)
        following = self.tokens.spell(text)
        parents: list[int] = []
        tokens: list[int] = []
        last: list[int] = []  # the node where each numeral ends
        for numeral in numerals:
            path = self.tokens.spell(space + numeral)
            first = len(tokens)
            parents += [-1, *range(first, first + len(path) + len(following) - 2)]
            tokens += [*path, *following[:-1]]
            last.append(first + len(path) - 1)
        ends = np.array(last)
        nodes = (ends[:, None] + np.arange(len(following))).ravel()
        edges = np.stack([nodes, np.tile(following, len(numerals))])
        states = branches.read(parents, tokens)
        with torch.no_grad():
            kinds = [(DIGIT, ends), (POINT_DIGIT, ends)]
            found, goes_on = self.scorer.log_probs(states, edges, kinds)
            ended = log_stop(torch.stack(goes_on).exp().sum(0))
            total = found.view(len(numerals), -1).sum(1) - ended
        return total.cpu().numpy()


def _open_again(path: str, trusted: bool, device: torch.device) -> PretrainedLM:
    return PretrainedLM(open_backbone(path, device=device, trust_remote_code=trusted))


class Layouts:
    """The paragraphs of a split, each laid out when it is first asked for.

    They stay so as far as there is room; of the others, those that were asked for last. What comes
    again later is laid out again.
    """

    def __init__(
        self, lm: PretrainedLM, paragraphs: Sequence[Paragraph], prefixes: Prefixes | None = None
    ) -> None:
        self._lm = lm
        self._paragraphs = paragraphs
        self._prefixes = prefixes
        self._cached: dict[int, LaidOut] = {}
        self._last: dict[int, LaidOut] = {}
        self._room = CACHED_NODES

    def texts(self, which: Sequence[int]) -> tuple[list[Paragraph], list[Prefix | None] | None]:
        """What is laid out: some paragraphs, and what stands before each where anything does."""
        before = None
        if self._prefixes is not None:
            before = [self._prefixes[index] for index in which]
        return [self._paragraphs[index] for index in which], before

    def of(self, which: Sequence[int]) -> list[LaidOut]:
        missing = [i for i in which if i not in self._cached and i not in self._last]
        if missing:
            new = self._lm.lay_out(*self.texts(missing))
            self._last = {i: self._last[i] for i in which if i in self._last}
            for index, laid_out in zip(missing, new, strict=True):
                size = sum(len(plan.tokens) for plan in laid_out.windows)
                place = self._cached if size <= self._room else self._last
                place[index] = laid_out
                self._room -= size if place is self._cached else 0
        return [self._cached.get(index) or self._last[index] for index in which]


def _split(scores: Scores, plans: Sequence[Plan], prefixes: ReadPrefixes) -> list[ParagraphScores]:
    def cut(values: Tensor | None, counts: list[int]) -> list[np.ndarray]:
        if values is None:
            return [np.empty(0)] * len(plans)
        return np.split(values.cpu().numpy(), np.cumsum(counts)[:-1])

    numerals = [len(plan.numerals) for plan in plans]
    trees = [[pair[0] for pair in plan.trees if pair is not None] for plan in plans]
    nodes = [sum(len(tree.parents) for tree in some) for some in trees]
    closings = [sum(len(tree.closings) for tree in some) for some in trees]
    details = scores.details
    numbers = [
        _numbers(plan, own, prefixes)
        for plan, own in zip(plans, torch.split(scores.after, numerals), strict=True)
    ]
    parts = zip(
        cut(scores.targets, [len(plan.targets) for plan in plans]),
        cut(scores.gates, numerals),
        cut(scores.numerals, numerals),
        cut(scores.states.float(), numerals),
        (states for states, _ in numbers),
        (seen for _, seen in numbers),
        cut(details.states.float() if details else None, nodes),
        cut(details.masses if details else None, nodes),
        cut(details.costs if details else None, nodes),
        cut(details.closings if details else None, closings),
        strict=True,
    )
    return [ParagraphScores(*part) for part in parts]


def _numbers(plan: Plan, own: Tensor, read: ReadPrefixes) -> tuple[np.ndarray, np.ndarray]:
    """States after the numbers of a window, and which were read; the first has the tables'."""
    parts, seen = [own], [np.ones(len(own), dtype=np.bool_)]
    if plan.prefix is not None and plan.targets[0] == 0:
        parts.insert(0, read.numbers_of(plan.prefix))
        seen.insert(0, plan.prefix.seen)
    return torch.cat(parts).float().cpu().numpy(), np.concatenate(seen)


def join_scores(windows: Sequence[ParagraphScores]) -> ParagraphScores:
    names = [field.name for field in fields(ParagraphScores)]
    return ParagraphScores(*(np.concatenate([getattr(w, n) for w in windows]) for n in names))


def prefixes_of(
    lm: PretrainedLM, split: Split, level: str, paragraphs: Sequence[Paragraph], rules: ReadingRules
) -> Prefixes | None:
    """What stands before the paragraphs of a split, for who sees so far; nothing: None."""
    if level not in WRITTEN:
        return None
    texts = (paragraph.text for paragraph in paragraphs)
    found = Prefixes(lm.table_writer(rules), *sources_in_view(split, level, paragraphs), texts)
    rows, numbers = found.left_out
    if rows or numbers:
        say(
            f"{split.folder}, {split.name}: of the tables in sight, {rows:,} rows with "
            f"{numbers:,} numbers do not fit the window of {lm.backbone.name}; those nearest to "
            "each paragraph's words, later ones too, are read"
        )
    return found


def sources_in_view(
    split: Split, level: str, paragraphs: Sequence[Paragraph]
) -> tuple[list[Source], list[list[int]]]:
    """Tables and paragraphs that those of a split have in view, and which of them each has."""
    sight, tables = split.sight(level), split.tables()
    assert sight.sources is not None, "a split says what its tables are"
    used, views = np.unique(sight.views, return_inverse=True)
    sources: list[Source] = [
        tables[source] if source >= 0 else paragraphs[-1 - source]
        for source in sight.sources[used].tolist()
    ]
    return sources, _of_each(views, sight.view_offsets)


def prefixes_in_view(
    lm: PretrainedLM,
    sources: Sequence[Source],
    views: np.ndarray,
    view_offsets: np.ndarray,
    paragraphs: Sequence[Paragraph],
    rules: ReadingRules,
) -> Prefixes:
    """What stands before paragraphs, of which each has some sources in view."""
    texts = (paragraph.text for paragraph in paragraphs)
    return Prefixes(lm.table_writer(rules), sources, _of_each(views, view_offsets), texts)


def _of_each(views: np.ndarray, view_offsets: np.ndarray) -> list[list[int]]:
    return [view.tolist() for view in np.split(views, view_offsets[1:-1])]


def read_paragraphs(split: Split) -> list[Paragraph]:
    columns = split.read(["text", "starts", "ends", "numerals", "tokens"])
    rows = zip(*(columns[name].to_pylist() for name in columns.column_names), strict=True)
    return [
        Paragraph(text, starts, ends, frozenset(numerals), tokens)
        for text, starts, ends, numerals, tokens in rows
    ]

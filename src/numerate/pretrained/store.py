"""What a pretrained model says of a dataset, on disk: computed once, in any number of goes.

One folder for a model and a dataset. Arrays are memory-mapped and filled paragraph by paragraph;
a mark says which paragraphs are done, so that an interrupted pass goes on where it stopped.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from numerate.atomic import write_file
from numerate.corpus.dataset import Dataset
from numerate.errors import BackboneError, NumerateError
from numerate.heads.digit_adapter import DigitAdapter, DigitBatch, NodeDetails
from numerate.notices import say
from numerate.numeral_table import NumeralTable
from numerate.packing import move
from numerate.pretrained.language_model import (
    TABLES,
    WRITTEN,
    Layouts,
    ParagraphScores,
    PretrainedLM,
    prefixes_of,
    read_paragraphs,
)
from numerate.pretrained.layout import NOTHING, Paragraph, Plan
from numerate.pretrained.mapped import open_mapped, put
from numerate.pretrained.written_tables import WRITING
from numerate.ragged import ranges
from numerate.runs.folder import digest_of_tables, read_json
from numerate.spelling.forest import Trees
from numerate.spelling.numeral_tokens import SpellingTree
from numerate.spelling.token_classes import MASSES
from numerate.storage import exists, is_remote
from numerate.storage.shared_cache import SharedFolder, cache_here

FORMAT = "numerate states 3"
PARAGRAPHS = {"cpu": 8, "cuda": 64}  # scored between two looks at the disk
RANKED = {"cpu": 1, "cuda": 64}  # the same where candidates are ranked, which takes longer
ABOUT = "about.json"
LAID_OUT = 256  # the same where only trees are asked for

Progress = Callable[[str, int, int], None]  # what, done, of how many
OfPlan = Callable[[Plan, np.ndarray], np.ndarray]  # of its numerals, which have these places


def remembered_cache(told: str | None) -> Path | None:
    """Where a run's training was told to keep states, if whoever uses the run may do so too."""
    if told is not None and is_remote(told):
        return cache_here(told) if _answers(told) else None
    if told is None or not os.path.isdir(told):  # unlike Path's, never raises
        return None
    return Path(told) if os.access(told, os.W_OK | os.X_OK) else None


def _answers(place: str) -> bool:
    try:
        return exists(place)
    except NumerateError as error:
        say(f"{error}; what the model says is kept on this machine")
        return False


class Store:
    """The scores and states of one model on one dataset."""

    def __init__(
        self, cache: Path, model: PretrainedLM, dataset: Dataset, sight: str = "none"
    ) -> None:
        """`sight` is how far the model sees."""
        self.model = model
        self.dataset = dataset
        self.sight = sight
        digest, content = model.digest, dataset.manifest["content_hash"]
        # The same texts cut by other rules have other targets.
        pair = cache / f"{digest[:16]}-{content[:16]}{dataset.reading.tag}"
        if model.start is None:
            model.start = self._chosen_start(pair)
        # A head goes on with the start it was trained with, whatever another dataset would choose.
        seeing = "" if sight == "none" else f"-{sight}"
        tables = digest_of_tables(dataset) if sight in WRITTEN else ""
        seeing += f"-{tables[:16]}" if tables else ""
        self.folder = pair / f"start-{model.start}{seeing}"
        self.shared = SharedFolder(self.folder, ABOUT)
        self.shared.fetch()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._splits: dict[str, SplitStore] = {}
        about = self.folder / ABOUT
        identity = {
            "format": FORMAT,
            "model": digest,
            "dataset": content,
            "window": model.window,
            "start": model.start,
            "layers": model.scorer.layers,
        }
        if sight != "none":
            identity |= {"sight": sight, "tables": TABLES if sight in WRITTEN else 0}
        if tables:
            identity |= {"digest_of_tables": tables, "writing": WRITING}
        if not about.exists():
            write_file(about, (json.dumps(identity, indent=2) + "\n").encode())
        elif read_json(about) != identity:
            raise BackboneError(f"{about}: of another model or version; remove the folder")

    def _chosen_start(self, pair: Path) -> int:
        """What suits the training paragraphs best, found out once for a model and a dataset."""
        path = pair / "start.json"
        if not path.exists():
            self.model.choose_start(read_paragraphs(self.dataset.split("train")))
            pair.mkdir(parents=True, exist_ok=True)
            write_file(path, (json.dumps({"start": self.model.start}) + "\n").encode())
        start = read_json(path).get("start")
        if not isinstance(start, int):
            raise BackboneError(f"{path}: got {start!r}, expected a token's number; remove it")
        return start

    def split(self, name: str) -> "SplitStore":
        if name not in self._splits:
            self._splits[name] = SplitStore(self, name)
        return self._splits[name]


class SplitStore:
    """One split: arrays over its targets and numerals."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = name
        split = store.dataset.split(name)
        self.paragraphs: list[Paragraph] = read_paragraphs(split)
        self.prefixes = prefixes_of(
            store.model, split, store.sight, self.paragraphs, store.dataset.reading
        )
        self.layouts = Layouts(store.model, self.paragraphs, self.prefixes)
        lengths = [len(paragraph.starts) + 1 for paragraph in self.paragraphs]
        numerals = [len(paragraph.numerals) for paragraph in self.paragraphs]
        self.target_starts = np.cumsum([0, *lengths])
        self.numeral_starts = np.cumsum([0, *numerals])
        count, size = int(self.numeral_starts[-1]), store.model.scorer.state_size
        self.targets = self.array("targets", np.float64, (int(self.target_starts[-1]),))
        self.gates = self.array("gates", np.float64, (count,))
        self.numerals = self.array("numerals", np.float64, (count,))
        self.states = self.array("states", np.float16, (count, size))
        self.done = self.array("done", np.bool_, (len(self.paragraphs),))
        self.numbers = None if store.sight == "none" else NumberStore(self)

    def array(self, name: str, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
        return open_mapped(self.store.folder / f"{self.name}-{name}.npy", dtype, shape)

    @cached_property
    def numeral_texts(self) -> list[str]:
        """All its numerals in their order, normalised."""
        return [text for paragraph in self.paragraphs for text in paragraph.numeral_texts]

    def targets_of(self, paragraphs: np.ndarray) -> np.ndarray:
        """Places of the targets of some paragraphs, in their order."""
        return ranges(self.target_starts[paragraphs], self.target_starts[paragraphs + 1])

    def numerals_of(self, paragraphs: np.ndarray) -> np.ndarray:
        return ranges(self.numeral_starts[paragraphs], self.numeral_starts[paragraphs + 1])

    def fill(
        self,
        paragraphs: np.ndarray | Sequence[int] | None = None,
        progress: Progress | None = None,
        *,
        detailed: bool = False,
    ) -> None:
        """Score the paragraphs that are not done yet; `detailed`, for adapting digits."""
        wanted = np.arange(len(self.paragraphs)) if paragraphs is None else np.asarray(paragraphs)
        done = self.details.done if detailed else self.done
        arrays = [self.targets, self.gates, self.numerals, self.states]
        arrays += self.details.arrays if detailed else []
        arrays += self.numbers.arrays if self.numbers else []
        waiting, what = wanted[~done[wanted]], f"reading {self.name}"
        if self.prefixes is not None:  # paragraphs with the same before them side by side
            waiting = waiting[np.argsort(self.prefixes.which[waiting], kind="stable")]
        for some in self._portions(waiting, what, progress, PARAGRAPHS):
            scores = self.store.model.score(self.layouts.of(some), detailed=detailed)
            for index, score in zip(some, scores, strict=True):
                numerals = slice(*self.numeral_starts[index : index + 2])
                put(self.targets, slice(*self.target_starts[index : index + 2]), score.targets)
                put(self.gates, numerals, score.gates)
                put(self.numerals, numerals, score.numerals)
                put(self.states, numerals, as_half(score.states))
                if detailed:
                    self.details.put(numerals, score)
                if self.numbers:
                    self.numbers.put(index, numerals, score)
            for array in arrays:
                array.flush()  # type: ignore[attr-defined]
            for marks in (self.done, done):
                put(marks, some, True)
                marks.flush()  # type: ignore[attr-defined]

    @cached_property
    def details(self) -> "DetailStore":
        return DetailStore(self)

    def table(
        self,
        candidates: NumeralTable,
        paragraphs: np.ndarray | Sequence[int] | None = None,
        progress: Progress | None = None,
        adapter: DigitAdapter | None = None,
    ) -> np.ndarray:
        """log p(candidate | a numeral comes) before each numeral: float32 [N, C].

        Rows of paragraphs that were not asked for are zero, or what was found before.
        """
        key = _key(candidates, adapter)
        table = self.array(key, np.float32, (len(self.numerals), len(candidates)))
        lm = self.store.model

        def find(plan: Plan, _: np.ndarray) -> np.ndarray:
            return lm.table(plan, candidates, adapter=adapter)

        self._rank(table, key, paragraphs, progress, find)
        return table

    def has_table(
        self,
        candidates: NumeralTable,
        paragraphs: np.ndarray,
        adapter: DigitAdapter | None = None,
    ) -> bool:
        """Whether nothing is left to be read for it."""
        name = f"{_key(candidates, adapter)}-done"
        exists = (self.store.folder / f"{self.name}-{name}.npy").exists()
        return exists and bool(self._marks(name)[paragraphs].all())

    def best(
        self,
        candidates: NumeralTable,
        find: OfPlan,
        paragraphs: np.ndarray | Sequence[int] | None = None,
        progress: Progress | None = None,
        model: nn.Module | None = None,
    ) -> np.ndarray:
        """Which candidate is the likeliest before each numeral: int32 [N].

        `find` says it of a plan, to which `model` gives more than the language model itself.
        """
        key = f"{_key(candidates, model)}-best"
        best = self.array(key, np.int32, (len(self.numerals),))
        self._rank(best, key, paragraphs, progress, find)
        return best

    def _rank(
        self,
        found: np.ndarray,
        key: str,
        paragraphs: np.ndarray | Sequence[int] | None,
        progress: Progress | None,
        of_plan: OfPlan,
    ) -> None:
        """Fill the rows of numerals, plan by plan, in the paragraphs that are not done yet."""
        done = self._marks(f"{key}-done")
        wanted = np.arange(len(self.paragraphs)) if paragraphs is None else np.asarray(paragraphs)
        waiting = wanted[~done[wanted]]
        what = f"ranking candidates in {self.name}"
        for some in self._portions(waiting, what, progress, RANKED):
            for index, laid_out in zip(some, self.layouts.of(some), strict=True):
                begin = int(self.numeral_starts[index])
                for plan in laid_out.windows:
                    rows = np.arange(begin, begin + len(plan.roots))
                    put(found, rows, of_plan(plan, rows))
                    begin += len(rows)
            found.flush()  # type: ignore[attr-defined]
            put(done, some, True)
            done.flush()  # type: ignore[attr-defined]

    def _marks(self, name: str) -> np.ndarray:
        return self.array(name, np.bool_, (len(self.paragraphs),))

    def _portions(
        self,
        waiting: np.ndarray,
        what: str,
        progress: Progress | None,
        at_once: dict[str, int],
    ) -> Iterator[list[int]]:
        count = at_once.get(self.store.model.scorer.device.type, at_once["cpu"])
        for begin in range(0, len(waiting), count):
            if progress:
                progress(what, begin, len(waiting))
            yield waiting[begin : begin + count].tolist()
        if progress and len(waiting):
            progress(what, len(waiting), len(waiting))
        if len(waiting):
            self.store.shared.publish()


class NumberStore:
    """States after the numbers in view of a split's paragraphs: those of tables once a prefix."""

    def __init__(self, split: SplitStore) -> None:
        distinct = [None] if split.prefixes is None else split.prefixes.distinct
        count = len(split.paragraphs)
        self._which = np.zeros(count, np.int64) if split.prefixes is None else split.prefixes.which
        seen = [NOTHING if prefix is None else prefix.seen for prefix in distinct]
        self._starts = np.cumsum([0, *map(len, seen)])
        self._seen = np.concatenate(seen).astype(np.bool_)
        self._numeral_starts = split.numeral_starts
        size = split.store.model.scorer.number_size
        # An empty file cannot be mapped.
        tables, own = max(1, int(self._starts[-1])), max(1, len(split.numerals))
        self.of_tables = split.array("table-states", np.float16, (tables, size))
        self.own = split.array("after-states", np.float16, (own, size))
        self.arrays = [self.of_tables, self.own]

    def put(self, paragraph: int, numerals: slice, score: ParagraphScores) -> None:
        which = self._which[paragraph]
        tables = slice(*self._starts[which : which + 2])
        states = as_half(score.number_states)
        put(self.of_tables, tables, states[: tables.stop - tables.start])
        put(self.own, numerals, states[tables.stop - tables.start :])

    def gather(self, paragraphs: np.ndarray, tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the numbers in view of some paragraphs, the states after each, [E, R], and which were
        read, [E]: of each paragraph so many of its `tables`, then its own."""
        which = self._which[paragraphs]
        own = np.diff(self._numeral_starts)[paragraphs]
        counts = np.stack([tables, own], axis=1).reshape(-1)
        ends = np.cumsum(counts)
        begins = np.stack([self._starts[which], self._numeral_starts[paragraphs]], axis=1)
        in_table = np.repeat(np.tile([True, False], len(paragraphs)), counts)
        rows = np.repeat(begins.reshape(-1) - (ends - counts), counts) + np.arange(len(in_table))
        states = np.empty((len(rows), self.own.shape[1]), dtype=np.float16)
        states[in_table] = self.of_tables[rows[in_table]]
        states[~in_table] = self.own[rows[~in_table]]
        seen = np.ones(len(rows), dtype=np.bool_)
        seen[in_table] = self._seen[rows[in_table]]
        return states, seen


class DetailStore:
    """What adapting digits needs of a split beside its scores: what is said at spelling trees.

    The nodes of every numeral's tree are stored, one tree after another: states, masses, costs.
    The trees themselves are not stored: planning the text gives the same ones again.
    """

    def __init__(self, split: SplitStore) -> None:
        self.trees = Trees.of(self._planned(split))
        self.starts = np.cumsum([0, *self.trees.nodes.counts(self.trees.which)])
        self.closing_starts = np.cumsum([0, *self.trees.closings.counts(self.trees.which)])
        count, size = int(self.starts[-1]), split.states.shape[1]
        self.states = split.array("node-states", np.float16, (count, size))
        self.masses = split.array("node-masses", np.float32, (count, MASSES))
        self.costs = split.array("node-costs", np.float32, (count,))
        closings = max(1, int(self.closing_starts[-1]))  # an empty file cannot be mapped
        self.closings = split.array("node-closings", np.float32, (closings,))
        self.done = split.array("node-done", np.bool_, (len(split.paragraphs),))
        self.arrays = [self.states, self.masses, self.costs, self.closings]

    @staticmethod
    def _planned(split: SplitStore) -> Iterator[SpellingTree | None]:
        count = len(split.paragraphs)
        for begin in range(0, count, LAID_OUT):
            for laid_out in split.layouts.of(range(begin, min(begin + LAID_OUT, count))):
                yield from laid_out.trees

    def put(self, numerals: slice, score: ParagraphScores) -> None:
        nodes = slice(self.starts[numerals.start], self.starts[numerals.stop])
        closings = slice(self.closing_starts[numerals.start], self.closing_starts[numerals.stop])
        if nodes.start < nodes.stop:
            put(self.states, nodes, as_half(score.node_states))
            put(self.masses, nodes, score.node_masses)
            put(self.costs, nodes, score.node_costs)
            put(self.closings, closings, score.node_closings)

    def gather(self, numerals: np.ndarray, device: torch.device) -> DigitBatch | None:
        """The trees of some numerals, and what the model says at their nodes."""
        nodes = ranges(self.starts[numerals], self.starts[numerals + 1])
        closings = ranges(self.closing_starts[numerals], self.closing_starts[numerals + 1])

        def tensor(array: np.ndarray, rows: np.ndarray, dtype: torch.dtype) -> Tensor:
            return move(array[rows], device).to(dtype)

        details = NodeDetails(
            tensor(self.states, nodes, torch.float32),
            tensor(self.masses, nodes, torch.float64),
            tensor(self.costs, nodes, torch.float64),
            tensor(self.closings, closings, torch.float64),
        )
        return DigitBatch.of(self.trees.take(numerals), details)


def as_half(states: np.ndarray) -> np.ndarray:
    """Fit for float16: what is beyond its range is as large as it can be, not infinite."""
    largest = float(np.finfo(np.float16).max)
    return states.clip(-largest, largest)


def _key(candidates: NumeralTable, model: nn.Module | None) -> str:
    """Of what is found out about candidates: who they are, and who is asked beside the backbone."""
    digest = hashlib.sha256("\0".join(candidates.texts).encode())
    if model is not None:
        for name, weight in sorted(model.state_dict().items()):
            digest.update(name.encode() + weight.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]

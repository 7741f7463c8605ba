"""What a pretrained model says of a dataset, on disk: computed once, in any number of goes.

One folder for a model and a dataset. Arrays are memory-mapped and filled paragraph by paragraph;
a mark says which paragraphs are done, so that an interrupted pass goes on where it stopped.
"""

import hashlib
import json
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from torch import nn

from numerate.errors import BackboneError
from numerate.lm.backbones.pretrained.block_reader import (
    Block,
    Readers,
    Scoring,
    Searching,
    Tabling,
    Work,
)
from numerate.lm.backbones.pretrained.language_model import (
    TABLES,
    WRITTEN,
    Layouts,
    ParagraphScores,
    PretrainedLM,
    prefixes_of,
    read_paragraphs,
)
from numerate.lm.backbones.pretrained.layout import Paragraph
from numerate.lm.backbones.pretrained.mapped import open_mapped, put
from numerate.lm.backbones.pretrained.store_parts import DetailStore, NumberStore
from numerate.lm.backbones.pretrained.written_tables import WRITING
from numerate.lm.backbones.spelling.best_first import Beside
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import NumeralHead
from numerate.lm.heads.digit_adapter import DigitAdapter
from numerate.lm.model.run_folder import digest_of_tables, read_json
from numerate.storage import path_here
from numerate.storage.atomic import write_file
from numerate.text.ragged import ranges

FORMAT = "numerate states 3"
PARAGRAPHS = {"cpu": 8, "cuda": 64}  # scored between two looks at the disk
RANKED = {"cpu": 1, "cuda": 64}  # the same where candidates are ranked, which takes longer
ABOUT = "about.json"

R = TypeVar("R")
Progress = Callable[[str, int, int], None]  # what, done, of how many
OfNumerals = Callable[[np.ndarray], Beside]  # that have these places in the split


def remembered_cache(told: str | None) -> Path | None:
    """Return where the training of a run kept states, if you may write there, too."""
    if told is None or not os.path.isdir(told):  # unlike Path's, never raises
        return None
    return Path(told) if os.access(told, os.W_OK | os.X_OK) else None


class Store:
    """The scores and states of one model on one dataset."""

    def __init__(
        self,
        cache: Path,
        model: PretrainedLM,
        dataset: Dataset,
        sight: str = "none",
        readers: Readers | None = None,
    ) -> None:
        """`sight` is how far the model sees; `readers`, by default this process, read with it."""
        self.model = model
        self.readers = readers or Readers()
        self.dataset = dataset
        self.sight = sight
        digest, content = model.digest, dataset.manifest["content_hash"]
        # The same texts cut by other rules have other targets.
        pair = path_here(cache) / f"{digest[:16]}-{content[:16]}{dataset.reading.tag}"
        if model.start is None:
            model.start = self._chosen_start(pair)
        # A head goes on with the start it was trained with, whatever another dataset would choose.
        seeing = "" if sight == "none" else f"-{sight}"
        tables = digest_of_tables(dataset) if sight in WRITTEN else ""
        seeing += f"-{tables[:16]}" if tables else ""
        self.folder = pair / f"start-{model.start}{seeing}"
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
        with self._read(waiting, what, progress, PARAGRAPHS, Scoring(detailed)) as portions:
            for some, scores in portions:
                for index, score in zip(some, scores, strict=True):
                    self._put(index, score, detailed)
                for array in arrays:
                    array.flush()  # type: ignore[attr-defined]
                for marks in (self.done, done):
                    put(marks, some, True)
                    marks.flush()  # type: ignore[attr-defined]

    def _put(self, index: int, score: ParagraphScores, detailed: bool) -> None:
        numerals = slice(*self.numeral_starts[index : index + 2])
        put(self.targets, slice(*self.target_starts[index : index + 2]), score.targets)
        put(self.gates, numerals, score.gates)
        put(self.numerals, numerals, score.numerals)
        put(self.states, numerals, score.states)
        if detailed:
            self.details.put(numerals, score)
        if self.numbers:
            self.numbers.put(index, numerals, score)

    @cached_property
    def details(self) -> DetailStore:
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
        work = Tabling(tuple(candidates.texts), adapter)
        self._rank(table, key, paragraphs, progress, work)
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
        beside: OfNumerals | None = None,
        paragraphs: np.ndarray | Sequence[int] | None = None,
        progress: Progress | None = None,
        head: NumeralHead | None = None,
    ) -> np.ndarray:
        """Which candidate is the likeliest before each numeral: int32 [N].

        A `head` may adapt the language model's digits, and say what stands `beside` them.
        """
        key = f"{_key(candidates, head)}-best"
        best = self.array(key, np.int32, (len(self.numerals),))
        adapter = None if head is None else head.digit_adapter()
        work = Searching(tuple(candidates.texts), adapter)
        self._rank(best, key, paragraphs, progress, work, beside)
        return best

    def _rank(
        self,
        found: np.ndarray,
        key: str,
        paragraphs: np.ndarray | Sequence[int] | None,
        progress: Progress | None,
        work: Work[np.ndarray],
        beside: OfNumerals | None = None,
    ) -> None:
        """Fill the rows of numerals in the paragraphs that are not done yet."""
        done = self._marks(f"{key}-done")
        wanted = np.arange(len(self.paragraphs)) if paragraphs is None else np.asarray(paragraphs)
        waiting = wanted[~done[wanted]]
        what = f"ranking candidates in {self.name}"
        with self._read(waiting, what, progress, RANKED, work, beside) as portions:
            for some, rows in portions:
                begin = 0
                for index in some:
                    numerals = slice(*self.numeral_starts[index : index + 2])
                    end = begin + numerals.stop - numerals.start
                    put(found, numerals, rows[begin:end])
                    begin = end
                found.flush()  # type: ignore[attr-defined]
                put(done, some, True)
                done.flush()  # type: ignore[attr-defined]

    def _marks(self, name: str) -> np.ndarray:
        return self.array(name, np.bool_, (len(self.paragraphs),))

    def _read(
        self,
        waiting: np.ndarray,
        what: str,
        progress: Progress | None,
        at_once: dict[str, int],
        work: Work[R],
        beside: OfNumerals | None = None,
    ) -> AbstractContextManager[Iterator[tuple[list[int], R]]]:
        """Portion by portion, in order: which paragraphs, and what was found out of them.

        Where it is left in the middle, workers end.
        """
        count = at_once.get(self.store.model.scorer.device.type, at_once["cpu"])
        portions = [waiting[i : i + count].tolist() for i in range(0, len(waiting), count)]

        def found() -> Generator[tuple[list[int], R], None, None]:
            blocks = (self._block(some, beside) for some in portions)
            results = self.store.readers.read(self.store.model, work, blocks)
            done = 0
            for some in portions:
                if progress:
                    progress(what, done, len(waiting))
                yield some, next(results)
                done += len(some)
            if progress and portions:
                progress(what, done, done)

        return closing(found())

    def _block(self, which: list[int], beside: OfNumerals | None) -> Block:
        if beside is None:
            return Block(self.layouts, which)
        rows = (np.arange(*self.numeral_starts[index : index + 2]) for index in which)
        return Block(self.layouts, which, [beside(some) for some in rows])


def _key(candidates: NumeralTable, model: nn.Module | None) -> str:
    """Of what is found out about candidates: who they are, and who is asked beside the backbone."""
    digest = hashlib.sha256("\0".join(candidates.texts).encode())
    if model is not None:
        for name, weight in sorted(model.state_dict().items()):
            digest.update(name.encode() + weight.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]

"""From a run, or a pretrained language model, to a model of which one asks about numbers."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from numerate import notices
from numerate.backbones.causal import CausalBackbone
from numerate.backbones.contract import Backbone
from numerate.batching import load_corpora
from numerate.corpus.dataset import SAMPLE_SEED, Dataset, some_paragraphs
from numerate.corpus.tokenizer import tokenize
from numerate.errors import BackboneError, NumerateError, RunError
from numerate.model.conformal import PARAGRAPHS, ConformalIntervals
from numerate.model.numeral_lm import NumeralLM
from numerate.model.opening import Opened, Settings, open_model
from numerate.model.reference import FREQUENT, Reference
from numerate.plausibility.calibration import MOST_PLACES, Calibration, calibrate
from numerate.plausibility.checker import Checker
from numerate.plausibility.passages import read_corpus
from numerate.pretrained.backbone import parse_reference
from numerate.pretrained.language_model import PretrainedLM
from numerate.pretrained.layout import Paragraph
from numerate.pretrained.store import Progress, default_cache
from numerate.pretrained.written_tables import WRITING
from numerate.progress import PassProgress
from numerate.records import Say, cached, misfit
from numerate.runs.folder import (
    REFERENCE,
    VOCABULARY,
    WEIGHTS,
    calibration_file,
    digest_of_tables,
)
from numerate.shipped.installed import is_shipped
from numerate.sight.columns import check_level, sees_tables

START = "start.json"
FEW_FREQUENT = 50  # training numerals in the grid: each costs a pretrained model some tokens
SENTENCES = (
    "The house was built in 1924 and has 12 rooms on 3 floors.",
    "She ran 10 km in 48 minutes, which is 12.5 km an hour.",
    "Of the 250 people who were asked, 64 % said yes and 90 said no.",
    "The temperature fell from 21.5 to 3 degrees within 2 days.",
)
"""Of no particular kind: they tell which symbol a model expects before a text."""
T = TypeVar("T")


def load(
    path: str | Path,
    dataset: str | Path | None = None,
    *,
    device: str | None = None,
    cache: str | Path | None = None,
    trust_remote_code: bool = False,
    sight: str | None = None,
    say: Say = notices.say,
) -> NumeralLM:
    """Open a trained run, a pretrained language model (`hf:PATH`), or an installed model by name.

    What a run must know of its dataset is found out once and kept in it; `dataset` is where the
    dataset is now, if it has moved. A pretrained model has none of its own: without `dataset`
    it predicts and ranks, but cannot check. What a pretrained model says of a dataset is kept in
    `cache`; code that comes with one is run only if it is trusted. `device` is where it computes,
    by default the best there is; `sight` how far a pretrained model as it comes sees, "tables" for
    those that it is given (runs see as they were trained to); `say` is told what takes time.

    Examples:
        >>> import numerate
        >>> lm = numerate.load("demo/runs/combination")
        >>> lm.predict("Left ventricular ejection fraction is")
        NumeralDistribution(median ..., 90 % in ...–...)
    """
    if sight is not None:
        check_level(sight)
        if parse_reference(str(path)) is None:
            raise NumerateError(f"sight: got {sight} for {path}, which sees as it was trained to")
    if dataset is not None and is_shipped(path):
        raise NumerateError(
            f"dataset: got {dataset} for {path}, which comes calibrated; expected none"
        )
    settings = Settings(Path(cache) if cache else None, None, trust_remote_code, sight=sight)
    opened = open_model(path, device=device, settings=settings)
    return _Loading(opened, dataset, say).model()


def calibrate_anew(
    path: str | Path,
    dataset: str | Path | None = None,
    *,
    device: str | None = None,
    cache: str | Path | None = None,
    trust_remote_code: bool = False,
    say: Say = notices.say,
) -> Calibration:
    """Calibrate what `load` opens on its dev split, whether or not it was before."""
    if is_shipped(path):
        raise NumerateError(f"run: got {path}, which comes calibrated; expected one of your own")
    settings = Settings(Path(cache) if cache else None, None, trust_remote_code)
    loading = _Loading(open_model(path, device=device, settings=settings), dataset, say)
    loading.model()
    return loading.calibration(anew=True)


class _Loading:
    def __init__(self, opened: Opened, dataset: str | Path | None, say: Say) -> None:
        self.opened, self.given, self.say = opened, dataset, say
        self.reads_slowly = opened.lm is not None

    def model(self) -> NumeralLM:
        model = self.opened.model
        if self.opened.run is None and self.given is None:
            self._choose_start()
            return model.use(Reference.plain(), Checker(model, self._refuse, self._refuse))
        return model.use(
            self._reference(), Checker(model, self.calibration, self._calibrated_intervals)
        )

    def _reference(self) -> Reference:
        def find_out() -> dict[str, Any]:
            dataset = self.opened.on(self.given)
            self._refuse_another(dataset)
            frequent = FEW_FREQUENT if self.reads_slowly else FREQUENT
            return Reference.of(dataset, self.opened.vocabulary(dataset), frequent).record()

        return self._cached(REFERENCE, VOCABULARY, {"version": 2}, find_out, Reference.read)

    def _calibrated_intervals(self) -> ConformalIntervals:
        """Who asks for an interval does not wait until a slow model has read the dev split."""
        model, reference = self.opened.model, self.opened.reference
        if self.reads_slowly and not self._place(calibration_file(model.member)).exists():
            raise NumerateError(f"{reference}: calibrate it once: numerate calibrate {reference}")
        found: ConformalIntervals | None = model.checker.calibration.intervals
        if found is None:
            raise NumerateError(
                f"{reference}: calibrated by an earlier version: numerate calibrate {reference}"
            )
        return found

    def calibration(self, *, anew: bool = False) -> Calibration:
        def find_out() -> dict[str, Any]:
            dataset = self.opened.on(self.given, "dev")
            self._refuse_another(dataset)
            return self._calibrate(dataset).record()

        member = self.opened.model.member
        identity: dict[str, Any] = {"version": 4}
        if member is not None:
            identity |= {"member": member}
        if self.reads_slowly:
            identity |= {"paragraphs": PARAGRAPHS, "seed": SAMPLE_SEED}
        if tables := self._tables():
            identity |= {"tables": tables}
            identity |= {"writing": WRITING} if self.opened.lm else {}
        name = calibration_file(member)
        return self._cached(name, WEIGHTS, identity, find_out, Calibration.of, anew=anew)

    def _tables(self) -> str | None:
        """The hash of those that a run sees; for models as they come, the cache knows it."""
        record = self.opened.record
        if record is None or not sees_tables(self.opened.model.config.sight):
            return None
        given = self.given
        return record.dataset.tables if given is None else digest_of_tables(Dataset.open(given))

    def _refuse_another(self, dataset: Dataset) -> None:
        """What is found out of it is remembered as of the run's own dataset."""
        run = self.opened.run
        if run is None or self.given is not None:
            return
        if not run.is_its_own(dataset):
            raise RunError(f"{run.not_its_own(dataset)}; if it is meant, give --dataset")

    def _calibrate(self, dataset: Dataset) -> Calibration:
        """On the dev split, or on some of it where the model reads slowly. What has been read
        before is cached: not after an interruption, nor after training is it read again."""
        model = self.opened.model
        dev = load_corpora(dataset, model.vocabulary, model.config.sight)["dev"]
        documents = dataset.split("dev").read(["document"])["document"].to_pylist()
        limit = PARAGRAPHS if self.reads_slowly else None
        chosen = some_paragraphs(len(dev), limit)
        some = f"{len(chosen)} paragraphs of " if limit else ""
        what = f"{some}the dev split of {dataset.folder}"
        self.say(f"calibrating {self.opened.reference} on {what}, once")
        with PassProgress() as progress, _telling(model.backbone, progress):
            read = dev.take(chosen)
            if isinstance(model.backbone, CausalBackbone):
                model.read(read)
            return calibrate(
                model,
                read_corpus(model, read),
                [documents[index] for index in chosen],
                whole=limit is None,
                every=max(1, -(-len(read.rows) // MOST_PLACES)),
            )

    def _cached(
        self,
        name: str,
        rests_on: str,
        identity: dict[str, Any],
        find_out: Callable[[], dict[str, Any]],
        read: Callable[[dict[str, Any]], T],
        *,
        anew: bool = False,
    ) -> T:
        run, record, place = self.opened.run, self.opened.record, self._place(name)
        if run is None or record is None:
            return cached(place, identity, find_out, read, self.say, anew=anew)
        content = record.dataset.content_hash
        if self.given is not None:
            content = Dataset.open(self.given).manifest["content_hash"]
        digest = hashlib.sha256((run.path / rests_on).read_bytes()).hexdigest()
        of = {"dataset": content, "weights" if rests_on == WEIGHTS else "vocabulary": digest}
        return cached(place, {**identity, **of}, find_out, read, self.say, anew=anew)

    def _place(self, name: str) -> Path:
        """In the folder of the run; of a pretrained model, with what it said of the dataset."""
        if self.opened.run is not None:
            return self.opened.run.path / name
        self.opened.on(self.given)
        backbone = self.opened.model.backbone
        assert isinstance(backbone, CausalBackbone)
        assert backbone.store is not None
        return backbone.store.folder / name

    def _choose_start(self) -> None:
        """The symbol before a text, found out once for a pretrained model."""
        lm = self.opened.lm
        assert lm is not None
        if lm.start is not None:
            return
        folder = (self.opened.settings.cache or default_cache()) / lm.digest[:16]
        folder.mkdir(parents=True, exist_ok=True)
        identity = {"version": 1, "model": lm.digest}
        lm.start = cached(folder / START, identity, lambda: _find_start(lm), _read_start, self.say)

    def _refuse(self) -> NoReturn:
        raise NumerateError(
            f"{self.opened.reference}: what is odd is told by a dataset's dev split, and a "
            "pretrained model has no dataset of its own: --dataset"
        )


@contextmanager
def _telling(backbone: Backbone, progress: Progress) -> Iterator[None]:
    """Within it, a pretrained model tells how far it has read."""
    if not isinstance(backbone, CausalBackbone):
        yield
        return
    before, backbone.progress = backbone.progress, progress
    try:
        yield
    finally:
        backbone.progress = before


def _find_start(lm: PretrainedLM) -> dict[str, Any]:
    return {"start": lm.choose_start([Paragraph.of(text, tokenize(text)) for text in SENTENCES])}


def _read_start(record: dict[str, Any]) -> int:
    if wrong := misfit(record, {"start": int}):
        raise BackboneError(wrong)
    start: int = record["start"]
    return start

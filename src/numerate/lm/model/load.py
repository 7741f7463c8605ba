"""From a run, or a pretrained language model, to a model of which one asks about numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NoReturn

from numerate.errors import BackboneError, CalibrationError, NumerateError, RunError
from numerate.lm.backbones.causal import CausalBackbone
from numerate.lm.backbones.contract import Backbone
from numerate.lm.backbones.pretrained.backbone import parse_reference
from numerate.lm.backbones.pretrained.block_reader import Readers
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.layout import Paragraph
from numerate.lm.backbones.pretrained.store import Progress
from numerate.lm.data.batching import load_corpora
from numerate.lm.data.dataset import Dataset, some_paragraphs
from numerate.lm.model.calibration import Calibration, calibrate
from numerate.lm.model.checker import Checker
from numerate.lm.model.conformal import PARAGRAPHS, ConformalIntervals
from numerate.lm.model.found_out import (
    calibration_identity,
    find_reference,
    reference_identity,
)
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import Opened, Settings, open_model
from numerate.lm.model.passages import read_corpus
from numerate.lm.model.reference import Reference
from numerate.lm.model.run_folder import REFERENCE, calibration_file
from numerate.lm.model.shipped.installed import is_shipped
from numerate.places import default_cache
from numerate.reports import notices
from numerate.reports.progress import PassProgress
from numerate.storage import path_here
from numerate.storage.records import Say, cached, kept, misfit
from numerate.text.columns import check_level
from numerate.text.tokenizer import tokenize

START = "start.json"
SENTENCES = (
    "The house was built in 1924 and has 12 rooms on 3 floors.",
    "She ran 10 km in 48 minutes, which is 12.5 km an hour.",
    "Of the 250 people who were asked, 64 % said yes and 90 said no.",
    "The temperature fell from 21.5 to 3 degrees within 2 days.",
)
"""Of no particular kind: they tell which symbol a model expects before a text."""


def load(
    path: str | Path,
    dataset: str | Path | None = None,
    *,
    device: str | None = None,
    cache: str | Path | None = None,
    trust_remote_code: bool = False,
    backbone: str | None = None,
    sight: str | None = None,
    say: Say = notices.say,
) -> NumeralLM:
    """Open a trained run, a pretrained language model (`hf:PATH`), or an installed model by name.

    What a run must know of its dataset is found out once and kept in it; `dataset` is where the
    dataset is now, if it has moved, and `backbone` (`hf:PATH`) where its pretrained model is, which
    must have the same content. A pretrained model has none of its own: without `dataset`
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
    folder = path_here(cache) if cache else None
    settings = Settings(folder, None, trust_remote_code, sight=sight, backbone=backbone)
    opened = open_model(path, device=device, settings=settings)
    return _Loading(opened, dataset, say).model()


def calibrate_anew(
    path: str | Path,
    dataset: str | Path | None = None,
    *,
    device: str | None = None,
    cache: str | Path | None = None,
    trust_remote_code: bool = False,
    backbone: str | None = None,
    readers: Readers | None = None,
    say: Say = notices.say,
) -> Calibration:
    """Calibrate what `load` opens on its dev split, whether or not it was before; `readers` may
    read it for a pretrained model."""
    if is_shipped(path):
        raise NumerateError(f"run: got {path}, which comes calibrated; expected one of your own")
    folder = path_here(cache) if cache else None
    settings = Settings(folder, None, trust_remote_code, readers=readers, backbone=backbone)
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
            return find_reference(self.opened, dataset).record()

        identity = reference_identity(self.opened, self.given)
        return cached(self._place(REFERENCE), identity, find_out, Reference.read, self.say)

    def _calibrated_intervals(self) -> ConformalIntervals:
        """Who asks for an interval does not wait until a slow model has read the dev split."""
        model, reference = self.opened.model, self.opened.reference
        if self.reads_slowly and kept(self._calibration_place, self._identity) is None:
            raise NumerateError(f"{reference}: calibrate it once: numerate calibrate {reference}")
        found: ConformalIntervals = model.checker.calibration.intervals
        if (shortage := found.shortage()) is not None:
            raise NumerateError(f"{reference}: {shortage}")
        return found

    def calibration(self, *, anew: bool = False) -> Calibration:
        """Open the calibration; calibrate the model if it has none, or `anew`."""

        def find_out() -> dict[str, Any]:
            dataset = self.opened.on(self.given, "dev")
            self._refuse_another(dataset)
            return self._calibrate(dataset).record()

        find = partial(
            cached, self._calibration_place, self._identity, find_out, Calibration.of, self.say
        )
        return find(anew=anew)

    @cached_property
    def _identity(self) -> dict[str, Any]:
        return calibration_identity(self.opened, self.given)

    @property
    def _calibration_place(self) -> Path:
        return self._place(calibration_file(self.opened.model.member))

    def _refuse_another(self, dataset: Dataset) -> None:
        """What is found out of it is remembered as of the run's own dataset."""
        run = self.opened.run
        if run is None or self.given is not None:
            return
        if not run.is_its_own(dataset):
            raise RunError(f"{run.not_its_own(dataset)}; if you mean it, pass --dataset")

    def _calibrate(self, dataset: Dataset) -> Calibration:
        """On the dev split, or on some of it where the model reads slowly. What has been read
        before is cached: not after an interruption, nor after training is it read again."""
        model = self.opened.model
        limit = PARAGRAPHS if self.reads_slowly else None
        whole = load_corpora(dataset, model.vocabulary, model.config.sight)["dev"]
        dev = whole.take(some_paragraphs(len(whole), limit))
        some = f"{len(dev)} paragraphs of " if limit else ""
        what = f"{some}the dev split of {dataset.folder}"
        if not len(dev.rows):
            raise CalibrationError(f"calibration: got no numeral in {what}, expected some")
        documents = dataset.split("dev").read(["document"])["document"].to_pylist()
        self.say(f"calibrating {self.opened.reference} on {what}, once")
        with PassProgress() as progress, _telling(model.backbone, progress):
            if isinstance(model.backbone, CausalBackbone):
                model.read(dev)
            return calibrate(
                model,
                read_corpus(model, dev),
                [documents[index] for index in dev.sources],
                numerals=len(dev.rows),
                whole=limit is None,
            )

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

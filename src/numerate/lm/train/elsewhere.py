"""Runs that lie elsewhere: trained in a folder of this machine, published when they are complete.

Until then, what a killed training needs to go on, on whatever machine, is uploaded beside the
place, under the hidden name that it would have here: the newest checkpoint at most once a minute,
and all that there is when training ends before its time. A run that is replaced stays as it was
until the new one is complete.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from numerate.errors import FailureError, NumerateError
from numerate.lm.model.run_folder import CHECKPOINT, CONFIG, RUN
from numerate.lm.train.loop import Reporter
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.report import Reporters
from numerate.places import is_remote, local_path, work_of
from numerate.reports.notices import warn
from numerate.storage import filesystem, told
from numerate.storage.mirror import fetch_files
from numerate.storage.publish import (
    Upload,
    check_free,
    fingerprints,
    kept_unless_sent,
    work_folder,
)
from numerate.storage.stored_files import Entry, listing

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

UPLOAD_SECONDS = 60.0  # between two checkpoints that are uploaded
WAIT_SECONDS = 0.2  # between two looks whether the first process is ready

Train = TypeVar("Train", bound=Callable[..., Any])


def publishes_run(train: Train) -> Train:
    """`train` of a folder becomes that of a place, wherever it is."""

    @wraps(train)
    def anywhere(
        dataset: str | Path,
        out: str | Path,
        *,
        resume: bool = False,
        force: bool = False,
        reporter: Reporter | None = None,
        **choices: Any,
    ) -> Any:
        if not is_remote(out):
            given: dict[str, Any] = {"resume": resume, "force": force, "reporter": reporter}
            return train(dataset, local_path(out), **given, **choices)
        place = str(out).rstrip("/")
        # The folder is ours, and empty but for what is gone on with.
        choices |= {"resume": resume, "force": not resume}
        if os.environ.get("RANK", "0") != "0":  # as `accelerate launch` numbers processes
            with _follow(place, resume=resume) as folder:
                return replace(train(dataset, folder, reporter=reporter, **choices), folder=place)
        with _lead(place, resume=resume, force=force) as run:
            told_too = Reporters(*([reporter] if reporter else []), run)
            try:
                result = train(dataset, run.folder, reporter=told_too, **choices)
            except BaseException:
                run.keep(at_end=True)
                raise
            if result.state == "finished":
                run.publish()
                return replace(result, folder=place)
            run.keep(at_end=True)
            return replace(result, folder=beside(place))

    return cast(Train, anywhere)


def beside(place: str) -> str:
    """The address under which a run lies until it is complete."""
    folder, _, name = place.rpartition("/")
    if folder.endswith("/") or not name:
        raise NumerateError(f"{place}: expected a folder in a bucket, not the whole of it")
    return f"{folder}/.{name}.new"


class RunElsewhere:
    """A run on its way; as a reporter, it hears when there is something new to upload."""

    def __init__(
        self,
        system: "AbstractFileSystem",
        root: str,
        place: str,
        folder: Path,
        *,
        is_whole: bool,
        replaces: bool,
    ) -> None:
        self.folder, self.place, self._is_whole = folder, place, is_whole
        self._replaces = replaces  # what lies in the place when the run is complete
        self._whole = Upload(system, root, place)
        self._part = Upload(system, system._strip_protocol(beside(place)), beside(place))
        self._uploaded = fingerprints(folder)
        self._mark = self._config_there()
        self._when = time.monotonic()

    def on_start(self, options: TrainingOptions, tokens: int, epoch: int) -> None:
        pass

    def on_step(self, epoch: int, tokens: int, loss: float | None) -> None:
        if time.monotonic() - self._when > UPLOAD_SECONDS:
            self.keep()

    def on_epoch(self, record: dict[str, Any]) -> None:
        self.on_step(record["epoch"], 0, None)

    def keep(self, *, at_end: bool = False) -> None:
        """Upload what is new, unless there is no new checkpoint and training goes on. A store that
        does not answer ends no training."""
        self._when = time.monotonic()
        now = fingerprints(self.folder)
        if not at_end and now.get(CHECKPOINT) == self._uploaded.get(CHECKPOINT):
            return
        changed = [name for name in now if now[name] != self._uploaded.get(name)]
        try:
            if self._config_there() != self._mark:
                where = self._part.place
                raise FailureError(f"{where}: another training has begun to write there")
            self._part.put(self.folder, [name for name in changed if name != CONFIG])
            self._part.put(self.folder, [name for name in changed if name == CONFIG])
            self._uploaded, self._mark = now, self._config_there()
        except NumerateError as error:
            warn(f"{error}; this checkpoint is on this machine only")

    def _config_there(self) -> Entry | None:
        """The version of the configuration beside the place, by which trainings know their own."""
        with told(self._part.place):
            return listing(self._part.store, self._part.root).get(CONFIG)

    def publish(self) -> None:
        """The run is complete. What days were spent on is kept here where its place has gone."""
        if self._is_whole:  # it was complete before
            return
        with kept_unless_sent(self.folder, self.place, "the finished run"):
            whole = self._whole
            check_free(whole.store, whole.root, self.place, RUN, force=self._replaces)
            whole.replace(self.folder, RUN)
        self._part.clear(RUN)


@contextmanager
def _lead(place: str, *, resume: bool, force: bool) -> Iterator[RunElsewhere]:
    """Of the only or first process: what is gone on with is fetched."""
    system, root = filesystem(place)
    part = system._strip_protocol(beside(place))
    with work_folder(place) as folder:
        with told(place):
            whole, begun = listing(system, root), listing(system, part)
        if not resume and not force and (whole or begun):
            what = "already exists" if whole else "a training has begun there and not ended"
            raise NumerateError(f"{place}: {what}; add --resume to go on, or --force")
        if not resume:
            check_free(system, root, place, RUN, force=force)
            given_up = Upload(system, part, beside(place))
            given_up.check_own(RUN)
            given_up.clear(RUN)
        if resume:
            _fetch(system, root, place, folder)
        _ready(folder).write_text(_launch())
        try:
            is_whole = resume and not begun and CONFIG in whole
            replaces = resume or force
            yield RunElsewhere(system, root, place, folder, is_whole=is_whole, replaces=replaces)
        finally:
            _ready(folder).unlink(missing_ok=True)


@contextmanager
def _follow(place: str, *, resume: bool) -> Iterator[Path]:
    """Of another process: it waits for the first, or, on another machine, fetches for itself."""
    rank, local_rank = (int(os.environ.get(name, "0")) for name in ("RANK", "LOCAL_RANK"))
    launch = rank - local_rank  # the rank of the first process of this launcher
    folder = work_of(place, launch)
    if local_rank == 0:
        with work_folder(place, launch):
            if resume:
                _fetch(*filesystem(place), place, folder)
            _ready(folder).write_text(_launch())
            yield folder
        return
    while not _ready(folder).exists() or _ready(folder).read_text() != _launch():
        time.sleep(WAIT_SECONDS)
    yield folder


def _fetch(system: "AbstractFileSystem", root: str, place: str, folder: Path) -> None:
    """What was begun, or else what is complete."""
    part = system._strip_protocol(beside(place))
    with told(place):
        begun = listing(system, part)
        found = begun or listing(system, root)
    if begun:
        fetch_files(system, part, beside(place), found, folder)
    else:
        fetch_files(system, root, place, found, folder)


def _ready(folder: Path) -> Path:
    return folder.with_suffix(".ready")


def _launch() -> str:
    """The same for all processes that were launched together on a machine."""
    return f"{os.getppid()} {os.environ.get('MASTER_PORT', '')}"

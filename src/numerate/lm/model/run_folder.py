"""`RunFolder`: the files of a run, by name, and what they say, by type."""

import hashlib
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from numerate.errors import DatasetError, NumerateError, RunError, one_line
from numerate.lm.data.dataset import Dataset
from numerate.lm.model.run_contents import (
    DatasetPlace,
    Documents,
    Environment,
    Epoch,
    Metrics,
    RunConfig,
    TrainedConfig,
    VocabularyLists,
)
from numerate.places import from_there, place_of
from numerate.reports.notices import say
from numerate.storage import here, recorded
from numerate.storage.atomic import recover, unfinished
from numerate.storage.folder_kind import FolderKind
from numerate.storage.records import parse_record, read_record, typed, write_record
from numerate.storage.regular_files import file_digest, read_text
from numerate.text.columns import sees_tables
from numerate.text.vocabulary import Vocabulary

CONFIG, VOCABULARY, WEIGHTS = "config.json", "vocabulary.json", "model.safetensors"
DOCUMENTS, ENVIRONMENT, LOG = "documents.json", "environment.json", "log.jsonl"
CHECKPOINT, TENSORBOARD = "checkpoint.safetensors", "tensorboard"
METRICS, REFERENCE, CALIBRATION = "metrics.json", "reference.json", "calibration.json"
OBSERVED = "observed.safetensors"  # what the figures of METRICS are made of, by document
# What nobody reads who opens the model.
BESIDE_THE_MODEL = {LOG, METRICS, OBSERVED, CHECKPOINT, ENVIRONMENT, TENSORBOARD}
_OF_MEMBER = r"calibration-[^./]+\.json"  # what CALIBRATION is of a run
_OF_A_MODEL = (CONFIG, VOCABULARY, WEIGHTS, DOCUMENTS, ENVIRONMENT, LOG, METRICS, OBSERVED)
NAMES = "|".join([*map(re.escape, (*_OF_A_MODEL, REFERENCE, CALIBRATION)), _OF_MEMBER])
"""A regular expression for the files of a run that is complete, and of a detector."""

FORMAT, VERSION = "numerate model", 2
STATES = ("training", "finished", "interrupted", "failed", None)  # None: of a model that is no run

Config = TypeVar("Config", bound=RunConfig)


@dataclass(frozen=True, slots=True)
class RunFolder:
    path: Path

    @classmethod
    def open(cls, path: str | Path) -> "RunFolder":
        """Of a run that is to be used; one that a kill left under a hidden name is put back, and
        one that lies elsewhere is fetched."""
        path = here(path)
        recover(path, RUN)
        if not os.path.isdir(path):  # unlike Path's, never raises
            gone = "" if os.path.exists(path) else ", there is no such folder or installed model"
            raise RunError(f"{path}: not a run: {CONFIG} is missing{gone}")
        return cls(path)

    def config(self) -> RunConfig:
        return self._config(RunConfig)

    def trained(self) -> TrainedConfig:
        """Of a run that may be used, since it is not being trained any more."""
        config = self.config()
        if config.state == "training":
            raise RunError(f"{self.path}: still being trained; wait, or finish it with --resume")
        if config.dataset is None:
            raise RunError(f"{self.path}: not a trained run: {CONFIG} does not name its dataset")
        return self._config(TrainedConfig)

    def _config(self, kind: type[Config]) -> Config:
        path = self.path / CONFIG
        about = read_json(path)
        if about.get("format") != FORMAT:
            got = f"got format {about.get('format', 'none')!r:.40}, expected {FORMAT!r}"
            raise RunError(f"{path}: not the configuration of a model: {got}")
        if (version := about.get("version")) != VERSION:
            made = "made by a version before 0.5; train it again"
            raise RunError(f"{path}: version: got {version!r:.40}, expected {VERSION}: {made}")
        about = self._read(CONFIG, kind)
        try:
            config = typed(kind, about)
        except NumerateError as error:
            raise RunError(f"{path}: dataset.reading: {error}; train it again") from None
        if config.state not in STATES:
            expected = ", ".join(filter(None, STATES))
            raise RunError(f"{path}: state: got {config.state!r}, expected one of {expected}")
        return config

    def _read(self, name: str, kind: type) -> dict[str, Any]:
        try:
            return read_record(self.path / name, kind, RunError)
        except (FileNotFoundError, NotADirectoryError):
            raise RunError(f"{self.path}: incomplete run: {name} is missing") from None

    def vocabulary(self) -> Vocabulary:
        lists = typed(VocabularyLists, self._read(VOCABULARY, VocabularyLists))
        return Vocabulary(lists.words, lists.numerals)

    def write_vocabulary(self, vocabulary: Vocabulary) -> None:
        lists = VocabularyLists(vocabulary.words, vocabulary.numerals)
        write_record(self.path / VOCABULARY, asdict(lists))

    def trained_documents(self) -> list[str]:
        return typed(Documents, self._read(DOCUMENTS, Documents)).train

    def write_documents(self, ids: list[str]) -> None:
        write_record(self.path / DOCUMENTS, asdict(Documents(ids)), indent=None)

    def environment(self) -> dict[str, Any]:
        """Read what was noted of its training; a shared model may have no such file."""
        if not (self.path / ENVIRONMENT).exists():
            return {}
        return self._read(ENVIRONMENT, Environment)

    def history(self) -> list[dict[str, Any]]:
        """One record per epoch of its training."""
        path = self.path / LOG
        try:
            lines = read_text(path).splitlines()
        except FileNotFoundError:
            raise RunError(f"{self.path}: incomplete run: {LOG} is missing") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise RunError(f"{path}: cannot be read: {one_line(reason)}") from None
        return [
            parse_record(line, Epoch, RunError, f"{path}, line {number}")
            for number, line in enumerate(lines, 1)
        ]

    def metrics(self) -> dict[str, Any] | None:
        """What the last evaluation found, if there was one."""
        if not (self.path / METRICS).exists():
            return None
        try:
            return self._read(METRICS, Metrics)
        except RunError as error:
            raise RunError(f"{error}; evaluate the run again") from None

    def digest(self, name: str) -> str:
        """The SHA-256 of a file."""
        try:
            return file_digest(self.path / name)
        except OSError as error:
            reason = one_line(error.strerror)
            raise RunError(f"{self.path / name}: cannot be read: {reason}") from None

    def found_out(self) -> list[Path]:
        """What is known of it since it was used, each with the identity of what it is of."""
        named = (REFERENCE, CALIBRATION)
        return sorted(
            path
            for path in self.path.iterdir()
            if path.name in named or re.fullmatch(_OF_MEMBER, path.name)
        )

    def place_of(self, dataset: Dataset, sight: str) -> DatasetPlace:
        """How a run in this folder that sees so far shall remember its dataset."""
        place = dataset.folder.absolute()
        elsewhere = place_of(place)
        relative = None
        if elsewhere is None and place_of(self.path) is None:
            relative = os.path.relpath(place.resolve(), self.path.resolve())
        content = dataset.manifest["content_hash"]
        tables = digest_of_tables(dataset) if sees_tables(sight) else None
        return DatasetPlace(elsewhere or str(place), content, relative, dataset.reading, tables)

    def open_dataset(self, given: str | Path | None = None) -> Dataset:
        """The dataset it was trained on, or the one that is given, if it is read by its rules."""
        known = self.trained().dataset
        opened = self._known_dataset(known) if given is None else Dataset.open(given)
        if known.reading != opened.reading:
            raise DatasetError(
                f"{opened.folder}: cut into tokens by other rules than what {self.path} was "
                f"trained on: got {opened.reading}, expected {known.reading}"
            )
        return opened

    def _known_dataset(self, known: DatasetPlace) -> Dataset:
        """Look where the dataset lies as seen from the run, since both may have moved together,
        then where it was.

        Of two that are there, the one with the same content is opened; another one is named in a
        message. A shared model says only what its dataset is called, and means no other dataset of
        that name.
        """
        places = [known.path]
        if known.relative is not None:
            run = place_of(self.path) or str(self.path.resolve())
            places.insert(0, from_there(run, known.relative))
        found, errors = [], []
        for place in places:
            try:
                found.append(Dataset.open(recorded(place, self.path, f"pass --dataset {place}")))
            except (DatasetError, RunError, OSError, ValueError) as error:
                errors.append(one_line(error))
        same = [one for one in found if _is_meant(one, known)]
        if not found:
            hint = f"if {self.path}'s dataset has moved, pass --dataset"
            raise DatasetError(f"{errors[-1]}; {hint}") from None
        if same:
            return same[0]
        if known.relative is None and Path(known.path).name == known.path:
            raise DatasetError(f"{self.not_its_own(found[0])}; pass --dataset")
        say(self.not_its_own(found[0]))
        return found[0]

    def is_its_own(self, dataset: Dataset) -> bool:
        """Whether it has the content that the run was trained on."""
        return _is_meant(dataset, self.trained().dataset)

    def not_its_own(self, dataset: Dataset) -> str:
        """One line about a dataset in the place of the run's own, with other content."""
        return f"{dataset.folder}: not the dataset that {self.path} was trained on, by its content"


def digest_of_tables(dataset: Dataset) -> str:
    """What may be in view of its paragraphs; the content hash is of texts alone."""
    digest, files = hashlib.sha256(), dataset.manifest["files"]
    for summary in dataset.manifest["splits"].values():
        for name in (*summary["tables"], summary["sight"]["file"]):
            digest.update(files[name]["sha256"].encode())
    return digest.hexdigest()


def _is_meant(dataset: Dataset, known: DatasetPlace) -> bool:
    same_texts = dataset.manifest["content_hash"] == known.content_hash
    return same_texts and known.tables in (None, digest_of_tables(dataset))


def read_json(path: Path) -> dict[str, Any]:
    """Any object in a file of a run."""
    try:
        return read_record(path, {}, RunError)
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"{path.parent}: not a run: {path.name} is missing") from None


def writing_folder(out: Path) -> Path:
    """Where a run is written: beside the one that it will replace, until it is complete."""
    return unfinished(out, RUN) or out


def _fault(folder: Path) -> str | None:
    """Say why a folder is no run, of whatever version: one that cannot be used may be replaced."""
    try:
        is_run = read_json(folder / CONFIG).get("format") == FORMAT
    except RunError:
        is_run = False
    return None if is_run else f"not a run of ours, by its {CONFIG}"


RUN = FolderKind(
    "a run",
    CONFIG,
    _fault,
    rf"{NAMES}|{re.escape(CHECKPOINT)}|{TENSORBOARD}/events\.out\.tfevents\.[^/]+",
    frozenset([TENSORBOARD]),
)


def calibration_file(member: str | None) -> str:
    """Of a run, or of a member of its combination by itself."""
    return CALIBRATION if member is None else f"calibration-{member}.json"

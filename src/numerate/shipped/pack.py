"""From trained runs to a model that comes with a package: what its use needs, at half size."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import numerate
from numerate.errors import NumerateError, RunError
from numerate.folder_kind import FolderKind
from numerate.plausibility.load import load
from numerate.pretrained.packaged import package_of, portable
from numerate.records import write_record
from numerate.runs.folder import (
    CALIBRATION,
    CONFIG,
    DOCUMENTS,
    NAMES,
    REFERENCE,
    VOCABULARY,
    WEIGHTS,
    RunFolder,
    read_json,
)
from numerate.shipped.card import CARD, Corpus, Figure, ShippedModel, write_card
from numerate.storage import file_here, here, published, recorded
from numerate.storage.regular_files import check_regular, file_digest
from numerate.tensor_file import rewrite_tensors

LANGUAGE_MODEL, DETECTOR, JOINING = "language-model", "detector", "joining.json"


@dataclass(frozen=True, slots=True)
class About:
    """What its card shall say."""

    summary: str
    languages: Sequence[str]
    licence: str
    trained_on: Sequence[Corpus]
    figures: Sequence[Figure] = ()
    rank: int = 0
    needs_install: str | None = None  # what brings the pretrained model that it stands on


def pack(
    folder: str | Path,
    about: About,
    *,
    language_model: str | Path | None = None,
    detector: str | Path | None = None,
    joining: str | Path | None = None,
    dataset: str | Path | None = None,
    force: bool = False,
) -> None:
    """Write the folder of a model that a package brings (entry points `numerate.models`).

    Weights are stored as half precision floats. The language model is calibrated as it is then, on
    its dataset or on `dataset`, where that is now; the calibration of a detector is kept, and that
    of what stands on a pretrained model, where it takes long. That model is not copied; it is named
    by the package that it lies in.
    """
    if language_model is None and detector is None:
        raise NumerateError("pack: got nothing to pack, expected a language model or a detector")
    parts: dict[str, str] = {}
    with published(folder, _PACKED, force=force) as place:
        if language_model is not None:
            parts["language_model"] = LANGUAGE_MODEL
            run = here(language_model)
            named = RunFolder.open(run).trained().dataset.path
            where = dataset or recorded(named, run, f"pack(dataset={named!r}) opens it")
            _copy(run, place / LANGUAGE_MODEL, (VOCABULARY, DOCUMENTS))
            if _needed(place / LANGUAGE_MODEL):
                _keep_calibration(run, place / LANGUAGE_MODEL)
            _ = load(place / LANGUAGE_MODEL, where).checker.calibration
        if detector is not None:
            parts["detector"] = DETECTOR
            _copy(here(detector), place / DETECTOR, (VOCABULARY, CALIBRATION, DOCUMENTS))
        if joining is not None:
            parts["joining"] = JOINING
            shutil.copyfile(file_here(joining), place / JOINING)
        folders = [place / part for part in (LANGUAGE_MODEL, DETECTOR) if (place / part).is_dir()]
        needs = next(filter(None, map(_needed, folders)), None)
        made = {"needs": needs, "numerate": numerate.__version__}
        write_card(place, {**asdict(about), **parts, **made})


def _fault(folder: Path) -> str | None:
    try:
        _ = ShippedModel(folder.name, folder).card
    except RunError:
        return f"not a model of ours to be shipped, by its {CARD}"
    return None


_PACKED = FolderKind(
    "a packed model",
    CARD,
    _fault,
    rf"{re.escape(CARD)}|{re.escape(JOINING)}|(?:{LANGUAGE_MODEL}|{DETECTOR})/(?:{NAMES})",
    frozenset([LANGUAGE_MODEL, DETECTOR]),
)


def _copy(run: Path, place: Path, names: Sequence[str]) -> None:
    """What the use of a run needs; paths of this machine stay here."""
    place.mkdir()
    for name in names:
        check_regular(run / name)
        shutil.copyfile(run / name, place / name)
    rewrite_tensors(run / WEIGHTS, place / WEIGHTS, _halved)
    record: dict[str, Any] = read_json(run / CONFIG)
    dataset = record["dataset"]
    record["dataset"] = {**dataset, "path": Path(dataset["path"]).name, "relative": None}
    record.pop("cache", None)
    if stands_on := _pretrained(record):
        stands_on["path"] = portable(stands_on["path"])
    write_record(place / CONFIG, record)


def _keep_calibration(run: Path, place: Path) -> None:
    """What was found out of a run is true of its halved weights."""
    weights = {file_digest(run / WEIGHTS): file_digest(place / WEIGHTS)}
    for path in filter(Path.is_file, (run / REFERENCE, run / CALIBRATION)):
        found = read_json(path)
        of = found["identity"].get("weights")
        identity = found["identity"] | ({"weights": weights.get(of, of)} if of else {})
        write_record(place / path.name, {**found, "identity": identity}, indent=None)


def _pretrained(record: dict[str, Any]) -> dict[str, Any] | None:
    """What the configuration of a run, or of a detector, says of the model that it stands on."""
    found: dict[str, Any] | None = record.get("backbone")
    options = record.get("options", {})
    return options if "digest" in options else found


def _needed(place: Path) -> str | None:
    """The package of the pretrained model that a part stands on."""
    stands_on = _pretrained(read_json(place / CONFIG))
    return None if stands_on is None else package_of(stands_on["path"])


def _halved(tensor: Tensor) -> Tensor:
    """What is a float of the usual size; values of the number line are larger and stay."""
    if tensor.dtype != torch.float32:
        return tensor
    half = tensor.half()
    return half if half.isfinite().all() else tensor

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
from numerate.lm.data.tensor_file import rewrite_tensors
from numerate.lm.model.load import load
from numerate.lm.model.run_folder import (
    CALIBRATION,
    CONFIG,
    DOCUMENTS,
    NAMES,
    VOCABULARY,
    WEIGHTS,
    RunFolder,
    read_json,
)
from numerate.lm.model.shipped.card import CARD, Corpus, Figure, ShippedModel, write_card
from numerate.storage import here, published, recorded
from numerate.storage.folder_kind import FolderKind
from numerate.storage.records import write_record
from numerate.storage.regular_files import check_regular

LANGUAGE_MODEL, DETECTOR = "language-model", "detector"


@dataclass(frozen=True, slots=True)
class About:
    """What its card shall say."""

    summary: str
    languages: Sequence[str]
    licence: str
    trained_on: Sequence[Corpus]
    figures: Sequence[Figure] = ()


def pack(
    folder: str | Path,
    about: About,
    *,
    language_model: str | Path | None = None,
    detector: str | Path | None = None,
    dataset: str | Path | None = None,
    force: bool = False,
) -> None:
    """Write the folder of a model that a package brings (entry points `numerate.models`).

    Weights are stored as half precision floats. The language model, which was trained from
    scratch, is calibrated as it is then, on its dataset or on `dataset`, where that is now; the
    calibration of a detector is kept.
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
            _ = load(place / LANGUAGE_MODEL, where).checker.calibration
        if detector is not None:
            parts["detector"] = DETECTOR
            _copy(here(detector), place / DETECTOR, (VOCABULARY, CALIBRATION, DOCUMENTS))
        write_card(place, {**asdict(about), **parts, "numerate": numerate.__version__})


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
    rf"{re.escape(CARD)}|(?:{LANGUAGE_MODEL}|{DETECTOR})/(?:{NAMES})",
    frozenset([LANGUAGE_MODEL, DETECTOR]),
)


def _copy(run: Path, place: Path, names: Sequence[str]) -> None:
    """Copy what the use of a run needs; paths of this machine stay here."""
    record: dict[str, Any] = read_json(run / CONFIG)
    if record.get("backbone") is not None:
        raise NumerateError(
            f"pack: {run} stands on a pretrained model, expected a model trained from scratch"
        )
    place.mkdir()
    for name in names:
        check_regular(run / name)
        shutil.copyfile(run / name, place / name)
    rewrite_tensors(run / WEIGHTS, place / WEIGHTS, _halved)
    dataset = record["dataset"]
    record["dataset"] = {**dataset, "path": Path(dataset["path"]).name, "relative": None}
    record.pop("cache", None)
    write_record(place / CONFIG, record)


def _halved(tensor: Tensor) -> Tensor:
    """What is a float of the usual size; values of the number line are larger and stay."""
    if tensor.dtype != torch.float32:
        return tensor
    half = tensor.half()
    return half if half.isfinite().all() else tensor

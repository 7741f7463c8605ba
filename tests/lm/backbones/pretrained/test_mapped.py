"""A full disk is told before it ends the process, and what was read before it is kept."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from numerate.errors import FailureError
from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.mapped import put
from numerate.lm.backbones.pretrained.store import Store
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare


class Disk:
    """A disk with room for so many bytes; the system is asked for them all the same."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: float) -> None:
        self.room = room
        reserve = os.posix_fallocate

        def limited(file: int, begin: int, length: int) -> None:
            if length > self.room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.room -= length
            reserve(file, begin, length)

        monkeypatch.setattr(os, "posix_fallocate", limited)


def mapped(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    return np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)


def test_room_is_made_for_just_the_rows_that_are_written(tmp_path: Path) -> None:
    """Most of a large array is a hole as long as nobody asks about it."""
    array = mapped(tmp_path / "a.npy", (1_000_000, 4))
    put(array, slice(500_000, 500_010), np.ones((10, 4)))
    put(array, np.array([999_999, 999_990]), [[2.0] * 4, [3.0] * 4])
    put(array, slice(7, 7), np.ones((0, 4)))
    array.flush()  # type: ignore[attr-defined]
    assert (tmp_path / "a.npy").stat().st_blocks * 512 < 1 << 20
    read = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert read[500_009].tolist() == [1.0] * 4
    assert read[999_999].tolist() == [2.0] * 4
    assert read[999_990].tolist() == [3.0] * 4
    assert not read[500_010:999_990].any()


def test_no_room_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = mapped(tmp_path / "a.npy", (100,))
    Disk(monkeypatch, room=200)
    put(array, [3, 5], 1.0)
    with pytest.raises(FailureError, match=r"a\.npy: no room .*No space left.*--cache") as error:
        put(array, slice(0, 50), 1.0)
    assert "\n" not in str(error.value)
    assert array.sum() == 2, "nothing is written by halves"


def test_file_systems_that_cannot_reserve_are_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: int, begin: int, length: int) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    array = mapped(tmp_path / "a.npy", (100,))
    put(array, slice(0, 50), 1.0)
    assert array.sum() == 50


def test_a_pass_goes_on_once_there_is_room(
    tmp_path: Path, tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare("cardiac", tmp_path / "cardiac", documents=20, seed=3, processes=1)
    dataset = Dataset.open(tmp_path / "cardiac")
    lm = PretrainedLM(open_backbone(tiny_models["single"]), start=0)
    whole = Store(tmp_path / "whole", lm, dataset).split("dev")
    whole.fill()
    disk = Disk(monkeypatch, room=3000)
    split = Store(tmp_path / "cache", lm, dataset).split("dev")
    with pytest.raises(FailureError, match="no room"):
        split.fill()
    assert not split.done.all()
    disk.room = np.inf
    split.fill()
    assert split.done.all()
    np.testing.assert_array_equal(split.states, whole.states)
    np.testing.assert_array_equal(split.targets, whole.targets)

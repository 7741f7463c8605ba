"""Folders appear whole, by one hand at a time, and a kill at any moment loses nothing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from numerate.atomic import InUseError, locked, new_folder, recover
from numerate.errors import NumerateError


def refusal(folder: Path) -> str | None:
    strangers = {path.name for path in folder.iterdir()} - {"ours"}
    return f"holds {min(strangers)}" if strangers else None


def write(target: Path, content: str, *, force: bool = False) -> None:
    with new_folder(target, refusal=refusal, force=force) as folder:
        (folder / "ours").write_text(content)


def read(target: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in target.iterdir()}


@contextmanager
def killed_at(patch: pytest.MonkeyPatch, name: str, call: int) -> Iterator[None]:
    """A process that is killed runs no handler: whatever it would still do is not done."""

    class Killed(BaseException):
        pass

    calls = 0
    original = getattr(Path, name)

    def rename(path: Path, *arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls >= call:
            raise Killed
        return original(path, *arguments)

    with patch.context() as inner:
        inner.setattr(Path, name, rename)
        inner.setattr(shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(Killed):
            yield


def test_a_folder_appears_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out"
    with new_folder(target, refusal=refusal) as folder:
        (folder / "ours").write_text("1")
        assert not target.exists()
    write(target, "2", force=True)
    assert read(target) == {"ours": "2"}
    with pytest.raises(ZeroDivisionError), new_folder(target, refusal=refusal, force=True):
        1 / 0  # noqa: B018
    assert read(target) == {"ours": "2"}
    assert [path.name for path in target.parent.iterdir()] == ["out"]


def test_what_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "out"
    making = new_folder(target, refusal=refusal)
    making.__enter__()
    target.mkdir()
    (target / "theirs").write_text("precious")
    with pytest.raises(NumerateError, match="out: has appeared meanwhile"):
        making.__exit__(None, None, None)
    assert read(target) == {"theirs": "precious"}


def test_files_of_others_are_never_removed(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write(target, "1")
    (target / "theirs").write_text("precious")
    with pytest.raises(NumerateError, match="out: holds theirs, so it is not replaced"):
        write(target, "2", force=True)
    (target / "theirs").unlink()
    with (
        pytest.raises(NumerateError, match="out: holds theirs"),
        new_folder(target, refusal=refusal, force=True),
    ):
        (target / "theirs").write_text("came while the new one was made")
    assert read(target) == {"ours": "1", "theirs": "came while the new one was made"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_two_at_once(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with new_folder(target, refusal=refusal) as folder:
        (folder / "ours").write_text("first")
        with pytest.raises(InUseError, match=rf"out: in use by process {os.getpid()} on .* since"):
            write(target, "second", force=True)
        with locked(tmp_path / "other"):
            pass
    assert read(target) == {"ours": "first"}


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, sys\nfrom numerate.atomic import locked\n"
        "with locked(pathlib.Path(sys.argv[1])):\n    os._exit(0)"  # as a kill: the file stays
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "out"], check=True)
    assert (tmp_path / ".out.lock").read_text().startswith("process ")
    with locked(tmp_path / "out"):
        assert (tmp_path / ".out.lock").read_text().startswith(f"process {os.getpid()} on")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("call", [1, 2])
def test_a_kill_amid_a_replacement_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    target = tmp_path / "out"
    write(target, "old")
    with killed_at(monkeypatch, "rename", call):
        write(target, "new", force=True)
    assert target.exists() == (call == 1)
    recover(target)
    assert read(target) == {"ours": "old"}
    write(target, "newer", force=True)
    assert read(target) == {"ours": "newer"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_kill_after_a_replacement_leaves_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    write(target, "old")
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)  # where the kill comes
    write(target, "new", force=True)
    monkeypatch.undo()
    assert read(target) == {"ours": "new"}
    recover(target)
    with pytest.raises(NumerateError, match="already exists"):
        write(target, "newer")
    assert read(target) == {"ours": "new"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_recovery_overwrites_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    write(target, "old")
    with killed_at(monkeypatch, "rename", 2):
        write(target, "new", force=True)
    with locked(target):
        recover(target)  # somebody is at it
        assert not target.exists()
    target.mkdir()
    (target / "ours").write_text("made meanwhile")
    write(target, "newest", force=True)
    assert read(target) == {"ours": "newest"}
    (old,) = tmp_path.glob(".out.old-*")
    assert read(old) == {"ours": "old"}


def test_folders_of_similar_names_are_left_alone(tmp_path: Path) -> None:
    for name in (".out.partial-x.partial-abcdefgh", ".outer.partial-abcdefgh", ".out.older-a"):
        (tmp_path / name).mkdir()
    before = {path.name for path in tmp_path.iterdir()}
    write(tmp_path / "out", "1")
    assert {path.name for path in tmp_path.iterdir()} == before | {"out"}


def test_a_link_is_followed_to_the_folder_it_names(tmp_path: Path) -> None:
    write(tmp_path / "there", "1")
    (tmp_path / "out").symlink_to("there")
    write(tmp_path / "out", "2", force=True)
    assert (tmp_path / "out").is_symlink()
    assert read(tmp_path / "there") == {"ours": "2"}

"""Folders appear whole, by one hand at a time, and a kill at any moment loses nothing."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.processes import copy_of_this_process
from tests.strangers import bytes_below

from numerate.errors import NumerateError
from numerate.reports.notices import kept
from numerate.storage import folder_kind
from numerate.storage.atomic import InUseError, locked, new_folder, recover, write_file
from numerate.storage.folder_kind import FolderKind, temporary_name, written_as

KIND = FolderKind(
    "a test's folder",
    "ours",
    lambda folder: None if (folder / "ours").is_file() else "not ours",
    "ours|parts/[0-9]+",
    frozenset(["parts"]),
    drafts="draft",
)
CALLS = ("rename", "replace", "mkdir", "unlink", "rmdir", "pwrite", "ftruncate")


def write(target: Path, content: str, *, force: bool = False) -> None:
    with new_folder(target, kind=KIND, force=force) as folder:
        (folder / "draft").touch()
        (folder / "parts").mkdir()
        (folder / "parts" / "1").write_text(content)
        (folder / "ours").write_text(content)
        (folder / "draft").unlink()


def whole(content: str) -> dict[str, bytes]:
    return {"ours": content.encode(), "parts/1": content.encode()}


def die_at(call: int, work: Callable[[], None]) -> None:
    """Do some work, but end, as by a kill, before a call that changes what is on the disk."""
    calls = 0
    for name in CALLS:

        def counted(*arguments: object, real: Callable[..., object], **more: object) -> object:
            nonlocal calls
            calls += 1
            if calls == call:
                os._exit(9)
            return real(*arguments, **more)

        real = getattr(os, name)
        setattr(os, name, lambda *a, real=real, **m: counted(*a, real=real, **m))
    work()
    os._exit(0)


def killed(call: int, work: Callable[[], None]) -> bool:
    """Whether a copy of this process was killed at a call; if not, it has done the work."""
    process = copy_of_this_process(die_at, call, work)
    process.join()
    assert process.exitcode in (0, 9)
    return process.exitcode == 9


def test_a_folder_appears_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out"
    with new_folder(target, kind=KIND) as folder:
        (folder / "ours").write_text("1")
        assert not target.exists()
    write(target, "2", force=True)
    assert bytes_below(target) == whole("2")
    making = new_folder(target, kind=KIND, force=True)
    (making.__enter__() / "draft").touch()
    assert making.__exit__(ValueError, ValueError("failed"), None) is False
    assert bytes_below(target) == whole("2")
    assert [path.name for path in target.parent.iterdir()] == ["out"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write(tmp_path / "out", "1")
    assert bytes_below(tmp_path) == {f"out/{name}": data for name, data in whole("1").items()}


def test_what_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "out"
    making = new_folder(target, kind=KIND)
    making.__enter__()
    target.mkdir()
    (target / "theirs").write_text("precious")
    with pytest.raises(NumerateError, match="out: has appeared meanwhile"):
        making.__exit__(None, None, None)
    assert bytes_below(target) == {"theirs": b"precious"}


def test_files_of_others_are_never_removed(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write(target, "1")
    (target / "theirs").write_text("precious")
    message = "out: holds theirs, which numerate did not write; move it away or choose another fold"
    with pytest.raises(NumerateError, match=message):
        write(target, "2", force=True)
    (target / "theirs").unlink()
    with (
        pytest.raises(NumerateError, match=message),
        new_folder(target, kind=KIND, force=True),
    ):
        (target / "theirs").write_text("came while the new one was made")
    assert bytes_below(target) == whole("1") | {"theirs": b"came while the new one was made"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_that_comes_while_the_old_folder_is_removed_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    write(target, "1")
    rmdir = os.rmdir

    def late(path: str | Path, **more: object) -> None:
        if ".old-" in str(path) and Path(path).name != "parts":
            (Path(path) / "theirs").write_text("precious")
        rmdir(path)

    with monkeypatch.context() as patched, kept() as said:
        patched.setattr(os, "rmdir", late)
        write(target, "2", force=True)
    assert bytes_below(target) == whole("2")
    (shown,) = tmp_path.glob("out.old-*")
    assert bytes_below(shown) == {"theirs": b"precious"}
    assert said == [f"{target}: what was there before is kept in {shown}"]
    assert {path.name for path in tmp_path.iterdir()} == {"out", shown.name}


def test_two_at_once(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with new_folder(target, kind=KIND) as folder:
        (folder / "ours").write_text("first")
        with pytest.raises(InUseError, match=rf"out: in use by process {os.getpid()} on .* since"):
            write(target, "second", force=True)
        with locked(tmp_path / "other"):
            pass
    assert bytes_below(target) == {"ours": b"first"}


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, sys\nfrom numerate.storage.atomic import locked\n"
        "with locked(pathlib.Path(sys.argv[1])):\n    os._exit(0)"  # as a kill: the file stays
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "out"], check=True)
    assert json.loads((tmp_path / ".out.lock").read_text())["holder"].startswith("process ")
    with locked(tmp_path / "out"):
        holder = json.loads((tmp_path / ".out.lock").read_text())["holder"]
        assert holder.startswith(f"process {os.getpid()} on")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("opens", [True, False])
@pytest.mark.parametrize("before", ["old", None])
def test_a_kill_at_any_moment_loses_nothing(
    tmp_path: Path, before: str | None, opens: bool
) -> None:
    """The folder is the old one or the new one, and the next writer leaves nothing beside it."""
    call = 0
    while True:
        call += 1
        place = tmp_path / str(call)
        target = place / "out"
        place.mkdir()
        if before:
            write(target, before)
        ended = not killed(call, lambda target=target: write(target, "new", force=True))
        if opens:
            recover(target, KIND)
            options = [whole("new"), whole(before)] if before else [whole("new"), {}]
            assert bytes_below(target) in options
        write(target, "newer", force=True)
        assert bytes_below(place) == {f"out/{name}": data for name, data in whole("newer").items()}
        if ended:
            break
    assert call > (15 if before else 8), "or it was not killed at every step"


def test_recovery_overwrites_nothing(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write(target, "old")
    call = 1
    while target.exists():  # until it is killed between two renamings
        assert killed(call, lambda: write(target, "new", force=True))
        call += 1
    with locked(target):
        recover(target, KIND)  # somebody is at it
        assert not target.exists()
    target.mkdir()
    (target / "ours").write_text("made meanwhile")
    with kept() as said:
        write(target, "newest", force=True)
    assert bytes_below(target) == whole("newest")
    (old,), (new,) = tmp_path.glob("out.old-*"), tmp_path.glob("out.new-*")
    assert (bytes_below(old), bytes_below(new)) == (whole("old"), whole("new"))
    assert [line.rpartition(" ")[2] for line in said] == [str(old), str(new)]


@pytest.mark.parametrize(
    "name",
    [
        ".out.new-0123456789ab",
        ".out.old-0123456789ab",
        ".out.partial-abcdefgh",
        ".out.new",
        ".out.replaced",
        ".outer.new-0123456789ab",
    ],
)
def test_hidden_folders_that_no_lock_names_are_left_alone(tmp_path: Path, name: str) -> None:
    target = tmp_path / "out"
    (tmp_path / name).mkdir()
    (tmp_path / name / "ours").write_text("precious")
    recover(target, KIND)
    assert not target.exists()
    write(target, "1")
    write(target, "2", force=True)
    assert bytes_below(tmp_path / name) == {"ours": b"precious"}
    assert {path.name for path in tmp_path.iterdir()} == {name, "out"}


LOCK = {"format": "numerate lock", "version": 1, "holder": "", "kind": None, "old": None}


@pytest.mark.parametrize(
    "text",
    [
        "precious",
        "{}",
        "[]",
        json.dumps(LOCK | {"new": "precious"}),
        json.dumps(LOCK | {"new": ".out.new-0123456789ab/../../precious"}),
        json.dumps(LOCK | {"new": ".out.new-0123456789ab", "version": 2}),
    ],
)
def test_a_file_of_somebody_else_is_no_lock(tmp_path: Path, text: str) -> None:
    (tmp_path / ".out.lock").write_text(text)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "ours").write_text("precious")
    before = bytes_below(tmp_path)
    message = r"/\.out\.lock: numerate did not write it, and it has the name of a lock; move it"
    with pytest.raises(NumerateError, match=message):
        write(tmp_path / "out", "1", force=True)
    recover(tmp_path / "out", KIND)
    assert bytes_below(tmp_path) == before


def test_a_link_or_a_folder_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("precious")
    for make in (
        lambda path: path.symlink_to("theirs"),
        lambda path: path.symlink_to("nothing"),
        Path.mkdir,
        os.mkfifo,
    ):
        path = tmp_path / ".out.lock"
        make(path)
        with pytest.raises(NumerateError, match=r"\.out\.lock: numerate did not write it"):
            write(tmp_path / "out", "1")
        assert (tmp_path / "theirs").read_text() == "precious"
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_hidden_folder_with_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "out"
    call = 1
    while not (found := list(tmp_path.glob(".out.new-*/ours"))):
        assert killed(call, lambda: write(target, "new"))
        call += 1
    (hidden,) = {path.parent for path in found}
    (hidden / "theirs").write_text("precious")
    before = bytes_below(hidden)
    with pytest.raises(NumerateError, match=f"^{hidden}: holds theirs, which numerate did not wri"):
        write(target, "newer", force=True)
    assert bytes_below(hidden) == before


@pytest.mark.parametrize("is_link", [True, False])
def test_links_and_folders_in_place_of_our_files_are_strangers(
    tmp_path: Path, is_link: bool
) -> None:
    target, theirs = tmp_path / "out", tmp_path / "theirs"
    theirs.write_text("precious")
    write(target, "1")
    (target / "parts" / "1").unlink()
    if is_link:
        (target / "parts" / "1").symlink_to(theirs)
    else:
        (target / "parts" / "1").mkdir()
    with pytest.raises(NumerateError, match=r"out: holds parts/1/?, which numerate did not write"):
        write(target, "2", force=True)
    assert theirs.read_text() == "precious"
    assert (target / "parts" / "1").is_symlink() == is_link
    (tmp_path / "theirs-link").symlink_to(theirs)
    with pytest.raises(NumerateError, match="theirs-link: is a link"):
        write_file(tmp_path / "theirs-link", b"ours")
    assert theirs.read_text() == "precious"


def test_a_file_cut_off_while_it_was_written_is_ours(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write(target, "1")
    process = copy_of_this_process(die_at, 1, lambda: write_file(target / "ours", b"new"))
    process.join()
    (left,) = target.glob(".ours.*")
    assert written_as(left.name) == "ours"
    write(target, "2", force=True)
    assert bytes_below(target) == whole("2")
    (target / f"{left.name[:-8]}00000000").write_text("precious")
    with pytest.raises(NumerateError, match=r"out: holds \.ours\.[0-9a-f]{8}-00000000, which"):
        write(target, "3", force=True)


def test_temporary_names_are_told_from_names_of_others() -> None:
    assert written_as(temporary_name("a.json")) == "a.json"
    assert written_as(temporary_name("\udcff\n")) == "\udcff\n"
    assert temporary_name("a") != temporary_name("a")
    for name in (".a.json.swp", ".a.json.0123abcd", ".a.json.01234567-89abcdef", "a.json", ""):
        assert written_as(name) is None
    assert folder_kind.strange("a", "b").args == (
        "a: holds b, which numerate did not write; move it away or choose another folder",
    )


def test_a_link_is_followed_to_the_folder_it_names(tmp_path: Path) -> None:
    write(tmp_path / "there", "1")
    (tmp_path / "out").symlink_to("there")
    write(tmp_path / "out", "2", force=True)
    assert (tmp_path / "out").is_symlink()
    assert bytes_below(tmp_path / "there") == whole("2")

"""Sources on other file systems: the same documents in the same order, and no loss untold."""

import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from tests.disks import Disk

from numerate.documents.reader import Unit
from numerate.documents.sources import Source
from numerate.errors import FailureError, NumerateError, SourceError
from numerate.lm.data.prepare import prepare
from numerate.lm.data.resuming import discard, resumable
from numerate.storage.atomic import locked
from numerate.storage.shared_folder import SharedFolder
from numerate.storage.stored_files import Entry

FILES = {
    "a.txt": b"Of 15 people.\n\nThen 16.",
    "a/z.txt": b"Of 25 people.",
    "a/b/1.txt": b"Of 35 people.",
    "a-b/2.txt": b"Of 45 people.",
    "ab.txt": b"Of 55 people.",
    "ab[1].txt": b"Of 65 people.",
    "c/kanji.txt": b"37 \x81\x8e",
    "d/picture.png": b"x",
    ".git/x.txt": b"Of 75 people.",
}


@pytest.fixture
def store() -> Iterator[MemoryFileSystem]:
    store = fsspec.filesystem("memory")
    store.store.clear()
    yield store
    store.store.clear()
    store.pseudo_dirs[:] = [""]


def write(root: Path, store: MemoryFileSystem) -> None:
    for name, data in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
        store.pipe_file(f"/bucket/source/{name}", data)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_elsewhere_is_read_as_one_here(tmp_path: Path, store: MemoryFileSystem) -> None:
    write(tmp_path / "source", store)
    here = list(Source(tmp_path / "source", "auto").units())
    elsewhere = list(Source("memory://bucket/source/", "auto").units())
    names = [unit.name for unit in elsewhere if isinstance(unit, Unit)]
    assert names == sorted(name for name in FILES if name[0] != "." and name[-3:] == "txt")
    assert [(u.name, u.data) for u in here] == [(u.name, u.data) for u in elsewhere]
    for name, source in (("here", str(tmp_path / "source")), ("there", "memory://bucket/source")):
        manifest = prepare(source, tmp_path / name)
        assert manifest["counts"]["files_ignored"] == 1  # hidden files are not counted
        assert [skipped["document"] for skipped in manifest["skipped"]] == ["c/kanji.txt"]
    assert content(tmp_path / "here") == content(tmp_path / "there")


def test_archives_and_lone_files_elsewhere(tmp_path: Path, store: MemoryFileSystem) -> None:
    tar, packed = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as archive:
        for name, data in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    with zipfile.ZipFile(packed, "w") as zipped:
        for name, data in FILES.items():
            zipped.writestr(name, data)
    lines = "\n".join(json.dumps({"text": f"Value {n}."}) for n in range(9)).encode()
    for name, data in (
        ("c.tar.gz", tar.getvalue()),
        ("c.zip", packed.getvalue()),
        ("c.jsonl", lines),
    ):
        (tmp_path / name).write_bytes(data)
        store.pipe_file(f"/bucket/{name}", data)
        prepare(tmp_path / name, tmp_path / f"{name}.here")
        prepare(f"memory://bucket/{name}", tmp_path / f"{name}.there")
        assert content(tmp_path / f"{name}.here") == content(tmp_path / f"{name}.there")


def test_what_goes_wrong_elsewhere_is_told_and_never_skipped(
    tmp_path: Path, store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SourceError, match="memory://bucket/none: no such file or folder"):
        prepare("memory://bucket/none", tmp_path / "out")
    with pytest.raises(NumerateError, match="unknown protocol nowhere://"):
        prepare("nowhere://bucket/none", tmp_path / "out")
    write(tmp_path / "source", store)
    read: Any = MemoryFileSystem.cat_file

    def cat_file(self: MemoryFileSystem, path: str, **options: Any) -> bytes:
        if path.endswith("ab.txt"):
            raise troubles[-1]
        return bytes(read(self, path, **options))

    monkeypatch.setattr(MemoryFileSystem, "cat_file", cat_file)
    troubles: list[Exception] = [FileNotFoundError("ab.txt")]
    manifest = prepare("memory://bucket/source", tmp_path / "out")
    assert [skipped["document"] for skipped in manifest["skipped"]] == ["ab.txt", "c/kanji.txt"]
    for error, kind, reason in (
        (PermissionError(13, "Forbidden"), NumerateError, "no permission: Forbidden"),
        (OSError(5, "Connection reset"), FailureError, "memory://bucket/source: Connection reset"),
    ):
        troubles.append(error)
        with pytest.raises(kind, match=reason):
            prepare("memory://bucket/source", tmp_path / "new")
    monkeypatch.undo()
    source = Source("memory://bucket/source", "auto")
    store.rm("/bucket", recursive=True)
    with pytest.raises(NumerateError, match="memory://bucket/source: no such bucket"):
        list(source.units())
    assert not (tmp_path / "new").exists()


def test_a_stream_that_breaks_off_is_no_damaged_archive(
    tmp_path: Path, store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > 4000:
                raise OSError(104, "Connection reset by peer")
            return super().read(512)

    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for number in range(9):
            member = tarfile.TarInfo(f"{number}.txt")
            member.size = 3
            archive.addfile(member, io.BytesIO(b"5 %d" % number))
    store.pipe_file("/bucket/c.tar", tar.getvalue())
    monkeypatch.setattr(MemoryFileSystem, "open", lambda *_: Broken(tar.getvalue()))
    with pytest.raises(FailureError, match=r"memory://bucket/c\.tar: Connection reset by peer"):
        prepare("memory://bucket/c.tar", tmp_path / "out")


@pytest.mark.parametrize("renames_over", [True, False])
def test_files_that_workers_share_appear_whole_on_disks_elsewhere(
    renames_over: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Disk, "renames_over", renames_over)
    folder = SharedFolder(f"disk://{tmp_path}/.out.staged/job", lasting=True)
    folder.make()
    for data in (b"one", b"two"):
        folder.write("block-00000000.arrow", data)
        assert folder.read("block-00000000.arrow") == data
    monkeypatch.setattr(Disk, "is_cut", True)
    with pytest.raises(FailureError, match="the connection was lost"):
        folder.write("block-00000001.arrow", b"three")
    assert folder.names() == ["block-00000000.arrow"]


def test_what_was_staged_is_left_to_who_has_begun_since(tmp_path: Path) -> None:
    with suppress(KeyboardInterrupt), resumable(tmp_path / "out", 16 * "0") as (staging, _):
        staging.folder.write("block-00000000.arrow", b"")
        raise KeyboardInterrupt
    block = tmp_path / ".out.staged" / (16 * "0") / "block-00000000.arrow"
    with locked(tmp_path / "out"):
        discard(tmp_path / "out")
        assert block.exists()
    discard(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mark", ["ETag", "md5Hash", "mtime", "modificationTime", "modify"])
def test_marks_of_stores_tell_versions(mark: str) -> None:
    """`modificationTime` is that of WebHDFS, `modify` that of FTP."""
    one, other = ({"name": "a", "size": 3, "type": "file", mark: told} for told in (1, 2))
    assert Entry.of(one) != Entry.of(other)

"""A cache that machines share: what is said to be done is done, whoever writes meanwhile."""

from pathlib import Path

import pytest
import s3fs

from numerate.storage import filesystem, stored_files
from numerate.storage.folder_kind import FolderKind
from numerate.storage.shared_cache import SharedCache, cache_here

ROWS, DONE, SEAL = "a-states.npy", "b-done.npy", "about.json"


@pytest.fixture
def client(bucket: str, monkeypatch: pytest.MonkeyPatch) -> s3fs.S3FileSystem:
    """The one by which our code sees the store, to be hindered."""
    monkeypatch.setattr(stored_files, "AT_ONCE", 1)
    return filesystem(f"s3://{bucket}")[0]


def opened(bucket: str) -> SharedCache:
    folder = cache_here(f"s3://{bucket}/states") / "model"
    kind = FolderKind("states", SEAL, lambda _: None, r".*\.npy|about\.json")
    return SharedCache(folder, kind, "done.npy")


def write(folder: Path, rows: str) -> None:
    """As a store does: what was found out, and only then that it was."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (ROWS, DONE, SEAL):
        (folder / name).write_text(rows)


def test_what_is_published_while_another_process_writes(
    bucket: str,
    s3: s3fs.S3FileSystem,
    client: s3fs.S3FileSystem,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache = opened(bucket)
    write(cache.folder, "1")
    put_file = client.put_file

    def meanwhile(*names: str) -> None:
        put_file(*names)
        write(cache.folder, "2")

    monkeypatch.setattr(client, "put_file", meanwhile)
    cache.publish()
    assert s3.cat_file(f"{bucket}/states/model/{DONE}") == b"1"
    assert s3.cat_file(f"{bucket}/states/model/{ROWS}") == b"2"


def test_what_is_fetched_while_another_machine_publishes_is_not_used(
    bucket: str,
    s3: s3fs.S3FileSystem,
    client: s3fs.S3FileSystem,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cache = opened(bucket)
    write(cache.folder, "1")
    cache.publish()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    get_file = client.get_file

    def meanwhile(*names: str) -> None:
        get_file(*names)
        for name in (ROWS, DONE, SEAL):
            s3.pipe_file(f"{bucket}/states/model/{name}", b"2")

    cache = opened(bucket)
    with monkeypatch.context() as hindered:
        hindered.setattr(client, "get_file", meanwhile)
        cache.fetch()
    assert not cache.folder.exists()
    assert "has changed while it was fetched, and is not used" in capsys.readouterr().err
    cache.fetch()
    assert [(cache.folder / name).read_text() for name in (ROWS, DONE, SEAL)] == ["2", "2", "2"]


def test_a_note_that_a_power_cut_has_spoilt_is_none(bucket: str) -> None:
    cache = opened(bucket)
    write(cache.folder, "1")
    cache.publish()
    (note,) = cache.folder.parent.glob(".model.shared")
    note.write_text("")
    write(cache.folder, "2")
    cache.fetch()
    assert (cache.folder / ROWS).read_text() == "2"  # it may be what nobody else has

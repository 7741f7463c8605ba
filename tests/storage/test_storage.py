"""Folders that are published to a store and mirrored from it; what is not whole is refused."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import requests
import s3fs
from tests.processes import copy_of_this_process

from numerate.errors import FailureError, NumerateError
from numerate.places import copy_folder, place_of
from numerate.storage import (
    exists,
    file_here,
    filesystem,
    here,
    publish,
    published,
    write,
)
from numerate.storage.atomic import InUseError
from numerate.storage.folder_kind import SUMS, FolderKind

pytest_plugins = ("tests.trained",)

SEAL = "manifest.json"
KIND = FolderKind("a test's folder", SEAL, lambda _: None, r"(?!thesis|notes).*")


def fill(folder: Path, text: str = "one", *, more: tuple[str, ...] = ()) -> None:
    (folder / "inner").mkdir()
    for name in ("a.txt", "inner/b.txt", *more):
        (folder / name).write_text(f"{name} {text}")
    (folder / SEAL).write_text(json.dumps({"text": text}))


def put(place: str, text: str = "one", *, force: bool = False, more: tuple[str, ...] = ()) -> None:
    with published(place, KIND, force=force) as folder:
        fill(folder, text, more=more)


def content(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def local_leftovers(cache: Path) -> list[str]:
    """What is neither a lock nor what was fetched."""
    found = [path.name for path in cache.rglob("*")] if cache.exists() else []
    return [name for name in found if name == "@work" or name.startswith(".partial")]


@pytest.fixture
def client(bucket: str) -> s3fs.S3FileSystem:
    """The one by which our code sees the store, to be hindered."""
    return filesystem(f"s3://{bucket}")[0]


@pytest.fixture(params=["s3", "memory"])
def place(request: pytest.FixtureRequest, bucket: str) -> str:
    return f"{request.param}://{bucket}/some/place"


def test_what_is_published_is_what_is_fetched(place: str, machine: Path, tmp_path: Path) -> None:
    expected = tmp_path / "expected"
    expected.mkdir()
    fill(expected)
    put(place)
    assert content(here(place)) == content(expected)
    assert place_of(here(place)) == place
    assert here(f"{place}/") == here(place)
    assert file_here(f"{place}/a.txt").read_text() == "a.txt one"
    assert place_of(file_here(f"{place}/a.txt")) == f"{place}/a.txt"
    assert exists(place)
    assert not exists(f"{place}/b.txt")
    assert local_leftovers(machine) == []


def test_it_is_fetched_once_and_anew_where_it_has_changed(
    bucket: str, s3: s3fs.S3FileSystem, client: s3fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, fetched = f"s3://{bucket}/d", []
    get_file = client.get_file

    def counted(path: str, *rest: object, **more: object) -> None:
        fetched.append(path.rpartition("/")[2])
        get_file(path, *rest, **more)

    monkeypatch.setattr(client, "get_file", counted)
    put(place)
    first = here(place)
    assert sorted(fetched) == ["a.txt", "b.txt", SEAL]
    fetched.clear()
    assert here(place) == first
    assert fetched == []
    write(f"{place}/a.txt", b"other")
    second = here(place)
    assert fetched == ["a.txt"]  # the rest is what it was
    assert (second / "a.txt").read_text() == "other"
    assert (first / "a.txt").read_text() == "a.txt one"  # who reads the old one, reads on


def test_versions_that_nobody_uses_are_forgotten(bucket: str, s3: s3fs.S3FileSystem) -> None:
    place, folders = f"s3://{bucket}/d", []
    for text in ("one", "two", "three"):
        put(place, text, force=True)
        folders.append(here(place))
        if text == "one":
            os.utime(folders[0], (0, 0))
    kept = copy_folder(place, "states")  # not a version: what is worked on here
    assert [folder.exists() for folder in folders] == [False, True, True]
    kept.mkdir()
    os.utime(kept, (0, 0))
    put(place, "four", force=True)
    here(place)
    assert kept.exists()


def test_an_existing_place_is_replaced_only_by_force(place: str) -> None:
    put(place, more=("c.txt",))
    with pytest.raises(NumerateError, match=f"^{place}: already exists; choose another place or"):
        put(place, "two")
    assert content(here(place))["a.txt"] == "a.txt one"
    put(place, "two", force=True)
    assert content(here(place)) == {
        "a.txt": "a.txt two",
        "inner/b.txt": "inner/b.txt two",
        SEAL: '{"text": "two"}',
    }


def test_what_is_not_ours_is_not_replaced(bucket: str, s3: s3fs.S3FileSystem) -> None:
    place = f"s3://{bucket}/d"
    put(place)
    s3.pipe_file(f"{bucket}/d/thesis.txt", b"years of work")
    message = f"^{place}: holds thesis.txt, which numerate did not write; move it away or choose"
    with pytest.raises(NumerateError, match=message):
        put(place, force=True)
    s3.rm_file(f"{bucket}/d/{SEAL}")
    with pytest.raises(NumerateError, match=f"{SEAL} is missing, so it is not replaced"):
        put(place, force=True)
    assert s3.cat_file(f"{bucket}/d/thesis.txt") == b"years of work"


def test_a_failure_before_the_end_changes_nothing(place: str, machine: Path) -> None:
    put(place)

    def interrupted() -> None:
        with published(place, KIND, force=True) as folder:
            (folder / "a.txt").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert content(here(place))["a.txt"] == "a.txt one"
    put(place, "two", force=True)  # nobody holds it any more
    assert local_leftovers(machine) == []


def test_a_partial_upload_is_refused_and_replaced(
    bucket: str, s3: s3fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"s3://{bucket}/d"
    put(place)

    def killed_midway() -> None:
        def put_whole(*_: object) -> None:
            os._exit(9)

        publish.put_whole = put_whole  # hashes and the sealing file come last
        s3fs.S3FileSystem.clear_instance_cache()  # its connections are the other process's
        put(place, "two", force=True, more=("c.txt",))

    process = copy_of_this_process(_in_a_new_loop, killed_midway)
    process.join()
    assert process.exitcode == 9
    assert s3.cat_file(f"{bucket}/d/c.txt") == b"c.txt two"  # so far it had come
    with pytest.raises(NumerateError, match=f"^{place}: incomplete: {SEAL} or config.json is miss"):
        here(place)
    with pytest.raises(NumerateError, match=f"^{place}: holds what was not written whole; choose"):
        put(place, "three")
    put(place, "three", force=True)
    assert content(here(place)).keys() == {"a.txt", "inner/b.txt", SEAL}


def test_a_place_whose_replacement_failed_is_replaced_the_next_time(
    place: str, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the old has files that the new has not."""
    put(place, more=("calibration.json",))
    store, root = filesystem(place)
    put_file = store.put_file

    def full(local: str, path: str, **more: object) -> None:
        if path.endswith("a.txt"):
            raise OSError(28, "No space left on device")
        put_file(local, path, **more)

    with monkeypatch.context() as patched:
        patched.setattr(store, "put_file", full)
        with pytest.raises(FailureError, match=f"^{place}/a.txt: No space left on device; what"):
            put(place, "two", force=True)
    assert store.find(root) == []  # what is left of the old one is of no use to anybody
    put(place, "three", force=True)
    assert content(here(place)).keys() == {"a.txt", "inner/b.txt", SEAL}


def test_what_another_brought_during_a_failed_replacement_is_not_replaced(
    bucket: str, s3: s3fs.S3FileSystem, client: s3fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"s3://{bucket}/d"
    put(place)

    def full(*_: object) -> None:
        s3.pipe_file(f"{bucket}/d/thesis.txt", b"years of work")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(client, "put_file", full)
        with pytest.raises(FailureError, match="No space left on device"):
            put(place, "two", force=True)
    with pytest.raises(NumerateError, match=f"^{place}: {SEAL} is missing, so it is not replaced"):
        put(place, "three", force=True)
    assert s3.find(f"{bucket}/d") == [f"{bucket}/d/thesis.txt"]


def _in_a_new_loop(call: object) -> None:
    """fsspec's thread is not in a copy of this process."""
    import fsspec.asyn

    fsspec.asyn.reset_lock()
    fsspec.asyn.iothread[0] = fsspec.asyn.loop[0] = None
    call()


def test_the_second_writer_on_a_machine_is_told(bucket: str) -> None:
    place = f"s3://{bucket}/d"
    with published(place, KIND) as folder:
        with pytest.raises(InUseError, match=f"^{place}: in use by process {os.getpid()} on .*"):
            put(place, force=True)
        fill(folder)
    put(place, "two", force=True)
    assert content(here(place))["a.txt"] == "a.txt two"


@contextmanager
def another_machine(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(cache))
        yield


def test_whoever_is_slower_without_force_replaces_nothing(
    bucket: str, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"s3://{bucket}/d"

    def slower() -> None:
        with published(place, KIND) as folder:
            fill(folder, "slower")
            with another_machine(monkeypatch, tmp_path / "another"):
                put(place, "faster")

    told = f"^{place}: already exists; choose another place or add --force; what was made is kept"
    with pytest.raises(FailureError, match=told) as caught:
        slower()
    assert content(here(place))["a.txt"] == "a.txt faster"
    kept = Path(str(caught.value).rpartition(" kept in ")[2])
    assert content(kept)["a.txt"] == "a.txt slower"


@pytest.mark.parametrize("midway", ["a.txt", "inner/b.txt", SUMS, SEAL])
def test_two_who_write_at_the_same_time_make_no_mixture_that_is_read(
    midway: str,
    bucket: str,
    client: s3fs.S3FileSystem,
    machine: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second begins, and ends, just before the first uploads one of its files."""
    place = f"s3://{bucket}/d"
    put(place)
    monkeypatch.setattr("numerate.storage.stored_files.AT_ONCE", 1)
    put_file, put_whole = client.put_file, publish.put_whole
    waiting = [midway]

    def meanwhile(path: str) -> None:
        if waiting and path.endswith(waiting[0]):
            waiting.clear()
            with another_machine(monkeypatch, tmp_path / "another"):
                put(place, "two", force=True)

    def put_file_later(local: str, path: str) -> None:
        meanwhile(path)
        put_file(local, path)

    def put_whole_later(system: s3fs.S3FileSystem, path: str, data: bytes) -> None:
        meanwhile(path)
        put_whole(system, path, data)

    monkeypatch.setattr(client, "put_file", put_file_later)
    monkeypatch.setattr(publish, "put_whole", put_whole_later)
    with suppress(NumerateError):  # the second may have found the first's files
        put(place, "one", force=True)
    assert not waiting
    if midway == "a.txt":  # the first goes on to upload all of its own
        assert content(here(place))["inner/b.txt"] == "inner/b.txt one"
    else:
        with pytest.raises(FailureError, match="two processes wrote at the same time"):
            here(place)
    put(place, "three", force=True)
    assert content(here(place))["a.txt"] == "a.txt three"


def test_a_file_that_is_not_what_was_published_is_refused(
    bucket: str, s3: s3fs.S3FileSystem, machine: Path
) -> None:
    place = f"s3://{bucket}/d"
    put(place)
    s3.pipe_file(f"{bucket}/d/inner/b.txt", b"inner/b.txt two")  # of the same size
    with pytest.raises(FailureError, match=f"^{place}/inner/b.txt: got another hash than that of"):
        here(place)
    assert local_leftovers(machine) == []
    s3.rm_file(f"{bucket}/d/{SUMS}")  # as where somebody else brought the folder
    assert (here(place) / "inner" / "b.txt").read_text() == "inner/b.txt two"


def test_a_copy_that_others_made_of_what_was_published_is_replaced(
    bucket: str, s3: s3fs.S3FileSystem, tmp_path: Path
) -> None:
    put(f"s3://{bucket}/d")
    s3.get(f"{bucket}/d", str(tmp_path / "d"), recursive=True)
    assert (tmp_path / "d" / SUMS).exists()
    kind = replace(KIND, folders=frozenset({"inner"}))
    with published(tmp_path / "d", kind, force=True) as folder:
        fill(folder, "two")
    assert content(tmp_path / "d")["a.txt"] == "a.txt two"


def test_what_a_power_cut_spoils_of_the_mirror_is_fetched_again(
    bucket: str, s3: s3fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"s3://{bucket}/d"
    put(place)
    folder = here(place)
    folder.with_suffix(".json").write_text("")
    (folder / "a.txt").write_text("")
    assert (here(place) / "a.txt").read_text() == "a.txt one"

    def no_links(*_: object) -> None:
        raise OSError("Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    write(f"{place}/a.txt", b"anew")
    found = content(here(place))
    assert (found["a.txt"], found["inner/b.txt"]) == ("anew", "inner/b.txt one")


def test_a_bucket_that_disappears_midway(
    bucket: str,
    s3: s3fs.S3FileSystem,
    machine: Path,
    client: s3fs.S3FileSystem,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put_file = client.put_file

    def gone(local: str, path: str, **more: object) -> None:
        if path.endswith("a.txt"):
            s3.rm(bucket, recursive=True)
        put_file(local, path, **more)

    monkeypatch.setattr(client, "put_file", gone)
    monkeypatch.setattr("numerate.storage.stored_files.AT_ONCE", 1)
    told = f"^s3://{bucket}/d.*: no such bucket.*; what was made is kept in "
    with pytest.raises(NumerateError, match=told) as caught:
        put(f"s3://{bucket}/d")
    assert not s3.exists(bucket)
    assert local_leftovers(machine) == []
    assert content(Path(str(caught.value).rpartition(" kept in ")[2]))["a.txt"] == "a.txt one"


def test_what_changes_while_it_is_read_is_no_mixture(
    bucket: str,
    s3: s3fs.S3FileSystem,
    machine: Path,
    client: s3fs.S3FileSystem,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place, times = f"s3://{bucket}/d", 0
    put(place)
    get_file = client.get_file

    def changed(path: str, *rest: object, **more: object) -> None:
        nonlocal times
        get_file(path, *rest, **more)
        if path.endswith("a.txt") and (times := times + 1) <= limit:
            write(f"{place}/a.txt", f"time {times}".encode())

    monkeypatch.setattr(client, "get_file", changed)
    limit = 1
    assert (here(place) / "a.txt").read_text() == "time 1"
    limit = 100
    write(f"{place}/a.txt", b"anew")
    with pytest.raises(FailureError, match=f"^{place}: changes while it is read; wait"):
        here(place)
    assert local_leftovers(machine) == []


def test_a_file_that_is_cut_short_on_the_way(
    bucket: str, machine: Path, client: s3fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(f"s3://{bucket}/d")

    def cut(path: str, target: str, **_: object) -> None:
        Path(target).write_bytes(b"a")

    monkeypatch.setattr(client, "get_file", cut)
    with pytest.raises(FailureError, match=r"fetched in part: got 1 bytes, expected \d+"):
        here(f"s3://{bucket}/d")
    assert local_leftovers(machine) == []


@pytest.mark.parametrize("use", [here, put, lambda place: write(f"{place}/x", b"")])
def test_no_such_bucket(use, s3: s3fs.S3FileSystem, machine: Path) -> None:
    with pytest.raises(NumerateError, match=r"^s3://no-such-bucket/d.*: no such bucket"):
        use("s3://no-such-bucket/d")
    assert local_leftovers(machine) == []


@pytest.mark.parametrize("use", [here, put, lambda place: write(f"{place}/x", b"")])
def test_no_permission(use, bucket: str, server: str, machine: Path) -> None:
    requests.post(f"{server}/moto-api/reset-auth", data=b"0", timeout=10)  # from now on
    try:
        with pytest.raises(NumerateError, match=f"^s3://{bucket}/d.*: no permission: ") as caught:
            use(f"s3://{bucket}/d")
    finally:
        requests.post(f"{server}/moto-api/reset-auth", data=b"inf", timeout=10)
    assert "a-secret-of-tests" not in str(caught.value)
    assert local_leftovers(machine) == []


def test_nothing_there(bucket: str) -> None:
    with pytest.raises(NumerateError, match=f"^s3://{bucket}/d: nothing there, expected a file or"):
        here(f"s3://{bucket}/d")


def test_a_file_is_no_folder(bucket: str, s3: s3fs.S3FileSystem) -> None:
    s3.pipe_file(f"{bucket}/d", b"a file")
    with pytest.raises(NumerateError, match=f"^s3://{bucket}/d: is a file, expected a folder"):
        put(f"s3://{bucket}/d", force=True)


def test_what_is_written_to_a_copy_is_written_to_its_place(
    bucket: str, s3: s3fs.S3FileSystem
) -> None:
    put(f"s3://{bucket}/d")
    folder = here(f"s3://{bucket}/d")
    write(folder / "a.txt", b"mine")
    write(folder / "new.txt", b"too")
    assert s3.cat_file(f"{bucket}/d/a.txt") == b"mine"
    assert s3.cat_file(f"{bucket}/d/new.txt") == b"too"
    assert (folder / "a.txt").read_bytes() == b"mine"
    s3.rm_file(f"{bucket}/d/new.txt")
    s3.pipe_file(f"{bucket}/d/a.txt", b"a.txt one")  # as it was: yet the copy is of no version
    assert (here(f"s3://{bucket}/d") / "a.txt").read_text() == "a.txt one"
    write(file_here(f"s3://{bucket}/not/yet.txt"), b"here")
    assert s3.cat_file(f"{bucket}/not/yet.txt") == b"here"


def test_names_that_lead_out_are_refused(bucket: str, s3: s3fs.S3FileSystem, machine: Path) -> None:
    put(f"s3://{bucket}/d")
    s3.pipe_file(f"{bucket}/d/../../../evil.txt", b"out")
    with pytest.raises(NumerateError, match="which leads out of it"):
        here(f"s3://{bucket}/d")
    assert not list(machine.parent.rglob("evil.txt"))

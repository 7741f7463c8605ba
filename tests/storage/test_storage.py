"""Folders that are published to a store and mirrored from it; what is not whole is refused."""

import json
import os
import threading
import time
from pathlib import Path
from socket import gethostname

import pytest
import requests
import s3fs
from tests.disks import Disk
from tests.processes import copy_of_this_process

from numerate.errors import FailureError, NumerateError
from numerate.places import copy_folder, place_of, work_of
from numerate.storage import (
    exists,
    extended,
    file_here,
    filesystem,
    here,
    publish,
    published,
    write,
)
from numerate.storage import hold as holds
from numerate.storage.atomic import InUseError
from numerate.storage.folder_kind import FolderKind
from numerate.storage.shared_folder import SharedFolder
from numerate.storage.stored_files import HOLD

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
    s3.pipe_file(f"{bucket}/d/a.txt", b"other")
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


@pytest.mark.parametrize(
    "error", [NotImplementedError(), TypeError("mode"), OSError("Not implemented")]
)
def test_a_store_that_cannot_refuse_what_exists(
    error: Exception, bucket: str, client: s3fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe_file = client.pipe_file

    def simple(path: str, data: bytes, **choices: object) -> None:
        if choices:
            raise error
        pipe_file(path, data)

    monkeypatch.setattr(client, "pipe_file", simple)
    put(f"s3://{bucket}/d")
    with published(f"s3://{bucket}/d", KIND, force=True) as folder:
        with pytest.raises(InUseError):
            put(f"s3://{bucket}/d", force=True)
        fill(folder, "two")
    assert content(here(f"s3://{bucket}/d"))["a.txt"] == "a.txt two"


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
        def create(*_: object) -> None:
            os._exit(9)

        publish.create = create  # the sealing file comes last
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
    put(place, "three", force=True)  # its writer is gone, so its hold is, too
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


def test_the_second_of_two_writers_is_told(bucket: str) -> None:
    place = f"s3://{bucket}/d"
    with published(place, KIND) as folder:
        with pytest.raises(InUseError, match=f"^{place}: in use by process {os.getpid()} on .*"):
            put(place, force=True)
        fill(folder)
    put(place, "two", force=True)
    assert content(here(place))["a.txt"] == "a.txt two"


def test_of_many_writers_at_once_one_writes(bucket: str) -> None:
    place = f"s3://{bucket}/d"
    barrier, told = threading.Barrier(4), []

    def one(text: str) -> None:
        barrier.wait()
        try:
            put(place, text)
        except NumerateError as error:
            told.append(str(error))

    threads = [threading.Thread(target=one, args=(str(text),)) for text in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 3
    assert all("in use by" in line or "already exists" in line for line in told)
    found = content(here(place))
    (text,) = {found["a.txt"].split()[1], found["inner/b.txt"].split()[1]}
    assert json.loads(found[SEAL]) == {"text": text}


def test_a_hold_of_another_machine_ends_when_it_is_not_renewed(
    bucket: str, s3: s3fs.S3FileSystem
) -> None:
    place, now = f"s3://{bucket}/d", time.time()
    note = {"id": "x", "process": 1, "machine": "another", "since": now - 900, "renewed": now}
    s3.pipe_file(f"{bucket}/d/{HOLD}", json.dumps(note).encode())
    with pytest.raises(InUseError, match="in use by process 1 on another since"):
        put(place)
    note["renewed"] -= holds.GIVEN_UP + 1
    s3.pipe_file(f"{bucket}/d/{HOLD}", json.dumps(note).encode())
    put(place)
    assert not s3.exists(f"{bucket}/d/{HOLD}")
    s3.pipe_file(f"{bucket}/d/{HOLD}", b'{"id": "spoilt"}')
    put(place, force=True)


def test_a_hold_of_a_process_whose_number_is_anothers_now_ends_too(
    bucket: str, s3: s3fs.S3FileSystem
) -> None:
    """As after the restart of a container, whose first process has number 1 again."""
    now = time.time()
    note = {"id": "x", "process": os.getpid(), "machine": gethostname(), "since": now - 900}
    s3.pipe_file(f"{bucket}/d/{HOLD}", json.dumps(note | {"renewed": now}).encode())
    with pytest.raises(InUseError, match="in use by process"):
        put(f"s3://{bucket}/d")
    renewed = now - holds.GIVEN_UP - 1
    s3.pipe_file(f"{bucket}/d/{HOLD}", json.dumps(note | {"renewed": renewed}).encode())
    put(f"s3://{bucket}/d")


def test_of_another_container_it_is_not_said_that_a_process_is_gone(
    bucket: str, s3: s3fs.S3FileSystem
) -> None:
    """Some have the name of their machine, and each its own numbers of processes."""
    now, ended = time.time(), copy_of_this_process(int)
    ended.join()
    note = {"id": "x", "process": ended.pid, "machine": gethostname(), "since": now, "renewed": now}
    s3.pipe_file(f"{bucket}/d/{HOLD}", json.dumps(note | {"numbers": "pid:[1]"}).encode())
    with pytest.raises(InUseError, match=f"in use by process {ended.pid} on "):
        put(f"s3://{bucket}/d")
    note["numbers"] = holds._numbers()
    s3.pipe_file(f"{bucket}/d/{HOLD}", json.dumps(note).encode())
    put(f"s3://{bucket}/d")


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
    s3.pipe_file(f"{bucket}/d/inner/b.txt", b"anew")
    found = content(here(place))
    assert (found["a.txt"], found["inner/b.txt"]) == ("a.txt one", "anew")


def test_who_has_lost_its_hold_seals_nothing(bucket: str, s3: s3fs.S3FileSystem) -> None:
    place, note = f"s3://{bucket}/d", f"{bucket}/d/{HOLD}"

    def robbed() -> None:
        with published(place, KIND) as folder:
            fill(folder)
            others = json.loads(s3.cat_file(note)) | {"id": "other"}
            s3.pipe_file(note, json.dumps(others).encode())

    with pytest.raises(FailureError, match=f"^{place}: another process has begun to write there"):
        robbed()
    assert not s3.exists(f"{bucket}/d/{SEAL}")
    assert s3.exists(note)  # it is the other's


def test_a_hold_is_renewed(
    bucket: str, s3: s3fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holds, "RENEWED", 0.02)
    note = f"{bucket}/d/{HOLD}"
    with published(f"s3://{bucket}/d", KIND) as folder:
        first = json.loads(s3.cat_file(note))
        while json.loads(s3.cat_file(note))["renewed"] == first["renewed"]:
            time.sleep(0.01)
        assert json.loads(s3.cat_file(note))["id"] == first["id"]
        fill(folder)


@pytest.fixture
def disk(tmp_path: Path) -> SharedFolder:
    """A folder where a file is there from its first byte on."""
    return SharedFolder.at(f"disk://{tmp_path}/d")


def test_a_hold_whose_note_is_being_written_is_no_others(
    disk: SharedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A renewal as others see it: half of the note, then none, then all of it."""
    cat_file = Disk.cat_file

    def renewed_meanwhile(self: Disk, path: str, **options: object) -> bytes:
        data: bytes = cat_file(self, path, **options)
        seen = states.pop() if states else "all"
        if seen == "nothing":
            raise FileNotFoundError(path)
        return data[:9] if seen == "half" else data

    monkeypatch.setattr(Disk, "cat_file", renewed_meanwhile)
    states: list[str] = []
    with disk.held():
        states = ["nothing", "half"]
        disk.write("a.txt", b"one")
        states = ["nothing", "half"]
        with pytest.raises(InUseError, match="in use by process"), disk.held():
            pass
    assert states == []


def test_a_renewal_that_is_cut_off_leaves_the_note(
    disk: SharedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with disk.held():
        with monkeypatch.context() as patched:
            patched.setattr(Disk, "is_cut", True)
            with pytest.raises(FailureError, match="the connection was lost"):
                disk._hold.renew()
        disk._hold.check()
        disk.write("a.txt", b"one")


def test_a_note_on_its_way_is_no_file_of_the_folder(
    disk: SharedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An audit removes what it finds there of others."""
    mv, seen = Disk.mv, []

    def looked(self: Disk, old: str, new: str, **options: object) -> None:
        seen.append(disk.names())
        mv(self, old, new, **options)

    with disk.held():
        disk.write("a.txt", b"one")
        monkeypatch.setattr(Disk, "mv", looked)
        disk._hold.renew()
    assert seen == [["a.txt"]]


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


def test_what_was_added_to_a_folder_is_kept_where_that_has_gone(
    bucket: str, s3: s3fs.S3FileSystem, machine: Path
) -> None:
    put(f"s3://{bucket}/d")

    def add() -> None:
        with extended(f"s3://{bucket}/d") as folder:
            (folder / "report.html").write_text("of hours")
            s3.rm(bucket, recursive=True)

    with pytest.raises(NumerateError, match=r"; what was made is kept in ") as caught:
        add()
    assert local_leftovers(machine) == []
    assert content(Path(str(caught.value).rpartition(" kept in ")[2]))["report.html"] == "of hours"


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
            s3.pipe_file(f"{bucket}/d/a.txt", f"time {times}".encode())

    monkeypatch.setattr(client, "get_file", changed)
    limit = 1
    assert (here(place) / "a.txt").read_text() == "time 1"
    limit = 100
    s3.pipe_file(f"{bucket}/d/a.txt", b"anew")
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


def test_a_folder_is_extended(bucket: str, s3: s3fs.S3FileSystem, machine: Path) -> None:
    place = f"s3://{bucket}/d"
    put(place)
    before = s3.info(f"{bucket}/d/a.txt")["LastModified"]

    def interrupted() -> None:
        with extended(place) as folder:
            assert (folder / "a.txt").read_text() == "a.txt one"
            (folder / "c.txt").write_text("new")
            (folder / "inner" / "b.txt").unlink()
            raise KeyboardInterrupt  # what was made before stays

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert content(here(place)).keys() == {"a.txt", "c.txt", SEAL}
    assert s3.info(f"{bucket}/d/a.txt")["LastModified"] == before
    assert not work_of(place).exists()
    assert local_leftovers(machine) == []


def test_names_that_lead_out_are_refused(bucket: str, s3: s3fs.S3FileSystem, machine: Path) -> None:
    put(f"s3://{bucket}/d")
    s3.pipe_file(f"{bucket}/d/../../../evil.txt", b"out")
    with pytest.raises(NumerateError, match="which leads out of it"):
        here(f"s3://{bucket}/d")
    assert not list(machine.parent.rglob("evil.txt"))

"""Work on a Ray cluster of several nodes, some of which die: the engine, and preparing with it.

All in one file, since a cluster takes its time to come.
"""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import s3fs
from moto.server import ThreadedMotoServer
from tests.clusters import SmallCluster, cluster_of

import numerate
from numerate.documents.sources import Source
from numerate.engines import engine, ray_engine
from numerate.errors import FailureError, NumerateError, SourceError
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare
from numerate.reports.notices import kept, say
from numerate.storage.atomic import InUseError, locked

SMALL = 1500  # bytes a block


@pytest.fixture(scope="module")
def cluster() -> Iterator[SmallCluster]:
    """Whose machines know of an S3 server on loopback."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", "http://{}:{}".format(*server.get_host_and_port()))
        patch.setenv("AWS_ACCESS_KEY_ID", "tests")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-of-tests")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        s3fs.S3FileSystem.clear_instance_cache()  # which has the server of other tests
        with cluster_of(2) as cluster:
            yield cluster
    server.stop()


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numerate.documents.sources.SMALLEST_BLOCK", SMALL)
    monkeypatch.setattr("numerate.documents.sources.LARGEST_BLOCK", SMALL)


class Squares:
    """What workers make: it leaves a file, so that tests can count."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self) -> Callable[[int], int]:
        (self.folder / f"made-{os.getpid()}").touch()
        return self.square

    def square(self, number: int) -> int:
        if number == 13:
            raise NumerateError("13: unlucky")
        if number == 666:
            os._exit(1)
        if number % 10 == 0:
            say(f"{number} is round")
        time.sleep(0.01)
        return number * number


def test_results_come_in_order_from_all_nodes(cluster: SmallCluster, tmp_path: Path) -> None:
    drawn = []

    def units() -> Iterator[int]:
        for number in range(100, 200):
            drawn.append(number)
            yield number

    with kept() as said:
        results = engine("ray", processes=0).map(Squares(tmp_path), units())
        assert drawn == []
        assert next(results) == 100 * 100
        assert len(drawn) <= ray_engine.WINDOW * 2
        assert list(results) == [number * number for number in range(101, 200)]
    assert said == [f"{number} is round" for number in range(100, 200, 10)]
    assert 1 <= len(list(tmp_path.glob("made-*"))) <= 2


def test_mistakes_and_what_kills_workers(cluster: SmallCluster, tmp_path: Path) -> None:
    workers = engine("ray", processes=1)
    results = workers.map(Squares(tmp_path), [1, 2, 13, 4])
    assert [next(results), next(results)] == [1, 4]
    with pytest.raises(NumerateError, match=r"^13: unlucky$"):
        next(results)
    with pytest.raises(FailureError, match=r"^unit 3, 666: 3 workers died of it: "):
        list(workers.map(Squares(tmp_path), [1, 2, 666, 4]))


def test_workers_of_another_version_are_refused(
    cluster: SmallCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = numerate.__version__
    monkeypatch.setattr(numerate, "__version__", "9.9")
    with pytest.raises(NumerateError, match=rf"has numerate {ours}, expected 9\.9 as here"):
        list(engine("ray").map(Squares(tmp_path), [1]))


class Gpus:
    """What a worker sees of the GPUs of its machine; Ray takes our word that there are some."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder, self.workers = folder, workers

    def __call__(self) -> Callable[[int], tuple[int, str | None]]:
        (self.folder / f"{os.getpid()}").touch()
        return self.seen

    def seen(self, number: int) -> tuple[int, str | None]:
        deadline = time.monotonic() + 20
        while len(list(self.folder.iterdir())) < self.workers and time.monotonic() < deadline:
            time.sleep(0.1)  # until all have come, so that each has something to do
        return os.getpid(), os.environ.get("CUDA_VISIBLE_DEVICES")


def test_as_many_workers_as_gpus_have_room_for(cluster: SmallCluster, tmp_path: Path) -> None:
    with cluster.gpus(2):
        found = dict(engine("ray", processes=0, gpus=0.5).map(Gpus(tmp_path, 4), range(20)))
    assert Counter(found.values()) == {"0": 2, "1": 2}


def test_a_cluster_without_room(
    cluster: SmallCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = {"CPU": 2, "GPU": 1}  # which is gone when it is wanted
    monkeypatch.setattr(ray_engine, "STANDSTILL", 0.2)
    monkeypatch.setattr(ray_engine.ray, "cluster_resources", lambda: resources)
    expected = "no worker could be started for 0 seconds, expected a free CPU and GPU"
    with pytest.raises(FailureError, match=expected):
        list(engine("ray", processes=1, gpus=1).map(Squares(tmp_path), [1]))


def test_an_address_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine.ray, "is_initialized", lambda: False)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = "{}:{}".format(*unused.getsockname())
        with pytest.raises(FailureError, match=f"Ray at {address}: nobody answers: "):
            list(engine("ray", address=address).map(list, [1]))  # type: ignore[arg-type]
    for wrong, reason in (("nowhere", "expected HOST:PORT"), ("localhost:x", "port 'x'")):
        with pytest.raises(NumerateError, match=reason):
            list(engine("ray", address=wrong).map(list, [1]))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def articles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of several kinds: with copies, tables, files that take in others, and what cannot be read."""
    folder = tmp_path_factory.mktemp("source") / "articles"
    for number in range(60):
        part = folder / f"{number % 7}"
        part.mkdir(parents=True, exist_ok=True)
        texts = [f"In {number} of {n + 100} patients, {n}.5 % improved." for n in range(20)]
        (part / f"{number}.txt").write_text("\n\n".join(texts))
        (part / f"{number}.tex").write_text(f"Of {number + 500} people. \\input{{{number}-part}}")
        (part / f"{number}-part.tex").write_text(f"Then {number + 800} left.")
    (folder / "copy.txt").write_bytes((folder / "3" / "3.txt").read_bytes())
    (folder / "2" / "kanji.txt").write_bytes(b"37 \x81\x8e")
    (folder / "picture.png").write_bytes(b"x")
    return folder


@pytest.fixture(scope="module")
def expected(articles: Path) -> dict[str, bytes]:
    prepare(articles, articles.parent / "expected", keep="numerals")
    return content(articles.parent / "expected")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_nodes_that_die_at_random_change_no_byte(
    cluster: SmallCluster, articles: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    chance, blocks = random.Random(1), 0
    deaths = set(chance.sample(range(2, 25), 2))

    def kill(*_: object) -> None:
        nonlocal blocks
        blocks += 1
        if blocks in deaths:
            cluster.replace(chance.randrange(2))

    out = tmp_path / "out"
    prepare(articles, out, keep="numerals", engine="ray", processes=2, report=kill)
    assert blocks > 25
    assert content(out) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


KILLED = """
import os, signal, sys
from numerate.documents import sources
from numerate.lm.data.prepare import prepare
sources.SMALLEST_BLOCK = sources.LARGEST_BLOCK = {small}
left = 10
def report(*_):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
prepare({source!r}, {out!r}, keep="numerals", engine="ray", address={address!r}, report=report)
"""


def test_a_killed_driver_is_resumed_and_nothing_is_read_twice(
    cluster: SmallCluster, articles: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    source, out, staged = tmp_path / "articles", tmp_path / "out", tmp_path / ".out.staged"
    subprocess.run(["cp", "-a", str(articles), str(source)], check=True)
    names = {"source": str(source), "out": str(out), "address": cluster.address}
    script = KILLED.format(small=SMALL, **names)
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert done.returncode == -9, done.stderr
    assert not out.exists()
    finished = {int(path.stem.removeprefix("block-")) for path in staged.glob("*/block-*.arrow")}
    assert len(finished) >= 10
    spoilt = 0
    for block in Source(source, "auto").blocks():
        for name in block.files if block.number in finished else []:
            path = source / name
            status = path.stat()
            path.write_bytes(b"\xff" * status.st_size)  # would be no document
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            spoilt += 1
    assert spoilt >= 10
    prepare(source, out, keep="numerals", engine="ray")
    assert content(out) == expected
    assert not staged.exists()


def test_what_was_staged_is_for_the_same_job_alone(
    cluster: SmallCluster, articles: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    out, staged = tmp_path / "out", tmp_path / ".out.staged"
    options: dict[str, Any] = {"engine": "ray", "processes": 1}
    with kept() as said, pytest.raises(KeyboardInterrupt):
        prepare(articles, out, keep="all", report=interrupt, **options)
    assert "the same command goes on" in said[-1]
    (job,) = staged.iterdir()
    assert list(job.glob("block-*.arrow"))
    assert not list(job.glob("token-*"))
    for folder in (staged, job):
        with pytest.raises(NumerateError, match=r"manifest\.json"):
            Dataset.open(folder)
    with kept() as said:
        prepare(articles, out, keep="numerals", **options)
    assert "holds blocks of another source, other options or another version" in said[0]
    assert content(out) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_source_staging_and_dataset_elsewhere(
    cluster: SmallCluster, articles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = s3fs.S3FileSystem(use_listings_cache=False)
    store.mkdir("bucket")
    for folder in ("1", "2"):
        store.put(str(articles / folder), f"bucket/source/{folder}", recursive=True)
        shutil.copytree(articles / folder, tmp_path / "source" / folder)
    staged: list[str] = []

    def interrupt(*_: object) -> None:
        staged.extend(store.find("bucket/.out.staged"))
        raise KeyboardInterrupt

    options: dict[str, Any] = {"engine": "ray", "processes": 1, "format": "text"}
    with pytest.raises(KeyboardInterrupt):
        prepare("s3://bucket/source", "s3://bucket/out", report=interrupt, **options)
    assert any("block-00000000" in name for name in staged)
    assert not store.exists("bucket/out/manifest.json")
    prepare("s3://bucket/source", "s3://bucket/out", **options)
    prepare(tmp_path / "source", tmp_path / "out", format="text")
    found = {path.rpartition("/")[2]: store.cat_file(path) for path in store.ls("bucket/out")}
    hashes = json.loads(found.pop(".numerate-sha256"))
    assert found == content(tmp_path / "out")
    assert hashes.keys() == found.keys()
    assert sorted(store.ls("bucket")) == ["bucket/out", "bucket/source"]


def test_places_that_workers_do_not_see(
    cluster: SmallCluster, articles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a worker elsewhere would meet, met by workers here."""

    monkeypatch.setattr("numerate.lm.data.prepare.BlockExtraction", _with_another_token)
    with pytest.raises(NumerateError, match=r"\.out\.staged/\w+: rows are staged there"):
        prepare(articles, tmp_path / "out", engine="ray")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()

    def vanish(*_: object) -> None:
        if source.exists():
            source.rename(tmp_path / "gone")

    source = tmp_path / "articles"
    subprocess.run(["cp", "-a", str(articles), str(source)], check=True)
    monkeypatch.setattr("numerate.documents.sources.SMALLEST_BLOCK", SMALL // 4)
    monkeypatch.setattr("numerate.documents.sources.LARGEST_BLOCK", SMALL // 4)
    with pytest.raises(SourceError, match="articles: no such folder on "):
        prepare(source, tmp_path / "out", engine="ray", report=vanish)
    assert not (tmp_path / "out").exists()


def test_two_drivers_do_not_write_to_one_place(articles: Path, tmp_path: Path) -> None:
    with locked(tmp_path / "out"), pytest.raises(InUseError, match=r"out: in use by process \d+"):
        prepare(articles, tmp_path / "out", engine="ray")
    assert list(tmp_path.iterdir()) == []


def _with_another_token(rules: Any, staging: Any, token: str) -> object:
    from numerate.lm.data.staging import BlockExtraction

    return BlockExtraction(rules, staging, f"{token}-of-another-machine")

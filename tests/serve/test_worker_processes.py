"""`numerate serve --workers 2`, as a service runs it: one port, two processes, a long life."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from tests.lm.model.plausibility.test_command import numerate
from tests.serve.test_command import started
from tests.serve.test_guard import wait_until
from tests.serve.test_server_metrics import samples

import numerate as numerate_package
from numerate.lm.data.tensor_file import rewrite_tensors
from numerate.serve.http_config import LOADING_SECONDS

PATH, ASKED = "v1/rank", {"claims": ["LV ejection fraction is 61 %.", "It is 612 %."]}
COUNTED = ("numerate_requests_total", "POST", f"/{PATH}", "200")
PATIENCE = 300.0  # seconds for workers to be replaced, on a machine that does other things
Server = tuple[subprocess.Popen[str], str, Path]


@pytest.fixture(scope="module")
def other(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with other weights, which predicts otherwise."""
    folder = tmp_path_factory.mktemp("other") / "run"
    shutil.copytree(run, folder)
    weights = folder / "model.safetensors"
    rewrite_tensors(weights, weights, lambda tensor: tensor * 0.7)
    numerate_package.load(folder).checker.glance("It is 5.", 0.1)  # calibrated, as by training
    return folder


@pytest.fixture(scope="module")
def server(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    served = tmp_path_factory.mktemp("served") / "run"
    shutil.copytree(run, served)
    with started(str(served), "--port", "0", "--workers", "2") as (process, address):
        wait_until_opened(lambda: len(opened(address)) == 2)
        yield process, address, served


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process.pid and b"spawn_main" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return sorted(found)


def ask(address: str) -> httpx.Response:
    """By a connection of its own, which any worker may accept."""
    return httpx.post(address + PATH, json=ASKED, timeout=60)


def counted(address: str, *key: str) -> float:
    return samples(httpx.get(f"{address}metrics", timeout=60).text).get(key, 0.0)


def distinct_answers(address: str, count: int = 12) -> set[str]:
    answers = [ask(address) for _ in range(count)]
    assert {answer.status_code for answer in answers} == {200}
    return {answer.text for answer in answers}


@contextmanager
def clients(address: str) -> Iterator[Counter[object]]:
    """Two who ask again and again, one on a connection that it keeps; what they get."""
    got: Counter[object] = Counter()
    over = threading.Event()

    def client(keeps: bool) -> None:
        with httpx.Client(timeout=60) as kept:
            while not over.is_set():
                post: Callable[..., httpx.Response] = kept.post if keeps else httpx.post
                try:
                    got[post(address + PATH, json=ASKED, timeout=60).status_code] += 1
                except httpx.HTTPError as error:
                    got[type(error).__name__] += 1
                over.wait(0.2)

    threads = [threading.Thread(target=client, args=(keeps,)) for keeps in (True, False)]
    for thread in threads:
        thread.start()
    try:
        yield got
    finally:
        over.set()
        for thread in threads:
            thread.join()


def replace_with(folder: Path, source: Path) -> None:
    """As training does it: each file whole, one after the other."""
    for file in source.iterdir():
        if file.is_file():
            shutil.copy(file, folder / f".{file.name}.new")
            os.replace(folder / f".{file.name}.new", folder / file.name)


def test_answers_do_not_depend_on_the_worker_and_counts_are_of_all(server: Server) -> None:
    process, address, _ = server
    assert len(workers_of(process)) == 2
    before = counted(address, *COUNTED)
    assert len(distinct_answers(address)) == 1
    wait_until(lambda: counted(address, *COUNTED) == before + 12)  # each once it was sent
    assert {counted(address, *COUNTED) for _ in range(8)} == {before + 12}
    health = httpx.get(f"{address}health")
    assert (health.status_code, health.json()["models"]) == (200, ["run"])


def opened(address: str) -> set[float]:
    """When each worker opened its models."""
    found = samples(httpx.get(f"{address}metrics", timeout=60).text)
    name = "numerate_model_loaded_timestamp_seconds"
    return {value for key, value in found.items() if key[0] == name}


def wait_until_opened(happened: Callable[[], object]) -> None:
    """Who asks all the time takes the core that a worker needs to start."""
    wait_until(happened, PATIENCE, pause=0.2)


def reload(process: subprocess.Popen[str], address: str) -> None:
    """Wait until all workers are others."""
    before = opened(address)
    process.send_signal(signal.SIGHUP)
    wait_until_opened(lambda: len(opened(address) - before) == len(opened(address)) == 2)
    wait_until(lambda: len(workers_of(process)) == 2, PATIENCE)


def spoil(folder: Path) -> None:
    (folder / ".spoilt").write_bytes(b"no weights")
    os.replace(folder / ".spoilt", folder / "model.safetensors")


def test_no_request_fails_while_workers_are_replaced(server: Server, other: Path) -> None:
    process, address, served = server
    (old,) = distinct_answers(address, 4)
    count = counted(address, *COUNTED)
    with clients(address) as got:
        replace_with(served, other)
        assert distinct_answers(address, 2) == {old}  # until it is told to
        reload(process, address)
        (new,) = distinct_answers(address)
    assert new != old
    assert set(got) == {200}
    asked = 2 + 12 + got[200]
    wait_until(lambda: counted(address, *COUNTED) == count + asked)  # also by those that ended


def test_a_run_that_cannot_be_opened_ends_no_worker(server: Server, run: Path) -> None:
    process, address, served = server
    (old,) = distinct_answers(address, 4)
    before, workers = opened(address), workers_of(process)
    spoil(served)
    with clients(address) as got:
        process.send_signal(signal.SIGHUP)
        assert process.stderr is not None
        seen = [next(line for line in process.stderr if "broken" in line)]
        seen += [next(line for line in process.stderr if "keeping worker" in line)]
        assert seen[0].startswith(f"numerate: {served}/model.safetensors: broken: ")
        assert (opened(address), workers_of(process)) == (before, workers)
        assert distinct_answers(address) == {old}
        assert httpx.get(f"{address}health").json()["status"] == "ok"
        replace_with(served, run)
        reload(process, address)
    (mended,) = distinct_answers(address)
    assert mended != old
    assert set(got) == {200}


def test_a_worker_that_dies_is_replaced_as_soon_as_its_run_can_be_opened(
    server: Server, run: Path
) -> None:
    process, address, served = server
    workers = workers_of(process)
    before, earlier = counted(address, *COUNTED), opened(address)
    spoil(served)
    os.kill(workers[0], signal.SIGSTOP)
    time.sleep(1)  # the supervisor has asked it whether it is alive
    os.kill(workers[0], signal.SIGKILL)
    died = time.monotonic()
    assert process.stderr is not None
    for _ in range(2):  # uvicorn tries it again
        next(line for line in process.stderr if "broken" in line)
        assert {ask(address).status_code for _ in range(5)} == {200}  # the other answers
    replace_with(served, run)
    wait_until_opened(lambda: opened(address) - earlier)
    assert time.monotonic() - died < LOADING_SECONDS  # no answer of the dead was waited for
    assert workers[1] in workers_of(process)
    wait_until(lambda: counted(address, *COUNTED) == before + 10)


def test_it_ends_when_told_to_and_answers_what_was_asked(server: Server) -> None:
    """The last test of this server."""
    process, address, _ = server
    workers = workers_of(process)
    answers: list[httpx.Response] = []
    long = {"text": "LV ejection fraction is 61 %. " * 150, "details": True}

    def check() -> None:
        answers.append(httpx.post(f"{address}v1/check", json=long, timeout=60))

    asking = threading.Thread(target=check)
    asking.start()
    wait_until(lambda: counted(address, "numerate_requests_in_flight") >= 2)
    process.send_signal(signal.SIGTERM)
    asking.join()
    assert answers[0].status_code == 200
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)


def test_workers_end_with_their_supervisor() -> None:
    with started("--port", "0", "--workers", "2", "--quiet") as (process, address):
        workers = workers_of(process)
        assert httpx.get(f"{address}health").json()["models"] == []
        process.kill()
        wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def test_told_to_end_while_it_loads_it_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "numerate", "serve", "--port", "0", "--workers", "2"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_until(lambda: any(tmp_path.iterdir()))  # where workers count, before they are started
        process.terminate()
        out, errors = process.communicate(timeout=120)
    assert (process.returncode, out, errors) == (0, b"", b"")
    assert not list(tmp_path.iterdir())


def test_models_that_cannot_be_served_are_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "numerate", "serve", str(tmp_path), "--port", "0", "--workers", "3"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"numerate: {tmp_path}: not a run: config.json is missing\n"


@pytest.mark.parametrize("count", ["0", "-1", "65", "many"])
def test_absurd_counts_are_refused(capsys: pytest.CaptureFixture[str], count: str) -> None:
    status, out, err = numerate(capsys, "serve", "--port", "0", "--workers", count)
    assert (status, out) == (2, "")
    assert "--workers" in err

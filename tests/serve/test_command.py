"""`numerate serve` as a user runs it: starting, stopping, and bad input."""

import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.lm.model.plausibility.test_command import numerate
from tests.serve.test_guard import wait_until

from numerate.cli.serve_command import serve
from numerate.errors import NumerateError
from numerate.lm.data.tensor_file import rewrite_tensors
from numerate.lm.model.source import ModelSource
from numerate.serve.hosts import is_loopback

SECRET = "Mrs Miller's potassium is 4.2"


@contextmanager
def started(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process of a server that is ready, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "numerate", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line or process.communicate()[1]
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


def test_a_running_request_is_answered_before_the_server_ends(run: Path) -> None:
    with started(str(run), "--port", "0") as (process, address):
        about = httpx.get(address + "v1/model", timeout=60).json()
        assert about["name"] == "run"
        assert len(about["examples"]) == 5
        long = ". ".join([about["examples"][0]] * 18)
        answers: list[httpx.Response] = []

        def ask() -> None:
            asked = {"text": long, "details": True}
            answers.append(httpx.post(address + "v1/check", json=asked, timeout=60))

        asking = threading.Thread(target=ask)
        asking.start()
        while not httpx.get(address + "v1/health", timeout=60).json()["busy"]:
            assert asking.is_alive(), "answered before it was seen to run"
            time.sleep(0.002)
        process.send_signal(signal.SIGTERM)
        asking.join()
        assert answers[0].status_code == 200
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0
        assert "Traceback" not in errors
        with pytest.raises(httpx.ConnectError):
            httpx.get(address)


def test_ctrl_c_ends_it_and_the_log_has_no_text(run: Path) -> None:
    with started(str(run), "--port", "0", "--host", "localhost") as (process, address):
        httpx.post(address + "v1/check", json={"text": SECRET}, timeout=60)
        body = {"text": SECRET, "x": SECRET}
        httpx.post(address + f"v1/check?text={SECRET}", json=body, timeout=60)
        httpx.get(address + SECRET, timeout=60)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert not re.search(r"Miller|4\.2", output + errors)
    lines = [re.sub(r"^\S+ |\d+ ms$", "", line) for line in errors.splitlines()]
    assert lines == ["POST /v1/check 200 ", "POST /v1/check 422 ", "GET (other) 404 "]


def test_alone_it_opens_a_run_again_on_sighup_and_keeps_the_old_one_of_a_broken_run(
    run: Path, tmp_path: Path
) -> None:
    served = tmp_path / "served"
    shutil.copytree(run, served)
    asked = {"claims": ["It is 5.", "It is 7."]}
    with started(str(served), "--port", "0") as (process, address):

        def since() -> str:
            answer = httpx.get(address + "health", timeout=60)
            assert answer.status_code == 200
            return str(answer.json()["since"])

        def ranked() -> str:
            answer = httpx.post(address + "v1/rank", json=asked, timeout=60)
            assert answer.status_code == 200
            return answer.text

        old, before = since(), ranked()
        served.rename(tmp_path / "gone")
        process.send_signal(signal.SIGHUP)
        assert process.stderr is not None
        assert f"the old ones go on: {served}: not a run: config.json is missing" in next(
            line for line in process.stderr if "models" in line
        )
        assert (since(), ranked()) == (old, before)
        (tmp_path / "gone").rename(served)
        weights = served / "model.safetensors"
        rewrite_tensors(weights, weights, lambda tensor: tensor * 0.7)
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: since() != old)
        assert ranked() != before
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "the models were opened again, and answer from now on" in errors


@contextmanager
def at_a_terminal(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A Python that has a terminal of its own, and the end that closes it."""
    here, terminal = pty.openpty()
    code = (
        "import os, sys, fcntl, termios\n"
        "os.setsid()\n"
        "fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0)\n"
        "os.close(int(sys.argv[1]))\n"
        "os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(terminal), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[terminal],
    )
    os.close(terminal)
    try:
        yield process, here
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_server_of_a_terminal_ends_when_it_is_closed(workers: str) -> None:
    serving = ("-m", "numerate", "serve", "--port", "0", "--workers", workers)
    with at_a_terminal(*serving) as (process, terminal):
        assert process.stdout is not None
        assert "http://" in process.stdout.readline()
        os.close(terminal)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "Traceback" not in errors


@pytest.mark.parametrize(("handler", "ends"), [("SIG_DFL", "True"), ("SIG_IGN", "False")])
def test_nohup_makes_a_terminal_none(handler: str, ends: str) -> None:
    code = (
        "import signal\n"
        f"signal.signal(signal.SIGHUP, signal.{handler})\n"
        "from numerate.serve.terminal import has_terminal\n"
        "print(has_terminal())"
    )
    with at_a_terminal("-c", code) as (process, terminal):
        assert process.communicate(timeout=60)[0] == f"{ends}\n"
        os.close(terminal)


def test_told_to_end_as_soon_as_it_says_that_it_serves_it_ends() -> None:
    code = (
        "import signal\n"
        "from numerate.serve.alone import serve_alone\n"
        "from numerate.serve.guard import Access\n"
        "from numerate.serve.listening import bind\n"
        "from numerate.serve.served_models import Plan\n"
        "with bind('127.0.0.1', 0) as listener:\n"
        "    serve_alone(Plan([], Access()), listener, lambda: signal.raise_signal(signal.SIGTERM))"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=120, check=False)
    assert done.returncode == 0


def test_a_token_opens_other_addresses(run: Path) -> None:
    arguments = (str(run), "--port", "0", "--host", "0.0.0.0", "--quiet")
    with started(*arguments, NUMERATE_TOKEN="s3same") as (process, address):
        local = address.replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(local + "v1/model", timeout=60).status_code == 401
        headers = {"authorization": "Bearer s3same"}
        answer = httpx.get(local + "v1/model", headers=headers, timeout=60)
        assert answer.status_code == 200
        (example,) = answer.json()["examples"]  # documents of the dataset stay on the machine
        assert "412 patients" in example
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=30)[1] == ""


def refused(run: Path, *, host: str = "127.0.0.1", port: int = 0, token: str | None = None) -> str:
    """The one line that serving fails with."""
    with pytest.raises(NumerateError) as error:
        serve([ModelSource(str(run))], host=host, port=port, token=token)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_run_that_cannot_be_served_is_one_line(
    capsys: pytest.CaptureFixture[str], run: Path, tmp_path: Path
) -> None:
    status, out, err = numerate(capsys, "serve", str(tmp_path), "--port", "0")
    assert (status, out) == (2, "")
    assert err == f"numerate: {tmp_path}: not a run: config.json is missing\n"
    unfinished = tmp_path / "unfinished"
    shutil.copytree(run, unfinished)
    config = (unfinished / "config.json").read_text()
    (unfinished / "config.json").write_text(config.replace('"finished"', '"training"'))
    assert "still being trained" in refused(unfinished)


def test_an_address_that_cannot_be_used_is_one_line(run: Path) -> None:
    assert refused(run, host="0.0.0.0").startswith(
        "--host 0.0.0.0 can be reached from other machines: add --token"
    )
    assert "cannot listen there" in refused(run, host="300.1.1.1", token="t")
    assert "--token: expected visible ASCII" in refused(run, token=" ")
    assert "--token: expected visible ASCII" in refused(run, token="schlüssel")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused(run, port=port) == (
            f"--host 127.0.0.1 --port {port}: cannot listen there: Address already in use"
        )


def test_without_the_extra_it_says_what_to_install(run: Path) -> None:
    code = (
        "import sys\nsys.modules['fastapi'] = None\nsys.argv = ['numerate', 'serve', sys.argv[1]]\n"
        "from numerate.cli import main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(run)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "numerate: fastapi is not installed: the server needs pip install 'numerate[server]'\n"
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_addresses(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "localhost.example", ""])
def test_other_addresses(host: str) -> None:
    assert not is_loopback(host)

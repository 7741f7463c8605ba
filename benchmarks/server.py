"""Does the server hold up? Sixteen clients at once, then everything hostile, then its health.

    python benchmarks/server.py RUN [DATASET] [--clients 16] [--seconds 20] [--tokens 200]
    python benchmarks/server.py RUN [DATASET] --minutes 30 --workers 2

RUN is a trained run. `numerate serve` runs in one process, the clients in a second: each sends a
text of the test split, 200 tokens long and never the same, waits for the answer and sends the next.
There must be no error and the 99th percentile of the answers' times must be under 500 ms. Then
bodies that no honest client sends: each must get a status in the four hundreds and the server must
answer as before. Then 505 connections that send nothing, beside which a text must be answered at
once. Otherwise the exit status is 1.

With `--minutes`, a mixed load instead (`mixed_load.py`): no unexpected answer, all requests counted
by the server's metrics, and memory at the end within 5 % of what it was after the first minute. RUN
may be a model that is installed; then DATASET, from which the texts are, must be named.
"""

import argparse
import json
import multiprocessing
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPException
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
import numpy as np
from mixed_load import long_life

from numerate.lm.data.dataset import Dataset
from numerate.lm.model.run_folder import CONFIG, read_json
from numerate.text.tokenizer import tokenize

LIMIT = 0.5  # seconds, 99th percentile
SILENT = 505  # connections that send nothing
JSON = {"Content-Type": "application/json"}

HOSTILE: dict[str, bytes] = {
    "huge (20 MB)": b'{"text": "' + b"1 " * 10_000_000 + b'"}',
    "binary": bytes(range(256)) * 256,
    "deeply nested JSON": b"[" * 100_000 + b"]" * 100_000,
    "NaN": b'{"text": "7", "alarms": NaN}',
    "control characters": b'{"text": "\\u0000\\u0007\\u001b[2J 7"}',
    "raw control characters": b'{"text": "\x00\x07\x1b[2J 7"}',
    "lone surrogate": b'{"text": "\\ud83d 7"}',
    "10,000 numerals": json.dumps({"text": " ".join(map(str, range(10_000)))}).encode(),
    "a number of 50,000 digits": b'{"text": "7", "alarms": ' + b"9" * 50_000 + b"}",
    "half a request": b'{"text": "7',
    "nothing": b"",
}


def texts(dataset: Dataset, tokens: int) -> list[str]:
    """The test split cut into texts of so many tokens, where they lie in it."""
    found = []
    for text in dataset.split("test").read(["text"])["text"].to_pylist():
        cut = tokenize(text)
        while cut and len(cut) < tokens:  # short paragraphs are repeated
            text = f"{text} {text}"
            cut = tokenize(text)
        starts = range(0, len(cut) - tokens + 1, tokens)
        found += [text[cut[start].start : cut[start + tokens - 1].end] for start in starts]
    return found


def load(address: str, bodies: list[str], clients: int, seconds: float, pipe: Connection) -> None:
    """What the second process does: clients that ask one after the other; times and statuses."""
    times: list[float] = []
    statuses: Counter[str] = Counter()
    number = count()
    host = address.removeprefix("http://").rstrip("/")
    end = time.perf_counter() + seconds

    def client() -> None:
        connection = HTTPConnection(
            host, timeout=60
        )  # lighter than httpx: cores are for the server
        while time.perf_counter() < end:
            # Every text differs from all before it: nothing can come from a memory.
            index = next(number)
            body = json.dumps({"text": f"{bodies[index % len(bodies)]} Text number {index}."})
            start = time.perf_counter()
            try:
                connection.request("POST", "/v1/check", body, JSON)
                answer = connection.getresponse()
                answer.read()
                statuses[str(answer.status)] += 1
            except (OSError, HTTPException) as error:
                statuses[type(error).__name__] += 1
                connection.close()
            times.append(time.perf_counter() - start)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pipe.send((times, statuses))


def under_load(address: str, bodies: list[str], clients: int, seconds: float) -> bool:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=load, args=(address, bodies, clients, seconds, there)
    )
    process.start()
    times, statuses = here.recv()
    process.join()
    median, late, worst = np.quantile(times, [0.5, 0.99, 1.0])
    print(
        f"{clients} clients, {len(times):,} texts in {seconds:g} s ({len(times) / seconds:.0f}/s): "
        f"median {1000 * median:.0f} ms, p99 {1000 * late:.0f} ms, longest {1000 * worst:.0f} ms, "
        f"statuses {dict(statuses)}",
        flush=True,
    )
    return bool(statuses.keys() == {"200"} and late < LIMIT)


def hostile(address: str) -> bool:
    good = True
    with httpx.Client(base_url=address, timeout=60) as client:
        for name, body in HOSTILE.items():
            statuses = [
                client.post(f"/v1/{path}", content=body, headers=JSON).status_code
                for path in ("check", "predict", "rank")
            ]
            health = client.get("/v1/health")
            fine = all(400 <= status < 500 for status in statuses) and health.status_code == 200
            print(f"{name:26} {statuses}   health {health.text}", flush=True)
            good &= fine and health.json()["busy"] == 0
    return good


def beside_silence(address: str) -> bool:
    """Whether connections that send nothing shut anyone out."""
    host = httpx.URL(address).host
    with ExitStack() as opened:
        for _ in range(SILENT):
            silent = socket.create_connection((host, httpx.URL(address).port or 80), 60)
            opened.enter_context(silent)
        start = time.perf_counter()
        answer = httpx.post(f"{address}v1/check", json={"text": "It is 7."}, timeout=60)
        took = 1000 * (time.perf_counter() - start)
    print(f"beside {SILENT} silent connections: {answer.status_code} after {took:.0f} ms")
    return answer.status_code == 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("dataset", type=Path, nargs="?")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    path = arguments.dataset or read_json(Path(arguments.run) / CONFIG)["dataset"]["path"]
    bodies = texts(Dataset.open(path), arguments.tokens)
    options = ["--port", "0", "--quiet", "--workers", str(arguments.workers)]
    server = subprocess.Popen(
        [sys.executable, "-m", "numerate", "serve", arguments.run, *options],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        if found is None:
            return 1
        if arguments.minutes:
            clients, minutes = arguments.clients, arguments.minutes
            good = long_life(found[0], server.pid, bodies, clients, minutes)
        else:
            good = under_load(found[0], bodies, 1, 3)
            good &= under_load(found[0], bodies, arguments.clients, arguments.seconds)
            good &= hostile(found[0])
            good &= beside_silence(found[0])
            good &= under_load(found[0], bodies, arguments.clients, 3)
        server.send_signal(signal.SIGTERM)
        status = server.wait(30)
        print(f"stopped with status {status}")
        return 0 if good and status == 0 else 1
    finally:
        server.kill()


if __name__ == "__main__":
    sys.exit(main())

"""Half an hour of everything: does the server answer, and does its memory stay what it was?

Sixteen clients ask one after the other, each for what chance says: texts to check, with details and
without, numbers to predict, claims to rank, files, reports, LanguageTool's protocol, the page,
health and metrics, and what is wrong or too large. Every kind has the one status that it must get.
"""

import json
import multiprocessing
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import quote_plus

import httpx
import numpy as np
from prometheus_client.parser import text_string_to_metric_families

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
BYTES = {"Content-Type": "application/octet-stream"}
SLACK = 1.05  # how much memory may have grown since the first minute

Asked = tuple[str, str, bytes | None, dict[str, str]]  # method, path, body, headers


@dataclass(frozen=True)
class Kind:
    weight: int
    status: int
    ask: Callable[[str, str], Asked]  # of a text, and of another


def _post(path: str, **body: object) -> Asked:
    return "POST", path, json.dumps(body).encode(), JSON


def _get(path: str) -> Callable[[str, str], Asked]:
    return lambda text, other: ("GET", path, None, {})


def _beginning(text: str) -> str:
    return " ".join(text.split()[:60])


def _file(text: str, other: str) -> Asked:
    return "POST", "/v1/document?name=note.md", f"{text}\n\n{other}".encode(), BYTES


def _languagetool(text: str, other: str) -> Asked:
    return "POST", "/v2/check", f"language=en-US&text={quote_plus(text)}".encode(), FORM


def _rank(text: str, other: str) -> Asked:
    claims = [f"{_beginning(one)}, and 12 of 48 came." for one in (text, other)]
    return _post("/v1/rank", claims=[*claims, "Of 10, 5 came."])


KINDS = {
    "check": Kind(6, 200, lambda text, other: _post("/v1/check", text=text)),
    "check, details": Kind(1, 200, lambda text, _: _post("/v1/check", text=text, details=True)),
    "predict": Kind(3, 200, lambda text, _: _post("/v1/predict", text=_beginning(text))),
    "rank": Kind(2, 200, _rank),
    "report": Kind(1, 200, lambda text, _: _post("/v1/report", text=text, format="html")),
    "file": Kind(1, 200, _file),
    "LanguageTool": Kind(3, 200, _languagetool),
    "page": Kind(2, 200, _get("/")),
    "script of the page": Kind(2, 200, _get("/page/main.js")),
    "health": Kind(1, 200, _get("/health")),
    "metrics": Kind(1, 200, _get("/metrics")),
    "not JSON": Kind(1, 400, lambda text, _: ("POST", "/v1/check", text.encode(), JSON)),
    "unknown field": Kind(1, 422, lambda text, _: _post("/v1/check", text=text, colour="red")),
    "no such path": Kind(1, 404, _get("/v1/nowhere")),
    "2 MB": Kind(1, 413, lambda text, _: _post("/v1/check", text="7 " * 1_000_000)),
    "1,001 numerals": Kind(1, 413, lambda text, _: _post("/v1/check", text="7 " * 1_001)),
}


@dataclass
class Heard:
    """What clients were told: when, how long it took, and with which status."""

    times: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    statuses: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def ask_for(address: str, texts: list[str], clients: int, seconds: float, pipe: Connection) -> None:
    """What the second process does."""
    heard, number = Heard(), count()
    host = address.removeprefix("http://").rstrip("/")
    start = time.perf_counter()

    def client(seed: int) -> None:
        chance = random.Random(seed)
        connection = HTTPConnection(host, timeout=120)
        names, weights = list(KINDS), [kind.weight for kind in KINDS.values()]
        while time.perf_counter() - start < seconds:
            name = chance.choices(names, weights)[0]
            text = f"{chance.choice(texts)} Text number {next(number)}."
            method, path, body, headers = KINDS[name].ask(text, chance.choice(texts))
            begun = time.perf_counter()
            try:
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                answer.read()
                status = str(answer.status)
            except (OSError, HTTPException) as error:
                status = type(error).__name__
                connection.close()
            heard.statuses[name][status] += 1
            heard.times[name].append((begun - start, time.perf_counter() - begun))

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pipe.send((dict(heard.times), dict(heard.statuses)))


def long_life(
    address: str, supervisor: int, texts: list[str], clients: int, minutes: float
) -> bool:
    """Whether all was answered as it must be, and memory has stayed within what it may."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=ask_for, args=(address, texts, clients, 60 * minutes, there)
    )
    begun = time.monotonic()
    process.start()
    memory: list[tuple[float, float]] = []
    while not here.poll(5):
        memory.append((time.monotonic() - begun, memory_of(address, supervisor)))
        if len(memory) % 12 == 0:
            print(f"{memory[-1][0] / 60:5.1f} min {memory[-1][1]:7.1f} MiB", flush=True)
    heard = Heard(*here.recv())
    process.join()
    good = tell_answers(heard, minutes)
    good &= tell_counts(address, heard, asked_beside=len(memory))
    # It goes up and down with what is computed at the moment: medians of a minute each.
    first = np.median([size for at, size in memory if 60 <= at < 120])
    last = np.median([size for at, size in memory if at >= 60 * (minutes - 1)])
    print(
        f"memory {first:.1f} MiB after the first minute, {last:.1f} MiB in the last: "
        f"ratio {last / first:.3f}"
    )
    return bool(good and last / first <= SLACK)


def tell_answers(heard: Heard, minutes: float) -> bool:
    """By kind, with the median of the last fifth over that of the first."""
    unexpected = 0
    heads = ("requests", 9), ("unexpected", 10), ("median", 9), ("p99", 9), ("last/first", 10)
    print(f"{'kind':20}", *(f"{head:>{width}}" for head, width in heads))
    for name, kind in KINDS.items():
        statuses, pairs = heard.statuses.get(name, Counter()), heard.times.get(name, [])
        wrong = statuses.total() - statuses[str(kind.status)]
        unexpected += wrong
        if not pairs:
            continue
        fifth = 60 * minutes / 5
        early = [took for at, took in pairs if at < fifth]
        late = [took for at, took in pairs if at >= 4 * fifth]
        median, p99 = 1000 * np.quantile([took for _, took in pairs], [0.5, 0.99])
        ratio = f"{np.median(late) / np.median(early):.2f}" if early and late else "-"
        told = f"{wrong} {dict(statuses)}" if wrong else "0"
        print(
            f"{name:20} {len(pairs):9,} {told:>10} {median:6.0f} ms {p99:6.0f} ms {ratio:>10}",
            flush=True,
        )
    total = sum(map(len, heard.times.values()))
    print(f"{total:,} requests, {unexpected} answered unexpectedly")
    return not unexpected


def tell_counts(address: str, heard: Heard, asked_beside: int) -> bool:
    """Whether the server has counted what was asked, over all workers."""
    sent = sum(map(len, heard.times.values())) + asked_beside
    counted = round(sum(value for _, value in samples(address, "numerate_requests_total")))
    print(f"{counted:,} requests counted by the server, {sent:,} sent")
    return counted == sent


def samples(address: str, name: str) -> list[tuple[dict[str, str], float]]:
    text = httpx.get(f"{address}metrics", timeout=60).text
    return [
        (sample.labels, sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    ]


def memory_of(address: str, supervisor: int) -> float:
    """MiB of all workers, and of the process that looks after them."""
    workers = samples(address, "numerate_resident_memory_bytes")
    total = sum(value for _, value in workers)
    if len(workers) > 1:
        status = Path(f"/proc/{supervisor}/status").read_text()
        resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        total += 1024 * int(resident.split()[1])
    return total / 2**20

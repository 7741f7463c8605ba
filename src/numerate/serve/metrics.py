"""What the server counts, for Prometheus: over all workers, and never anything of a text.

Labels come from fixed lists (routes, statuses, codes of rules), so that no request can add one.
Several workers count in files of one folder, which prometheus_client sums up whoever is asked. A
worker that is started anew goes on in the files of the one before it: nothing is lost, and no file
is left behind.
"""

import os
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from numerate.storage.atomic import InUseError, locked

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
REFUSALS = {
    401: "token",
    403: "other site",
    408: "slow body",
    413: "too long",
    421: "foreign host",
    429: "busy",
    503: "not in time",
}


_claim = ExitStack()  # on the number of this process, until it ends


def claim_number(folder: Path, workers: int) -> int:
    """Return a number that no other worker has, and keep it until this process ends.

    A worker that was killed gave its number back without removing what held while it lived.
    """
    mine = None
    for number in count():
        if mine is not None and number > workers:  # one more while a worker is replaced
            return mine
        with ExitStack() as claim, suppress(InUseError):
            claim.enter_context(locked(folder / str(number)))
            _remove_gauges(number, folder)
            if mine is None:
                mine = number
                _claim.enter_context(claim.pop_all())
    raise AssertionError


def _remove_gauges(worker: int, folder: Path) -> None:
    mark_process_dead(worker, str(folder))  # type: ignore[no-untyped-call]


class HasKind(Protocol):
    @property
    def kind(self) -> str: ...


class HasCode(Protocol):
    @property
    def code(self) -> str: ...

    @property
    def evidence(self) -> Iterable[HasKind]: ...


class ServerMetrics:
    def __init__(
        self, worker: int = 0, folder: Path | None = None, started: float | None = None
    ) -> None:
        """Of one worker among several that count in a `folder`, or of the only one; `started` is
        when the server was. Where counts are kept is one setting of the process, as
        prometheus_client has it."""
        self._folder, self._started = folder, time.time() if started is None else started
        if folder is None:
            values.ValueClass = values.MutexValue
        else:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
            values.ValueClass = values.MultiProcessValue(lambda: worker)  # type: ignore[no-untyped-call]
        self._registry = registry = CollectorRegistry()

        def counter(name: str, what: str, *labels: str) -> Counter:
            return Counter(f"numerate_{name}", what, labels, registry=registry)

        def gauge(name: str, what: str, *labels: str, over_workers: str = "livesum") -> Gauge:
            return Gauge(
                f"numerate_{name}",
                what,
                labels,
                registry=registry,
                multiprocess_mode=over_workers,  # type: ignore[arg-type]
            )

        self._requests = counter("requests", "Requests answered.", "method", "route", "status")
        self._seconds = Histogram(
            "numerate_request_seconds",
            "Time to the end of an answer.",
            ("route",),
            buckets=SECONDS,
            registry=registry,
        )
        self._in_flight = gauge("requests_in_flight", "Requests under way.")
        self._refused = counter("refused", "Requests refused by guards and limits.", "reason")
        self._closed = counter("connections_closed", "Connections that were not kept.", "reason")
        self._checks = counter("checks", "Texts and files that were checked.")
        self._findings = counter("findings", "What was found in them.", "code", "kind")
        self._memory = gauge("resident_memory_bytes", "Memory of a worker.", "worker").labels(
            worker
        )
        self._uptime = gauge("uptime_seconds", "Age of the server.", over_workers="livemax")
        self._loaded = gauge(
            "model_loaded_timestamp_seconds", "When a worker loaded its model.", "worker"
        ).labels(worker)
        self._worker = worker
        self._in_flight.set(0)  # those of a worker that died are not under way any more
        self.loaded()

    def begun(self) -> None:
        self._in_flight.inc()

    def ended(self, method: str, route: str, status: int | None, seconds: float) -> None:
        """A route as the application knows it, never as a client has written it."""
        self._in_flight.dec()
        named = "/page/{file}" if route.startswith("/page/") else route
        self._requests.labels(method, named, "gone" if status is None else status).inc()
        self._seconds.labels(named).observe(seconds)
        if status in REFUSALS and not route.startswith("/health"):
            self._refused.labels(REFUSALS[status]).inc()
        self._measure_memory()

    def checked(self, findings: Iterable[HasCode]) -> None:
        """A text or a file, and what was found in it."""
        self._checks.inc()
        for finding in findings:
            kind = next((evidence.kind for evidence in finding.evidence), "none")
            self._findings.labels(finding.code, kind).inc()

    def closed(self, reason: str) -> None:
        self._closed.labels(reason).inc()

    def loaded(self) -> None:
        """Note that the models were opened just now."""
        self._loaded.set(time.time())
        self._measure_memory()

    def close(self) -> None:
        """Remove what holds only while this worker lives: its memory, its requests, its model."""
        if self._folder is not None:
            _remove_gauges(self._worker, self._folder)

    def written(self) -> bytes:
        """All of it in Prometheus' text format."""
        self._uptime.set(time.time() - self._started)
        self._measure_memory()
        if self._folder is None:
            return generate_latest(self._registry)
        everyone = CollectorRegistry()
        MultiProcessCollector(everyone, str(self._folder))  # type: ignore[no-untyped-call]
        return generate_latest(everyone)

    def _measure_memory(self) -> None:
        if (resident := resident_bytes()) is not None:
            self._memory.set(resident)


def resident_bytes() -> int | None:
    """Memory of this process; None where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None

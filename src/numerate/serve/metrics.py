"""What the server counts, for Prometheus: over all workers, and never anything of a text.

Labels come from fixed lists (routes, statuses, codes of rules), so that no request can add one.
Several workers count in files of one folder, which prometheus_client sums up whoever is asked. A
worker that is started anew goes on in the files of the one before it: nothing is lost, and no file
is left behind.
"""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector

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

        def gauge(name: str, what: str, *labels: str, over_workers: str = "sum") -> Gauge:
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
        self._uptime = gauge("uptime_seconds", "Since the server was started.", over_workers="max")
        self._loaded = gauge(
            "model_loaded_timestamp_seconds", "When a worker loaded its model.", "worker"
        ).labels(worker)
        self._reloads = counter(
            "model_reloads", "Models loaded anew beside the old.", "worker", "outcome"
        )
        self._worker = worker
        self._stale = gauge(
            "model_stale",
            "1: the model on disk could not be loaded, the one from before answers.",
            over_workers="max",
        )
        self._in_flight.set(0)  # those of a worker that died are not under way any more
        self._stale.set(0)
        for outcome in ("switched", "failed"):
            self._reloads.labels(worker, outcome)
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
        self._loaded.set(time.time())
        self._measure_memory()

    def reloaded(self, *, switched: bool) -> None:
        self._reloads.labels(self._worker, "switched" if switched else "failed").inc()
        if switched:
            self.loaded()

    def stale(self, is_stale: bool) -> None:
        self._stale.set(is_stale)

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

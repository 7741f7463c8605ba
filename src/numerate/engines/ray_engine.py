"""Work on a Ray cluster: actors that do units, and a driver that loses none when one of them dies.

Ray could restart actors and repeat their calls by itself; here the driver does, since it must know
which unit kills its workers, and since a worker that starts late must not be given units early.
"""

import logging
import math
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from numerate.engines.ray_worker import Done, Worker, versions
from numerate.errors import FailureError, NumerateError, WorkerDiedError, one_line
from numerate.reports.notices import say
from numerate.threads import cores

U = TypeVar("U")
R = TypeVar("R")
ATTEMPTS = 3  # of a unit whose worker dies
AHEAD = 2  # units given to a worker at once, so that it never waits for the next
WINDOW = 4  # units a worker that are under way or wait for an earlier one
PATIENCE = 10.0  # seconds until an address is one that nobody answers
STANDSTILL = 120.0  # seconds without any worker until the cluster is one that has no room

try:
    import ray
    from ray.exceptions import (
        LocalRayletDiedError,
        NodeDiedError,
        ObjectLostError,
        OutOfMemoryError,
        RayActorError,
        RayError,
        RaySystemError,
        WorkerCrashedError,
    )
except ImportError:
    raise NumerateError(
        "Ray is not installed: --engine ray needs pip install 'numerate[ray]'"
    ) from None

_DIED = (RayActorError, WorkerCrashedError, NodeDiedError, ObjectLostError, OutOfMemoryError)
_FAILED = (LocalRayletDiedError, RaySystemError)


@dataclass(frozen=True, slots=True)
class RayEngine:
    processes: int
    address: str | None
    gpus: float = 0

    def map(self, make: Callable[[], Callable[[U], R]], units: Iterable[U]) -> Iterator[R]:
        with _connected(self.address, self.processes):
            workers = _Workers(make, self.processes, self.gpus)
            try:
                yield from workers.map(units)
            except _FAILED as error:
                raise FailureError(f"Ray failed: {_last(error)}") from None
            finally:
                workers.end()


@contextmanager
def _connected(address: str | None, processes: int) -> Iterator[None]:
    """Ray in this process; what was connected before stays so."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    # Else it warns that this will once be so.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    logging.getLogger("ray").setLevel(logging.ERROR)
    address = address or os.environ.get("RAY_ADDRESS")
    here: dict[str, Any] = {}
    if address is None:
        here = {"num_cpus": processes or cores(), "include_dashboard": False}
    else:
        _check_answers(address)
    try:
        # "local": without it, a cluster of somebody else on this machine would be taken.
        ray.init(address or "local", log_to_driver=False, configure_logging=False, **here)
    except (ConnectionError, RuntimeError, ValueError, RayError) as error:
        where = f"Ray at {address}" if address else "Ray on this machine"
        raise FailureError(f"{where}: {one_line(error)}") from None
    try:
        with _silently():
            yield
    finally:
        ray.shutdown()


@contextmanager
def _silently() -> Iterator[None]:
    """Ray prints what becomes of its machines among our results, and has no switch for it; here it
    is told in one line where it matters."""
    from ray._private import worker

    printing = getattr(worker, "print_to_stdstream", None)
    worker.print_to_stdstream = lambda *_, **__: None
    try:
        yield
    finally:
        worker.print_to_stdstream = printing


def _check_answers(address: str) -> None:
    """Ray itself asks for minutes, and says what it tries in many lines."""
    host, colon, port = address.rpartition("://")[2].partition("/")[0].rpartition(":")
    if not colon:
        if address not in ("auto", "local"):
            raise NumerateError(f"address {address}: expected HOST:PORT, or auto")
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except ValueError:
        raise NumerateError(f"address {address}: got port {port!r}, expected a number") from None
    except OSError as error:
        raise FailureError(f"Ray at {address}: nobody answers: {one_line(error)}") from None


@dataclass(slots=True)
class _Unit:
    unit: Any
    number: int
    deaths: int = 0  # of workers that were at it
    done: Done | None = None

    def __str__(self) -> str:
        return f"unit {self.number}, {one_line(self.unit)[:100]}"


@dataclass(slots=True, eq=False)
class _Actor:
    handle: Any
    ready: Any  # reference to its first answer; None when it has come
    given: dict[Any, _Unit] = field(default_factory=dict)  # reference -> unit, in order


class _Workers:
    """Actors and what each has been given, what waits to be given, and what waits to be told."""

    def __init__(self, make: Callable[[], Any], processes: int, gpus: float) -> None:
        resources = ray.cluster_resources()
        of_cluster = resources.get("GPU", 0)
        self._gpus = gpus if of_cluster else 0
        places = of_cluster / self._gpus if self._gpus else resources.get("CPU", 0)
        self._count = processes or max(1, math.floor(places))
        self._make = make
        self._actors: list[_Actor] = []
        self._failed_starts = 0  # one after the other
        self._waiting: deque[_Unit] = deque()
        self._window: deque[_Unit] = deque()  # in the order of the units

    def map(self, units: Iterable[Any]) -> Iterator[Any]:
        numbered = (_Unit(unit, number) for number, unit in enumerate(units, 1))
        while True:
            while self._window and (done := self._window[0].done):
                self._window.popleft()
                yield _result(done)
            drawn = len(self._window) < WINDOW * self._count and next(numbered, None)
            if drawn:
                self._window.append(drawn)
                self._waiting.append(drawn)
            elif not self._window:
                return
            self._hand_out()
            self._collect(0 if drawn else STANDSTILL)

    def end(self) -> None:
        for actor in self._actors:
            ray.kill(actor.handle)
        self._actors = []

    def _hand_out(self) -> None:
        wanted = min(self._count, sum(not unit.done for unit in self._window))
        while len(self._actors) < wanted:
            self._actors.append(self._start())
        while self._waiting and (actor := self._free()):
            unit = self._waiting.popleft()
            actor.given[actor.handle.do.remote(unit.unit)] = unit

    def _start(self) -> _Actor:
        kind = ray.remote(Worker).options(num_cpus=1, num_gpus=self._gpus)
        handle = kind.remote(self._make, versions())
        return _Actor(handle, handle.ready.remote())

    def _free(self) -> _Actor | None:
        ready = [actor for actor in self._actors if actor.ready is None]
        least = min(ready, key=lambda actor: len(actor.given), default=None)
        return least if least is not None and len(least.given) < AHEAD else None

    def _collect(self, patience: float) -> None:
        """Wait until something has come, and then take whatever has."""
        expected = {actor.ready: actor for actor in self._actors if actor.ready is not None}
        expected |= {reference: actor for actor in self._actors for reference in actor.given}
        references = list(expected)
        come, _ = ray.wait(references, timeout=patience, fetch_local=False)
        if come:
            everything = len(references)
            come, _ = ray.wait(references, num_returns=everything, timeout=0, fetch_local=False)
        elif patience and not any(actor.given for actor in self._actors):
            raise FailureError(
                f"Ray: no worker could be started for {patience:.0f} seconds, expected a free CPU"
                f"{' and GPU' if self._gpus else ''}; the cluster has {_resources()}"
            )
        for reference in come:  # in the order in which they were given
            actor = expected[reference]
            if actor not in self._actors:
                continue
            try:
                answer = ray.get(reference)
            except _DIED as error:
                self._lose(actor, error)
            else:
                self._take(actor, reference, answer)

    def _take(self, actor: _Actor, reference: Any, answer: Any) -> None:
        if actor.ready == reference:
            if isinstance(answer, NumerateError):
                raise answer
            actor.ready, self._failed_starts = None, 0
        else:
            unit = actor.given.pop(reference)
            unit.unit, unit.done = None, answer  # of what is done, nothing needs to be held

    def _lose(self, actor: _Actor, error: RayError) -> None:
        """A worker is gone: what it had goes to others first; what it was at may be the cause."""
        self._actors.remove(actor)
        ray.kill(actor.handle)
        units = list(actor.given.values())
        if units:
            units[0].deaths += 1
            if units[0].deaths == ATTEMPTS:
                died = f"{units[0]}: {ATTEMPTS} workers died of it: {_last(error)}"
                raise WorkerDiedError(died)
        elif actor.ready is not None:
            self._failed_starts += 1
            if self._failed_starts == ATTEMPTS * self._count:
                raise FailureError(f"Ray: no worker can be started: {_last(error)}")
        say(f"a Ray worker is gone, and what it was given is given to others: {_last(error)}")
        self._waiting.extendleft(reversed(units))


def _result(done: Done) -> Any:
    for line in done.said:
        say(line)
    if done.error is not None:
        raise done.error
    return done.result


def _last(error: RayError) -> str:
    """The line of Ray's many that says why."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return one_line(lines[-1] if lines else type(error).__name__)


def _resources() -> str:
    found = ray.cluster_resources()
    return ", ".join(f"{found.get(name, 0):g} {name}" for name in ("CPU", "GPU"))

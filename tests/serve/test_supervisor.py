"""How a supervisor leads its workers: the tests stand in for these, and say what they would say."""

import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest
from tests.serve.test_guard import wait_until
from tests.serve.test_served_files import replace

from numerate.errors import FailureError, NumerateError
from numerate.lm.model.source import ModelSource
from numerate.serve import supervisor
from numerate.serve.guard import Access
from numerate.serve.listening import bind
from numerate.serve.served_models import Plan

SECONDS = 20.0  # after which what has not happened never does


class StandIn:
    """A process that does nothing by itself."""

    def __init__(self, pipe: Connection, listening: Connection) -> None:
        self.pipe = Connection(os.dup(pipe.fileno()))  # the supervisor closes that which it has
        self.listening = listening  # the other end, which the supervisor hears it by
        self.exitcode: int | None = None
        self.pid = os.getpid()

    def says(self, what: object) -> None:
        """And is heard."""
        self.pipe.send(what)
        wait_until(lambda: not self.listening.poll())

    def hears(self, count: int = 1) -> list[object]:
        heard = []
        for _ in range(count):
            assert self.pipe.poll(SECONDS)
            heard.append(self.pipe.recv())
        return heard

    def die(self) -> None:
        self.pipe.close()  # first: who sees that it is dead makes sure of it, in another thread
        self.exitcode = -9

    kill = terminate = die

    def is_alive(self) -> bool:
        return self.exitcode is None

    def join(self, seconds: float | None = None) -> None:
        """It ends at once."""


class Supervised:
    """A server of two workers, which serve."""

    def __init__(self, running: Future[None], begun: "SimpleQueue[StandIn]") -> None:
        self.running, self._begun = running, begun
        self.first = self.next()
        self.first.says("loaded")
        self.second = self.next()
        self.second.says("loaded")
        for worker in (self.first, self.second):
            assert worker.hears() == ["serve"]
            worker.says("serving")

    def next(self, seconds: float = SECONDS) -> StandIn:
        """The worker that is started next."""
        return self._begun.get(timeout=seconds)

    def ends_by_one_more_death(self) -> bool:
        with suppress(Empty):
            self.next(0.1).die()
        return self.running.done()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "model.safetensors").write_text("old")
    return tmp_path


@pytest.fixture
def supervised(run: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervised]:
    begun: SimpleQueue[StandIn] = SimpleQueue()
    ends, ears = [], []

    def pipe() -> tuple[Connection, Connection]:
        ours, theirs = multiprocessing.Pipe()
        ears.append(ours)
        return ours, theirs

    def process(args: tuple[Any, ...], **_: object) -> StandIn:
        worker = StandIn(args[1], ears[-1])
        worker.start = lambda: begun.put(worker)  # type: ignore[attr-defined]
        return worker

    def on_signals(end: Any, hang_up: Any) -> Any:
        ends.append(end)
        return nullcontext()

    spawning = SimpleNamespace(Pipe=pipe, Process=process)
    monkeypatch.setattr(supervisor, "SPAWN", spawning)
    monkeypatch.setattr(supervisor, "on_signals", on_signals)
    monkeypatch.setattr(supervisor, "EVERY", 0.04)
    monkeypatch.setattr(supervisor, "LONGEST_PAUSE", 0.01)
    plan = Plan([ModelSource(str(run))], Access(), workers=2)
    with bind("127.0.0.1", 0) as listener, ThreadPoolExecutor(1) as pool:
        running = pool.submit(supervisor.Supervisor(plan, listener, lambda: None).run)
        try:
            yield Supervised(running, begun)
        finally:
            ends[0]()
    assert running.done()


def serves(worker: StandIn) -> None:
    worker.says("loaded")
    assert worker.hears(2) == ["current", "serve"]
    worker.says("serving")


def all_switch(*workers: StandIn) -> None:
    """They load one after the other."""
    for worker in workers:
        assert worker.hears() == ["load"]
        worker.says("loaded")
    for worker in workers:
        assert worker.hears(2) == ["switch", "current"]


@pytest.mark.parametrize("has_loaded", [False, True])
def test_who_was_being_started_when_the_others_switched_makes_all_load_once_more(
    run: Path, supervised: Supervised, has_loaded: bool
) -> None:
    supervised.first.die()
    anew = supervised.next()
    if has_loaded:
        anew.says("loaded")
        assert anew.hears(2) == ["current", "serve"]
    replace(run, "model.safetensors", "new")
    all_switch(supervised.second)
    if not has_loaded:
        anew.says("loaded")  # what was there before
        assert anew.hears(2) == ["current", "serve"]
    anew.says("serving")
    all_switch(anew, supervised.second)
    assert not anew.pipe.poll(0.2)  # and then no more


def test_who_was_started_with_what_another_could_not_load_makes_it_load_once_more(
    run: Path, supervised: Supervised
) -> None:
    replace(run, "model.safetensors", "new")
    assert supervised.first.hears() == ["load"]
    supervised.first.die()
    assert supervised.second.hears() == ["load"]
    anew = supervised.next()
    serves(anew)
    supervised.second.says(NumerateError("no memory for both"))
    for worker in (anew, supervised.second):
        assert worker.hears(2) == ["drop", "stale"]
    all_switch(anew, supervised.second)
    assert not anew.pipe.poll(0.2)


def test_a_server_ends_when_none_answers_and_none_lives_until_it_does(
    run: Path, supervised: Supervised, caplog: pytest.LogCaptureFixture
) -> None:
    replace(run, "model.safetensors", "new")
    for worker in (supervised.first, supervised.second):
        assert worker.hears() == ["load"]
        worker.die()  # there is no memory for both models, and then none for the new one
    wait_until(supervised.ends_by_one_more_death)
    reason = "no worker answers any more: worker [01] ended while it was started, with status -9"
    with pytest.raises(FailureError, match=reason):
        supervised.running.result()
    assert "answer from now on" not in caplog.text


def test_as_long_as_one_answers_the_others_are_tried(supervised: Supervised) -> None:
    supervised.first.die()
    for _ in range(2 * supervisor.TRIES):
        supervised.next().die()
    anew = supervised.next()
    serves(anew)
    for worker in (anew, supervised.second):  # what was tried before one served is forgotten
        worker.die()
    for _ in range(2):
        supervised.next().die()
    for _ in range(2):
        serves(supervised.next())


def test_who_is_long_in_dying_before_it_serves_is_left_for_longer_and_longer(
    supervised: Supervised, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "LONGEST_PAUSE", 30.0)
    monkeypatch.setattr(supervisor, "STEADY", 0.0)
    supervised.first.die()
    supervised.next().die()
    died = time.monotonic()
    supervised.next()
    assert time.monotonic() - died > 1.0  # the pause before was half a second

"""The newest of what is asked is done, and nothing piles up."""

from collections.abc import Iterator
from queue import Queue
from threading import Event

import pytest

from numerate.serve.editors.latest import IsCurrent, Latest

PATIENCE = 60  # seconds


@pytest.fixture
def failures() -> Queue[Exception]:
    return Queue()


@pytest.fixture
def latest(failures: Queue[Exception]) -> Iterator[Latest]:
    found = Latest(failures.put)
    yield found
    found.stop()


def held(latest: Latest, key: str = "held") -> tuple[Event, Queue[bool]]:
    """A task that is being done until it is let go, and then says whether it is current."""
    begun, let_go, current = Event(), Event(), Queue[bool]()

    def task(is_current: IsCurrent) -> None:
        begun.set()
        let_go.wait(PATIENCE)
        current.put(is_current())

    latest.ask(key, task)
    assert begun.wait(PATIENCE)
    return let_go, current


def test_of_all_that_is_asked_meanwhile_the_last_is_done(latest: Latest) -> None:
    let_go, current = held(latest)
    done: Queue[int] = Queue()
    for number in range(100):
        latest.ask("text", lambda _, number=number: done.put(number))
    let_go.set()
    assert current.get(timeout=PATIENCE)
    assert done.get(timeout=PATIENCE) == 99
    latest.stop()
    assert done.empty()


def test_what_is_being_done_learns_that_it_is_out_of_date(latest: Latest) -> None:
    let_go, current = held(latest, "text")
    latest.ask("text", lambda _: None)
    let_go.set()
    assert not current.get(timeout=PATIENCE)


def test_what_is_called_off_is_not_done(latest: Latest) -> None:
    let_go, current = held(latest, "text")
    latest.ask("other", lambda _: pytest.fail("called off"))
    latest.call_off("other")
    latest.call_off("text")
    let_go.set()
    assert not current.get(timeout=PATIENCE)


def test_what_was_called_off_stays_so_when_it_is_asked_again(latest: Latest) -> None:
    let_go, current = held(latest, "text")
    latest.call_off("text")
    done = Event()
    latest.ask("text", lambda _: done.set())
    let_go.set()
    assert not current.get(timeout=PATIENCE)
    assert done.wait(PATIENCE)


def test_the_thread_outlives_a_mistake(latest: Latest, failures: Queue[Exception]) -> None:
    def broken(_: IsCurrent) -> None:
        raise ValueError("broken")

    latest.ask("text", broken)
    assert str(failures.get(timeout=PATIENCE)) == "broken"
    done = Event()
    latest.ask("text", lambda _: done.set())
    assert done.wait(PATIENCE)

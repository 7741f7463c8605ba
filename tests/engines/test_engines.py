"""Engines on one machine: order, laziness, mistakes. Those of a cluster are in test_ray_engine."""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from threading import Timer

import pytest

from numerate.engines import engine
from numerate.engines.local_engine import _places
from numerate.errors import NumerateError, WorkerDiedError


def square(number: int) -> int:
    if number == 13:
        raise NumerateError("13: unlucky")
    if number == 666:
        os._exit(1)
    return number * number


def squares() -> Callable[[int], int]:
    return square


def process(_unit: int) -> tuple[int, str | None]:
    return os.getpid(), os.environ.get("CUDA_VISIBLE_DEVICES")


def processes() -> Callable[[int], tuple[int, str | None]]:
    return process


def refusing() -> Callable[[int], int]:
    raise NumerateError("model: no such folder")


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_the_order_of_the_units(workers: int) -> None:
    drawn = []

    def units() -> Iterator[int]:
        for number in range(100, 200):
            drawn.append(number)
            yield number

    results = engine(processes=workers).map(squares, units())
    assert drawn == []
    assert next(results) == 100 * 100
    assert len(drawn) <= 1 + 4 * workers
    assert list(results) == [number * number for number in range(101, 200)]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_mistake_is_raised_as_it_is(workers: int) -> None:
    results = engine(processes=workers).map(squares, [1, 2, 13, 4])
    assert [next(results), next(results)] == [1, 4]
    with pytest.raises(NumerateError, match=r"^13: unlucky$"):
        next(results)
    with pytest.raises(NumerateError, match=r"^model: no such folder$"):
        list(engine(processes=workers).map(refusing, [1]))


def test_a_dead_worker_is_an_error_not_a_traceback() -> None:
    with pytest.raises(NumerateError, match="a worker process died, perhaps for want of memory"):
        list(engine(processes=2).map(squares, [666]))


def test_a_worker_that_dies_while_units_are_drawn_is_no_traceback() -> None:
    def slowly() -> Iterator[int]:
        yield 666
        for child in active_children():
            child.join(30)
        time.sleep(0.5)  # until the pool has seen it, too
        yield 1

    with pytest.raises(WorkerDiedError, match="a worker process died, perhaps for want of memory"):
        list(engine(processes=2).map(squares, slowly()))


def note_down(folder: Path, number: int) -> int:
    (folder / str(number)).touch()
    while number and not (folder / "go on").exists():
        time.sleep(0.01)
    return number


def test_what_nobody_waits_for_is_not_begun(tmp_path: Path) -> None:
    results = engine(processes=2).map(partial(partial, note_down, tmp_path), range(40))
    assert next(results) == 0
    while len(list(tmp_path.iterdir())) < 3:  # two are under way, others wait in the workers' queue
        time.sleep(0.01)
    Timer(1.0, (tmp_path / "go on").touch).start()
    results.close()  # type: ignore[attr-defined]
    assert len(list(tmp_path.iterdir())) == 4


def test_gpus_are_shared_out_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,7")
    found = dict(engine(processes=2, gpus=1).map(processes, range(40)))
    assert os.getpid() not in found
    assert set(found.values()) <= {"4", "5"}
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize(("gpus", "workers"), [(1, 2), (0.25, 8), (2, 1), (3, 1), (0, 5)])
def test_as_many_workers_as_gpus_have_room_for(
    monkeypatch: pytest.MonkeyPatch, gpus: float, workers: int
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(5)))
    assert _places(gpus) == workers
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert _places(gpus) == 5


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (partial(engine, "rya"), "unknown engine 'rya': did you mean ray"),
        (partial(engine, processes=-1), "processes: got -1"),
        (partial(engine, gpus=-1), "gpus: got -1"),
        (partial(engine, address="auto"), "address auto: only for --engine ray"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Callable[[], object], reason: str) -> None:
    with pytest.raises(NumerateError, match=reason):
        make()

"""What goes wrong with one task is told of that one. Its processes import this file, so it is
short."""

import os
import signal
from pathlib import Path

import pytest

from numerate.errors import NumerateError, RunError
from numerate.lm.reproduce.choices import Plan, Task
from numerate.lm.reproduce.pool import each_task


class TwoPartsError(Exception):
    """As libraries have them: what was sent of it cannot be made again."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one}\n{other}")


def fail_some(plan: Plan, task: Task) -> str:
    match task.row.name:
        case "mog":
            raise RuntimeError("out of memory\ntried to allocate 2 GiB")
        case "softmax":
            raise TwoPartsError("one", "other")
        case "d-rnn":
            raise RunError("config.json is missing")
    return "done"


def test_an_error_that_nobody_foresaw_is_of_its_row_alone(tmp_path: Path) -> None:
    names = ("mog", "softmax", "d-rnn", "h-softmax")
    plan = Plan(tmp_path, tmp_path / "out", models=names, processes=1, given_threads=1)
    found = {task.name: result for task, result in each_task(plan, fail_some, plan.tasks)}
    assert found.pop("h-softmax") == "done"
    assert all(isinstance(error, NumerateError) for error in found.values())
    assert {name: str(error) for name, error in found.items()} == {
        "mog": "RuntimeError: out of memory tried to allocate 2 GiB",
        "softmax": "TwoPartsError: one other",
        "d-rnn": "config.json is missing",
    }


def die_of_one(plan: Plan, task: Task) -> str:
    if task.row.name == "mog":
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


@pytest.mark.parametrize("processes", [1, 2])
def test_a_process_that_dies_is_that_of_its_row_alone(tmp_path: Path, processes: int) -> None:
    names = ("softmax", "mog", "d-rnn", "h-softmax")
    plan = Plan(tmp_path, tmp_path / "out", models=names, processes=processes, given_threads=1)
    found = [(task.name, str(result)) for task, result in each_task(plan, die_of_one, plan.tasks)]
    died = "its process died, perhaps for want of memory"
    assert sorted(found) == sorted((name, died if name == "mog" else "done") for name in names)

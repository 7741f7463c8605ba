"""How long will it take? A few steps of every row, timed on this machine as it is now."""

import heapq
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from statistics import median
from typing import Any

from numerate.errors import NumerateError
from numerate.reproduce.choices import Plan, Task
from numerate.reproduce.pool import each_task
from numerate.reproduce.suites import Row
from numerate.training.options import TrainingOptions

WARM_UP = 2  # steps that do not count, however long they take: the first are many times as slow
STEPS, SECONDS = 20, 0.5  # of those after; timing ends with whichever comes first
DEV_COST, EVALUATION_COST = 0.4, 4.0
"""Time for a token of the dev split after an epoch, and to evaluate a token, by that of a step."""

MARGIN = 1.2
"""A machine is seldom as quiet for minutes as it was for half a second."""


def expected_seconds(plan: Plan, tasks: Sequence[Task]) -> dict[Task, float]:
    """An upper bound for each run: all epochs and the evaluation. Seeds take the same time.

    Timed in as many processes at a time as will train, since they slow each other down. A
    row that cannot be timed will not train for long; where none of the plan can, the reason is
    raised, since nothing else is there to be told.
    """
    one_of_each: dict[Row, Task] = {}
    for task in tasks:
        one_of_each.setdefault(task.row, task)
    timed = each_task(plan, time_task, list(one_of_each.values()))
    found = {task.row: result for task, result in timed}
    errors = [result for result in found.values() if isinstance(result, NumerateError)]
    if len(errors) == len(found) and len(tasks) == len(plan.tasks):
        raise errors[0]
    seconds = {
        row: 0.0 if isinstance(result, NumerateError) else result for row, result in found.items()
    }
    return {task: seconds[task.row] for task in tasks}


def makespan(seconds: Sequence[float], workers: int) -> float:
    """When the last is done if each worker always takes the longest that is left."""
    ends = [0.0] * workers
    for task in sorted(seconds, reverse=True):
        heapq.heapreplace(ends, ends[0] + task)
    return max(ends)


def time_task(plan: Plan, task: Task) -> float:
    """A run that is interrupted after a few steps, and what they say of the whole."""
    imports = _import_seconds()
    from numerate.corpus.dataset import Dataset
    from numerate.training.run import train

    watch, begin = Stopwatch(), time.monotonic()
    settings = plan.settings(task)
    del settings["finetune"]  # of pretrained models, not timed
    options = {name: settings.pop(name) for name in TrainingOptions.__dataclass_fields__}
    with tempfile.TemporaryDirectory() as folder:
        train(
            plan.dataset,
            f"{folder}/run",
            options=TrainingOptions(**options),
            device=plan.device,
            reporter=watch,
            **(settings | {"backbone": plan.network(task)}),
        )
    splits = {
        name: split["tokens"] + split["paragraphs"]
        for name, split in Dataset.open(plan.dataset).manifest["splits"].items()
    }
    tokens: float = plan.options.epochs * (splits["train"] + DEV_COST * splits["dev"])
    tokens += (DEV_COST if plan.metrics == "perplexity" else EVALUATION_COST) * splits["test"]
    if plan.metrics == "all":  # intervals are calibrated on the dev split
        tokens += EVALUATION_COST * splits["dev"]
    return MARGIN * (2 * imports + (watch.begun - begin) + tokens * watch.seconds_per_token)


@cache
def _import_seconds() -> float:
    """What training and evaluation each pay before they begin; here it is paid once."""
    start = time.monotonic()
    import numerate.training.run  # noqa: F401

    return time.monotonic() - start


class Stopwatch:
    """Times steps of training, and ends it soon, as Ctrl-C would."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, float]] = []  # tokens, seconds
        self.begun = self._last = time.monotonic()

    def on_start(self, options: TrainingOptions, tokens: int, epoch: int) -> None:
        self.begun = self._last = time.monotonic()

    def on_step(self, epoch: int, tokens: int, loss: float | None) -> None:
        import torch

        if torch.accelerator.is_available():
            torch.accelerator.synchronize()
        now = time.monotonic()
        self.steps.append((tokens, now - self._last))
        self._last = now
        timed = self.steps[WARM_UP:]
        if len(timed) >= STEPS or sum(seconds for _, seconds in timed) > SECONDS:
            raise KeyboardInterrupt

    def on_epoch(self, record: dict[str, Any]) -> None:
        self._last = time.monotonic()

    @property
    def seconds_per_token(self) -> float:
        """Of the median step: now and then one waits for another process."""
        timed = self.steps[WARM_UP:] or self.steps[-1:]
        return median(seconds / tokens for tokens, seconds in timed)

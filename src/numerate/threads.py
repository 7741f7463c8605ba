"""Threads that compute: how many there are, and how they wait for each other."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from numerate.errors import NumerateError


def cores() -> int:
    """Those that this process may use: `taskset`, or the cpuset of a container, may limit them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def wait_asleep() -> None:
    """Let threads sleep while they wait, unless the user has said how they shall wait.

    By default they spin. On busy cores a spinning thread keeps the one it waits for from running,
    and a training of small steps nearly stands still. OpenMP reads this once, when torch is loaded.
    """
    if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys():
        os.environ["OMP_WAIT_POLICY"] = "passive"


def use_threads(count: int | None) -> None:
    """Compute with so many threads, here and in processes to come; None: with as many as now."""
    if count is None:
        return
    if count < 1:
        raise NumerateError(f"threads: got {count}, expected 1 or more")
    os.environ["OMP_NUM_THREADS"] = str(count)
    if "torch" in sys.modules:  # it has read the environment already
        import torch

        torch.set_num_threads(count)


@contextmanager
def threads_as_before() -> Iterator[None]:
    """Whatever is chosen meanwhile, as many as now are used afterwards."""
    name = "OMP_NUM_THREADS"
    said = os.environ.get(name)
    torch = sys.modules.get("torch")
    by_word = int(said) if said and said.isdecimal() else cores()
    count = torch.get_num_threads() if torch else by_word
    try:
        yield
    finally:
        use_threads(count)
        if said is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = said

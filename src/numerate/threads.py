"""Threads that compute: how many there are, and how they wait for each other."""

import os
import sys

from numerate.errors import NumerateError


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

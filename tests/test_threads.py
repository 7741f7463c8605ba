"""Threads that compute sleep while they wait, and there are as many as were asked for."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from numerate.errors import NumerateError
from numerate.lm.data.prepare import prepare
from numerate.lm.reproduce.choices import Plan
from numerate.threads import use_threads, wait_asleep

pytest_plugins = ("tests.trained",)

POLICY, SPINS, COUNT = "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "OMP_NUM_THREADS"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment that says nothing of threads."""
    kept = {k: v for k, v in os.environ.items() if k not in {POLICY, SPINS, COUNT}}
    monkeypatch.setattr(os, "environ", kept)
    return kept


def test_openmp_is_told_to_sleep_before_torch_is_loaded(environment: dict[str, str]) -> None:
    """The runtime itself says what it has read."""
    lines = "import sys, numerate; assert 'torch' not in sys.modules; import torch"
    told = {**environment, "OMP_DISPLAY_ENV": "verbose"}
    command = [sys.executable, "-c", lines]
    found = subprocess.run(command, env=told, capture_output=True, text=True, check=True).stderr
    assert f"{SPINS} = '0'" in found


@pytest.mark.parametrize("said", [{POLICY: "active"}, {SPINS: "1000"}])
def test_what_the_user_says_of_waiting_holds(
    environment: dict[str, str], said: dict[str, str]
) -> None:
    environment |= said
    before = dict(environment)
    wait_asleep()
    assert environment == before


def test_a_number_of_threads_holds_here_and_in_processes_to_come(
    environment: dict[str, str],
) -> None:
    before = torch.get_num_threads()
    try:
        use_threads(None)
        assert (torch.get_num_threads(), environment.get(COUNT)) == (before, None)
        use_threads(before + 2)
        assert (torch.get_num_threads(), environment[COUNT]) == (before + 2, str(before + 2))
    finally:
        torch.set_num_threads(before)


def test_no_threads_are_refused() -> None:
    with pytest.raises(NumerateError, match="threads: got 0, expected 1 or more"):
        use_threads(0)
    with pytest.raises(NumerateError, match="threads: got -1, expected 1 or more"):
        Plan(Path("data"), Path("out"), given_threads=-1)


def test_processes_of_a_reproduction_have_the_threads_they_are_given() -> None:
    choices: dict[str, Any] = {"models": ("mog", "d-rnn"), "processes": 2}
    assert Plan(Path("data"), Path("out"), given_threads=3, **choices).threads == 3


def test_training_is_recorded_with_the_threads_it_was_given(tmp_path: Path) -> None:
    data, out = tmp_path / "data", str(tmp_path / "run")
    prepare("cardiac", data, documents=30)
    command = [sys.executable, "-m", "numerate", "train", str(data), "--out", out]
    command += ["--model", "d-rnn", "--epochs", "1", "--hidden", "4", "--vocabulary", "50"]
    command += ["--device", "cpu", "--threads", "2"]
    subprocess.run(command, env={**os.environ, COUNT: "1"}, capture_output=True, check=True)
    assert json.loads((tmp_path / "run" / "environment.json").read_text())["threads"] == 2

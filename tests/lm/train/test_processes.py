"""Runs in processes of their own: killed at any moment, on several processes, out of disk."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.processes import copy_of_this_process
from typer.testing import CliRunner

from numerate.cli import app, main
from numerate.errors import RunError
from numerate.lm.data.prepare import prepare
from numerate.lm.train import loop

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
OPTIONS = ["--model", "combination", "--hidden", "8", "--vocabulary", "200", "--device", "cpu"]


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=60, processes=1)
    return folder


def train_command(dataset: Path, out: Path, *more: str) -> list[str]:
    return ["train", str(dataset), "--out", str(out), *OPTIONS, *more]


def here(command: list[str]) -> None:
    """In this process, which has loaded torch."""
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output


def test_a_killed_run_resumes_to_the_same_weights(
    cardiac: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Checkpoints after every second step, so that a kill often falls between them.
    monkeypatch.setattr(loop, "CHECK_EVERY", 2)
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
    more = ["--epochs", "6", "--batch-size", "5"]
    here(train_command(cardiac, tmp_path / "whole", *more))
    chance = random.Random(1)
    run = tmp_path / "run"
    resumed = train_command(cardiac, run, *more, "--resume")
    kills = 0
    while kills < 3:
        before = _stamp(run)
        process = copy_of_this_process(app, resumed)
        deadline = time.monotonic() + 60
        while _stamp(run) == before:  # until it has gone on from where the last one died
            assert process.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 0.05))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        kills += 1
    here(resumed)
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "run")]
    assert weights[0] == weights[1]
    assert not (run / "checkpoint.safetensors").exists()


def _stamp(run: Path) -> int:
    try:
        return (run / "checkpoint.safetensors").stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def test_two_processes_do_what_one_does_with_twice_the_batch(cardiac: Path, tmp_path: Path) -> None:
    more = ["--epochs", "2", "--dropout", "0"]
    one = train_command(cardiac, tmp_path / "one", *more, "--batch-size", "20")
    two = train_command(cardiac, tmp_path / "two", *more, "--batch-size", "10")
    here(one)
    # What starts several processes; numerate's own `--device cpu` then joins them through gloo.
    launch = ["accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"]
    launch += ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]
    launch += ["--main_process_port", "0"]
    done = subprocess.run(
        [sys.executable, "-m", *launch, "-m", "numerate", *two],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("combination finished") == 1  # one process speaks
    logs = [
        [json.loads(line) for line in (tmp_path / name / "log.jsonl").read_text().splitlines()]
        for name in ("one", "two")
    ]
    assert len(logs[0]) == 2
    for first, second in zip(*logs, strict=True):
        for figure in ("train_loss", "dev_loss", "dev_numeral_perplexity"):
            assert second[figure] == pytest.approx(first[figure], rel=1e-4), figure


def test_a_checkpoint_that_only_some_machines_see_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would train from different epochs, and wait for each other for ever."""
    monkeypatch.setattr(loop.Trainer, "_total", lambda self, value: 1.0)
    for folder in ("sees", "does not"):
        trainer = object.__new__(loop.Trainer)
        trainer.folder = tmp_path / folder
        trainer.accelerator = SimpleNamespace(num_processes=2)  # type: ignore[assignment]
        (tmp_path / folder).mkdir()
        if folder == "sees":
            (trainer.folder / "checkpoint.safetensors").touch()
        with pytest.raises(RunError, match="seen by 1 of 2 processes, expected all"):
            trainer.resume()


def test_a_full_disk_is_one_line_and_costs_nothing(
    cardiac: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = train_command(cardiac, tmp_path / "run", "--epochs", "1")
    monkeypatch.setattr("sys.argv", ["numerate", *command])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, usual[1]))
    try:
        with pytest.raises(SystemExit) as left:
            main()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    said = capsys.readouterr().err
    assert left.value.code == 1
    assert said.count("\n") == 1
    assert said.startswith("numerate: ")
    assert "large" in said
    assert not list((tmp_path / "run").glob(".*"))  # no half-written file stays behind

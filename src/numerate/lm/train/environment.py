"""When, where and with which versions a run was trained: `environment.json` in its folder."""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import torch

import numerate
from numerate.lm.model.run_folder import ENVIRONMENT, RunFolder
from numerate.storage.records import write_record


def record_environment(
    folder: Path, device: torch.device, packages: Sequence[str] = ("torch",)
) -> None:
    """Note it down as training begins; a run that goes on keeps its first date."""
    known = RunFolder(folder).environment()
    record = {
        "started": known.get("started", _date(datetime.now(UTC))),
        "numerate": numerate.__version__,
        **{package: version(package) for package in packages},
        "python": platform.python_version(),
        "device": device.type,
        "threads": torch.get_num_threads(),
    }
    write_record(folder / ENVIRONMENT, record)


def record_end(folder: Path) -> None:
    """Note down when training ended: the dates of files do not survive copying."""
    known = RunFolder(folder).environment()
    write_record(folder / ENVIRONMENT, {**known, "finished": _date(datetime.now(UTC))})


def _date(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC")

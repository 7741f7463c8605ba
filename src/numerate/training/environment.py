"""When, where and with which versions a run was trained: `environment.json` in its folder."""

import json
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

import numerate
from numerate.atomic import write_file
from numerate.model.language_model import read_json

ENVIRONMENT = "environment.json"


def record_environment(
    folder: Path, device: torch.device, packages: Sequence[str] = ("torch",)
) -> None:
    """Note it down as training begins; a run that goes on keeps its first date."""
    path = folder / ENVIRONMENT
    started = read_json(path)["started"] if path.exists() else _date(datetime.now(UTC))
    record = {
        "started": started,
        "numerate": numerate.__version__,
        **{package: version(package) for package in packages},
        "python": platform.python_version(),
        "device": device.type,
        "threads": torch.get_num_threads(),
    }
    _write(path, record)


def record_end(folder: Path) -> None:
    """Note down when training ended: the dates of files do not survive copying."""
    _write(folder / ENVIRONMENT, {**read_environment(folder), "finished": _date(datetime.now(UTC))})


def read_environment(folder: Path) -> dict[str, Any]:
    """What was noted; nothing of a run from before there were such notes."""
    path = folder / ENVIRONMENT
    return read_json(path) if path.exists() else {}


def _write(path: Path, record: dict[str, Any]) -> None:
    write_file(path, (json.dumps(record, indent=2) + "\n").encode())


def _date(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC")

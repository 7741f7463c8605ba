"""When, where and with which versions a run was trained: `environment.json` in its folder."""

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

import numerate
from numerate.atomic import write_file
from numerate.model.language_model import WEIGHTS, read_json

ENVIRONMENT = "environment.json"


def record_environment(folder: Path, device: torch.device) -> None:
    """Note it down as training begins; a run that goes on keeps its first date."""
    path = folder / ENVIRONMENT
    started = read_json(path)["started"] if path.exists() else _date(datetime.now(UTC))
    record = {
        "started": started,
        "numerate": numerate.__version__,
        "torch": version("torch"),
        "python": platform.python_version(),
        "device": device.type,
        "threads": torch.get_num_threads(),
    }
    write_file(path, (json.dumps(record, indent=2) + "\n").encode())


def read_environment(folder: Path) -> dict[str, Any]:
    """What was noted, and when the weights were written; of a foreign run, the latter alone."""
    path = folder / ENVIRONMENT
    record = read_json(path) if path.exists() else {}
    ended = datetime.fromtimestamp((folder / WEIGHTS).stat().st_mtime, UTC)
    return {**record, "finished": _date(ended)}


def _date(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC")

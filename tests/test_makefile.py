"""`make` on a fresh machine: what it runs, and that nothing disturbs an installation."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ("python", "numerate", "ruff", "mypy")
# Stands for Python, and for all that an environment holds: notes when it begins and when it ends.
TOOL = """#!/bin/sh
echo "begin $(basename $0) $*" >> "$LOG"
sleep 0.05
case "$*" in
    "-m venv "*) mkdir -p "$3/bin"; for name in $TOOLS; do cp "$0" "$3/bin/$name"; done;;
esac
echo "end $(basename $0) $*" >> "$LOG"
"""


@pytest.mark.parametrize("goals", [("demo", "test"), ("test", "demo"), ("test",)])
def test_nothing_runs_beside_an_installation(goals: tuple[str, ...], tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    tool, log = tmp_path / "fake-python", tmp_path / "log"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    done = subprocess.run(
        ["make", "-j4", f"PYTHON={tool}", *goals],
        cwd=tmp_path,
        env={**environment, "LOG": str(log), "TOOLS": " ".join(TOOLS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = log.read_text().splitlines()
    installing = [number for number, line in enumerate(lines) if "pip install" in line]
    assert lines[0].startswith("begin fake-python -m venv")
    assert 2 <= len(installing) <= 2 * len(goals)
    for begin, end in zip(installing[::2], installing[1::2], strict=True):
        assert end == begin + 1, "something else began or ended meanwhile"
    running = [line.split()[0] for line in lines]
    for begin in installing[::2]:
        assert running[:begin].count("begin") == running[:begin].count("end")
    assert any("pytest" in line for line in lines)

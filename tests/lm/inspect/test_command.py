"""What `numerate inspect` says while it works."""

from pathlib import Path
from typing import Any

import pytest

from numerate.cli import inspect_command

HOSTILE = "[/b] \x1b[2J run"


def test_names_of_runs_are_no_markup(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def inspect_runs(*_: object, settings: Any, say: Any, watch: Any, **__: object) -> Path:
        watch(HOSTILE)
        settings.progress(HOSTILE, 1, 2)
        say(HOSTILE)
        return tmp_path / HOSTILE

    monkeypatch.setattr(inspect_command, "inspect_runs", inspect_runs)
    inspect_command.inspect_with_progress([], tmp_path, contexts=[], dataset=None, device=None)
    out, err = capsys.readouterr()
    assert out.endswith(r"[/b] \x1b[2J run" + "\n")
    assert err.endswith(r"[/b] \x1b[2J run" + "\n")

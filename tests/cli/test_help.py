"""What --help shows, and what the shell completes."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from numerate.cli import app
from numerate.cli.exits import EXIT_STATUS
from numerate.cli.panels import PANEL_OF

GROUP: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = GROUP.commands
OF_ALL = {"help", "verbose", "quiet"}


def options(name: str) -> list[Any]:
    command = COMMANDS[name]
    found = command.get_params(typer.Context(command))
    return [param for param in found if param.param_type_name == "option"]


def shown(*arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_grouped_and_show_their_defaults(name: str) -> None:
    page = shown(name)
    for option in options(name):
        if option.name in OF_ALL:
            continue
        assert option.rich_help_panel == PANEL_OF[option.name]
        assert f"─ {option.rich_help_panel} ─" in page
        (line,) = re.findall(rf"^.*{option.opts[0]} .*(?:\n│ +[^-\s].*)*", page, re.MULTILINE)
        if option.is_flag and not option.secondary_opts:
            assert "<bool>" not in line
        else:
            assert "[default: " in line or "[required]" in line, option.name


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_the_exit_status_is_told(name: str) -> None:
    words = re.sub(r"\s+", " ", shown(*[name] * bool(name)))
    assert EXIT_STATUS in words


def test_the_run_is_shown_as_what_may_be_left_out() -> None:
    assert "numerate rank [OPTIONS] [RUN] CLAIM…" in run_help("rank")
    assert "numerate check [OPTIONS] FILE…" in run_help("check")


def run_help(name: str) -> str:
    return COMMANDS[name].get_usage(typer.Context(COMMANDS[name], info_name=f"numerate {name}"))


def completion(home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "numerate", *environment.pop("arguments", "").split()],
        env={**os.environ, "HOME": str(home), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_shell_completes_commands_and_options(tmp_path: Path) -> None:
    asked = {"_NUMERATE_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    assert completion(tmp_path, COMP_WORDS="numerate che", **asked).stdout.split() == [
        "check",
        "check-benchmark",
    ]
    asked["COMP_CWORD"] = "2"
    assert "--alarms" in completion(tmp_path, COMP_WORDS="numerate check --al", **asked).stdout


def test_completion_is_installed(tmp_path: Path) -> None:
    done = completion(
        tmp_path,
        arguments="--install-completion bash",
        _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1",
    )
    assert done.returncode == 0, done.stderr
    (script,) = (tmp_path / ".bash_completions").iterdir()
    assert "_NUMERATE_COMPLETE=complete_bash" in script.read_text()
    assert str(script) in (tmp_path / ".bashrc").read_text()

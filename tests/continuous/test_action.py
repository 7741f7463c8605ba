"""The GitHub Action: its scripts as GitHub would run them, and keys that GitHub knows."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
WRONG = "Of the patients, 42 of 120 (53%) were women.\n"
RIGHT = "Of the patients, 42 of 120 (35%) were women.\n"


@dataclass
class Runner:
    """What GitHub gives a job: a folder, values for expressions, files for what steps say."""

    folder: Path
    given: dict[str, str]
    outputs: dict[str, str] = field(default_factory=dict)
    programs: tuple[str, ...] = ()  # folders of them, that go before others

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        step = STEPS[name]
        script, output = self.folder.parent / "script.sh", self.folder.parent / "output"
        script.write_text(step["run"])
        output.write_text("")
        beside = str(Path(sys.executable).parent)
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.folder,
            env={
                **os.environ,
                "PATH": os.pathsep.join([*self.programs, beside, os.environ["PATH"]]),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.folder.parent / "summary"),
                **{key: self.evaluated(value) for key, value in step["env"].items()},
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.outputs |= dict(line.split("=", 1) for line in output.read_text().splitlines())
        return done

    def evaluated(self, text: str) -> str:
        values = {
            "runner.temp": str(self.folder.parent),
            "github.action_path": "/the/action",
            **{f"inputs.{name}": one["default"] for name, one in ACTION["inputs"].items()},
            **{f"inputs.{name}": value for name, value in self.given.items()},
            **{f"steps.check.outputs.{name}": value for name, value in self.outputs.items()},
        }
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: values[found[1]], text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "docs" / "more").mkdir(parents=True)
    (folder / "docs" / "two words.md").write_text(WRONG)
    (folder / "docs" / "more" / "right.md").write_text(RIGHT)
    return folder


def found(runner: Runner) -> list[str]:
    record = json.loads(Path(runner.outputs["sarif"]).read_text(encoding="utf-8"))
    return [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in record["runs"][0]["results"]
    ]


def test_its_keys_are_those_that_github_knows() -> None:
    schema = json.loads(Path(__file__).with_name("action.schema.json").read_text())
    jsonschema.validate(ACTION, schema)


def test_no_script_has_what_was_given_in_it() -> None:
    assert not [step for step in STEPS.values() if "${{" in step.get("run", "")]


def test_findings_are_written_told_and_fail(folder: Path) -> None:
    runner = Runner(folder, {"model": "none"})
    done = runner.run("Check")
    assert (done.returncode, runner.outputs["status"]) == (0, "1"), done.stderr
    assert found(runner) == ["docs/two%20words.md"]
    assert done.stdout.startswith("1 finding; ")
    assert (folder.parent / "summary").read_text() == done.stdout
    assert runner.run("Tell").returncode == 1
    runner.given["fail"] = "false"
    assert runner.run("Tell").returncode == 0


def test_files_are_lines_and_patterns(folder: Path) -> None:
    (folder / "-v.md").write_text(WRONG)
    files = "docs/two words.md\n\ndocs/**/r*.md\n-v.md\n"
    runner = Runner(folder, {"files": files, "args": "--model none\n --ignore NUM6"})
    assert runner.run("Check").returncode == 0
    assert sorted(found(runner)) == ["-v.md", "docs/two%20words.md"]


def test_nothing_that_is_given_is_a_command(folder: Path) -> None:
    said = '$(touch gone)`touch gone`"; touch gone; #'
    given = {"files": said, "args": said, "model": said, "fail": said}
    runner = Runner(folder, given)
    assert runner.run("Check").returncode == 0
    assert (runner.outputs["status"], runner.outputs.get("sarif")) == ("2", None)
    assert not (folder / "gone").exists()
    runner.outputs["sarif"] = ""
    assert runner.run("Tell").returncode == 2


def test_what_is_right_passes(folder: Path) -> None:
    runner = Runner(folder, {"files": "docs/more", "model": "none"})
    assert runner.run("Check").returncode == 0
    assert (runner.outputs["status"], found(runner)) == ("0", [])
    assert runner.run("Tell").returncode == 0


@pytest.mark.parametrize(
    ("version", "installed"),
    [("", "/the/action[documents]"), ("0.5.0; true", "numerate[documents]==0.5.0; true")],
)
def test_a_version_is_installed(folder: Path, version: str, installed: str) -> None:
    programs = folder.parent / "programs"
    programs.mkdir()
    (programs / "python").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (programs / "python").chmod(0o755)
    done = Runner(folder, {"version": version}, programs=(str(programs),)).run("Install numerate")
    assert done.stdout.splitlines() == ["-m", "pip", "install", "--quiet", installed]


def test_the_documentation_gives_it_what_it_takes() -> None:
    page = (ROOT / "docs" / "continuous.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    (workflow,) = [block for block in blocks if "jobs" in block]
    checkout, check = workflow["jobs"]["numbers"]["steps"]
    assert checkout["uses"].startswith("actions/checkout@")
    assert check["with"].keys() <= ACTION["inputs"].keys()
    assert re.findall(r"^\| `([a-z]+)` \|", page, re.MULTILINE) == list(ACTION["inputs"])
    assert workflow["permissions"] == {"contents": "read", "security-events": "write"}

"""The hooks, run by pre-commit in a repository that uses them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from pre_commit.clientlib import load_manifest

from numerate.documents import suits
from numerate.documents.table_file import is_table_file

MANIFEST = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
}
INSTALLED, SYSTEM = "numerate-check", "numerate-check-system"
WRONG = "Of the patients, 42 of 120 (53%) were women.\n"
RIGHT = "Of the patients, 42 of 120 (35%) were women.\n"

WHO = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


class Project:
    """A repository whose configuration names ours, as those who use the hooks write it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ours = folder.parent / "ours"
        ours.mkdir()
        shutil.copy(MANIFEST, ours)
        self.git("init", "--quiet", at=ours)
        self.git("add", ".", at=ours)
        self.git("commit", "--quiet", "--message", "Hooks", at=ours)
        revision = self.git("rev-parse", "HEAD", at=ours).strip()
        hook = {"repo": str(ours), "rev": revision, "hooks": [{"id": SYSTEM}]}
        folder.mkdir()
        self.git("init", "--quiet", at=folder)
        self.write(".pre-commit-config.yaml", yaml.safe_dump({"repos": [hook]}))
        self.write("numerate.toml", 'model = "none"\n')

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)
        self.git("add", name, at=self.folder)

    def git(self, *arguments: str, at: Path) -> str:
        return self.call("git", *arguments, at=at, check=True).stdout

    def commits(self) -> tuple[bool, str]:
        """Whether pre-commit lets it pass, and what it prints."""
        command = [sys.executable, "-m", "pre_commit", "run", "--color=never"]
        done = self.call(*command, at=self.folder)
        return done.returncode == 0, done.stdout + done.stderr

    def call(
        self, *command: str, at: Path, check: bool = False
    ) -> subprocess.CompletedProcess[str]:
        own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        given = {
            "HOME": str(self.folder.parent),
            "PRE_COMMIT_HOME": str(self.folder.parent / "cache"),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            **{f"GIT_{who}": "nobody@localhost" for who in WHO},
        }
        environment = {**own, **given}
        return subprocess.run(
            command, cwd=at, env=environment, capture_output=True, text=True, check=check
        )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@needs_git
def test_a_wrong_number_is_not_committed(project: Project) -> None:
    project.write("two words.md", WRONG)
    project.write("right.tex", RIGHT)
    project.write("requirements.txt", WRONG)
    passed, printed = project.commits()
    assert not passed
    assert "- exit code: 1\n" in printed
    assert "two words.md:1:29 NUM101 42 of 120 is 35 %, not 53 %." in printed
    assert printed.count("NUM101") == 1
    project.write("two words.md", RIGHT)
    passed, printed = project.commits()
    assert passed, printed
    assert "Passed" in printed


@needs_git
def test_what_is_in_the_baseline_passes(project: Project) -> None:
    project.write("known.md", WRONG)
    project.write("numerate.toml", 'model = "none"\nbaseline = "known.json"\n')
    command = ["numerate", "check", "known.md", "--write-baseline", "--baseline", "known.json"]
    assert project.call(*command, at=project.folder).returncode == 0
    project.write("known.md", f"{WRONG}\nAnother paragraph.\n")
    passed, printed = project.commits()
    assert passed, printed
    project.write("new.md", "There were 30 of 60 (60%) left.\n")
    passed, printed = project.commits()
    assert not passed
    assert [line.split()[0] for line in printed.splitlines() if "NUM101" in line] == ["new.md:1:22"]


@needs_git
def test_other_files_are_not_read(project: Project) -> None:
    project.write("program.py", f"# {WRONG}")
    passed, printed = project.commits()
    assert passed
    assert "no files to check" in printed


def test_pre_commit_takes_the_hooks() -> None:
    assert [hook["id"] for hook in load_manifest(str(MANIFEST))] == [INSTALLED, SYSTEM]
    same = ("entry", "args", "files", "exclude", "require_serial")
    assert [HOOKS[INSTALLED][key] for key in same] == [HOOKS[SYSTEM][key] for key in same]


def test_only_what_check_reads_is_given_to_it() -> None:
    wanted = re.compile(HOOKS[SYSTEM]["files"])
    suffixes = re.findall(r"[a-z]+\??", wanted.pattern.partition("(?i)")[2])
    names = [f"file.{suffix.rstrip('?')}" for suffix in suffixes]
    assert len(names) > 10
    assert all(map(wanted.search, names))
    assert [
        name for name in names if not (suits(name) or is_table_file(name) or name == "file.rst")
    ] == []
    assert not wanted.search("file.py")


def test_the_documentation_names_the_hooks() -> None:
    page = (MANIFEST.parent / "docs" / "continuous.md").read_text(encoding="utf-8")
    assert set(re.findall(r"id: ([a-z-]+)", page)) == HOOKS.keys()

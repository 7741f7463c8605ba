"""The first hour of a new user: every command of the README and of the page on the laboratory, as
printed, after `make demo`.

They run in a project's root where the corpus is small, two models stand for all seven, and one
figure for all of a report; what trains does so for one epoch. All else is as printed.
"""

import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stdout
from pathlib import Path

import pytest
from tests.lm.backbones.pretrained.conftest import save

from numerate.cli import main
from numerate.lm.data.prepare import prepare
from numerate.lm.inspect import inspect
from numerate.lm.inspect.exhibit import Exhibit
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.inspect.training_curves import training_curves
from numerate.lm.reproduce.children import Children
from numerate.lm.reproduce.choices import Task

pytest_plugins = ("tests.trained",)

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LABORATORY = (ROOT / "docs" / "laboratory.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README + LABORATORY, re.DOTALL)


def lines() -> Iterator[list[str]]:
    for block in blocks("bash"):
        for line in block.replace("\\\n", " ").splitlines():
            if words := shlex.split(line, comments=True):
                yield words


COMMANDS = [
    list(words)
    for words in dict.fromkeys(tuple(words[1:]) for words in lines() if words[0] == "numerate")
]
DEMO = [
    words
    for words in COMMANDS
    if words[0] == "reproduce" or (words[0] == "prepare" and "demo/cardiac" in words)
]
SMALLER = {  # what is said last, holds
    "prepare cardiac": ["--documents", "120", "--processes", "1"],
    "reproduce": ["--models", "d-rnn,combination", "--epochs", "1", "--confidence", "0"],
    "train": ["--epochs", "1"],
    "train --backbone": ["--vocabulary", "100"],
    "evaluate hf:models/SmolLM2": ["--limit", "2"],
    "serve": ["--port", "0"],
    "audit": ["--processes", "1"],
}


def smaller(words: list[str]) -> list[str]:
    added = [SMALLER[key] for key in SMALLER if set(key.split()) <= set(words)]
    if "--backbone" in words:
        words = ["demo/few" if word == "demo/cardiac" else word for word in words]
    return [*words, *(word for some in added for word in some)]


def one_figure(runs: list[Run], contexts: object) -> list[tuple[str, list[Exhibit]]]:
    return [("Training", [training_curves(runs)])]


def run(words: list[str]) -> int:
    """One command in this process, which has loaded torch: its exit status."""
    words = [*words]
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        if ">" in words:
            stack.enter_context(
                redirect_stdout(stack.enter_context(Path(words.pop()).open("w", encoding="utf-8")))
            )
            words.remove(">")
        patch.setattr(inspect, "_exhibits", one_figure)
        patch.setattr("sys.argv", ["numerate", *smaller(words)])
        patch.setattr("signal.signal", lambda *_: None)
        with pytest.raises(SystemExit) as left:
            main()
    return int(left.value.code or 0)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project's root after `make demo`, and with a pretrained model where the README has it."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "examples", root / "examples")
    save(root / "models" / "SmolLM2", "single")

    def train_here(self: Children, tasks: list[Task]) -> None:
        for task in tasks:
            assert run(self.plan.training_arguments(task)) == 0
            self.standings.rows[task.name].end("trained")

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr(Children, "train", train_here)
        for words in DEMO:
            assert run(words) == 0
    prepare("cardiac", root / "demo" / "few", documents=20, processes=1)
    return root


@pytest.mark.parametrize("words", [w for w in COMMANDS if w not in DEMO], ids=" ".join)
def test_every_command_works_as_printed(
    words: list[str],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def leave_at_once(self: object) -> None:
        pass

    monkeypatch.chdir(project)
    monkeypatch.setattr("uvicorn.Server.main_loop", leave_at_once)
    status = run(words)
    found = capsys.readouterr()
    assert status in ({0, 1} if words[0] == "check" else {0}), found.err
    printed = Path(words[-1]).read_text() if ">" in words else found.out
    assert printed.strip()


def test_the_python_works_as_printed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})


def test_make_demo_leaves_what_the_commands_use() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    recipe = makefile.replace("$(BIN)/", "").replace("$(DEMO)", "demo")
    made = [shlex.split(line)[1:] for line in recipe.splitlines() if line.startswith("\tnumerate ")]
    assert [words for words in made if words[0] in {"prepare", "reproduce"}] == DEMO


def test_all_other_lines_are_about_installing() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for words in lines():
        assert words[0] in {"numerate", "make", "pip", "uv", "pipx"}
        if words[0] in {"pip", "uv", "pipx"} and words[-1] != ".":
            assert words[:2] == ["pip", "install"]
            assert re.fullmatch(r"numerate\[(\w+)\]", words[2])[1] in extras  # type: ignore[index]
        elif words[-1] == ".":
            assert "constraint" in " ".join(words), "any torch could come"
    assert "`source .venv/bin/activate`" in README
    assert "`.venv/bin/numerate`" in README


def test_the_sample_has_two_errors_and_the_readme_shows_them() -> None:
    sample = (ROOT / "examples" / "report.txt").read_text().splitlines()
    shown = re.findall(r"^examples/report\.txt:(\d+):(\d+) NUM900", README, re.MULTILINE)
    errors = [sample[int(line) - 1][int(column) - 1 :].split()[0] for line, column in shown]
    assert errors == ["184", "325"]

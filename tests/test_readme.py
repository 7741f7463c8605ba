"""What the documents show is true: commands are valid, links lead somewhere."""

import re
import shlex
import tomllib
from itertools import takewhile
from pathlib import Path

import pytest
import typer

from numerate.cli import app
from numerate.lm.train.options import OF_BACKBONE

pytest_plugins = ("tests.trained",)

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LABORATORY = (ROOT / "docs" / "laboratory.md").read_text(encoding="utf-8")
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)


def commands(document: Path) -> list[list[str]]:
    """Every `numerate …` line of the bash blocks, as the shell would split it."""
    blocks = re.findall(r"```bash\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    words = [shlex.split(line, comments=True) for line in lines]
    calls = [line[1:] for line in words if line[:1] == ["numerate"]]
    return [list(takewhile(lambda word: word not in {"<", ">"}, call)) for call in calls]


COMMANDS = [command for document in DOCUMENTS for command in commands(document)]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_shown_is_valid(command: list[str]) -> None:
    """Parsed, not run: the name, the options and the types of their values."""
    group = typer.main.get_command(app)
    with group.make_context("numerate", list(command)) as context:
        name, found, rest = group.resolve_command(context, list(command))  # type: ignore[attr-defined]
        assert found is not None, f"no command {name}"
        found.make_context(name, rest, parent=context)


def settings(command: list[str]) -> dict[str, str]:
    """Options that make figures hard to compare where they differ."""
    named = ("--vocabulary", "--batch-size", "--epochs")
    return {name: command[command.index(name) + 1] for name in named if name in command}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_runs_beside_the_demo_are_trained_as_the_demo_is(document: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    demo = settings(re.search(r"numerate reproduce .*", makefile)[0].split())  # type: ignore[index]
    assert len(demo) == 3
    shown = commands(document)
    compared = [call for call in shown if call[0] == "evaluate" and "demo/runs/" in " ".join(call)]
    runs = {word for call in compared for word in call[1:] if word.startswith("runs/")}
    for call in shown:
        if call[0] == "train" and call[call.index("--out") + 1] in runs:
            assert settings(call) == demo, " ".join(call)


def test_the_defaults_are_as_documented() -> None:
    """Which are the paper's, and which are not."""
    train = typer.main.get_command(app).commands["train"]  # type: ignore[attr-defined]
    usual = {option.name: option.default for option in train.params}
    text = " ".join(LABORATORY.split())
    sizes = OF_BACKBONE["lstm"].hidden, OF_BACKBONE["lstm"].dropout, usual["vocabulary"]
    assert "paper's by default (D = {}, dropout {}, vocabulary {:,})".format(*sizes) in text
    assert (usual["vectors"], usual["plain_mixture"]) == (None, False)
    differing = text[text.index("Not the paper's are:") :]
    assert "embeddings that start at random" in differing
    assert f"a learning rate of {OF_BACKBONE['lstm'].learning_rate}" in differing
    assert "`--plain-mixture`" in differing


def test_installing_names_every_extra() -> None:
    section = README[README.index("\n## Install\n") : README.index("\n## Two commands\n")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - {"dev", "docs"}
    assert extras - set(re.findall(r"`(\w+)`", section)) == set()


def test_the_source_distribution_has_what_it_is_built_and_tried_with() -> None:
    """`make`, the README's links, and the tests read these."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    packed = build["build"]["targets"]["sdist"]["include"]
    needed = ("constraints.txt", "CITATION.cff", "CONTRIBUTING.md", "Makefile", "models/build.py")
    assert [name for name in needed if name not in packed] == []
    assert len(packed) == len(set(packed)), "named twice"


def test_the_readme_can_be_read_in_one_go() -> None:
    assert len(README.splitlines()) <= 180
    assert len((ROOT / "docs" / "architecture.md").read_text().splitlines()) <= 200


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"https?://|#", target):
            assert (document.parent / target.partition("#")[0]).exists(), target

"""What `import numerate` shows is documented, and the examples run as they stand there."""

import doctest
import importlib
import inspect
import pydoc
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest

import numerate
from numerate.lm.train.options import TrainingOptions

pytest_plugins = ("tests.trained",)

ROOT = Path(__file__).parents[1]
PUBLIC = [
    *numerate.__all__,
    "documents.read_file",
    "documents.table_file.read_tables",
    "lm.heads",
    "lm.heads.testing",
    "text.table_numbers.numbers_of",
]
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as `make demo` leaves it, but tiny."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "examples", folder / "examples")
    numerate.prepare("cardiac", folder / "demo" / "cardiac", documents=60)
    numerate.train(
        folder / "demo" / "cardiac",
        folder / "demo" / "runs" / "combination",
        vocabulary=200,
        hidden=6,
        options=TrainingOptions(epochs=4, batch_size=4, learning_rate=0.02),
        device="cpu",
    )
    return folder


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    for module in (
        "documents.table_file",
        "lm.heads.testing",
        "lm.model.numeral_lm",
        "text.table_numbers",
    ):
        importlib.import_module(f"numerate.{module}")
    thing = attrgetter(name)(numerate)
    home = inspect.getmodule(thing)
    found = doctest.DocTestFinder().find(thing, name, module=home, globs={})
    assert any(test.examples for test in found if test.name == name), f"{name} has no example"
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=LENIENT)
    failed = sum(runner.run(test, out=said.append).failed for test in found)
    assert not failed, "".join(said)


def documented() -> Iterator[tuple[str, object]]:
    """What the pages of the API are about, and what it has."""
    pages = "\n".join(path.read_text() for path in sorted((ROOT / "docs" / "api").glob("*.md")))
    for name, block in re.findall(r"^::: (\S+)\n((?: .*\n)*)", pages, re.MULTILINE):
        yield name, (thing := pydoc.locate(name))
        chosen = re.search(r"members: \[(.*)\]", block)
        inside = chosen[1].split(", ") if chosen else [n for n in vars(thing) if n[0] != "_"]
        for inner in inside if chosen or inspect.isclass(thing) else ():
            found = getattr(thing, inner)
            if callable(found) or isinstance(found, property):
                yield f"{name}.{inner}", found


DOCUMENTED = dict(documented())


@pytest.mark.parametrize("name", DOCUMENTED)
def test_what_the_pages_show_has_a_docstring(name: str) -> None:
    thing = DOCUMENTED[name]
    assert thing is not None, name
    assert inspect.getdoc(thing), name


def test_what_is_shown_is_imported_when_it_is_used() -> None:
    program = (
        "import sys, numerate; assert not {'torch', 'pyarrow'} & set(sys.modules);"
        f"assert set({numerate.__all__}) <= set(dir(numerate)); numerate.load;"
        "assert 'torch' in sys.modules and 'accelerate' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


LAZY = sorted(
    ".".join(path.parent.relative_to(ROOT / "src").parts)
    for path in (ROOT / "src").rglob("__init__.py")
    if "__dir__ = lazily(" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("package", LAZY)
def test_dir_shows_the_public_names_alone(package: str) -> None:
    """Also after sub-modules were imported and names were used."""
    program = f"""
import {package} as package
import numerate.lm.heads.testing, numerate.lm.evaluate.evaluate, numerate.lm.heads.mixture
for name in package.__all__:
    getattr(package, name)
shown = dir(package)
assert [name for name in shown if name[:2] != "__"] == sorted(package.__all__), shown
assert "__doc__" in shown and "__path__" in shown, shown
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        numerate.laod  # noqa: B018

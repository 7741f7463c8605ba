"""What `import numerate` shows is documented, and the examples run as they stand there."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import numerate
from numerate.training.options import TrainingOptions

LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as `make demo` leaves it, but tiny."""
    folder = tmp_path_factory.mktemp("project")
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


@pytest.mark.parametrize("name", numerate.__all__)
def test_examples_run(name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    found = doctest.DocTestFinder().find(getattr(numerate, name), name, module=False, globs={})
    assert any(test.examples for test in found if test.name == name), f"{name} has no example"
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=LENIENT)
    failed = sum(runner.run(test, out=said.append).failed for test in found)
    assert not failed, "".join(said)


def test_what_is_shown_is_imported_when_it_is_used() -> None:
    program = (
        "import sys, numerate; assert not {'torch', 'pyarrow'} & set(sys.modules);"
        f"assert set({numerate.__all__}) <= set(dir(numerate)); numerate.load;"
        "assert 'torch' in sys.modules and 'accelerate' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        numerate.laod  # noqa: B018

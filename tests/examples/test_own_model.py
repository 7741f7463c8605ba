"""A head in a model that is not ours: the example runs, and learns what it is shown."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_model.py"


def test_the_example_learns(capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(EXAMPLE))
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 40
    found = capsys.readouterr().out
    medians = [float(n) for n in re.findall(r"[\d.]+", found[found.index("medians") :])[:3]]
    assert medians == pytest.approx([22 * height**2 for height in (1.55, 1.75, 1.95)], abs=4)
    assert float(names["loss"].detach()) < 4.5  # nats

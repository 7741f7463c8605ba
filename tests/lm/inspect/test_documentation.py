"""The examples of docs/inspect.md run as they stand there."""

import re
from pathlib import Path
from typing import Any

import pytest

from numerate.lm.inspect import inspect
from numerate.lm.inspect.exhibit import Exhibit

GUIDE = Path(__file__).parents[3] / "docs" / "inspect.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


def test_every_function_is_shown_in_an_example() -> None:
    folder = GUIDE.parents[1] / "src" / "numerate" / "lm" / "inspect"
    makers = [
        name
        for path in folder.glob("*.py")
        for name in re.findall(r"^def ([a-z]\w+)\([^)]*\) -> Exhibit:", path.read_text(), re.M)
    ]
    shown = "".join(EXAMPLES).replace(", ", "\nimport ")
    assert len(makers) >= 11
    assert [name for name in makers if f"import {name}" not in shown] == []


def test_the_examples_run(
    folders: dict[str, Path],
    grounded_runs: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inspect, "_exhibits", lambda *_: iter(()))  # examples draw each by itself
    (tmp_path / "runs").mkdir()
    for name, folder in (folders | {"grounded": grounded_runs["tables"]}).items():
        (tmp_path / "runs" / name).symlink_to(folder)
    (tmp_path / "numbers.txt").write_text("\n".join(str(2**n) for n in range(100)))
    names: dict[str, Any] = {}
    for example in EXAMPLES:
        exec(example, names)
        exhibit = names.get("exhibit")
        assert exhibit is None or (isinstance(exhibit, Exhibit) and exhibit.table.rows)
    assert len(names["near"]) == 3  # tables of the digit RNN
    assert names["likeliest"][0].startswith("Table 1, ")
    assert names["report"].exists()
    assert (tmp_path / "figures" / "calibration.svg").exists()

"""Plugins are found by name without importing them, and a broken one is told in one line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.packages import install

import numerate
from numerate.errors import NumerateError
from numerate.plugins import READERS, load, names

SOURCE = Path(numerate.__file__).parents[1]


class Base:
    """What the plugins of these tests are to be."""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that packages are installed in."""
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site"


def test_a_plugin_is_named_before_it_is_imported(site: Path) -> None:
    source = "from tests.test_plugins import Base\nclass Mine(Base): ...\n"
    install(site, "mine", {"numerate.tests": {"mine": "mine_plugin:Mine"}}, mine_plugin=source)
    assert names("numerate.tests") == ["mine"]
    assert "mine_plugin" not in sys.modules
    assert load("numerate.tests", "mine", Base).__name__ == "Mine"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "import no_such_thing",
            "reader 'odd' of odd-one: cannot be loaded: ModuleNotFoundError: "
            "No module named 'no_such_thing'",
        ),
        ("1 / 0", "reader 'odd' of odd-one: cannot be loaded: ZeroDivisionError: division by zero"),
        (
            "Odd = 3",
            "reader 'odd' of odd-one: got odd_one:Odd, expected a class of tests.test_plugins.Base",
        ),
    ],
)
def test_a_broken_plugin_is_told_in_one_line(site: Path, source: str, said: str) -> None:
    install(site, "odd-one", {"others.readers": {"odd": "odd_one:Odd"}}, odd_one=source)
    sys.modules.pop("odd_one", None)
    with pytest.raises(NumerateError) as raised:
        load("others.readers", "odd", Base)
    assert str(raised.value) == said


def test_of_two_packages_with_one_name_neither_is_taken(site: Path) -> None:
    for name in ("first", "second"):
        install(site, name, {"others.heads": {"same": f"{name}:Head"}})
    assert names("others.heads") == ["same"]
    with pytest.raises(NumerateError, match=r"head 'same': first and second bring one each"):
        load("others.heads", "same", Base)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(NumerateError, match=r"unknown reader 'jast': did you mean jats\?"):
        load(READERS, "jast", Base)


def test_ours_are_found_where_nothing_is_installed() -> None:
    """From a checkout, on a machine where nothing can be installed; and none of them imported."""
    code = (
        "import json, sys; sys.path[:] = [p for p in sys.path if 'site-packages' not in p];"
        "from numerate.plugins import READERS, names; print(json.dumps(names(READERS)));"
        "assert 'lxml' not in sys.modules and 'numerate.lm.data' not in sys.modules"
    )
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    ours = {"text", "jsonl", "jats", "latexml", "docx", "odt", "rtf"}
    assert ours <= set(json.loads(result.stdout))

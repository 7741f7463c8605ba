"""JSON files of ours, read by a shape: what is wrong with one is said in one line.

A shape is a type (`int` is no bool, `float` is finite and may be written as an integer), None
for null, a tuple of alternatives, a list with the shape of every item (or of several, the shapes
of just so many items), or a dict with the shapes of its keys. A key that ends with `?` may be
missing; `*` stands for the keys that are not named. A dataclass is the shape of its fields: what
fits it can be had as one of its instances.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from numerate.errors import NumerateError, RunError, one_line
from numerate.storage import write
from numerate.storage.regular_files import read_text

T = TypeVar("T")
Say = Callable[[str], None]


class Unbounded(float):
    """As a shape, a number that may also be infinite, or none."""


Shape = type | tuple["Shape", ...] | list["Shape"] | dict[str, "Shape"] | None

_NAMES = {
    bool: "true or false", int: "a whole number", float: "a number", str: "a string",
    Unbounded: "a number", object: "anything",
    list: "a list", dict: "an object", type(None): "null",
}  # fmt: skip


def read_record(
    path: Path, shape: dict[str, Shape] | type, error: type[NumerateError]
) -> dict[str, Any]:
    """Read the object in a JSON file. The caller explains a missing file: FileNotFoundError."""
    try:
        text = read_text(path)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, ValueError) as reason:
        why = reason.strerror if isinstance(reason, OSError) else reason
        raise error(f"{path}: cannot be read: {one_line(why)}") from None
    return parse_record(text, shape, error, path)


def parse_record(
    text: str, shape: dict[str, Shape] | type, error: type[NumerateError], where: object
) -> dict[str, Any]:
    """Read a JSON object by its shape. A key that comes twice would mean one thing to us, and
    another to the next reader, so it is refused."""
    try:
        record = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as reason:
        raise error(f"{where}: cannot be read: {one_line(reason)}") from None
    if wrong := misfit(record, shape):
        raise error(f"{where}: {wrong}")
    return record  # type: ignore[no-any-return]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise ValueError(f"the key {twice!r:.80} comes twice")
    return record


def write_record(path: Path, record: Mapping[str, Any], indent: int | None = 2) -> None:
    write(path, (json.dumps(record, indent=indent, ensure_ascii=False) + "\n").encode())


def kept(path: Path, identity: dict[str, Any]) -> dict[str, Any] | None:
    """The record in a file that `cached` wrote, if it is of this identity; raises RunError over a
    spoilt one."""
    try:
        stored = read_record(path, {"identity": dict, "record": dict}, RunError)
    except (FileNotFoundError, NotADirectoryError):
        return None
    found: dict[str, Any] = stored["record"]
    return found if stored["identity"] == identity else None


def cached(
    path: Path,
    identity: dict[str, Any],
    find_out: Callable[[], dict[str, Any]],
    read: Callable[[dict[str, Any]], T],
    say: Say,
    *,
    anew: bool = False,
) -> T:
    """What is found out once: the record in the file if it is of this identity, else made `anew`.

    `read` makes of it what it stands for, or raises NumerateError: what can be found out again
    may be spoilt. Nor is a folder that cannot be written to a reason to fail: then it is found
    out each time.
    """
    try:
        stored = kept(path, identity)
        if stored is None and path.exists():
            say(f"{path}: of other weights or data, made anew")
        elif stored is not None and not anew:
            return read(stored)
    except NumerateError as error:
        say(f"{path}: spoilt, made anew ({str(error).removeprefix(f'{path}: ')})")
    record = json.loads(json.dumps(find_out()))  # the same as next time
    try:
        write_record(path, {"identity": identity, "record": record}, indent=None)
    except (OSError, NumerateError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        say(f"{path}: cannot be kept ({reason}), will be needed again next time")
    return read(record)


def typed(kind: type[T], record: Any) -> T:
    """A record that fits a dataclass as one of its instances."""
    found: T = _typed(kind, record)
    return found


def _typed(kind: Any, value: Any) -> Any:
    make: Any = kind
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _typed(next(one for one in inner if misfit(value, _shape(one)) is None), value)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        known = [field.name for field in fields(kind) if field.name in value]
        return make(**{name: _typed(hints[name], value[name]) for name in known})
    if origin is dict:
        return {key: _typed(inner[1], item) for key, item in value.items()}
    if origin in (list, tuple):
        kinds = inner if len(inner) > 1 and Ellipsis not in inner else inner[:1] * len(value)
        return origin(_typed(one, item) for one, item in zip(kinds, value, strict=True))
    return make(value) if kind in (float, Unbounded) else value


@cache
def _shape(kind: Any) -> Shape:
    """Of what a dataclass says of a field; `tuple[str, ...]` is written as a list."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return tuple(map(_shape, inner))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        shapes = {}
        for field in fields(kind):
            needed = field.default is MISSING and field.default_factory is MISSING
            shapes[field.name if needed else f"{field.name}?"] = _shape(hints[field.name])
        return shapes
    if origin is dict:
        return {"*": _shape(inner[1])}
    if origin in (list, tuple):
        return [_shape(one) for one in inner if one is not Ellipsis]
    if kind is Any:
        return object
    return None if kind is NoneType else kind


def misfit(value: Any, shape: Shape, where: str = "") -> str | None:
    """The first thing about a value that is not as the shape says, in words; None if all is."""
    if is_dataclass(shape):
        shape = _shape(shape)
    if isinstance(shape, tuple):
        misfits = [misfit(value, choice, where) for choice in shape]
        if None in misfits:
            return None
        pairs = zip(misfits, shape, strict=True)
        inside = (wrong for wrong, choice in pairs if type(choice) is type(value))
        return next(inside, None) or _wrong(value, shape, where)
    if isinstance(shape, list) and isinstance(value, list):
        shapes = shape * len(value) if len(shape) == 1 else shape
        if len(shapes) != len(value):
            return f"{where}: got {len(value)} items, expected {len(shapes)}"
        places = enumerate(zip(value, shapes, strict=True))
        wrongs = (misfit(item, one, f"{where}[{at}]") for at, (item, one) in places)
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
    if shape is object:
        return True
    if shape is str:
        return type(value) is str and _is_text(value)
    if shape is Unbounded:
        return _is_number(value)
    if shape is float:
        return _is_number(value) and math.isfinite(value)
    return type(value) is shape


def _is_number(value: Any) -> bool:
    """JSON can name whole numbers that are larger than floating point knows."""
    return type(value) is float or (type(value) is int and abs(value) <= sys.float_info.max)


def _is_text(value: str) -> bool:
    """JSON can name halves of characters, which cannot be written anywhere."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


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

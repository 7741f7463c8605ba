"""Folders and files that a user names, wherever they lie: fetched when the command begins.

Not when its line is read: then nothing is known yet of its other options. What is only written is
a string instead, since Path spoils addresses.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

from numerate.storage import file_here, here, path_here


@dataclass(frozen=True, slots=True)
class Named:
    text: str
    locate: Callable[[str], Path]


def _folder(text: str) -> Named:
    return Named(text, here)


def _file(text: str) -> Named:
    return Named(text, file_here)


def _own(text: str) -> Named:
    return Named(text, path_here)


# Of options and arguments whose commands take a Path:
FOLDER: dict[str, Any] = {"parser": _folder, "metavar": "FOLDER"}
FILE: dict[str, Any] = {"parser": _file, "metavar": "FILE"}
OWN_FOLDER: dict[str, Any] = {"parser": _own, "metavar": "FOLDER"}  # of this machine


def located(value: Any) -> Any:
    """An argument as its command takes it."""
    if isinstance(value, Named):
        return value.locate(value.text)
    if isinstance(value, list | tuple):
        return [located(one) for one in value]
    return value


def to_be_located(kind: Any) -> Any:
    """An annotation for typer, most versions of which would make a Path of what is a name yet."""
    if kind is Path:
        return Named
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return Annotated[to_be_located(parts[0]), *parts[1:]]
    if origin is list:
        return list[to_be_located(parts[0])]  # type: ignore[misc]
    if origin is UnionType:
        return reduce(or_, map(to_be_located, parts))
    return kind

"""Heads by name: those that packages register, ours among them. No torch before one is loaded."""

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from numerate import plugins
from numerate.errors import NumerateError

if TYPE_CHECKING:
    from numerate.lm.heads.base import NumeralHead


def head_names() -> tuple[str, ...]:
    """What `--model` takes: all that are registered, ours first."""
    return tuple(plugins.names(plugins.HEADS))


def check_head_name(name: str) -> None:
    known = head_names()
    if name not in known:
        close = get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise NumerateError(f"unknown model {name!r}: {hint}expected one of {', '.join(known)}")


def head_class(name: str) -> "type[NumeralHead]":
    """The head of that name; the package that brings it is imported now."""
    from torch import nn

    from numerate.lm.heads.base import NumeralHead

    check_head_name(name)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9+_-]*", name) or hasattr(nn.ModuleDict(), name):
        raise NumerateError(
            f"head {name!r}: got a name that cannot be one of a member, expected letters, digits, "
            "+, - and _, and no name that torch has for a part of a module"
        )
    found: type[NumeralHead] = plugins.load(plugins.HEADS, name, NumeralHead)
    return found


def paper_heads() -> tuple[str, ...]:
    """The paper's seven, in the order of its tables."""
    rows = {name: head_class(name).paper_row for name in plugins.own_names(plugins.HEADS)}
    return tuple(sorted((n for n, row in rows.items() if row), key=lambda name: rows[name] or 0))


def usual_members(*, with_digits: bool) -> tuple[str, ...]:
    """What a combination is made of unless told, in the order of the paper."""
    found = {name: head_class(name) for name in plugins.own_names(plugins.HEADS)}
    chosen = [
        name
        for name, kind in found.items()
        if kind.usual_member and (with_digits or not kind.needs_digits)
    ]
    return tuple(sorted(chosen, key=lambda name: (found[name].paper_row or 100, name)))


def members_with_sight() -> tuple[str, ...]:
    """Those that know numbers in view: what a grounded combination has besides."""
    names = plugins.own_names(plugins.HEADS)
    kinds = {name: head_class(name) for name in names}
    return tuple(name for name in sorted(kinds, reverse=True) if kinds[name].needs_sight)

"""Codes by themselves and by their beginnings: `NUM101`, or `NUM3` for all tests."""

from collections.abc import Iterable
from difflib import get_close_matches

import numerate.rules.families  # noqa: F401 — registers them
from numerate.errors import NumerateError
from numerate.proofread.model_rules import MODEL_RULES
from numerate.rules.rule import RULES, Rule


def all_rules() -> dict[str, Rule]:
    """Those that recompute, and those by which models speak; in the order of their codes."""
    return dict(sorted({**RULES, **MODEL_RULES}.items()))


def chosen_codes(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> frozenset[str]:
    """All codes that are selected, by default every one, but for those that are ignored."""
    chosen = _codes("select", select) if (select := list(select)) else frozenset(all_rules())
    return chosen - _codes("ignore", ignore)


def _codes(what: str, beginnings: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for beginning in beginnings:
        matching = codes_like(beginning)
        if not matching:
            close = get_close_matches(beginning, all_rules(), n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise NumerateError(
                f"{what}: got {beginning!r}, {hint}expected a code or its beginning, such as "
                "NUM101 or NUM1; numerate rule --all lists them"
            )
        found |= matching
    return frozenset(found)


def codes_like(beginning: str) -> set[str]:
    written = beginning.strip().upper()
    return {code for code in all_rules() if written and code.startswith(written)}


def split_codes(given: Iterable[str]) -> list[str]:
    """`--select NUM1,NUM3 --select NUM900` as three."""
    return [code.strip() for some in given for code in some.split(",") if code.strip()]

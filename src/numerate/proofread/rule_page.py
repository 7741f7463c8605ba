"""`numerate rule`: what a rule looks for, why, an example, and what to do about it."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from math import isnan
from textwrap import indent
from typing import Any

from numerate.errors import NumerateError, check_choice
from numerate.proofread.selection import all_rules
from numerate.rules.rule import Rule

FORMATS = ("text", "json", "markdown")
FAMILY = "NUM"  # that codes begin with


def rules_named(code: str) -> list[Rule]:
    """By a code or its beginning, or by a name, in any case."""
    rules = all_rules()
    wanted = code.strip().upper()
    found = [rule for rule in rules.values() if wanted in (rule.code, rule.name.upper())]
    if not found and wanted.startswith(FAMILY):
        found = [rule for rule in rules.values() if rule.code.startswith(wanted)]
    if not found:
        check_choice("rule", wanted, rules)
    return found


def show_rules(code: str | None, *, everything: bool, format: str) -> str:
    check_choice("format", format, FORMATS)
    if (code is None) != everything:
        got = "neither" if code is None else "both"
        raise NumerateError(f"CODE and --all: got {got}, expected one of them")
    rules = list(all_rules().values()) if code is None else rules_named(code)
    several = everything or len(rules) > 1
    if format == "json":
        records = [record(rule) for rule in rules]
        return json.dumps(records if several else records[0], indent=2, ensure_ascii=False)
    if format == "markdown":
        return rules_page(rules) if several else as_markdown(rules[0])
    if several:
        return "\n".join(f"{rule.code}  {rule.summary}" for rule in rules)
    return as_markdown(rules[0])


def record(rule: Rule) -> dict[str, Any]:
    found = {name: value for name, value in asdict(rule).items() if name != "recompute"}
    return {**found, "precision": None if isnan(rule.precision) else rule.precision}


def _precision(rule: Rule) -> str:
    return "as calibrated" if isnan(rule.precision) else f"{rule.precision:.2f}"


def as_markdown(rule: Rule, level: int = 1) -> str:
    def quoted(texts: Iterable[str]) -> str:
        return "\n\n".join(indent(text, "    ") for text in texts)

    return "\n\n".join(
        [
            f"{'#' * level} {rule.code} {rule.name}",
            rule.summary,
            rule.reason,
            f"Found:\n\n{quoted(rule.wrong)}",
            f"Not found:\n\n{quoted(rule.right)}",
            f"**What to do.** {rule.fix}",
        ]
    )


def rules_page(rules: list[Rule]) -> str:
    """`docs/rules.md`."""
    head = (
        "# Rules\n\n"
        "What [`numerate check`](checking.md) looks for. This page is what "
        "`numerate rule --all --format markdown` prints; `numerate rule NUM101` prints one rule. "
        "Precision is the share of a rule's findings on published articles that are right.\n\n"
        "| code | looks for | precision |\n|---|---|---:|\n"
    )
    rows = "\n".join(
        f"| [{rule.code}](#{rule.code.lower()}-{rule.name}) | {rule.summary} | {_precision(rule)} |"
        for rule in rules
    )
    return head + rows + "\n\n" + "\n\n".join(as_markdown(rule, 2) for rule in rules)

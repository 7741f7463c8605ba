"""`numerate rule`: what a rule looks for, why, an example, and what to do about it."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from math import isnan
from textwrap import indent
from typing import Any

from numerate.checking.rule import Rule
from numerate.errors import NumerateError, check_choice
from numerate.proofreading.selection import all_rules

FORMATS = ("text", "json", "markdown")


def rule_named(code: str) -> Rule:
    """By its code or its name, in any case."""
    rules = all_rules()
    by_name = {rule.name: rule for rule in rules.values()}
    wanted = code.strip()
    found = rules.get(wanted.upper()) or by_name.get(wanted.lower())
    if found is None:
        check_choice("rule", wanted.upper(), rules)
    assert found is not None
    return found


def show_rules(code: str | None, *, everything: bool, format: str) -> str:
    check_choice("format", format, FORMATS)
    if (code is None) != everything:
        got = "neither" if code is None else "both"
        raise NumerateError(f"CODE and --all: got {got}, expected one of them")
    rules = list(all_rules().values()) if code is None else [rule_named(code)]
    if format == "json":
        records = [record(rule) for rule in rules]
        return json.dumps(records if everything else records[0], indent=2, ensure_ascii=False)
    if format == "markdown":
        return rules_page(rules) if everything else as_markdown(rules[0])
    if everything:
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

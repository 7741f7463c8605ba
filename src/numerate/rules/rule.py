"""What a rule is: it reads statements of a document, and says of each whether it holds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from numerate.errors import NumerateError
from numerate.rules.finding import Finding
from numerate.rules.reading import ReadDocument
from numerate.rules.where import Where


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one statement: it holds, it does not (`finding`), or it cannot be told (`missing`)."""

    where: Where  # the statement
    finding: Finding | None = None
    missing: str | None = None  # what would be needed: `degrees of freedom`
    used: tuple[Where, ...] = ()  # numbers of the statement that stand elsewhere

    @property
    def places(self) -> tuple[Where, ...]:
        """Where the numbers of the statement stand."""
        return self.where, *self.used, *(self.finding.involved if self.finding else ())


Recompute = Callable[[ReadDocument], Iterator[Outcome]]


@dataclass(frozen=True, slots=True)
class Rule:
    """The texts are shown by `numerate rule CODE` and in the documentation; a test holds every
    rule to its examples."""

    code: str  # NUM101
    name: str  # percentage-of-count
    statements: str  # what it counts, in the plural: `tests`
    summary: str  # one line
    reason: str  # why it matters, what is allowed for, when it is silent
    wrong: tuple[str, ...]  # examples, each a text or a Markdown document with tables: found
    right: tuple[str, ...]  # the same put right: not found
    fix: str  # what to do about it
    precision: float  # share of its findings on published articles that are right, as measured
    recompute: Recompute


RULES: dict[str, Rule] = {}


def add_rule(rule: Rule) -> None:
    if rule.code in RULES:
        raise NumerateError(f"rule {rule.code}: there are two, expected one")
    RULES[rule.code] = rule

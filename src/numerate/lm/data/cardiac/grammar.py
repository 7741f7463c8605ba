"""The language of the templates, and how they become a graph of tokens.

A template is text with `[a|b|]` for a choice (`[3*a|b]` weighs it), `{name}` for a slot and
`<name>` for a rule: another template, one for each grade of the numbers written, one for each
diagnosis, or several in any order. Alternatives may begin alike or be empty.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from numerate.lm.data.cardiac.attributes import DIAGNOSES, Vector
from numerate.lm.data.cardiac.grades import GRADES
from numerate.lm.data.cardiac.graph import ALWAYS, END, Guards, Node
from numerate.lm.data.cardiac.slots import Slot
from numerate.text.tokenizer import tokenize


@dataclass(frozen=True)
class Graded:
    """One template for each key of a grade."""

    grade: str
    templates: Mapping[str, str]


@dataclass(frozen=True)
class ByDiagnosis:
    """One template for each diagnosis."""

    templates: Mapping[str, str]


@dataclass(frozen=True)
class AnyOrder:
    """Rules in any order; `stop[n]` is the chance to leave out the last n, if none is required."""

    rules: frozenset[str]
    required: frozenset[str]
    stop: Mapping[int, float]


Rule = str | Graded | ByDiagnosis | AnyOrder


_PIECE = re.compile(
    r"(?P<open>\[)|(?P<bar>\|)|(?P<close>\])|\{(?P<slot>\w+)\}|<(?P<rule>\w+)>"
    r"|(?P<weight>[0-9]+)\*|(?P<text>[^][|{}<>*]+)"
)


class Grammar:
    """A graph from `start` to the end of a report, and how words are written (`MRI`, `mL`)."""

    def __init__(self, rules: Mapping[str, Rule], slots: Mapping[str, Slot]) -> None:
        self._rules = rules
        self._slots = slots
        self.display: dict[str, str] = {}
        self.start = Node()
        self._token(END, self._rule("report", self.start))

    def _token(self, label: str | Slot, start: Node) -> Node:
        start.label, start.target = label, Node()
        return start.target

    def _text(self, text: str, start: Node) -> Node:
        for token in tokenize(text):
            written = text[token.start : token.end]
            if self.display.setdefault(token.text, written) != written:
                raise ValueError(f"two ways to write {token.text!r}: got {written!r} in {text!r}")
            start = self._token(token.text, start)
        return start

    def _template(self, template: str, start: Node) -> Node:
        pieces = list(_PIECE.finditer(template))
        if "".join(piece.group() for piece in pieces) != template:
            raise ValueError(f"malformed template: {template!r}")
        depths = list(accumulate("]|[".find(mark) - 1 for mark in template if mark in "[]"))
        if depths and (min(depths) < 0 or depths[-1] != 0):
            raise ValueError(f"unbalanced brackets: {template!r}")
        return self._sequence(pieces, 0, start)[0]

    def _sequence(self, pieces: list[re.Match[str]], at: int, node: Node) -> tuple[Node, int]:
        """Builds pieces from `at` up to the bar or bracket that ends them."""
        while at < len(pieces) and pieces[at].lastgroup not in ("bar", "close"):
            kind = pieces[at].lastgroup
            if kind == "open":
                node, at = self._choice(pieces, at, node)
                continue
            if kind == "slot":
                node = self._token(self._slots[pieces[at]["slot"]], node)
            elif kind == "rule":
                node = self._rule(pieces[at]["rule"], node)
            else:
                node = self._text(pieces[at].group(), node)
            at += 1
        return node, at

    def _choice(self, pieces: list[re.Match[str]], at: int, start: Node) -> tuple[Node, int]:
        end = Node()
        firsts: list[tuple[int, Node]] = []
        while pieces[at].lastgroup != "close":
            at += 1
            weighed = pieces[at].lastgroup == "weight"
            first = Node()
            firsts.append((int(pieces[at]["weight"]) if weighed else 1, first))
            last, at = self._sequence(pieces, at + weighed, first)
            last.empty.append((ALWAYS, frozenset(), end))
        total = sum(weight for weight, _ in firsts)
        start.empty.extend(
            (ALWAYS * (weight / total), frozenset(), node) for weight, node in firsts
        )
        return end, at + 1

    def _rule(self, name: str, start: Node) -> Node:
        rule = self._rules[name]
        if isinstance(rule, str):
            return self._template(rule, start)
        if isinstance(rule, Graded):
            self._complete(name, rule.templates, GRADES[rule.grade].keys)
            return self._branch(
                start,
                [(t, ALWAYS, frozenset({(rule.grade, k)})) for k, t in rule.templates.items()],
            )
        if isinstance(rule, ByDiagnosis):
            self._complete(name, rule.templates, tuple(DIAGNOSES))
            only = dict(zip(DIAGNOSES, np.eye(len(DIAGNOSES)), strict=True))
            return self._branch(
                start, [(t, only[d], frozenset()) for d, t in rule.templates.items()]
            )
        return self._any_order(rule, start)

    def _complete(self, name: str, templates: Mapping[str, str], keys: tuple[str, ...]) -> None:
        if set(templates) != set(keys):
            raise ValueError(f"rule {name!r}: got {sorted(templates)}, expected {sorted(keys)}")

    def _branch(self, start: Node, templates: list[tuple[str, Vector, Guards]]) -> Node:
        end = Node()
        for template, weight, guards in templates:
            first = Node()
            start.empty.append((weight, guards, first))
            self._template(template, first).empty.append((ALWAYS, frozenset(), end))
        return end

    def _any_order(self, rule: AnyOrder, start: Node) -> Node:
        places: dict[frozenset[str], Node] = {rule.rules: start}

        def place(left: frozenset[str]) -> Node:
            """The node where the rules `left` have not been used yet."""
            if left in places:
                return places[left]
            places[left] = Node()
            expand(left)
            return places[left]

        def expand(left: frozenset[str]) -> None:
            stop = 0.0 if left & rule.required else rule.stop.get(len(left), 0.0)
            if stop:
                places[left].empty.append((ALWAYS * stop, frozenset(), place(frozenset())))
            for name in sorted(left):
                first = Node()
                places[left].empty.append((ALWAYS * ((1 - stop) / len(left)), frozenset(), first))
                self._rule(name, first).empty.append((ALWAYS, frozenset(), place(left - {name})))

        expand(rule.rules)
        return place(frozenset())

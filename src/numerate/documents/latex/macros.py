"""What writers define for themselves in TeX: macros, and conditions that are true or not.

Macros are expanded as far as text needs it, within bounds; of conditions only those are known that
a document sets itself, and others are taken for false.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from numerate.documents.latex.tokens import (
    COMMAND,
    END,
    PARAMETER,
    TEXT,
    Token,
    Tokens,
    TokenStream,
)
from numerate.documents.latex.tokens import plain as typed

MAX_DEPTH = 40  # of macros within macros
MAX_EXPANDED = 2_000_000  # characters that macros may make

_DEFINITIONS = {
    "newcommand", "renewcommand", "providecommand", "DeclareRobustCommand", "NewDocumentCommand",
    "RenewDocumentCommand", "ProvideDocumentCommand", "DeclareDocumentCommand", "def", "gdef",
    "edef", "xdef", "let", "DeclareMathOperator", "DeclareSIUnit", "newif",
}  # fmt: skip
_CONDITIONS = {
    "if", "ifx", "ifnum", "ifdim", "ifodd", "ifcase", "ifcat", "ifdefined", "ifcsname", "ifhmode",
    "ifvmode", "ifinner", "ifeof", "ifvoid", "ifpdf", "ifxetex", "ifluatex", "ifPDFTeX", "ifXeTeX",
    "ifLuaTeX", "iffalse", "ifxetexorluatex", "if@twocolumn", "if@filesw",
}  # fmt: skip
_NO_CONDITIONS = {"iff", "ifthenelse"}
_ENDS = re.compile(r"\\fi(?![A-Za-z@])")
_ASSIGNED = re.compile(r"\s*=?\s*")
_DOCUMENT_PARAMETER = re.compile(r"[mosdOtre+]")


class Macro(NamedTuple):
    parameters: int
    default: Tokens | None  # of the first parameter, which is optional then
    body: Tokens


class MacroStream(TokenStream):
    """`next` gives what is left when all that the writer defined is done."""

    def __init__(self, text: str, note: Callable[[str, int], None]) -> None:
        super().__init__(text)
        self.in_math = False
        self._note = note  # is told what is left out, and where
        self._macros: dict[str, Macro] = {}
        self._aliases: dict[str, str] = {}
        self._conditions: dict[str, bool] = {"iftrue": True}
        self._has_conditions = _ENDS.search(text) is not None
        self._expanded = 0

    def open(self, text: str, base: int, *, apart: bool) -> None:
        self._has_conditions = self._has_conditions or _ENDS.search(text) is not None
        super().open(text, base, apart=apart)

    def next(self) -> Token | None:
        while (token := self.raw()) is not None:
            if token.kind == COMMAND:
                name = token.text
                if (macro := self._macros.get(name)) is not None:
                    self._expand(token, macro)
                    continue
                if name in self._aliases:
                    return token._replace(text=self._aliases[name])
                if name in _DEFINITIONS:
                    self._define(name)
                    continue
                if self._decides(token):
                    continue
            return token
        return None

    def knows(self, name: str) -> bool:
        return name in self._macros

    def _expand(self, call: Token, macro: Macro) -> None:
        if call.depth >= MAX_DEPTH or self._expanded > MAX_EXPANDED:
            self._note(f"\\{call.text} calls macros without end, and is left out", call.at)
            self._macros[call.text] = Macro(macro.parameters, macro.default, [])
            if self._expanded > MAX_EXPANDED:
                self._macros.clear()
            return
        arguments: list[Tokens] = []
        if macro.default is not None:
            given = self.optional()
            arguments.append(macro.default if given is None else given)
        while len(arguments) < macro.parameters:
            arguments.append(self.argument())
        made: Tokens = []
        for token in macro.body:
            if token.kind == PARAMETER:
                index = int(token.text) - 1
                made += arguments[index] if index < len(arguments) else ()
            else:
                made.append(token._replace(at=call.at, end=call.end, depth=call.depth + 1))
        self._expanded += sum(1 + len(token.text) for token in made) + 1
        self.put_back(made)

    # Definitions

    def _define(self, command: str) -> None:
        self.takes("*")
        if command == "DeclareSIUnit":
            self.optional()
        name = self._name()
        if command in ("def", "gdef", "edef", "xdef"):
            self._define_by_def(name)
        elif command == "let":
            self._define_by_let(name)
        elif command == "newif":
            self._conditions[name] = False
        elif command.endswith("DocumentCommand"):
            parameters = _DOCUMENT_PARAMETER.findall(re.sub(r"\{[^}]*\}", "", self.words()))
            first_is_optional = parameters[:1] in (["o"], ["O"])
            is_known = set(parameters[first_is_optional:]) <= {"m", "+"}
            body = self.argument()
            count = sum(kind != "+" for kind in parameters)
            self._keep(name, count, [] if first_is_optional else None, body if is_known else [])
        else:
            count = typed(self.optional() or []).strip()
            default = self.optional() if count else None
            body = self.argument()
            if command != "providecommand" or name not in self._macros:
                self._keep(name, int(count) if count in set("123456789") else 0, default, body)

    def _keep(self, name: str, count: int, default: Tokens | None, body: Tokens) -> None:
        if name:
            self._macros[name] = Macro(min(count, 9), default, body)

    def _name(self) -> str:
        return next((token.text for token in self.argument() if token.kind == COMMAND), "")

    def _define_by_def(self, name: str) -> None:
        """Where other signs stand between its parameters, it is nothing."""
        count, is_plain = 0, True
        while (token := self.raw()) is not None and token.kind != "{":
            if token.kind == END:
                self.put_back([token])
                return
            if token.kind == PARAMETER:
                count += 1
            elif not (token.kind == TEXT and token.text.isspace()):
                is_plain = False
        body = self.until("}")
        if is_plain:
            self._keep(name, count, None, body)

    def _define_by_let(self, name: str) -> None:
        """It is what the other is now, even if that changes."""
        token = self.peek()
        if token is not None and token.kind == TEXT:
            self.raw()
            if rest := _ASSIGNED.sub("", token.text, count=1):
                self.put_back([token.part(len(token.text) - len(rest))])
        target = self.raw()
        if target is None or target.kind == END:
            self.put_back([target] if target else [])
        elif target.kind == COMMAND and target.text in self._macros:
            self._macros[name] = self._macros[target.text]
        elif target.kind == COMMAND:
            self._aliases[name] = self._aliases.get(target.text, target.text)
            self._macros.pop(name, None)

    # Conditions

    def _decides(self, token: Token) -> bool:
        """Whether it was about a condition, or the end of one."""
        name = token.text
        if name in ("else", "or"):
            self._skip_branch(to_else=False)
        elif name == "ifmmode":
            if not self.in_math:
                self._skip_branch(to_else=True)
        elif name in self._conditions:
            if not self._conditions[name]:
                self._skip_branch(to_else=True)
        elif name in _CONDITIONS:
            self._skip_branch(to_else=True)
        elif self._is_condition(name):  # made elsewhere, such as in a class
            if not self._skip_branch(to_else=True):
                self._note(f"\\{name} has no \\fi: what follows is left out", token.at)
        elif name.endswith(("true", "false")) and _stem(name):
            self._conditions["if" + _stem(name)] = name.endswith("true")
        else:
            return name == "fi"
        return True

    def _is_condition(self, name: str) -> bool:
        """Commands that begin so, and take arguments, decide for themselves."""
        if name in _CONDITIONS or name in self._conditions or name == "ifmmode":
            return True
        if not self._has_conditions or not name.startswith("if") or name in _NO_CONDITIONS:
            return False
        after = self.peek()
        return not self.knows(name) and (after is None or after.kind != "{")

    def _skip_branch(self, *, to_else: bool) -> bool:
        """Whether it ends before what it is a part of does."""
        depth = 0
        while (token := self.raw()) is not None:
            if token.kind == END:
                self.put_back([token])
                return False
            if token.kind != COMMAND:
                continue
            if self._is_condition(token.text):
                depth += 1
            elif token.text == "fi":
                if depth == 0:
                    return True
                depth -= 1
            elif token.text == "else" and to_else and depth == 0:
                return True
        return False


def _stem(name: str) -> str:
    return name.removesuffix("true").removesuffix("false")

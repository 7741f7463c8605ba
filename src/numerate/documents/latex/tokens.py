"""TeX as tokens: commands, braces, runs of text.

Every token knows what it stands for in the source: one of a macro's definition stands for the
command that called it, an argument for itself.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from numerate.documents.placed_text import Places, standing_for

TEXT, COMMAND, PARAGRAPH, PARAMETER, END = "text", "command", "paragraph", "parameter", "end"


class Token(NamedTuple):
    kind: str  # TEXT, COMMAND, PARAGRAPH, PARAMETER, END, or one of the signs { } $ & ^ _ ~ #
    text: str  # of a command its name
    at: int
    end: int
    depth: int = 0  # of macros that made it; 0 if it stands in the source

    @property
    def places(self) -> Places:
        if self.depth:
            return standing_for(len(self.text), self.at, self.end)
        return range(self.at, self.at + len(self.text))

    def part(self, start: int, end: int | None = None) -> "Token":
        """Of a text."""
        text = self.text[start:end]
        if self.depth:
            return self._replace(text=text)
        return self._replace(text=text, at=self.at + start, end=self.at + start + len(text))

    def is_command(self, *names: str) -> bool:
        return self.kind == COMMAND and self.text in names


Tokens = list[Token]

_TOKEN = re.compile(
    r"(?P<comment>%[^\n]*(?:\n(?![ \t\r]*\n)[ \t]*)?)"
    r"|(?P<paragraph>\n[ \t\r]*\n\s*)"
    r"|\\(?P<word>@?[A-Za-z][A-Za-z@]*)(?:[ \t]++|\r?\n(?![ \t\r]*\n))*+"
    r"|\\(?P<sign>[^A-Za-z]|\Z)"
    r"|\#+(?P<parameter>[1-9])"
    r"|(?P<special>[{}&^_~\#]|\$\$?)"
    r"|(?P<text>(?:[^\\{}$&^_~\#%\n]++|\n(?![ \t\r]*\n))++)",
)


class _File:
    def __init__(self, text: str, base: int, *, apart: bool = False) -> None:
        self.text, self.base, self.at = text, base, 0
        self.apart = apart  # whether a paragraph ends where it does


class TokenStream:
    """What is left to read: tokens that were put back, then files, the innermost first."""

    def __init__(self, text: str) -> None:
        self._files = [_File(text, 0)]
        self._ahead: Tokens = []  # the next is the last

    def raw(self) -> Token | None:
        """The next, even if it is a macro; None at the end of everything."""
        if self._ahead:
            return self._ahead.pop()
        while self._files:
            file = self._files[-1]
            found = _TOKEN.match(file.text, file.at)
            if found is None:
                self._files.pop()
                if file.apart:
                    end = file.base + len(file.text)
                    return Token(PARAGRAPH, "", end, end)
                continue
            file.at = found.end()
            kind = found.lastgroup or ""
            if kind == "comment":
                continue
            text, start = found[kind], file.base + found.start()
            if kind in ("word", "sign"):
                return Token(COMMAND, text, start, file.base + found.end(kind))
            kind = text[0] if kind == "special" else kind
            return Token(kind, text, start, file.base + found.end())
        return None

    def put_back(self, tokens: Iterable[Token]) -> None:
        self._ahead += reversed(list(tokens))

    def open(self, text: str, base: int, *, apart: bool) -> None:
        """Another file, to be read before the rest of this."""
        if not self._ahead:
            self._files.append(_File(text, base, apart=apart))
            return
        inside = TokenStream("")
        inside._files = [_File(text, base, apart=apart)]
        self.put_back(iter(inside.raw, None))

    def open_bases(self) -> list[int]:
        """Where the texts of the files begin that are being read."""
        return [file.base for file in self._files]

    def stop(self) -> None:
        """Nothing more is to be read."""
        self._files.clear()
        self._ahead.clear()

    # Arguments

    def peek(self) -> Token | None:
        token = self.raw()
        if token is not None:
            self.put_back([token])
        return token

    def skip_space(self) -> None:
        while (token := self.raw()) is not None:
            if token.kind == TEXT and token.text[0].isspace():
                bare = token.text.lstrip()
                if not bare:
                    continue
                token = token.part(len(token.text) - len(bare))
            self.put_back([token])
            return

    def takes(self, sign: str) -> bool:
        """Whether the next character is this sign, which is read then."""
        token = self.raw()
        if token is None:
            return False
        if token.kind == TEXT and token.text.startswith(sign):
            if len(token.text) > len(sign):
                self.put_back([token.part(len(sign))])
            return True
        self.put_back([token])
        return False

    def argument(self) -> Tokens:
        """What stands in braces, or else the next sign; not expanded."""
        self.skip_space()
        token = self.raw()
        if token is None:
            return []
        if token.kind in (PARAGRAPH, END, "}"):
            self.put_back([token])
            return []
        if token.kind == "{":
            return self.until("}")
        if token.kind == TEXT:
            if len(token.text) > 1:
                self.put_back([token.part(1)])
            return [token.part(0, 1)]
        return [token]

    def optional(self, opening: str = "[", closing: str = "]") -> Tokens | None:
        """What stands in brackets, if they come next."""
        token = self.peek()
        if token is None or token.kind != TEXT or not token.text.lstrip().startswith(opening):
            return None
        self.skip_space()
        self.takes(opening)
        return self.until(closing)

    def until(self, closing: str) -> Tokens:
        """Up to a sign that closes what was opened; a group that is never closed ends with what
        it is a part of."""
        found: Tokens = []
        depth = 0
        while (token := self.raw()) is not None:
            if token.kind == END:
                self.put_back([token])
                break
            if token.kind == "{":
                depth += 1
            elif token.kind == "}":
                if depth == 0:
                    if closing != "}":
                        self.put_back([token])
                    break
                depth -= 1
            elif depth == 0 and token.kind == TEXT and closing in token.text:
                end = token.text.index(closing)
                if end:
                    found.append(token.part(0, end))
                if end + 1 < len(token.text):
                    self.put_back([token.part(end + 1)])
                break
            found.append(token)
        return found

    def words(self) -> str:
        """An argument that is a name or a length, as it is typed."""
        return plain(self.argument())

    # What is not to be read as TeX

    def skip_to(self, closing: str) -> None:
        """Up to the end of an environment, `\\end{verbatim}`, and over it."""
        if self._ahead or not self._files:
            while (token := self.raw()) is not None:
                if token.kind == END:
                    self.put_back([token])
                    return
                if token.is_command("end") and f"\\end{{{self.words()}}}" == closing:
                    return
            return
        file = self._files[-1]
        end = file.text.find(closing, file.at)
        file.at = len(file.text) if end < 0 else end + len(closing)

    def skip_verbatim(self) -> None:
        """Over what stands between two like signs, or in braces, within a line."""
        if self._ahead or not self._files:
            self.argument()
            return
        file = self._files[-1]
        self._files[-1].at += file.text.startswith("*", file.at)
        stop = file.text.find("\n", file.at)
        stop = len(file.text) if stop < 0 else stop
        sign = file.text[file.at : file.at + 1]
        end = file.text.find({"{": "}"}.get(sign, sign), file.at + 1, stop) if sign else -1
        file.at = stop if end < 0 else end + 1


def plain(tokens: Iterable[Token]) -> str:
    """Tokens as they would be typed."""
    return "".join(f"\\{token.text}" if token.kind == COMMAND else token.text for token in tokens)

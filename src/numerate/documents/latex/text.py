"""TeX as running text: what commands print, mathematics in a line, citations and references."""

import re
from collections.abc import Sequence

from numerate.documents.flow import CITE, MATH, REF, PlacedFlow, is_address
from numerate.documents.latex.arguments import ARGUMENTS
from numerate.documents.latex.macros import MacroStream
from numerate.documents.latex.quantities import NumberOptions, number, split, unit
from numerate.documents.latex.symbols import ACCENTS, FUNCTIONS, SYMBOLS, accented
from numerate.documents.latex.tokens import COMMAND, END, PARAGRAPH, TEXT, Token, Tokens, plain
from numerate.documents.placed_text import PlacedText, standing_for

_LIGATURES = re.compile(r"---?|``|''|`")
_PRINTED = {"---": "—", "--": "–", "``": "“", "''": "”", "`": "‘"}
_CITES = re.compile(r"[A-Za-z]*[cC]ite[A-Za-z]*")
_REFERS = {
    "ref", "pageref", "eqref", "autoref", "cref", "Cref", "vref", "Vref", "labelcref", "subref",
    "nameref", "fullref", "autopageref", "cpageref", "tref", "namecref", "nameCref",
}  # fmt: skip
_REFERS_OTHERWISE = {"crefrange", "Crefrange", "hyperref", "hyperlink"}
_DISPLAYS = {
    "equation", "align", "gather", "multline", "displaymath", "eqnarray", "flalign", "alignat",
    "dmath", "math*",
}  # fmt: skip


class TexText:
    """Reads tokens to their end, and writes what they print. What is a block, and not a part of
    one text, is for those who extend it."""

    def __init__(self, stream: MacroStream) -> None:
        self.stream = stream
        self.flow = PlacedFlow(0)
        self.numbers = NumberOptions()
        self.referred: list[str] = []  # labels that the text refers to

    def run(self) -> None:
        """All tokens up to the end of what is being read."""
        while (token := self.stream.next()) is not None and token.kind != END:
            self.before(token)
            if token.kind == TEXT:
                self._text(token)
            elif token.kind == COMMAND:
                self.command(token)
            elif token.kind == "$":
                self._dollar(token)
            elif token.kind in ("^", "_"):
                self._script(token)
            elif token.kind == "~":
                self.write("\u00a0", token)
            elif token.kind == "&":
                self.cell_end()
            elif token.kind == PARAGRAPH:
                self.paragraph_end()

    def inside(self, tokens: Sequence[Token]) -> PlacedFlow:
        """What tokens print, as a text of its own."""
        outer, self.flow = self.flow, PlacedFlow(tokens[0].at if tokens else self.flow.at)
        self._run_all(tokens)
        found, self.flow = self.flow, outer
        return found

    def _run_all(self, tokens: Sequence[Token]) -> None:
        self.stream.put_back([*tokens, Token(END, "", 0, 0)])
        self.run()

    def before(self, token: Token) -> None:
        """Each token comes by here first."""

    def paragraph_end(self) -> None:
        self.flow.space()

    def cell_end(self) -> None:
        self.flow.space()

    def line_end(self) -> None:
        self.flow.space()

    def environment(self, name: str, token: Token) -> None:
        self.flow.space()

    def environment_end(self, name: str) -> None:
        self.flow.space()

    def write(self, sign: str, token: Token) -> None:
        """What a token prints that is not its own text."""
        self.flow.text(sign, standing_for(len(sign), token.at, token.end))

    def _text(self, token: Token) -> None:
        found = PlacedText(token.text, token.places)
        if not self.stream.in_math and (
            "-" in token.text or "`" in token.text or "'" in token.text
        ):
            found = found.replaced(_LIGATURES, lambda match: _PRINTED[match[0]])
        self.flow.text(*found)

    # Commands

    def command(self, token: Token) -> None:
        name, stream = token.text, self.stream
        if name in ("\\", "tabularnewline", "cr"):
            stream.takes("*")
            stream.optional()
            self.line_end()
        elif name == "begin":
            self._begin(stream.words().strip(), token)
        elif name == "end":
            self.environment_end(stream.words().strip())
        elif name in ACCENTS and not stream.in_math:
            self._accent(token)
        elif name in ("(", "ensuremath"):
            inside = stream.argument() if name == "ensuremath" else self._up_to(")")
            self._math(inside or [])
        elif name == "[":
            self._up_to("]")
            self.flow.mark(MATH, standing_for(len(MATH), token.at, token.end))
        elif name in _REFERS or name in _REFERS_OTHERWISE:
            self._reference(token)
        elif _CITES.fullmatch(name) and name != "nocite":
            stream.takes("*")
            while stream.optional() is not None:
                pass
            stream.argument()
            self.flow.mark(CITE, standing_for(len(CITE), token.at, token.end))
        elif name in _QUANTITIES:
            self._quantity(token)
        elif name in ("url", "path", "nolinkurl", "doi", "href"):
            self._address(token)
        elif name in ("verb", "lstinline", "mintinline", "Verb", "code@"):
            if name != "verb":
                stream.optional()
            if name == "mintinline":
                stream.argument()
            stream.skip_verbatim()
            self.flow.mark(MATH, standing_for(len(MATH), token.at, token.end))
        elif name in ("textsuperscript", "sp", "tnote", "tmark", "sym"):
            self.flow.superscript(*self.inside(stream.argument()).placed())
        elif name in ("textsubscript", "sb"):
            self.flow.subscript(*self.inside(stream.argument()).placed())
        elif name in ("frac", "dfrac", "tfrac", "nicefrac", "sfrac", "cfrac"):
            self._fraction()
        elif name in ("sqrt", "binom"):
            self._wrapped("√(" if name == "sqrt" else "(", token)
        elif name in ("left", "right", "big", "Big", "bigg", "Bigg", "middle", "bigl", "bigr"):
            stream.takes(".")
        elif name == "texorpdfstring":
            shown, _ = stream.argument(), stream.argument()
            stream.put_back(shown)
        elif name in ("makecell", "thead", "shortstack", "specialcell"):
            stream.takes("*")
            stream.optional()
            self.flow.text(*self.inside(stream.argument()).placed())
        elif name == "sisetup":
            self.numbers = self.numbers.told(stream.words())
        elif name in FUNCTIONS:
            self.flow.border()
            self.write(name, token)
            self.flow.border()
        elif name in SYMBOLS:
            if name == "hspace":
                stream.takes("*")
                stream.argument()
            self.write(SYMBOLS[name], token)
        elif name in ARGUMENTS:
            self.skip(ARGUMENTS[name])
        else:
            self._unknown(name)

    def _unknown(self, name: str) -> None:
        """Its arguments in braces are taken for text, those in brackets are not."""
        if not self.stream.in_math and name.isalpha():
            ahead = self.stream.peek()
            if ahead is not None and ahead.kind == TEXT and ahead.text.startswith("["):
                self.stream.optional()

    def skip(self, arguments: str) -> None:
        for kind in arguments:
            if kind == "s":
                self.stream.takes("*")
            elif kind == "m":
                self.stream.argument()
            elif kind == "o":
                self.stream.optional()
            else:
                self.stream.optional("(", ")")

    def _begin(self, name: str, token: Token) -> None:
        if name.rstrip("*") in _DISPLAYS:
            self.stream.skip_to(f"\\end{{{name}}}")
            self.flow.mark(MATH, standing_for(len(MATH), token.at, token.end))
        else:
            self.environment(name, token)

    def _accent(self, token: Token) -> None:
        letter = self.inside(self.stream.argument()).placed().text
        if letter:
            self.write(accented(letter, token.text), token)

    def _reference(self, token: Token) -> None:
        stream = self.stream
        stream.takes("*")
        if token.text == "hyperref":  # with a text of its own, which shows the number
            labels = plain(stream.optional() or [])
            stream.argument()
        elif token.text == "hyperlink":
            labels = stream.words()
            stream.argument()
        else:
            labels = stream.words()
            if token.text.lower() == "crefrange":
                labels += "," + stream.words()
        self.referred += [label.strip() for label in labels.split(",")]
        self.flow.mark(REF, standing_for(len(REF), token.at, token.end))

    def _address(self, token: Token) -> None:
        self.stream.skip_verbatim()
        if token.text == "href":
            shown = self.inside(self.stream.argument()).placed()
            if not is_address(shown.text):
                self.flow.text(*shown)
                return
        self.flow.mark(REF, standing_for(len(REF), token.at, token.end))

    # Mathematics

    def _dollar(self, token: Token) -> None:
        """A sign without its fellow in the same paragraph is a sign of money."""
        inside = self._up_to(token.text)
        if inside is None:
            self.write(token.text, token)
        elif token.text == "$":
            self._math(inside)
        else:
            self.flow.mark(MATH, standing_for(len(MATH), token.at, token.end))

    def _up_to(self, closing: str) -> Tokens | None:
        """What comes before a sign or command that closes mathematics; None if nothing does before
        the paragraph ends, or the group, or other mathematics begins."""
        opening = {")": "(", "]": "["}.get(closing)
        found: Tokens = []
        depth = 0
        while (token := self.stream.raw()) is not None:
            if token.text == closing and token.kind in ("$", COMMAND):
                return found
            depth += (token.kind == "{") - (token.kind == "}")
            found.append(token)
            if depth < 0 or token.kind in (END, PARAGRAPH) or token.is_command(opening or "$$"):
                break
        self.stream.put_back(found)
        return None

    def _math(self, tokens: Tokens) -> None:
        was, self.stream.in_math = self.stream.in_math, True
        self._run_all(tokens)
        self.stream.in_math = was

    def _script(self, token: Token) -> None:
        if not self.stream.in_math:
            self.write(token.text, token)
            return
        script = self.inside(self.stream.argument()).placed()
        if script.text == "∘":
            self.flow.text("°", script.places)
        elif script.text and set(script.text) <= {"′"}:
            self.flow.text(*script)
        elif token.kind == "^":
            self.flow.superscript(*script)
        else:
            self.flow.subscript(*script)

    def _fraction(self) -> None:
        above = self.inside(self.stream.argument()).placed()
        below = self.inside(self.stream.argument()).placed()
        self.flow.border()
        self._group(above)
        self.flow.join("/", below.places[:1] or above.places[-1:])
        self._group(below)
        self.flow.border()

    def _group(self, part: PlacedText) -> None:
        if " " in part.text:
            self.flow.text("(", part.places[:1])
            self.flow.text(*part)
            self.flow.text(")", part.places[-1:])
        else:
            self.flow.text(*part)

    def _wrapped(self, opening: str, token: Token) -> None:
        self.stream.optional()
        self.write(opening, token)
        self.flow.text(*self.inside(self.stream.argument()).placed())
        if token.text == "binom":
            self.flow.space()
            self.flow.text(*self.inside(self.stream.argument()).placed())
        self.write(")", token)

    # Quantities

    def _quantity(self, token: Token) -> None:
        stream, kinds = self.stream, _QUANTITIES[token.text]
        stream.takes("*")
        options = self.numbers.told(plain(stream.optional() or []))
        arguments = [self._expanded(stream.argument()) for _ in kinds]
        units = unit(arguments[-1]) if kinds.endswith("u") else ""
        parts = [number(one, options) for one in arguments[: len(kinds) - bool(units)]]
        if kinds == "u":
            parts = []
        if kinds.startswith("l"):
            parts = [number(one, options) for one in split(arguments[0], ";")]
        if token.text == "ang":
            self._angle(parts, token)
            return
        for index, part in enumerate(parts):
            if index:
                last = index == len(parts) - 1
                between = " to " if len(kinds.rstrip("u")) == 2 else " and " if last else ", "
                self.write(between, token)
            self.flow.text(*part)
            self._unit(units, token, glued=False)
        if not parts:
            self._unit(units, token, glued=True)

    def _unit(self, units: str, token: Token, *, glued: bool) -> None:
        if units:
            apart = "" if glued or (units.startswith(("°", "′", "″")) and units != "°C") else " "
            self.write(f"{apart}{units}", token)

    def _angle(self, parts: list[PlacedText], token: Token) -> None:
        for part, sign in zip(parts, "°′″", strict=False):
            if part.text:
                self.flow.text(*part)
                self.write(sign, token)

    def _expanded(self, tokens: Tokens) -> Tokens:
        self.stream.put_back([*tokens, Token(END, "", 0, 0)])
        found: Tokens = []
        while (token := self.stream.next()) is not None and token.kind != END:
            found.append(token)
        return found


# Their arguments: `n` a number, `l` a list of numbers between semicolons, `u` a unit.
_QUANTITIES = {
    "num": "n", "SI": "nu", "qty": "nu", "si": "u", "unit": "u", "numrange": "nn",
    "SIrange": "nnu", "qtyrange": "nnu", "numlist": "l", "SIlist": "lu", "qtylist": "lu",
    "ang": "l", "numproduct": "n", "qtyproduct": "nu", "tablenum": "n", "complexnum": "n",
}  # fmt: skip

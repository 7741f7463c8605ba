"""Running text put together from marked-up pieces, so that no two numbers ever glue."""

import re

from numerate.documents.placed_text import PlacedText, Places
from numerate.numeral import NARROW_SPACES

CITE, REF, MATH = "_cite_", "_ref_", "_math_"

_SPACE = re.compile(r"\s{2,}|[^\S ]")
_BETWEEN_CITATIONS = r"[\s,;–—−-]*(?:(?:and|&)\s+)?"
_CITATIONS = re.compile(rf"{CITE}(?:{_BETWEEN_CITATIONS}{CITE})+")
# In brackets or raised, unlinked numbers beside a citation are citations too: [_cite_-6].
_NUMBERS = rf"(?:{CITE}|[0-9]+)(?:\s*[,;–—−-]+\s*(?:{CITE}|[0-9]+))*"
_BRACKETED = re.compile(rf"\[\s*({_NUMBERS})\s*\]")
_RAISED = re.compile(rf"[\s\[(]*{_NUMBERS}[\s\])]*[,;.]?\s*")
# A numbered table, figure or appendix is a reference even where nobody linked it.
_NUMBER = r"[0-9]+(?:\.[0-9]+)?[A-Za-z]?\b"
_EXTRA = r"(?:[Ff]igure|[Tt]able) supplement|(?:[Aa]dditional|[Ss]upplementa(?:l|ry)) [Ff]ile"
_ITEM = (
    r"[Tt]able|[Ff]igure|Fig\.?|[Ee]quation|Eq\.?|Section|Sect\.?|Appendix|Scheme|Supplement"
    rf"|{_EXTRA}"
)
_ITEMS = (
    r"[Tt]ables|[Ff]igures|Figs\.?|[Ee]quations|Eqs\.?|Sections|Appendices|Schemes"
    rf"|(?:{_EXTRA})s"
)
_UNLINKED = re.compile(
    rf"\b({_ITEM}) {_NUMBER}"
    rf"|\b({_ITEMS}) {_NUMBER}(?:(?:, {_NUMBER})*,? (?:and|&) {_NUMBER}|[–-]{_NUMBER})?"
)
# Two numbers that would read as one: indices below the line.
_BETWEEN_INDICES = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
# One number that would read as two once all white space is plain: narrow spaces in it.
_NARROW_GROUPS = re.compile(
    rf"(?<![0-9.,])[1-9][0-9]{{0,2}}(?:[{NARROW_SPACES}][0-9]{{3}})+(?![0-9])"
)
_POINTS = (".", ",", "．", "，")  # may stand inside a numeral

_ADDRESS = re.compile(r"(?:[a-z]+://|www\.|doi:|10\.[0-9]{4,}/)\S*", re.IGNORECASE)


def is_address(text: str) -> bool:
    """Whether a link shows nothing but where it leads: its digits are no quantities."""
    return _ADDRESS.fullmatch(text) is not None


class RunningText(str):
    """What a `Flow` makes, where it has marks of references: it knows what they stand for."""

    __slots__ = ("_shown", "_source")

    _source: str
    _shown: dict[int, str]

    @classmethod
    def of(cls, text: str, source: str, shown: dict[int, str]) -> "RunningText":
        """`source` is the text before its references were marked; of marks that readers put there
        themselves, by their offsets, `shown` has what they stand for."""
        made = cls(text)
        made._source, made._shown = source, shown
        return made

    def references(self) -> list[str]:
        """What each reference was written as, in their order; "" where that is not known.

        Of a text that was made of another one, those at its end.
        """
        placed = PlacedText(self._source, range(len(self._source)))
        for pattern, by in _FINISHING:
            placed = placed.replaced(pattern, by)
        found = []
        for mark in re.finditer(REF, placed.text):
            first, last = placed.places[mark.start()], placed.places[mark.end() - 1]
            stretch = " ".join(self._source[first : last + 1].split())
            found.append(self._shown.get(first, "") if stretch == REF else stretch)
        return found[max(len(found) - self.count(REF), 0) :]


class Flow:
    """Text under construction. Pieces are appended; scripts and marks keep their distance."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._shown: dict[int, str] = {}  # by offset: what a mark stands for
        self._last = " "  # last character written
        self._border = False  # whether a script or mark has just ended

    def text(self, piece: str | None, places: Places = ()) -> None:
        if not piece:
            return
        if self._border and _would_glue(self._last, piece):
            # A point between a script and a digit ends a sentence: `10^6. 5`, not `10^6 .5`.
            kept = int(piece[0] in _POINTS)
            self._append(piece[:kept], places[:kept])
            self._append(" ", places[:1])
            piece, places = piece[kept:], places[kept:]
            self._border = False
        self._border = self._border and piece in _POINTS  # a digit may still follow: `10^6` `.` `5`
        self._append(piece, places)
        self._last = piece[-1]

    def _append(self, piece: str, places: Places) -> None:
        self._pieces.append(piece)
        self._length += len(piece)

    @property
    def last(self) -> str:
        """The character written last."""
        return self._last

    @property
    def written(self) -> str:
        """As the source has it: with the numbers of what it refers to."""
        return "".join(self._pieces)

    def space(self) -> None:
        self.text(" ")

    def join(self, piece: str, places: Places = ()) -> None:
        """Text that belongs to what stands before it, whatever ended there."""
        self._border = False
        self.text(piece, places)

    def border(self) -> None:
        """Here one symbol ends: what follows must not be read as its continuation."""
        self._border = True

    def mark(self, mark: str, places: Places = (), *, shown: str = "") -> None:
        """Write one token that stands for a citation, a reference or a formula, and remember what
        is shown in its place."""
        if self._last.isalnum() or self._last == "_":
            self.space()
        self.text(mark, places)
        if shown:
            self._shown[self._length - len(mark)] = " ".join(shown.split())
        self._border = True

    def superscript(self, script: str, places: Places = ()) -> None:
        """`10<sup>6</sup>` is `10^6`; raised citations are just citations."""
        shown = references_of(script)
        script, places = PlacedText(script, places).stripped()
        if not script:
            return
        if CITE in script and _RAISED.fullmatch(script):
            script, places = CITE, [places[0]] * len(CITE) if places else ()
        if script.startswith((CITE, REF)):
            self.mark(script, places, shown=shown[0] if script == REF and shown else "")
            return
        self.text("^" + script, _with_sign(places))
        self._border = True

    def subscript(self, script: str, places: Places = ()) -> None:
        """`FEV<sub>1</sub>` is the name `FEV1`; anything that is no name keeps a mark."""
        script, places = PlacedText(script, places).stripped()
        if not script:
            return
        if script.isalnum() and script.isascii() and self._last.isalpha():
            self.join(script, places)
        elif places:
            apart = PlacedText(script, places).replaced(_BETWEEN_INDICES, lambda _: ", ")
            self.text("_" + apart.text, _with_sign(apart.places))
        else:
            self.text("_" + _BETWEEN_INDICES.sub(", ", script))
        self._border = True

    def finish(self) -> str:
        text = self.written
        for pattern, by in _FINISHING:
            text = pattern.sub(by, text)
        text = text.strip()
        return RunningText.of(text, self.written, self._shown) if REF in text else text


class PlacedFlow(Flow):
    """The same for sources whose places are known; what comes without a place stands where what
    came before it does."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at  # where it begins in the source
        self._places: list[int] = []

    def _append(self, piece: str, places: Places) -> None:
        super()._append(piece, places)
        last = self._places[-1] if self._places else self.at
        self._places += places or [last] * len(piece)

    def placed(self) -> PlacedText:
        """What `finish` gives, with its places."""
        found = PlacedText(self.written, self._places)
        for pattern, by in _FINISHING:
            found = found.replaced(pattern, by)
        return found.stripped()


def made_of(text: str, made: str) -> str:
    """Let a text that was made of another one know the same references."""
    if isinstance(text, RunningText) and REF in made:
        return RunningText.of(made, text._source, text._shown)
    return made


def references_of(text: str) -> list[str]:
    """What the references in a text were written as, where that is known."""
    return text.references() if isinstance(text, RunningText) else []


def _with_sign(places: Places) -> Places:
    return [places[0], *places] if places else ()


def _comma_groups(match: re.Match[str]) -> str:
    return ",".join(match.group().split())


def _cite_bracket(match: re.Match[str]) -> str:
    return f"[{CITE}]" if CITE in match.group() else match.group()


def _reference(match: re.Match[str]) -> str:
    return f"{match[1] or match[2]} {REF}"


_FINISHING = (
    (_NARROW_GROUPS, _comma_groups),
    (_SPACE, lambda _: " "),
    (_UNLINKED, _reference),
    (_BRACKETED, _cite_bracket),
    (_CITATIONS, lambda _: CITE),
)


def _would_glue(last: str, piece: str) -> bool:
    following = piece[0]
    if following in _POINTS:
        return last.isdigit() and piece[1:2].isdigit()
    if not (following.isalnum() or following == "_"):
        return False
    # A letter after a digit starts a token of its own: `^13C`, `H2O`.
    if last.isdigit() or last in _POINTS:
        return not following.isalpha()
    return last == "_" or last.isalpha()

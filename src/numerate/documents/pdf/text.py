"""Write lines of a PDF as running text: scripts marked, hyphens undone, no two numbers glued."""

import re
import unicodedata
from collections.abc import Sequence

from numerate.documents.flow import CITE, MATH, Flow
from numerate.documents.pdf.lines import LOWERED, RAISED, Line

_SOFT = "\u00ad\u0002\ufffe"  # hyphens that are only there because a line ends
_HYPHENS = f"-‐‑{_SOFT}"
_TIGHT = (
    "–",
    "—",
    "/",
)  # may end a line in the middle of a word, and have no space after them then
_DASHES = "-‐‑−–\u0002\ufffe"  # may be a minus before a number
_NUMBER = re.compile(r"[€$£¥]?(?:[0-9](?:[0-9.,–−-]*[0-9])?|\.[0-9]+)%?")
_BEFORE_SIGN = re.compile(  # no dash of a sentence, and no sign of a subtraction, follows these
    r"(?:[(\[=<>≤≥≈~±×/]|[0-9%][,;]|\b(?:CI|CrI|IQR|interval|range)[,:;]?"
    r"|\b(?:of|to|from|by|between|and|was|were|is|are|at|than))\s*$"
)
_BEFORE_DASH = re.compile(r"(?:[0-9%)\]]|\b[^\W\d_])\s*$")  # `45 - 12`, `x − 12`
# PDFs show ligatures and signs by names of their own; as characters these are several, or others.
_SIGN: dict[str | int, str] = {
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)},
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f↩", ""),
    "\u2010": "-",
    "\u2011": "-",
    "\u0002": "-",
    "\ufffe": "-",
    "\u00ad": "-",
    "\uf0b7": "•",
    "\uf02d": "−",
    "\uf0b1": "±",
    "\uf0b3": "≥",
    "\uf0a3": "≤",
    "\uf0b4": "×",
    "\uf03d": "=",
    "\uf03c": "<",
    "\uf03e": ">",
    "\uf02b": "+",
}
_LETTERS = str.maketrans(_SIGN)
_RAISED_CITATIONS = re.compile(r"[0-9]{1,3}(?:\s*[,;–—-]\s*[0-9]{1,3})*,?")
_CITED = re.compile(r"(?:[A-Za-zÀ-ÿ]{4,}|[A-Za-z0-9%)][.,;:]|[)\]”’\"'?!])$")
_SIGNS = re.compile(r"[*†‡§¶#]+")
_BRACKETED = re.compile(r"\[\s*([0-9]{1,3}(?:\s*[,;–—-]\s*[0-9]{1,3})*)\s*\]")
_MOST_CITED = 200  # references, where their list is not found
_HYPHENATED = 0.05  # of lines end with a hyphen, where words are broken
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


class Vocabulary:
    """Words of a document, by which a hyphen at the end of a line is told from one of a word."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._lines = self._hyphens = 0

    def add(self, line: Line) -> None:
        text = _plain(line.text)
        self._words.update(_WORD.findall(text.lower()))
        self._lines += 1
        self._hyphens += text.endswith("-") and text[-2:-1].isalpha()

    def joined(self, before: str, after: str) -> str:
        """Two parts of what stood around a hyphen at the end of a line."""
        start, end = _last_word(before), _first_word(after)
        if not start or not end or not end[0].islower():
            return f"{before}-{after}"
        whole = (start + end).lower() in self._words
        parts = f"{start}-{end}".lower() in self._words
        # Who does not break words has hyphens only where the words have them.
        if whole or (not parts and self._hyphens > _HYPHENATED * self._lines):
            return before + after
        return f"{before}-{after}"


def _last_word(text: str) -> str:
    found = re.search(r"[^\W\d_]+$", text)
    return found[0] if found else ""


def _first_word(text: str) -> str:
    found = re.match(r"[^\W\d_]+", text)
    return found[0] if found else ""


def _plain(text: str) -> str:
    return text.translate(_LETTERS)


def written(lines: Sequence[Line], vocabulary: Vocabulary, citations: int | None = None) -> str:
    """The text of some lines; raised numbers, and those in brackets, are citations up to the number
    of the last reference, if it is known."""
    return _finished(_pieces(lines, vocabulary), citations)


def as_it_stands(lines: Sequence[Line], vocabulary: Vocabulary) -> str:
    """With numbers of tables and figures, which running text has marks for."""
    return "".join(text for level, text in _pieces(lines, vocabulary) if level == 0).strip()


def _pieces(lines: Sequence[Line], vocabulary: Vocabulary) -> list[tuple[int, str]]:
    """Return the runs of all lines, with what is between the lines."""
    pieces: list[tuple[int, str]] = []
    above: Line | None = None
    spaced = any(line.ends_with_space for line in lines[:-1])  # where lines are broken at spaces
    for line in lines:
        runs = [(run.level, run.text) for run in line.runs]
        if not runs:
            continue
        if above is not None:
            level, last = pieces[-1]
            space = above.ends_with_space if spaced else None
            if level == 0 == runs[0][0]:
                pieces[-1] = (0, _joined(last, runs[0][1], vocabulary, space))
                runs = runs[1:]
            elif not (level == 0 and last.endswith(_TIGHT) and last[-2:-1].isalnum()):
                pieces.append((0, " "))
        pieces += runs
        above = line
    return [(level, _plain(text)) for level, text in pieces]


def _joined(last: str, after: str, vocabulary: Vocabulary, space: bool | None) -> str:
    """Join the end of a line and the beginning of the line below it.

    A minus belongs to its number; a dash between words, or between two numbers, has a space on both
    sides. Where nothing says which of them it is, a mark stands for the number: no rule reads it.
    `space` says whether a space is drawn between the lines, and is None where none ever is.
    """
    sign, before, after = last[-1], _plain(last[:-1]), _plain(after)
    spaced = f"{_plain(last)} {after}"
    if space:
        return spaced
    if before[-1:].isalnum():
        if sign in _HYPHENS:
            return before + after if sign == "\u00ad" else vocabulary.joined(before, after)
        return _plain(last) + after if sign in _TIGHT else spaced
    number = _NUMBER.match(after)
    if sign not in _DASHES or number is None:
        return spaced
    is_true_minus = sign == "−" and not _BEFORE_DASH.search(before)
    if space is not None or is_true_minus or _BEFORE_SIGN.search(before):
        return _plain(last) + after
    if _BEFORE_DASH.search(before):
        return spaced
    return f"{_plain(last)} {MATH}{after[number.end() :]}"


def _finished(pieces: Sequence[tuple[int, str]], citations: int | None) -> str:
    flow = Flow()
    before = ""
    for level, text in pieces:
        if level == RAISED:
            _write_raised(flow, text, before, _MOST_CITED if citations is None else citations)
        elif level == LOWERED:
            flow.subscript(text)
        else:
            flow.text(_cited(text, citations) if citations else text)
        before = (before + text)[-40:]
    return flow.finish()


def _write_raised(flow: Flow, text: str, before: str, citations: int) -> None:
    bare = text.strip()
    numbers = [int(number) for number in re.findall("[0-9]+", bare)]
    is_cited = _RAISED_CITATIONS.fullmatch(bare) and 0 < max(numbers) <= citations
    if is_cited and _CITED.search(before.rstrip()):
        flow.mark(CITE)
    elif _SIGNS.fullmatch(bare):
        flow.text(text)
    else:
        flow.superscript(text)
    if text.endswith(" "):
        flow.space()


def _cited(text: str, citations: int) -> str:
    """Citations in brackets; an interval of whole numbers in brackets has a number before it."""

    def mark(match: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall("[0-9]+", match[1])]
        before = text[: match.start()].rstrip()[-1:]
        is_cited = min(numbers) > 0 and max(numbers) <= citations
        if not is_cited or before.isdigit() or before in ("%", "=", ":", "±", "^"):
            return match.group()
        return f"[{CITE}]"

    return _BRACKETED.sub(mark, text)

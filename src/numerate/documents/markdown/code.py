"""What of Markdown is no text: code between fences or backticks, and comments of HTML."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from pathlib import PurePath

_FENCE = re.compile(r"^[ \t]*(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)$", re.MULTILINE)
_TICKED_FENCE = re.compile(r"^[ \t]*(`{3,})[^`\n]*$", re.MULTILINE)
_TICKS = re.compile(r"`+")
_BLANK = re.compile(r"\n[ \t\r]*\n")
_MARKDOWN = {"", ".md", ".markdown", ".qmd", ".rmd"}
# Elsewhere a backtick may be a quotation mark, and tildes the line under a heading.

Stretches = list[tuple[int, int]]


def code_and_comments(text: str, name: str) -> tuple[Stretches, Stretches]:
    """Where they stand, in their order; code between backticks or tildes only in files of
    Markdown, and in what has no suffix, such as what somebody typed."""
    is_markdown = PurePath(name.lower().removesuffix(".gz")).suffix in _MARKDOWN
    if not is_markdown:
        return fences_and_comments(text, tildes=False)
    return markdown_code_and_comments(text)


def markdown_code_and_comments(text: str) -> tuple[Stretches, Stretches]:
    """Fences and code between backticks, and comments: whichever begins first holds the others."""
    if "`" not in text:
        return fences_and_comments(text)
    code, comments = Stretches(), Stretches()
    inline, done = _Inline(text), 0
    fence, comment = _fence(text, _FENCE, 0), _comment(text, 0)
    while found := [one for one in (fence, inline.next(done, fence), comment) if one is not None]:
        first = min(found, key=lambda one: one[0])
        (comments if first is comment else code).append(first)
        done = first[1]
        fence = _fence(text, _FENCE, done) if fence and fence[0] < done else fence
        comment = _comment(text, done) if comment and comment[0] < done else comment
    return code, comments


def fences_and_comments(text: str, *, tildes: bool = True) -> tuple[Stretches, Stretches]:
    """Whichever begins first holds what begins within it. A fence that is never closed goes on to
    the end; such a comment is none."""
    fences: Stretches = []
    comments: Stretches = []
    sign = _FENCE if tildes else _TICKED_FENCE
    fence, comment = _fence(text, sign, 0), _comment(text, 0)
    while fence is not None or comment is not None:
        if comment is None or (fence is not None and fence[0] < comment[0]):
            assert fence is not None
            fences.append(fence)
            done = fence[1]
        else:
            comments.append(comment)
            done = comment[1]
        fence = _fence(text, sign, done) if fence and fence[0] < done else fence
        comment = _comment(text, done) if comment and comment[0] < done else comment
    return fences, comments


def _fence(text: str, sign: re.Pattern[str], at: int) -> tuple[int, int] | None:
    """The next from there on."""
    lines = sign.finditer(text, at)
    opening = next(lines, None)
    if opening is None:
        return None
    group = opening.lastindex or 0
    start, mark = opening.start(group), opening[group]
    for line in lines:
        bare = line[0].strip()
        if bare.startswith(mark) and not bare.strip(mark[0]):
            return start, line.start() + len(line[0].rstrip())
    return start, len(text)


def _comment(text: str, at: int) -> tuple[int, int] | None:
    start = text.find("<!--", at)
    end = text.find("-->", start + 4) if start >= 0 else -1
    return (start, end + 3) if end >= 0 else None


class Backticks:
    """Runs of them, of which one closes the code that another of the same length opens. They are
    looked up by their lengths: a text of many lengths would be read to its end for each."""

    def __init__(self, runs: Iterable[tuple[int, int]]) -> None:
        self._starts: dict[int, list[int]] = {}
        for start, end in runs:
            self._starts.setdefault(end - start, []).append(start)

    @classmethod
    def of(cls, text: str) -> "Backticks":
        return cls(ticks.span() for ticks in _TICKS.finditer(text))

    def close(self, start: int, end: int) -> int | None:
        """Where the code ends that these open; None if nothing closes it."""
        same = self._starts.get(end - start, [])
        later = bisect_left(same, end)
        return same[later] + end - start if later < len(same) else None


class _Inline:
    """Code between as many backticks, within a paragraph and before the next fence."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._borders = [blank.start() for blank in _BLANK.finditer(text)]
        self._runs = [ticks.span() for ticks in _TICKS.finditer(text)]
        self._backticks = Backticks(self._runs)
        self._at = 0

    def next(self, done: int, fence: tuple[int, int] | None) -> tuple[int, int] | None:
        """The next from there on; it is asked for in the order of the text."""
        while self._at < len(self._runs):
            start, end = self._runs[self._at]
            if fence is not None and start >= fence[0]:
                return None  # it is looked for again behind the fence
            close = None
            if start >= done and self._text[start - 1 : start] != "\\":
                close = self._backticks.close(start, end)
            if close is not None and self._is_one(start, close, fence):
                return start, close
            self._at += 1
        return None

    def _is_one(self, start: int, close: int, fence: tuple[int, int] | None) -> bool:
        is_before = fence is None or close <= fence[0]
        within = bisect_right(self._borders, start) == bisect_right(self._borders, close - 1)
        return is_before and within


def stretch_at(stretches: Sequence[tuple[int, int]], offset: int) -> tuple[int, int] | None:
    """That which an offset lies in, of stretches that do not overlap."""
    index = bisect_right(stretches, offset, key=lambda stretch: stretch[0]) - 1
    return stretches[index] if index >= 0 and offset < stretches[index][1] else None

"""What of Markdown is no text: code between fences or backticks, and comments of HTML."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
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
    fences, comments = fences_and_comments(text, tildes=is_markdown)
    if not is_markdown or "`" not in text:
        return fences, comments
    others = sorted([*fences, *comments])
    return sorted([*fences, *_inline(text, others)]), comments


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


def _inline(text: str, others: Stretches) -> Iterator[tuple[int, int]]:
    """Between as many backticks, within a paragraph."""
    borders = [blank.start() for blank in _BLANK.finditer(text)]
    runs = [
        ticks.span() for ticks in _TICKS.finditer(text) if stretch_at(others, ticks.start()) is None
    ]
    backticks = Backticks(runs)
    done = 0
    for start, end in runs:
        if start < done or text[start - 1 : start] == "\\":
            continue
        close = backticks.close(start, end)
        if close is not None and bisect_right(borders, start) == bisect_right(borders, close - 1):
            yield start, close
            done = close


def stretch_at(stretches: Sequence[tuple[int, int]], offset: int) -> tuple[int, int] | None:
    """That which an offset lies in, of stretches that do not overlap."""
    index = bisect_right(stretches, offset, key=lambda stretch: stretch[0]) - 1
    return stretches[index] if index >= 0 and offset < stretches[index][1] else None

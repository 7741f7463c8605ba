"""The sheet of styles of Rich Text: their names, and which ones they are based on."""

from numerate.documents.office.styles import MAX_CHAIN, PLAIN, Style, level_named

MAX_NAME = 200  # characters by which a style or a font is known


class Styles:
    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._bases: dict[int, int] = {}
        self._known: dict[int, Style] = {}
        self._number: int | None = None  # of the style that is read; none where it is of characters

    def begin(self) -> None:
        self._number = 0

    def word(self, word: str, number: int | None) -> None:
        if word == "s":
            self._number = number or 0
        elif word in ("cs", "ds", "ts", "tsrowd"):
            self._number = None
        elif word == "sbasedon" and self._number is not None and number is not None:
            self._bases[self._number] = number

    def name(self, text: str) -> None:
        known = "" if self._number is None else self._names.get(self._number, "")
        if self._number is not None and len(known) < MAX_NAME:
            self._names[self._number] = known + text

    def of(self, number: int) -> Style:
        if number not in self._known:
            self._known[number] = self._resolved(number) if number in self._names else PLAIN
        return self._known[number]

    def _resolved(self, number: int) -> Style:
        names: list[str] = []
        level: int | None = None
        for _ in range(MAX_CHAIN):
            if number not in self._names:
                break
            names.append(self._names[number].partition(";")[0].strip().lower())
            level = level or level_named(names[-1])
            if number not in self._bases:
                break
            number = self._bases[number]
        return Style(frozenset(names), level)

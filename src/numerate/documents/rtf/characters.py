"""The characters of Rich Text: bytes in the code page of their font, and numbers of Unicode."""

import codecs

from numerate.documents.office.symbol_font import symbol
from numerate.documents.rtf.styles import MAX_NAME

_OF_CHARSETS = {  # of fonts
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250", 255: "cp437",
}  # fmt: skip
SYMBOL_CHARSET = 2
USUAL = "cp1252"
_PRIVATE = range(0xF000, 0xF100)  # where fonts of symbols have their characters


def code_page(number: int | None) -> str:
    """The encoding of a code page by its number; Windows-1252 where Python has none."""
    if number in (0, None):
        return USUAL
    name = {10000: "mac_roman", 65001: "utf-8", 936: "gbk"}.get(number or 0, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return USUAL


class Fonts:
    """What the table of fonts says of encodings, by the numbers of fonts."""

    def __init__(self) -> None:
        self.default: int | None = None
        self.page = USUAL  # of the document
        self._names: dict[int, str] = {}
        self._charsets: dict[int, int] = {}
        self._pages: dict[int, str] = {}

    def name(self, font: int, text: str) -> None:
        known = self._names.get(font, "")
        if len(known) < MAX_NAME:
            self._names[font] = known + text

    def charset(self, font: int, number: int) -> None:
        self._charsets[font] = number

    def code_page(self, font: int, number: int) -> None:
        self._pages[font] = code_page(number)

    def name_of(self, font: int | None) -> str:
        return "" if font is None else self._names.get(font, "").partition(";")[0].strip()

    def encoding(self, font: int | None) -> str:
        if font is None:
            return self.page
        return self._pages.get(font) or _OF_CHARSETS.get(self._charsets.get(font, 0), self.page)

    def decode(self, data: bytes, font: int | None) -> str:
        """Decode bytes as they stand in a font; in the font Symbol they are places."""
        if self._is_of_symbols(font) and self.name_of(font).lower() == "symbol":
            return "".join(symbol(f"{byte:x}", "symbol") for byte in data)
        return data.decode(self.encoding(font), "replace")

    def character(self, number: int, font: int | None) -> str:
        """The unit of UTF-16 that `\\u` says; half of a pair stays half until it is joined."""
        number %= 1 << 16
        if number in _PRIVATE:
            return symbol(f"{number:x}", self.name_of(font))
        return chr(number) if number >= 0x20 else " "

    def _is_of_symbols(self, font: int | None) -> bool:
        return font is not None and (
            self._charsets.get(font) == SYMBOL_CHARSET or self.name_of(font).lower() == "symbol"
        )


def joined(text: str) -> str:
    """Join halves of UTF-16 to characters."""
    if not any("\ud800" <= character < "\ue000" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

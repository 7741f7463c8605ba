"""Fields of word processors: code that a program runs, and what is shown for it."""

import re

MAX_CODE = 200  # characters by which a field is known

_CITED = re.compile(r"CITATION\b|ADDIN (?:ZOTERO_ITEM|EN\.CITE|CSL_CITATION|Mendeley Citation)")
# Their results are numbers of pages and notes, or lists that are made from the rest.
_LEFT_OUT = re.compile(
    r"(?:TOC|INDEX|TOA|PAGE|PAGEREF|NUMPAGES|NOTEREF|BIBLIOGRAPHY"
    r"|ADDIN (?:ZOTERO_BIBL|EN\.REFLIST|CSL_BIBLIOGRAPHY|Mendeley Bibliography))\b"
)
_REFERENCE = re.compile(r"(?:REF|STYLEREF)\b")
_OF_ONE_LINE = re.compile(r"(?:PAGE|PAGEREF|NUMPAGES|NOTEREF)\b")


class Field:
    """Code, and from its separator on what is shown for it."""

    def __init__(self) -> None:
        self.code = ""
        self.is_shown = False

    def add_code(self, text: str) -> None:
        """Append to the code; its beginning says what the field is, and may be asked very often."""
        if len(self.code) < MAX_CODE:
            self.code = (self.code + text).lstrip()[:MAX_CODE]

    @property
    def is_citation(self) -> bool:
        return _CITED.match(self.code) is not None

    @property
    def is_reference(self) -> bool:
        """Whether it shows the number or the name of something else in the document."""
        return _REFERENCE.match(self.code) is not None

    @property
    def is_link(self) -> bool:
        return self.code.startswith("HYPERLINK")

    @property
    def is_left_out(self) -> bool:
        return _LEFT_OUT.match(self.code) is not None

    @property
    def is_of_one_line(self) -> bool:
        """Whether it cannot go on in the next paragraph, even if its end is missing."""
        is_number = _OF_ONE_LINE.match(self.code) is not None
        return not self.is_shown or self.is_citation or is_number

"""Which paragraphs a dataset keeps."""

import zlib
from collections.abc import Sequence
from enum import StrEnum

from numerate.documents.document import Document, Paragraph
from numerate.text.tokenizer import Token

ONE_IN = 8  # of paragraphs that refer to no table, in a dataset of both kinds


class Keep(StrEnum):
    TABLE_REFS = "table-refs"
    MIXED = "mixed"  # those, and some of the others
    NUMERALS = "numerals"
    ALL = "all"
    ROWS = "rows"  # of tables, each as a line

    @classmethod
    def usual(cls, *, articles: bool) -> "Keep":
        """For those who choose none."""
        return cls.TABLE_REFS if articles else cls.NUMERALS

    def wants(self, paragraph: Paragraph) -> bool:
        """Before its text is read, which takes most of the time."""
        if self is Keep.ROWS or paragraph.in_abstract:
            return False
        return self is not Keep.TABLE_REFS or bool(paragraph.tables)

    def keeps(self, paragraph: Paragraph, tokens: Sequence[Token], numerals: Sequence[int]) -> bool:
        """Once its text is cut; `numerals` are their positions among the tokens."""
        if self is Keep.MIXED and not paragraph.tables:
            drawn = zlib.crc32(paragraph.text.encode("utf-8", "surrogatepass")) % ONE_IN == 0
            return drawn and bool(numerals)
        return bool(numerals) or (self is Keep.ALL and bool(tokens))

    def expects_numerals(self, document: Document) -> bool:
        """Whether all of a document that has text was looked at, so that one without a numeral may
        be of another kind than it was read as."""
        return self in (Keep.NUMERALS, Keep.ALL) and document.has_text


def what_is_kept(keep: Keep | None) -> str:
    """In words: a paragraph that …"""
    if keep is Keep.ALL:
        return "has a token"
    if keep is Keep.ROWS:
        return "is a row of a table with numbers"
    if keep is Keep.MIXED:
        return f"has a numeral and refers to a table, or is one in {ONE_IN} of the others"
    refers = "" if keep is Keep.NUMERALS else " and, in an article, refers to a table"
    return f"has a numeral{refers}"

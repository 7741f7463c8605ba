"""Which paragraphs a dataset keeps."""

from collections.abc import Sequence
from enum import StrEnum

from numerate.corpus.tokenizer import Token
from numerate.documents.document import Document, Paragraph


class Keep(StrEnum):
    TABLE_REFS = "table-refs"
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

    def keeps(self, tokens: Sequence[Token], numerals: Sequence[int]) -> bool:
        """Once its text is cut; `numerals` are their positions among the tokens."""
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
    refers = "" if keep is Keep.NUMERALS else " and, in an article, refers to a table"
    return f"has a numeral{refers}"

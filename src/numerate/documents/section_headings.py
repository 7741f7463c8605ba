"""Headings that say what stands under them, in formats that do not say it otherwise."""

import re

_NUMBER = r"\s*(?:[0-9]+\.?\s+|[IVX]+\.\s+)?"
_ABSTRACT = re.compile(rf"{_NUMBER}(?:abstract|summary)\s*[.:]?\s*", re.IGNORECASE)
_REFERENCES = re.compile(
    rf"{_NUMBER}(?:references?(?: and notes| cited| list)?|bibliography|literature(?: cited)?"
    r"|works cited|literaturverzeichnis|références|bibliographie|referencias)\s*[.:]?\s*",
    re.IGNORECASE,
)
_BODY = re.compile(r"introduction|background|methods|results|discussion", re.IGNORECASE)


def is_abstract(heading: str) -> bool:
    return _ABSTRACT.fullmatch(heading) is not None


def is_references(heading: str) -> bool:
    """Of a list that is no text of the document's own."""
    return _REFERENCES.fullmatch(heading) is not None


def is_of_body(heading: str) -> bool:
    """After such a one, a summary is no abstract."""
    return _BODY.search(heading) is not None

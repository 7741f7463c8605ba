"""Citations that nobody linked: `[3–5]`, numbers raised after a word, `(Low et al., 2019)`.

They are told from quantities by the list of references: there must be one, and it must have as many
entries. Brackets after words that come before intervals are none.
"""

import re
from itertools import pairwise

from numerate.documents.flow import CITE, made_of

_NUMBER = r"[1-9][0-9]{0,2}"
_NUMBERS = rf"{_NUMBER}(?:\s*[,;–—−-]\s*{_NUMBER})*"
_BRACKETED = re.compile(rf"\[\s*({_NUMBERS})\s*\]")
_RAISED = re.compile(
    rf"(?:(?<=[^\W\d_]{{4}})|(?<=[.,;:)\]”’\"]))\^({_NUMBERS})(?!\w|[.,–—−-][0-9])"
)
_YEAR = r"(?:19|20)[0-9]{2}[a-z]?"
_SEE = re.compile(r"(?:see|e\.g\.|cf\.),? ")
_GROUP = re.compile(r"(?<=[(\[])[^()\[\]]{6,2000}(?=[)\]])")
_WORK = re.compile(rf"\s*[^\W\d_][^0-9]{{1,80}}[\s,]{_YEAR}(?:, {_YEAR})*\s*")
_NAME = r"[A-Z][\w'’-]{1,30}"
_SAID = re.compile(rf"\b{_NAME}(?: et al\.?| (?:and|&) {_NAME}) [(\[]{_YEAR}[)\]]")
_MONTH = re.compile(
    r"\b(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*\W+(?:19|20)", re.IGNORECASE
)
_TWICE = (CITE, CITE)
_BEFORE_INTERVAL = re.compile(
    r"(?:\b(?:CI|CrI|HDI|IQR|range|ranges|interval|intervals|between)|[=≈~<>±:∈])[\s,]*\Z",
    re.IGNORECASE,
)


def with_citations(text: str, references: int) -> str:
    """`references` is the number of entries of the list."""
    if not references:
        return text

    def bracketed(match: re.Match[str]) -> str:
        before = match.string[max(match.start() - 20, 0) : match.start()]
        is_citation = _are_known(match[1], references) and not _BEFORE_INTERVAL.search(before)
        return f"[{CITE}]" if is_citation else match[0]

    def raised(match: re.Match[str]) -> str:
        return f" {CITE}" if _are_known(match[1], references) else match[0]

    def named(match: re.Match[str]) -> str:
        items = [CITE if _is_work(one) else one.strip() for one in match[0].split(";")]
        if CITE not in items:
            return match[0]
        return "; ".join(one for before, one in pairwise(["", *items]) if (before, one) != _TWICE)

    marked = _RAISED.sub(raised, _BRACKETED.sub(bracketed, text))
    return made_of(text, _GROUP.sub(named, _SAID.sub(CITE, marked)))


def _is_work(text: str) -> bool:
    has_name = _SEE.sub("", text).lstrip()[:1].isupper() or "et al" in text
    return has_name and _WORK.fullmatch(text) is not None and not _MONTH.search(text)


def _are_known(numbers: str, references: int) -> bool:
    """Whether all are of the list, in their order, as citations usually are."""
    cited = list(map(int, re.findall(_NUMBER, numbers)))
    return max(cited) <= references and cited == sorted(set(cited))

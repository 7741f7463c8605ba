"""Findings as LanguageTool tells them, to those who have asked as its clients do."""

from typing import Any

import numerate
from numerate.proofread.model_rules import MODEL_RULES
from numerate.proofread.report import sentence_around
from numerate.proofread.rule_page import FAMILY
from numerate.proofread.selection import all_rules
from numerate.serve.languagetool.annotated_text import AnnotatedText
from numerate.serve.languagetool.asked import Asked
from numerate.serve.messages import CheckAnswer, Found

API_VERSION = 1  # of LanguageTool
CATEGORY = {"id": FAMILY, "name": "Numbers"}
ISSUE = "numbers"  # the kind of the Internationalization Tag Set


def answer_of(asked: Asked, checked: CheckAnswer | None) -> dict[str, Any]:
    """All that LanguageTool says; of what was not checked, nothing is found."""
    found = [] if checked is None else _told(asked, checked)
    matches = [_match(asked.text, one, *place) for one, place in found]
    language = {"name": asked.language.name, "code": asked.language.tag}
    sureness = {"confidence": 0.0 if asked.is_detected else 1.0}
    return {
        "software": {
            "name": "numerate",
            "version": numerate.__version__,
            "buildDate": "",
            "apiVersion": API_VERSION,
            "premium": False,
            "premiumHint": "",
            "status": "",
        },
        "warnings": {"incompleteResults": False},
        "language": {**language, "detectedLanguage": {**language, **sureness}},
        "matches": sorted(matches, key=lambda match: match["offset"]),
    }


def _told(asked: Asked, checked: CheckAnswer) -> list[tuple[Found, tuple[int, int]]]:
    """The findings in the text, each with its place there.

    There is no line to say that a text does not fit a model, so that the model is not heard then.
    """
    misfits = checked.domain is not None and checked.domain.misfit is not None

    def is_told(found: Found) -> bool:
        return asked.is_picky or not (misfits and found.code in MODEL_RULES)

    return [
        (found, (found.start, found.end))
        for found in checked.findings
        if found.start is not None and found.end is not None and is_told(found)
    ]


def _match(text: AnnotatedText, found: Found, start: int, end: int) -> dict[str, Any]:
    rule = all_rules()[found.code]
    first, last = text.span(start, end)
    context, at = text.context(first, last)
    sentence = slice(*sentence_around(text.read, start, end))
    # What markup divides, or stands for, is not replaced: the markup would be lost.
    is_whole = text.is_whole(start, end)
    suggested = [found.suggestion.text] if found.suggestion is not None and is_whole else []
    return {
        "message": found.message,
        "shortMessage": rule.name.replace("-", " ").capitalize(),
        "replacements": [{"value": value} for value in suggested],
        "offset": first,
        "length": last - first,
        "context": {"text": context, "offset": at, "length": last - first},
        "sentence": text.read[sentence].strip(),
        "type": {"typeName": "Other"},
        "rule": {
            "id": rule.code,
            "description": rule.summary,
            "issueType": ISSUE,
            "category": CATEGORY,
        },
        "ignoreForIncompleteSentence": False,
        "contextForSureMatch": 0,
    }

"""What a client of LanguageTool asks, as a form.

Clients also name users, rules of LanguageTool and much else that means nothing here: it is passed
over. What cannot be answered is refused in LanguageTool's words where it has any.
"""

from dataclasses import dataclass
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import BaseModel, Field, ValidationError

from numerate.proofread.rule_page import FAMILY
from numerate.proofread.selection import codes_like, split_codes
from numerate.serve.languagetool.annotated_text import AnnotatedText
from numerate.serve.languagetool.languages import USUAL, Language, language_of
from numerate.serve.messages import CheckRequest
from numerate.serve.problems import RefusedError

MOST_FIELDS = 100  # of a form
AUTO = "auto"
PICKY = "picky"
TEXT_LEVEL = "textLevelOnly"
CHOICES = {
    "level": ("default", PICKY),
    "mode": ("all", TEXT_LEVEL, "allButTextLevelOnly"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    text: AnnotatedText
    check: CheckRequest
    language: Language
    is_detected: bool  # the client has left the language to the server
    is_picky: bool  # what is less likely is wanted, too
    is_repeated: bool  # the client asks twice for each text, and the other answer has all


class _Piece(BaseModel):
    text: str | None = None
    markup: str | None = None
    interpret_as: str | None = Field(None, alias="interpretAs")


class _Data(BaseModel):
    text: str | None = None
    annotation: list[_Piece] | None = None


async def read_asked(request: Request) -> Asked:
    given = await _fields(request)
    for name, choices in CHOICES.items():
        if given.get(name, choices[0]) not in choices:
            raise RefusedError(400, f"if '{name}' is set, it must be {' or '.join(choices)}")
    language, text = _language(given), _text(given)
    select, ignore = _codes(given)
    check: dict[str, object] = {"text": text.read, "select": select, "ignore": ignore}
    is_picky = given.get("level") == PICKY
    if is_picky:
        check["min_probability"] = 0.0
    return Asked(
        text,
        CheckRequest.model_validate(check),
        language,
        is_detected=given["language"] == AUTO,
        is_picky=is_picky,
        is_repeated=given.get("mode") == TEXT_LEVEL,
    )


async def _fields(request: Request) -> dict[str, str]:
    """A form, whatever the client calls it; with GET, in the address."""
    body = await request.body()  # read at any rate: what comes next is that the client leaves
    sent = request.scope["query_string"] if request.method == "GET" else body
    try:
        form = sent.decode("utf-8")
        pairs = parse_qsl(form, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:
        raise RefusedError(400, f"not a form in UTF-8 of at most {MOST_FIELDS} fields") from None
    return dict(pairs)


def _language(given: dict[str, str]) -> Language:
    """Nothing is detected: a text of no language is one in English, as the client prefers it."""
    tag, variants = given.get("language"), given.get("preferredVariants", "")
    if tag is None:
        raise RefusedError(400, "missing 'language' parameter")
    if tag == AUTO:
        preferred = (language_of(variant.strip()) for variant in variants.split(","))
        return next((one for one in preferred if one and one.code == USUAL.code), USUAL)
    if variants:
        message = "you specified 'preferredVariants' but you didn't specify 'language=auto'"
        raise RefusedError(400, message)
    language = language_of(tag)
    if language is None:
        raise RefusedError(400, "'language': expected auto or a code such as en-US")
    return language


def _text(given: dict[str, str]) -> AnnotatedText:
    if "text" in given and "data" in given:
        raise RefusedError(400, "set only 'text' or 'data' parameter, not both")
    if "text" in given:
        return AnnotatedText.plain(given["text"])
    if "data" not in given:
        raise RefusedError(400, "missing 'text' or 'data' parameter")
    try:
        data = _Data.model_validate_json(given["data"])
    except ValidationError:
        raise RefusedError(400, "could not parse JSON from 'data' parameter") from None
    if (data.text is None) == (data.annotation is None):
        raise RefusedError(400, "'data' requires either 'text' or 'annotation'")
    if data.text is not None:
        return AnnotatedText.plain(data.text)
    return AnnotatedText(tuple(map(_read_and_given, data.annotation or ())))


def _read_and_given(piece: _Piece) -> tuple[str, str]:
    if piece.text is not None and piece.markup is None:
        return piece.text, piece.text
    if piece.markup is not None and piece.text is None:
        return piece.interpret_as or "", piece.markup
    raise RefusedError(400, "'annotation': expected either 'text' or 'markup' in each")


def _codes(given: dict[str, str]) -> tuple[list[str], list[str]]:
    """Which are selected and ignored; a category is the beginning of its codes."""

    def named(kind: str) -> list[str]:
        return split_codes([given.get(f"{kind}Rules", ""), given.get(f"{kind}Categories", "")])

    def ours(names: list[str]) -> list[str]:
        return [name for name in names if codes_like(name)]

    enabled, disabled = named("enabled"), named("disabled")
    if given.get("enabledOnly") not in ("true", "yes"):
        return [], ours(disabled)
    if disabled:
        message = "you cannot specify disabled rules or categories using enabledOnly=true"
        raise RefusedError(400, message)
    if not enabled:
        message = "you must specify enabled rules or categories when using enabledOnly=true"
        raise RefusedError(400, message)
    return ours(enabled), [] if ours(enabled) else [FAMILY]

"""LanguageTool's protocol: what its clients may send, what they get, and a real one of them."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import language_tool_python
import pytest
from language_tool_python.exceptions import LanguageToolError
from tests.proofread.papers import FakeDetector
from tests.serve.test_command import started
from tests.serve.test_guard import Fake

import numerate
from numerate.serve.guard import Access

WRONG = "Of the patients, 42 of 120 (53%) were women."
UNLIKELY = "The heart rate was 9000 per minute."


@pytest.fixture(scope="module")
def rules(serving: Any) -> Iterator[httpx.Client]:
    with serving(None) as client:
        yield client


def ask(client: httpx.Client, **fields: str) -> httpx.Response:
    return client.post("/v2/check", data={"language": "en-US", **fields})


def matches(client: httpx.Client, **fields: str) -> list[dict[str, Any]]:
    answer = ask(client, **fields)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["matches"]
    return found


def codes(client: httpx.Client, **fields: str) -> list[str]:
    return [match["rule"]["id"] for match in matches(client, **fields)]


def annotated(*pieces: dict[str, str]) -> str:
    return json.dumps({"annotation": pieces})


def in_units(text: str, match: dict[str, Any]) -> str:
    """What stands at the place of a match, as Java and JavaScript count."""
    start, end = match["offset"], match["offset"] + match["length"]
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def test_an_answer_has_every_field_of_languagetool(rules: httpx.Client) -> None:
    language = {"name": "English (GB)", "code": "en-GB"}
    assert ask(rules, text=f"Before. {WRONG} After.", language="en-GB").json() == {
        "software": {
            "name": "numerate",
            "version": numerate.__version__,
            "buildDate": "",
            "apiVersion": 1,
            "premium": False,
            "premiumHint": "",
            "status": "",
        },
        "warnings": {"incompleteResults": False},
        "language": {**language, "detectedLanguage": {**language, "confidence": 1.0}},
        "matches": [
            {
                "message": "42 of 120 is 35 %, not 53 %.",
                "shortMessage": "Percentage of count",
                "replacements": [{"value": "35"}],
                "offset": 36,
                "length": 2,
                "context": {"text": f"Before. {WRONG} After.", "offset": 36, "length": 2},
                "sentence": WRONG,
                "type": {"typeName": "Other"},
                "rule": {
                    "id": "NUM101",
                    "description": "A count, its whole and its percentage do not agree.",
                    "issueType": "numbers",
                    "category": {"id": "NUM", "name": "Numbers"},
                },
                "ignoreForIncompleteSentence": False,
                "contextForSureMatch": 0,
            }
        ],
    }


def test_get_asks_as_post_does(rules: httpx.Client) -> None:
    fields = {"text": WRONG, "language": "en-US"}
    answer = rules.get("/v2/check", params=fields)
    assert answer.json() == ask(rules, **fields).json()
    # Some clients do not say that it is a form.
    sent = str(httpx.QueryParams(fields)).encode()
    assert rules.post("/v2/check", content=sent).json() == answer.json()


def test_matches_stand_in_the_order_of_the_text(rules: httpx.Client) -> None:
    text = f"{WRONG} The groups differed, t(28) = 2.20, p = 0.36. {WRONG}"
    offsets = [match["offset"] for match in matches(rules, text=text)]
    assert len(offsets) == 3
    assert offsets == sorted(offsets)


@pytest.mark.parametrize("before", ["", "😀", "𝑝 𝛼 ", "é ", "a\r\nb\n\n", "\x0b\x01 "])
def test_offsets_count_utf_16_units(rules: httpx.Client, before: str) -> None:
    text = f"{before}{WRONG} 😀"
    (match,) = matches(rules, text=text)
    assert in_units(text, match) == "53"
    context = match["context"]
    assert in_units(context["text"], context) == "53"


def test_a_long_context_is_cut(rules: httpx.Client) -> None:
    (match,) = matches(rules, text=f"{'😀' * 60} {WRONG} {'😀' * 60}")
    context = match["context"]
    assert context["text"].startswith("...😀")
    assert context["text"].endswith("😀...")
    assert in_units(context["text"], context) == "53"


def test_annotated_text_is_read_without_its_markup(rules: httpx.Client) -> None:
    pieces = (
        {"markup": "<p>", "interpretAs": "\n\n"},
        {"text": "😀 Of the patients, 42 of 120 ("},
        {"markup": "<b class='😀'>"},
        {"text": "53"},
        {"markup": "</b>"},
        {"text": "%) were women."},
    )
    (match,) = matches(rules, data=annotated(*pieces))
    given = "".join(piece.get("text", piece.get("markup", "")) for piece in pieces)
    assert in_units(given, match) == "53"
    assert match["replacements"] == [{"value": "35"}]
    assert match["sentence"] == f"😀 {WRONG}"
    assert "<b class='😀'>53</b>" in match["context"]["text"]


@pytest.mark.parametrize(
    ("pieces", "marked"),
    [
        ([{"text": "5"}, {"markup": "<i>"}, {"text": "3"}], "5<i>3"),
        ([{"markup": "\\share", "interpretAs": "53"}], "\\share"),
    ],
    ids=["divided", "stood for"],
)
def test_what_is_no_numeral_as_given_is_not_replaced(
    rules: httpx.Client, pieces: list[dict[str, str]], marked: str
) -> None:
    before, after = "Of the patients, 42 of 120 (", "%) were women."
    (match,) = matches(rules, data=annotated({"text": before}, *pieces, {"text": after}))
    assert in_units(before + marked + after, match) == marked
    assert match["replacements"] == []


def test_data_may_have_a_text(rules: httpx.Client) -> None:
    assert codes(rules, data=json.dumps({"text": WRONG, "metaData": {"x": 1}})) == ["NUM101"]
    assert codes(rules, data=json.dumps({"annotation": []})) == []
    assert codes(rules, text="") == []


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"disabledRules": "NUM101"}, []),
        ({"disabledRules": "NUM301,WHITESPACE_RULE"}, ["NUM101"]),
        ({"disabledCategories": "TYPOS"}, ["NUM101"]),
        ({"disabledCategories": "NUM"}, []),
        ({"enabledRules": "NUM301"}, ["NUM101"]),
        ({"enabledRules": "NUM101,EN_A_VS_AN", "enabledOnly": "true"}, ["NUM101"]),
        ({"enabledRules": "NUM301", "enabledOnly": "true"}, []),
        ({"enabledRules": "EN_A_VS_AN", "enabledOnly": "true"}, []),
        ({"enabledCategories": "NUM", "enabledOnly": "true"}, ["NUM101"]),
        ({"mode": "allButTextLevelOnly"}, ["NUM101"]),
        ({"mode": "textLevelOnly"}, []),
        ({"username": "u", "apiKey": "k", "motherTongue": "de", "unheardOf": "1"}, ["NUM101"]),
    ],
)
def test_rules_are_enabled_and_disabled(
    rules: httpx.Client, fields: dict[str, str], found: list[str]
) -> None:
    assert codes(rules, text=WRONG, **fields) == found


def test_languages_have_names_and_codes(rules: httpx.Client) -> None:
    known = rules.get("/v2/languages").json()
    assert {"name": "English (US)", "code": "en", "longCode": "en-US"} in known
    assert {"name": "French", "code": "fr", "longCode": "fr"} in known
    assert all(one.keys() == {"name", "code", "longCode"} for one in known)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"language": "auto"}, ("en-US", 0.0)),
        ({"language": "auto", "preferredVariants": "de-AT,en-ZA"}, ("en-ZA", 0.0)),
        ({"language": "de-DE"}, ("de-DE", 1.0)),
        ({"language": "DE_de"}, ("de-DE", 1.0)),
        ({"language": "tlh"}, ("tlh", 1.0)),
    ],
)
def test_a_language_is_what_the_client_says(
    rules: httpx.Client, fields: dict[str, str], named: tuple[str, float]
) -> None:
    answer = ask(rules, text=WRONG, **fields).json()
    detected = answer["language"]["detectedLanguage"]
    assert (detected["code"], detected["confidence"]) == named
    assert answer["language"]["code"] == named[0]
    assert len(answer["matches"]) == 1


def test_a_language_that_no_model_knows_is_for_the_rules(serving: Any) -> None:
    seen: list[str] = []
    model, detectors = Fake(seen.append), [FakeDetector(_9000=3.0)]
    with serving(model, detectors=detectors) as client:
        assert codes(client, text=UNLIKELY, language="en-NZ") == ["NUM800"]
        assert codes(client, text=UNLIKELY, language="auto") == ["NUM800"]
        assert seen == [UNLIKELY, UNLIKELY]
        for language in ("de-DE", "xx", "zxx-Zzzz"):
            assert codes(client, text=UNLIKELY, language=language) == []
            assert codes(client, text=WRONG, language=language) == ["NUM101"]
        assert seen == [UNLIKELY, UNLIKELY]


def test_what_is_less_likely_is_for_picky_readers(serving: Any) -> None:
    with serving(None, detectors=[FakeDetector(_9000=-4.0)]) as client:
        assert codes(client, text=UNLIKELY) == []
        assert codes(client, text=UNLIKELY, level="default") == []
        assert codes(client, text=UNLIKELY, level="picky") == ["NUM800"]


def test_a_model_is_not_heard_of_texts_that_it_does_not_fit(client: httpx.Client) -> None:
    """A text in no language that the model knows, though the client says it is English."""
    text = "Quousque tandem abutere, Catilina, patientia nostra quamdiu etiam furor 987654321."
    answer = client.post("/v1/check", json={"text": text}).json()
    assert answer["domain"]["misfit"]
    assert [found["code"] for found in answer["findings"]] == ["NUM900"]
    assert codes(client, text=text) == []
    assert codes(client, text=text, level="picky") == ["NUM900"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "missing 'text' or 'data' parameter"),
        ({"text": "7", "data": "{}"}, "set only 'text' or 'data' parameter, not both"),
        ({"data": "7"}, "could not parse JSON from 'data' parameter"),
        ({"data": "[" * 100_000}, "could not parse JSON from 'data' parameter"),
        ({"data": '{"text": "\\ud800"}'}, "could not parse JSON from 'data' parameter"),
        ({"data": "{}"}, "'data' requires either 'text' or 'annotation'"),
        ({"data": annotated({})}, "'annotation': expected either 'text' or 'markup' in each"),
        ({"text": "7", "language": ""}, "'language': expected auto or a code such as en-US"),
        ({"text": "7", "language": "../"}, "'language': expected auto or a code such as en-US"),
        (
            {"text": "7", "preferredVariants": "en-GB"},
            "you specified 'preferredVariants' but you didn't specify 'language=auto'",
        ),
        ({"text": "7", "level": "high"}, "if 'level' is set, it must be default or picky"),
        (
            {"text": "7", "enabledOnly": "true"},
            "you must specify enabled rules or categories when using enabledOnly=true",
        ),
        (
            {"text": "7", "enabledOnly": "true", "enabledRules": "A", "disabledRules": "B"},
            "you cannot specify disabled rules or categories using enabledOnly=true",
        ),
    ],
)
def test_bad_input_is_one_line(rules: httpx.Client, fields: dict[str, str], message: str) -> None:
    answer = ask(rules, **fields)
    assert (answer.status_code, answer.text) == (400, f"Error: {message}")
    assert answer.headers["content-type"].startswith("text/plain")


def test_what_is_no_form_is_one_line(rules: httpx.Client) -> None:
    missing = rules.post("/v2/check", data={"text": "7"})
    assert (missing.status_code, missing.text) == (400, "Error: missing 'language' parameter")
    many = "&".join(f"f{number}=1" for number in range(101))
    for body in (b"text=%ff", b"text=\xff", b"text=%ed%a0%80", many.encode()):
        answer = rules.post("/v2/check", content=body)
        message = "Error: not a form in UTF-8 of at most 100 fields"
        assert (answer.status_code, answer.text) == (400, message)


def test_the_limits_are_those_of_the_api(rules: httpx.Client) -> None:
    for fields, message in (
        ({"text": "x" * 20_001}, "too long: got 20,001 characters, expected at most 20,000"),
        ({"text": "7 " * 1_001}, "too long: got 1,001 numerals, expected at most 1,000"),
        (
            {"data": annotated({"markup": "<p>", "interpretAs": "x" * 20_001})},
            "too long: got 20,001 characters, expected at most 20,000",
        ),
        (
            {"text": "x" * 2_000_000},
            "the request is too long: expected at most 1,572,864 bytes",
        ),
    ):
        answer = ask(rules, **fields)
        assert (answer.status_code, answer.text) == (413, f"Error: {message}")


def test_an_error_of_the_model_is_no_stack_trace(serving: Any) -> None:
    def fail(text: str) -> None:
        raise RuntimeError(text)

    with serving(Fake(fail)) as client:
        answer = ask(client, text=WRONG)
        message = "Error: an error of the server; its log says where"
        assert (answer.status_code, answer.text) == (500, message)
        assert client.get("/v2/languages").status_code == 200


def test_pages_of_other_sites_may_not_ask(rules: httpx.Client) -> None:
    """A browser sends them a form without asking the server first; extensions may."""
    here = str(rules.base_url).rstrip("/")
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        for path in ("/v2/check", "/v2/languages"):
            answer = rules.get(path, headers=headers)
            assert (answer.status_code, answer.text) == (
                403,
                "Error: pages of other sites may not ask",
            )
    for headers in (
        {"origin": here},
        {"origin": "chrome-extension://abc", "sec-fetch-site": "cross-site"},
        {"origin": "moz-extension://abc"},
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": "same-origin"},
    ):
        answer = rules.get("/v2/languages", headers=headers)
        assert answer.status_code == 200
        assert "access-control-allow-origin" not in answer.headers
    assert rules.get("/v2/languages", headers={"host": "evil.example"}).status_code == 421


def test_a_token_is_needed(serving: Any) -> None:
    with serving(None, access=Access(loopback=False, token="right")) as client:
        assert ask(client, text=WRONG, apiKey="right").status_code == 401
        client.headers["authorization"] = "Bearer right"
        assert codes(client, text=WRONG) == ["NUM101"]


def test_a_client_of_languagetool() -> None:
    with started("--port", "0") as (_, address):
        tool = language_tool_python.LanguageTool("en-US", remote_server=address)
        text = f"😀 {WRONG} The groups differed, t(28) = 2.20, p = 0.36."
        first, second = tool.check(text)
        assert (first.rule_id, first.category, first.replacements) == ("NUM101", "NUM", ["35"])
        assert text[first.offset : first.offset + first.error_length] == "53"
        assert text[second.offset : second.offset + second.error_length] == "0.36"
        assert tool.correct(text) == text.replace("53%", "35%").replace("0.36", "0.04")
        tool.disabled_rules = {"NUM101"}
        assert [match.rule_id for match in tool.check(text)] == ["NUM301"]
        tool.picky = True
        tool.language = "de-DE"  # which enables all rules again
        assert [match.rule_id for match in tool.check(text)] == ["NUM101", "NUM301"]
        with pytest.raises(LanguageToolError, match=r"^Error: too long: got 20,001 "):
            tool.check("x" * 20_001)
        assert tool.check("All is well.") == []

"""The JSON API over a trained run."""

import copy
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import httpx
import numpy as np
import pytest
from tests.serve.conftest import Serving

from numerate.lm.model.checker import Checker
from numerate.lm.model.domain import Fit
from numerate.lm.model.numeral_lm import ALARMS, NumeralLM
from numerate.lm.model.wording import VERDICTS, explain, level_of

PROSE = (
    "It was late in the autumn of 1873 when the old captain sold his 2 boats and walked home "
    "through the rain, thinking of the 14 children who had waited at the harbour for bread."
)
TEXT = "LV ejection fraction is 61% with volumes of 150 and 9000 mL."


def ask(client: httpx.Client, path: str, **body: Any) -> Any:
    answer = client.post(f"/v1/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_numeral_of_a_text_is_checked(client: httpx.Client, model: NumeralLM) -> None:
    answer = ask(client, "check", text=TEXT)
    assert [TEXT[n["start"] : n["end"]] for n in answer["numerals"]] == ["61", "150", "9000"]
    assert [n["flagged"] for n in answer["numerals"]] == [False, False, True]
    assert answer["flagged"] == 1
    closely = ask(client, "check", text=TEXT, details=True)
    assert closely["flagged"] == 1
    for said, more, finding in zip(
        answer["numerals"], closely["numerals"], model.checker.assess(TEXT), strict=True
    ):
        level = level_of(finding)
        words = {
            "level": level,
            "verdict": VERDICTS[level],
            "explanation": explain(finding, Fit()),
            "reason": finding.reason if level != "plausible" else None,
        }
        assert more == {**finding.record(), "interval": list(finding.interval), **words}
        details = ("percentile", "interval", "likely", "reason", "explanation", "sign", "power")
        details += ("sources",)
        assert {**more, **dict.fromkeys(details)} == said


def test_alarms_set_how_much_is_flagged(client: httpx.Client) -> None:
    assert ask(client, "check", text=TEXT, alarms=0.999)["flagged"] == 3


def test_a_small_dev_split_allows_no_finer_rate(serving: Serving, model: NumeralLM) -> None:
    """Who names no rate is answered all the same."""
    calibration = model.checker.calibration
    few = replace(calibration, strangeness=calibration.strangeness[::40])
    assert few.finest > ALARMS
    coarse = copy.copy(model)
    coarse.use(model.reference, Checker(coarse, lambda: few))
    with serving(coarse) as client:
        text = "Left ventricular ejection fraction is 5 %."
        for details in (False, True):
            answer = client.post("/v1/check", json={"text": text, "details": details})
            assert answer.status_code == 200, answer.text
        start = text.index("5")
        asked = {"text": text, "start": start, "end": start + 1}
        assert client.post("/v1/predict", json=asked).status_code == 200
        refused = client.post("/v1/check", json={"text": text, "alarms": ALARMS})
        assert refused.status_code == 422
        assert "expected at least" in refused.text


def test_offsets_count_code_points(client: httpx.Client) -> None:
    text = "🫀🫀 ejection fraction is 61%"
    (numeral,) = ask(client, "check", text=text)["numerals"]
    assert text[numeral["start"] : numeral["end"]] == numeral["written"] == "61"


def test_a_text_without_numerals_has_no_findings(client: httpx.Client) -> None:
    untold = dict.fromkeys(["fits", "misfit", "unknown_words", "word_surprisal", "strangeness"])
    domain = untold
    nothing = {"findings": [], "coverage": {}, "numerals": [], "flagged": 0, "domain": domain}
    summary = "Nothing found; no statement to recompute."
    assert ask(client, "check", text="") == nothing | {"summary": summary}
    assert ask(client, "check", text="none\n\nhere")["numerals"] == []


def test_a_text_of_another_kind_is_told(client: httpx.Client) -> None:
    for details in (False, True):
        answer = ask(client, "check", text=PROSE, details=details)
        assert answer["domain"]["fits"] is False
        assert answer["domain"]["misfit"].startswith("This text is unlike what the model was")
        assert answer["domain"]["unknown_words"]["value"] > 0.3
        assert not any("plausible" in numeral["verdict"] for numeral in answer["numerals"])


def test_a_prediction_is_the_distribution(client: httpx.Client, model: NumeralLM) -> None:
    context = "LV ejection fraction is "
    answer = ask(client, "predict", text=context, count=4, level=0.8)
    expected = model.predict(context)
    assert [(n["numeral"], n["probability"]) for n in answer["top"]] == expected.top(4)
    assert answer["median"] == expected.median()
    low, high = expected.interval(0.8, calibrated=True)
    assert answer["interval"] == {"level": 0.8, "low": low, "high": high, "calibrated": True}
    assert {s["strategy"]: s["share"] for s in answer["shares"]} == expected.mixture_weights
    assert answer["written"] is None


def test_a_written_numeral_is_placed_in_the_prediction(
    client: httpx.Client, model: NumeralLM
) -> None:
    start = TEXT.index("9000")
    answer = ask(client, "predict", text=TEXT, start=start, end=start + 4)
    expected = model.predict(TEXT[:start])
    written = answer["written"]
    assert (written["numeral"], written["value"]) == ("9000", 9000)
    assert written["probability"] == pytest.approx(expected.prob("9000"))
    assert written["below"] == pytest.approx(expected.cdf(9000))
    assert written["reason"] == "magnitude"
    assert written["oddness"] == "it is far larger than expected"


def test_a_paragraph_begins_anew(client: httpx.Client) -> None:
    """As in a check: what stands in another paragraph is no context."""
    paragraph = "LV ejection fraction is 61%."
    alone = ask(client, "predict", text=paragraph, start=24, end=26)
    second = ask(client, "predict", text=f"Other 7 text.\n\n{paragraph}", start=39, end=41)
    assert second == alone


def test_a_numeral_may_be_the_first_of_its_text(client: httpx.Client, model: NumeralLM) -> None:
    first = ask(client, "predict", text="57-year-old male", start=0, end=2)
    assert first["written"]["numeral"] == "57"
    later = ask(client, "predict", text="A line.\n\n57-year-old male", start=9, end=11)
    assert later == first
    (finding, *_) = model.checker.assess("57-year-old male")
    assert first["written"]["probability"] == pytest.approx(math.exp(-finding.surprisal), rel=1e-3)


def test_a_numeral_is_found_as_the_model_reads_it(client: httpx.Client) -> None:
    text = "LV ejection fraction is ６１ %, p<.05"
    wide, small = ask(client, "check", text=text, details=True)["numerals"]
    assert (wide["numeral"], small["numeral"]) == ("61", "0.05")
    for numeral in (wide, small):
        place = {"start": numeral["start"], "end": numeral["end"]}
        written = ask(client, "predict", text=text, **place)["written"]
        assert written["numeral"] == numeral["numeral"]


@pytest.mark.parametrize("place", [{"start": 24, "end": 26}, {}])
def test_bars_hold_the_distribution(
    client: httpx.Client, model: NumeralLM, place: dict[str, int]
) -> None:
    answer = ask(client, "predict", text="LV ejection fraction is 61", **place)
    expected = model.predict("LV ejection fraction is " if place else "LV ejection fraction is 61")
    for kind in ("linear", "log"):
        edges, masses = answer["bars"][kind]["edges"], answer["bars"][kind]["masses"]
        assert len(edges) == len(masses) + 1
        assert all(low < high for low, high in pairwise(edges))
        assert edges[0] <= answer["interval"]["low"] <= answer["interval"]["high"] <= edges[-1]
        below = [expected.cdf(edge * (1 - 1e-7) - 1e-14) for edge in edges]
        np.testing.assert_allclose(masses, np.diff(below), atol=1e-9)
        assert 0.9 < sum(masses) <= 1 + 1e-9
    ratios = [high / low for low, high in pairwise(answer["bars"]["log"]["edges"]) if low > 0]
    assert ratios == pytest.approx([ratios[0]] * len(ratios))
    widths = np.diff(answer["bars"]["linear"]["edges"])
    assert widths == pytest.approx([widths[0]] * len(widths))


def test_claims_are_ranked(client: httpx.Client) -> None:
    claims = ["LV ejection fraction is 9000%.", "LV ejection fraction is 61%."]
    answer = ask(client, "rank", claims=claims)
    assert [claim["place"] for claim in answer["claims"]] == [1, 0]
    assert answer["claims"][0]["numerals"][0]["numeral"] == "61"
    assert answer["claims"][0]["reason"] == ""
    assert "9000" in answer["claims"][1]["reason"]
    for claim in ask(client, "rank", claims=claims, by="sentence")["claims"]:
        total = sum(numeral["log_prob"] for numeral in claim["numerals"]) + claim["words_log_prob"]
        assert math.isclose(claim["log_prob"], total, rel_tol=1e-6)


def test_the_model_and_its_limits_are_named(client: httpx.Client) -> None:
    answer = client.get("/v1/model").json()
    assert answer["strategy"] == "combination"
    assert answer["members"] == ["h-softmax", "d-rnn", "mog"]
    assert answer["limits"]["characters"] == 20_000
    assert answer["examples"] == ["The ejection fraction is 60 %."]


def test_every_field_is_described(client: httpx.Client) -> None:
    document = client.get("/v1/openapi.json").json()
    assert {path for path in document["paths"] if not path.startswith("/v1/")} == set()
    assert len(document["paths"]) == 9
    for operations in document["paths"].values():
        for operation in operations.values():
            assert operation["description"]
            assert {"4XX", "5XX"} <= set(operation["responses"])
    for name, schema in document["components"]["schemas"].items():
        if name.endswith("Request"):
            assert schema["additionalProperties"] is False
            assert all(field["description"] for field in schema["properties"].values()), name


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("check", {"text": 5}, "text: Input should be a valid string"),
        ("check", {}, "text: Field required"),
        ("check", {"text": "7", "more": 1}, "more: Extra inputs are not permitted"),
        ("check", {"text": "7", "alarms": 0}, "alarms: Input should be greater than 0"),
        ("check", {"text": "7", "alarms": "0.5"}, "alarms: Input should be a valid number"),
        ("check", {"text": "7", "alarms": 1e-9}, "alarms: got 1e-09, expected at least"),
        ("check", {"text": "a\u0000b"}, "text: control character U+0000 at 1"),
        ("predict", {"text": "is 5", "start": 3}, "start and end: expected both or neither"),
        ("predict", {"text": "is 5", "start": 3, "end": 9}, "start and end: got 3 and 9, expected"),
        ("predict", {"text": "is 5", "start": 0, "end": 2}, "start and end: no numeral stands"),
        ("predict", {"text": "is", "level": 1.0}, "level: Input should be less than 1"),
        ("predict", {"text": "is", "count": 2.5}, "count: Input should be a valid integer"),
        ("rank", {"claims": []}, "claims: List should have at least 1 item"),
        ("rank", {"claims": ["no numeral"]}, "claim 1: no numeral"),
        ("predict", {"text": " "}, "text: got none, expected some"),
        ("rank", {"claims": ["7"], "by": "size"}, "by: Input should be 'numerals' or 'sentence'"),
    ],
)
def test_bad_requests_get_one_clear_line(
    client: httpx.Client, path: str, body: dict[str, Any], message: str
) -> None:
    answer = client.post(f"/v1/{path}", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(message)
    assert answer.json().keys() == {"error"}

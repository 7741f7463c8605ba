"""The page and the API as a proofreader: with a model, and with rules alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from tests.proofread.papers import RIGHT, TABLE, WRONG, FakeDetector
from tests.serve.test_api import ask

from numerate.lm.model.numeral_lm import NumeralLM
from numerate.serve.served_models import EXAMPLE

pytest_plugins = ("tests.browser",)


@pytest.fixture(scope="module")
def rules(serving: Any) -> Iterator[httpx.Client]:
    """A server without a model."""
    with serving(None, name=None, examples=[WRONG]) as client:
        yield client


@pytest.fixture
def page(browser: Browser, rules: httpx.Client) -> Iterator[Page]:
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(10_000)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(str(rules.base_url))
    expect(page.locator(".editor")).to_have_attribute("aria-busy", "false")
    yield page
    context.close()
    assert complaints == []


def write(page: Page, text: str) -> None:
    page.fill("#text", text)
    expect(page.locator(".editor")).to_have_attribute("aria-busy", "false")


def test_a_check_without_a_model(rules: httpx.Client) -> None:
    text = f"🫀 {WRONG}"
    answer = ask(rules, "check", text=text)
    (found,) = answer["findings"]
    assert (found["code"], text[found["start"] : found["end"]]) == ("NUM301", "0.36")
    assert found["suggestion"] == {"text": "0.04", "probability": None}
    assert [place["text"] for place in found["involved"]] == ["0.36", "2.20", "28"]
    assert answer["coverage"]["tests"] == {"total": 1, "recomputed": 1, "missing": {}}
    assert answer["summary"].startswith("1 finding; recomputed 1 of 1 tests")
    assert (answer["numerals"], answer["domain"]) == ([], None)
    assert ask(rules, "check", text=text, ignore=["NUM3"])["findings"] == []
    assert ask(rules, "check", text=f"{WRONG} <!-- numerate: ignore -->")["findings"] == []
    refused = rules.post("/v1/check", json={"text": text, "select": ["NUM7"]})
    assert (refused.status_code, refused.json()["error"][:18]) == (422, "select: got 'NUM7'")


def test_without_a_model_nothing_is_predicted(rules: httpx.Client) -> None:
    about = rules.get("/v1/model").json()
    assert (about["name"], about["strategy"], about["sees_tables"]) == (None, None, False)
    for path, body in (("predict", {"text": "It is"}), ("rank", {"claims": ["It is 5"]})):
        answer = rules.post(f"/v1/{path}", json=body)
        assert answer.status_code == 404
        assert answer.json()["error"].startswith("no language model: expected numerate serve MODEL")


def test_tables_are_counted_as_requests_do(rules: httpx.Client) -> None:
    """Those of the request first, then those within the text."""
    given = {"header": [["t", "df", "p"]], "body": [["2.05", "28", "0.49"]]}
    found = ask(rules, "check", text=f"See it.\n\n{TABLE}", tables=[{"body": [["x"]]}, given])
    places = {(f["table"], f["start"] is None) for f in found["findings"]}
    assert places == {(1, True), (2, False)}


def test_all_kinds_share_a_finding(serving: Any, model: NumeralLM) -> None:
    text = "LV ejection fraction is 9000%."
    with serving(model, detectors=[FakeDetector(_9000=3.0)]) as client:
        assert client.get("/v1/model").json()["detectors"] == ["fake"]
        for details in (True, False):
            (found,) = ask(client, "check", text=text, details=details)["findings"]
            assert {found["code"], *found["also"]} == {"NUM800", "NUM900"}
            assert {one["kind"] for one in found["evidence"]} == {"detected", "unlikely"}


def test_findings_are_shown_and_applied_as_you_type(page: Page) -> None:
    expect(page.locator("#model")).to_have_text("rules alone")
    expect(page.locator("#key")).to_be_hidden()
    write(page, RIGHT)
    expect(page.locator(".finding")).to_have_count(0)
    expect(page.locator("#findings .summary")).to_contain_text("Nothing found; recomputed 1 of 1")
    write(page, f"🫀 {WRONG}")
    card = page.locator(".finding")
    expect(card).to_contain_text("NUM301")
    expect(card).to_contain_text("p = 0.36 does not follow from its test")
    expect(page.locator("#marks mark[data-level=wrong]")).to_have_text("0.36")
    card.locator(".pick").click()
    expect(page.locator("#marks mark[data-selected]")).to_have_text("0.36")
    expect(page.locator("#marks mark[data-chosen]")).to_have_text(["28", "2.20", "0.36"])
    card.get_by_role("button", name="Write 0.04 instead of 0.36").click()
    expect(page.locator("#text")).to_have_value(f"🫀 {WRONG.replace('0.36', '0.04')}")
    expect(page.locator(".finding")).to_have_count(0)
    page.focus("#text")
    page.keyboard.press("Control+z")
    expect(page.locator("#text")).to_have_value(f"🫀 {WRONG}")
    expect(page.locator(".finding")).to_have_count(1)


def test_a_pasted_table_is_checked_and_its_cells_are_shown(page: Page) -> None:
    write(page, RIGHT)
    page.click("#table-add")
    page.fill("#table-text", "Term,t,df,p\nAge,2.05,28,0.49")
    page.click("#table-form button[type=submit]")
    card = page.locator(".finding")
    expect(card).to_contain_text("row Age, column p")
    card.locator(".pick").click()
    expect(page.locator("td[data-chosen]")).to_have_text(["2.05", "28", "0.49"])
    expect(card.locator(".apply")).to_have_count(0)
    card.locator(".pick").click()
    expect(page.locator("td[data-chosen]")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_findings(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    write(page, WRONG)
    page.locator(".finding .pick").click()
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)  # transitions of colours
    ratios = page.evaluate(Path(__file__).with_name("contrast.js").read_text())
    assert any("NUM301" in name for name in ratios)
    assert {name: ratio for name, ratio in ratios.items() if ratio < 1} == {}


def test_findings_fit_a_phone(browser: Browser, rules: httpx.Client) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(str(rules.base_url))
    expect(page.locator(".finding")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.close()


def test_the_example_has_an_error_that_is_found(rules: httpx.Client) -> None:
    (found,) = ask(rules, "check", text=EXAMPLE)["findings"]
    assert (found["code"], found["written"], found["suggestion"]["text"]) == (
        "NUM101",
        "52.2",
        "25.2",
    )

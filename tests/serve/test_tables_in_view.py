"""Tables in requests and on the page: what they change, and what is refused."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.serve.test_api import ask
from tests.trials import TABLE, TEXT

from numerate.lm.model.numeral_lm import NumeralLM

pytest_plugins = ("tests.browser",)

CELLS = {name: asdict(TABLE)[name] for name in ("label", "caption", "header", "body")}
CSV = "\n".join(",".join(row) for row in [*TABLE.header, *TABLE.body])
AGE = "Mean age was 573 years with placebo and 61.5 years with treatment (_ref_)."
START = AGE.index("573")


@pytest.fixture(scope="module")
def lm(grounded: dict[str, NumeralLM]) -> NumeralLM:
    return grounded["tables"]


def place(**more: Any) -> dict[str, Any]:
    return {"text": AGE, "start": START, "end": START + 3, **more}


def test_a_check_sees_the_tables_of_its_request(seeing: httpx.Client, lm: NumeralLM) -> None:
    for tables, given in (([CELLS], [TABLE]), ([], [])):
        answer = ask(seeing, "check", text=AGE, details=True, alarms=0.2, tables=tables)
        expected = lm.checker.assess(AGE, 0.2, given)
        assert [n["surprisal"] for n in answer["numerals"]] == pytest.approx(
            [finding.surprisal for finding in expected]
        )
        sources = [source.record() for source in expected[0].sources]
        assert [s["words"] for s in answer["numerals"][0]["sources"]] == [
            source["words"] for source in sources
        ]
    assert ask(seeing, "check", text=AGE)["numerals"][0]["sources"] is None


def test_a_prediction_names_its_sources(seeing: httpx.Client) -> None:
    answer = ask(seeing, "predict", **place(tables=[CELLS]))
    first = answer["sources"][0]
    assert first["reason"] == "Table 2, Age (years), Placebo"
    assert first["words"] == f"{first['reason']}: 57.3 ({first['probability']:.2f})"
    (number,) = first["numbers"]
    assert (number["table"], number["row"], number["column"]) == (0, 1, 1)
    later = place(tables=[CELLS]) | {"start": AGE.index("61.5"), "end": AGE.index("61.5") + 4}
    numbers = [n for s in ask(seeing, "predict", **later)["sources"] for n in s["numbers"]]
    own = [n for n in numbers if n["table"] is None]
    assert all(AGE[n["start"] : n["end"]] == n["text"] == "573" for n in own)
    assert ask(seeing, "predict", **place(tables=[]))["sources"] == []


def test_tables_come_as_text_by_their_cells_or_with_the_server(seeing: httpx.Client) -> None:
    by_default = ask(seeing, "predict", **place())
    assert by_default == ask(seeing, "predict", **place(tables=[CELLS]))
    as_text = ask(seeing, "predict", **place(tables=["Words,None\nare,here", CSV]))
    (number,) = as_text["sources"][0]["numbers"]
    assert (number["table"], number["row"], number["column"]) == (1, 1, 1)
    ranked = ask(seeing, "rank", claims=[AGE, AGE.replace("573", "57.3")], tables=[CSV])
    assert ranked["claims"][0]["text"] == AGE.replace("573", "57.3")
    about = seeing.get("/v1/model").json()
    assert (about["sees_tables"], about["tables"]) == (True, [CELLS])


def test_tables_of_a_text_are_given_by_their_cells(
    seeing: httpx.Client, client: httpx.Client
) -> None:
    html = "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>"
    for text in (CSV, CSV.replace(",", "\t")):
        for server in (seeing, client):
            (table,) = ask(server, "tables", text=text)["tables"]
            assert (table["header"], table["body"]) == (TABLE.header, TABLE.body)
    (table,) = ask(seeing, "tables", text=html)["tables"]
    assert (table["header"], table["body"]) == ([["A", "B"]], [["1", "2"]])


@pytest.mark.parametrize(
    ("tables", "status", "error"),
    [
        (["just words"], 422, "table: not a table"),
        (["a,b\n1,2", "words"], 422, "table 2: not a table"),
        ([""], 422, "table: empty, expected a table"),
        (["a,b\n1,2,3"], 422, "table:2: got 3 cells, expected 2"),
        (["PK\u0003\u0004"], 422, "control character"),
        ("a,b", 422, "tables: "),
        ([{"label": "1"}], 422, "tables.0"),
        ([{"body": [[1]]}], 422, "tables.0"),
        ([{"body": [["1"]], "name": "x"}], 422, "tables.0"),
        ([{"body": ["1"]}], 422, "tables.0"),
        ([CELLS] * 21, 413, "too long: got 21 tables, expected at most 20"),
        (["1,2\n" * 30_000], 413, "too long: got 120,000 characters in tables"),
        ([{"body": [["x" * 100_001]]}], 413, "characters in tables, expected at most 100,000"),
        (["a,b\n" + "1,2\n" * 5_000], 413, "too long: got 10,000 numbers in tables"),
    ],
)
def test_bad_tables_are_one_line(
    seeing: httpx.Client, tables: Any, status: int, error: str
) -> None:
    for path, body in (
        ("check", {"text": AGE}),
        ("predict", {"text": "Mean age was"}),
        ("rank", {"claims": [AGE]}),
    ):
        answer = seeing.post(f"/v1/{path}", json={**body, "tables": tables})
        assert answer.status_code == status, answer.text
        assert error in answer.json()["error"]
        assert "\n" not in answer.json()["error"]


def test_odd_tables_are_taken(seeing: httpx.Client) -> None:
    odd = [
        {"body": []},
        {"header": [["a"]], "body": [[], ["1", "2", "3"]]},
        {"header": [[], ["only", "1 (2–3)"]], "body": [["½", "7" * 400]]},
    ]
    ask(seeing, "check", text=AGE, tables=odd)
    ask(seeing, "predict", **place(tables=odd))
    assert seeing.get("/v1/health").json() == {"status": "ok", "busy": 0}


def test_a_model_without_sight_says_so(client: httpx.Client) -> None:
    """The rules read tables all the same."""
    about = client.get("/v1/model").json()
    assert (about["sees_tables"], about["tables"]) == (False, [])
    answer = client.post("/v1/predict", json={"text": AGE, "tables": [CELLS]})
    line = "tables: combination sees none; expected a model with tables in sight"
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(line)
    tests = {"header": [["t", "df", "p"]], "body": [["2.05", "28", "0.49"]]}
    found = ask(client, "check", text=AGE, tables=[CELLS, tests])["findings"]
    places = [(f["code"], f["table"], f["row"], f["column"], f["start"]) for f in found]
    assert ("NUM301", 1, 0, 2, None) in places


# The page


@pytest.fixture
def page(browser: Browser, seeing: httpx.Client) -> Iterator[Page]:
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(10_000)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(str(seeing.base_url))
    expect(page.locator(".editor")).to_have_attribute("aria-busy", "false")
    yield page
    context.close()
    assert complaints == []


def write(page: Page, text: str) -> None:
    page.fill("#text", text)
    expect(page.locator(".editor")).to_have_attribute("aria-busy", "false")


def chosen_cells(page: Page) -> list[str]:
    return page.locator("#table-list [data-chosen]").all_inner_texts()


def test_a_click_on_a_source_shows_its_cell_and_a_cell_its_source(page: Page) -> None:
    expect(page.locator("figure.table")).to_contain_text("Table 2")
    write(page, AGE)
    page.locator("#numerals button", has_text="573").click()
    first = page.locator(".sources button").first
    expect(first).to_contain_text("Table 2, Age (years), Placebo")
    assert chosen_cells(page) == []
    first.click()
    expect(first).to_have_attribute("aria-pressed", "true")
    assert chosen_cells(page) == ["57.3"]
    first.click()
    assert chosen_cells(page) == []
    expect(first).to_have_attribute("aria-pressed", "false")
    page.locator("td[data-source]", has_text="57.3").click()
    expect(first).to_have_attribute("aria-pressed", "true")
    page.locator("td[data-source]", has_text="57.3").press("Enter")
    expect(first).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    assert page.locator("[data-source]").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_tables_and_sources(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    write(page, AGE)
    page.click("#table-add")
    page.locator("#numerals button", has_text="573").click()
    page.locator(".sources button").first.click()
    page.mouse.move(0, 0)
    ratios = page.evaluate(Path(__file__).with_name("contrast.js").read_text())
    assert {"text TD 57.3", "text FIGCAPTION Table 2 Patients at "} <= ratios.keys()
    assert {name: ratio for name, ratio in ratios.items() if ratio < 1} == {}


def test_numbers_of_the_text_are_sources_too(page: Page) -> None:
    page.locator("figure.table button").click()
    expect(page.locator("figure.table")).to_have_count(0)
    expect(page.locator("#tables-hint")).to_be_visible()
    write(page, f"🫀 {TEXT}")
    page.locator("#numerals button", has_text="25.0").click()
    expect(page.locator(".sources button").first).to_be_visible()
    for button in page.locator(".sources button").all():
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        marked = page.locator("#marks [data-chosen]").all_inner_texts()
        assert marked
        assert set(marked) <= {"48", "12"}


def test_a_table_is_pasted_dropped_and_taken_away(page: Page) -> None:
    page.click("#table-add")
    expect(page.locator("#table-text")).to_be_focused()
    page.fill("#table-text", "just words")
    page.click("#table-form button[type=submit]")
    expect(page.locator("#table-problem")).to_contain_text("not a table")
    page.fill("#table-text", "Group\tAge\n<b>Placebo</b>\t44.4")
    page.click("#table-form button[type=submit]")
    expect(page.locator("#table-form")).to_be_hidden()
    expect(page.locator("#table-problem")).to_be_empty()
    expect(page.locator("figure.table")).to_have_count(2)
    expect(page.locator("figure.table").last.locator("td").first).to_have_text("<b>Placebo</b>")
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["a,b\\n1,2"], "b.csv", { type: "text/csv" }));
          const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true });
          document.getElementById("tables").dispatchEvent(drop);
        }"""
    )
    expect(page.locator("figure.table")).to_have_count(3)
    page.locator("figure.table button").first.click()
    expect(page.locator("figure.table")).to_have_count(2)
    write(page, AGE)
    page.locator("#numerals button", has_text="573").click()
    expect(page.locator(".sources button").first).to_contain_text("Table")
    expect(page.locator(".sources")).not_to_contain_text("57.3")


def test_a_table_may_be_added_before_the_server_has_said_what_it_has(
    browser: Browser, seeing: httpx.Client
) -> None:
    page = browser.new_page()
    waiting: list[Route] = []
    page.route("**/v1/model", lambda route: waiting.append(route))
    page.goto(str(seeing.base_url))
    page.click("#table-add")
    page.fill("#table-text", "a,b\n1,2")
    page.click("#table-form button[type=submit]")
    expect(page.locator("figure.table")).to_have_count(1)
    waiting[0].continue_()
    expect(page.locator("figure.table")).to_have_count(2)
    expect(page.locator("figure.table").last.locator("td").first).to_have_text("1")
    page.close()


def test_tables_fit_a_phone(browser: Browser, seeing: httpx.Client) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.goto(str(seeing.base_url))
    wide = ",".join(f"a column {n}" for n in range(12))
    page.click("#table-add")
    page.fill("#table-text", f"{wide}\n{','.join('1' * 12)}")
    page.click("#table-form button[type=submit]")
    expect(page.locator("figure.table")).to_have_count(2)
    width = page.evaluate("document.documentElement.scrollWidth")
    context.close()
    assert width == 360

"""A file in the page, in a real browser: dropped, filtered, walked through, mended and reported."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect
from tests.proofread.papers import PAPER, WRONG, FakeDetector

pytest_plugins = ("tests.browser",)

REPORT = Path(__file__).parents[1] / "data" / "report"
CONTRAST = Path(__file__).with_name("contrast.js").read_text()
PHONE = {"width": 375, "height": 740}
Open = Callable[..., Page]

DROP = """([target, files]) => {
  const dataTransfer = new DataTransfer();
  for (const [name, data] of files) {
    const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
    dataTransfer.items.add(new File([bytes], name));
  }
  const at = document.querySelector(target);
  for (const type of ["dragover", "drop"]) {
    at.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    if (type === "dragover") window.wasOver = document.body.hasAttribute("data-over");
  }
}"""


@pytest.fixture(scope="module")
def server(serving: Any) -> Iterator[httpx.Client]:
    with serving(None, name=None, examples=[WRONG], detectors=[FakeDetector(_318=3.0)]) as client:
        yield client


@pytest.fixture
def open_page(browser: Browser, server: httpx.Client) -> Iterator[Open]:
    """Opens the page; at the end of a test, nothing was asked of another machine or went wrong."""
    contexts = []
    requests: list[Request] = []
    complaints: list[str] = []

    def opened(**options: Any) -> Page:
        context = browser.new_context(reduced_motion="reduce", **options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        context.on("request", lambda request: requests.append(request))
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(str(server.base_url))
        expect(page.locator(".finding")).to_have_count(1)
        return page

    yield opened
    for context in contexts:
        context.close()
    origins = {re.sub(r":\d+/.*", "", request.url) for request in requests}
    assert {one for one in origins if not one.startswith("blob:")} == {"http://127.0.0.1"}
    assert complaints == []


@pytest.fixture
def page(open_page: Open) -> Page:
    return open_page()


def drop(page: Page, *files: tuple[str, bytes], on: str = "body") -> None:
    page.evaluate(DROP, [on, [[name, b64encode(data).decode()] for name, data in files]])


def drop_report(page: Page, name: str) -> None:
    drop(page, (name, (REPORT / name).read_bytes()))
    expect(page.locator("#opened-name")).to_have_text(name)


def cards(page: Page) -> Locator:
    return page.locator(".finding")


def chosen(page: Page) -> Locator:
    return page.locator(".finding:has(.pick[aria-pressed=true]) .message")


def saved(page: Page, press: Callable[[], None]) -> tuple[str, bytes]:
    with page.expect_download() as download:
        press()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_a_dropped_word_document(page: Page) -> None:
    drop(page, ("report.docx", (REPORT / "report.docx").read_bytes()))
    assert page.evaluate("window.wasOver")
    expect(page.locator("#opened-name")).to_be_focused()
    expect(page.locator("#writing")).to_be_hidden()
    assert not page.evaluate("document.body.hasAttribute('data-over')")
    expect(page.locator("#document").get_by_role("heading", name="Methods")).to_be_visible()
    expect(page.locator("#document figure.table")).to_have_count(2)
    expect(page.locator("#document td mark")).to_have_text("26.5")
    expect(cards(page)).to_have_count(5)
    card = cards(page).filter(has_text="NUM103")
    expect(card).to_contain_text("Table 1, row Current smokers")
    card.locator(".pick").click()
    expect(page.locator("#document mark[data-selected]")).to_have_text("26.5")
    expect(page.locator("#document td [data-chosen], #document td[data-chosen]")).to_have_text(
        ["25", "26.5"]
    )
    accept = card.get_by_role("button", name="Accept 20.5 instead of 26.5")
    accept.click()
    expect(accept).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#opened-note")).to_contain_text("Change it in report.docx itself")
    expect(card.locator(".by-hand")).to_be_visible()
    expect(page.locator("#changed")).to_be_hidden()
    # What was accepted is still so when others have been looked at.
    page.get_by_label("Show").select_option("detected")
    page.get_by_label("Show").select_option("all findings")
    expect(accept).to_have_attribute("aria-pressed", "true")
    accept.click()
    expect(accept).to_have_attribute("aria-pressed", "false")
    page.locator("#document mark", has_text="53").click()
    expect(chosen(page)).to_have_text("78 of 124 is 63 %, not 53 %.")
    page.click("#opened-close")
    expect(page.locator("#opened")).to_be_hidden()
    expect(page.locator("#text")).to_be_focused()
    expect(page.locator("#text")).to_have_value(WRONG)
    expect(cards(page)).to_have_count(1)


def test_findings_are_filtered(page: Page) -> None:
    drop_report(page, "report.md")
    select = page.get_by_label("Show")
    assert select.locator("option").all_inner_texts() == [
        "all findings (5)",
        "recomputed (3)",
        "detected (2)",
        "NUM101 percentage of count (1)",
        "NUM103 percentage in table (1)",
        "NUM301 test statistic p value (1)",
        "NUM800 detected (2)",
    ]
    expect(page.locator("#document mark[data-level=wrong]")).to_have_count(5)
    select.select_option("recomputed")
    expect(cards(page)).to_have_count(3)
    expect(page.locator("#document mark[data-level=wrong]")).to_have_text(["53", "26.5", "0.099"])
    select.select_option("NUM301 test statistic p value")
    page.locator("h1").click()
    page.keyboard.press("p")
    expect(chosen(page)).to_contain_text("p = 0.099 does not follow")
    # What is chosen stays so as long as there is any; once it is mended, all others are shown.
    page.keyboard.press("a")
    expect(select).to_have_value("all findings")
    expect(cards(page)).to_have_count(4)


def test_walking_through_by_keyboard_and_mending_a_file(page: Page) -> None:
    drop_report(page, "report.md")
    page.get_by_label("Show").select_option("recomputed")
    page.locator("h1").click()
    messages = cards(page).locator(".message").all_inner_texts()
    for key, place in (("n", 0), ("n", 1), ("F8", 2), ("n", 0), ("p", 2), ("Shift+F8", 1)):
        page.keyboard.press(key)
        expect(chosen(page)).to_have_text(messages[place])
        expect(cards(page).nth(place).locator(".pick")).to_be_focused()
    selected = page.locator("#document mark[data-selected]")
    written = selected.inner_text()
    expect(selected).to_be_in_viewport()
    page.keyboard.press("a")
    expect(page.locator("#opened-note")).to_contain_text(f"is written instead of {written}")
    expect(cards(page)).to_have_count(2)
    page.keyboard.press("n")  # what came next has moved up
    expect(chosen(page)).to_have_text(messages[2])
    before = (REPORT / "report.md").read_bytes()
    name, data = saved(page, lambda: page.click("#opened-save"))
    assert name == "report.md"
    assert data == before.replace(b"78 of 124 (53%)", b"78 of 124 (63%)")
    page.click("#opened-back")
    expect(page.locator("#opened-note")).to_have_text("Taken back.")
    expect(page.locator("#opened-name")).to_be_focused()
    expect(cards(page)).to_have_count(3)
    expect(page.locator("#changed")).to_be_hidden()


def test_letters_are_letters_where_one_types(page: Page) -> None:
    page.fill("#text", "")
    page.locator("#text").press_sequentially(f"{WRONG} nap")
    expect(page.locator("#text")).to_have_value(f"{WRONG} nap")
    expect(page.locator(".editor")).to_have_attribute("aria-busy", "false")
    page.keyboard.press("F8")
    expect(cards(page).locator(".pick")).to_be_focused()
    expect(page.locator("#marks mark[data-selected]")).to_have_text("0.36")
    page.keyboard.press("a")
    expect(page.locator("#text")).to_have_value(f"{WRONG.replace('0.36', '0.04')} nap")
    expect(cards(page)).to_have_count(0)
    page.locator("h1").click()
    page.keyboard.press("n")
    page.keyboard.press("a")
    expect(page.locator("#problem")).to_be_empty()


def test_reports_are_saved(page: Page) -> None:
    html = page.get_by_role("button", name="Download the report as HTML")
    as_json = page.get_by_role("button", name="Download the report as JSON")
    name, data = saved(page, html.click)
    assert name == "text-report.html"
    assert b"does not follow from its test" in data
    drop_report(page, "report.docx")
    name, data = saved(page, html.click)
    assert name == "report.docx-report.html"
    assert b"Current smokers" in data
    name, data = saved(page, as_json.click)
    assert name == "report.docx-report.json"
    assert len(json.loads(data)["findings"]) == 5


def test_a_bad_file_leaves_all_as_it_is(page: Page) -> None:
    problem = page.locator("#file-problem")
    for files, message in (
        ([("a.docx", b"no archive")], "a.docx: not a Word document (.docx): got no ZIP archive."),
        ([("a.md", b"5"), ("b.md", b"6")], "Got 2 files: open one at a time."),
        ([("empty.txt", b"")], "empty.txt: nothing in it that could be checked."),
    ):
        drop(page, *files)
        expect(problem).to_have_text(message)
        expect(page.locator("#text")).to_be_visible()
        expect(page.locator("#reading")).to_be_empty()
    drop_report(page, "report.md")
    expect(problem).to_be_empty()
    drop(page, ("locked.pdf", (REPORT / "locked.pdf").read_bytes()))
    expect(problem).to_contain_text("needs a password")
    expect(page.locator("#opened-name")).to_have_text("report.md")
    expect(cards(page)).to_have_count(5)


def test_a_file_too_large_is_not_sent(page: Page) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.evaluate(
        """() => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([new Uint8Array(33 << 20)], "large.pdf"));
          document.body.dispatchEvent(
            new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        }"""
    )
    expect(page.locator("#file-problem")).to_have_text(
        "large.pdf is too large: at most 32 MiB can be read."
    )
    assert sent == []


def test_a_file_chosen_from_a_list_and_what_its_reader_says(page: Page) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open a file").click()
    data = rb"\begin{document}<b>5 of 10</b> (60\%). \input{methods}\end{document}"
    file = {"name": "paper.tex", "mimeType": "text/x-tex", "buffer": data}
    chooser.value.set_files([file])
    expect(page.locator("#notices li")).to_contain_text("input{methods} is left out")
    expect(page.locator("#document")).to_contain_text("<b>5 of 10</b>")
    expect(page.locator("#document b")).to_have_count(0)


def test_a_table_dropped_on_its_place_stays_beside_the_text(page: Page) -> None:
    drop(page, ("t.csv", b"Term,t,df,p\nAge,2.05,28,0.49"), on="#tables")
    expect(page.locator("#table-list figure")).to_have_count(1)
    expect(page.locator("#opened")).to_be_hidden()
    drop(page, ("t.csv", b"Term,t,df,p\nAge,2.05,28,0.49"))
    expect(page.locator("#document td mark")).to_have_text("0.49")
    page.get_by_role("button", name="Write 0.05 instead of 0.49").click()
    expect(page.locator("#document")).to_contain_text("0.05")
    expect(cards(page)).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_a_document(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    drop(page, ("paper.md", f"# Trial\n\n{PAPER}".encode()))
    expect(page.locator("#opened-name")).to_have_text("paper.md")  # until then, the text's findings
    page.locator(".finding .pick").first.click()
    page.locator(".finding .apply").last.click()
    expect(page.locator("#changed")).to_be_visible()
    page.locator(".finding .pick").first.click()
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)  # transitions of colours
    ratios = page.evaluate(CONTRAST)
    assert any("Coefficients" in name for name in ratios)
    assert {name: ratio for name, ratio in ratios.items() if ratio < 1} == {}


def test_a_document_fits_a_phone(open_page: Open) -> None:
    page = open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    drop_report(page, "report.docx")
    card = cards(page).filter(has_text="NUM103")
    card.locator(".pick").tap()
    expect(page.locator("#document mark[data-selected]")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    sizes = page.locator("#opened button:visible, #findings button, #open").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 36

"""The page in a real browser: Chromium, driven by Playwright."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect
from tests.serve.test_api import PROSE

from numerate.lm.model.numeral_lm import NumeralLM
from numerate.serve.guard import Access

pytest_plugins = ("tests.browser",)

EXAMPLE = "LV ejection fraction is 61% with volumes of 150 and 58 mL."
WRONG = EXAMPLE.replace("150", "9000")
PHONE = {"width": 360, "height": 740}
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def server(serving: Any, model: NumeralLM) -> Iterator[httpx.Client]:
    with serving(model, examples=[EXAMPLE, "Right ventricular EF was 59%."]) as client:
        yield client


@pytest.fixture
def open_page(browser: Browser, server: httpx.Client) -> Iterator[Open]:
    """Opens the page; at the end of a test, nothing was asked of another machine or went wrong."""
    contexts = []
    requests: list[Request] = []
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    def opened(address: str = str(server.base_url), **options: Any) -> Page:
        context = browser.new_context(**options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        context.on("request", lambda request: requests.append(request))
        page = context.new_page()
        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert requests
    assert {re.sub(r":\d+/.*", "", request.url) for request in requests} == {"http://127.0.0.1"}
    assert complaints == []


def write(page: Page, text: str) -> None:
    """Write a text and wait until it has been checked."""
    page.fill("#text", text)
    expect(page.locator(".editor")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#problem")).to_be_empty()


def marked(page: Page) -> dict[str, str]:
    """The marked numerals of the text and their levels."""
    marks = page.locator("#marks mark").all()
    return {mark.inner_text(): str(mark.get_attribute("data-level")) for mark in marks}


def test_what_is_wrong_is_counted_and_marked_in_the_list_of_numerals(open_page: Open) -> None:
    page = open_page()
    write(page, f"{WRONG} Of the patients, 42 of 120 (53%) were women.")
    expect(page.locator("#count")).to_have_text("6 numerals, 1 wrong, 1 implausible.")
    plain, wrong, odd = (
        page.get_by_role("button", name=name, exact=True)
        for name in ("61, plausible here", "53, wrong, NUM101", "9000, implausible here")
    )

    def looks(of: Any) -> tuple[str, str]:
        return of.evaluate(
            "b => [getComputedStyle(b).backgroundColor, getComputedStyle(b).borderColor]"
        )

    assert looks(wrong) == looks(odd)
    assert not set(looks(odd)) & set(looks(plain))
    write(page, f"{EXAMPLE} Of the patients, 42 of 120 (53%) were women.")
    expect(page.locator("#count")).to_have_text("6 numerals, 1 wrong.")
    write(page, EXAMPLE)
    page.click("#table-add")
    page.fill("#table-text", "Term,t,df,p\nAge,2.05,28,0.49")
    page.click("#table-form button[type=submit]")
    expect(page.locator("#count")).to_have_text("3 numerals, 1 wrong in tables.")


def test_write_open_replace_and_the_flag_goes(open_page: Open) -> None:
    page = open_page()
    expect(page.locator("#text")).to_have_value(EXAMPLE)
    expect(page.locator("#count")).to_have_text("3 numerals, none implausible.")
    page.fill("#text", "")
    page.locator("#text").press_sequentially(WRONG, delay=2)
    expect(page.locator("#count")).to_have_text("3 numerals, 1 implausible.")
    assert marked(page)["9000"] == "implausible"
    mark = page.locator("#marks mark", has_text="9000").bounding_box()
    assert mark
    page.mouse.click(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", level=2)).to_have_text("9000 implausible here")
    expect(panel.locator(".oddness")).to_have_text("It is far larger than expected.")
    expect(panel.locator("svg .written")).to_have_text("written 9000")
    expect(panel.locator(".shares li")).to_have_count(3)
    first = panel.locator(".others button").first
    better = first.locator("b").inner_text()
    first.click()
    expect(page.locator("#text")).to_have_value(EXAMPLE.replace("150", better))
    expect(page.locator("#count")).to_have_text("3 numerals, none implausible.")
    expect(panel.get_by_role("heading", level=2)).to_have_text(re.compile(f"^{better} "))
    assert "implausible" not in marked(page).values()
    page.focus("#text")
    page.keyboard.press("Control+z")
    expect(page.locator("#text")).to_have_value(WRONG)
    expect(page.locator("#count")).to_have_text("3 numerals, 1 implausible.")


def test_everything_by_keyboard(open_page: Open) -> None:
    page = open_page()
    write(page, WRONG)
    expect(page.locator("#numerals button")).to_have_count(3)
    page.focus("#text")
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.ariaLabel") == "58, plausible here"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.ariaLabel") == "9000, implausible here"
    page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_focused()
    expect(page.locator("#panel svg")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    assert page.evaluate("document.activeElement.ariaLabel") == "9000, implausible here"
    page.keyboard.press("Enter")
    expect(page.locator("#other-0")).to_be_visible()
    while page.evaluate("document.activeElement.id") != "scale-log":
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#scale-linear")).to_be_checked()
    while page.evaluate("document.activeElement.id") != "other-0":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#count")).to_have_text("3 numerals, none implausible.")
    assert page.evaluate("document.activeElement.closest('#panel') !== null")


def test_a_mark_is_exactly_under_its_numeral(open_page: Open) -> None:
    """A click in the middle of a mark puts the caret into the numeral, however far one scrolls."""
    page = open_page(viewport={"width": 700, "height": 500}, reduced_motion="reduce")
    line = "A 🫀 of 61% and ﬁne\tvolumes: 150, wide WWWWW iiiii\n\n"
    text = line * 14 + "longwordwithoutanyspace" * 9 + " 58"
    write(page, text)
    marks = page.locator("#marks mark")
    assert marks.count() == 29
    for index in (0, 1, 7, 16, 27, 28):
        page.keyboard.press("Escape")  # the panel of the last one
        mark = marks.nth(index)
        mark.evaluate("mark => mark.scrollIntoView({ block: 'center' })")
        box = mark.bounding_box()
        assert box
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        caret = page.evaluate("document.getElementById('text').selectionStart")
        units = text.encode("utf-16-le")
        before = units[: 2 * caret].decode("utf-16-le")
        assert before.count("61") + before.count("150") in (index, index + 1)
        assert mark.get_attribute("data-selected") == ""
    metrics = page.evaluate(
        "['text', 'marks'].map(id => { const e = document.getElementById(id);"
        "return [e.clientWidth, e.clientHeight, e.scrollHeight, e.scrollTop]; })"
    )
    assert metrics[0] == metrics[1]


def test_the_caret_stays_in_sight(open_page: Open) -> None:
    page = open_page(viewport={"width": 700, "height": 500})
    write(page, "Volume 150 mL.\n" * 60)
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type("61")
    expect(page.locator("#marks mark").last).to_have_text("61")
    expect(page.locator("#marks mark").last).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(open_page: Open, scheme: Any) -> None:
    """Text has a contrast of at least 4.5, lines and bars of at least 3 (WCAG 2.2)."""
    page = open_page(color_scheme=scheme)
    write(page, WRONG)
    page.locator("#numerals button", has_text="9000").click()
    expect(page.locator("#panel svg")).to_be_visible()
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)  # transitions of colours
    ratios = page.evaluate(Path(__file__).with_name("contrast.js").read_text())
    assert len(ratios) > 25
    assert {name: ratio for name, ratio in ratios.items() if ratio < 1} == {}
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, re.findall(r"\d+", ground))) < 60) == (scheme == "dark")


def test_levels_differ_without_colour(open_page: Open) -> None:
    page = open_page()
    styles = page.evaluate(
        "[...document.querySelectorAll('#key mark')].map("
        "mark => getComputedStyle(mark).textDecorationStyle)"
    )
    assert styles == ["double", "solid", "dashed", "wavy"]


def test_on_a_phone(open_page: Open) -> None:
    page = open_page(viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2)
    write(page, f"{WRONG} " + "More text of the report. " * 20)
    mark = page.locator("#marks mark", has_text="9000")
    box = mark.bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    panel = page.locator("#panel")
    expect(panel.locator("svg")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    drawn, sheet, numeral = panel.locator("svg").bounding_box(), panel.bounding_box(), None
    assert drawn
    assert sheet
    assert drawn["x"] >= 0
    assert drawn["x"] + drawn["width"] <= PHONE["width"]
    page.wait_for_timeout(500)  # the text may scroll
    numeral = mark.bounding_box()
    assert numeral
    assert numeral["y"] >= 0
    assert numeral["y"] + numeral["height"] <= sheet["y"]  # not behind the panel
    heights = [button.bounding_box() for button in panel.get_by_role("button").all()]
    assert all(box and box["height"] >= 36 for box in heights)
    panel.locator(".others button").first.tap()
    expect(page.locator("#count")).to_contain_text("3 numerals, none")
    panel.get_by_role("button", name="Close").tap()
    expect(panel).to_be_hidden()


def test_offsets_of_an_emoji_before_a_number(open_page: Open) -> None:
    page = open_page()
    write(page, "🫀👩‍⚕️ 𝟚 LV ejection fraction is 9000%")
    assert marked(page) == {"9000": "implausible"}
    page.locator("#numerals button").click()
    page.locator("#panel .others button").first.click()
    expect(page.locator("#text")).to_have_value(
        re.compile("^🫀👩‍⚕️ 𝟚 LV ejection fraction is [0-9.]+%$")
    )


def test_text_stays_text(open_page: Open) -> None:
    page = open_page()
    page.fill("#text", "<img src=x onerror=alert(1)> is 61 \x01 %")
    expect(page.locator("#numerals button")).to_have_count(2)
    assert page.locator("#marks img").count() == 0
    assert marked(page).keys() == {"1", "61"}


def test_marks_move_with_the_text_before_the_answer(open_page: Open) -> None:
    page = open_page()
    write(page, WRONG)
    page.route("**/v1/check", lambda route: None)  # no answer
    page.focus("#text")
    page.keyboard.press("Control+Home")
    page.keyboard.type("New: ")
    expect(page.locator("#marks")).to_contain_text(f"New: {WRONG}")
    assert marked(page)["9000"] == "implausible"
    page.keyboard.press("Control+End")
    page.keyboard.type(" 7")
    assert "7" not in marked(page)


def test_late_answers_are_dropped(open_page: Open) -> None:
    page = open_page()
    write(page, "Volume 150 mL.")
    held: list[Any] = []
    failed: list[str | None] = []
    page.on("requestfailed", lambda request: failed.append(request.failure))
    page.route("**/v1/check", lambda route: held.append(route), times=1)
    page.fill("#text", WRONG)
    while not held:
        page.wait_for_timeout(20)
    write(page, "Ejection fraction 61%.")
    assert failed == ["net::ERR_ABORTED"]
    assert marked(page).keys() == {"61"}
    expect(page.locator("#problem")).to_be_empty()


def test_who_waits_for_the_model_is_told(open_page: Open) -> None:
    page = open_page()
    write(page, WRONG)
    held: list[Any] = []
    page.route("**/v1/predict", lambda route: held.append(route), times=1)
    page.locator("#numerals button", has_text="9000").click()
    panel = page.locator("#panel")
    expect(panel.locator(".waiting")).to_have_text("Asking the model …")
    expect(panel).to_have_attribute("aria-busy", "true")
    held[0].fulfill(status=503, json={"error": "not done within 60 s"})
    expect(panel.locator(".failed")).to_have_text("Not done within 60 s.")
    expect(panel.locator(".waiting")).to_have_count(0)
    expect(panel).to_have_attribute("aria-busy", "false")


def test_the_panel_closes_with_its_numeral(open_page: Open) -> None:
    page = open_page()
    write(page, WRONG)
    page.locator("#numerals button", has_text="9000").click()
    expect(page.locator("#panel svg")).to_be_visible()
    write(page, "Nothing of it is left, but 61%.")
    expect(page.locator("#panel")).to_be_hidden()


def test_both_scales(open_page: Open) -> None:
    page = open_page()
    write(page, WRONG)
    page.locator("#numerals button", has_text="9000").click()
    expect(page.locator("#scale-log")).to_be_checked()  # 9000 is far from what is expected
    ticks = page.locator("#panel .tick")
    assert {"10", "100"} <= set(ticks.all_text_contents())
    page.get_by_label("linear").check()
    labels = [float(tick.replace(",", "")) for tick in ticks.all_text_contents()]
    steps = {round(b - a, 6) for a, b in pairwise(labels)}
    assert len(steps) == 1


def test_problems_are_one_clear_line(open_page: Open) -> None:
    page = open_page()
    problem = page.locator("#problem")
    write(page, WRONG)
    page.fill("#text", "7 " * 10_001)
    expect(problem).to_contain_text("The text is too long: 20,002 characters, at most 20,000")
    expect(page.locator("#count")).to_have_text("Not checked.")
    page.fill("#text", "7 " * 1_001)
    expect(problem).to_have_text("Too long: got 1,001 numerals, expected at most 1,000.")
    write(page, WRONG)
    busy = {"status": 429, "json": {"error": "the server is busy"}, "headers": {"Retry-After": "1"}}
    page.route("**/v1/check", lambda route: route.fulfill(**busy), times=1)
    page.fill("#text", EXAMPLE)
    expect(problem).to_have_text("The server is busy.")
    expect(problem).to_be_empty()  # it tries again by itself
    expect(page.locator("#count")).to_have_text("3 numerals, none implausible.")
    page.route("**/v1/**", lambda route: route.abort())
    page.fill("#text", WRONG)
    expect(problem).to_have_text("The server does not answer. Is it still running?")
    page.unroute("**/v1/**")
    expect(page.locator("#count")).to_have_text("3 numerals, 1 implausible.")
    expect(problem).to_be_empty()


def test_the_page_asks_for_the_token(open_page: Open, serving: Any, model: NumeralLM) -> None:
    access = Access(loopback=False, token="s3same")
    with serving(model, examples=[EXAMPLE], access=access) as client:
        page = open_page(str(client.base_url))
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        dialog.get_by_label("Token").fill("wrong")
        page.keyboard.press("Enter")
        expect(dialog.get_by_role("alert")).to_have_text("That token is not right.")
        dialog.get_by_label("Token").fill("s3same")
        page.keyboard.press("Enter")
        expect(dialog).to_be_hidden()
        expect(page.locator("#count")).to_have_text("3 numerals, none implausible.")
        page.reload()
        expect(page.locator("#count")).to_have_text("3 numerals, none implausible.")


def test_another_example(open_page: Open) -> None:
    page = open_page()
    expect(page.locator("#text")).to_have_value(EXAMPLE)
    page.get_by_role("button", name="Another example").click()
    expect(page.locator("#text")).to_have_value("Right ventricular EF was 59%.")
    expect(page.locator("#count")).to_have_text("1 numeral, none implausible.")


def test_offsets_and_edits(open_page: Open) -> None:
    """The pure modules, against Python."""
    page = open_page()
    for text in ("", "a7", "🫀7", "e\u0301 𝟚 7 \U0010ffff"):
        units, points = page.evaluate(
            """async (text) => {
            const { unitOffsets, toPoint } = await import("/page/offsets.js");
            const units = unitOffsets(text);
            return [units, units.map((unit) => toPoint(text, unit))];
            }""",
            text,
        )
        assert units == [len(text[:n].encode("utf-16-le")) // 2 for n in range(len(text) + 1)]
        assert points == list(range(len(text) + 1))
    cases = [
        ("is 61 %", "is now 61 %", ["61"]),
        ("is 61 %", "is 61.5 %", []),
        ("is 61 %", "is 161 %", []),
        ("is 61", "is 61 ", ["61"]),
        ("is 61 ", "is 61", ["61"]),
        ("61 and 61", "61 and 6 and 61", ["61"]),  # which 6 is new cannot be known
        ("is 61", "", []),
        ("is 61, 7", "is 61, 7", ["61", "7"]),
    ]
    for before, after, kept in cases:
        found = [
            {"start": m.start(), "end": m.end()} for m in re.finditer(r"\d+(?:\.\d+)?", before)
        ]
        moved = page.evaluate(
            "async ([found, before, after]) =>"
            "(await import('/page/edits.js')).moved(found, before, after)",
            [found, before, after],
        )
        assert [after[m["start"] : m["end"]] for m in moved] == kept, (before, after)


def test_a_text_of_another_kind_is_told(open_page: Open) -> None:
    """Before its marks mean anything; the promise of the key is withdrawn with it."""
    page = open_page()
    expect(page.locator("#misfit")).to_be_hidden()
    expect(page.locator("#key .rate").first).to_be_visible()
    write(page, PROSE)
    expect(page.locator("#misfit")).to_contain_text(
        "This text is unlike what the model was trained"
    )
    expect(page.locator("#key .rate").first).to_be_hidden()
    expect(page.locator("#count")).to_contain_text("very odd to this model.")
    labels = [
        button.get_attribute("aria-label") for button in page.locator("#numerals button").all()
    ]
    assert len(labels) == 3
    assert all("odd to this model" in str(label) for label in labels)
    write(page, EXAMPLE)
    expect(page.locator("#misfit")).to_be_hidden()
    expect(page.locator("#count")).to_have_text("3 numerals, none implausible.")

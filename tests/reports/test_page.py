"""Pages of HTML: their policy, text of strangers, and templates."""

import html
import subprocess
import sys
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from lxml.html import fromstring
from playwright.sync_api import Browser, expect
from tests.reports.pages import policy_of

from numerate.reports.notebook import as_table
from numerate.reports.page import Section, figure, page
from numerate.reports.tables import ResultTable
from numerate.reports.templates import render

HOSTILE = "<script>document.title = 'run'</script>\"'><img src=x onerror=alert(1)>"
INK = "#24292f"
DRAWING = f"""<?xml version="1.0"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg">
 <metadata><about/></metadata>
 <defs><style type="text/css">*{{stroke-linejoin: round}}</style><path id="p" d="M0 0L9 9"/></defs>
 <!-- a label --><use xlink:href="#p" style="stroke: {INK}; stroke-width: 0.8" id="line"/>
 <g clip-path="url(#c)"><path d="M1 1L2 2" style="fill: #0072b2"/></g>
</svg>"""


def whole_page(text: str) -> str:
    """A page that has everything a page can have, and `text` in all of it."""
    table = ResultTable(
        text, ["run", text], [[text, "2"], ["b", "10 [9, 11]"], ["c", text]], (text,)
    )
    section = Section(
        text,
        facts={text: text},
        paragraphs=[text],
        figures=[figure(text, "one", DRAWING, text, INK), figure(text, "two", DRAWING, text, INK)],
        tables=[table],
        items=[text],
        body=text,
    )
    return page(text, [section, Section("Other")], lead=[text])


def test_text_is_escaped_wherever_it_stands() -> None:
    written = whole_page(HOSTILE)
    assert HOSTILE not in written
    harmless = "x" * len(HOSTILE)
    opened, other = fromstring(written), fromstring(whole_page(harmless))
    assert [one.tag for one in opened.iter()] == [one.tag for one in other.iter()]
    names = [sorted(one.attrib) for one in opened.iter()]
    assert names == [sorted(one.attrib) for one in other.iter()]
    main = opened.find(".//main")
    assert main is not None
    assert main.text_content().count(HOSTILE) == other.find(".//main").text_content().count(
        harmless
    )
    assert all(one == HOSTILE for one in opened.xpath("//svg/@aria-label | //table/@aria-label"))


def test_a_table_of_a_notebook_is_escaped() -> None:
    written = as_table(HOSTILE, [HOSTILE], [[HOSTILE]])
    assert {one.tag for one in fromstring(written).iter()} == {
        *("table", "caption", "thead", "tbody", "tr", "th", "td")
    }
    assert html.unescape(written).count(HOSTILE) == 3


def test_a_page_shows_and_sorts_under_its_policy(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(whole_page("a <b>"), encoding="utf-8")
    assert "unsafe" not in policy_of(path)
    tab = browser.new_page(color_scheme="light")
    problems: list[str] = []
    tab.on("console", lambda message: problems.append(message.text))
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto(path.as_uri())
    tab.get_by_role("button", name="a <b>").click()
    tab.get_by_role("button", name="a <b>").click()
    expect(tab.locator("tbody th")).to_have_text(["c", "b", "a <b>"])  # text after numbers
    stroke = "element => getComputedStyle(element).stroke"
    ink = tab.locator("body").evaluate("element => getComputedStyle(element).color")
    assert tab.locator("#one-line").evaluate(stroke) == ink == "rgb(31, 35, 40)"
    assert tab.locator("#two-line").get_attribute("xlink:href") == "#two-p"
    assert problems == []
    tab.close()


@pytest.mark.parametrize("has_policy", [True, False])
def test_a_page_runs_no_script_but_its_own(
    browser: Browser, tmp_path: Path, has_policy: bool
) -> None:
    """Nor does it load a picture or take a style of a text, where its escaping failed."""
    path = tmp_path / "page.html"
    foreign = f"{HOSTILE}<style>main {{ color: red }}</style><p id=p style='color: red'>x</p>"
    written = html.unescape(whole_page(foreign))
    path.write_text(written if has_policy else written.replace("http-equiv", "name"))
    (tmp_path / "x").write_bytes(b"GIF89a")
    tab = browser.new_page(color_scheme="light")
    loaded: list[str] = []
    tab.on("requestfinished", lambda request: loaded.append(request.url))
    tab.goto(path.as_uri())
    colour = tab.locator("main #p").first.evaluate("element => getComputedStyle(element).color")
    if has_policy:
        assert tab.title() != "run"
        assert colour == "rgb(31, 35, 40)"
        assert loaded == [path.as_uri()]
    else:
        assert tab.title() == "run"
        assert colour == "rgb(255, 0, 0)"
        assert (tmp_path / "x").as_uri() in loaded
    tab.close()


def test_a_control_character_in_a_figure_costs_nothing() -> None:
    """A label may have one; matplotlib writes labels into comments as they are."""
    drawing = DRAWING.replace("a label", "a \x1b[31m label")
    assert figure("t", "one", drawing, "a\x1bb", INK).drawing.count("<path") == 2


def test_a_figure_keeps_its_look_without_a_style() -> None:
    drawing = figure("t", "one", DRAWING, "caption", INK).drawing
    assert "style" not in drawing
    assert "label" not in drawing.replace("aria-label", "")
    assert 'stroke="currentColor" stroke-width="0.8"' in drawing
    assert 'fill="#0072b2"' in drawing
    assert 'clip-path="url(#one-c)"' in drawing


def test_a_value_that_a_template_lacks_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("reports/notebook_table.html.jinja", caption="c", columns=[])


@pytest.mark.parametrize("arguments", [["--help"], ["check", "-", "--model", "none"]])
def test_templates_are_loaded_only_where_a_page_is_written(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom numerate.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code in (0, None), end.code\n"
        "sys.exit('jinja2' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input="5 of 10 (50 %) came.",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

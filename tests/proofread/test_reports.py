"""What is reported can be read back, by people and by programs, in every format."""

import csv
import html
import io
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from playwright.sync_api import Browser, expect
from rich.console import Console
from tests.proofread.papers import PAPER, RIGHT, TABLE, WRONG, FakeDetector
from tests.reports.pages import policy_of

from numerate.documents import read_file
from numerate.documents.document import Document, Paragraph
from numerate.documents.pipe_tables import pipe_tables
from numerate.documents.text import read_text
from numerate.lm.model.domain import Compared, Fit
from numerate.proofread.formats.html_report import as_html
from numerate.proofread.formats.printed_report import (
    COLUMNS,
    as_csv,
    as_json,
    print_report,
)
from numerate.proofread.formats.sarif import as_sarif
from numerate.proofread.model_evidence import Suspicion
from numerate.proofread.proofread import ProofreadDocument, proofread
from numerate.proofread.report import _BORDER, AROUND, Report, coverage_in_words
from numerate.reports.notices import Loudness, set_loudness
from numerate.rules.finding import UNLIKELY, Evidence, Finding
from numerate.rules.where import Where

pytest_plugins = ("tests.browser",)

REPORT = Path(__file__).parents[1] / "data" / "report"
UNFIT = Fit({"unknown_words": Compared(0.41, 0.03, 0.1)})


@pytest.fixture
def report() -> Report:
    return Report([proofread(read_text(PAPER, "notes/a b.md"), select=["NUM301"])])


def article(name: str = "a.xml") -> Document:
    """The same, but from a file whose lines and columns say nothing."""
    (table,) = pipe_tables(TABLE)
    table.source = None
    return Document(name, map(Paragraph, ["First.", WRONG]), [table])


def unlikely(document: Document, written: str, **more: Any) -> ProofreadDocument:
    """As a language model would have it."""
    index, paragraph = next((n, p) for n, p in enumerate(document.paragraphs) if written in p.text)
    start = paragraph.text.index(written)
    where = Where(start, start + len(written), paragraph=index)
    said = (Evidence(UNLIKELY, "as odd as 1 in 400 numbers that the model knows"),)
    found = Finding("NUM900", where, written, f"{written} is implausible here.", said, (where,))
    return replace(proofread(document, select=["NUM9"]), found=(found,), **more)


def printed(report: Report, **options: Any) -> str:
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=200, **options))
    return stream.getvalue()


def test_the_terminal_has_place_code_message_sentence_and_suggestion(report: Report) -> None:
    lines = [line.rstrip() for line in printed(report).splitlines()]
    assert lines == [
        "notes/a b.md:3:40 NUM301 p = 0.36 does not follow from its test: t(28) = 2.20 gives "
        "p = 0.0362, which is significant at 0.05.",
        f"  {WRONG}",
        "  suggestion: 0.04 instead of 0.36",
        "",
        "notes/a b.md:9:21 NUM301 p = 0.49 does not follow from its test: t(28) = 2.05 gives "
        "p = 0.0498.",
        "  Table 1, row Age, column p: 0.49",
        "  suggestion: 0.05 instead of 0.49",
        "",
        "2 findings; recomputed 3 of 3 tests.",
        "11 numbers read: 9 tested by rules, 2 not (1 written like a year, "
        "1 in text that is no statement to recompute).",
    ]
    assert "\x1b[1;31m0.36" in printed(report, force_terminal=True)


def test_it_is_quiet_when_nothing_is_wrong() -> None:
    right = Report([proofread(read_text(RIGHT), select=["NUM301"])])
    assert printed(right) == (
        "Nothing found; recomputed 1 of 1 tests.\n3 numbers read: 3 tested by rules.\n"
    )
    set_loudness(Loudness.QUIET)
    assert printed(right) == ""


def test_coverage_says_what_lacks() -> None:
    text = f"{RIGHT} {RIGHT} The third was t = 2.20, p = 0.036."
    covered = proofread(read_text(text), select=["NUM301"]).coverage
    assert coverage_in_words(covered) == "recomputed 2 of 3 tests; 1 has no degrees of freedom"
    two = {"tests": covered["tests"], "totals": covered["tests"]}
    assert coverage_in_words(two) == (
        "recomputed 2 of 3 tests, 2 of 3 totals; 1 of the tests has no degrees of freedom; "
        "1 of the totals has no degrees of freedom"
    )
    many = {f"kind {n}": covered["tests"] for n in range(5)}
    assert coverage_in_words(many).startswith("recomputed 10 of 15 statements of 5 kinds; 1 of the")
    assert coverage_in_words(many).count(";") == 3
    assert coverage_in_words(many, whole=True).count(";") == 5
    assert coverage_in_words({}) == "no statement to recompute"


def test_json(report: Report) -> None:
    record = json.loads(as_json(report))
    first, second = record["findings"]
    assert (first["file"], first["line"], first["column"]) == ("notes/a b.md", 3, 40)
    assert PAPER[first["start"] : first["end"]] == first["written"] == "0.36"
    assert first["suggestion"] == {"text": "0.04", "probability": None}
    assert PAPER[second["start"] : second["end"]] == "0.49"
    assert (second["table"], second["table_row"], second["table_column"]) == (0, 0, 3)
    assert [place["text"] for place in second["involved"]] == ["0.49", "2.05", "28"]
    assert record["coverage"]["tests"] == {"total": 3, "recomputed": 3, "missing": {}}
    assert record["documents"][0]["coverage_in_words"] == "recomputed 3 of 3 tests"


def test_csv(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(report))))
    assert list(rows[0]) == list(COLUMNS)
    assert [(row["code"], row["written"], row["line"]) for row in rows] == [
        ("NUM301", "0.36", "3"),
        ("NUM301", "0.49", "9"),
    ]


SARIF = Draft202012Validator(
    json.loads((Path(__file__).parent / "sarif.schema.json").read_text(encoding="utf-8"))
)


def test_sarif_has_regions_rules_fixes_and_fingerprints(report: Report) -> None:
    log = json.loads(as_sarif(report))
    SARIF.validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert {"NUM301", "NUM800", "NUM900"} <= {rule["id"] for rule in rules}
    assert run["properties"]["coverage"]["tests"]["recomputed"] == 3
    marks = set()
    for result, written in zip(run["results"], ["0.36", "0.49"], strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "NUM301"
        location = result["locations"][0]["physicalLocation"]
        assert location["artifactLocation"]["uri"] == "notes/a%20b.md"
        region = location["region"]
        line = PAPER.splitlines()[region["startLine"] - 1]
        assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == written
        assert PAPER[region["charOffset"] :][: region["charLength"]] == written
        (change,) = result["fixes"][0]["artifactChanges"]
        assert change["replacements"][0]["deletedRegion"] == region
        marks.add(result["partialFingerprints"]["numerate/v1"])
        assert len(result["relatedLocations"]) == 3
    assert len(marks) == 2


@pytest.mark.parametrize("name", ["notes/a b.txt", "naïve <%7>.txt", "\udcff.txt"])
@pytest.mark.parametrize("is_file", [True, False])
def test_sarif_is_valid(is_file: bool, name: str) -> None:
    """Against the parts of its schema that we use, which is closed: other names are refused."""
    document = read_text(PAPER, name) if is_file else article(name)
    log = json.loads(as_sarif(Report([proofread(document)])))
    SARIF.validate(log)
    locations = [result["locations"][0] for result in log["runs"][0]["results"]]
    assert len(locations) == 2
    assert all(("region" in place["physicalLocation"]) == is_file for place in locations)
    if not is_file:
        names = [place["logicalLocations"][0]["name"] for place in locations]
        assert names == ["paragraph 2", "Table 1, row Age, column p"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("version", "2.0.0"),
        ("runs.0.tool.driver.rules.0.id", None),
        ("runs.0.results.0.message.text", None),
        ("runs.0.results.0.level", "serious"),
        ("runs.0.results.0.where", "here"),
        ("runs.0.results.0.rank", 101),
        ("runs.0.results.0.fixes.0.artifactChanges", []),
        ("runs.0.results.0.partialFingerprints.numerate/v1", 5),
        ("runs.0.results.0.locations.0.physicalLocation.artifactLocation.uri", "a b.txt"),
        ("runs.0.results.0.locations.0.physicalLocation.region.startLine", 0),
    ],
)
def test_sarif_that_is_not_valid_would_be_noticed(report: Report, path: str, value: Any) -> None:
    log = json.loads(as_sarif(report))
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))
    place = log
    for part in parents:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    assert not SARIF.is_valid(log)


def test_markup_and_records_have_lines(tmp_path: Path) -> None:
    """That of the paragraph or table, and that of the record."""
    jats = tmp_path / "a.xml"
    jats.write_text(
        f"<article><body>\n\n<p>{WRONG}</p>\n<table-wrap id='t'><table>"
        "<thead><tr><th>t</th><th>df</th><th>p</th></tr></thead>\n"
        "<tbody><tr><td>2.05</td><td>28</td><td>0.49</td></tr></tbody></table></table-wrap>"
        "</body></article>"
    )
    html = tmp_path / "a.html"
    html.write_text(f"<html>\n<body>\n<p class='ltx_p'>{WRONG}</p></body></html>")
    records = tmp_path / "a.jsonl"
    records.write_text("\n".join(json.dumps({"text": text}) for text in (RIGHT, WRONG)))
    for path, lines in ((jats, [3, 4]), (html, [3]), (records, [2])):
        report = Report([proofread(one, select=["NUM301"]) for one in read_file(str(path))])
        log = json.loads(as_sarif(report))
        SARIF.validate(log)
        places = [r["locations"][0]["physicalLocation"] for r in log["runs"][0]["results"]]
        assert [place["region"] for place in places] == [{"startLine": line} for line in lines]
        assert {place["artifactLocation"]["uri"] for place in places} == {str(path)}
        assert all("fixes" not in result for result in log["runs"][0]["results"])
        assert f"{path}:{lines[0]}: " in printed(report)


def test_a_numeral_may_go_on_in_the_next_line() -> None:
    """White space is one space to a model, also amid thousands; places are those of the file."""
    report = Report([unlikely(read_text("Then all of the 17\n863 women.", "a.txt"), "17 863")])
    (result,) = json.loads(as_sarif(report))["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"]) == (1, 17)
    assert (region["endLine"], region["endColumn"]) == (2, 4)
    assert (region["charOffset"], region["charLength"]) == (16, 6)
    SARIF.validate(json.loads(as_sarif(report)))
    assert "  Then all of the 17 863 women." in printed(report)
    assert Places(as_html(report)).texts["place_1"] == "17 863"


class Places(HTMLParser):
    """The text of every element that has an identifier, and where the links in it lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []  # identifiers of the elements that are open
        self.texts: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        name = found.get("id") or ""
        assert not name or name not in self.texts
        if tag not in {"meta", "br"}:
            self.open.append(name)
        self.texts.setdefault(name, "")
        if tag == "a":
            self.links |= dict.fromkeys(filter(None, self.open), str(found["href"]))

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for name in self.open:
            self.texts[name] += data


def test_html_has_text_tables_and_findings_that_lead_to_each_other(report: Report) -> None:
    documents = [*report.documents, proofread(article())]
    page = as_html(Report(documents))
    parser = Places(page)
    for number, written in enumerate(["0.36", "0.49", "0.36", "0.49"], 1):
        assert parser.texts[f"place_{number}"] == written
        assert parser.links[f"finding_{number}"] == f"#place_{number}"
        assert parser.links[f"place_{number}"] == f"#finding_{number}"
        assert f"p = {written} does not follow" in parser.texts[f"reason_{number}"]
    assert page.count('<figure class="table">') == 2
    assert "&lt;b&gt;was" in page
    assert not {"img", "link", "iframe", "b>was"} & set(parser.tags)
    assert "://" not in page


def test_html_shows_a_paragraph_with_a_table_once() -> None:
    """A model marks a number of the table where it stands in the text, beside one before it."""
    detector = FakeDetector(_61=3.0, _7=2.0, _0_49=1.0)
    text = f"They were 61 years old.\n{TABLE}\nAnd 7 more."
    found = proofread(read_text(text), models=[detector], select=["NUM8"])
    page = as_html(Report([found]))
    places = Places(page)  # refuses an identifier that is there twice
    assert {places.texts[f"place_{number}"] for number in (1, 2, 3)} == {"61", "7", "0.49"}
    assert page.count("years old") == 1


def test_html_has_the_shape_of_the_document() -> None:
    """Headings and items as such, and tables where they stand."""
    text = (
        f"# One\nFirst.\n\n{TABLE}\n\n- Item *a*\n  goes on: {WRONG}\n- Item b\n2. Third\n\n"
        "```\n# code\n```\n\n### Two 42 of 120 (53%)\n\nLast."
    )
    page = as_html(Report([proofread(read_text(text, "a.md"))]))
    order = ["<h3>One</h3>", "<p>First.</p>", "<table>", '<p class="item">Item *a* goes on: The']
    order += ['<p class="item">Item b</p>', '<p class="numbered">2. Third</p>']
    order += ['<p class="code">``` # code ```</p>', "<h5>Two", "<p>Last.</p>"]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    document = article()
    document.tables[0].line, document.paragraphs[0].line = 2, 1
    document.paragraphs[-1].line = 3
    page = as_html(Report([proofread(document)]))
    assert page.index("<table>") < page.index(document.paragraphs[-1].text[:9])


def test_html_is_printed_whole(browser: Browser, report: Report, tmp_path: Path) -> None:
    """On paper nothing can be chosen or scrolled: numerals and findings are numbered."""
    path = tmp_path / "report.html"
    path.write_text(as_html(report), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1200, "height": 200}, color_scheme="dark")
    page.emulate_media(media="print")
    page.goto(path.as_uri())
    style = "element => getComputedStyle(element, '::after').content"
    assert page.locator("#place_2").evaluate(style) == '" [2]"'
    expect(page.locator("#finding_2 .head b")).to_have_text("2")
    findings = page.locator(".findings")
    assert findings.evaluate("one => one.scrollHeight <= one.clientHeight")
    ink = "rgb(0, 0, 0)"
    assert page.locator("body").evaluate("one => getComputedStyle(one).color") == ink
    page.close()


def test_html_in_a_browser(browser: Browser, report: Report, tmp_path: Path) -> None:
    """Choosing a finding lights its numeral and its evidence, and the other way round."""
    path = tmp_path / "report.html"
    path.write_text(as_html(report), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1200, "height": 700})
    asked: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: problems.append(message.text))
    page.goto(path.as_uri())
    page.locator("#finding_2").click()
    expect(page.locator("mark.lit")).to_have_text(["0.49"])
    expect(page.locator(".evidence.lit")).to_have_text(["2.05", "28"])
    page.locator("#place_1").click()
    expect(page.locator(".card.lit")).to_have_attribute("id", "finding_1")
    expect(page.locator(".evidence.lit")).to_have_text(["28", "2.20"])
    assert asked == [path.as_uri()]
    assert problems == []
    assert "unsafe" not in policy_of(path)
    page.close()


@pytest.mark.parametrize("is_escaped", [True, False])
def test_a_script_in_a_document_does_not_run(
    browser: Browser, tmp_path: Path, is_escaped: bool
) -> None:
    """Its text is escaped; were it not, the policy of the page would stop the script."""
    hostile = (
        "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"
    )
    table = TABLE.replace("Age", hostile)
    document = read_text(f"# {hostile}\n\n{hostile} {WRONG}\n\n{table}", f"{hostile}.md")
    written = as_html(Report([proofread(document)]))
    assert hostile not in written
    path = tmp_path / "report.html"
    path.write_text(written if is_escaped else html.unescape(written), encoding="utf-8")
    page = browser.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.goto(path.as_uri())
    expect(page).to_have_title("numerate check")
    assert (problems == []) == is_escaped
    page.close()


def test_control_characters_do_not_reach_the_terminal() -> None:
    text = "Dose \x1b[2J\x07 5,000 [red]mg[/red]"
    shown = printed(Report([unlikely(read_text(text), "5,000")]))
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "[red]mg[/red]" in shown  # no markup is taken from the text


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", " =1", "＝1"])
def test_no_cell_of_a_table_is_a_formula(name: str) -> None:
    report = Report([proofread(read_text(WRONG, name))])
    (row,) = csv.DictReader(as_csv(report).splitlines())
    assert row["file"] == "'" + name


def test_a_name_that_no_encoding_can_write() -> None:
    """Neither an escape sequence nor a byte that is no UTF-8 reaches the terminal or ends it."""
    name = os.fsdecode(b"a\xff\x1b[31m[b].txt")
    shown = printed(Report([proofread(read_text(WRONG, name))]))
    shown.encode()
    assert "\x1b" not in shown
    assert shown.startswith("a\\xff\\x1b[31m[b].txt:1:40 NUM301")


def test_a_place_is_one_line_however_narrow_the_terminal() -> None:
    name = "a/long/path/" * 10 + "notes.txt"
    stream = io.StringIO()
    print_report(Report([proofread(read_text(WRONG, name))]), Console(file=stream, width=40))
    assert stream.getvalue().splitlines()[0].startswith(f"{name}:1:40 NUM301 p = 0.36 does")


def test_what_does_not_fit_is_not_shown_as_if_it_were_calibrated() -> None:
    unfit = Report([unlikely(read_text("The dose was 5,000 mg."), "5,000", fits=(UNFIT,))], ("m",))
    line = "text is unlike what the model was trained on: 41 % of its words are unknown"
    assert printed(unfit).startswith(line)
    record = json.loads(as_json(unfit))
    assert record["documents"][0]["domain"][0]["fits"] is False
    assert record["findings"][0]["calibrated"] is False
    (run,) = json.loads(as_sarif(unfit))["runs"]
    assert run["results"][0]["level"] == "note"
    assert run["properties"]["misfits"][0].startswith(line)
    assert f'<p class="misfit">{line}' in as_html(unfit)
    nothing = Report([replace(unfit.documents[0], found=())], ("m",), numbers_read=1)
    assert "Nothing found, but no all-clear; m read 1 number;" in printed(nothing)


def test_what_is_odd_but_not_flagged_gets_no_all_clear() -> None:
    proof = proofread(read_text("Of 12 and 77.", "a.txt"))
    places = [(Where(3, 5, paragraph=0), "12", 0.05), (Where(10, 12, paragraph=0), "77", 0.02)]
    odd = [Suspicion("NUM900", where, text, 0.1, plausibility=p) for where, text, p in places]
    report = Report([replace(proof, unusual=tuple(odd))], ("m",))
    assert "Unusual, but not flagged: 77 (a.txt:1:11), 12 (a.txt:1:4). --alarms 0.1" in " ".join(
        printed(report).split()
    )
    assert [row["written"] for row in json.loads(as_json(report))["unusual"]] == ["77", "12"]
    assert "Unusual, but not flagged: 77, 12." in as_html(report)


def test_a_notebook_shows_a_table() -> None:
    shown = proofread(read_text(WRONG.replace("groups", "<b>"), "a.txt"))._repr_html_()
    assert "1 finding" in shown
    assert "NUM301" in shown
    assert "<b>" not in shown


def test_no_more_of_a_paragraph_is_searched_than_is_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or a paragraph with many findings would take a time quadratic in them."""
    searched: list[int] = []

    class Border:
        def finditer(self, text: str, start: int = 0, end: int | None = None) -> Iterator[Any]:
            searched.append((len(text) if end is None else end) - start)
            return _BORDER.finditer(text, start, len(text) if end is None else end)

    monkeypatch.setattr("numerate.proofread.report._BORDER", Border())
    statement = "We saw 42 of 120 patients (53%) here. "
    report = Report([proofread(read_text(statement * 40))])
    lines = printed(report).splitlines()
    assert lines.count(f"  {statement.strip()}") == len(report) == len(searched) == 40
    assert max(searched) <= 2 * AROUND + len("120")


@pytest.mark.parametrize("name", ["report.docx", "report-libreoffice.pdf", "report.tex"])
def test_html_has_tables_where_they_stand_in_every_format(name: str) -> None:
    """Tables stand under a heading, before the next paragraph; references are as written."""
    (document,) = read_file(str(REPORT / name))
    report = Report([proofread(document)])
    page = as_html(report)
    order = [">Results</h", "<table>", "After 12 weeks, systolic"]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert "_ref_" not in page
    assert "Table 1" in page
    assert "Table …" not in page


def test_references_and_ends_of_lines_are_for_people() -> None:
    text = f"As _cite_ and Table _ref_ say, {WRONG[0].lower()}{WRONG[1:]}"
    document = Document("a.xml", [Paragraph(text)])
    out = io.StringIO()
    print_report(Report([proofread(document)]), Console(file=out, width=40))
    lines = out.getvalue().splitlines()
    assert lines[1].startswith("  As […] and Table … say, the groups")
    assert all(line == line.rstrip() for line in lines)

"""What is printed can be read back, by people and by programs."""

import csv
import io
import json
import os
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from numerate.documents.document import Document, Paragraph
from numerate.documents.text import read_text
from numerate.plausibility.assessments import Assessment, Assessments
from numerate.plausibility.checking.check import Checked, Report
from numerate.plausibility.checking.formats import COLUMNS, as_csv, as_json, print_report, sentences
from numerate.plausibility.checking.html_page import as_html
from numerate.plausibility.checking.sarif import as_sarif
from numerate.plausibility.domain import Compared, Fit
from numerate.plausibility.wording import explain, what_is_odd

FITS = Fit({"unknown_words": Compared(0.03, 0.03, 0.1)})
TEXT = 'All <b>was</b> well.\nThe dose was 5,000 mg & "fine".\n\nAge 45 years.'


def finding(written: str, *, flagged: bool, text: str = TEXT) -> Assessment:
    start = text.index(written)
    return Assessment(
        start=start,
        end=start + len(written),
        numeral=written.replace(",", ""),
        written=written,
        surprisal=12.5,
        percentile=0.998,
        interval=(1.0, 80.0),
        likely="10",
        reason="magnitude",
        plausibility=0.0025 if flagged else 0.6,
        flagged=flagged,
    )


def article(name: str) -> Document:
    """The same text, but from a file whose lines and columns say nothing."""
    return Document(name, map(Paragraph, TEXT.split("\n\n")))


def checked(document: Document, found: list[Assessment], domain: Fit = FITS) -> Checked:
    return Checked(document, Assessments(found, len(found), domain))


FOUND = [finding("5,000", flagged=True), finding("45", flagged=False)]


@pytest.fixture
def report() -> Report:
    document = read_text(TEXT, "notes/a b.txt")
    return Report("combination", 0.01, [checked(document, FOUND)])


def test_counts(report: Report) -> None:
    assert (report.numerals, report.flagged) == (2, 1)
    assert [f.written for _, f in report.findings()] == ["5,000"]
    assert [f.written for _, f in report.findings(everything=True)] == ["5,000", "45"]


def test_json(report: Report) -> None:
    record = json.loads(as_json(report))
    assert (record["numerals"], record["flagged"], record["alarms"]) == (2, 1, 0.01)
    (found,) = record["findings"]
    assert (found["file"], found["line"], found["column"]) == ("notes/a b.txt", 2, 14)
    assert TEXT[found["start"] : found["end"]] == found["written"] == "5,000"
    assert found["interval"] == [1.0, 80.0]
    assert len(json.loads(as_json(report, everything=True))["findings"]) == 2


def test_csv(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(report, everything=True))))
    assert [row["numeral"] for row in rows] == ["5000", "45"]
    assert list(rows[0]) == list(COLUMNS)
    assert (rows[0]["low"], rows[0]["high"], rows[0]["flagged"]) == ("1.0", "80.0", "True")
    assert (rows[1]["paragraph"], rows[1]["line"]) == ("2", "4")


def test_sarif_has_what_the_standard_requires(report: Report) -> None:
    """SARIF 2.1.0 §3.13, 3.14, 3.18, 3.19, 3.27, 3.28, 3.29, 3.30."""
    log = json.loads(as_sarif(report))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "numerate"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    (result,) = run["results"]
    assert result["message"]["text"]
    assert ids[result["ruleIndex"]] == result["ruleId"]
    assert result["level"] in {"none", "note", "warning", "error"}
    assert result["kind"] == "fail"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "notes/a%20b.txt"
    region = location["region"]
    assert run["columnKind"] == "unicodeCodePoints"
    line = TEXT.splitlines()[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "5,000"
    assert TEXT[region["charOffset"] :][: region["charLength"]] == "5,000"
    everything = json.loads(as_sarif(report, everything=True))["runs"][0]["results"]
    # §3.27.10: what did not fail has the level none.
    assert [(r["kind"], r["level"]) for r in everything] == [("fail", "warning"), ("pass", "none")]


def test_a_numeral_may_go_on_in_the_next_line() -> None:
    """White space is one space to the model, also amid thousands; places are those of the file."""
    text = "Then all of the 17\n863 women."
    found = finding("17\n863", flagged=True, text=text)
    found = replace(found, written="17 863", numeral="17863")
    report = Report("mog", 0.01, [checked(read_text(text, "a.txt"), [found])])
    (result,) = json.loads(as_sarif(report))["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"]) == (1, 17)
    assert (region["endLine"], region["endColumn"]) == (2, 4)
    assert (region["charOffset"], region["charLength"]) == (16, 6)
    SARIF.validate(json.loads(as_sarif(report)))
    assert "  Then all of the \x1b[1;31m17 863\x1b[0m women.\n" in printed(report)
    assert "17 863 is implausible here: " in printed(report)
    assert Places(as_html(report)).texts["place_1"] == "17\n863"


SARIF = Draft202012Validator(
    json.loads((Path(__file__).parent / "sarif.schema.json").read_text(encoding="utf-8"))
)


@pytest.mark.parametrize("is_file", [True, False])
@pytest.mark.parametrize("everything", [True, False])
@pytest.mark.parametrize("name", ["notes/a b.txt", "naïve <%7>.txt", "\udcff.txt"])
def test_sarif_is_valid(is_file: bool, everything: bool, name: str) -> None:
    """Against the parts of its schema that we use, which is closed: other names are refused."""
    document = read_text(TEXT, name) if is_file else article(name)
    report = Report("combination", 0.01, [checked(document, FOUND)])
    SARIF.validate(json.loads(as_sarif(report, everything=everything)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("version", "2.0.0"),
        ("runs.0.tool.driver.name", None),
        ("runs.0.tool.driver.rules.0.id", None),
        ("runs.0.columnKind", "bytes"),
        ("runs.0.results.0.message.text", None),
        ("runs.0.results.0.level", "serious"),
        ("runs.0.results.1.level", "warning"),  # of what passed
        ("runs.0.results.0.where", "here"),
        ("runs.0.results.0.locations.0.physicalLocation.artifactLocation.uri", "a b.txt"),
        ("runs.0.results.0.locations.0.physicalLocation.region.startLine", 0),
        ("runs.0.results.0.locations.0.physicalLocation.region.startLine", None),
    ],
)
def test_sarif_that_is_not_valid_would_be_noticed(report: Report, path: str, value: Any) -> None:
    log = json.loads(as_sarif(report, everything=True))
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))
    place = log
    for part in parents:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    assert not SARIF.is_valid(log)


def test_sarif_of_an_article_names_its_paragraph() -> None:
    document = article("a.xml")
    log = json.loads(as_sarif(Report("mog", 0.01, [checked(document, FOUND)])))
    location = log["runs"][0]["results"][0]["locations"][0]
    assert "region" not in location["physicalLocation"]
    assert location["logicalLocations"][0]["name"] == "paragraph 1"


class Places(HTMLParser):
    """The text of every element that has an identifier, and where the links in it lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []  # identifiers of the elements that are open
        self.texts: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.attributes: set[str] = set()
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.attributes |= found.keys()
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


def test_html_marks_the_numerals_and_escapes_the_text(report: Report) -> None:
    page = as_html(report)
    parser = Places(page)
    assert parser.texts["place_1"] == "5,000"
    assert "<b>was" not in page
    assert "&lt;b&gt;was" in page
    assert "Age 45" not in page  # a paragraph without findings
    assert not {"img", "link", "iframe"} & set(parser.tags)
    assert "http" not in page.replace("http://www.w3.org", "")


def test_html_needs_no_pointer(report: Report) -> None:
    """A row and its place lead to each other, and the reason stands there to be read."""
    other = replace(finding("45", flagged=True), reason="digits")
    documents = [*report.documents, checked(report.documents[0].document, [FOUND[0], other])]
    parser = Places(as_html(Report("mog", 0.01, documents)))
    for number, found in enumerate([FOUND[0], FOUND[0], other], 1):
        assert parser.links[f"finding_{number}"] == f"#place_{number}"
        assert parser.links[f"place_{number}"] == f"#finding_{number}"
        assert parser.texts[f"place_{number}"] == found.written
        assert parser.texts[f"reason_{number}"] == explain(found, FITS)
        odd = what_is_odd(found.numeral, found.reason, found.interval)
        assert odd in parser.texts[f"finding_{number}"]
    assert "title" not in parser.attributes
    page = as_html(Report("mog", 0.01, documents))
    assert page.count('<td class="text">') == 3  # a column is aligned as a whole
    targets = {link.removeprefix("#") for link in parser.links.values()}
    assert targets <= parser.texts.keys()


def test_html_of_nothing(report: Report) -> None:
    document = report.documents[0].document
    page = as_html(Report("mog", 0.01, [checked(document, FOUND[1:])]))
    assert "0 of 1 numerals flagged" in page


def printed(report: Report, **options: bool) -> str:
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=200, force_terminal=True), **options)
    return stream.getvalue()


def test_the_terminal_shows_the_sentence(report: Report) -> None:
    text = printed(report)
    assert "notes/a b.txt:2:14" in text
    assert 'The dose was \x1b[1;31m5,000\x1b[0m mg & "fine".' in text
    assert "All <b>was</b> well" not in text
    assert "1 of 2 numerals flagged." in text
    assert "45" in printed(report, everything=True)


def test_what_is_odd_but_not_flagged_gets_no_all_clear(report: Report) -> None:
    """The oddest first, with its place; not where every numeral is shown anyway."""
    odd = [replace(finding("45", flagged=False), plausibility=0.02),
           replace(finding("5,000", flagged=False), plausibility=0.015)]  # fmt: skip
    document = report.documents[0].document
    nothing = Report("combination", 0.01, [Checked(document, Assessments([], 2, FITS, odd))])
    shown = " ".join(printed(nothing).split())
    assert shown.startswith("0 of 2 numerals flagged. Unusual, but not flagged: 5,000 (")
    assert "5,000 (notes/a b.txt:2:14), 45 (notes/a b.txt:4:5). --all says why." in shown
    assert "Unusual" not in printed(nothing, everything=True)
    record = json.loads(as_json(nothing))
    assert [row["written"] for row in record["unusual"]] == ["5,000", "45"]
    assert record["unusual"][0]["line"] == 2
    assert "Unusual, but not flagged: 5,000, 45." in as_html(nothing)


def test_a_place_is_one_line_however_narrow_the_terminal() -> None:
    name = "a/long/path/" * 10 + "notes.txt"
    document = read_text(TEXT, name)
    stream = io.StringIO()
    found = Report("combination", 0.01, [checked(document, FOUND)])
    print_report(found, Console(file=stream, width=40))
    assert stream.getvalue().splitlines()[0] == f"{name}:2:14"


def test_control_characters_do_not_reach_the_terminal() -> None:
    text = "Dose \x1b[2J\x07 5,000 [red]mg[/red]"
    document = read_text(text, "a.txt")
    found = finding("5,000", flagged=True, text=text)
    shown = printed(Report("mog", 0.01, [checked(document, [found])]))
    assert "\x1b[2J" not in shown
    assert "\x07" not in shown
    assert "[red]mg[/red]" in shown  # no markup is taken from the text


def test_a_sentence_is_shown_once_for_all_its_findings() -> None:
    text = "First 1 here. The dose was 5,000 mg, or 7,000 mg.\n\nThe dose was 9,000 mg."
    document = read_text(text, "a.txt")
    found = [finding(written, flagged=True, text=text) for written in ("5,000", "7,000", "9,000")]
    stream = io.StringIO()
    print_report(Report("mog", 0.01, [checked(document, found)]), Console(file=stream, width=200))
    assert stream.getvalue().splitlines() == [
        "a.txt:1:28",
        "  The dose was 5,000 mg, or 7,000 mg.",
        f"  {explain(found[0], FITS)}",
        "a.txt:1:41",
        f"  {explain(found[1], FITS)}",
        "",
        "a.txt:3:14",
        "  The dose was 9,000 mg.",
        f"  {explain(found[2], FITS)}",
        "",
        "3 of 3 numerals flagged.",
    ]


def test_figures_are_for_those_who_ask(report: Report) -> None:
    for figures in ("nats", "point", "1 in 400"):
        assert figures not in printed(report)
        assert figures in printed(report, verbose=True)
    assert "1 in 400" not in as_html(report)
    assert "1 in 400" in as_html(report, verbose=True)


def test_ordinary_numbers_are_not_called_odd(report: Report) -> None:
    assert "45 is plausible here. Usual: 1 to 80, most likely 10." in printed(
        report, everything=True
    )
    ordinary = json.loads(as_json(report, everything=True))["findings"][1]
    assert (ordinary["level"], ordinary["reason"]) == ("plausible", None)
    assert ordinary["explanation"] == explain(FOUND[1], FITS)
    assert list(csv.DictReader(io.StringIO(as_csv(report, everything=True))))[1]["reason"] == ""
    results = json.loads(as_sarif(report, everything=True))["runs"][0]["results"]
    assert [result["message"]["text"] for result in results] == [explain(f, FITS) for f in FOUND]


UNFIT = Fit({"unknown_words": Compared(0.41, 0.03, 0.1)})
UNLIKE = "notes/a b.txt is unlike what the model was trained on: 41 % of its words are unknown"


@pytest.mark.parametrize("found", [FOUND, FOUND[1:]])
def test_what_does_not_fit_is_not_shown_as_if_it_were_calibrated(found: list[Assessment]) -> None:
    document = read_text(TEXT, "notes/a b.txt")
    unfit = Report("mog", 0.01, [checked(document, found, UNFIT)])
    text = printed(unfit, everything=True)
    assert text.splitlines()[0].startswith(f"\x1b[1;33m{UNLIKE}")
    assert "plausible here" not in text
    count = "1 of 2 numerals flagged, 1 of them uncalibrated."
    assert text.endswith(count + "\n" if len(found) == 2 else "flagged, but no all-clear.\n")

    record = json.loads(as_json(unfit, everything=True))
    domain = record["documents"][0]["domain"]
    assert (domain["fits"], domain["forced"]) == (False, False)
    assert domain["unknown_words"] == {"value": 0.41, "usual": 0.03, "limit": 0.1}
    assert {finding["calibrated"] for finding in record["findings"]} == {False}
    rows = csv.DictReader(io.StringIO(as_csv(unfit, everything=True)))
    assert {row["calibrated"] for row in rows} == {"False"}

    (run,) = json.loads(as_sarif(unfit, everything=True))["runs"]
    levels = {(result["kind"], result["level"]) for result in run["results"]}
    assert levels <= {("fail", "note"), ("pass", "none")}
    assert {result["properties"]["calibrated"] for result in run["results"]} == {False}
    assert run["properties"]["misfits"][0].startswith(UNLIKE)

    page = as_html(unfit)
    assert f'<p class="misfit">{UNLIKE}' in page
    assert "false-alarm rate" not in page


def test_what_is_forced_to_fit_is_shown_as_calibrated(report: Report) -> None:
    document = report.documents[0].document
    forced = Report("combination", 0.01, [checked(document, FOUND, replace(UNFIT, forced=True))])
    assert printed(forced) == printed(report)
    assert as_html(forced) == as_html(report)
    assert as_sarif(forced) == as_sarif(report)
    assert json.loads(as_json(forced))["documents"][0]["domain"]["forced"]


def test_one_of_two_documents_fits(report: Report) -> None:
    document = read_text(TEXT, "b.txt")
    both = Report("mog", 0.01, [*report.documents, checked(document, FOUND, UNFIT)])
    text = printed(both)
    assert "5,000 is implausible here" in text
    assert "5,000 is very odd to this model" in text
    assert "2 of 4 numerals flagged, 1 of them uncalibrated." in text
    assert "at a false-alarm rate of 0.01 in documents that fit the model." in as_html(both)


def test_sentences() -> None:
    def shown(text: str, *written: str) -> list[str]:
        found = [finding(numeral, flagged=True, text=text) for numeral in written]
        document = checked(read_text(text, "a.txt"), found)
        return [text[sentence.start : sentence.end] for sentence in sentences(document, found)]

    text = "\n\nOne is 1. Two is 2 and 22. Three is 3.\n\nFour is 4."
    assert shown(text, "2", "22", "3") == ["Two is 2 and 22. ", "Three is 3."]
    assert shown(text, "1", "4") == ["One is 1. ", "Four is 4."]
    assert shown("5. Of 7", "5", "7") == ["5. ", "Of 7"]
    long = "x " * 400 + "5" + " y" * 400
    assert shown(long, "5") == ["x " * 80 + "5" + " y" * 80]


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", " =1", "＝1"])
def test_no_cell_of_a_table_is_a_formula(name: str) -> None:
    found = checked(read_text(TEXT, name), FOUND)
    (row,) = csv.DictReader(as_csv(Report("mog", 0.01, [found])).splitlines())
    assert row["file"] == "'" + name
    assert float(row["surprisal"]) == pytest.approx(FOUND[0].surprisal)


def test_a_name_that_no_encoding_can_write(report: Report) -> None:
    """Neither an escape sequence nor a byte that is no UTF-8 reaches the terminal or ends it."""
    name = os.fsdecode(b"a\xff\x1b[31m[b].txt")
    hostile = checked(read_text(TEXT, name), FOUND)
    hostile_report = Report("combination", 0.01, [hostile])
    stream = io.StringIO()
    print_report(hostile_report, Console(file=stream, width=200))
    assert stream.getvalue().splitlines()[0] == r"a\xff\x1b[31m[b].txt:2:14"
    (result,) = json.loads(as_sarif(hostile_report))["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "a%FF%1B%5B31m%5Bb%5D.txt"}

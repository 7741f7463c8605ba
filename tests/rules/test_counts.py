"""Counts, percentages, totals, impossible values and quantities said twice: how they are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.text import read_text
from numerate.rules.finding import Finding
from numerate.rules.reading import ReadDocument
from numerate.rules.recompute import Recomputed, recompute
from numerate.rules.rule import RULES

OWN = sorted(code for code in RULES if code[3] in "156")


def told(code: str, text: str) -> Recomputed:
    return recompute(read_text(text), codes={code})


def findings(code: str, text: str) -> list[Finding]:
    return told(code, text).findings


NOTATIONS = [
    "{a} of {n} ({p}%)",
    "{a} of the {n} patients ({p}%)",
    "{a} out of {n} patients ({p} %)",
    "{a}/{n} ({p}%)",
    "{a}/{n} [{p}%]",
    "{a} / {n} = {p}%",
    "({a}/{n}; {p}%)",
    "({a}/{n}, {p} percent)",
    "{a} ({p}%) of {n} patients",
    "{a} women ({p}%) of the {n}",
    "{p}% ({a}/{n})",
    "{p}% [{a} of {n}]",
    "{p}% of patients ({a} of {n} patients)",
    "{p}%, {a} of {n}",
    "{p}% (n = {a}/{n})",
    "Of {n} patients, {a} ({p}%) died",
    "Of the {n} patients, 7 died and {a} women ({p}%) recovered",
]


@pytest.mark.parametrize("notation", NOTATIONS)
def test_percentages_in_any_notation(notation: str) -> None:
    right = told("NUM101", notation.format(a=42, n=120, p=35) + ".")
    assert right.findings == []
    assert right.coverage["percentages"].recomputed == 1
    [wrong] = findings("NUM101", notation.format(a=42, n=120, p=53) + ".")
    assert wrong.written == "53"
    assert wrong.suggestion is not None
    assert wrong.suggestion.text == "35"
    assert len(wrong.involved) == 3
    [other] = findings("NUM101", notation.format(a=24, n=120, p=35) + ".")
    assert other.written == "24"  # swapped, which the others are not
    assert other.suggestion is not None
    assert other.suggestion.text == "42"


@pytest.mark.parametrize(
    "text",
    [
        "2 of 3 (66.6%)",  # cut off
        "1 of 8 (13%)",
        "1 of 8 (12%)",
        "1 of 2,000 (0.05%)",
        "999/1000 (100%)",
        "12 of 40 patients (95% CI 20 to 40)",
        "about 20% (5 of 37)",
        "Of 120 patients, 60 (50%) were women, of whom 20 (33%) smoked",
        "Of 120 patients, 60 were women and 20 (33%) of these smoked",
        "in 5 of 12 weeks, 20% more than before",
        "130/80 mmHg (20%)",
        "on 12/05/2010 (20%)",
        "52,5% (42/80)",  # a decimal comma
        "112 grade 1 or 2 out of 158, 70.9%",
        "Of the nine patients, eight (88.9%) had a total of 11 clones",
    ],
)
def test_what_is_no_wrong_percentage(text: str) -> None:
    assert findings("NUM101", text) == []


def test_a_whole_that_is_not_said_is_missing() -> None:
    coverage = told("NUM101", "We saw 42 women (35%).").coverage["percentages"]
    assert coverage.missing == {"a stated whole": 1}


def table(*rows: str) -> str:
    width = rows[0].count("|") + 1
    return "\n".join([rows[0], "|".join(["---"] * width), *rows[1:]]) + "\n"


ROWS = ("Women, n (%) | 42 (35.0) | 40 (50.0)", "Dead, n (%) | 12 (10.0) | 8 (10.0)")


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("Sign | Placebo (n = 120) | Drug (N=80)", "Smokers, n (%) | 30 ({}) | 20 (25.0)"),
        ("Sign | Placebo, n = 120 | Drug, n = 80", "Smokers | 30 ({}%) | 20 (25.0%)"),
        ("Sign | Placebo (n = 120) | Drug (n = 80)", "Smokers | {}% (30) | 25.0% (20)"),
        ("Sign | Placebo | Drug", "Smokers | 30/120 ({}%) | 20/80 (25.0%)"),
    ],
)
def test_percentages_of_cells(head: str, row: str) -> None:
    assert findings("NUM103", table(head, *ROWS, row.format("25.0"))) == []
    [finding] = findings("NUM103", table(head, *ROWS, row.format("15.0")))
    assert finding.written == "15.0"
    assert finding.suggestion is not None
    assert finding.suggestion.text == "25.0"


def test_sizes_of_groups_from_a_row_of_counts() -> None:
    head, counts = "Sign | Placebo | Drug", "No. of patients | 120 | 80"
    text = table(head, counts, *ROWS, "Smokers, n (%) | 30 (15.0) | 20 (25.0)")
    [finding] = findings("NUM103", text)
    assert "row No. of patients, column Placebo" in finding.evidence[0].said


def test_missing_data_is_no_error() -> None:
    """Two did not say whether they smoke."""
    row = "Smokers, n (%) | 30 (25.4) | 20 (25.0)"
    assert findings("NUM103", table("Sign | A (n = 120) | B (n = 80)", *ROWS, row)) == []


@pytest.mark.parametrize(
    "rows",
    [
        ["Age, mean (SD) | 42 (12.1) | 40 (11.9)"],
        ["Age | 41.3 (12.1) | 40 (11.9)"],
        [" | Median (IQR) | Median (IQR)", "Pressure | 6 (4) | 8 (10)"],
    ],
)
def test_means_are_no_percentages(rows: list[str]) -> None:
    head = "Sign | A (n = 120), n (%) | B (n = 80), n (%)"
    assert findings("NUM103", table(head, *ROWS, *rows)) == []


@pytest.mark.parametrize("order", ["% (n)", "percentage (n)", "n (%)"])
def test_percentages_may_stand_first(order: str) -> None:
    rows = [f"Sign, {order} | {p} ({p * 12}) | 50 (400)" for p in (30, 40, 45, 55, 60, 65)]
    head = "Sign | A (n = 1,200) | B (n = 800)"
    assert findings("NUM103", table(head, *rows)) == []
    wrong = findings("NUM103", table(head, *rows, f"Dead, {order} | 36 (120) | 25 (200)"))
    assert [finding.written for finding in wrong] == (["36"] if order != "n (%)" else ["120"])


def test_medians_have_no_total() -> None:
    rows = ["Deaths | 6 | 2 | 2 | 2", "Falls | 9 | 3 | 3 | 3", "Burns | 7 | 2 | 2 | 3"]
    rows += ["Median visits | | | |", "To a doctor | 2 | 2 | 2 | 2"]
    assert findings("NUM113", table("Event | Total | A | B | C", *rows)) == []


def test_somebody_may_have_several_events() -> None:
    rows = ["Infection | 6 | 9", "Rash | 3 | 3", "Other | 4 | 5", "Total | {} | 17"]
    text = table("Adverse event | Patients | Events", *rows)
    assert findings("NUM114", text.format(12)) == []
    assert findings("NUM114", text.format(14)) != []


def test_means_of_two_groups_are_alike_by_chance() -> None:
    said = "Spine density of cultured granule cells with {} was {} spines/µm."
    paragraphs = [
        Paragraph(said.format("the mutant", "1.94 ± 0.04")),
        Paragraph(said.format("the deletion", "1.94 ± 0.05")),
    ]
    assert recompute(Document("a", paragraphs), codes={"NUM601"}).findings == []


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("NUM111", "We studied 36 subjects (20 female, 15 male, 1 other)."),
        ("NUM111", "We studied 120 patients, of whom 60 were women and 20 were smokers."),
        ("NUM111", "120 patients were randomised, 110 completed, 60 in A and 50 in B."),
        ("NUM112", "Prices rose from 20% to 30%, an increase of 50%."),
        ("NUM112", "Prices rose from 20% to 30%, an increase of 10%."),
        ("NUM111", "1054 (99%) of 1063 patients (529 in the one group and 525 in the other)."),
        ("NUM112", "Reductions ranged from 22% to 73%, with a median reduction of 36%."),
        ("NUM112", "It rose from 1.4 to 2.6, an increase of 1.3."),
        ("NUM501", "Levels rose to 120% of baseline."),
        ("NUM501", "Growth was 120% in patients."),
        ("NUM502", "We used P ≥ 5.5 mg/dl."),
        ("NUM505", "The tree was 635 years old."),
        ("NUM507", "On 29 February 2012 and at 10:30 h it began."),
        ("NUM507", "From May 2012 to June 2012."),
        ("NUM508", "The years (range 1990–95)."),
        ("NUM508", "Change (range −5 to −12)."),
        ("NUM603", "They fasted for 30 min (8 h)."),
        ("NUM603", "It lies at 4497 m (14,750 ft)."),
        ("NUM603", "Energy was reduced by 2000 kJ (500 kcal)."),
    ],
)
def test_silent_in_doubt(code: str, text: str) -> None:
    assert findings(code, text) == []


def test_both_sexes_are_all_however_few() -> None:
    assert findings("NUM111", "We saw 5 patients (2 men and 3 women).") == []
    [finding] = findings("NUM111", "We saw 50 patients (2 men and 3 women).")
    assert finding.suggestion is not None
    assert finding.suggestion.text == "5"


def test_statements_are_compared_between_abstract_and_text() -> None:
    said = "Mean systolic blood pressure with placebo fell by {} mmHg (95% CI 3.1 to 9.4)."
    paragraphs = [
        Paragraph(said.format("6.2"), in_abstract=True),
        Paragraph(said.format("2.6")),
    ]
    [finding] = recompute(Document("a", paragraphs), codes={"NUM601"}).findings
    assert finding.written == "2.6"
    assert "abstract: 6.2" in finding.evidence[0].said


def test_sizes_of_groups_across_tables() -> None:
    def sized(n: int) -> Table:
        return Table("t", "Table", "", [["", f"Placebo (n = {n})"]], [["Age", "41.2"]])

    tables = [sized(45), sized(45), sized(54)]
    [finding] = recompute(Document("a", [], tables), codes={"NUM602"}).findings
    assert finding.written == "54"
    assert finding.where.table == 2


ABSURD = """\
In all, 120 patients (70 women and 40 men) were enrolled from May 2012 to March 2011. Of the 120
patients, 42 (53%) smoked. The eldest was a 635-year-old man. Sixty received the drug, 500 mg
(0.05 g) a day. We found that 130% of patients responded. The median stay was 12 days (IQR 18–25).
Weight and height were correlated (r = 1.42, p = 1.30). The score rose from 45 to 52, an increase
of 9. The odds ratio was 1.80 (95% CI 0.91 to 1.52). It differed, t(28) = 2.05, p = 0.49.
"""
MENDED = """\
In all, 120 patients (80 women and 40 men) were enrolled from May 2011 to March 2012. Of the 120
patients, 42 (35%) smoked. The eldest was a 63-year-old man. Sixty received the drug, 500 mg
(0.5 g) a day. We found that 30% of patients responded. The median stay was 12 days (IQR 8–25).
Weight and height were correlated (r = 0.42, p = 0.030). The score rose from 45 to 52, an increase
of 7. The odds ratio was 1.18 (95% CI 0.91 to 1.52). It differed, t(28) = 2.05, p = 0.049.
"""


def test_an_absurd_paragraph() -> None:
    found = recompute(read_text(ABSURD)).findings
    wrong = {"40", "2011", "53", "635", "0.05", "130", "12", "1.42", "1.30", "9", "1.80", "0.49"}
    assert len(wrong & {finding.written for finding in found}) >= 11
    assert recompute(read_text(MENDED)).findings == []


CELLS = st.sampled_from(
    [
        "", "42", "42 (35)", "42 (35.0%)", "35% (42)", "42/120 (35)", "n = 120", "Total", "0 (0)",
        "–", "Placebo (n = 60)", "5.2 ± 1.1", "12 (8–15)", "Women, n (%)", "100", "7", "n", "%",
        "1e999",
    ]
)  # fmt: skip


@given(
    st.lists(st.lists(CELLS, max_size=5), max_size=3),
    st.lists(st.lists(CELLS, max_size=6), max_size=8),
    st.sampled_from(["", "Of 120 patients, 42 (35%) died.", "n = 120 (42)"]),
)
def test_any_table_can_be_read(header: list[list[str]], body: list[list[str]], said: str) -> None:
    tables = [Table("t", "Table 1", said, header, body, notes=said)]
    document = Document("a", [Paragraph(said, ("t",))], tables)
    for finding in recompute(document, codes=OWN).findings:
        assert ReadDocument(document).text(finding.where) == finding.written


def calls(document: Document) -> int:
    import sys

    count = 0

    def profile(*_: object) -> None:
        nonlocal count
        count += 1

    _ = document.text
    sys.setprofile(profile)
    try:
        recompute(document, codes=OWN)
    finally:
        sys.setprofile(None)
    return count


def large_table(rows: int) -> Document:
    cells = ["42 (35.0)", "40 (50.0)", "12", "7.5 (1.2)", "1.2 (0.9–1.5)"]
    head = ["", "Placebo (n = 120)", "Drug (n = 80)", "Total", "Mean (SD)", "Median (IQR)"]
    body = [[f"Row {row}", *cells] for row in range(rows)]
    text = "Row 7 of Placebo was 42 (35.1) as Total was 12. " * rows
    tables = [Table("t", "Table 1", "", [head], body)]
    return Document("a", [Paragraph(text, ("t",))], tables)


def test_large_tables_take_linear_time() -> None:
    assert calls(large_table(800)) < 16 * calls(large_table(100))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("There were 15 + 20 = 36 events.", "35"),
        ("Of these, 120 − 15 = 115 stayed.", "105"),
        ("This makes 12 ÷ 48 = 0.52.", "0.25"),
        ("There were 15 + 20 = 35 events.", None),
        ("About 1.2 + 2.3 = 3.6 kg.", None),  # may be rounded
        ("Here x + 20 = 36 holds.", None),
        ("It is 15 + 20 = 36 + y.", None),
    ],
)
def test_arithmetic_that_is_written_out(text: str, meant: str | None) -> None:
    found = recompute(read_text(text), codes={"NUM115"}).findings
    assert [one.suggestion and one.suggestion.text for one in found] == ([meant] if meant else [])


@pytest.mark.parametrize(
    "text",
    [
        "Sales rose by 12% from 2019 to 2023.",
        "The number of patients increased by 40 from 2015 to 2020.",
        "The 2023/24 budget (12% higher) was approved.",
        "We are open 24/7 (100%).",
        "The 60/40 (70%) portfolio did best.",
        "Blood pressure was 120/80 (10%) in all.",
    ],
)
def test_years_and_ratios_are_neither_changes_nor_parts(text: str) -> None:
    assert recompute(read_text(text)).findings == []


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Profit rose 12.0% to £48.6m from £43.4m.", None),
        ("Profit rose 21.0% to £48.6m from £43.4m.", "12.0"),
        ("Profit rose from $43.4 million to $48.6 million, an increase of $2.5 million.", "5.2"),
        ("It rose from 40% to 45%, an increase of 7 percentage points.", "5"),
        ("Costs fell by £900k from £2.1m to £1.2m.", None),  # in units of their own
        ("Profit rose 9.0% at constant exchange rates to £48.6m from £43.4m.", None),
        ("Wages rose 3% a year from $40 to $50.", None),
        ("It rose from 5% to 15%, an increase of 3-fold.", None),
    ],
)
def test_changes_of_money_and_of_percentages(text: str, meant: str | None) -> None:
    found = recompute(read_text(text), codes={"NUM112"}).findings
    assert [one.suggestion and one.suggestion.text for one in found] == ([meant] if meant else [])


@pytest.mark.parametrize("sign", [" ", ": ", " = ", "="])
def test_spans_after_every_sign(sign: str) -> None:
    assert findings("NUM508", f"They were young (range{sign}18–27).") == []
    assert len(findings("NUM508", f"They were young (range{sign}28–17).")) == 1
    assert len(findings("NUM508", f"The median was 6 days (IQR{sign}8–12).")) == 1


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Bands of 3.1 kb + 1.2 kb = 4.3 kb.", []),
        ("Bands of 3.1 kb + 1.2 kb = 3.4 kb.", ["3.4"]),
        ("They lost 80 kg − 5 kg = 70 kg.", ["70"]),
        ("Together 12% + 13% = 26%.", []),
        ("It took 2 h + 30 min = 3 h, and 3 ml + 2 ml = 6 ml + 1 ml.", []),
    ],
)
def test_equations_in_one_unit(text: str, wrong: list[str]) -> None:
    assert [finding.written for finding in findings("NUM115", text)] == wrong

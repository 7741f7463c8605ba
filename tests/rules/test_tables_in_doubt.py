"""Percentages and totals of tables that look wrong and are not: each beside one that is."""

import pytest

from numerate.documents.document import Document, Table
from numerate.rules.recompute import recompute


def table(head: str, *rows: str, notes: str = "", caption: str = "") -> Document:
    lines = [[cell.strip() for cell in line.split("|")] for line in (head, *rows)]
    return Document("a", [], [Table("t", "Table 1", caption, lines[:1], lines[1:], notes=notes)])


def in_table(code: str, document: Document) -> list[str]:
    return [finding.written for finding in recompute(document, codes={code}).findings]


OWN = ["Fertile, % | 70.0 (70/100) | 60.0 (60/100)", "Grown, % | 20.0 (20/100) | 30.0 (30/100)"]
MEANS = ["Hatched, % | 43.2 (19/46) | 59.2 (29/50)", "Flown, % | 19.3 (7/46) | 30.9 (12/50)"]


def test_means_of_percentages_stand_beside_all_that_were_counted() -> None:
    assert in_table("NUM103", table("Egg | A | B", *MEANS)) == []
    assert len(in_table("NUM103", table("Egg | A | B", *OWN, MEANS[0]))) == 2


def test_a_ratio_is_no_percentage() -> None:
    head = "Sign, n (%) | A | B"
    assert (
        in_table("NUM103", table(head, "Men/women (ratio) | 126/142 (0.89) | 132/136 (0.97)")) == []
    )
    assert in_table("NUM103", table(head, "Smokers | 126/142 (0.89) | 132/136 (0.97)")) == []
    assert in_table("NUM103", table(head, "Smokers | 126/142 (0.89%) | 132/136 (97.1%)")) == [
        "0.89"
    ]


def test_notes_say_that_percentages_make_100() -> None:
    rows = ["Cured, % | 64/76 (84.3) | 31/36 (86.1)", "Dead, % | 12/76 (15.7) | 5/36 (13.9)"]
    notes = "Percentages are rounded to achieve totals of 100%."
    assert in_table("NUM103", table("End | A | B", *rows, notes=notes)) == []
    assert in_table("NUM103", table("End | A | B", *rows)) == ["84.3"]


def test_a_rate_per_1000_is_no_percentage() -> None:
    head = "Fever | A, n/N (%)"
    assert in_table("NUM103", table(head, "Person-days | 260/695 (374.1)")) == []
    assert in_table("NUM103", table(head, "Patients | 260/695 (374.1)")) == ["374.1"]


def test_what_all_of_a_column_are_percentages_of_goes_before_a_count_beside() -> None:
    """Of 40 cancers, so many were found and so many missed."""
    rows = [
        "A | 38 | 2 (5%)",
        "B | 36 | 4 (10%)",
        "C | 37 | 3 (8%)",
        "D | 39 | 1 (3%)",
        "E | 34 | 6 (15%)",
    ]
    assert in_table("NUM103", table("Model | Found | Missed, n (%)", *rows)) == []
    rows[-1] = "E | 34 | 6 (51%)"
    assert in_table("NUM103", table("Model | Found | Missed, n (%)", *rows)) == ["51"]


ROWS = [
    "Women, n (%) | 42 (35.0) | 40 (50.0)",
    "Dead, n (%) | 12 (10.0) | 8 (10.0)",
    "Smokers, n (%) | 30 (25.0) | 20 (25.0)",
]


def test_sizes_that_labels_say() -> None:
    head = "Sign | | A (n = 120) | B (n = 80)"
    rows = [row.replace("|", "| |", 1) for row in ROWS]
    said = ["Heart | Wide, n = 110 | 57 (51.8) | 20 (25.0)", "Heart | Wide | 57 (51.8) | 20 (25.0)"]
    assert in_table("NUM103", table(head, *rows, said[0])) == []
    assert in_table("NUM103", table(head, *rows, said[1].replace("51.8", "74.5"))) == ["74.5"]


@pytest.mark.parametrize("size", ["120 patients", "N = 120", "(total 120)"])
def test_sizes_that_headers_say(size: str) -> None:
    head = f"Sign | Placebo, {size} | Drug, {size.replace('120', '80')}"
    assert in_table("NUM103", table(head, *ROWS[:2])) == []
    assert in_table("NUM103", table(head, *ROWS[:2], "Old, n (%) | 30 (52.0) | 20 (25.0)")) == [
        "52.0"
    ]


def test_a_count_may_be_mistyped_beyond_its_group() -> None:
    head = "Sign | A (n = 120) | B (n = 80)"
    assert in_table("NUM103", table(head, *ROWS, "Old, n (%) | 360 (30.0) | 20 (25.0)")) == ["360"]
    assert in_table("NUM103", table(head, *ROWS, "Visits, n (%) | 517 (43.1) | 20 (25.0)")) == []


def test_a_plain_slip_is_told_although_others_of_its_row_do_not_fit() -> None:
    head = "Sign | A (n = 120) | B (n = 80) | C (n = 60) | D (n = 50)"
    rows = [
        f"{name} | 42 (35.0) | 40 (50.0) | 15 (25.0) | 10 (20.0)" for name in ("W, n (%)", "X", "Y")
    ]
    odd = "Old, n (%) | 30 (2.5) | 20 (27.3) | 15 (25.0) | 10 (20.0)"
    assert in_table("NUM103", table(head, *rows, odd)) == ["2.5"]
    odd = odd.replace("2.5", "25.9")  # as if four were missing, like those beside
    assert in_table("NUM103", table(head, *rows, odd)) == []


def test_two_numbers_with_a_comma_are_no_share() -> None:
    rows = [f"Mouse {n} | {n}, {n}" for n in range(2, 9)]
    assert in_table("NUM103", table("Animal | Days", *rows, "Mouse 9 | 2, 7")) == []
    shares = [f"Mouse {n} | {n}, {2 * n}" for n in range(2, 9)]
    assert in_table("NUM103", table("Animal | n, %", *shares, "Mouse 9 | 4, 31")) == ["31"]


TOTALS = ["Deaths | 6 | 2 | 4", "Falls | 9 | 3 | 6", "Burns | 7 | 2 | 5", "Cuts | 8 | 1 | 7"]


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ("Cells | 1190 | 1165 | 1240", []),  # a mean, or a median
        ("Share | 100 | 100 | 100", []),
        ("Bites | 32 | 14 | 9", ["32"]),
    ],
)
def test_averages_are_no_totals(row: str, wrong: list[str]) -> None:
    assert in_table("NUM113", table("Event | Total | A | B", *TOTALS, row)) == wrong


def test_parts_that_overlap_have_no_total() -> None:
    rows = [*TOTALS, "Bites | 32 | 14 | 9"]
    notes = "Note: categories are not mutually exclusive."
    assert in_table("NUM113", table("Event | Total | A | B", *rows, notes=notes)) == []


def test_counts_of_other_columns_are_parts_too() -> None:
    rows = [*(f"{row} | –" for row in TOTALS), "Bites | 32 | 14 | 9 | 9"]
    assert in_table("NUM113", table("Event | Total | A | B | C", *rows)) == []


def test_a_total_under_a_header_is_of_the_columns_under_it() -> None:
    head = [["", "Placebo", "Drug", "Drug", "Drug"], ["", "Placebo", "10 mg", "20 mg", "Total"]]
    rows = [
        ["Falls", "2", "3", "5", "8"],
        ["Rash", "1", "4", "2", "6"],
        ["Cough", "3", "1", "1", "{}"],
    ]

    def told(total: str) -> list[str]:
        body = [[cell.format(total) for cell in row] for row in rows]
        return in_table("NUM113", Document("a", [], [Table("t", "Table 1", "", head, body)]))

    assert told("2") == []
    assert told("4") == ["4"]


def test_amounts_are_rounded_and_counts_in_parentheses_are_no_percentages() -> None:
    rows = ["EPA | 3118", "DPA | 69", "DHA | 1466", "Total | 4654"]
    assert in_table("NUM114", table("Acid | Krill", *rows, caption="Weekly intake (mg)")) == []
    assert in_table("NUM114", table("Acid | Krill", *rows, caption="Cost in EUR")) == []
    assert in_table("NUM114", table("Area | Krill", *rows, caption="Weekly catch")) == ["4654"]
    rows = [*ROWS, "Rash, n | 12 (31.0) | 8 (10.0)"]
    notes = "Numbers in parentheses are numbers of events."
    head = "Sign | A (n = 120) | B (n = 80)"
    assert in_table("NUM103", table(head, *rows, notes=notes)) == []
    assert in_table("NUM103", table(head, *rows)) == ["31.0"]


def test_a_size_above_another_column_is_not_its_own() -> None:
    """The last header spans two rows, and does not repeat the one before it."""
    head = [["", "Drug", "Total (N = 30)"], ["", "High dose (N = 10)", "Total (N = 30)"]]
    body = [["Male, n (%)", "8 (80)", "29 (97)"], ["White, n (%)", "9 (90)", "15 (50)"]]
    body += [["Treated, n (%)", "10 (100)", "30 (100)"]]
    source = Table("t", "Table 1", "", head, body, repeated=frozenset({(-1, 2)}))
    assert in_table("NUM103", Document("a", [], [source])) == []


def test_a_total_of_all_headings() -> None:
    rows = [
        "Main | |",
        "Age | 1 | 3",
        "Sex | 1 | 2",
        "Joint | |",
        "Age by sex | 1 | 2",
        "Rest | 159 | 40",
    ]
    head = "Term | Freedom | Number"
    assert in_table("NUM114", table(head, *rows, "Total | 162 | 47")) == []
    assert in_table("NUM114", table(head, *rows, "Total | 169 | 47")) == ["169"]


SALES = ("Tools | 168.2 | 151.9", "Fixings | {} | 78.0", "Services | 62.6 | 55.6")


def test_totals_of_amounts() -> None:
    """With decimals, which may be rounded, and alone in their cells; one column must hold."""

    def found(fixings: str, totals: str, head: str = "Segment | 2024 | 2023") -> list[str]:
        rows = [row.format(fixings) for row in SALES]
        return in_table("NUM114", table(head, *rows, totals, caption="Revenue, £m"))

    assert found("84.3", "Total | 315.1 | 285.5") == []
    assert found("84.3", "Total | 315.3 | 285.5") == []
    assert found("83.4", "Total | 315.1 | 285.5") == ["83.4"]
    assert found("£83.4", "Total | 315.1 | £285.5") == ["83.4"]
    assert found("83.4", "Total | 315.1 | 385.1") == []
    assert found("83.4%", "Total | 315.1 | 285.5") == []
    assert found("83.4 (2.1)", "Total | 315.1 | 285.5") == []
    assert found("83.42", "Total | 315.1 | 285.5") == []
    assert found("83.4", "Total | 315.1 | 285.5", "Segment | Mean | 2023") == []


def test_what_is_wrong_in_its_row_is_not_told_of_its_column_again() -> None:
    rows = ["Heart | 12 | 10 | 32", "Stroke | 5 | 7 | 12", "Cancer | 9 | 4 | 13"]
    deaths = table("Cause | Placebo | Drug | Total", *rows, "Total | 26 | 21 | 47")
    assert in_table("NUM113", deaths) == ["32"]
    assert in_table("NUM114", deaths) == []

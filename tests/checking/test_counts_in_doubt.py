"""Counts, totals and quantities that look wrong and are not: each beside one that is."""

import pytest

from numerate.checking.finding import Finding
from numerate.checking.recompute import recompute
from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.text import read_text


def findings(code: str, text: str) -> list[Finding]:
    return recompute(read_text(text), codes={code}).findings


@pytest.mark.parametrize(
    ("code", "silent", "told"),
    [
        (
            "NUM101",
            "Of the 26 smokers, 12 (63.2%) receiving the drug stopped.",
            "Of the 26 smokers, 12 (63.2%) stopped.",
        ),
        (
            "NUM101",
            "Of the 13 who left, 6 (12%) had been in the exercise group.",
            "Of the 13 who left, 6 (12%) had moved house.",
        ),
        ("NUM101", "All but one of 74 samples (98.6%) grew.", "One of 74 samples (98.6%) grew."),
        (
            "NUM101",
            "Relapses by the method of Kaplan and Meier were 12.4% (6/51).",
            "Relapses were 12.4% (6/51).",
        ),
        ("NUM101", "It was below 1% (11 of 12).", "It was 1% (11 of 12)."),
        (
            "NUM101",
            "Of 900 patients, some were given a 1% gel (n = 400).",
            "Of 900 patients, 1% were men (n = 400).",
        ),
        (
            "NUM101",
            "Seeds were washed (2/3 water, 0.05% soap).",
            "Seeds were counted (2/3, 0.05%).",
        ),
        (
            "NUM101",
            "In all 17 of the 36 patients (59% of the treated) recovered.",
            "In all 17 of the 36 patients (59%) recovered.",
        ),
        (
            "NUM101",
            "The rate was 91.6%; 10 of the 120 women (8.3%) left.",
            "The rate was 91.6%; 10 of the 120 women left.",
        ),
        (
            "NUM101",
            "It was right in 95% (56/61 of the ill; 245/258 of the well).",
            "It was right in 95% (56/61 of the ill).",
        ),
        (
            "NUM101",
            "Of this 4.3%, 21 of the 26 were in one group.",
            "It is 4.3%, 21 of the 26 in one group.",
        ),
        (
            "NUM101",
            "There were 20 women (28.6%) with a score of 60.",
            "There were 20 women (28.6%) of 60.",
        ),
        (
            "NUM101",
            "We saw 218 k [46%] of all 450 k probes.",
            "We saw 218 [46%] of all 450 probes.",
        ),
        ("NUM101", "It ranks in the top 5% (58/1677).", "It ranks in 5% (58/1677)."),
        (
            "NUM101",
            "One hundred and sixty-three of 176 women (92.6%) came.",
            "Sixty-three of 176 women (92.6%) came.",
        ),
        (
            "NUM101",
            "Mortality was 39/1000 births, 94% in villages.",
            "Mortality was 39/100 births, 94% in villages.",
        ),
        (
            "NUM101",
            "Events of grade 3/4 in one arm (93.2%) were few.",
            "Events in 3/4 in one arm (93.2%) were few.",
        ),
        (
            "NUM101",
            "Of the 27 drugs, the first was taken by 7 (8.8%), the next by 4 (5.0%).",
            "Of the 27 drugs, the first was taken by 7 (25.9%), the next by 4 (5.0%).",
        ),
        (
            "NUM101",
            "Of the 3100 proteins, 418 were new (40.7% of all new ones).",
            "Of the 3100 proteins, 418 were new (40.7%).",
        ),
        (
            "NUM101",
            "Some had less than 20/2000 vision (41%).",
            "Some had less than 20/2000 errors (41%).",
        ),
        (
            "NUM102",
            "From May until September 2012 out of 113 children 98 came.",
            "From May until September 212 out of 113 children came.",
        ),
        ("NUM102", "An R^2 of 1 means that all fit.", "We saw 2 of 1 means that all fit."),
        (
            "NUM102",
            "Deaths by day 60 of 5 patients were few.",
            "Deaths in 60 of 5 patients were few.",
        ),
        (
            "NUM111",
            "A total of 37 Scottish (4 male, 13 female) and Irish (9 male, 11 female) adults came.",
            "A total of 37 Scottish adults (14 male, 13 female) came.",
        ),
        (
            "NUM111",
            "Of the 1066 patients randomised, 1021 (n = 507 for A and n = 514 for B) came.",
            "Of the 1066 patients randomised, all (n = 507 for A and n = 514 for B) came.",
        ),
        (
            "NUM111",
            "We made ~1000 lines by two means: 619 lines by cutting and 388 lines by pasting.",
            "We made 1000 lines by two means: 619 lines by cutting and 388 lines by pasting.",
        ),
        (
            "NUM111",
            "We found 977 genes (482 genes and 478 genes with E. coli, 633 genes with both).",
            "We found 977 genes (482 genes and 478 genes with bacteria).",
        ),
        (
            "NUM111",
            "Then 41 patients were ineligible (5 were ill, 23 away and 13 were old and 4 late).",
            "Then 41 patients were ineligible (5 were ill, 23 were away and 14 were old).",
        ),
        (
            "NUM112",
            "It gained, ranging in improvement from 0.3% to 4.9% with a gain of 1.8%.",
            "It gained in strength from 0.3% to 4.9% with a gain of 1.8%.",
        ),
        (
            "NUM111",
            "In all, 13 events were reported by 10 women: 11 events in May and 2 events in June.",
            "In all, events were reported by 12 women: 11 events in May and 2 events in June.",
        ),
        (
            "NUM111",
            "In all, 351 patients were randomised 2:1 into A (233 patients) and B (118 patients).",
            "In all, 351 patients were randomised into A (233 patients) and B (128 patients).",
        ),
        (
            "NUM507",
            "We read two datasets (1781 and 1623 cells).",
            "We read two datasets (1781 to 1623).",
        ),
        (
            "NUM508",
            "The median pressure was −40 mmHg (IQR 35–50).",
            "The median pressure was 30 mmHg (IQR 35–50).",
        ),
        (
            "NUM111",
            "We used 2 cells (6 rods, 10 cones and 6 others).",
            "We used 20 cells (6 rods, 10 cones and 6 others).",
        ),
        (
            "NUM112",
            "It fell with an increase of 2 SD from 0.34 to 0.78.",
            "It fell with an increase of 2 from 0.34 to 0.78.",
        ),
        (
            "NUM112",
            "Rates were from 0.8 to 3.4 and a reduction of 0.2 to 0.35.",
            "Rates were from 0.8 to 3.4 and a reduction of 0.2.",
        ),
        (
            "NUM508",
            "The median time was 6.3 years (range, 8 days–10.8 years).",
            "The median time was 6.3 years (range, 8 years–10.8 years).",
        ),
        (
            "NUM508",
            "We took the mean of medians across 8 mice (quartiles: 0.989–1).",
            "We took the mean of 8 mice (quartiles: 0.989–1).",
        ),
        (
            "NUM112",
            "It rose from 0.3 to 4.9 with a mean increase of 1.8.",
            "It rose from 0.3 to 4.9 with an increase of 1.8.",
        ),
        (
            "NUM501",
            "The number will grow, an increase of 395 (145%).",
            "The number of smokers was 395 (145%).",
        ),
        ("NUM503", "There was one group -55 women in all.", "There was one group (-55 women)."),
        (
            "NUM506",
            "The change (mean ± SD) was small (mean change ± SD of -0.75 ± 0.56).",
            "The change was small (mean 0.2, SD of -0.75).",
        ),
        ("NUM506", "Less was lost (LS mean ± SE: −4.8% ± 2.8%).", "Less was lost (SE: −4.8%)."),
        (
            "NUM603",
            "They gained more with the drug at 1.2 mg (0.3 kg).",
            "They took the drug at 1.2 mg (0.0021 g).",
        ),
    ],
)
def test_silent_beside_what_is_told(code: str, silent: str, told: str) -> None:
    assert findings(code, silent) == []
    assert len(findings(code, told)) == 1


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


def two_texts(abstract: str, text: str) -> list[str]:
    paragraphs = [Paragraph(abstract, in_abstract=True), Paragraph(text)]
    found = recompute(Document("a", paragraphs), codes={"NUM601"}).findings
    return [finding.written for finding in found]


def test_a_sentence_of_which_nothing_is_repeated_is_of_something_else() -> None:
    said = "Mean thickness of the {} muscle with training was {} after surgery in hospital."
    abstract = said.format("right", "1.42 ± 0.48 cm, then 1.31 ± 0.45 cm")
    assert two_texts(abstract, said.format("left", "1.53 ± 0.67 cm, then 1.31 ± 0.65 cm")) == []
    assert two_texts(abstract, said.format("right", "1.42 ± 0.48 cm, then 1.31 ± 0.65 cm")) == [
        "0.65"
    ]


def test_a_whole_is_no_count_and_two_counts_may_be_one_percentage() -> None:
    row = [["Safe shock, n (%)", "113 (95.8)"], ["Severe illness, n (%)", "5 (12.5)"]]
    tables = [Table("t", "Table 1", "", [["", "Device (n = 118)"]], row)]

    def told(text: str) -> list[str]:
        found = recompute(Document("a", [Paragraph(text)], tables), codes={"NUM601"}).findings
        return [finding.written for finding in found]

    assert told("A safe shock came from 113 out of 118 (95.8%) devices.") == []
    assert told("A safe shock came from 113 (98.5%) devices.") == ["98.5"]
    assert told("Severe illness was seen in 15 (12.5%) of all.") == []


def test_sentences_end_after_brackets() -> None:
    """Not the first sentence, which names the column, but the second has the number."""
    tables = [
        Table("t", "Table 1", "", [["", "Morphine"]], [["Mean age", "59.0"], ["Weight", "71.2"]])
    ]

    def told(text: str) -> list[str]:
        document = Document("a", [Paragraph(text, ("t",))], tables)
        return [finding.written for finding in recompute(document, codes={"NUM604"}).findings]

    assert told("Of those who took morphine, the mean age was 71.2 years.") == []
    assert told("Of those who took morphine, the mean age differed (U = 50.9).") == []
    assert told("Some took morphine (n = 4). The mean age of all was 59.8 years.") == []
    assert told("Of those who took morphine, the mean age was 59.8 years.") == ["59.8"]

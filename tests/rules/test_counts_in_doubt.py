"""Counts, totals and quantities that look wrong and are not: each beside one that is."""

import pytest

from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.text import read_text
from numerate.rules.finding import Finding
from numerate.rules.recompute import recompute


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
        (
            "NUM101",
            "Of 50 patients, 30 (70%) died (HR 1.4, 95% CI 1.1 to 1.8).",
            "Of 50 patients, 30 (70%) recovered within 24 hr, five of them late.",
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


def test_a_text_is_held_against_the_table_though_the_abstract_agrees() -> None:
    rows = [["Heart rate, mean (SD)", "71.4 (8.23)"]]
    tables = [Table("t", "Table 1", "", [["", "Walking"]], rows)]
    abstract = Paragraph("It was 71.4 (8.23) in all.", in_abstract=True)
    text = Paragraph("Heart rate with walking was 71.4 (8.32).")
    found = recompute(Document("a", [abstract, text], tables), codes={"NUM601"}).findings
    assert [finding.written for finding in found] == ["8.32"]


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

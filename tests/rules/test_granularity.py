"""Whole numbers that there are are never found impossible; brute force is the oracle."""

import statistics
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.documents.document import Document, Table
from numerate.documents.text import read_text
from numerate.rules.recompute import recompute

WHOLE = ("NUM401", "NUM402")


def found(text: str, *codes: str) -> list[str]:
    return [finding.code for finding in recompute(read_text(text), codes=codes).findings]


def sentence(mean: str, deviation: str, n: int) -> str:
    return f"The mean number of falls was {mean} (SD {deviation}, n = {n})."


@given(st.lists(st.integers(0, 30), min_size=2, max_size=45), st.integers(1, 3), st.booleans())
def test_whole_numbers_are_possible(values: list[int], decimals: int, of_sample: bool) -> None:
    mean = statistics.fmean(values)
    deviation = statistics.stdev(values) if of_sample else statistics.pstdev(values)
    text = sentence(f"{mean:.{decimals}f}", f"{deviation:.{decimals}f}", len(values))
    assert found(text, *WHOLE) == []


def test_all_means_and_deviations_of_five_numbers() -> None:
    """Of all that could be written, those are found that no five whole numbers have."""
    lists = list(combinations_with_replacement(range(12), 5))
    possible = {(f"{statistics.fmean(v):.2f}", f"{statistics.stdev(v):.2f}") for v in lists}
    possible |= {(f"{statistics.fmean(v):.2f}", f"{statistics.pstdev(v):.2f}") for v in lists}
    means = {mean for mean, _ in possible}
    for hundredths in range(100, 140):
        mean = f"{hundredths / 100:.2f}"
        cut_off = f"{(hundredths + 1) / 100:.2f}"
        if mean not in means and cut_off not in means:
            assert found(sentence(mean, "1.00", 5), "NUM401") == ["NUM401"]
    for hundredths in range(50, 160, 3):
        deviation = f"{hundredths / 100:.2f}"
        if not {("3.40", f"{hundredths / 100 + step:.2f}") for step in (0, 0.01)} & possible:
            assert found(sentence("3.40", deviation, 5), "NUM402") == ["NUM402"]
        elif ("3.40", deviation) in possible:
            assert found(sentence("3.40", deviation, 5), "NUM402") == []


@pytest.mark.parametrize(
    "text",
    [
        "The mean number of falls per week was 5.19 (SD 1.34, n = 28).",
        "The mean age was 5.19 (SD 1.34, n = 28).",
        "The mean number of falls was 5.19 (SD 1.34, n = 280).",
        "The mean change in the number of falls was 5.19 (SD 1.34, n = 28).",
    ],
)
def test_other_means_are_not_judged(text: str) -> None:
    recomputed = recompute(read_text(text), codes=WHOLE)
    assert recomputed.findings == []
    assert all(coverage.recomputed == 0 for coverage in recomputed.coverage.values())


def test_in_groups_of_tables_values_may_be_missing() -> None:
    header = ["", "Drug (n = 6)", "Placebo (n = 40)"]
    body = [["Number of falls, mean (SD)", "2.53 (1.30)", "2.53 (1.30)"]]
    document = Document("a", [], [Table("t1", "Table 1", "", [header], body)])
    recomputed = recompute(document, codes={"NUM401"})
    (finding,) = recomputed.findings
    assert finding.where.column == 1
    assert recomputed.coverage["means of whole numbers"].missing == {"decimals": 1}
    body[0][1] = "2.60 (1.30)"  # of five
    assert recompute(document, codes={"NUM401"}).findings == []


@given(st.lists(st.integers(1, 7), min_size=2, max_size=30))
def test_values_on_a_scale_are_possible(values: list[int]) -> None:
    mean, deviation = statistics.fmean(values), statistics.stdev(values)
    ends = f"{mean:.2f} (SD {deviation:.2f}, n = {len(values)})"
    assert found(f"Rated on a scale from 1 to 7, it had a mean of {ends}.", "NUM403") == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Rated on a scale from 1 to 7, it had a mean of 7.4 (SD 1.0).", 1),
        ("Rated on a scale from 1 to 7, the mean change was −1.4 (SD 1.0).", 0),
        ("Rated on a scale from 1 to 7, it had a mean of 1.4 (SD 3.1).", 1),
        ("Ages ranged from 20 to 30. The mean duration was 17.9 (SD 2.0).", 0),
    ],
)
def test_scales(text: str, number: int) -> None:
    assert len(found(text, "NUM403")) == number


def test_scales_of_tables() -> None:
    body = [["Pain (VAS, 0–10)", "2.3 (4.9)", "3.1 (2.0)"]]
    table = Table("t1", "", "Values are mean (SD)", [["", "A (n = 20)", "B (n = 20)"]], body)
    (finding,) = recompute(Document("a", [], [table]), codes={"NUM403"}).findings
    assert finding.written == "4.9"


@given(st.integers(1, 60), st.data(), st.integers(0, 1))
def test_percentages_of_whole_numbers_are_possible(
    whole: int, data: st.DataObject, decimals: int
) -> None:
    part = data.draw(st.integers(0, whole))
    text = f"In the end {100 * part / whole:.{decimals}f}% of the {whole} patients recovered."
    assert found(text, "NUM404") == []


@pytest.mark.parametrize(
    "text",
    [
        "In the end about 27% of the 20 patients recovered.",
        "We assumed that 27% of 20 patients would recover.",
        "In the end 27% of the 200 patients recovered.",
        "In the end 5 (27%) of the 20 patients recovered.",  # for the rule that knows counts
    ],
)
def test_percentages_that_are_not_judged(text: str) -> None:
    assert found(text, "NUM404") == []

"""Estimates and intervals in the notations of real articles."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from numerate.documents.document import Document, Table
from numerate.documents.text import read_text
from numerate.rules.families.interval_tests import _implied_p
from numerate.rules.reading import ReadDocument
from numerate.rules.recompute import recompute
from numerate.rules.reported_intervals import intervals_in_text
from numerate.rules.scale import DIFFERENCE, LOG, RATIO
from numerate.rules.tabulated_intervals import intervals_in_tables

CODES = {"NUM201", "NUM202", "NUM203", "NUM204", "NUM205"}
READ = [
    ("RR = 0.61 (95% CI 0.54 to 0.69)", 0.61, 0.54, 0.69),
    ("HR 0.98 (95% CI, 0.85 to 1.14; P = 0.81)", 0.98, 0.85, 1.14),
    ("a mean difference of −4.2 kg [95% CI −6.0 to −2.4]", -4.2, -6.0, -2.4),
    ("OR = 1.89, 95% CI = 1.16–3.07, p = .010", 1.89, 1.16, 3.07),
    ("the odds ratio (95% CI) of 0.33 (0.08, 1.48)", 0.33, 0.08, 1.48),
    ("the change was −3.8 (95% CI: −6.2 to −1.3) kg", -3.8, -6.2, -1.3),
    ("b = − 0.07; 95% confidence interval (CI): − 0.40, 0.27", -0.07, -0.40, 0.27),
    ("a rate of 1.8 × 10^−9 (95% CI = 1.1–2.7 × 10^−9)", 1.8e-9, 1.1e-9, 2.7e-9),
    ("95% CI=−0.77 (-1.33 to -0.20)", -0.77, -1.33, -0.20),
    ("treatment differences [95% CI] of 8.9% [4.1% to 13.8%]", 8.9, 4.1, 13.8),
    ("HR = 2.1; p=0.009; 95% CI 1.2–3.6", 2.1, 1.2, 3.6),
    ("HR 0.61 (CI 95%: 0.54-0.69)", 0.61, 0.54, 0.69),
    ("a difference of 1.2 (95% CI 0.5 -1.9)", 1.2, 0.5, 1.9),
    ("a difference of −1.3 minutes (95% CI-21.4 to 18.9)", -1.3, -21.4, 18.9),
    ("deaths (relative risk, 95% CI 4.10, 1.32–12.75)", 4.10, 1.32, 12.75),
    ("levels (estimate, 95% CI 213 ng/mL, 176–259)", 213.0, 176.0, 259.0),
    ("a score of 8.51 (CI, 7.72, 9.30)", 8.51, 7.72, 9.30),
    ("a score of 80 (median = 79; max = 100; 95 % CI = [74, 87])", 80.0, 74.0, 87.0),
    ("more deaths (HR; 95% CI: 1.21; 0.93–1.57)", 1.21, 0.93, 1.57),
    ("a mean difference of −4.2 kg (95% CI −6.0 to-2.4)", -4.2, -6.0, -2.4),
    ("a mean difference of −4.2 kg (95% CI −6.0/-2.4)", -4.2, -6.0, -2.4),
    ("a mean difference of −£31 [95% CI = −£80, £18]", -31.0, -80.0, 18.0),
    ("a difference of −4.2 kg (95% confidence interval- 6.0, 2.4)", -4.2, -6.0, 2.4),
    ("a difference of −4.2 kg (95% CI −6.0– − 2.4)", -4.2, -6.0, -2.4),
    ("a slope of −0.028 [95% CI –0.035 –0.021]", -0.028, -0.035, -0.021),
    ("a slope of 49.1 (95% CI 39.5 -–58.6)", 49.1, 39.5, 58.6),
    ("β = −6.9⁢e-⁢5, 95% CI: –0.002, 0.002", -6.9e-5, -0.002, 0.002),
    ("a difference of 5.2% (2-sided 90% CI +1.3 to +9.1%)", 5.2, 1.3, 9.1),
]
WITHOUT_ESTIMATE = [
    "it fell from 12 to 8 (95% CI 1 to 7)",
    "of 120 patients (95% CI 0.1 to 0.3)",
    "after 6 months (95% CI 7.4% to 23.2%)",
    "an incidence per 100 pyrs (95% CI 2.47–3.52)",
    "1000 bootstrap 95% CI [−0.62, −0.26]",
    "2.43 ± 0.10% (95% CI 2.22 to 2.63)",
    "a fall by 8.1% (SD, 10.2%; 95% CI, 6.0% to 10.2%)",
    "no inferiority (t _1154=3.812, P<.001, 95% CI –0.52 to 4.01)",
    "greater height (301 v. 244 μm; 95% CI of difference 18–96 μm)",
    "2.1% with zinc and 30.4% without (95% CI for difference −36 to −20%)",
    "41% at home, 46% elsewhere (95% CI −6 to 16%, p = 0.40)",
    "a response (drug: 52%, p = 0.004, 95% CI 1.31-5.12)",
    "a better score (P _trend=.001, 95% CI 0.02-0.09)",
    "a half-life of 121 minutes vs. after treatment 65 minutes, 95% CI (0.32, 0.91)",
    "less anxiety (p_bonf_corr = 1.0, CI [−0.054 to 0.094])",
    "a fall by −1.77 kg; 95 % 95 % CI: −2.64 to −0.91",
    "an effect on Time 2 flossing, p < 0.01, CI 95 % [.25, .90]",
    "toxicity of grade ≥ 2 (95% CI 52% to 83%)",
    "more activity (ES = 1.6, CI = 4.2–9.1, p < 0.05)",
    "an increase in 2hG (95% CI 0.18–0.28)",
    "D = 0.06 and 25% immobile (95% CI 0.055–0.070 and 24–26%, respectively)",
]


@pytest.mark.parametrize(("text", "estimate", "low", "high"), READ)
def test_estimates_with_their_intervals(
    text: str, estimate: float, low: float, high: float
) -> None:
    (one,) = intervals_in_text(ReadDocument(read_text(f"We found {text}.")))
    assert one.estimate is not None
    assert [float(one.estimate), float(one.low), float(one.high)] == [estimate, low, high]


@pytest.mark.parametrize("text", WITHOUT_ESTIMATE)
def test_what_an_interval_is_for_may_be_unclear(text: str) -> None:
    read = read_text(f"We found {text}.")
    (one,) = intervals_in_text(ReadDocument(read))
    assert one.estimate is None
    assert recompute(read, codes={"NUM201"}).coverage["estimates with intervals"].missing


def test_several_estimates_under_one_name() -> None:
    text = "odds ratios (95% CI) of 0.33 (0.08, 1.48) and 0.51 (0.14, 1.91), respectively"
    found = list(intervals_in_text(ReadDocument(read_text(text))))
    assert [float(one.high) for one in found] == [1.48, 1.91]
    assert [one.scale for one in found] == [RATIO, RATIO]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("The odds ratio was 0.71 (95% CI 0.54 to 0.69).", ["NUM201"]),
        ("The mean difference was −0.44 [95% CI 0.04–0.85].", ["NUM201"]),
        ("Weight was 1.56 kg (95% CI −2.27 to −0.86) lower.", []),
        ("The effect (b = .81, 95% CI 1.05–4.84) was large.", []),
        ("The mean difference was 0.27 (95% CI 0.44, 0.10).", ["NUM202"]),
        ("The mean difference was 3.1 (95% CI 0.2 to 4.4).", ["NUM203"]),
        ("The bootstrapped mean difference was 3.1 (95% CI 0.2 to 4.4).", []),
        ("The median was 3.1 (95% CI 0.2 to 4.4).", []),
        ("The mean was 2.0 (95% CI 1.0 to 4.0).", []),  # on the logarithmic scale
        ("The hazard ratio was 0.72 (95% CI 0.51–1.00; p = 0.53).", ["NUM204"]),
        ("The hazard ratio was 0.72 (95% CI 0.51–1.00; p = 0.053).", []),
        ("The hazard ratio was 0.72 (95% CI 0.51–1.00; p for interaction = 0.53).", []),
        ("The hazard ratio was 0.72 (95% CI 0.51–1.00; Bonferroni-corrected p = 0.53).", []),
        ("The slope was 0.20, SE = 0.008, 95% CI [0.04, 0.36].", ["NUM205"]),
        ("Function improved by 17 units (95% CI −29 to −5).", []),
        ("The hazard ratio was 0.94 (95% CI, 0.59, 1,51).", []),  # a decimal comma
        ("Binding was 85%, CI 5% and 83%, CI 9%, respectively.", []),  # half-widths
        ("They diverged 1.3 Mya (95% CI 1.88–0.93).", []),  # the older first
        ("They differed, t_(90) = 2.06, p = 0.04, 95% CI [−0.81, −0.02].", []),
        ("No differences, F_(1, 91) = 1.56, p = 0.21, 95% CI [–0.29, 1.25].", []),
        ("The absolute difference was 19.3% (95% CI 10.3 to 27.8).", []),
        ("The odds ratio was 2.33 (95% CI 1.23 to 4.76).", []),  # by profile likelihood
        ("The odds ratio was 2.93 (95% CI 1.23 to 4.76).", ["NUM203"]),
        ("The mean was 29.92 (SEM = 1.29, 95% CI 24.37 to 35.46).", []),  # of three values
        ("The proportion was 0.85 (95% CI 0.66 to 1).", []),
        ("They were right in 81% and later in 85%, CI = [0.72, 0.92].", []),
        ("There were savings of £66 (95% CI −93 to −39).", []),
        ("The intraclass correlation coefficient (95% CI) was 0.79 (0.64–0.88).", []),
        ("In a logistic model the coefficient was 5.23 (95% CI 4.61–5.94).", []),
        ("We give CIs (95%, 80%, 67%, and 51%) of all.", []),
        ("The geometric mean was 1.3 (95% CI 0.4 to 2.6).", []),  # of values with one added
        ("The odds ratio was 8.4 (95% CI 0.9 to 200).", []),  # few counts, an exact interval
        ("The mean ratio, %, was 101.3 (95% CI 95.5 to 107.3; p = 0.67).", []),
        ("The odds ratio was 5.9 (95% CI 2.2 to 20.0; p = 0.0005).", []),  # by likelihood
        ("The odds ratio was 1.28 (95% CI 1.02 to 1.24; p = 0.02).", ["NUM201"]),
    ],
)
def test_what_is_found(text: str, codes: list[str]) -> None:
    assert [finding.code for finding in recompute(read_text(text), codes=CODES).findings] == codes


def test_an_asymmetric_method_is_no_error() -> None:
    rows = [["A", "1.5 (1.0–4.0)"], ["B", "1.6 (1.1–5.0)"], ["C", "1.4 (0.9–3.9)"]]
    table = Table("t1", "Table 1", "", [["", "Odds ratio (95% CI)"]], rows)
    recomputed = recompute(Document("a", [], [table]), codes={"NUM203"})
    assert recomputed.findings == []
    assert recomputed.coverage["symmetric intervals"].missing.total() == 3
    table.body += [[f"R{i}", "2.0 (1.0–4.0)"] for i in range(5)]
    assert len(recompute(Document("a", [], [table]), codes={"NUM203"}).findings) == 3


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (["", "OR (95% CI)", "p"], ["Age", "0.61 (0.54–0.69)", "<0.001"]),
        (["", "OR", "95% CI", "P value"], ["Age", "0.61", "0.54–0.69", "<0.001"]),
        (["", "OR", "95% CI", "95% CI", "P"], ["Age", "0.61*", "0.54", "0.69", "<0.001"]),
        (["", "OR", "Lower CI", "Upper CI", "P"], ["Age", "0.61", "0.54", "0.69", "<0.001"]),
        (["", "P", "OR (95% CI)"], ["Age", "<0.001", "0.61 (0.54, 0.69)^a"]),
    ],
)
def test_columns_of_tables(header: list[str], row: list[str]) -> None:
    for table in (
        Table("t1", "", "", [header], [row]),
        Table("t1", "", "", [], [list(cells) for cells in zip(header, row, strict=True)]),
    ):
        (one,) = intervals_in_tables(ReadDocument(Document("a", [], [table])))
        assert one.estimate is not None
        assert [float(one.estimate), float(one.low), float(one.high)] == [0.61, 0.54, 0.69]
        assert one.scale == RATIO
        assert one.p is not None
        assert one.p.relation == "<"


@pytest.mark.parametrize("error", ["STE", "Robust Standard. Error", "Std. Err.", "S.E."])
def test_standard_errors_are_no_estimates(error: str) -> None:
    header = ["", "Odds Ratio", error, "p", "95% CI.", "95% CI."]
    table = Table("t1", "", "", [header], [["Age", "0.96", "0.07", "0.62", "0.83", "1.11"]])
    (one,) = intervals_in_tables(ReadDocument(Document("a", [], [table])))
    assert one.estimate is not None
    assert float(one.estimate) == 0.96


@pytest.mark.parametrize(
    ("header", "row", "estimate"),
    [
        (
            ["", "B", "Beta", "95% CI", "p"],
            ["Age", "−6.13", "−0.31", "−9.95 to −2.30", "0.002"],
            -6.13,
        ),
        (["", "Mean", "Maximum", "95% CI"], ["Error", "0.11", "0.26", "0.00–0.24"], 0.11),
        (["", "Mean", "SD (95% CI)"], ["Change", "0.1", "1.2 (−0.2, 0.4)"], None),
        (["", "Mean", "P value (95% CI)"], ["Pain", "1.7", "0.001* (1 to 2.4)"], None),
        (["", "Mean", "S. E", "95% CI"], ["Period", "26.7", "0.04", "26.6–26.8"], 26.7),
        (["", "β", "± se", "95% CI"], ["Age", "1.21", "0.09", "1.03, 1.39"], 1.21),
        (
            ["", "β", "SE", "Beta", "p", "95% CI"],
            ["Age", "−1.4", "0.4", "−0.2", "0.001", "−2.3, −0.6"],
            -1.4,
        ),
        (["", "Test", "Test stat.", "CI"], ["A", "t", "5.01", "0.23–0.57"], None),
        (["", "β", "ICC class", "95% CI"], ["Climate", "−0.02", "0.45", "−0.16, 0.12"], None),
        (["", "A", "B", "CI"], ["Skills", "78%", "56%", "−0.07–0.27"], None),  # of their difference
        (["", "Diff", "Effect size", "95% CI"], ["Errors", "−2.8", "1.1", "1.5–4.1"], None),
    ],
)
def test_what_intervals_of_tables_are_of(
    header: list[str], row: list[str], estimate: float | None
) -> None:
    document = Document("a", [], [Table("t1", "", "", [header], [row])])
    (one,) = intervals_in_tables(ReadDocument(document))
    assert (None if one.estimate is None else float(one.estimate)) == estimate


def test_standard_errors_of_coefficients_beside_intervals_of_ratios() -> None:
    header = ["", "Coef.", "SE", "Hazard ratio", "95% CI of the hazard ratio"]
    row = ["Zinc", "−0.667", "0.486", "0.513", "[0.191, 1.324]"]
    document = Document("a", [], [Table("t1", "", "", [header], [row])])
    assert recompute(document, codes={"NUM205"}).findings == []


def test_standard_errors_are_of_the_estimate_before_them() -> None:
    header = ["", "Effect", "SE", "95% CI", "Cohen's d", "95% CI"]
    row = ["Mood", "−0.51", "0.26", "−1.02 to 0.00", "−0.14", "−0.30 to 0.02"]
    document = Document("a", [], [Table("t1", "", "", [header], [row])])
    assert recompute(document, codes={"NUM205"}).findings == []


def test_columns_under_different_headers_are_no_bounds() -> None:
    header = [["", "% positive", "GMC"], ["", "(95% CI)", "(95% CI)"]]
    document = Document("a", [], [Table("t1", "", "", header, [["Type 1", "100", "2.67"]])])
    assert list(intervals_in_tables(ReadDocument(document))) == []


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (["", "OR (95% CI)", "RR (95% CI)", "p"], ["A", "3.3 (0.8–15)", "1.7 (1.04–2.83)", "0.2"]),
        (["", "OR (95% CI)", "p"], ["A", "3.77 (2.37–5.99)", "1"]),  # the last digit of `<0.00|1`
    ],
)
def test_p_values_that_are_not_of_one_interval(header: list[str], row: list[str]) -> None:
    document = Document("a", [], [Table("t1", "", "", [header], [row])])
    assert all(one.p is None for one in intervals_in_tables(ReadDocument(document)))


def test_what_is_no_interval_in_a_column_of_intervals() -> None:
    rows = [["R^2/adjusted R^2", "0.28/0.21"], ["p", "1,00 × 10^−55"], ["A", "(−0.3/0.2)"]]
    document = Document("a", [], [Table("t1", "", "", [["", "95% CI"]], rows)])
    (one,) = intervals_in_tables(ReadDocument(document))
    assert [float(one.low), float(one.high)] == [-0.3, 0.2]


def test_bounds_may_have_a_header_below_that_of_the_interval() -> None:
    header = [
        ["", "", "", "95% CI", "95% CI", "", ""],
        ["Names", "Estimate", "SE", "Lower", "Upper", "t", "p"],
    ]
    row = ["Age", "0.21", "0.01", "0.19", "0.23", "26.5", "<0.001"]
    document = Document("a", [], [Table("t1", "", "", header, [row])])
    (one,) = intervals_in_tables(ReadDocument(document))
    assert one.estimate is not None
    assert one.error is not None
    assert [str(one.estimate), str(one.low), str(one.error)] == ["0.21", "0.19", "0.01"]


def test_headers_may_stand_above_empty_ones() -> None:
    header = [
        ["", "Rate", "Difference", "P", "Difference", "P"],
        ["", "", "95% CI", "", "95% CI", ""],
    ]
    row = ["95% CI", "(49, 80)", "(−11, 32)", "0.39", "(12, 55)", "0.01"]
    document = Document("a", [], [Table("t1", "", "", header, [row])])
    found = list(intervals_in_tables(ReadDocument(document)))
    assert len(found) == 3
    assert all(one.estimate is None for one in found)


def test_one_table_may_have_asymmetric_intervals() -> None:
    asymmetric = [[f"R{i}", f"{10 + i}", f"{4 + i}–{13 + i}"] for i in range(4)]
    symmetric = [[f"R{i}", f"{10 + i}", f"{7 + i}–{13 + i}"] for i in range(9)]
    tables = [
        Table(f"t{i}", "", "", [["", "Mean difference", "95% CI"]], rows)
        for i, rows in enumerate((asymmetric, symmetric))
    ]
    assert recompute(Document("a", [], tables), codes={"NUM203"}).findings == []
    tables[0].body[2:] = []
    assert len(recompute(Document("a", [], tables), codes={"NUM203"}).findings) == 2


def test_intervals_of_several_arms_are_no_bounds() -> None:
    header = ["", "[95% CI]", "[95% CI]", "[95% CI]"]
    document = Document("a", [], [Table("t1", "", "", [header], [["Nausea", "0.4", "0.3", "0.1"]])])
    assert list(intervals_in_tables(ReadDocument(document))) == []


def test_exponentials_of_coefficients_are_ratios() -> None:
    row = ["Age", "1.010", "0.822–1.241", "0.924"]
    table = Table("t1", "", "", [["", "Exp(β)", "95% CI", "p"]], [row])
    (one,) = intervals_in_tables(ReadDocument(Document("a", [], [table])))
    assert one.scale == RATIO


def test_notes_say_by_what_method() -> None:
    table = Table("t1", "", "", [["", "OR (95% CI)"]], [["A", "0.31 (0.07–0.90)"]])
    assert recompute(Document("a", [], [table]), codes={"NUM203"}).findings
    table.notes = "Exact McNemar tests."
    assert not recompute(Document("a", [], [table]), codes={"NUM203"}).findings


def test_standard_errors_of_tables() -> None:
    header = ["Name", "Estimate", "SE", "t-Stat", "DF", "p-Value", "Lower CI", "Upper CI"]
    row = ["slope", "0.20", "0.008", "2.5", "22", "0.02", "0.04", "0.36"]
    document = Document("a", [], [Table("t1", "", "", [header], [row])])
    (finding,) = recompute(document, codes={"NUM205"}).findings
    assert finding.written == "0.008"


@pytest.mark.parametrize("z", [0.3, 1.0, 1.96, 3.0, 6.0])
def test_the_p_value_of_an_interval(z: float) -> None:
    """That of the Wald test whose estimate and standard error it was made of."""
    error = 0.1
    low, high = (z + side * stats.norm.ppf(0.975) for side in (-1, 1))
    texts = [f"{math.exp(value * error):.6f}" for value in (z, low, high)]
    text = "The odds ratio was {} (95% CI {} to {}), p = 0.5.".format(*texts)
    (one,) = intervals_in_text(ReadDocument(read_text(text)))
    implied = _implied_p(one, RATIO)
    assert implied is not None
    p = 2 * stats.norm.sf(z)
    assert implied.low <= p * 1.001
    assert implied.high >= p * 0.999


def test_scales() -> None:
    def scale(text: str) -> object:
        (one,) = intervals_in_text(ReadDocument(read_text(text)))
        return one.scale

    assert scale("an adjusted HR of 0.61 (95% CI 0.54 to 0.69)") == RATIO
    assert scale("a mean difference of 0.61 (95% CI 0.54 to 0.69)") == DIFFERENCE
    assert scale("the geometric mean was 61 (95% CI 54 to 69)") == LOG
    assert scale("the mean prevalence was 61 (95% CI 54 to 69)") is None
    assert scale("odds ratio or mean difference, 61 (95% CI 54 to 69)") is None


@given(st.booleans(), st.floats(-3, 3), st.floats(0.05, 2), st.integers(2, 3), st.integers(5, 300))
def test_intervals_as_programs_make_them_are_right(
    is_ratio: bool, estimate: float, error: float, decimals: int, df: int
) -> None:
    """A Wald interval of a ratio, or one of a difference by t, with its p-value, all rounded."""
    if is_ratio:
        quantile, p = stats.norm.ppf(0.975), 2 * stats.norm.sf(abs(estimate) / error)
        values = [math.exp(estimate + side * quantile * error) for side in (0, -1, 1)]
    else:
        quantile, p = stats.t.ppf(0.975, df), 2 * stats.t.sf(abs(estimate) / error, df)
        values = [estimate + side * quantile * error for side in (0, -1, 1)]
    name = "hazard ratio" if is_ratio else "mean difference"
    one, low, high = (f"{value:.{decimals}f}" for value in values)
    text = f"The {name} was {one} (95% CI {low} to {high}; p = {p:.3f})."
    assert recompute(read_text(text), codes=CODES).findings == []

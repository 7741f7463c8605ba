"""Tests in the notations of real articles; every right statement has its p-value by SciPy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from numerate.documents.document import Document, Table
from numerate.documents.text import read_text
from numerate.rules.recompute import recompute

HOLDS = [
    "t(28) = −2.05, p = .049",
    "t28=2.05; P=0.050",
    "t_28 = 2.05, p = 0.0498",
    "t _28=−2.05, P=.050",
    "t = 2.05, df = 28, P < 0.05",
    "t = 2.05 with 28 degrees of freedom (P = 0.05)",
    "p = 0.05, t(28) = 2.05",
    "t(27.6) = 2.05, d = 0.4, 95% CI [0.1, 0.9], p = .05",
    "F(1,139) = 4.2, p = .042",
    "F1,139=4.2, p=0.042",
    "F_1,139 = 4.2; p = 0.042",
    "F_(1, 139) = 4.2, MSE = 12.1, η_p^2 = 0.03, p = .042",
    "F_{1,139} = 4.2, p = 0.042",
    "F = 4.2 (df 1, 139), p = 0.042",
    "F = 4.2, df = 1,139, p = 0.042",
    "χ^2(2, N = 120) = 5.3, p = .071",
    "χ2(2) = 5.3, p = .071",
    "χ^2_2 = 5.3, p = 0.07",
    "chi-square(2) = 5.3, P = 0.07",
    "X2(2, N=120)=5.3, p=0.07",
    "χ² = 5.3, df = 2, p = 0.07",
    "z = 2.10, p = .036",
    "Z = –2.10; p-value = 0.036",
    "r(48) = .31, p = .03",
    "r = 0.31 (n = 50, p = 0.03)",
    "Q(12) = 30.4, p = 0.002",
    "t(28) = 0.31, p = n.s.",
    "t(28) = 0.31, P > 0.05",
    "F(2, 300) = 45.1, p = 0.000",
    "F(2, 300) = 45.1, p < 10^−15",
    "F(2, 300) = 45.1, p = 7.5 × 10^−18",
    "F(139,1) = 4.2, p = .042",
    "p = .05 (F(2, 20) = 3.5)",
    "z = 0.30, p = 0.770",  # a zero was appended
    "t(21) = 1.77, p > 0.090",
    "t(604) = 2.225, p = 0.027",  # rounded to 0.0265 before
    "t(24) = 8.04, p = 0.001",  # or less
    "F(8, 1080) = 457.84, p = 2.2e-16",  # the least that a program tells
    "z = −6.8774, p = 6.097 e-12",
    "F(1,139) = 4.2, MSE < 0.01, p = .042",
    "r(63) = 0.73, p = 6e^-12",
    "t_(1, 24) = 2.1, p = 0.046",
]
CANNOT_HOLD = [
    ("t(28) = −2.05, p = .49", ".49"),
    ("t28=2.05; P=0.005", "0.005"),
    ("t = 2.05, df = 28, P < 0.01", "0.01"),
    ("F1,139=4.2, p=0.42", "0.42"),
    ("F = 4.2 (df 1, 139), p < 0.001", "0.001"),
    ("χ^2(2, N = 120) = 5.3, p = .007", ".007"),
    ("z = 2.10, p = .36", ".36"),
    ("r(48) = .31, p = .3", ".3"),
    ("t(28) = 3.31, p > 0.05", "0.05"),
    ("t = 1.20, p < 0.001", "0.001"),  # with whatever degrees of freedom
    ("χ^2 = 0.5, p = 0.02", "0.02"),
    ("t(28) = 2.05, p = 49", "49"),
    ("r(48) = 31, p = .03", ".03"),
    ("z = 0.30, p = 0.710", "0.710"),
    ("t(21) = 2.10, p > 0.05", "0.05"),
    ("t(24) = 2.04, p = 0.001", "0.001"),
]
UNKNOWN = [
    ("t = 2.05, p = .049", "degrees of freedom"),
    ("F = 2.05, p = .049", "degrees of freedom"),
    ("t_(8, 777) = 0.6338, p = 0.5423", "degrees of freedom"),  # a decimal comma
    ("r = .31, p = .03", "sample size"),
    ("t(28) = 2.05, p_corr = .49", "uncorrected p-values"),
    ("t(28) = 2.05, p = .49, Bonferroni corrected", "uncorrected p-values"),
    ("Fisher’s exact: χ^2(1, N = 87) = 5.22, p = .03", "uncorrected p-values"),
    ("z = 1.248; p = 0.813 adjusted", "uncorrected p-values"),
]
NO_TESTS = [
    "at t = 2.05 h, 3 of 4",
    "p < 0.05 from t = 0 hours",
    "faster (t = 5.06; others: p = 0.13)",
    "Q1 = 1.0, Q3 = 4.0, p = 0.5",
    "F = 4.2",
    "Spearman r = .3, p = .9",
]


@pytest.mark.parametrize("text", HOLDS)
def test_right_ones_are_recomputed(text: str) -> None:
    recomputed = recompute(read_text(f"It differed ({text})."), codes={"NUM301"})
    assert recomputed.findings == []
    assert recomputed.coverage["tests"].recomputed == 1


@pytest.mark.parametrize(("text", "written"), CANNOT_HOLD)
def test_wrong_ones_are_found(text: str, written: str) -> None:
    (finding,) = recompute(read_text(f"It differed ({text})."), codes={"NUM301"}).findings
    assert finding.written == written


@pytest.mark.parametrize(("text", "missing"), UNKNOWN)
def test_what_cannot_be_told_is_said(text: str, missing: str) -> None:
    recomputed = recompute(read_text(f"It differed ({text})."), codes={"NUM301"})
    assert recomputed.findings == []
    assert recomputed.coverage["tests"].missing == {missing: 1}


@pytest.mark.parametrize("text", NO_TESTS)
def test_what_only_looks_like_a_test_is_none(text: str) -> None:
    assert recompute(read_text(text), codes={"NUM301"}).coverage == {}


def test_several_tests_have_their_own_p_values() -> None:
    text = (
        "before, t(28) = 2.05, p = .05, and after, t(28) = 3.67, p = .001; F(1, 28) = 1.2, p = .28."
    )
    recomputed = recompute(read_text(text), codes={"NUM301"})
    assert recomputed.findings == []
    assert recomputed.coverage["tests"].recomputed == 3


def test_one_sided_p_values_are_allowed_where_the_document_speaks_of_any() -> None:
    statement = "It differed (t(28) = 2.05, p = .025)."
    (finding,) = recompute(read_text(statement), codes={"NUM301"}).findings
    assert "one-sided" in finding.message
    said = read_text(f"Tests were one-tailed.\n\n{statement}")
    assert recompute(said, codes={"NUM301"}).findings == []


def test_p_values_may_be_corrected_for_sphericity() -> None:
    """And then they are no larger than with the fewest degrees of freedom: 1 and 47."""
    assert stats.f.sf(4.39, 4, 188) < 0.013 < stats.f.sf(4.39, 1, 47) < 0.06
    statement = "They interacted (F(4, 188) = 4.39, p = {})."
    for method, p, count in (("", 0.013, 1), ("Greenhouse", 0.013, 0), ("Greenhouse", 0.06, 1)):
        said = read_text(f"We used {method}–Geisser p-values.\n\n{statement.format(p)}")
        assert len(recompute(said, codes={"NUM301"}).findings) == count


@pytest.mark.parametrize(
    ("said", "statement", "count"),
    [
        ("P-values were adjusted for many comparisons.", "t(28) = 2.72, p = 0.044", 0),
        ("P-values were adjusted for many comparisons.", "t(28) = 2.72, p = 0.004", 1),
        ("P-values were adjusted for many comparisons.", "F(1, 1239) = 5.97, p = 0.024", 1),
        ("Benjamini and Hochberg’s adjusted p-values.", "F(1, 1239) = 5.97, p = 0.024", 0),
        ("Benjamini and Hochberg’s adjusted p-values.", "F(1, 1239) = 5.48, p = 0.024", 0),
        ("All were adults.", "t(28) = 2.72, p = 0.044", 1),
        ("We compared variances.", "F(22, 22) = 0.811, p = 0.63", 1),
        ("All were adults.", "the ratio of variances was F(22, 22) = 0.811, p = 0.63", 0),
        ("All were adults.", "T = 24 days, T&P = 11 days, p = 0.04", 0),
        ("All were adults.", "χ^2 > 50, p < 2 × 10^-12", 0),
        ("A Bonferroni correction was applied to both.", "F(2, 8) = 11.70, p = 0.008", 0),
        ("A Bonferroni correction was applied to both.", "F(2, 8) = 11.70, p = 0.006", 1),
        ("We used Wilcoxon’s test.", "Z = −1.95, p = 0.065", 0),
        ("We used Wilcoxon’s test.", "Z = −2.56, p = 0.07", 1),
        ("We used t-tests.", "Z = −1.95, p = 0.065", 1),
        ("A repeated-measures ANOVA was made.", "F(2, 26) = 0.93, p = 0.379", 0),
        ("A one-way ANOVA was made.", "F(2, 26) = 0.93, p = 0.379", 1),
    ],
)
def test_what_else_may_explain_a_p_value(said: str, statement: str, count: int) -> None:
    document = read_text(f"{said}\n\nIt differed ({statement}).")
    assert len(recompute(document, codes={"NUM301"}).findings) == count


def test_effect_sizes_beside_an_f() -> None:
    header, row = ["", "F", "Z", "Pr(>F)"], ["Clade", "0.399", "−0.925", "0.82"]
    document = Document("a", [], [Table("t1", "", "", [header], [row])])
    assert recompute(document, codes={"NUM301"}).findings == []


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (["", "P", "State", "Z-Score"], [["Movement", "3.2E-6", "Increased", "3.384"]]),
        (["", "T1", "T2", "T3", "P"], [["Balance", "82.1", "85.4", "81.5", "0.17"]]),
        (["", "t", "p"], [["Balance", "82.17 (9.75)", "0.17"]]),  # a mean with its deviation
        (
            ["", "F", "Df", "P"],
            [["Between Groups", "1.03", "2", "0.36"], ["Within Times", "14.29", "1", "0.0004"]],
        ),
    ],
)
def test_columns_that_only_look_like_tests(header: list[str], rows: list[list[str]]) -> None:
    document = Document("a", [], [Table("t1", "", "", [header], rows)])
    recomputed = recompute(document, codes={"NUM301"})
    assert recomputed.findings == []
    assert sum(one.recomputed for one in recomputed.coverage.values()) == 0


def test_tables_have_estimates_that_are_not_standardised() -> None:
    header = ["", "B", "β", "SE", "t", "p"]
    row = ["Rate", "−0.337", "−0.086", "0.047", "−7.16", "<0.001"]
    document = Document("a", [], [Table("t1", "", "", [header], [row])])
    assert recompute(document, codes={"NUM302"}).findings == []


def test_zeros_may_be_appended_to_a_statistic() -> None:
    text = "Age mattered (β = −0.037, SE = 0.129, t(40) = 0.{}, p = .78)."
    assert recompute(read_text(text.format("280")), codes={"NUM302"}).findings == []
    assert recompute(read_text(text.format("270")), codes={"NUM302"}).findings != []


def test_statistics_may_be_cut_off() -> None:
    text = "Age mattered (β = −32.783, SE = 78.474, t(710) = −{}, p = .676)."
    assert recompute(read_text(text.format("0.417")), codes={"NUM302"}).findings == []
    assert recompute(read_text(text.format("0.416")), codes={"NUM302"}).findings != []


def test_statistics_are_those_of_estimates_that_are_not_standardised() -> None:
    text = "It mattered (B = −.36, β = −.31, SE = .14, t = −{}, p = .02)."
    assert recompute(read_text(text.format("2.54")), codes={"NUM302"}).findings == []
    assert recompute(read_text(text.format("2.24")), codes={"NUM302"}).findings != []


def test_the_suggestion_is_what_scipy_says() -> None:
    (finding,) = recompute(read_text("t(28) = 2.345, p = .262"), codes={"NUM301"}).findings
    assert finding.suggestion is not None
    assert finding.suggestion.text == f"{2 * stats.t.sf(2.345, 28):.3f}".removeprefix("0")
    assert "significant at 0.05" in finding.message


@pytest.mark.parametrize(
    ("header", "row", "number"),
    [
        (["Term", "t", "df", "p"], ["Age", "2.05", "28", "0.49"], 1),
        (["Term", "df", "t value", "P-value"], ["Age", "28", "−2.05*", "0.049"], 0),
        (["Term", "F (df)", "p ^a"], ["Age", "4.2 (1, 139)", "0.42"], 1),
        (["Term", "t(28)", "p"], ["Age", "2.05", "<0.01"], 1),
        (
            ["Term", "Numerator df", "Denominator df", "F", "P"],
            ["Age", "1", "139", "4.2", "0.042"],
            0,
        ),
        (
            ["Term", "χ^2", "Df", "p", "χ^2", "Df", "p"],
            ["A", "5.3", "2", "0.07", "5.3", "1", "0.07"],
            1,
        ),
        (["Term", "Z", "Sig."], ["Age", "2.1", "0.36"], 1),
        (["Term", "df", "Log ratio χ^2", "P"], ["Dose", "2", "5.3", "0.007"], 1),
        (["Term", "df", "t (p-value)"], ["Dose", "28", "2.05 (P = .049)"], 0),
        (["Term", "df", "t (p-value)"], ["Dose", "28", "2.05 (P = .49)"], 1),
        (["Term", "t (1,28)", "p"], ["Dose", "2.05", "0.049"], 0),
        (["Term", "t (1,28)", "p"], ["Dose", "2.05", "0.49"], 1),
        (["Term", "MW: Z, p"], ["Dose", "−2.10, 0.36"], 1),
        (["Term", "Comparison", "P value"], ["Dose", "χ^2 _2=5.3", "P=.07"], 0),
        (["Term", "Comparison", "P value"], ["Dose", "t(28) = 2.05", ".49"], 1),
        (["Term", "F (df)", "P"], ["Dose", "1.15 (4,436.3)", ".33"], 0),
        (["Term", "F (df)", "P"], ["Dose", "1.15 (4,436.3)", ".03"], 1),
        (["Term", "β", "SE", "Wald chi-squared", "P"], ["Dose", "0.5", "0.2", "6.25", "0.12"], 1),
    ],
)
def test_columns_of_tables(header: list[str], row: list[str], number: int) -> None:
    table = Table("t1", "Table 1", "Tests", [header], [row])
    assert len(recompute(Document("a", [], [table]), codes={"NUM301"}).findings) == number
    flipped = [list(cells) for cells in zip(header, row, strict=True)]
    assert len(recompute(Document("a", [], [Table("t1", "", "", [], flipped)])).findings) == number


@pytest.mark.parametrize(
    ("notes", "count"),
    [("Degrees of freedom = (2, 58).", 1), ("", 0), ("df = 2, 58 in men, df = 2, 41 in women.", 0)],
)
def test_degrees_of_freedom_in_notes(notes: str, count: int) -> None:
    table = Table("t1", "", "", [["", "F", "P"]], [["Dose", "3.485", "0.37"]], notes=notes)
    assert len(recompute(Document("a", [], [table]), codes={"NUM301"}).findings) == count


def test_notes_say_that_p_values_are_corrected() -> None:
    table = Table("t1", "", "", [["", "t(28)", "P"]], [["Dose", "2.05", "0.25"]])
    assert recompute(Document("a", [], [table]), codes={"NUM301"}).findings
    table.notes = "Corrected for multiple comparisons."
    assert not recompute(Document("a", [], [table]), codes={"NUM301"}).findings


def test_analysis_of_variance_has_its_residuals() -> None:
    header = ["", "Df", "Sum Sq", "F value", "Pr(>F)"]
    body = [["dose", "1", "12.1", "4.2", "0.42"], ["Residuals", "139", "400", "", ""]]
    document = Document("a", [], [Table("t1", "Table 1", "", [header], body)])
    (finding,) = recompute(document, codes={"NUM301"}).findings
    assert finding.suggestion is not None
    assert finding.suggestion.text == "0.04"
    assert {where.row for where in finding.involved} == {0, 1}


@given(
    st.sampled_from(["t", "F", "χ2", "z", "r"]),
    st.floats(0.01, 12),
    st.integers(1, 6),
    st.integers(3, 400),
    st.integers(1, 3),
    st.integers(2, 4),
)
def test_what_scipy_says_is_right(
    kind: str, value: float, df1: int, df2: int, decimals: int, digits: int
) -> None:
    """Statistic and p-value rounded, each by itself, never contradict each other."""
    p, written = {
        "t": (2 * stats.t.sf(value, df2), f"t({df2}) = {value:.{decimals}f}"),
        "F": (stats.f.sf(value, df1, df2), f"F({df1}, {df2}) = {value:.{decimals}f}"),
        "χ2": (stats.chi2.sf(value, df1), f"χ2({df1}) = {value:.{decimals}f}"),
        "z": (2 * stats.norm.sf(value), f"z = {value:.{decimals}f}"),
        "r": (
            2 * stats.t.sf(value / 12.1 * (df2 / (1 - (value / 12.1) ** 2)) ** 0.5, df2),
            f"r({df2}) = {value / 12.1:.{decimals}f}",
        ),
    }[kind]
    for said in (f"p = {p:.{digits}f}", f"p < {p * 1.01:.12f}"):
        text = f"It differed, {written}, {said}."
        assert recompute(read_text(text), codes={"NUM301"}).findings == []


def test_p_values_may_stand_before_their_statistics() -> None:
    header = ["", "p Value", "F (1, 40)", "p Value", "F (1, 40)"]
    row = ["A", "0.005", "8.80", "0.68", "0.17"]
    document = Document("a", [], [Table("t1", "Table 1", "", [header], [row])])
    recomputed = recompute(document, codes={"NUM301"})
    assert recomputed.findings == []
    assert recomputed.coverage["tests"].recomputed == 2


def test_p_values_by_resampling_do_not_follow() -> None:
    tests = "It differed, t(10) = 0.36, p = .38, t(10) = 1.80, p = .06, and t(10) = 1.30, p = .13."
    assert len(recompute(read_text(tests), codes={"NUM301"}).findings) == 3
    said = f"By bootstrapping we found how probable the t-value was.\n\n{tests}"
    recomputed = recompute(read_text(said), codes={"NUM301"})
    assert recomputed.findings == []
    assert recomputed.coverage["tests"].missing == {"a known distribution": 3}


@given(st.floats(-9, 9), st.floats(0.05, 3), st.integers(2, 4))
def test_a_statistic_is_its_estimate_divided_by_its_error(
    estimate: float, error: float, decimals: int
) -> None:
    shown = [f"{value:.{decimals}f}" for value in (estimate, error, estimate / error)]
    text = "Age mattered (β = {}, SE = {}, t(40) = {}, p = .5).".format(*shown)
    assert recompute(read_text(text), codes={"NUM302"}).findings == []

"""What holds for every rule, whatever it recomputes."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.documents.text import read_text
from numerate.errors import NumerateError
from numerate.rules.finding import Finding
from numerate.rules.reading import ReadDocument
from numerate.rules.recompute import recompute
from numerate.rules.rule import RULES, Rule, add_rule
from numerate.text.tokenizer import iter_tokens

_WRONG = [(code, text) for code, rule in sorted(RULES.items()) for text in rule.wrong]
_RIGHT = [(code, text) for code, rule in sorted(RULES.items()) for text in rule.right]
_FRAGMENTS = [
    "t(28) = 2.05", "F1,139", "F(1,139)=4.2", "χ^2(2, N = 120) = 5.3", "r = .31", "z=-1.2", "Q(3)",
    "p = .049", "p < 10^−5", "P=n.s.", "df = 1,139", "n = 20", "95% CI", "(0.54 to 0.69)", "OR",
    "mean", "SD", "±", "5.21", "SE 0.4", "1.2", "25.3%", "of 20", "patients", "12/48 (26%)", "−",
    "–", "[", "]", "(", ")", ",", ";", ". ", "=", "<", "_ref_", "Likert", "items", "total", "aged",
    "|", "\n", "\n\n", "| t | df | p |\n|---|---|---|\n| 2 | 3 | 0.9 |\n", "#", "10^", "e5", "×10",
    "12,000",
]  # fmt: skip


def found(code: str, text: str) -> list[Finding]:
    return recompute(read_text(text), codes={code}).findings


@pytest.mark.parametrize(("code", "text"), _WRONG)
def test_wrong_examples_are_found(code: str, text: str) -> None:
    findings = found(code, text)
    assert [finding.code for finding in findings] == [code]


@pytest.mark.parametrize(("code", "text"), _RIGHT)
def test_right_examples_are_not(code: str, text: str) -> None:
    assert found(code, text) == []


@pytest.mark.parametrize(("code", "text"), _WRONG)
def test_findings_point_to_numerals_as_the_tokenizer_cuts_them(code: str, text: str) -> None:
    document = read_text(text)
    read = ReadDocument(document)
    for finding in recompute(document, codes={code}).findings:
        assert finding.where in finding.involved
        for where in finding.involved:
            if where.paragraph is not None:
                source = read.paragraphs[where.paragraph].text
            elif where.row is not None and where.column is not None:
                source = read.cells[where.table or 0][where.row, where.column].text
            else:
                source = read.captions[where.table or 0].text
            if where == finding.where:
                assert source[where.start : where.end] == finding.written
            assert (where.start, where.end) in {(t.start, t.end) for t in iter_tokens(source)}
        assert finding.evidence
        assert finding.message.endswith(".")


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_rules_are_described(rule: Rule) -> None:
    assert re.fullmatch("NUM[1-9][0-9]{2}", rule.code)
    assert rule.wrong
    assert len(rule.right) >= len(rule.wrong)
    assert 0 < rule.precision <= 1
    assert rule.summary.endswith(".")
    assert rule.fix.endswith(".")
    assert "\n" not in rule.summary + rule.reason + rule.fix


def test_codes_and_names_are_unique() -> None:
    names = Counter(rule.name for rule in RULES.values())
    assert set(names.values()) == {1}
    with pytest.raises(NumerateError, match="there are two"):
        add_rule(next(iter(RULES.values())))


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    recompute(read_text(text))


@given(st.lists(st.sampled_from(_FRAGMENTS), max_size=40), st.sampled_from(["", " "]))
def test_anything_like_statements_can_be_read(fragments: list[str], between: str) -> None:
    recompute(read_text(between.join(fragments)))


@pytest.mark.parametrize("code", sorted(RULES))
def test_work_is_linear(code: str) -> None:
    """Counted in calls of functions, of ours and of the regular expressions."""
    import sys

    def calls(text: str) -> int:
        count = 0

        def profile(*_: object) -> None:
            nonlocal count
            count += 1

        document = read_text(text)
        _ = document.text
        sys.setprofile(profile)
        try:
            recompute(document, codes={code})
        finally:
            sys.setprofile(None)
        return count

    statements = " ".join([*RULES[code].wrong, *_FRAGMENTS]).replace("\n", " ") + " "
    few, many = calls(statements * 4), calls(statements * 32)
    assert many < 16 * few

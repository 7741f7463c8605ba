import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from numerate.numeral import DECIMALS, fold, is_numeral
from numerate.text.reading_rules import ReadingRules
from numerate.text.tokenizer import DEFAULT_RULES, tokenize


def texts(text: str, rules: ReadingRules = DEFAULT_RULES) -> list[str]:
    return [token.text for token in tokenize(text, rules)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("-1", "- 1"),
        ("3/4", "3 / 4"),
        ("99.8%", "99.8 %"),
        ("FEV1 H3 CO2", "fev1 h3 co2"),
        ("5mg", "5 mg"),
        ("2,000 patients", "2000 patients"),
        ("007 00.50 000", "7 0.50 0"),
        ("1.50", "1.50"),
        ("1,23", "1 , 23"),
        ("1,2345", "1 , 2345"),
        ("12345,678", "12345 , 678"),
        ("0,123", "0 , 123"),
        ("10⁶", "10 ⁶"),
        ("x² + 5", "x ² + 5"),
        ("１２．５％", "12.5 %"),
        ("٣٤", "٣ ٤"),
        ("1" * 32, "1" * 32),
        ("1.2.3", "1.2.3"),
        ("Naïve cafe\u0301", "naïve cafe\u0301"),
        ("see _cite_ and _ref_, _math_", "see _cite_ and _ref_ , _math_"),
        ("John's height", "john ' s height"),
        ("h3k27me3", "h3 k27 me3"),
    ],
)
def test_tokens(text: str, tokens: str) -> None:
    assert texts(text) == tokens.split()


SPLIT = ReadingRules(split_names=True)


def test_a_long_string_of_digits_is_a_word() -> None:
    (token,) = tokenize("1" * 55)
    assert token.text == "1" * 55
    assert not token.is_numeral
    assert not is_numeral(token.text)


def test_split_names() -> None:
    assert texts("FEV1 h3k27 5mg", SPLIT) == ["fev", "1", "h", "3", "k", "27", "5", "mg"]


characters = st.characters() | st.sampled_from(
    "0123456789.,,_ -‑–:/’'·∙²⁶½٣１aéEFIL(\u0301\n\u2009\u202f\u00a0"
)
every_rules = st.builds(ReadingRules, st.sampled_from(DECIMALS), st.booleans())


@given(st.text(characters), every_rules)
@example("_cite_1,000_ref_", DEFAULT_RULES)
@example("a\u03011", SPLIT)
@example("\x1c5\x85", DEFAULT_RULES)
@example("IL-6 5-HT 1.2.3 2020-12-31 3:05 .05 1’000 17 863 0·05", DEFAULT_RULES)
def test_offsets_give_back_the_source(text: str, rules: ReadingRules) -> None:
    position = 0
    rebuilt = ""
    for token in tokenize(text, rules):
        gap = text[position : token.start]
        assert gap == "" or gap.isspace()
        assert token.end > token.start
        rebuilt += gap + text[token.start : token.end]
        position = token.end
    assert text[position:] == "" or text[position:].isspace()
    assert rebuilt + text[position:] == text


@given(st.text(characters), every_rules)
def test_the_class_of_a_token_is_seen_from_its_text(text: str, rules: ReadingRules) -> None:
    for token in tokenize(text, rules):
        assert token.is_numeral == is_numeral(token.text)


@given(st.text(characters))
def test_every_ascii_digit_is_in_a_numeral_or_a_name(text: str) -> None:
    for token in tokenize(text):
        written = text[token.start : token.end]
        if written.isascii() and written.isdigit() and len(written) <= 32:
            assert token.is_numeral


@given(st.text(characters), st.booleans())
@example("IL‑6 5-HT 1.2.3 2020-12-31 3:05 .05 1’000 17 863 ０·05 day-1 2.2E-16", False)
def test_normalised_text_has_the_same_tokens_again(text: str, split_names: bool) -> None:
    """Numerals in their normal form, words as they stand, a line for each."""
    rules = ReadingRules(split_names=split_names)
    tokens = tokenize(text, rules)
    normal = [t.text if t.is_numeral else fold(text[t.start : t.end]) for t in tokens]
    again = tokenize("\n".join(normal), rules)
    assert [token.text for token in again] == [token.text for token in tokens]


@pytest.mark.parametrize(
    "piece",
    ["1", ",111", ".1", "1.", "-1", "A-1", "-1A", "1-AB", "1:", "1:11", "1/", "1 111 ", "’111",
     ".", "F(", "a", "é", "·1", "1·10", "10^", "day 1 ", "day-", "_cite_", "１", "-", " "],
)  # fmt: skip
def test_hostile_strings_take_time_in_proportion(piece: str) -> None:
    """Were any pattern to look back again and again, this would not end."""
    for rules in (DEFAULT_RULES, SPLIT, ReadingRules("comma")):
        for text in ("A" + piece * 2_000 + ".5", "1" + piece * 2_000 + "x"):
            tokens = tokenize(text, rules)
            assert sum(t.end - t.start for t in tokens) == len("".join(text.split()))

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from numerate.corpus.tokenizer import tokenize
from numerate.numeral import is_numeral


def texts(text: str, **options: bool) -> list[str]:
    return [token.text for token in tokenize(text, **options)]


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
        ("1.2.3", "1.2 . 3"),
        ("Naïve cafe\u0301", "naïve cafe\u0301"),
        ("see _cite_ and _ref_, _math_", "see _cite_ and _ref_ , _math_"),
        ("John's height", "john ' s height"),
        ("h3k27me3", "h3 k27 me3"),
    ],
)
def test_tokens(text: str, tokens: str) -> None:
    assert texts(text) == tokens.split()


def test_a_long_string_of_digits_is_a_word() -> None:
    (token,) = tokenize("1" * 55)
    assert token.text == "1" * 55
    assert not token.is_numeral
    assert not is_numeral(token.text)


def test_split_names() -> None:
    assert texts("FEV1 h3k27 5mg", split_names=True) == ["fev", "1", "h", "3", "k", "27", "5", "mg"]


characters = st.characters() | st.sampled_from("0123456789.,,_ -²⁶٣１aé\u0301\n\u2009")


@given(st.text(characters), st.booleans())
@example("_cite_1,000_ref_", False)
@example("a\u03011", True)
@example("\x1c5\x85", False)
def test_offsets_give_back_the_source(text: str, split_names: bool) -> None:
    position = 0
    rebuilt = ""
    for token in tokenize(text, split_names=split_names):
        gap = text[position : token.start]
        assert gap == "" or gap.isspace()
        assert token.end > token.start
        rebuilt += gap + text[token.start : token.end]
        position = token.end
    assert text[position:] == "" or text[position:].isspace()
    assert rebuilt + text[position:] == text


@given(st.text(characters))
def test_the_class_of_a_token_is_seen_from_its_text(text: str) -> None:
    for token in tokenize(text):
        assert token.is_numeral == is_numeral(token.text)


@given(st.text(characters))
def test_every_ascii_digit_is_in_a_numeral_or_a_name(text: str) -> None:
    for token in tokenize(text):
        written = text[token.start : token.end]
        if written.isascii() and written.isdigit() and len(written) <= 32:
            assert token.is_numeral

"""Places as editors count them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.serve.editors.positions import Encoding, Lines

TEXT = "a😀b 42\r\né 7\n\n𝟙2"


@pytest.mark.parametrize(
    ("encoding", "place"),
    [(Encoding.UTF_16, (0, 5)), (Encoding.UTF_8, (0, 7)), (Encoding.UTF_32, (0, 4))],
)
def test_what_stands_after_a_character_beyond_the_first_plane(
    encoding: Encoding, place: tuple[int, int]
) -> None:
    at = TEXT.index("42")
    lines = Lines(TEXT, encoding)
    assert lines.place(at) == place
    assert lines.offset(*place) == at


@pytest.mark.parametrize("encoding", Encoding)
@given(text=st.text(st.sampled_from("a1é😀\n\r\u2028\x0c ")))
def test_every_offset_is_found_again(encoding: Encoding, text: str) -> None:
    lines = Lines(text, encoding)
    for at in range(len(text) + 1):
        if text[at - 1 : at + 1] != "\r\n":  # within the end of a line nothing stands
            assert lines.offset(*lines.place(at)) == at


def test_places_that_are_not_there_are_the_nearest() -> None:
    lines = Lines("ab\ncd")
    assert lines.offset(0, 99) == 2
    assert lines.offset(9, 0) == 5
    assert lines.offset(-1, -1) == 0


def test_half_a_character_is_none() -> None:
    assert Lines("😀1").offset(0, 1) == 0


def test_other_separators_of_unicode_end_no_line() -> None:
    text = "one\u2028two\x0cthree 5"
    assert Lines(text).place(text.index("5")) == (0, 14)

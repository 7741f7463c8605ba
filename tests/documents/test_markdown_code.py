"""Code and comments of Markdown are known, whatever is around them."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from numerate.documents.markdown.code import code_and_comments
from numerate.documents.text import read_text
from numerate.rules.reading import ReadDocument

FENCED = "Text 1.\n```python\nx = 2\n\ny = 3\n```\nText 4."


def seen(text: str, name: str = "a.md") -> list[str]:
    """The numbers that rules see."""
    pieces = ReadDocument(read_text(text, name)).pieces()
    return [number.written for piece in pieces for number in piece.numbers]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (FENCED, "1 4"),
        (FENCED.replace("\n", "\r\n"), "1 4"),
        (FENCED.replace("```", "   ~~~~"), "1 4"),
        ("1\n````\n2\n```\n3\n````  \n  4", "1 4"),
        ("1\n```\n2\n~~~\n3", "1"),  # never closed
        ("1\n```2``` 3", "1 3"),  # no fence, but code
        ("Use `2 of 3` or ``4 ` 5`` of 6.", "6"),
        ("Use `<!-- 2` and 3 `-->` or 4.", "3 4"),
        ("A lone ` and 5, and\n\nanother ` and 6.", "5 6"),
        (r"An escaped \`5` and 6.", "5 6"),
        ("1 <!--\n```\n2 -->\n3\n```\n4", "1 3"),
        ("1 <!-- 2\n\n3 --> 4 <!-- 5", "1 4 5"),
        ("1\n```\n<!--\n```\n2 --> 3", "1 2 3"),
        ("<!--\n| a | b |\n|---|---|\n| 1 | 2 |\n-->\n\n3", "3"),
        ("| a | b |\n|---|---|\n| `1` | 2 |", "1 2"),  # a cell is shown as it is
    ],
)
def test_what_is_no_text_has_no_numbers(text: str, numbers: str) -> None:
    assert seen(text) == numbers.split()


def test_tildes_may_be_under_a_heading() -> None:
    text = "Title 1\n~~~~~~~\n\n5 of them.\n\nTitle 2\n~~~~~~~\n\n6 of them."
    assert seen(text, "a.rst") == seen(text, "a.txt") == ["1", "5", "2", "6"]


def test_a_backtick_may_be_a_quotation_mark() -> None:
    text = "He said ``5'' and ``6'', and `7' or `8'."
    assert seen(text, "a.tex") == seen(text, "a.txt") == ["5", "6", "7", "8"]


@given(
    st.lists(
        st.sampled_from(
            ["`", "``", "\n```\n", "~~~", "<!--", "-->", "\n\n", " \r\n ", "12", " of ", "\\", "|"]
        ),
        max_size=30,
    ).map("".join)
)
@example("<!--" * 9 + "`" * 9)
def test_every_other_character_is_at_its_place(text: str) -> None:
    document = read_text(text, "a.md")
    no_text = sorted(one for some in code_and_comments(text, "a.md") for one in some)
    assert all(start < end for start, end in no_text)
    assert all(left[1] <= right[0] for left, right in pairwise(no_text))
    read = ReadDocument(document)
    for index, paragraph in enumerate(document.paragraphs):
        hidden = read._texts[index]
        assert len(hidden) == len(paragraph.text)
        for at, (sign, other) in enumerate(zip(paragraph.text, hidden, strict=True)):
            offset, _ = document.span(paragraph, at, at + 1)
            inside = any(start <= offset < end for start, end in no_text)
            assert inside or sign == other
            assert not inside or other in "_ "

"""What an error says is one line in which nothing acts on the terminal."""

import os
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.errors import DocumentError, NumerateError, one_line, printable

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


@given(ANY_TEXT)
def test_whatever_strangers_write_is_printable(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    shown.encode("utf-8")  # does not raise
    assert printable(shown) == shown
    assert one_line(text) == " ".join(shown.split())[:300]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Größe 5 µm [b] 😀.txt", "Größe 5 µm [b] 😀.txt"),
        ("\x1b[31mred\x1b[0m\x07", r"\x1b[31mred\x1b[0m\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("gpj.\u202etxt", r"gpj.\u202etxt"),
        ("a\r\nb\tc\u2028d\u00a0e", "a  b c d e"),
        (os.fsdecode(b"caf\xe9"), r"caf\xe9"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_acts_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_every_error_is_printable() -> None:
    error = NumerateError("a\x1b[2J\n  b")
    assert str(error) == r"a\x1b[2J b"
    unreadable = DocumentError("a\udcff\n.txt", "no\x1b")
    assert (unreadable.where, unreadable.reason) == (r"a\xff .txt", r"no\x1b")
    assert str(pickle.loads(pickle.dumps(unreadable))) == str(unreadable)

"""What a model sees when it checks a file is what it would have seen, had it learnt from it."""

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.documents import read_file
from numerate.documents.document import Document
from numerate.documents.reader import Unit
from numerate.documents.text import read_text
from numerate.lm.data.dataset import SPLITS, Dataset
from numerate.lm.data.extract import Rules, extract
from numerate.lm.data.keep import Keep
from numerate.lm.data.prepare import prepare
from numerate.lm.inspect.benford import count_digits_of
from numerate.lm.inspect.digit_laws import DigitShares
from numerate.lm.model.passages import read_passages
from numerate.text.tokenizer import tokenize

SPACES = ["\n", "\r\n", "\n\n", "\r", "\t", "  ", " ", "\u00a0", "\u2009", "\u3000", "\f", "\v",
          "\x1c", "\x85", "\u2028"]  # fmt: skip
PIECES = [*SPACES, "17", "863", "1.5", ",", "day", "é", "\ufeff", "٣", "½", "IL-6", "x" * 40]
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)

NASTY = (
    "\ufeffOf 1\u00a0234 patients,\r\n 17\n863\twere  women;\r\n"
    "\r\n \t\r\n  on day 84\u00a0120 left.\u2028And 5\u3000mg.\n\x0b\n"
    "A dose of\n2,000 mg,\n\nand 3 \x85 more: 12\u2009500.\n\n\n"
)
Row = dict[str, Any]


def row_of(text: str) -> Row:
    """What a dataset says of a paragraph, by what a model is given of it."""
    tokens = tokenize(text)
    return {
        "text": text,
        "tokens": [token.text for token in tokens],
        "starts": [token.start for token in tokens],
        "ends": [token.end for token in tokens],
        "numerals": [place for place, token in enumerate(tokens) if token.is_numeral],
    }


class Listener:
    """A model that does nothing but listen to what it is given to read."""

    backbone = SimpleNamespace(texts_at_once=3)
    config = SimpleNamespace(sight="none")

    def __init__(self) -> None:
        self.heard: list[Row] = []

    def check_tables(self, tables: object) -> None:
        assert not tables

    def columns(self, tables: object) -> None:
        return None

    def read_in_view(self, texts: list[str], *_: object, **__: object) -> list[Any]:
        rows = [row_of(text) for text in texts]
        self.heard += rows
        return [SimpleNamespace(positions=row["numerals"]) for row in rows]


def heard_in(documents: list[Document]) -> list[Row]:
    listener: Any = Listener()
    for document in documents:
        for _ in read_passages(listener, document):
            pass
    rows: list[Row] = listener.heard
    return rows


def learnt_from(unit: Unit) -> list[Row]:
    rows = extract(unit, Rules(Keep.ALL)).paragraphs.to_pylist()
    return [{key: row[key] for key in row_of("")} for row in rows]


@given(texts, st.booleans(), st.booleans())
def test_texts_are_checked_as_they_are_learnt(
    tmp_path_factory: pytest.TempPathFactory, text: str, has_mark: bool, lone: bool
) -> None:
    path = tmp_path_factory.mktemp("same") / "a.txt"
    path.write_bytes(text.encode("utf-8-sig" if has_mark else "utf-8"))
    heard = heard_in(read_file(str(path)))
    assert heard == learnt_from(Unit("a.txt", "text", path.read_bytes(), lone=lone))
    typed = text if has_mark else text.removeprefix("\ufeff")
    assert heard_in([read_text(typed)]) == heard


@given(st.lists(texts, max_size=3))
def test_records_are_checked_as_they_are_learnt(
    tmp_path_factory: pytest.TempPathFactory, records: list[str]
) -> None:
    path = tmp_path_factory.mktemp("same") / "a.jsonl"
    path.write_text("\n".join(json.dumps({"body": record}) for record in records))
    heard = heard_in(read_file(str(path), field="body"))
    assert heard == learnt_from(Unit("a.jsonl", "jsonl", path.read_bytes(), field="body"))


def test_what_cannot_be_stored_is_not_seen_either() -> None:
    (row,) = heard_in([read_text("half \ud800 of 5")])
    assert row["text"] == "half ? of 5"
    assert learnt_from(Unit("a", "jsonl", b'{"text": "half \\ud800 of 5"}')) == [row]


@pytest.mark.parametrize("lone", [True, False])
def test_a_file_in_a_dataset(tmp_path: Path, lone: bool) -> None:
    """The whole way, and of each row the numerals are found again in the file."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a.txt").write_bytes(NASTY.encode())
    for name in () if lone else ("b.txt", "c.txt"):
        (folder / name).write_text(f"{name} has 1 numeral.")
    prepare(folder / "a.txt" if lone else folder, tmp_path / "out", keep="all")
    dataset = Dataset.open(tmp_path / "out")
    columns = ["document", *row_of("")]
    stored = [row for name in SPLITS for row in dataset.split(name).read(columns).to_pylist()]
    mine = {row["text"]: row for row in stored if row.pop("document").startswith("a.txt")}
    (document,) = read_file(str(folder / "a.txt"))
    assert {row["text"]: row for row in heard_in([document])} == mine
    assert [numeral for row in mine.values() for numeral in row["numerals"]]
    assert "Of 1 234 patients, 17 863 were women;" in mine
    assert [document.source.text[slice(*span)] for span in places_of_numerals(document)] == [
        "1\u00a0234", "17\n863", "84", "120", "5", "2,000", "3", "12\u2009500",
    ]  # fmt: skip


def places_of_numerals(document: Document) -> list[tuple[int, int]]:
    return [
        document.span(paragraph, token.start, token.end)
        for paragraph in document.paragraphs
        for token in tokenize(paragraph.text)
        if token.is_numeral
    ]


@given(texts)
def test_the_way_back_leads_to_the_same_characters(text: str) -> None:
    document = read_text(text)
    last = 0
    for paragraph in document.paragraphs:
        assert document.text[paragraph.start : paragraph.end] == paragraph.text
        for token in tokenize(paragraph.text):
            start, end = document.span(paragraph, token.start, token.end)
            assert start >= last
            assert text[start:end] == text[start:end].strip()
            assert " ".join(text[start:end].split()) == paragraph.text[token.start : token.end]
            place = document.source.place(start, end)
            lines = text[:start].split("\n")
            assert (place.line, place.column) == (len(lines), len(lines[-1]) + 1)
            assert document.paragraphs[place.paragraph - 1] is paragraph
            last = end
    read = "".join(paragraph.text for paragraph in document.paragraphs)
    assert "".join(read.split()) == "".join(text.split())


@given(texts)
def test_benford_counts_the_numerals_that_a_dataset_has(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    text += "\n\nand 7 more"
    # A line that is a number and nothing else makes a list of a paragraph, which is no prose.
    text = "\n".join(f"so {line}" if line.strip() else line for line in text.splitlines())
    path = tmp_path_factory.mktemp("same") / "a.txt"
    path.write_text(text, encoding="utf-8", newline="")
    rows = learnt_from(Unit("a.txt", "text", path.read_bytes()))
    numerals = Counter(row["tokens"][place] for row in rows for place in row["numerals"])
    counted = count_digits_of(str(path))
    expected = DigitShares.of("a.txt", numerals)
    np.testing.assert_array_equal(counted.counts, expected.counts)
    assert counted.numbers == expected.numbers

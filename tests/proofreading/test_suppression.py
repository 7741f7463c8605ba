"""What writers say of findings in the text is heeded, and told where it is not needed."""

import pytest
from tests.proofreading.papers import RIGHT, WRONG, FakeDetector

from numerate.checking.finding import DETECTED, RECOMPUTED
from numerate.documents.document import Document, Paragraph
from numerate.documents.text import read_text
from numerate.proofreading.proofread import proofread
from numerate.proofreading.selection import all_rules
from numerate.proofreading.suppression import suppress
from numerate.proofreading.witnesses import looked_for


def left_and_told(text: str, codes: set[str] | None = None) -> tuple[int, list[str]]:
    found = proofread(read_text(text, "a.md"))
    left, told = suppress(found, looked_for(codes or all_rules(), []))
    assert left.hidden == len(found) - len(left)
    return len(left), told


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{WRONG} <!-- numerate: ignore -->", 0),
        (f"{WRONG} <!-- numerate: ignore[NUM301] -->", 0),
        (f"{WRONG} <!-- numerate: ignore[NUM3] -->", 0),
        (f"{WRONG} % Numerate: Ignore [num301, NUM900]", 0),
        (f"{WRONG} <!-- numerate: ignore[NUM900] -->", 1),
        (f"{WRONG} numerate: ignored", 1),
        (f"{WRONG}\n{WRONG} % numerate: ignore", 1),  # that line
        (f"% numerate: ignore\n{WRONG}\n{WRONG}", 0),  # the paragraph
        (f"{WRONG}\n{WRONG}\n<!-- numerate: ignore -->", 0),
        (f"<!-- numerate: ignore -->\n\n{WRONG}\n\n{WRONG}", 1),  # the next one
        (f"{WRONG}\n\n<!-- numerate: ignore -->", 1),  # after the last there is none
        (f"{WRONG}\r\n\r\n% numerate: ignore\r\n\r\n\r\n{WRONG}\r\n", 1),
        ("| t | df | p |\n|-|-|-|\n| 2.05 | 28 | 0.49 <!-- numerate: ignore --> |", 0),
    ],
)  # fmt: skip
def test_what_it_is_about(text: str, left: int) -> None:
    assert left_and_told(text)[0] == left


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{RIGHT} % numerate: ignore", "a.md:1:49: numerate: ignore is not needed"),
        (f"{RIGHT}\n% numerate: ignore[NUM301]", "a.md:2:3: numerate: ignore[NUM301] is not nee"),
        (f"{WRONG} % numerate: ignore[NUM301,NUM3x]", "a.md:1:48: numerate: ignore[NUM3x]: the"),
        (f"{RIGHT} % numerate: ignore[NUM900]", None),  # no model was asked
        (f"{WRONG} % numerate: ignore", None),
    ],
)
def test_what_is_not_needed_is_told(text: str, told: str | None) -> None:
    lines = left_and_told(text)[1]
    assert len(lines) == (told is not None)
    assert all(line.startswith(str(told)) for line in lines)


def test_of_what_is_not_looked_for_nothing_is_told() -> None:
    assert left_and_told(f"{RIGHT} % numerate: ignore[NUM301]", {"NUM900"})[1] == []
    assert left_and_told(f"{RIGHT} % numerate: ignore", {"NUM1"})[1] == []


@pytest.mark.parametrize(
    ("said", "codes", "kinds"),
    [
        ("", ("NUM301", "NUM800"), (RECOMPUTED, DETECTED)),
        ("numerate: ignore[NUM800]", ("NUM301",), (RECOMPUTED,)),
        ("numerate: ignore[NUM301]", ("NUM800",), (DETECTED,)),
        ("numerate: ignore[NUM3,NUM8]", (), ()),
        ("numerate: ignore", (), ()),
    ],
)
def test_what_else_is_said_of_the_numeral_stays(
    said: str, codes: tuple[str, ...], kinds: tuple[str, ...]
) -> None:
    detector = FakeDetector(_0_36=2.0)
    found = proofread(read_text(f"{WRONG} % {said}"), models=[detector])
    left, told = suppress(found, looked_for(all_rules(), [detector]))
    assert [(one.codes, one.kinds) for one in left] == ([(codes, kinds)] if codes else [])
    assert left.hidden == (not codes)
    assert told == []
    alone = {("NUM301",): [], ("NUM800",): [detector]}
    if codes in alone:  # as if the other had not been asked
        (one,) = left
        asked = proofread(read_text(WRONG), models=alone[codes], select=codes)
        assert (one.probability, one.message) == (asked[0].probability, asked[0].message)


def test_what_a_model_does_not_flag_needs_no_suppression() -> None:
    detector = FakeDetector()
    found = proofread(read_text(f"{WRONG} % numerate: ignore[NUM800]"), models=[detector])
    _, told = suppress(found, looked_for(all_rules(), [detector]))
    assert [line.split(": ", 1)[1] for line in told] == [
        "numerate: ignore[NUM800] is not needed: it is not found there"
    ]


def test_in_an_article_it_is_about_its_paragraph() -> None:
    document = Document("a.xml", map(Paragraph, [f"{WRONG} (numerate: ignore)", WRONG]))
    left, told = suppress(proofread(document), looked_for(all_rules(), []))
    assert [finding.where.paragraph for finding in left] == [1]
    assert told == []


def test_many_of_them_take_no_long_time() -> None:
    """Each is looked at once, and so is each finding."""
    text = f"{WRONG} numerate: ignore[NUM9] " * 3000
    found = proofread(read_text(text))
    left, _ = suppress(found, looked_for(all_rules(), []))
    assert len(left) == 3000

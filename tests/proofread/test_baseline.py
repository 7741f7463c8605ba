"""Known findings stay known while the text around them is edited, and new ones are new."""

from pathlib import Path

import pytest
from tests.proofread.papers import PAPER, WRONG, FakeDetector

from numerate.documents.text import read_text
from numerate.errors import NumerateError
from numerate.proofread.baseline import (
    Written,
    fingerprint,
    read_baseline,
    without_known,
    write_baseline,
)
from numerate.proofread.model_evidence import looked_for
from numerate.proofread.proofread import proofread
from numerate.proofread.selection import all_rules, chosen_codes

ALL = frozenset(all_rules())


def marks(text: str) -> list[str]:
    found = proofread(read_text(text))
    return [fingerprint(found, finding) for finding in found.in_text_order]


def test_fingerprints_are_stable_under_edits_elsewhere() -> None:
    before = marks(PAPER)
    assert len(set(before)) == 2
    assert marks(f"A new beginning, with 17 numbers.\n\n{PAPER}") == before
    assert marks(PAPER.replace("1999", "2001").replace("\n", "\r\n")) == before
    assert marks(PAPER.replace("| Sex |", "| Height | 2.05 | 28 | 0.05 |\n| Sex |")) == before
    assert marks(PAPER.replace("differed,", "differed,\n")) == before
    # Another numeral, or other words around it: another finding.
    assert marks(PAPER.replace("0.36", "0.37"))[0] != before[0]
    assert marks(PAPER.replace("groups", "ages"))[0] != before[0]
    assert marks(PAPER.replace("Age", "Height"))[1] != before[1]


def test_a_baseline_hides_what_it_knows(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    old = proofread(read_text(PAPER, "a.md"))
    assert write_baseline(path, [old], ALL) == Written(2, 0, 0)
    known = read_baseline(path)
    (left,) = without_known([old], known)
    assert (len(left), left.hidden) == (0, 2)
    edited = proofread(read_text(f"New: t(28) = 2.20, p = 0.70.\n\n{PAPER}", "a.md"))
    (left,) = without_known([edited], known)
    assert [finding.written for finding in left] == ["0.70"]


def test_the_same_once_more_is_new(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    write_baseline(path, [proofread(read_text(WRONG))], ALL)
    twice = proofread(read_text(f"{WRONG}\n\n{WRONG}"))
    assert [len(left) for left in without_known([twice], read_baseline(path))] == [1]


def test_what_was_not_looked_at_stays_known(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    percentage = "Of these, 42 of 120 (53%) smoked."
    first = proofread(read_text(f"{WRONG}\n\n{percentage}", "a.md"))
    other = proofread(read_text(WRONG, "b.md"))
    assert write_baseline(path, [first, other], ALL) == Written(3, 0, 0)
    # Other files, and codes that were not selected.
    mended = proofread(read_text(f"{WRONG}\n\nAll were well.", "./a.md"))
    only_tests = proofread(read_text(f"{WRONG}", "a.md"), select=["NUM3"])
    assert write_baseline(path, [only_tests], chosen_codes(["NUM3"])) == Written(0, 3, 0)
    assert write_baseline(path, [mended], ALL) == Written(0, 2, 1)
    assert read_baseline(path).total() == 2
    # What only a model finds, where none was asked.
    detected = proofread(read_text("It was 61.", "b.md"), models=[FakeDetector(_61=3.0)])
    assert write_baseline(path, [detected], {"NUM800"}) == Written(1, 2, 0)
    rules = looked_for(ALL, [])
    assert write_baseline(path, [other], rules) == Written(0, 3, 0)
    assert str(Written(0, 1, 2)) == "1 finding known now: 0 added, 1 kept, 2 dropped"


def test_a_baseline_that_cannot_be_read_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text("{")
    with pytest.raises(NumerateError, match="cannot be read"):
        write_baseline(path, [proofread(read_text(WRONG))], ALL)
    assert path.read_text() == "{"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"no such baseline; numerate check … --baseline \S+ --write-baseline makes"),
        ("{", "cannot be read"),
        ('{"version": 2, "findings": []}', "version: got 2, expected 1"),
        ('{"version": 1, "findings": [{"fingerprint": 5}]}', "fingerprint"),
    ],
)
def test_what_is_no_baseline_is_one_line(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "known.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(NumerateError, match=message):
        read_baseline(path)

"""Suggestions are written only where a reader says so, and nothing else of the file changes."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.proofread.papers import PAPER, WRONG

from numerate.documents import read_file
from numerate.errors import FailureError, NumerateError
from numerate.proofread.fixing import Ask, apply, ask_on_terminal, choose, fixes
from numerate.proofread.proofread import ProofreadDocument, proofread


def opened(path: Path, text: str, **options: str) -> ProofreadDocument:
    path.write_bytes(text.encode(options.get("encoding", "utf-8")))
    (document,) = read_file(str(path))
    return proofread(document)


def answering(*answers: str) -> tuple[Ask, list[str]]:
    asked: list[str] = []
    left: Iterator[str] = iter(answers)

    def ask(question: str) -> str:
        asked.append(question)
        return next(left)

    return ask, asked


@pytest.mark.parametrize(
    ("answers", "changed", "goes_on"),
    [
        (["y\n", "y\n"], ["0.04", "0.05"], True),
        (["n\n", "y\n"], ["0.05"], True),
        (["a\n"], ["0.04", "0.05"], True),
        (["y\n", "q\n"], ["0.04"], False),
        (["what\n", "\n", "n\n", "n\n"], [], True),
        (["", "y\n"], [], False),  # nobody is there any more
    ],
)
def test_every_change_is_asked_for(
    tmp_path: Path, answers: list[str], changed: list[str], goes_on: bool
) -> None:
    proof = opened(tmp_path / "a.md", PAPER)
    ask, asked = answering(*answers)
    choice = choose(proof, ask)
    assert [fix.text for fix in choice.fixes] == changed
    assert choice.goes_on == goes_on
    assert "\n-The groups differed, t(28) = 2.20, p = 0.36. A test" in asked[0]
    assert "\n+The groups differed, t(28) = 2.20, p = 0.04. A test" in asked[0]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_rest_of_the_file_stays_as_it_is(tmp_path: Path, end: str, encoding: str) -> None:
    text = f"Naïve – 𝟚.{end}{end}{PAPER}".replace("\n", end).replace("\r\r", "\r")
    path = tmp_path / "a.md"
    proof = opened(path, text, encoding=encoding)
    path.chmod(0o640)
    apply(proof, fixes(proof))
    expected = text.replace("0.36", "0.04").replace("0.49", "0.05")
    assert path.read_bytes() == expected.encode(encoding)
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["a.md"]
    assert not proofread(read_file(str(path))[0])


def test_of_one_statement_one_numeral_is_changed(tmp_path: Path) -> None:
    proof = opened(tmp_path / "a.txt", WRONG)
    twice = ProofreadDocument(proof.read, (*proof.found, *proof.found))
    ask, _ = answering("y\n", "y\n")
    choice = choose(twice, ask)
    assert (len(choice.fixes), len(choice.left)) == (1, 1)


@pytest.mark.parametrize("answers", [["a\n"], ["y\n", "y\n"]])
@pytest.mark.parametrize("turned", [False, True])
def test_what_rests_on_a_changed_numeral_is_not_changed(
    tmp_path: Path, answers: list[str], turned: bool
) -> None:
    path = tmp_path / "a.txt"
    proof = opened(path, "Of the 120 patients (60 women and 50 men), 42 (53%) smoked.")
    assert {fix.text for fix in fixes(proof)} == {"110", "35"}
    order = proof.found[::-1] if turned else proof.found
    choice = choose(replace(proof, found=order), answering(*answers)[0])
    assert (len(choice.fixes), len(choice.left)) == (1, 1)
    before = {finding.written for finding in proof}
    apply(proof, choice.fixes)
    assert {finding.written for finding in proofread(read_file(str(path))[0])} < before


@pytest.mark.parametrize("answer", ["a\n", "y\n"])
def test_what_would_bring_another_finding_is_not_offered(tmp_path: Path, answer: str) -> None:
    """With 110 patients, 35% would be wrong; the other change is right and made."""
    text = f"Of the 120 patients (60 women and 50 men), 42 (35%) smoked.\n\n{WRONG}"
    path = tmp_path / "a.txt"
    proof = opened(path, text)
    assert len(fixes(proof)) == 2
    ask, asked = answering(answer)
    choice = choose(proof, ask)
    assert [fix.text for fix in choice.fixes] == ["0.04"]
    assert [fix.text for fix in choice.left] == ["110"]
    assert len(asked) == 1
    apply(proof, choice.fixes)
    assert path.read_text() == text.replace("0.36", "0.04")


def test_of_all_those_that_do_harm_are_left(tmp_path: Path) -> None:
    """Changes before a finding move it, and it is known again where it stands then."""
    bad = "Of the 120 patients (60 women and 50 men), 42 (35%) smoked."
    parts = ["Of them 42 of 120 (5%) smoked.", bad, WRONG, bad.replace("50", "40"), WRONG]
    proof = opened(tmp_path / "a.txt", "\n\n".join(parts))
    choice = choose(proof, answering(*["a\n"] * 9)[0])
    assert len(choice.fixes) == 3
    assert {fix.text for fix in choice.left} == {"110", "100"}


def test_a_file_that_has_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    proof = opened(path, WRONG)
    path.write_text("other")
    with pytest.raises(FailureError, match="has changed meanwhile"):
        apply(proof, fixes(proof))
    assert path.read_text() == "other"


def test_without_a_terminal_nobody_is_asked() -> None:
    with pytest.raises(NumerateError, match="--fix: asks before each change"):
        ask_on_terminal("?")

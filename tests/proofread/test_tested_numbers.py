"""How many numbers were tested, by whom, and why the others were not."""

import json
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import numerate
from tests.proofread.papers import FakeDetector

import numerate as package
from numerate.documents.markdown.reader import MarkdownReader
from numerate.documents.reader import Unit
from numerate.documents.table_file import tables_in
from numerate.proofread.proofread import ProofreadDocument, proofread
from numerate.proofread.tested_numbers import (
    IN_NAMES,
    IN_TABLES,
    IN_TEXT,
    LIKE_YEARS,
    NumberCoverage,
)

TABLE = "| Group | t | df | p |\n|-|-|-|-|\n| A | 2.05 | 28 | 0.05 |\n| B | 17 | | |"


def read(text: str, *models: FakeDetector, **options: object) -> ProofreadDocument:
    (document,) = MarkdownReader().read(Unit("a.md", "markdown", text.encode()))
    return proofread(document, models=models, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "tested", "untested"),
    [
        ("No number.", 0, {}),
        ("Of the patients, 42 of 120 (35%) were women.", 3, {}),
        ("Of the patients, 42 of 120 (53%) were women.", 3, {}),
        ("The groups differed, t(28) = 2.20, p = 0.036.", 3, {}),
        ("The groups differed, F(1, 28) = 4.84, p = 0.036.", 4, {}),
        ("It rose (OR 1.5, 95% CI 1.2 to 1.9).", 4, {}),
        ("There were 17 boxes.", 0, {IN_TEXT: 1}),
        ("There were boxes in 1998.", 0, {LIKE_YEARS: 1}),
        ("See doi:10.1186/x there.", 0, {IN_NAMES: 1}),
        (TABLE, 3, {IN_TABLES: 1}),
    ],
)  # fmt: skip
def test_every_number_is_counted_once(text: str, tested: int, untested: dict[str, int]) -> None:
    found = read(text).tested
    assert (found.by_rules, found.by_models, dict(found.untested)) == (tested, 0, untested)
    assert found.read == tested + sum(untested.values()) == read(text).numerals


def test_what_a_statement_lacks_is_the_reason() -> None:
    found = read("The groups differed, t = 2.20, p = 0.036.", select=["NUM301"]).tested
    assert dict(found.untested) == {"in statements that lack degrees of freedom": 2}
    assert str(found) == (
        "2 numbers read: none tested, 2 not (2 in statements that lack degrees of freedom)"
    )


def test_a_number_counts_for_rules_before_models() -> None:
    detector = FakeDetector()
    found = read("Of the patients, 42 of 120 (35%) had 17 boxes.", detector).tested
    assert (found.by_rules, found.by_models, dict(found.untested)) == (3, 1, {})
    assert str(found) == "4 numbers read: 3 tested by rules, 1 by a model alone"


def test_suppressed_and_hidden_findings_change_nothing() -> None:
    text = "Of the patients, 42 of 120 (53%) were women."
    left = package.check(f"{text} <!-- numerate: ignore -->")
    assert (len(left), left.tested.by_rules) == (0, 3)
    assert read(text).only(lambda _: False).tested.by_rules == 3


def test_tables_beside_are_counted_as_their_own_documents() -> None:
    tables = tables_in("Term,t,df,p\nAge,2.05,28,0.05")
    found = package.check("There were 17 boxes.", tables=tables)
    assert found.tested == NumberCoverage(untested=found.tested.untested)
    assert dict(found.tested.untested) == {IN_TEXT: 1}


def test_every_format_has_the_same_figures(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.md"
    path.write_text("Of the patients, 42 of 120 (53%) were women. There were 17 boxes in 1998.")
    said = (
        "5 numbers read: 3 tested by rules, 2 not (1 in text that is no statement to recompute, "
        "1 written like a year)"
    )
    command = ("check", str(path), "--model", "none")
    _, out, _ = numerate(capsys, *command)
    assert out.splitlines()[-1] == f"{said}."
    _, out, _ = numerate(capsys, *command, "--format", "html")
    assert said in out
    _, out, err = numerate(capsys, *command, "--format", "csv")
    assert said in err
    _, out, _ = numerate(capsys, *command, "--format", "sarif")
    (run,) = json.loads(out)["runs"]
    sarif = run["properties"]["numbers"]
    _, out, _ = numerate(capsys, *command, "--format", "json")
    record = json.loads(out)
    assert record["numbers"] == record["documents"][0]["numbers"] == sarif
    assert record["numbers"] == {
        "read": 5,
        "tested": 3,
        "by_rules": 3,
        "by_models": 0,
        "untested": {IN_TEXT: 1, LIKE_YEARS: 1},
    }
    path.write_text("No number but one: 42 of 120 (35%).")
    status, out, _ = numerate(capsys, *command)
    assert (status, out.splitlines()[-1]) == (0, "3 numbers read: 3 tested by rules.")

"""The model that comes with the package: in the wheel, by its name, and what it finds."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

import numerate
from numerate.cli import app
from numerate.documents.document import Table
from numerate.lm.model.shipped.installed import installed, shipped

pytestmark = pytest.mark.installed

ROOT = Path(__file__).parents[4]
MOST = 15_000_000  # bytes
ARTICLE = """# Effects of a walking programme

As Table 1 shows, patients of both groups were alike at baseline. Mean heart rate was 72.4 beats
per minute (SD 9.1) in the walking group and {rate} beats per minute (SD 8.7) in the control group.
The mean body mass index was 27.1 kg/m2 in the walking group and 26.8 kg/m2 in the control group.

Table 1. Characteristics of patients at baseline.

| | Walking (n = 64) | Control (n = 66) |
|---|---:|---:|
| Heart rate, beats per minute | 72.4 (9.1) | 73.8 (8.7) |
| Body mass index, kg/m2 | 27.1 (3.2) | 26.8 (3.5) |
"""
LETTER = """Thank you for your order of 12 chairs at £84.50 each. The total of £1,014.00 was
charged to your card on 3 May 2026. Delivery takes 5 to 7 working days; our van holds 40 chairs, so
all 12 will come at once. If one is damaged, call 020 7946 0018 between 9 and 17 o'clock.
"""


def check(text: str, folder: Path, *options: str) -> tuple[int, str, str]:
    file = folder / "article.md"
    file.write_text(text, encoding="utf-8")
    found = CliRunner().invoke(app, ["check", str(file), *options])
    return found.exit_code, found.stdout, found.stderr


def test_its_card_says_what_it_is() -> None:
    model = shipped("articles")  # verified: digests
    assert model in installed()
    card = model.card
    assert model.size < MOST
    assert {one.name for one in card.trained_on} == {
        "reports of randomised trials",
        "eLife research articles",
    }
    assert all(one.documents > 1000 and one.licence == "CC BY" for one in card.trained_on)
    assert all(one.low < one.value < one.high for one in card.figures)  # type: ignore[operator]
    assert len(card.figures) > 5
    for part in (model.language_model, model.detector):
        config = (part / "config.json").read_text(encoding="utf-8")  # type: ignore[operator]
        assert json.loads(config)["dataset"]["path"] == "mixed"


@pytest.mark.parametrize(("rate", "status"), [("73.8", 0), ("7.38", 1)])
def test_a_slip_that_no_rule_finds_is_found_with_its_reason(
    tmp_path: Path, rate: str, status: int
) -> None:
    text = ARTICLE.format(rate=rate)
    assert check(text, tmp_path, "--model", "none")[0] == 0
    found, printed, told = check(text, tmp_path)
    assert (found, "with the model articles" in told) == (status, True)
    if status:
        assert "NUM800 7.38 does not seem to belong here; 73.8 would." in printed
        assert "Table 1, Heart rate, beats per minute, Control (n = 66): 73.8" in printed


def test_what_it_does_not_know_is_recomputed_alone(tmp_path: Path) -> None:
    status, printed, told = check(LETTER, tmp_path)
    assert (status, printed.count("NUM")) == (0, 0)
    assert "unlike what articles knows: recomputed alone" in told
    assert "with the model" not in told


def test_as_a_language_model_it_copies_from_tables() -> None:
    lm = numerate.load("articles")
    cells = [["", "Walking", "Control"]], [["Age", "57.3", "61.9"]]
    table = Table("t1", "Table 1", "Patients", *cells)
    seen = lm.predict("The mean age of controls was", [table])
    unseen = lm.predict("The mean age of controls was")
    assert seen.prob("61.9") > 10 * unseen.prob("61.9")
    assert 0 < sum(probability for _, probability in seen.top(20)) <= 1


def test_it_is_in_the_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        card = json.loads(opened.read("numerate/lm/model/shipped/articles/model.json"))
        assert {f"numerate/lm/model/shipped/articles/{name}" for name in card["files"]} <= names


def test_numbers_that_it_was_not_asked_about_are_not_said_to_be_read(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text(LETTER, encoding="utf-8")
    article = tmp_path / "article.md"
    article.write_text(ARTICLE.format(rate="73.8"), encoding="utf-8")
    alone = CliRunner().invoke(app, ["check", str(article)]).stdout
    both = CliRunner().invoke(app, ["check", str(tmp_path)]).stdout
    assert "articles read 16 numbers" in alone
    assert "articles read 16 numbers" in both

"""What `check` is given: tables by themselves and beside documents, folders, odd files."""

import gzip
import json
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import numerate
from tests.proofread.papers import RIGHT, TABLE, WRONG, FakeDetector

import numerate as package
from numerate.errors import NumerateError

CELLS = 'Term,t,df,p\n\nAge,"2.05",28,"0.49"\nSex,2.05,28,0.05\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("cells.csv").write_text(CELLS)
    Path("wrong.md").write_text(WRONG)
    Path("right.md").write_text(RIGHT)
    return tmp_path


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, int, int]]:
    """File, line and column of each finding, the same in JSON and SARIF."""
    _, out, _ = numerate(capsys, "check", *arguments, "--format", "json")
    places = [(one["file"], one["line"], one["column"]) for one in json.loads(out)["findings"]]
    _, out, _ = numerate(capsys, "check", *arguments, "--format", "sarif")
    results = json.loads(out)["runs"][0]["results"]
    physical = [result["locations"][0]["physicalLocation"] for result in results]
    regions = [place["region"] for place in physical]
    assert places == [
        (place["artifactLocation"]["uri"], region["startLine"], region["startColumn"])
        for place, region in zip(physical, regions, strict=True)
    ]
    return places


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz"])
def test_separated_values_are_a_table(capsys: pytest.CaptureFixture[str], suffix: str) -> None:
    text = CELLS.replace(",", "\t") if suffix == "tsv" else CELLS
    data = text.encode()
    Path(f"t.{suffix}").write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    assert found(capsys, f"t.{suffix}") == [(f"t.{suffix}", 3, 16)]
    status, out, _ = numerate(capsys, "check", f"t.{suffix}")
    assert status == 1
    assert out.startswith(f"t.{suffix}:3:16 NUM301 ")
    assert "t, row Age, column p: 0.49" in out


@pytest.mark.parametrize("name", ["cells.csv", "table.md"])
def test_what_is_wrong_with_a_table_beside_is_told_once_of_its_file(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    Path("table.md").write_text(TABLE)
    place = (name, 3, 16) if name == "cells.csv" else (name, 3, 21)
    assert set(found(capsys, "wrong.md", "right.md", "--table", name, "--table", name)) == {
        ("wrong.md", 1, 40),
        place,
    }
    assert found(capsys, "right.md", name, "--table", name) == [place]
    _, out, _ = numerate(capsys, "check", "right.md", "--table", name, "--format", "json")
    assert json.loads(out)["coverage"]["tests"]["recomputed"] == 3
    _, out, _ = numerate(capsys, "check", "wrong.md", "--table", name, "--format", "html")
    assert f"<h2>{name}</h2>" in out


def test_a_table_beside_has_its_own_baseline_and_configuration(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ("check", "right.md", "--table", "cells.csv")
    known = (*arguments, "--baseline", "known.json")
    assert numerate(capsys, *known, "--write-baseline")[0] == 0
    record = json.loads(Path("known.json").read_text())
    assert [one["file"] for one in record["findings"]] == ["cells.csv"]
    assert numerate(capsys, *known)[0] == 0
    Path("numerate.toml").write_text("[ignore]\nfiles = ['*.csv']")
    assert numerate(capsys, *arguments)[0] == 0


def test_a_cell_that_the_text_contradicts_is_evidence_with_its_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("n.csv").write_text("Sign,Placebo,Drug\nHeart rate (SD),97.5 (12.14),88.1 (11.2)\n")
    Path("n.md").write_text("After a week, heart rate was 79.5 (12.14) with placebo.")
    assert found(capsys, "n.md", "--table", "n.csv") == [("n.md", 1, 30)]
    _, out, _ = numerate(capsys, "check", "n.md", "--table", "n.csv", "--format", "json")
    (finding,) = json.loads(out)["findings"]
    places = [place for one in finding["evidence"] for place in one["places"]]
    cells = [(one["line"], one["column"]) for one in places if one.get("file") == "n.csv"]
    assert (2, 17) in cells
    _, out, _ = numerate(capsys, "check", "n.md", "--table", "n.csv", "--format", "sarif")
    (result,) = json.loads(out)["runs"][0]["results"]
    related = [one["physicalLocation"] for one in result["relatedLocations"]]
    assert "n.csv" in {place["artifactLocation"]["uri"] for place in related}


def test_a_table_is_not_changed(capsys: pytest.CaptureFixture[str]) -> None:
    """A suggestion may hold a comma, for which a cell would need marks."""
    assert numerate(capsys, "check", "cells.csv", "--fix")[0] == 1
    assert Path("cells.csv").read_text() == CELLS


def test_a_folder_is_all_that_is_read_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a/b/deep.tex", "a/.git/hidden.md", "a/.hidden.md", "a/note.txt", "a/x.png"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(WRONG)
    Path("a/cells.csv").write_text(CELLS)
    assert sorted({file for file, _, _ in found(capsys, "a")}) == [
        "a/b/deep.tex",
        "a/cells.csv",
        "a/note.txt",
    ]
    _, _, err = numerate(capsys, "check", "a")
    assert "numerate: a: 1 file of other kinds not checked" in err
    Path("none").mkdir()
    status, out, err = numerate(capsys, "check", "none")
    assert (status, out) == (2, "")
    assert err == "numerate: none: a folder without a file of a format that is read\n"


def test_in_a_folder_a_file_that_cannot_be_read_costs_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("a").mkdir()
    Path("a/broken.xml").write_text("<article>")
    Path("a/right.md").write_text(RIGHT)
    status, out, err = numerate(capsys, "check", "a", "--quiet")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("numerate: a/broken.xml: not well-formed XML")
    Path("a/wrong.md").write_text(WRONG)
    assert numerate(capsys, "check", "a")[0] == 1
    assert numerate(capsys, "check", "a/wrong.md", "a/broken.xml")[0] == 2


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"%PDF-1.7 \xe9", "a PDF"), (b"PK\x03\x04\xff", "a ZIP archive, or a document that is one")],
)
def test_what_is_no_text_is_told(
    capsys: pytest.CaptureFixture[str], data: bytes, kind: str
) -> None:
    Path("paper.txt").write_bytes(data)
    status, out, err = numerate(capsys, "check", "paper.txt")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"numerate: paper.txt: got {kind}, expected text")


@pytest.mark.parametrize(
    "data",
    [
        WRONG.encode("utf-16"),
        b"\xef\xbb\xbf" + WRONG.encode(),
        gzip.compress(WRONG.encode()),
        WRONG.replace(" ", "\r\n", 1).replace("\r\n", " ", 1).encode() + b"\r\n",
    ],
    ids=["UTF-16", "with a mark", "compressed", "CRLF"],
)
def test_text_in_any_clothes(capsys: pytest.CaptureFixture[str], data: bytes) -> None:
    Path("dressed.md").write_bytes(data)
    assert found(capsys, "dressed.md") == [("dressed.md", 1, 40)]


def test_a_broken_compressed_file_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("cut.md.gz").write_bytes(gzip.compress(WRONG.encode() * 99)[:40])
    status, out, err = numerate(capsys, "check", "cut.md.gz")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("numerate: cut.md.gz: cannot be read: ")


def test_a_name_is_never_taken_for_a_text() -> None:
    for name in ("gone.txt", "gone/a.md", "gone.csv", "gone.xml.gz"):
        with pytest.raises(NumerateError, match=f"{name}: no such file"):
            package.check(name)
    assert len(package.check("t(28)=2.20,p=0.36")) == 1
    assert len(package.check("See gone.txt: 42 of 120 (53%).txt")) == 1


def test_findings_know_their_places() -> None:
    (finding,) = package.check(f"One.\n\n{WRONG}")
    assert (finding.line, finding.column) == (3, 40)
    (finding,) = package.check("cells.csv")
    assert (finding.line, finding.column) == (3, 16)


@pytest.mark.parametrize("text", ["```\n{}\n```", "Use `{}`.", "<!-- {} -->"])
def test_code_and_comments_are_not_checked(text: str) -> None:
    code = text.format(WRONG)
    found = package.check(f"{code}\n\n{WRONG}", FakeDetector(_0_36=9.0))
    assert [(finding.line, finding.column) for finding in found] == [(code.count("\n") + 3, 40)]


def test_what_another_file_takes_in_is_checked_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("paper/parts").mkdir(parents=True)
    Path("paper/main.tex").write_text("\\begin{document}\\input{parts/one}\\end{document}")
    Path("paper/parts/one.tex").write_text("Text\n\nThat 42 of 120 (53\\%) did.\n")
    place = ("paper/parts/one.tex", 3, 17)
    assert found(capsys, "paper") == [place]
    assert found(capsys, "paper/parts/one.tex") == [place]
    assert found(capsys, "paper/main.tex", "paper/parts/one.tex") == [place, place]
    _, out, _ = numerate(capsys, "check", "paper", "--format", "html")
    assert "paper/main.tex" in out


def test_of_files_that_take_each_other_in_the_first_is_checked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("paper").mkdir()
    Path("paper/a.tex").write_text("That 42 of 120 (53\\%) did.\n\n\\input{b}\n")
    Path("paper/b.tex").write_text("Then 30 of 120 (53\\%) left.\n\n\\input{a}\n")
    assert found(capsys, "paper") == [("paper/a.tex", 1, 17), ("paper/b.tex", 1, 17)]
    Path("paper/b.tex").write_text("\\input{b}\nThen 30 of 120 (53\\%) left.\n")
    Path("paper/a.tex").unlink()
    assert found(capsys, "paper") == [("paper/b.tex", 2, 17)]


def test_the_configuration_of_a_folder_that_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a").mkdir()
    Path("a/wrong.md").write_text(WRONG)
    Path("a/numerate.toml").write_text('[ignore]\ncodes = ["NUM301"]')
    status, out, err = numerate(capsys, "check", "a")
    assert (status, err) == (0, "")
    assert out.startswith("Nothing found")


def test_what_can_not_be_written_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = numerate(capsys, "check", "cells.csv", "--fix")
    assert status == 1
    assert "numerate: cells.csv: 1 of 1 suggestions are for you to write" in err


def test_a_text_is_held_against_a_table_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Which it is about, though it names none."""
    Path("ages.csv").write_text("Variable,Walks,Reading\nAge,47.2,48.5\nWeight,71.3,70.2\n")
    Path("about.txt").write_text("Mean age was 48.9 years with reading.")
    assert found(capsys, "about.txt", "--table", "ages.csv") == [("about.txt", 1, 14)]
    Path("about.txt").write_text("Mean age was 48.5 years with reading.")
    assert found(capsys, "about.txt", "--table", "ages.csv") == []


def test_rich_text_under_another_name(capsys: pytest.CaptureFixture[str]) -> None:
    """As word processors write it where they are asked for a .doc."""
    Path("a.doc").write_bytes(rb"{\rtf1 Of 80 people, 20 (35%) walked.}")
    status, _, err = numerate(capsys, "check", "a.doc")
    assert (status, err) == (2, "numerate: a.doc: got an RTF document, expected a name in .rtf\n")
    Path("a.doc").rename("a.rtf")
    assert "20 of 80 is 25 %, not 35 %" in numerate(capsys, "check", "a.rtf")[1]


@pytest.mark.parametrize(("name", "instead"), [("a.doc", ".docx"), ("a.ODS", ".xlsx")])
def test_what_is_not_read_may_be_saved_as_something_else(
    capsys: pytest.CaptureFixture[str], name: str, instead: str
) -> None:
    Path(name).write_bytes(b"PK\x03\x04\xff")
    status, out, err = numerate(capsys, "check", name)
    assert (status, out) == (2, "")
    assert err.endswith(f"expected it saved as {instead}\n")

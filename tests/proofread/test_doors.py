"""The same document gives the same findings through every front door.

What differs on purpose:

- An upload, a text of the API and one of LanguageTool's protocol have no folder, so that no
  numerate.toml is near them.
- Only the command and the language server have a baseline; `numerate.check` takes no options from
  numerate.toml that are for the command line: models, baseline and format.
- The command reports errors within a table beside the document under the table's own file; the
  API and `numerate.check`, which have no such file, report them with the document.
- A client of LanguageTool sees neither probabilities nor what stands in tables that have no place
  in the text; with `level=picky` it also sees findings that are less likely.
- A language model's message is shorter in answers of the API without `details`.
"""

import json
from collections.abc import Callable, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest
from tests.lm.model.plausibility.test_command import numerate
from tests.proofread.papers import FakeDetector
from tests.serve.conftest import serve

import numerate as package
from numerate.documents.table_file import read_table_file
from numerate.proofread.model_evidence import DetectorLike
from numerate.proofread.proofread import ProofreadDocument
from numerate.serve.editors.buffers import Buffer
from numerate.serve.editors.proof import Proof
from numerate.serve.editors.proofreader import Proofreader

Found = dict[tuple[str, int, str], float | None]
"""Probabilities by code, place and text."""


@dataclass(frozen=True)
class Case:
    """A document, and what stands beside it."""

    file: Path
    table: Path | None = None
    detector: DetectorLike | None = None


Door = Callable[[Case, pytest.CaptureFixture[str]], Found]


def of_records(records: list[dict[str, Any]]) -> Found:
    return {(one["code"], one["start"], one["written"]): one["probability"] for one in records}


def of_document(found: ProofreadDocument) -> Found:
    return {
        (one.code, found.read.place(one.where).start, one.written): one.probability for one in found
    }


def by_command(case: Case, capsys: pytest.CaptureFixture[str]) -> Found:
    options = ["--table", str(case.table)] if case.table else []
    _, out, _ = numerate(capsys, "check", str(case.file), *options, "--format", "json")
    return of_records(json.loads(out)["findings"])


def by_package(case: Case, _: pytest.CaptureFixture[str]) -> Found:
    tables = read_table_file(case.table).tables if case.table else ()
    return of_document(package.check(case.file, case.detector, tables=tables))


def by_api(case: Case, _: pytest.CaptureFixture[str]) -> Found:
    asked: dict[str, Any] = {"text": case.file.read_text()}
    if case.table:
        asked["tables"] = [case.table.read_text()]
    return of_records(ask(case, "/v1/check", json=asked)["findings"])


def by_upload(case: Case, _: pytest.CaptureFixture[str]) -> Found:
    answer = ask(
        case,
        "/v1/document",
        params={"name": case.file.name},
        content=case.file.read_bytes(),
        headers={"content-type": "application/octet-stream"},
    )
    return of_records(answer["findings"])


def by_languagetool(case: Case, _: pytest.CaptureFixture[str]) -> Found:
    text = case.file.read_text()
    form = {"text": text, "language": "en-US"}
    matches = ask(case, "/v2/check", data=form)["matches"]
    return {
        (one["rule"]["id"], one["offset"], text[one["offset"] :][: one["length"]]): None
        for one in matches
    }


def ask(case: Case, path: str, **options: Any) -> Any:
    with serve(None, detectors=[case.detector] if case.detector else []) as client:
        answer: httpx.Response = client.post(path, **options)
    assert answer.status_code == 200, answer.text
    return answer.json()


def by_editor(case: Case, _: pytest.CaptureFixture[str]) -> Found:
    proofs: list[Proof] = []
    buffer = Buffer(case.file.as_uri(), 1, case.file.read_text())
    Proofreader().proofread(buffer, lambda: True, proofs.append)
    return of_document(proofs[-1].found)


def by_audit(case: Case, capsys: pytest.CaptureFixture[str]) -> Found:
    out = case.file.parent.parent / "audited"
    numerate(capsys, "audit", str(case.file), "--out", str(out), "--processes", "1")
    rows = [
        row for file in out.glob("findings-*.parquet") for row in pq.read_table(file).to_pylist()
    ]
    return of_records(rows)


DOORS: dict[str, tuple[Door, set[str], set[str]]] = {
    "command": (by_command, {".txt", ".md", ".tex", ".html"}, {"project", "baseline", "table"}),
    "package": (by_package, {".txt", ".md", ".tex", ".html"}, {"project", "table", "detector"}),
    "api": (by_api, {".txt"}, {"table", "detector"}),
    "upload": (by_upload, {".txt", ".md", ".tex", ".html"}, {"detector"}),
    "languagetool": (by_languagetool, {".txt"}, {"detector"}),
    "editor": (by_editor, {".txt", ".md", ".tex"}, {"project", "baseline"}),
    "audit": (by_audit, {".txt", ".md", ".tex", ".html"}, {"project"}),
}
"""By door: which formats it takes, and what can stand beside the document."""


def of_format(text: str, suffix: str, path: Path) -> Path:
    """The text as a file of a format."""
    file = path.with_suffix(suffix)
    if suffix == ".html":
        paragraphs = "".join(f"<p>{one}</p>\n" for one in text.split("\n\n"))
        file.write_text(f"<html><head><title>Paper</title></head><body>{paragraphs}</body></html>")
    else:
        file.write_text(text.replace("%", "\\%") if suffix == ".tex" else text)
    return file


TEXT = """Of all, 42 of 120 (53%) were women, and 30 of 120 (20%) smoked in 2019 at 61 sites.

The groups differed, t(28) = 2.20, p = 0.36. The estimate was 0.46 (95% CI 0.62 to 0.79).
"""
EXPECTED = {("NUM101", "53"), ("NUM101", "20"), ("NUM301", "0.36"), ("NUM201", "0.46")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "texts"
    place.mkdir()
    return place


def through(case: Case, capsys: pytest.CaptureFixture[str], needs: Set[str] = frozenset()) -> Found:
    """What every door finds that takes the case; and that they find the same."""
    found = {
        name: door(case, capsys)
        for name, (door, formats, beside) in DOORS.items()
        if case.file.suffix in formats and needs <= beside
    }
    assert len(found) > 1
    first = found["command" if "command" in found else "package"]
    for name, other in found.items():
        assert other.keys() == first.keys(), name
        for place, probability in other.items():
            assert probability is None or probability == pytest.approx(first[place], abs=1e-6), name
    return first


def said(found: Found) -> set[tuple[str, str]]:
    return {(code, written) for code, _, written in found}


@pytest.mark.parametrize("suffix", [".txt", ".md", ".tex", ".html"])
def test_a_document_of_each_format(
    folder: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    file = of_format(TEXT, suffix, folder / "paper")
    configure(folder)
    assert said(through(Case(file), capsys)) == EXPECTED


@pytest.mark.parametrize("suffix", [".txt", ".md"])
def test_a_suppression(folder: Path, capsys: pytest.CaptureFixture[str], suffix: str) -> None:
    text = TEXT.replace("sites.", "sites. <!-- numerate: ignore[NUM101] -->")
    configure(folder)
    found = through(Case(of_format(text, suffix, folder / "paper")), capsys)
    assert said(found) == EXPECTED - {("NUM101", "53"), ("NUM101", "20")}


def test_a_project(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(
        folder,
        "min-probability = 0.6\nignore = { codes = ['NUM3'], numerals = ['20'] }",
    )
    file = of_format(TEXT, ".txt", folder / "paper")
    assert said(through(Case(file), capsys, {"project"})) == {("NUM101", "53")}


def test_a_baseline(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = of_format(TEXT, ".txt", folder / "paper")
    file.write_text(TEXT.partition("\n\n")[0])
    configure(folder, "baseline = 'known.json'")
    numerate(capsys, "check", str(file), "--write-baseline")
    file.write_text(TEXT)
    found = through(Case(file), capsys, {"baseline"})
    assert said(found) == {("NUM301", "0.36"), ("NUM201", "0.46")}


def test_a_table_beside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever else is known of the table, the text contradicts it."""
    table = folder / "ages.csv"
    table.write_text('Measure,Reading (n = 120)\n"Age, years, mean",48.5\n')
    text = "Mean age was 48.9 years with reading (Table 1)."
    configure(folder)
    through(Case(of_format(text, ".txt", folder / "paper"), table=table), capsys, {"table"})


def test_a_detector(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that is sure of a numeral of its own and of one that a rule doubts, not of another."""
    detector = FakeDetector(_2019=3.0, _0_36=4.0, _61=-2.0)
    file = of_format(TEXT, ".txt", folder / "paper")
    found = through(Case(file, detector=detector), capsys, {"detector"})
    assert said(found) == EXPECTED | {("NUM800", "2019")}


def test_what_is_less_likely_is_left_out_but_counted(folder: Path) -> None:
    file = of_format(TEXT, ".txt", folder / "paper")
    found = package.check(file, FakeDetector(_2019=-2.0))
    assert [one.written for one in found.less_likely] == ["2019"]
    everything = package.check(file, FakeDetector(_2019=-2.0), min_probability=0)
    assert {*found, *found.less_likely} == {*everything}


def configure(folder: Path, more: str = "") -> None:
    (folder / "numerate.toml").write_text(f"model = 'none'\n{more}\n")

import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numerate.errors import DatasetError, DocumentError, NumerateError, SourceError
from numerate.lm.data.dataset import SPLITS, Dataset
from numerate.lm.data.describe import describe, description_rows
from numerate.lm.data.prepare import prepare
from numerate.text.reading_rules import ReadingRules

ARTICLE = """<article><front><article-meta><article-id pub-id-type="pmc">{id}</article-id>
</article-meta></front><body><sec><title>Results</title>
<p>Of {n} patients, 7.{n} % improved (<xref ref-type="table" rid="T1">Table 1</xref>).</p>
<p>No table for these {n}.</p><p>See <xref ref-type="table" rid="T1">Table 1</xref>.</p></sec>
<table-wrap id="T1"><label>Table 1</label><caption><p>Patients</p></caption><table><thead><tr>
<th>Group</th><th>n</th></tr></thead><tbody><tr><td>all</td><td>{n}</td></tr></tbody></table>
</table-wrap></body></article>"""


def articles(count: int) -> dict[str, bytes]:
    return {f"a/{n:03d}.xml": ARTICLE.format(id=n, n=n + 20).encode() for n in range(count)}


def write_folder(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def write_tar(path: Path, files: dict[str, bytes], mode: str) -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def write_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def rows(folder: Path, split: str) -> list[dict[str, object]]:
    return Dataset.open(folder).split(split).read(["document", "text", "tokens"]).to_pylist()


def all_rows(folder: Path) -> list[dict[str, object]]:
    return [row for split in SPLITS for row in rows(folder, split)]


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


SOURCES: dict[str, Callable[[Path], Path]] = {
    "folder": lambda tmp: write_folder(tmp / "corpus", articles(20)),
    "tar": lambda tmp: write_tar(tmp / "c.tar", articles(20), "w"),
    "tar.gz": lambda tmp: write_tar(tmp / "c.tar.gz", articles(20), "w:gz"),
    "tar.xz": lambda tmp: write_tar(tmp / "c.tar.xz", articles(20), "w:xz"),
    "zip": lambda tmp: write_zip(tmp / "c.zip", articles(20)),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_articles_from_any_container(tmp_path: Path, kind: str) -> None:
    manifest = prepare(SOURCES[kind](tmp_path), tmp_path / "out")
    kept = all_rows(tmp_path / "out")
    assert sorted(str(row["document"]) for row in kept) == sorted(f"PMC{n}" for n in range(20))
    assert all(str(row["text"]).endswith("improved (_ref_).") for row in kept)
    assert [len(rows(tmp_path / "out", split)) for split in SPLITS] == [14, 2, 4]
    assert manifest["counts"]["paragraphs_read"] == 40
    tables = [row for batch in Dataset.open(tmp_path / "out").tables() for row in batch.to_pylist()]
    assert len(tables) == 20
    assert tables[0]["header"] == [["Group", "n"]]


def test_columns_agree_with_the_text(tmp_path: Path) -> None:
    prepare(SOURCES["folder"](tmp_path), tmp_path / "out")
    columns = ["text", "tokens", "starts", "ends", "numerals"]
    for row in Dataset.open(tmp_path / "out").split("train").read(columns).to_pylist():
        written = [
            row["text"][start:end].lower()
            for start, end in zip(row["starts"], row["ends"], strict=True)
        ]
        assert written == row["tokens"]
        assert [row["tokens"][position] for position in row["numerals"]] == [
            token for token in row["tokens"] if token[0].isdigit()
        ]


def test_splits_do_not_depend_on_the_order_of_files(tmp_path: Path) -> None:
    forwards = articles(20)
    backwards = dict(reversed(forwards.items()))
    prepare(write_tar(tmp_path / "a.tar", forwards, "w"), tmp_path / "a")
    prepare(write_tar(tmp_path / "b.tar", backwards, "w"), tmp_path / "b")
    for split in SPLITS:
        first, second = rows(tmp_path / "a", split), rows(tmp_path / "b", split)
        assert {row["document"] for row in first} == {row["document"] for row in second}
    prepare(tmp_path / "a.tar", tmp_path / "c", seed=2)
    assert {r["document"] for r in rows(tmp_path / "a", "test")} != {
        r["document"] for r in rows(tmp_path / "c", "test")
    }


def test_copies_of_a_document_are_dropped(tmp_path: Path) -> None:
    files = articles(20)
    files |= {
        f"copy/{index}.xml": data.replace(b"pmc", b"doi")
        for index, data in enumerate(files.values())
    }
    manifest = prepare(write_folder(tmp_path / "corpus", files), tmp_path / "out")
    assert manifest["counts"]["documents_duplicate"] == 20
    assert len(all_rows(tmp_path / "out")) == 20


def test_what_another_file_takes_in_is_no_document(tmp_path: Path) -> None:
    table = "\\begin{tabular}{ll}a & b \\\\ \\hline x & 5 \\\\ \\end{tabular}"
    whole = {
        f"{index}/main.tex": f"Of {index + 100} people.\n\n\\input{{a/part}} \\input{{missing}}"
        for index in range(6)
    }
    parts = {f"{index}/a/part.tex": f"Then {index + 300} left. {table}" for index in range(6)}
    mutual = {"y.tex": "One 901. \\input{z}", "z.tex": "Two 902. \\input{y}"}
    files = {name: text.encode() for name, text in (whole | parts | mutual).items()}
    manifest = prepare(write_folder(tmp_path / "c", files), tmp_path / "out", keep="numerals")
    kept = all_rows(tmp_path / "out")
    assert {row["document"] for row in kept} == {*whole, "y.tex"}
    assert sum("left" in row["text"] for row in kept) == 6
    assert manifest["counts"]["documents_taken_in"] == 7
    assert manifest["counts"]["table_cells"] == 6 * 4


def test_the_same_bytes_whatever_the_number_of_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numerate.lm.data.prepare.POOL_THRESHOLD", 2000)
    source = SOURCES["tar.xz"](tmp_path)
    for processes in (1, 3):
        prepare(source, tmp_path / f"{processes}", processes=processes)
    assert content(tmp_path / "1") == content(tmp_path / "3")


def test_text_and_json_lines(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "texts",
        {
            f"{n}.txt": f"First {n} line\nof one.\n\nNo number.\n\nLast {n}.".encode()
            for n in range(5)
        },
    )
    prepare(folder, tmp_path / "t")
    kept = all_rows(tmp_path / "t")
    assert len(kept) == 10
    assert {"First 3 line of one.", "Last 3."} <= {str(row["text"]) for row in kept}
    lines = [json.dumps({"id": n // 2, "body": f"Value {n}."}) for n in range(10)]
    path = tmp_path / "lines.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    prepare(path, tmp_path / "j", field="body")
    kept = all_rows(tmp_path / "j")
    assert sorted(str(row["document"]) for row in kept) == sorted(2 * ["0", "1", "2", "3", "4"])
    for split in SPLITS:  # lines of one document stay together
        documents = [row["document"] for row in rows(tmp_path / "j", split)]
        assert all(documents.count(document) == 2 for document in documents)


def test_keep_rules(tmp_path: Path) -> None:
    source = SOURCES["folder"](tmp_path)
    counts = {}
    kept = {}
    for keep in ("table-refs", "mixed", "numerals", "all"):
        prepare(source, tmp_path / keep, keep=keep)
        kept[keep] = {(row["document"], row["text"]) for row in all_rows(tmp_path / keep)}
        counts[keep] = len(all_rows(tmp_path / keep))
    assert (counts["table-refs"], counts["numerals"], counts["all"]) == (20, 40, 60)
    # Of the others one in eight, as their texts decide.
    others = kept["numerals"] - kept["table-refs"]
    drawn = {row for row in others if zlib.crc32(str(row[1]).encode()) % 8 == 0}
    assert 0 < len(drawn) < len(others)
    assert kept["mixed"] == kept["table-refs"] | drawn


def test_documents_without_numerals_are_counted(tmp_path: Path) -> None:
    files = {**articles(5), "odd.xml": b"<article><body><para>7 left.</para></body></article>"}
    files |= {"words.txt": b"no number", "empty.txt": b" "}
    folder = write_folder(tmp_path / "corpus", files)
    for keep in ("numerals", "all"):
        manifest = prepare(folder, tmp_path / keep, keep=keep)
        assert manifest["counts"]["documents_without_numerals"] == 2
    assert prepare(folder, tmp_path / "d")["counts"]["documents_without_numerals"] == 1


def test_prescribed_splits_are_kept(tmp_path: Path) -> None:
    files = {
        "train.jsonl": b'{"text": "One 1."}\n{"text": "Two 2."}\n',
        "dev.txt": b"Three 3.\n\nFour 4.",
        "test.jsonl": b'{"text": "One 1."}\n',
    }
    prepare(write_folder(tmp_path / "given", files), tmp_path / "out")
    texts = {split: [row["text"] for row in rows(tmp_path / "out", split)] for split in SPLITS}
    assert texts == {
        "train": ["One 1.", "Two 2."],
        "dev": ["Three 3.", "Four 4."],
        "test": ["One 1."],
    }


def test_a_document_in_two_prescribed_splits_is_refused(tmp_path: Path) -> None:
    files = {f"{split}.jsonl": b'{"id": "x", "text": "One 1."}\n' for split in SPLITS}
    with pytest.raises(SourceError, match="document x: in both train and dev"):
        prepare(write_folder(tmp_path / "given", files), tmp_path / "out")
    assert not (tmp_path / "out").exists()


BOMB = b"<!DOCTYPE article [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><article>&b;</article>"
BAD_DOCUMENTS = {
    "truncated.xml": (ARTICLE.format(id=1, n=1).encode()[:300], "not well-formed XML"),
    "bomb.xml": (BOMB, "declares XML entities"),
    "root.xml": (b"<book/>", "expected <article>"),
    "kanji.txt": (b"37 \x81\x8e", "not UTF-8: got byte 0x81 at offset 3"),
    "broken.txt.gz": (gzip.compress(b"5 " * 9999)[:40], "cannot be read"),
    "broken.jsonl": (b'{"text": 5', "not JSON"),
    "array.jsonl": (b'["text"]', "expected an object with string 'text'"),
    "empty.xml": (b"", "not well-formed XML"),
}


@pytest.mark.parametrize("name", BAD_DOCUMENTS)
def test_a_bad_document_is_skipped_and_counted(tmp_path: Path, name: str) -> None:
    data, reason = BAD_DOCUMENTS[name]
    folder = write_folder(tmp_path / "corpus", {**articles(5), name: data})
    errors: list[DocumentError] = []
    manifest = prepare(folder, tmp_path / "out", on_error=errors.append)
    assert len(errors) == 1
    assert errors[0].where.startswith(name.removesuffix(".gz"))
    assert reason in str(errors[0])
    assert "\n" not in str(errors[0])
    assert manifest["counts"]["documents_skipped"] == 1
    assert manifest["skipped"][0]["reason"] == errors[0].reason
    with pytest.raises(DocumentError, match=name.removesuffix(".gz")):
        prepare(folder, tmp_path / "strict", strict=True)
    assert not (tmp_path / "strict").exists()


def test_paths_outside_the_archive_are_refused(tmp_path: Path) -> None:
    files = {**articles(5), "../evil.xml": ARTICLE.format(id=9, n=9).encode()}
    for source in (
        write_tar(tmp_path / "e.tar", files, "w"),
        write_zip(tmp_path / "e.zip", files),
    ):
        manifest = prepare(source, tmp_path / "out", force=True)
        assert manifest["skipped"] == [
            {"document": "../evil.xml", "reason": "path leaves the archive"}
        ]


def test_long_lines_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numerate.documents.lines.MAX_RECORD", 1000)
    monkeypatch.setattr("numerate.documents.reader.MAX_DOCUMENT", 5000)
    long = b"1 " * 2000
    paragraphs = b"\n\n".join([b"Value %d." % n for n in range(9)])
    (tmp_path / "long.txt").write_bytes(paragraphs + b"\n\n" + long + b"\n\nThe end 99.")
    manifest = prepare(tmp_path / "long.txt", tmp_path / "t")
    assert manifest["counts"]["documents_skipped"] == 1
    assert len(all_rows(tmp_path / "t")) == 10
    lines = b"\n".join([b'{"text": "Value %d."}' % n for n in range(9)])
    (tmp_path / "long.jsonl").write_bytes(lines + b'\n{"text": "' + long + b'"}\n{"text": "99"}')
    manifest = prepare(tmp_path / "long.jsonl", tmp_path / "j")
    assert manifest["skipped"][0]["document"] == "long.jsonl:10"
    assert len(all_rows(tmp_path / "j")) == 10
    folder = write_folder(tmp_path / "corpus", {**articles(5), "big.txt": long * 3})
    manifest = prepare(folder, tmp_path / "x")
    assert "document too large" in manifest["skipped"][0]["reason"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "empty folder"),
        ({"picture.png": b"x"}, "nothing kept: no document of a known format"),
        ({"a.txt": b""}, "nothing kept: 1 document read, none"),
        ({f"{n}.txt": b"no number" for n in range(5)}, "nothing kept: 5 documents read"),
        ({"a.txt": b"1", "b.txt": b"2"}, "2 documents kept, expected at least 3"),
        ({"a.xml": b"<"}, "nothing kept: could not read 1 document, the first because a"),
    ],
)
def test_a_source_that_gives_nothing_is_an_error(
    tmp_path: Path, files: dict[str, bytes], reason: str
) -> None:
    (tmp_path / "corpus").mkdir()
    write_folder(tmp_path / "corpus", files)
    with pytest.raises(SourceError, match=reason):
        prepare(tmp_path / "corpus", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_no_numerals_at_all_is_an_error_even_when_all_is_kept(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "c", {f"{n}.txt": b"word " + b"a" * n for n in range(1, 6)})
    with pytest.raises(SourceError, match="no numeral in any kept paragraph"):
        prepare(folder, tmp_path / "out", keep="all")


def test_other_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file or folder"):
        prepare(tmp_path / "nowhere", tmp_path / "out")
    (tmp_path / "broken.tar.xz").write_bytes(b"not an archive")
    with pytest.raises(SourceError, match=r"broken\.tar\.xz: broken archive"):
        prepare(tmp_path / "broken.tar.xz", tmp_path / "out")
    whole = SOURCES["tar.xz"](tmp_path).read_bytes()
    (tmp_path / "cut.tar.xz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match=r"cut\.tar\.xz: broken archive"):
        prepare(tmp_path / "cut.tar.xz", tmp_path / "out")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "notes.txt").touch()
    with pytest.raises(NumerateError, match="already exists"):
        prepare(SOURCES["folder"](tmp_path), tmp_path / "taken")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"format": "jast"},
            "format 'jast': did you mean jats.*expected one of auto, docx",
        ),
        ({"keep": "numeral"}, "unknown rule for --keep 'numeral': did you mean numerals"),
        ({"keep": ""}, "expected one of table-refs, mixed, numerals, all"),
        ({"seed": -1}, "seed: got -1, expected 0 or more"),
        ({"processes": 0}, "processes: got 0, expected 1 or more"),
        ({"documents": 2}, "documents: got 2, expected 3 or more"),
        ({"split_names": True}, "whole names"),
        ({"decimal": "comma"}, "takes neither split_names nor a decimal comma"),
        ({"decimal": "dot"}, "unknown decimal mark 'dot': expected one of point, comma"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(NumerateError, match=message):
        prepare("cardiac", tmp_path / "out", **options)
    assert not list(tmp_path.iterdir())


def test_the_built_in_corpus_is_meant_beside_a_folder_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    prepare("cardiac", "cardiac", documents=4)
    assert prepare("cardiac", "again", documents=5)["options"]["source"] == "cardiac"
    for folder in ("./cardiac", Path("cardiac")):
        with pytest.raises(NumerateError, match="cardiac: a prepared dataset, expected documents"):
            prepare(folder, "out")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.txt").write_text("He is 74 years old.")
    shutil.rmtree("cardiac")
    (tmp_path / "notes").rename("cardiac")
    with pytest.raises(SourceError, match="cardiac: 1 document kept"):
        prepare("./cardiac", "mine")


def test_a_dataset_remembers_how_it_was_read(tmp_path: Path) -> None:
    source = tmp_path / "notes.jsonl"
    notes = [{"text": f"IL-6 war 7{n},5 mg in Tag-{n}"} for n in range(9)]
    source.write_text("\n".join(map(json.dumps, notes)))
    prepare(source, tmp_path / "out", decimal="comma")
    dataset = Dataset.open(tmp_path / "out")
    assert dataset.reading == ReadingRules("comma")
    rows = [row for name in SPLITS for row in dataset.split(name).read(["tokens"]).to_pylist()]
    assert all(row["tokens"][0] == "il-6" and row["tokens"][2][-2:] == ".5" for row in rows)

    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    del manifest["options"]["reading"]
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DatasetError, match=r"version before 0\.5: options\.reading is missing"):
        Dataset.open(tmp_path / "out")
    whole = {"decimal": "comma", "split_names": False, "grammar": 2}
    for spoilt in ({"decimal": "dot"}, {"grammar": 1}, {"split_names": 1}):
        manifest["options"]["reading"] = whole | spoilt
        (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(DatasetError, match=r"options\.reading.*; prepare it again$"):
            Dataset.open(tmp_path / "out")


def test_signed_statistics_are_of_quantities(tmp_path: Path) -> None:
    source = tmp_path / "lines.jsonl"
    texts = ["a change of −2.5 × 10^3 cells", "p = 4e-2 at 7", "IL-6 rose by ½ to 10^2"] * 4
    lines = [json.dumps({"text": f"{text} in patient no. {n}"}) for n, text in enumerate(texts)]
    source.write_text("\n".join(lines))
    prepare(source, tmp_path / "out")
    dataset = Dataset.open(tmp_path / "out")
    plain, signed = describe(dataset, 5), describe(dataset, 5, signed=True)
    assert all(split.min >= 0 for split in plain.splits.values())
    expected = {"−2.5": [-2500], "4e-2": [0.04, 7], "½": [0.5, 100]}
    for name in SPLITS:
        rows = dataset.split(name).read(["text"])["text"].to_pylist()
        values = [v for row in rows for key, some in expected.items() if key in row for v in some]
        values += [float(row.rpartition(" ")[2]) for row in rows]
        found = signed.splits[name]
        assert (found.min, found.max) == (min(values), max(values))
        assert found.mean == pytest.approx(np.mean(values))
        assert found.median == pytest.approx(np.median(values))
        assert found.numerals_percent == plain.splits[name].numerals_percent
    assert "min quantity" in description_rows(signed)
    assert "min number" in description_rows(plain)


def test_only_a_dataset_is_ever_replaced(tmp_path: Path) -> None:
    source = SOURCES["folder"](tmp_path)
    for out in (source, tmp_path):
        with pytest.raises(NumerateError, match="not a dataset, so it is not replaced"):
            prepare(source, out, force=True)
    (tmp_path / "empty").mkdir()
    prepare(source, tmp_path / "empty", force=True)
    prepare(source, tmp_path / "empty", force=True)
    assert len(all_rows(tmp_path / "empty")) == 20


def test_lines_without_an_id_are_documents_of_their_own(tmp_path: Path) -> None:
    lines = [f'{{"id": null, "text": "Value {n}."}}' for n in range(5)]
    (tmp_path / "lines.jsonl").write_text("\n".join(lines))
    prepare(tmp_path / "lines.jsonl", tmp_path / "out")
    assert {row["document"] for row in all_rows(tmp_path / "out")} == {
        f"lines.jsonl:{n}" for n in range(1, 6)
    }


def interrupt(folder: Path, number: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Start a long run with two workers, and send its whole group a signal in the middle."""
    command = [sys.executable, "-m", "numerate", "prepare", "cardiac", "--documents", "100000"]
    process = subprocess.Popen(
        [*command, "--processes", "2", "--out", str(folder / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size > 100_000 for path in folder.glob(".out.new-*/*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, number)
    out, errors = process.communicate(timeout=60)  # returns when the last worker is gone
    return subprocess.CompletedProcess(command, process.returncode, out, errors)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    done = interrupt(tmp_path, number)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "")
    assert not list(tmp_path.iterdir())


def test_a_killed_run_leaves_nothing_that_looks_complete(tmp_path: Path) -> None:
    assert interrupt(tmp_path, signal.SIGKILL).returncode == -signal.SIGKILL
    (partial,) = tmp_path.glob(".out.new-*")
    assert not (partial / "manifest.json").exists()
    assert not (tmp_path / "out").exists()
    prepare("cardiac", tmp_path / "out", documents=5)  # and is swept up by the next one
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_force_keeps_the_files_of_others(tmp_path: Path) -> None:
    out = tmp_path / "out"
    prepare("cardiac", out, documents=5)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(NumerateError, match=r"out: holds notes\.txt, which numerate did not write"):
        prepare("cardiac", out, documents=6, force=True)
    assert (out / "notes.txt").read_text() == "mine"
    assert len(all_rows(out)) == 5


def test_a_dataset_that_a_kill_left_hidden_is_put_back_when_it_is_opened(tmp_path: Path) -> None:
    prepare("cardiac", tmp_path / "out", documents=5)
    (tmp_path / "out").rename(tmp_path / ".out.old-0123456789ab")
    names = {"new": None, "old": ".out.old-0123456789ab", "kind": "a dataset", "holder": ""}
    lock = {"format": "numerate lock", "version": 1, **names}
    with pytest.raises(DatasetError, match="not a dataset"):
        Dataset.open(tmp_path / "out")  # a folder that only has such a name
    (tmp_path / ".out.lock").write_text(json.dumps(lock))
    assert len(all_rows(tmp_path / "out")) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["out"]

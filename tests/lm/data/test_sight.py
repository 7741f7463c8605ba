"""What `prepare` stores of tables is what a split has in view, mapped into memory."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lm.data.test_prepare import write_folder

from numerate.cli.console import print_description
from numerate.documents.document import Table
from numerate.errors import DatasetError, NumerateError
from numerate.lm.data.dataset import SPLITS, Dataset, Split
from numerate.lm.data.describe import describe
from numerate.lm.data.document_sight import KeptParagraph, sight_of_document
from numerate.lm.data.prepare import prepare
from numerate.reports.notices import plain_console
from numerate.text.columns import SightColumns
from numerate.text.table_numbers import MAX_NUMBERS, columns_of_texts, numbers_of
from numerate.text.tokenizer import DEFAULT_RULES

ARTICLE = """<article><front><article-meta><article-id pub-id-type="pmc">{id}</article-id>
</article-meta></front><body>
<p>Of {n} patients, 7.{n} % improved (<xref ref-type="table" rid="T2">Table 2</xref>).</p>
<p>Nothing in <xref ref-type="table" rid="T9">Table 9</xref> but 5.</p>
<p>Then 3 in <xref ref-type="table" rid="T1">Table 1</xref> and
<xref ref-type="table" rid="T2">Table 2</xref>.</p>
<table-wrap id="T1"><label>Table 1</label><table>
<thead><tr><th rowspan="2">Group</th><th colspan="2">n = {n}</th></tr></thead>
<tbody><tr><td>all</td><td>{n}</td><td rowspan="2">8</td></tr>
<tr><td>men</td><td>1</td></tr></tbody></table></table-wrap>
<table-wrap id="T2"><table><tr><td>Age</td><td>49 (19–87)</td></tr></table></table-wrap>
<table-wrap><table><tr><td>{n} boxes</td></tr></table></table-wrap>
<table-wrap><graphic/></table-wrap>
<table-wrap><table><tr><td/></tr></table></table-wrap>
<table-wrap><table><tr><td>a</td><td>b</td></tr><tr><td>c<table/></td><td>d</td></tr></table>
</table-wrap>
</body></article>"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sight")
    files = {f"{n:03d}.xml": ARTICLE.format(id=n, n=n + 20).encode() for n in range(12)}
    prepare(write_folder(folder / "corpus", files), folder / "whole", seed=1)
    return folder / "whole"


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "out"))


def numerals(columns: SightColumns, table: int) -> list[str]:
    start, end = columns.number_offsets[table : table + 2]
    return [columns.numerals[code] for code in columns.number_numerals[start:end]]


def in_view(columns: SightColumns, paragraph: int) -> list[list[str]]:
    start, end = columns.view_offsets[paragraph : paragraph + 2]
    return [numerals(columns, table) for table in columns.views[start:end]]


def test_a_paragraph_sees_the_tables_it_refers_to(whole: Path) -> None:
    for name in SPLITS:
        split = Dataset.open(whole).split(name)
        columns, tokens = split.sight("tables"), split.read(["tokens"])["tokens"].to_pylist()
        assert len(columns) == len(tokens)
        for first in range(0, len(tokens), 3):
            n = tokens[first][1]
            age, groups = ["49", "19", "87"], [n, n, "8", "1"]
            assert in_view(columns, first) == [age]
            assert in_view(columns, first + 1) == []
            assert in_view(columns, first + 2) == [groups, age]


def test_a_document_sees_all_its_tables_and_what_was_said_before(whole: Path) -> None:
    split = Dataset.open(whole).split("train")
    columns, tokens = split.sight("document"), split.read(["tokens"])["tokens"].to_pylist()
    for first in range(0, len(tokens), 3):
        n = tokens[first][1]
        age, groups, box = ["49", "19", "87"], [n, n, "8", "1"], [n]
        said = [n, f"7.{n}"]
        assert in_view(columns, first) == [age, groups, box]
        assert in_view(columns, first + 1) == [groups, age, box, said]
        assert in_view(columns, first + 2) == [groups, age, box, said, ["5"]]


def test_sources_lead_back_to_tables_and_paragraphs(whole: Path) -> None:
    split = Dataset.open(whole).split("train")
    columns, tables = split.sight("document"), split.tables()
    tokens = split.read(["tokens"])["tokens"].to_pylist()
    assert columns.sources is not None
    assert sorted(columns.sources[columns.sources >= 0].tolist()) == list(range(len(tables)))
    for table, source in enumerate(columns.sources.tolist()):
        found = numerals(columns, table)
        if source >= 0:
            assert found == [number.text for number in numbers_of(tables[source])]
        else:
            assert [token for token in tokens[-1 - source] if token in found] == found


def test_what_is_stored_is_what_texts_have_in_view(whole: Path) -> None:
    """The same tables, read back and given with texts of a user's."""
    split = Dataset.open(whole).split("test")
    stored, tables = split.sight("tables"), split.tables()
    assert stored.sources is not None
    views = [
        [tables[stored.sources[table]] for table in stored.views[start:end]]
        for start, end in zip(stored.view_offsets, stored.view_offsets[1:], strict=False)
    ]
    given = columns_of_texts(views)
    for paragraph in range(len(stored)):
        assert in_view(stored, paragraph) == in_view(given, paragraph)
        for one, other in zip(
            stored.views[slice(*stored.view_offsets[paragraph : paragraph + 2])],
            given.views[slice(*given.view_offsets[paragraph : paragraph + 2])],
            strict=True,
        ):
            assert bags(stored, one) == bags(given, other)


def bags(columns: SightColumns, table: int) -> list[list[str]]:
    some = columns.bags[columns.bag_offsets[table] : columns.bag_offsets[table + 1]]
    return [[columns.words[code] for code in bag if code >= 0] for bag in some.tolist()]


def test_a_table_within_a_text_does_not_see_itself(tmp_path: Path) -> None:
    text = "Ages of {n}.\n\n|a|b|\n|-|-|\n|x|6{n}|\n\nAs in Table 2, 5.\n\n|a|b|\n|-|-|\n|y|7{n}|"
    files = {f"{n}.txt": text.format(n=n).encode() for n in range(10, 22)}
    prepare(write_folder(tmp_path / "notes", files), tmp_path / "out", seed=1)
    columns = Dataset.open(tmp_path / "out").split("train").sight("document")
    for first in range(0, len(columns), 4):
        one, other = in_view(columns, first)
        n = one[0][1:]
        assert in_view(columns, first + 1) == [other, [n]]
        assert in_view(columns, first + 2) == [other, one, [n], one]
        assert in_view(columns, first + 3) == [one, [n], one, ["2", "5"]]


def test_tables_of_a_lone_text_are_seen_by_none_and_counted(tmp_path: Path) -> None:
    parts = [f"As in Table 1, {n}.\n\n|a|b|\n|-|-|\n|x|{n}|" for n in range(10, 30)]
    (tmp_path / "lone.txt").write_text("\n\n".join(parts))
    manifest = prepare(tmp_path / "lone.txt", tmp_path / "out", seed=1)
    counts = manifest["counts"]
    assert counts["tables_read"] == counts["table_numbers"] == 20
    assert counts["tables_referred"] == counts["numbers_out_of_view"] == 0
    for level in ("tables", "document"):
        assert not len(Dataset.open(tmp_path / "out").split("train").sight(level).views)


def test_it_is_mapped_into_memory(whole: Path) -> None:
    columns = Dataset.open(whole).split("train").sight("document")
    for array in (columns.number_numerals, columns.bags, columns.views, columns.view_offsets):
        assert not array.flags.owndata
        assert not array.flags.writeable


@pytest.mark.parametrize("level", ["none", "paragraph"])
def test_without_tables_in_sight_there_is_nothing(whole: Path, level: str) -> None:
    split = Dataset.open(whole).split("dev")
    columns = split.sight(level)
    assert len(columns) == split.summary["paragraphs"]
    assert not len(columns.views)


def test_other_levels_are_refused(whole: Path) -> None:
    with pytest.raises(NumerateError, match="unknown value of sight 'far': expected one of none"):
        Dataset.open(whole).split("dev").sight("far")


def test_nothing_is_lost_in_silence(whole: Path) -> None:
    counts = json.loads((whole / "manifest.json").read_text())["counts"]
    each = {
        "tables_read": 6,
        "tables_referred": 2,
        "tables_pictures": 1,
        "tables_empty": 1,
        "tables_layout": 1,
        "tables_without_numbers": 1,
        "tables_nested": 1,
        "table_cells": 17,
        "table_cells_merged": 2,
        "table_numbers": 8,
        "table_numbers_left_out": 0,
        "numbers_out_of_view": 0,
    }
    assert {name: counts.get(name) for name in each} == {n: 12 * c for n, c in each.items()}


def test_describe_tells_of_tables(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = Dataset.open(whole)
    print_description(dataset, describe(dataset), plain_console())
    shown = " ".join(capsys.readouterr().out.split())
    assert "72 tables, 24 of them referred to (12 pictures, 12 empty, 12 for layout, " in shown
    assert "204 cells (24 merged), 96 numbers." in shown


def as_before_sight(folder: Path) -> Path:
    """As `prepare` wrote datasets before it stored sight."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in SPLITS:
        about = manifest["splits"][name]
        file = about.pop("sight")["file"]
        del about["tables"], manifest["files"][file]
        (folder / file).unlink()
    manifest["counts"] = {n: c for n, c in manifest["counts"].items() if not n.startswith("table")}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_datasets_made_before_sight_are_refused(out: Path) -> None:
    with pytest.raises(DatasetError, match=r"before 0\.5: splits\.train\.tables is missing"):
        Dataset.open(as_before_sight(out))


def test_every_flipped_bit_is_told(out: Path) -> None:
    path = out / "sight-dev.arrow"
    untouched = path.read_bytes()
    for place in range(0, len(untouched), len(untouched) // 40):
        spoilt = bytearray(untouched)
        spoilt[place] ^= 1
        path.write_bytes(spoilt)
        with pytest.raises(DatasetError, match=r"sight-dev\.arrow: changed since"):
            Dataset.open(out).split("dev").sight("tables")
    path.write_bytes(untouched[:-1])
    with pytest.raises(DatasetError, match=r"got [\d,]+ bytes, expected [\d,]+: damaged"):
        Dataset.open(out)
    path.unlink()
    with pytest.raises(DatasetError, match=r"sight-dev\.arrow is missing"):
        Dataset.open(out)


def sealed_anew(split: Split, **changes: Any) -> Split:
    return replace(split, summary=split.summary | changes)


def test_sight_of_other_paragraphs_is_refused(out: Path) -> None:
    split = Dataset.open(out).split("dev")
    with pytest.raises(DatasetError, match="dev: got sight of 3 paragraphs, expected 4"):
        sealed_anew(split, paragraphs=4).sight("tables")


# One document


def table(name: str, numbers: int) -> Table:
    return Table(name, "", "", [], [[""] + ["1"] * numbers])


def paragraph(numbers: int, *tables: str, holds: tuple[str, ...] = ()) -> KeptParagraph:
    return KeptParagraph(["1"] * numbers, range(numbers), tables, holds)


def test_the_nearest_paragraphs_stay_in_view() -> None:
    paragraphs = [paragraph(1500), paragraph(1000), paragraph(2000), paragraph(1, "t")]
    sight = sight_of_document([table("t", 1000)], paragraphs, DEFAULT_RULES)
    assert sight.document_views == [[0], [0, 1], [0, 1, 2], [0, 2, 3]]
    assert sight.counts["numbers_out_of_view"] == 1500


def test_numbers_of_a_paragraph_that_has_too_many_are_counted() -> None:
    paragraphs = [paragraph(MAX_NUMBERS + 3), paragraph(1), paragraph(1)]
    sight = sight_of_document([], paragraphs, DEFAULT_RULES)
    assert sight.document_views == [[], [0], [1]]
    assert sight.counts["numbers_out_of_view"] == 3 + (MAX_NUMBERS + 3)


def test_what_a_paragraph_holds_is_neither_in_its_view_nor_lacking() -> None:
    tables = [table("a", 2), table("b", 3)]
    sight = sight_of_document(tables, [paragraph(2, "a", holds=("a",))], DEFAULT_RULES)
    assert sight.document_views == [[1]]
    assert not len(sight.columns.views)
    assert sight.counts["numbers_out_of_view"] == 0


def test_a_table_referred_to_twice_is_in_view_once() -> None:
    sight = sight_of_document([table("a", 2)], [paragraph(1, "a", "a")], DEFAULT_RULES)
    assert sight.columns.views.tolist() == [0]
    assert sight.document_views == [[0]]


def test_no_more_is_in_view_than_there_is_room_for() -> None:
    tables = [table("a", MAX_NUMBERS), table("b", 5), table("c", 1)]
    paragraphs = [paragraph(1, "b"), paragraph(1, "a", "b")]
    sight = sight_of_document(tables, paragraphs, DEFAULT_RULES)
    assert sight.document_views == [[1, 2], [0]]
    assert np.diff(sight.columns.view_offsets).tolist() == [1, 1]
    assert sight.columns.views.tolist() == [1, 0]
    assert sight.counts["numbers_out_of_view"] == MAX_NUMBERS + 5 + 1 + 1

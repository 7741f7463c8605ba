"""Whatever happens to a source, what is missing from it is named."""

import bz2
import gzip
import io
import lzma
import os
import random
import tarfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from numerate.documents.reader import Unit
from numerate.documents.sources import Source
from numerate.errors import DocumentError, SourceError
from numerate.lm.data.prepare import prepare

NAMES = tuple(f"a/{n:02d}.txt" for n in range(30))


@cache
def text(name: str) -> bytes:
    chance = random.Random(name)  # hard to compress, so that documents lie far apart
    return f"{name}: ".encode() + bytes(chance.choices(b"0123456789 abcdefgh", k=2000))


@cache
def tar(names: tuple[str, ...] = NAMES) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(text(name))
            archive.addfile(member, io.BytesIO(text(name)))
    return stream.getvalue()


def zipped(names: tuple[str, ...] = NAMES) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, text(name))
    return stream.getvalue()


def read(source: Path, **options: bool) -> tuple[list[str], list[DocumentError]]:
    """The documents that are as they were written, and what is said of the rest."""
    found: list[str] = []
    errors: list[DocumentError] = []
    for unit in Source(source, "auto", **options).units():
        if isinstance(unit, Unit):
            found.append(unit.name)
        else:
            errors.append(unit)
    return found, errors


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "c.tar": tar,
    "c.tar.gz": lambda: gzip.compress(tar(), mtime=0),
    "c.tar.xz": lambda: lzma.compress(tar()),
    "c.tar.bz2": lambda: bz2.compress(tar()),
    "c.zip": zipped,
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_whole_archive_has_no_errors(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(ARCHIVES[name]())
    assert read(tmp_path / name) == ([*NAMES], [])


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_is_cut_anywhere_is_told(tmp_path: Path, name: str) -> None:
    whole = ARCHIVES[name]()
    path = tmp_path / name
    for share in [n / 20 for n in range(20)] + [1 - 1 / len(whole)]:
        path.write_bytes(whole[: int(share * len(whole))])
        found, errors = read(path)
        assert tuple(found) == NAMES[: len(found)]
        if name == "c.tar" and len(found) == len(NAMES) and not errors:
            continue  # cut in the padding after the end marker: nothing is missing
        (error,) = errors
        assert error.where == name
        assert f"{len(found):,} files were read, what follows is lost" in error.reason
    assert tar()[-10240:].count(0) < 10240  # so that the loop has seen cuts inside the documents


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_flipped_bit_is_told_wherever_it_changes_a_document(tmp_path: Path, name: str) -> None:
    whole = ARCHIVES[name]()
    path = tmp_path / name
    chance = random.Random(1)
    harmful = 0
    for _ in range(40):
        spoilt = bytearray(whole)
        spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
        path.write_bytes(spoilt)
        units = list(Source(path, "auto").units())
        intact = {
            unit.name for unit in units if isinstance(unit, Unit) if unit.data == text(unit.name)
        }
        if name == "c.tar":  # which has no sums but those of its headers
            harmful += len(units) < len(NAMES)
            assert len(units) >= len(NAMES) or any(isinstance(u, DocumentError) for u in units)
        elif intact != set(NAMES):
            harmful += 1
            assert any(isinstance(unit, DocumentError) for unit in units)
    assert name == "c.tar" or harmful > 20


def test_a_tar_without_its_end_marker_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c.tar"
    end = len(tar().rstrip(b"\0"))
    end += -end % 512
    for data, reason in (
        (tar()[:end], "empty header, expected a header or the end marker"),
        (tar()[: end + 512], "it breaks off in its end marker"),
        (tar() + tar(("b.txt",)), "its end marker is followed by something else"),
        (tar(NAMES[:9]) + b"x" * 512, "its end marker is followed by something else"),
    ):
        path.write_bytes(data)
        (error,) = read(path)[1]
        assert error.reason.startswith(f"broken archive: {reason}; ")


def test_damage_is_refused_when_strict_and_counted_otherwise(tmp_path: Path) -> None:
    whole = ARCHIVES["c.tar.gz"]()
    path = tmp_path / "c.tar.gz"
    path.write_bytes(whole[: len(whole) // 2])
    manifest = prepare(path, tmp_path / "out")
    assert manifest["counts"]["documents_skipped"] == 1
    assert manifest["skipped"][0]["document"] == "c.tar.gz"
    assert 10 < manifest["counts"]["documents_read"] < 20
    with pytest.raises(DocumentError, match=r"c\.tar\.gz: broken archive"):
        prepare(path, tmp_path / "strict", strict=True)
    path.write_bytes(whole[:-8] + bytes(4) + whole[-4:])  # all is there, but the sum is wrong
    with pytest.raises(DocumentError, match="CRC check failed"):
        prepare(path, tmp_path / "strict", strict=True)
    assert not (tmp_path / "strict").exists()


def test_one_bad_member_of_a_zip_does_not_cost_the_others(tmp_path: Path) -> None:
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as archive:
        for name in NAMES:
            archive.writestr(name, text(name))
    spoilt = bytearray(plain.getvalue())
    at = spoilt.index(text(NAMES[3]))
    spoilt[at + 100] ^= 1  # its sum is wrong now
    deflate64 = (9).to_bytes(2, "little")
    with zipfile.ZipFile(plain) as archive:
        header = archive.getinfo(NAMES[5]).header_offset
    spoilt[header + 8 : header + 10] = deflate64
    central = spoilt.rindex(NAMES[5].encode()) - 46
    spoilt[central + 10 : central + 12] = deflate64
    header = spoilt.index(b"PK\x03\x04", header + 4)
    spoilt[header : header + 4] = b"junk"
    (tmp_path / "c.zip").write_bytes(spoilt)
    found, errors = read(tmp_path / "c.zip")
    assert [error.where for error in errors] == [NAMES[3], NAMES[5], NAMES[6]]
    assert "Bad CRC-32" in errors[0].reason
    assert "compression" in errors[1].reason
    assert found == [name for name in NAMES if name not in {NAMES[3], NAMES[5], NAMES[6]}]


def test_compressed_files_inside_a_tar(tmp_path: Path) -> None:
    packed = gzip.compress(text("b.txt"))
    with tarfile.open(tmp_path / "c.tar.xz", "w:xz") as archive:
        for name, data in (
            ("a.txt.gz", gzip.compress(text("a.txt"))),
            ("cut.txt.gz", packed[:-20]),
            ("b.txt.gz", packed),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    units = list(Source(tmp_path / "c.tar.xz", "auto").units())
    assert [getattr(unit, "data", None) for unit in units] == [text("a.txt"), None, text("b.txt")]
    assert str(units[1]).startswith("cut.txt: cannot be read")


def test_a_file_beside_its_compressed_form_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    (folder / "a.txt-more").mkdir(parents=True)
    for name in ("a.txt", "a.txt-1.txt", "a.txt-more/x.txt", "b.txt", "c.txt"):
        (folder / name).write_bytes(text(name))
    for name in ("a.txt.gz", "a.txt-more/b.txt.gz", "d.txt.gz"):
        (folder / name).write_bytes(gzip.compress(text(name)))
    told, *units = Source(folder, "auto").units()
    assert str(told) == "a.txt.gz: a.txt stands beside it, expected one of them"
    names = [unit.name for unit in units if isinstance(unit, Unit)]
    assert names == sorted(names)
    assert len(names) == len(units) == 7


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"s\xfc")
    folder.mkdir()
    for number in range(4):
        (folder / os.fsdecode(b"%c\xff.txt" % (65 + number))).write_text(f"Value {number}.")
    for byte in (b"\xfe", b"\xff"):
        (folder / os.fsdecode(byte + b".txt")).write_text(f"Value {byte[0]}.")
    (folder / os.fsdecode(b"\xe9.xml")).write_bytes(b"<")
    manifest = prepare(folder, tmp_path / "out")
    assert manifest["options"]["source"] == r"s\xfc"
    assert [skipped["document"] for skipped in manifest["skipped"]] == [r"\xe9.xml"]
    documents = sum(split["documents"] for split in manifest["splits"].values())
    assert documents == 6  # \xfe and \xff are not taken for one


def test_a_folder_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "locked", ".hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.txt").write_text("5")
    scandir = os.scandir

    def guarded(path: str | int) -> object:  # permissions do not bind every user that runs tests
        if not isinstance(path, int) and Path(path).name in {"locked", ".hidden"}:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    found, errors = read(tmp_path)
    assert found == ["a/x.txt"]
    assert list(map(str, errors)) == ["locked: cannot be read: Permission denied"]
    with pytest.raises(DocumentError, match="locked: cannot be read"):
        prepare(tmp_path, tmp_path / "out", strict=True)


def test_links_out_of_a_source_are_followed_only_when_asked(tmp_path: Path) -> None:
    outside, source = tmp_path / "outside", tmp_path / "source"
    (outside / "deep").mkdir(parents=True)
    source.mkdir()
    (outside / "secret.txt").write_text("5")
    (outside / "deep" / "b.txt").write_text("6")
    (source / "a.txt").write_text("7")
    (source / "inner.txt").symlink_to("a.txt")
    (source / "out.txt").symlink_to(outside / "secret.txt")
    (source / "folder").symlink_to(outside / "deep")
    (source / "loop").symlink_to(source)
    (source / "none.txt").symlink_to("nowhere")
    (source / "picture.png").symlink_to(outside / "secret.txt")
    found, errors = read(source)
    assert found == ["a.txt", "inner.txt"]
    assert sorted(error.where for error in errors) == ["folder", "none.txt", "out.txt"]
    assert all("link" in error.reason for error in errors)
    found, errors = read(source, follow_links=True)
    assert found == ["a.txt", "folder/b.txt", "inner.txt", "out.txt"]
    assert [error.where for error in errors] == ["none.txt"]
    linked = tmp_path / "linked"
    linked.symlink_to(source)  # what the user names is followed
    assert read(linked)[0] == ["a.txt", "inner.txt"]


def test_a_prescribed_split_that_leads_out_is_missed(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("dev.txt", "test.txt"):
        (source / name).write_text("Of 5 people.\n\nOf 6 people.")
    (tmp_path / "outside.txt").write_text("Of 7 people.")
    (source / "train.txt").symlink_to(tmp_path / "outside.txt")
    errors: list[DocumentError] = []
    with pytest.raises(SourceError, match="nothing kept in train"):
        prepare(source, tmp_path / "out", on_error=errors.append)
    assert [error.where for error in errors] == ["train.txt"]


def test_a_long_header_is_not_read_into_memory(tmp_path: Path) -> None:
    huge = tarfile.TarInfo("x")
    huge.type, huge.size = tarfile.XHDTYPE, 8 << 30
    (tmp_path / "c.tar").write_bytes(huge.tobuf(tarfile.GNU_FORMAT) + bytes(4096))
    (error,) = read(tmp_path / "c.tar")[1]
    assert "a header that goes on for 8,589,934,592 bytes" in error.reason


def test_a_file_of_exabytes_is_not_waited_for(tmp_path: Path) -> None:
    for kind in (tarfile.REGTYPE, b"Z"):
        member = tarfile.TarInfo("a.bin")
        member.type, member.size = kind, 1 << 60
        (tmp_path / "c.tar").write_bytes(member.tobuf(tarfile.GNU_FORMAT) + bytes(4096))
        (error,) = read(tmp_path / "c.tar")[1]
        assert "it breaks off in the middle of a file" in error.reason


def test_a_source_that_is_empty_where_it_is_read_is_told(tmp_path: Path) -> None:
    """As on a machine on which the disk is not mounted."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("a.txt", "b.txt"):
        (source / name).write_text("In 2016, 412 patients.")
    (block,) = Source(source, "auto").blocks()
    (source / "a.txt").unlink()
    assert isinstance(next(block.units()), DocumentError)  # one file that has gone is left out
    (source / "b.txt").unlink()
    with pytest.raises(SourceError, match="source: no such folder on "):
        list(block.units())

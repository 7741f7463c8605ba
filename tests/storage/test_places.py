"""What users call places, and how copies of them are called the same."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.errors import NumerateError, printable
from numerate.places import (
    as_place,
    copy_folder,
    from_there,
    is_remote,
    local_path,
    name_of,
    place_of,
)
from numerate.storage import file_here, filesystem, here, published, write
from numerate.storage.folder_kind import FolderKind


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache"))


@pytest.mark.parametrize(
    "place", ["s3://b/x", "gs://b", "memory://x", "zip::s3://b/x.zip", "S3://b"]
)
def test_addresses_are_elsewhere(place: str) -> None:
    assert is_remote(place)
    assert as_place(f"{place}/") == place


@pytest.mark.parametrize(
    "place",
    ["data", "/data/x", "./s3/b", "file:///data/x", "hf:/models/x", "C:x", ""],
)
def test_paths_are_here(place: str) -> None:
    assert not is_remote(place)


def test_an_address_of_this_machine_is_a_path(tmp_path: Path) -> None:
    assert local_path(f"file://{tmp_path}/with%20blank") == tmp_path / "with blank"
    assert here(f"file://{tmp_path}/x") == tmp_path / "x"
    assert as_place(f"file://{tmp_path}/x") == tmp_path / "x"
    write(f"file://{tmp_path}/x", b"data")
    assert (tmp_path / "x").read_bytes() == b"data"
    kind = FolderKind("a folder", "s", lambda _: None, "s")
    with published(f"file://{tmp_path}/d", kind) as folder:
        (folder / "s").touch()
    assert [path.name for path in (tmp_path / "d").iterdir()] == ["s"]


part = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20
)


@given(st.lists(part, min_size=1, max_size=4), st.sampled_from(["0123456789abcdef", "work", "new"]))
def test_a_copy_knows_what_it_is_a_copy_of(parts: list[str], version: str) -> None:
    place = "s3://" + "/".join(parts)
    folder = copy_folder(place, version)
    assert ".." not in folder.parts
    assert place_of(folder) == place
    assert place_of(folder / "model.safetensors") == f"{place}/model.safetensors"
    assert name_of(folder) == parts[-1]
    message = f"{folder / 'a.json'}: spoilt; see {folder} and /tmp/@x"
    assert printable(message) == printable(f"{place}/a.json: spoilt; see {place} and /tmp/@x")


def test_a_cache_may_be_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "link"))
    folder = copy_folder("s3://b/x", "new")
    assert place_of(folder) == place_of(folder.resolve()) == "s3://b/x"


def test_other_paths_are_no_copies(tmp_path: Path) -> None:
    assert place_of(tmp_path / "@work") is None
    assert name_of(tmp_path / "data") == "data"


def test_what_lies_beside_is_found_from_there() -> None:
    assert from_there("s3://bucket/runs/mog", "../../data/c") == "s3://bucket/data/c"
    assert from_there("/runs/mog", "../../data/c") == "/data/c"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("zz://b/x", r"zz://b/x: unknown protocol zz://: expected a path, or s3://"),
        (Path("s3://b/x"), r"s3:/b/x: got a Path, which spoils addresses; expected a string"),
        ("ftp://me:hidden@host/x", r"ftp://host/x: got a password in the address, .*FTP_PASSWORD"),
        ("simplecache::ftp://me:hidden@host/x", r"ftp://host/x: got a password in the address"),
        ("s3://me:hidden@[b/x", r"\[b/x: no address: Invalid IPv6 URL"),
        ("file://data/x", r"file://data/x: got the machine 'data', expected file:///, with three"),
    ],
)
def test_what_is_no_address_is_refused(place: str | Path, message: str) -> None:
    for use in (here, file_here, filesystem, lambda place: write(place, b"")):
        with pytest.raises(NumerateError, match=message) as caught:
            use(place)
        assert "hidden" not in str(caught.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr("fsspec.core.url_to_fs", missing)
    with pytest.raises(NumerateError, match=r"^s3://b/x: .*s3fs.*: pip install 'num"):
        here("s3://b/x")
    with pytest.raises(NumerateError, match=r"^gs://b/x: .*gcsfs.*"):
        here("gs://b/x")

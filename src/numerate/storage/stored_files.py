"""What lies in a place elsewhere: names, sizes, and the marks by which a store tells versions."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from numerate.errors import NumerateError
from numerate.storage.filesystems import told
from numerate.storage.folder_kind import SUMS, temporary_name

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

AT_ONCE = 8  # files under way
_PAGES = (".html", ".htm", ".xhtml")
_MARKS = ("ETag", "etag", "md5Hash", "content_md5", "checksum", "crc32c")
_TIMES = (
    "LastModified",
    "last_modified",
    "modificationTime",
    "updated",
    "mtime",
    "modified",
    "modify",
    "created",
)


class Entry(NamedTuple):
    size: int | None
    mark: str  # another one, another content; where a store has none, the time of its change

    @classmethod
    def of(cls, info: dict[str, Any]) -> "Entry":
        told = next((info[key] for key in (*_MARKS, *_TIMES) if info.get(key)), "")
        return cls(info.get("size"), str(told))


Listing = dict[str, Entry]


def listing(system: "AbstractFileSystem", root: str) -> Listing:
    """The files of a folder, by their names in it; none where there is no such folder.

    Hidden files are not its content. Of a file some stores find itself, and say nothing of it.
    """
    if _is_on_the_web(root) and root.lower().endswith(_PAGES):
        return {}  # or what it links to would be in it
    system.invalidate_cache()
    try:
        found = system.find(root, detail=True)
    except FileNotFoundError:
        return {}
    base = PurePosixPath(system._strip_protocol(root))
    entries = {}
    for path, info in found.items():
        relative = PurePosixPath(path)
        if info.get("type") != "file" or relative == base or not relative.is_relative_to(base):
            continue
        name = relative.relative_to(base)
        if ".." in name.parts:
            raise NumerateError(f"{root}: holds {name}, which leads out of it")
        if not name.parts[0].startswith("."):
            entries[str(name)] = Entry.of(info)
    return entries


def sums_of(system: "AbstractFileSystem", root: str) -> dict[str, str]:
    """The hashes of the files that were published together; none where nobody noted them."""
    if _is_on_the_web(root):
        return {}
    try:
        sums = json.loads(system.cat_file(f"{root}/{SUMS}"))
    except (FileNotFoundError, ValueError):
        return {}
    return sums if isinstance(sums, dict) else {}


def check_bucket(system: "AbstractFileSystem", root: str, place: str) -> None:
    """Refuse a place in a bucket that does not exist; other file systems have none."""
    bucket = root.split("/", 1)[0]
    with told(place):
        if _is_on_the_web(root):
            system.ls(root)  # where there is no server, or nothing, that says so
        elif bucket and not system.exists(bucket):
            raise NumerateError(f"{place}: no such bucket: {bucket}")


def _is_on_the_web(root: str) -> bool:
    """There, paths are whole addresses."""
    return root.lower().startswith(("http://", "https://"))


def make_parent(system: "AbstractFileSystem", path: str) -> None:
    """Where folders are more than the beginnings of names, a file needs one."""
    if path.startswith("/"):
        system.makedirs(path.rsplit("/", 1)[0], exist_ok=True)


@contextmanager
def appearing_whole(system: "AbstractFileSystem", path: str) -> Iterator[str]:
    """The name under which to write a file, so that it appears whole, or replaces one.

    In an object store every file does so. Elsewhere (HDFS, SFTP) a file is there from its first
    byte on, and what is cut off stays; so it is written under a hidden name, and renamed.
    """
    if not path.startswith("/"):
        yield path
        return
    folder, _, name = path.rpartition("/")
    part = f"{folder}/{temporary_name(name)}"
    try:
        yield part
        _rename_over(system, part, path)
    except BaseException:
        with suppress(Exception):  # what is the matter is told by what was raised
            system.rm_file(part)
        raise


def _rename_over(system: "AbstractFileSystem", part: str, path: str) -> None:
    """In one step where a store can (SFTP); where it refuses (HDFS), what is there goes first."""
    try:
        system.mv(part, path)
    except Exception:
        if not system.exists(part) or not system.exists(path):
            raise
    if system.exists(part):  # some refuse without a word
        system.rm_file(path)
        system.mv(part, path)


def put_whole(system: "AbstractFileSystem", path: str, data: bytes) -> None:
    """Write a file that appears whole, or replace one."""
    with appearing_whole(system, path) as part:
        system.pipe_file(part, data)


def version_of(entries: Listing) -> str:
    """A name for exactly these files."""
    lines = (f"{name}\0{size}\0{mark}\n" for name, (size, mark) in sorted(entries.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def all_at_once(work: Callable[[str], None], names: Iterable[str]) -> None:
    """Do it for some files side by side; the first failure ends all."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = [pool.submit(work, name) for name in names]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise

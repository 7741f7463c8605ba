"""What users call places: folders and files of this machine, and addresses such as `s3://b/run`.

What lies elsewhere is worked on in a copy on this machine. The copy's path says of which place it
is, so that every process can call it what the user calls it.
"""

import os
import re
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(?:://|::)")
_SPOILT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # how Path leaves an address: s3:/bucket/run
LOCAL = ("file", "local")
WORK, NEW = "work", "new"  # in the place of a version: what is being made here; what is not yet
WRITER = "writer"  # in the place of a version: whose lock its writer on this machine has
_COPIES, _COPY = "elsewhere", r"/([^\s'\"]*?)/@[0-9a-z]+"


def default_cache() -> Path:
    """Where what can be made or fetched again is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "numerate"


def is_remote(place: str | Path) -> bool:
    """Whether a place is an address of another file system; `file://` is this machine's."""
    protocol = protocol_of(place)
    return protocol is not None and protocol not in LOCAL


def protocol_of(place: str | Path) -> str | None:
    """`s3` of `s3://bucket/run`; None of a plain path."""
    if isinstance(place, Path):
        return None
    found = _ADDRESS.match(place)
    return found.group(1).lower() if found else None


def origin(place: str | Path) -> tuple[tuple[str, str], ...] | None:
    """The file system and the host or bucket of an address, of each link of a chain
    (`zip://a::s3://b/c.zip`); None of a plain path."""
    if protocol_of(place) is None:
        return None
    links = [link.partition("://") for link in str(place).split("::")]
    return tuple((protocol.lower(), rest.partition("/")[0]) for protocol, _, rest in links)


def local_path(place: str | Path) -> Path:
    """The path of a place on this machine."""
    if isinstance(place, str) and protocol_of(place) in LOCAL:
        return Path(unquote(urlsplit(place).path))
    return Path(place)


def as_place(place: str | Path) -> str | Path:
    """A path where it is one of this machine, else the address as it is."""
    return str(place).rstrip("/") if is_remote(place) else local_path(place)


def is_spoilt(place: str | Path) -> bool:
    """Whether it is an address that was made a Path, which leaves only one of its slashes."""
    if not isinstance(place, Path) or not place.parts:
        return False
    return bool(_SPOILT.fullmatch(place.parts[0])) and not os.path.lexists(place.parts[0])


def join(place: str | Path, name: str) -> str | Path:
    """A file in a folder, wherever that is."""
    return f"{place.rstrip('/')}/{name}" if isinstance(place, str) else place / name


def from_there(place: str, relative: str) -> str:
    """What a relative path leads to from a folder, wherever that is."""
    protocol, separator, path = place.rpartition("://")
    return protocol + separator + os.path.normpath(os.path.join(path, relative))


def copy_folder(place: str, version: str) -> Path:
    """Where a version of what lies elsewhere is, or is made, on this machine."""
    protocol, _, rest = place.partition("://")
    parts = [_part(part) for part in (protocol, *rest.rstrip("/").split("/"))]
    return _copies().joinpath(*parts, f"@{version}")


def _copies() -> Path:
    """Without links, as whoever resolves a path of a copy has it."""
    return (default_cache() / _COPIES).resolve()


def work_of(place: str | Path, launch: int = 0) -> Path:
    """Where something is made that is to lie elsewhere; of several that were launched together,
    perhaps with one cache, each has its own."""
    return copy_folder(str(place), f"{WORK}{launch or ''}")


def _part(part: str) -> str:
    quoted = quote(part, safe="+=,;()!~")
    return quoted.replace(".", "%2E") if quoted in (".", "..") else quoted or "%"


def place_of(path: str | Path) -> str | None:
    """The place that a copy on this machine, or a file in it, is of; None of other paths."""
    named = as_named(str(path))
    return named if named != str(path) else None


def name_of(path: Path) -> str:
    """The last part of what a place is called."""
    elsewhere = place_of(path)
    return path.name if elsewhere is None else elsewhere.rpartition("/")[2]


def version_folder(path: Path) -> Path | None:
    """The copy that a file lies in, or is."""
    root = _copies()
    if path.is_relative_to(root):
        for parent in reversed([path, *path.parents]):
            if parent.is_relative_to(root) and parent.name.startswith("@"):
                return parent
    return None


def is_being_made(path: Path) -> bool:
    """Whether it is where something is made that will lie elsewhere."""
    folder = version_folder(path)
    return folder is not None and folder.name.startswith(f"@{WORK}")


def as_named(text: str) -> str:
    """A message in the user's words: what lies elsewhere is called by its address."""
    if "/@" not in text:
        return text
    return re.sub(re.escape(str(_copies())) + _COPY, _address, text)


def _address(copy: re.Match[str]) -> str:
    protocol, *parts = copy.group(1).split("/")
    return f"{unquote(protocol)}://" + "/".join("" if p == "%" else unquote(p) for p in parts)

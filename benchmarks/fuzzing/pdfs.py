"""Damaged PDFs, checked: their bytes, or the numbers that say where something stands."""

import random
import re
import zlib
from pathlib import Path

import numerate
from fuzzing.articles import (
    MUTATIONS,
    damaged,
    delete_span,
    duplicate_span,
    flip_bytes,
    truncate,
)
from fuzzing.kind import Setting

DATA = Path(__file__).parents[2] / "tests" / "data"
_STREAM = re.compile(
    rb"<<([^<>]*)/Filter\s*/FlateDecode([^<>]*)>>\s*stream\r?\n(.*?)endstream", re.S
)
_NUMBER = re.compile(rb"(?<=[\s\[])-?[0-9]+(?:\.[0-9]+)?(?=[\s\]])")
_NUMBERS = (b"0", b"-1", b"1e9", b"99999999999", b"-32768", b"0.000001", b"595", b"90", b"nan")


class Pdfs:
    share = 1.0

    def __init__(self, setting: Setting) -> None:
        given = [path for path in setting.sources if path.suffix == ".pdf"]
        files = {path.name: path.read_bytes() for path in sorted(given or DATA.rglob("*.pdf"))}
        self._files = files | {f"plain-{name}": _plain(data) for name, data in files.items()}

    def damage(self, chance: random.Random, folder: Path) -> str:
        name = chance.choice(sorted(self._files))
        kinds = (change_numbers, flip_bytes, delete_span, duplicate_span, truncate, *MUTATIONS)
        data, how = damaged(self._files[name], chance, kinds)
        (folder / name).write_bytes(data)
        return f"{name} after {how}"

    def use(self, folder: Path) -> str:
        [path] = folder.iterdir()
        numerate.check(path)
        return "read"


def change_numbers(data: bytearray, chance: random.Random) -> None:
    """Places, sizes, matrices and references to other parts."""
    places = [match.span() for match in _NUMBER.finditer(data)]
    for start, end in sorted(chance.sample(places, min(len(places), 30)), reverse=True):
        data[start:end] = chance.choice(_NUMBERS)


def _plain(data: bytes) -> bytes:
    """With what is compressed in it as it reads; readers find parts that have moved."""

    def inflated(match: re.Match[bytes]) -> bytes:
        try:
            inside = zlib.decompress(match[3])
        except zlib.error:
            return match.group()
        return b"<<%s%s>>\nstream\n%s\nendstream" % (match[1], match[2], inside)

    return _STREAM.sub(inflated, data)

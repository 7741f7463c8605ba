"""Damaged archives, read as `numerate prepare` does: no document is lost without a word."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from fuzzing.kind import Setting
from numerate.documents.reader import Unit
from numerate.documents.sources import Source
from numerate.errors import DocumentError

NAMES = [f"{'long/' * (40 * (n % 5 == 0))}{n:02d}.txt{'.gz' * (n % 4 == 0)}" for n in range(12)]
BLOCK = 512  # bytes of a tar

Mutation = Callable[[bytearray, random.Random], None]


def text(name: str) -> bytes:
    return bytes(random.Random(name).choices(b"0123456789 abcdef\n", k=3000))


def content(name: str) -> bytes:
    return gzip.compress(text(name), mtime=0) if name.endswith(".gz") else text(name)


def tar(format: int) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=format) as archive:
        for name in NAMES:
            member = tarfile.TarInfo(name)
            member.size = len(content(name))
            archive.addfile(member, io.BytesIO(content(name)))
    return stream.getvalue()


def zipped(method: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name in NAMES:
            archive.writestr(name, content(name))
    return stream.getvalue()


ARCHIVES = {
    "pax.tar": tar(tarfile.PAX_FORMAT),
    "gnu.tar": tar(tarfile.GNU_FORMAT),
    "c.tar.gz": gzip.compress(tar(tarfile.PAX_FORMAT), mtime=0),
    "c.tar.xz": lzma.compress(tar(tarfile.GNU_FORMAT)),
    "c.tar.bz2": bz2.compress(tar(tarfile.GNU_FORMAT)),
    "stored.zip": zipped(zipfile.ZIP_STORED),
    "deflated.zip": zipped(zipfile.ZIP_DEFLATED),
    "lzma.zip": zipped(zipfile.ZIP_LZMA),
}


def flip_bits(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 1, 5, 50))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def delete_span(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    del data[start : start + chance.choice((1, 100, BLOCK, 10 * BLOCK))]


def repeat_span(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data)) // BLOCK * BLOCK
    data[start:start] = data[start : start + chance.choice((BLOCK, 9 * BLOCK))]


def overwrite(data: bytearray, chance: random.Random) -> None:
    """A bad sector: a block of zeros, ones or noise."""
    start = chance.randrange(len(data)) // BLOCK * BLOCK
    size = min(BLOCK, len(data) - start)
    noise = chance.choice((bytes(size), b"\xff" * size, chance.randbytes(size)))
    data[start : start + size] = noise


def append(data: bytearray, chance: random.Random) -> None:
    data += chance.choice((bytes(data), b"x", bytes(2048), chance.randbytes(1000)))


DAMAGE: tuple[Mutation, ...] = (flip_bits, cut, delete_span, repeat_span, overwrite, append)
SHIFTS = {delete_span, repeat_span}  # a plain tar, which has no sums, may be well-formed after them


def forge_header(data: bytearray, chance: random.Random) -> None:
    """A field of a tar's header is changed, and its sum made right: a lie, not an accident."""
    blocks = range(0, len(data), BLOCK)
    at = chance.choice([at for at in blocks if data.startswith(b"ustar", at + 257)])
    fields = ((0, 100), (124, 136), (136, 148), (156, 157), (157, 257), (345, 500))
    low, high = chance.choice(fields)
    values = (
        b"\xff" * 12, b"\x80" + b"\xff" * 11, b"77777777777\0", b"-1", b"S", b"x", b"g", b"L", b"K",
        b"5", b"2", b"../../etc/passwd", b"/etc/passwd", b"\x1b[31m\xff\n.txt", b"\0" * 12,
    )  # fmt: skip
    field = chance.choice(values)[: high - low]
    data[at + low : at + low + len(field)] = field
    data[at + 148 : at + 156] = b" " * 8
    data[at + 148 : at + 156] = b"%06o\0 " % sum(data[at : at + BLOCK])


def forge_entry(data: bytearray, chance: random.Random) -> None:
    """A field of a ZIP's directory or of a member's own header is changed."""
    marks = (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06")
    starts = [at for mark in marks for at in range(len(data)) if data.startswith(mark, at)]
    at = chance.choice(starts) + chance.randrange(4, 42)
    width = chance.choice((1, 2, 4))
    data[at : at + width] = chance.choice(
        (bytes(width), b"\xff" * width, b"\x09\0\0\0"[:width], chance.randbytes(width))
    )


class Archives:
    """Besides crashes, it looks for silence: fewer documents than there were, and no error."""

    share = 1.0

    def __init__(self, setting: Setting) -> None:
        self.noticeable = (
            True  # whether a loss of documents from the archive at hand can be noticed
        )

    def damage(self, chance: random.Random, folder: Path) -> str:
        name = chance.choice(sorted(ARCHIVES))
        data = bytearray(ARCHIVES[name])
        chosen: list[Mutation]
        if name.endswith((".tar", ".zip")) and chance.random() < 0.3:
            chosen = [forge_header if name.endswith(".tar") else forge_entry]
        else:
            chosen = chance.choices(DAMAGE, k=chance.choice((1, 1, 2)))
        for mutation in chosen:
            if data:
                mutation(data, chance)
        forged = not set(chosen) <= set(DAMAGE)
        well_formed = SHIFTS & set(chosen) or {cut, append} <= set(chosen)  # zeros are its end
        self.noticeable = not forged and not (name.endswith(".tar") and well_formed)
        (folder / name).write_bytes(data)
        return f"{name} after {', '.join(mutation.__name__ for mutation in chosen)}"

    def use(self, folder: Path) -> str:
        (path,) = folder.iterdir()
        source = Source(path, "auto")
        units = list(source.units())
        errors = [unit for unit in units if isinstance(unit, DocumentError)]
        assert all(str(error).isprintable() for error in errors), "an error of several lines"
        read = {unit.name: unit.data for unit in units if isinstance(unit, Unit)}
        if errors:
            return "told"
        if self.noticeable:
            if path.suffix == ".tar":  # it has no sums of contents, nor has a ZIP of names
                lost = len(NAMES) - len(units) - source.progress.ignored
            else:
                known = {
                    gzip.decompress(content(n)) if n.endswith(".gz") else content(n) for n in NAMES
                }
                lost = len(known - set(read.values())) - source.progress.ignored
            assert lost <= 0, f"{lost} documents lost without a word"
        return "read"

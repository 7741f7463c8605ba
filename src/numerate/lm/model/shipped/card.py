"""What a model that comes with a package says of itself, and what its files must be."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from numerate.errors import RunError
from numerate.storage.records import read_record, typed, write_record
from numerate.storage.regular_files import file_digest

CARD = "model.json"
FORMAT, VERSION = "numerate shipped model", 1


@dataclass(frozen=True, slots=True)
class Corpus:
    """What it was trained on."""

    name: str
    documents: int
    licence: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """How good it is: of what, and where that was measured."""

    of: str
    on: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """`model.json`"""

    format: str
    version: int
    summary: str
    languages: list[str]
    licence: str
    trained_on: list[Corpus]
    figures: list[Figure]
    numerate: str  # version that made it
    language_model: str | None = None  # folders and files within its own
    detector: str | None = None
    files: dict[str, str] = field(default_factory=dict)  # SHA-256 of each


@dataclass(frozen=True)
class ShippedModel:
    name: str
    folder: Path

    @cached_property
    def card(self) -> Card:
        path = self.folder / CARD
        try:
            about = read_record(path, {}, RunError)
        except (FileNotFoundError, NotADirectoryError):
            raise RunError(f"model {self.name!r}: {path} is missing") from None
        if (about.get("format"), about.get("version")) != (FORMAT, VERSION):
            got = f"{about.get('format', 'none')} {about.get('version', '')}".strip()
            raise RunError(f"{path}: got format {got!r}, expected '{FORMAT} {VERSION}'")
        return typed(Card, read_record(path, Card, RunError))

    @property
    def size(self) -> int:
        """Bytes of its files, of those that are there."""
        files = (self.folder / name for name in self.card.files)
        return sum(file.stat().st_size for file in files if file.is_file())

    @property
    def language_model(self) -> Path | None:
        return self._part(self.card.language_model)

    @property
    def detector(self) -> Path | None:
        return self._part(self.card.detector)

    def _part(self, name: str | None) -> Path | None:
        return None if name is None else self.folder / name

    def verify(self) -> None:
        """Raise RunError where a file has changed or cannot be read."""
        for name, digest in self.card.files.items():
            try:
                found = file_digest(self.folder / name)
            except OSError as error:
                reason = f"{name} cannot be read ({error.strerror}); install its package again"
                raise RunError(f"model {self.name!r}: {reason}") from None
            if found != digest:
                raise RunError(
                    f"model {self.name!r}: {name} is not the file that was shipped: got SHA-256 "
                    f"{found[:12]}…, expected {digest[:12]}…; install its package again"
                )


def write_card(folder: Path, about: dict[str, Any]) -> None:
    """Of all files in a folder, which must not change after that."""
    files = {
        path.relative_to(folder).as_posix(): file_digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != CARD
    }
    write_record(folder / CARD, {"format": FORMAT, "version": VERSION, **about, "files": files})

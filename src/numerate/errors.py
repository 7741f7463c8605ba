"""The errors users see. Every message is one line: what, where, got, expected."""

from collections.abc import Iterable
from difflib import get_close_matches

MAX_REASON = 300


def one_line(reason: object) -> str:
    """What a library says of what it read, made one short line."""
    return " ".join(str(reason).split())[:MAX_REASON]


class NumerateError(Exception):
    """Anything the user can mend; the command line prints it as one line and exits with 1."""


def check_choice(what: str, got: str, choices: Iterable[str]) -> None:
    """Refuse a name that is none of the choices; a slip of the pen is told what it meant."""
    expected = list(choices)
    if got not in expected:
        close = get_close_matches(got, expected, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise NumerateError(f"unknown {what} {got!r}: {hint}expected one of {', '.join(expected)}")


class DocumentError(NumerateError):
    """One document cannot be read. `prepare` skips and counts it unless told to be strict.

    Parsers quote what they read and file names hold anything: both are made one short line.
    """

    def __init__(self, where: str, reason: str) -> None:
        self.where = " ".join(where.split())
        self.reason = one_line(reason)
        super().__init__(f"{self.where}: {self.reason}")

    def __reduce__(self) -> tuple[type["DocumentError"], tuple[str, str]]:
        return type(self), (self.where, self.reason)


class SourceError(NumerateError):
    """A source as a whole cannot be read: missing, empty, a broken archive."""


class DatasetError(NumerateError):
    """A prepared dataset is missing, incomplete, or of another version."""


class BackboneError(NumerateError):
    """A pretrained model is missing, broken, or of a kind that cannot be used."""


class RunError(NumerateError):
    """A run directory or checkpoint is missing, broken, or does not fit what is asked of it."""

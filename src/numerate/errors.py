"""The errors users see. Every message is one line: what, where, got, expected."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from numerate.places import as_named

MAX_REASON = 300
# Exit statuses; that of a mistake of ours is as BSD's sysexits.h has it.
FAILED, WRONG_USE, BROKEN = 1, 2, 70


def counted(count: int, what: str) -> str:
    """`1 page`, `2,000 pages`."""
    return f"{count:,} {what}{'s' * (count != 1)}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def printable(text: object) -> str:
    """What strangers wrote, file names among it, made fit for a terminal: no character of it acts.

    A copy of what lies elsewhere is called by its address, as its user calls it. White space
    becomes spaces. Control and formatting characters, with which a name could colour the screen
    or turn the direction of reading, and bytes that are no UTF-8 are written out.
    """
    return "".join(c if c.isprintable() else _written_out(c) for c in as_named(str(text)))


def _written_out(character: str) -> str:
    if character.isspace():
        return " "
    byte = ord(character) - 0xDC00  # how Python keeps a byte of a name that is no UTF-8
    if 0x80 <= byte <= 0xFF:
        return f"\\x{byte:02x}"
    return character.encode("unicode_escape").decode()


def one_line(reason: object) -> str:
    """What a library says of what it read, made one short line."""
    return " ".join(printable(reason).split())[:MAX_REASON]


class NumerateError(Exception):
    """Anything the user can mend; the command line prints it as one line and exits with 2."""

    def __init__(self, message: object) -> None:
        super().__init__(" ".join(printable(message).split()))


class FailureError(NumerateError):
    """What was asked for is right, and yet it failed on the way; exits with 1."""


class WorkerDiedError(FailureError):
    """A worker process ended in the middle of its work, perhaps because of it."""


def check_choice(what: str, got: str, choices: Iterable[str]) -> None:
    """Refuse a name that is none of the choices; a slip of the pen is told what it meant."""
    expected = list(choices)
    if got not in expected:
        close = get_close_matches(got, expected, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise NumerateError(f"unknown {what} {got!r}: {hint}expected one of {', '.join(expected)}")


class TooLongError(NumerateError):
    """More text than can be worked on in reasonable time and memory."""


class DocumentError(NumerateError):
    """One document cannot be read. `prepare` skips and counts it unless told to be strict.

    Parsers quote what they read and file names hold anything: both are made one short line.
    """

    def __init__(self, where: str, reason: str) -> None:
        self.where = one_line(where)
        self.reason = one_line(reason)
        super().__init__(f"{self.where}: {self.reason}")

    def __reduce__(self) -> tuple[type["DocumentError"], tuple[str, str]]:
        return type(self), (self.where, self.reason)


class NotInstalledError(DocumentError):
    """A document that can be read as soon as a package is installed."""


class SourceError(NumerateError):
    """A source as a whole cannot be read: missing, empty, a broken archive."""


class DatasetError(NumerateError):
    """A prepared dataset is missing, incomplete, or of another version."""


class BackboneError(NumerateError):
    """A pretrained model is missing, broken, or of a kind that cannot be used."""


class RunError(NumerateError):
    """A run directory or checkpoint is missing, broken, or does not fit what is asked of it."""


class CalibrationError(NumerateError):
    """There is nothing to calibrate a model on: it predicts, but cannot tell what is odd."""


class DomainWarning(UserWarning):
    """A text is unlike what the model was trained on: what it finds there is uncalibrated."""

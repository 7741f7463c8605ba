"""How much one request may ask for, and how many may ask at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numerate.serve.problems import RefusedError
from numerate.text.tokenizer import Token

FILES = "/v1/document"  # where files are sent, and what is below it


@dataclass(frozen=True, slots=True)
class Limits:
    """The defaults suit a few dozen people on two cores."""

    characters: int = 20_000  # of all texts in a request
    numerals: int = 1_000  # of all texts in a request
    gap_tokens: int = 500  # around a gap, read once for every candidate
    claims: int = 100  # that are ranked together
    tables: int = 20  # in view
    table_characters: int = 100_000  # of all of them
    table_numbers: int = 1024  # of all of them: more would take too long
    body_bytes: int = 1536 * 1024  # twelve for a character, the longest way JSON can write one
    file_bytes: int = 32 << 20  # of a file that is opened
    file_characters: int = 1_000_000  # of its text and tables, as read
    file_seconds: float = 60.0  # for it to be read and checked
    seconds: float = 10.0  # for the body of a request to arrive, and again for its answer
    head_seconds: float = 10.0  # for its head to arrive, and for its answer to be read
    idle_seconds: int = 5  # between two requests, when nothing comes
    connections: int = 500  # that are open at a time
    per_address: int = 100  # of them from one address
    threads: int = 2  # that compute at a time
    waiting: int = 30  # requests that may wait for a thread; further ones are turned away

    def answer_seconds(self, path: str) -> float:
        """How long an answer may take."""
        return max(self.seconds, self.file_seconds) if path.startswith(FILES) else self.seconds

    def check(self, texts: Sequence[str], tokens: Callable[[str], list[Token]]) -> None:
        """Refuse texts that are too many or too long, before anything is computed.

        Numerals are counted as the model counts them, however they are written.
        """
        _at_most(self.claims, len(texts), "texts")
        _at_most(self.characters, sum(map(len, texts)), "characters")
        numerals = sum(token.is_numeral for text in texts for token in tokens(text))
        _at_most(self.numerals, numerals, "numerals")

    def check_bytes(self, count: int) -> None:
        """Refuse a file that holds too much once it is unpacked, before it is read."""
        _at_most(self.file_bytes, count, "bytes in the file")

    def check_file(self, characters: int) -> None:
        """Refuse a file with more text than is checked, once it has been read."""
        _at_most(self.file_characters, characters, "characters in the file")

    def check_tables(self, count: int, characters: int) -> None:
        """Refuse tables that are too many or too long, before they are read."""
        _at_most(self.tables, count, "tables")
        _at_most(self.table_characters, characters, "characters in tables")

    def check_numbers(self, count: int) -> None:
        """Refuse tables with more numbers than are seen, once they have been read."""
        _at_most(self.table_numbers, count, "numbers in tables")


FOR_LARGE_MODELS = Limits(seconds=60.0, file_seconds=600.0, gap_tokens=100)


def _at_most(limit: int, got: int, what: str) -> None:
    if got > limit:
        raise RefusedError(413, f"too long: got {got:,} {what}, expected at most {limit:,}")

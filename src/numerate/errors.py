"""The errors users see. Every message is one line: what, where, got, expected."""


class NumerateError(Exception):
    """Anything the user can mend; the command line prints it as one line and exits with 1."""


class DocumentError(NumerateError):
    """One document cannot be read. `prepare` skips and counts it unless told to be strict."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason

    def __reduce__(self) -> tuple[type["DocumentError"], tuple[str, str]]:
        return type(self), (self.where, self.reason)


class SourceError(NumerateError):
    """A source as a whole cannot be read: missing, empty, a broken archive."""


class DatasetError(NumerateError):
    """A prepared dataset is missing, incomplete, or of another version."""


class RunError(NumerateError):
    """A run directory or checkpoint is missing, broken, or does not fit what is asked of it."""

"""The work on single documents, wherever it is done: each worker opens its models once."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from numerate.documents import AUTO, documents
from numerate.documents.document import Document
from numerate.documents.reader import Unit
from numerate.documents.table_file import is_table_file, read_table_file
from numerate.errors import DocumentError, NotInstalledError, NumerateError, one_line
from numerate.proofread.audit.audited import (
    CHECKED,
    FAILED,
    UNREAD,
    Audited,
    document_row,
    finding_row,
)
from numerate.proofread.audit.looked_for import LookedFor
from numerate.proofread.audit.packets import Piece
from numerate.proofread.audit.same_everywhere import check_folder, check_models
from numerate.proofread.models import models_asked
from numerate.proofread.session import Session
from numerate.reports.notices import kept
from numerate.threads import use_threads

Audit = Callable[[Sequence[Piece]], list[Audited]]


class TookTooLongError(BaseException):
    """Of one document. Nobody on the way takes it for a mistake of a rule, or of a file."""


def auditor(what: LookedFor, timeout: float, installed: dict[str, str]) -> Audit:
    """What a worker does with pieces, if it has the models that are `installed` with the driver.

    One thread each: there are as many workers as cores, and sums must not depend on how many
    threads there were to share them.
    """
    use_threads(1)
    with kept():  # what the driver has told of what is installed
        here = what.usual()
    check_models(here, installed)
    return Auditor(what, timeout)


class Auditor:
    def __init__(self, what: LookedFor, timeout: float) -> None:
        self._what = what
        self._timeout = timeout
        models = models_asked(what.wanted, what.opening)
        self._session = Session(what.wanted, what.project, models)
        self._open_first()

    def _open_first(self) -> None:
        """Report what is wrong with a model, which concerns all documents, before the first."""
        models = self._session.models
        if self._session.needs_models:
            _ = models.is_broken if models.is_implied else models.models

    def __call__(self, some: Sequence[Piece]) -> list[Audited]:
        return list(map(self._piece, some))

    def _piece(self, piece: Piece) -> Audited:
        if isinstance(piece, DocumentError):
            return _unread(piece, piece)
        found = Audited()
        with kept():  # who audits a million documents reads no line about each
            try:
                check_folder(piece)
                with within(self._timeout):
                    for document in _read(piece, self._what.wanted.input_format):
                        found.add(self._document(piece, document))
            except TookTooLongError:
                found = not_checked(piece, FAILED, f"took longer than {self._timeout:g} s")
            except DocumentError as error:
                found = _unread(piece, error)
            except NumerateError:  # of a model, or of what is wanted: that of all documents
                raise
            except Exception as error:  # one document must not cost the others
                reason = f"a mistake of numerate: {type(error).__name__}: {one_line(error)}"
                found = not_checked(piece, FAILED, reason)
        if not found.documents:
            found = not_checked(piece, UNREAD, "no document in it")
        return found

    def _document(self, unit: Unit, document: Document | DocumentError) -> Audited:
        if isinstance(document, DocumentError):
            return _unread(unit, document, document.where)
        proof = self._session.check(document)
        covered = proof.coverage.values()
        row = document_row(
            unit.name,
            CHECKED,
            document=document.id,
            format=unit.format,
            first=unit.first,
            numbers=proof.numerals,
            findings=len(proof),
            less_likely=len(proof.less_likely),
            hidden=proof.hidden,
            statements=sum(one.total for one in covered),
            recomputed=sum(one.recomputed for one in covered),
            model=", ".join(proof.models) or None,
            fits=all(fit.calibrated for fit in proof.fits) if proof.models else None,
            takes_in=list(document.files),
            failures=[f"{one.code}: {one.reason}" for one in proof.failures],
        )
        return Audited([row], [finding_row(proof, finding) for finding in proof])


def _read(unit: Unit, format: str) -> Iterator[Document | DocumentError]:
    if format == AUTO and is_table_file(unit.name):
        yield read_table_file(unit.name, unit.data)
    else:
        yield from documents(unit)


def _unread(piece: Piece, error: DocumentError, document: str | None = None) -> Audited:
    """Tell what no reader can read from what lacks a package on this machine."""
    status = FAILED if isinstance(error, NotInstalledError) else UNREAD
    return not_checked(piece, status, error.reason, document)


def not_checked(piece: Piece, status: str, reason: str, document: str | None = None) -> Audited:
    """Return a row that says why a piece was not checked."""
    if isinstance(piece, DocumentError):
        return Audited([document_row(piece.where, status, reason)])
    row = document_row(
        piece.name,
        status,
        reason,
        document=document or piece.name,
        format=piece.format,
        first=piece.first,
    )
    return Audited([row])


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises where it takes longer; only the main thread of a process can be told so."""

    def end(_: int, __: FrameType | None) -> None:
        raise TookTooLongError

    if not seconds or threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Any = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

"""`--fix`: each suggestion is shown as a change and written only if the reader says so."""

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from numerate.documents import read_again
from numerate.documents.latex.inputs import declared_codec
from numerate.documents.reader import OLDER, UTF_16
from numerate.documents.table_file import DELIMITERS
from numerate.errors import FailureError, NumerateError, printable
from numerate.proofread.proofread import ProofreadDocument
from numerate.rules.finding import Finding
from numerate.rules.reading import ReadDocument
from numerate.rules.recompute import recompute
from numerate.rules.where import Where
from numerate.storage.atomic import write_file

Ask = Callable[[str], str]
_MARKED = {b"\xef\xbb\xbf": "utf-8", UTF_16[0]: "utf-16-le", UTF_16[1]: "utf-16-be"}
CHOICES = "[y]es, [n]o, [a]ll, [q]uit"


@dataclass(frozen=True, slots=True)
class Fix:
    finding: Finding
    start: int  # offsets into the text of the file
    end: int
    text: str  # instead


def fixes(proofread: ProofreadDocument) -> list[Fix]:
    """What can be changed by the command, which has to read the text again: no table by itself."""
    return replacements(proofread) if proofread.document.paragraphs else []


def replacements(proofread: ProofreadDocument) -> list[Fix]:
    """Suggestions that can be written where the text of the file is known and has the numeral
    letter for letter; in a table by itself, those that need no marks around them. The most probable
    first."""
    found: list[Fix] = []
    document, read = proofread.document, proofread.read
    if not document.own_text or document.name.endswith(".gz"):
        return found
    between = "" if document.paragraphs else DELIMITERS
    for finding in proofread:
        span = read.span(finding.where)
        if finding.suggestion is None or span is None or span[1] > len(document.own_text):
            continue
        if any(sign in between for sign in finding.suggestion.text):
            continue
        if read.is_verbatim(finding.where):
            found.append(Fix(finding, *span, finding.suggestion.text))
    return found


def ask_on_terminal(question: str) -> str:
    """Raises where nobody can answer: nothing is ever changed unasked."""
    if not sys.stdin.isatty():
        raise NumerateError("--fix: asks before each change, and there is no terminal to answer on")
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline()


@dataclass(slots=True)
class Choice:
    """What the reader wants changed, and whether to go on with the next file."""

    fixes: list[Fix] = field(default_factory=list)
    left: list[Fix] = field(default_factory=list)  # would rest on what is changed, or do harm
    goes_on: bool = True


def choose(proofread: ProofreadDocument, ask: Ask) -> Choice:
    """Those that the reader wants; "all" are all that do no harm together.

    Of numerals of one statement only one is changed: then the others may be right. What rests on a
    numeral that is changed, and what would bring a finding that was not there, is not offered.
    """
    choice, trial = Choice(), _Trial(proofread)
    offered = fixes(proofread)
    for index, fix in enumerate(offered):
        if not trial.accepts([fix]):
            choice.left.append(fix)
            continue
        answer = _answer(proofread, fix, ask)
        if answer == "q":
            choice.goes_on = False
            break
        if answer == "a":
            trial.accept_all(offered[index:], choice.left)
            break
        if answer == "y":
            trial.accept([fix])
    choice.fixes = trial.accepted
    return choice


class _Trial:
    """Fixes that were accepted, and whether others can be beside them."""

    def __init__(self, proofread: ProofreadDocument) -> None:
        self._proofread = proofread
        self.accepted: list[Fix] = []
        self._statements: set[int] = set()  # characters of numerals of statements that were mended
        self._changed: set[int] = set()  # and of those that were changed
        self._wrong: set[tuple[str, object]] | None = None

    def accepts(self, some: list[Fix]) -> bool:
        return self._stands_alone(some) and not self._harm(some)

    def accept(self, some: list[Fix]) -> None:
        for fix in some:
            self.accepted.append(fix)
            self._changed.update(range(fix.start, fix.end))
            self._statements |= self._characters((fix.finding.where, *fix.finding.involved))
        if some:
            self._wrong = None

    def accept_all(self, some: list[Fix], left: list[Fix]) -> None:
        """All that can be, by halves: where none does harm, the rules are run once."""
        apart = _Trial(self._proofread)
        apart._statements, apart._changed = set(self._statements), set(self._changed)
        together = []
        for fix in some:
            if apart._stands_alone([fix]):
                apart.accept([fix])
                together.append(fix)
            else:
                left.append(fix)
        self._accept_halves(together, left)

    def _accept_halves(self, some: list[Fix], left: list[Fix]) -> None:
        if not some:
            return
        if not self._harm(some):
            self.accept(some)
        elif len(some) == 1:
            left += some
        else:
            self._accept_halves(some[: len(some) // 2], left)
            self._accept_halves(some[len(some) // 2 :], left)

    def _stands_alone(self, some: list[Fix]) -> bool:
        for fix in some:
            finding = fix.finding
            places = [place for one in finding.evidence for place in one.places]
            basis = self._characters((finding.where, *finding.involved, *places))
            if not self._statements.isdisjoint(range(fix.start, fix.end)):
                return False
            if not self._changed.isdisjoint(basis):
                return False
        return True

    def _characters(self, places: Iterable[Where]) -> set[int]:
        spans = map(self._proofread.read.span, places)
        return {at for span in spans if span is not None for at in range(*span)}

    def _harm(self, some: list[Fix]) -> set[tuple[str, object]]:
        """What the rules would find then, and do not find now."""
        if self._wrong is None:
            self._wrong = _wrong_with(self._proofread, self.accepted)
        return _wrong_with(self._proofread, [*self.accepted, *some]) - self._wrong


def _wrong_with(proofread: ProofreadDocument, chosen: list[Fix]) -> set[tuple[str, object]]:
    """Codes and places of what all rules find after some changes; places are those before them."""
    document = read_again(proofread.document, _changed(proofread, chosen))
    read = ReadDocument(document, proofread.read.given)
    starts, shifts = [0], [0]  # of what follows each change, and by how much it has moved
    for fix in sorted(chosen, key=lambda one: one.start):
        starts.append(fix.start + shifts[-1] + 1)
        shifts.append(shifts[-1] + len(fix.text) - (fix.end - fix.start))
    found: set[tuple[str, object]] = set()
    for finding in recompute(read).findings:
        span = read.span(finding.where)
        if span is None:
            found.add((finding.code, finding.where))
        else:
            found.add((finding.code, span[0] - shifts[bisect_right(starts, span[0]) - 1]))
    return found


def _changed(proofread: ProofreadDocument, chosen: list[Fix]) -> str:
    text, done, parts = proofread.document.own_text or "", 0, list[str]()
    for fix in sorted(chosen, key=lambda one: one.start):
        parts += [text[done : fix.start], fix.text]
        done = fix.end
    return "".join([*parts, text[done:]])


def _answer(proofread: ProofreadDocument, fix: Fix, ask: Ask) -> str:
    question = f"{as_change(proofread, fix)}\n{CHOICES}? "
    while True:
        said = ask(question)
        answer = said.strip().lower()[:1]
        if not said:  # nobody is there any more
            return "q"
        if answer in {"y", "n", "a", "q"}:
            return answer
        question = f"{CHOICES}? "


def as_change(proofread: ProofreadDocument, fix: Fix) -> str:
    """As a diff of its lines, under what is said of it."""
    text = proofread.document.source.text
    first = text.rfind("\n", 0, fix.start) + 1
    last = text.find("\n", fix.end)
    last = len(text) if last < 0 else last
    line, _ = proofread.document.source.line_and_column(fix.start)
    new = text[first : fix.start] + fix.text + text[fix.end : last]
    removed = [f"-{printable(one)}" for one in text[first:last].splitlines()]
    added = [f"+{printable(one)}" for one in new.splitlines()]
    name = printable(proofread.document.name)
    said = f"{fix.finding.code} {printable(fix.finding.message)}"
    return "\n".join([f"{name}:{line} {said}", *removed, *added])


def apply(proofread: ProofreadDocument, chosen: list[Fix]) -> None:
    """The file with the changes, written in one step; its encoding, line ends and mode stay."""
    path = Path(proofread.document.name).resolve()
    encoding = encoding_of(path.read_bytes(), proofread.document.own_text)
    if encoding is None:
        raise FailureError(f"{proofread.document.name}: has changed meanwhile, so it is left alone")
    mark, codec = encoding
    try:
        new = _changed(proofread, chosen).encode(codec)
    except UnicodeEncodeError as error:
        got = f"{error.object[error.start]!r}, which its encoding, {codec}, lacks"
        raise FailureError(f"{proofread.document.name}: left alone: got {got}") from None
    write_file(path, mark + new, mode=path.stat().st_mode & 0o7777)


def encoding_of(data: bytes, text: str | None) -> tuple[bytes, str] | None:
    """The mark at the beginning of a file that has this text, and its codec; None: it has not."""
    mark = next(filter(data.startswith, _MARKED), b"")
    for codec in [_MARKED[mark]] if mark else _unmarked(data):
        try:
            if data[len(mark) :].decode(codec) == text:
                return mark, codec
        except UnicodeDecodeError:
            continue
    return None


def _unmarked(data: bytes) -> list[str]:
    """Encodings that files without a mark are read in; those of LaTeX may declare one."""
    return ["utf-8", *filter(None, [declared_codec(data)]), OLDER]

"""`--fix`: each suggestion is shown as a change and written only if the reader says so."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from numerate.atomic import write_file
from numerate.checking.finding import Finding
from numerate.documents.reader import decode
from numerate.errors import FailureError, NumerateError, printable
from numerate.proofreading.proofread import ProofreadDocument

Ask = Callable[[str], str]
_MARK = b"\xef\xbb\xbf"
CHOICES = "[y]es, [n]o, [a]ll, [q]uit"


@dataclass(frozen=True, slots=True)
class Fix:
    finding: Finding
    start: int  # offsets into the text of the file
    end: int
    text: str  # instead


def fixes(proofread: ProofreadDocument) -> list[Fix]:
    """What can be changed: where the text of the file is known; the most probable first."""
    found: list[Fix] = []
    if proofread.document.given is None:
        return found
    for finding in proofread:
        span = proofread.read.span(finding.where)
        if finding.suggestion is not None and span is not None:
            found.append(Fix(finding, *span, finding.suggestion.text))
    return found


def ask_on_terminal(question: str) -> str:
    """Raises where nobody can answer: nothing is ever changed unasked."""
    if not sys.stdin.isatty():
        raise NumerateError("--fix: asks before each change, and there is no terminal to answer on")
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline()


def choose(proofread: ProofreadDocument, ask: Ask) -> tuple[list[Fix], bool]:
    """Those that the reader wants, and whether to go on with the next file.

    Of numerals of one statement only one is changed: then the others may be right.
    """
    chosen: list[Fix] = []
    touched: list[tuple[int, int]] = []
    everything = False
    for fix in fixes(proofread):
        if any(start < fix.end and fix.start < end for start, end in touched):
            continue
        if not everything:
            answer = _answer(proofread, fix, ask)
            if answer == "q":
                return chosen, False
            if answer == "n":
                continue
            everything = answer == "a"
        chosen.append(fix)
        spans = map(proofread.read.span, (fix.finding.where, *fix.finding.involved))
        touched += [span for span in spans if span is not None]
    return chosen, True


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
    data = path.read_bytes()
    text = proofread.document.given
    if text is None or decode(data, str(path)) != text:
        raise FailureError(f"{proofread.document.name}: has changed meanwhile, so it is left alone")
    for fix in sorted(chosen, key=lambda one: one.start, reverse=True):
        text = text[: fix.start] + fix.text + text[fix.end :]
    mark = _MARK if data.startswith(_MARK) else b""
    write_file(path, mark + text.encode("utf-8"), mode=path.stat().st_mode & 0o7777)

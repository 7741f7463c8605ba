"""Documents in, dataset out: split by document, tokenised, written as Parquet.

Two passes. The first streams the source through worker processes into a staging file
and learns which documents are kept; the second deals the staged rows out to the splits.
Order and content depend on the source alone, never on the number of processes.
"""

import hashlib
import json
import os
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import compress
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, Protocol

import numerate
from numerate.corpus.dataset import MANIFEST, why_not_replaceable
from numerate.corpus.extract import CARDIAC, Extracted, Rules, extract
from numerate.corpus.keep import Keep, what_is_kept
from numerate.corpus.rules import ReadingRules
from numerate.corpus.schema import FORMAT_NAME, FORMAT_VERSION, SPLITS
from numerate.corpus.shards import Staging, write_splits
from numerate.corpus.sources import Progress, Source
from numerate.corpus.tokenizer import DEFAULT_RULES
from numerate.documents import formats
from numerate.documents.reader import Unit
from numerate.documents.taken_in import taken_in
from numerate.errors import DocumentError, NumerateError, SourceError, check_choice, printable
from numerate.storage import published

POOL_THRESHOLD = 4 << 20
"""Below so many bytes of input, starting worker processes costs more than it saves."""
CARDIAC_BLOCK = 250  # reports a unit
MAX_LISTED = 1000  # skipped documents named in the manifest; all are counted

Report = Callable[[Progress, Counter[str]], None]


class Units(Protocol):
    progress: Progress

    def units(self) -> Iterator[Unit | DocumentError]: ...


@dataclass(slots=True)
class CardiacSource:
    """The built-in corpus as a source of units: its data is the range of reports to write."""

    documents: int
    seed: int
    progress: Progress

    def units(self) -> Iterator[Unit]:
        for start in range(0, self.documents, CARDIAC_BLOCK):
            count = min(CARDIAC_BLOCK, self.documents - start)
            yield Unit(CARDIAC, CARDIAC, f"{self.seed} {start} {count}".encode())
            self.progress.done = start + count


def prepare(
    source: str | Path,
    out: str | Path,
    *,
    format: str = "auto",
    keep: str | None = None,
    field: str = "text",
    decimal: str = "point",
    split_names: bool = False,
    seed: int = 1,
    documents: int = 2000,
    tables: bool = False,
    processes: int = 1,
    follow_links: bool = False,
    strict: bool = False,
    force: bool = False,
    report: Report | None = None,
    on_error: Callable[[DocumentError], None] | None = None,
) -> dict[str, Any]:
    """Prepare a dataset folder and return its manifest.

    `source` is a path, or `cardiac` for the built-in corpus of `documents` reports, each with a
    table of its patient if `tables`. With `strict` the first thing that cannot be read is an
    error, be it a document, a folder or the rest of a damaged archive; otherwise it is skipped,
    counted, and passed to `on_error`. Links that lead out of a source folder are read only with
    `follow_links`. With `decimal="comma"`, texts write `74,5` and `1.234,5`; `split_names`
    separates letters from digits everywhere, as the released code of the paper does.

    Examples:
        >>> import numerate
        >>> manifest = numerate.prepare("cardiac", "data/cardiac", documents=100)
        >>> manifest["splits"]["train"]["documents"]
        70
    """
    check_choice("format", format, formats())
    if keep is not None:
        check_choice("rule for --keep", keep, list(Keep))
    reading = ReadingRules(decimal, split_names)
    if seed < 0:
        raise NumerateError(f"seed: got {seed}, expected 0 or more")
    if processes < 1:
        raise NumerateError(f"processes: got {processes}, expected 1 or more")
    built_in = str(source) == CARDIAC and format == "auto" and not Path(source).exists()
    units: Units
    if built_in:
        if documents < 3:
            raise NumerateError(f"documents: got {documents}, expected 3 or more")
        if reading != DEFAULT_RULES:
            raise NumerateError(
                "cardiac: its probabilities are of whole names and of decimal points, "
                "so it takes neither split_names nor a decimal comma"
            )
        units = CardiacSource(documents, seed, Progress(documents))
    elif tables:
        raise NumerateError("tables: only for cardiac; of other sources they are read where given")
    else:
        units = Source(Path(source), format, field=field, follow_links=follow_links)
    oracle = built_in and keep != Keep.ROWS  # it knows texts
    rules = Rules(None if keep is None else Keep(keep), reading, oracle, tables)
    options: dict[str, Any] = {
        "source": CARDIAC if built_in else printable(Path(source).name),
        "format": CARDIAC if built_in else format,
        "keep": keep,
        "reading": reading.record(),
        "seed": seed,
    }
    if tables:
        options["tables"] = True
    with published(out, seal=MANIFEST, refusal=why_not_replaceable, force=force) as folder:
        ledger = Ledger(seed, strict, on_error)
        with Staging(folder, rules.schema) as staging:
            for extracted in _extract_all(units, rules, processes):
                staging.add(extracted, ledger.enter(extracted))
                if report:
                    report(units.progress, ledger.counts)
        ledger.counts["files_ignored"] = units.progress.ignored
        assignment = ledger.assign(str(source), rules)
        splits = write_splits(staging, assignment)
        ledger.counts.update(splits.table_counts)
        manifest: dict[str, Any] = {
            "format": FORMAT_NAME,
            "version": FORMAT_VERSION,
            "numerate": numerate.__version__,
            "options": options,
            "oracle": rules.oracle,
            "counts": dict(sorted(ledger.counts.items())),
            "skipped": [{"document": e.where, "reason": e.reason} for e in ledger.skipped],
            "splits": {name: splits.summary[name] for name in SPLITS},
            "tables": splits.tables,
            "content_hash": splits.content_hash,
            "files": splits.files,
        }
        text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return manifest


def _extract_all(units: Units, rules: Rules, processes: int) -> Iterator[Extracted | DocumentError]:
    """Results in the order of the units, with a bounded number of units under way."""
    pending: deque[Future[Extracted] | Extracted | DocumentError] = deque()
    pool: ProcessPoolExecutor | None = None
    size = 0
    try:
        for unit in units.units():
            if isinstance(unit, DocumentError):
                pending.append(unit)
            elif pool is not None:
                pending.append(_submit(pool, unit, rules))
            else:
                pending.append(extract(unit, rules))
                size += len(unit.data) if unit.format != CARDIAC else POOL_THRESHOLD // 4
                if processes > 1 and size > POOL_THRESHOLD:
                    # Not forked: Arrow's and lxml's threads would not survive it.
                    pool = ProcessPoolExecutor(
                        processes, mp_context=get_context("spawn"), initializer=_die_with_parent
                    )
            while pending and (len(pending) > 4 * processes or not isinstance(pending[0], Future)):
                yield _result(pending.popleft())
        while pending:
            yield _result(pending.popleft())
    finally:
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, unit: Unit, rules: Rules) -> Future[Extracted]:
    # A worker may be started here, and inherits that Ctrl-C is not for it but for its parent.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(extract, unit, rules)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _die_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""

    def wait() -> None:
        parent = parent_process()
        assert parent is not None
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _result(
    item: "Future[Extracted] | Extracted | DocumentError",
) -> Extracted | DocumentError:
    if not isinstance(item, Future):
        return item
    try:
        return item.result()
    except BrokenProcessPool:
        reason = "perhaps for want of memory: try fewer --processes"
        raise NumerateError(f"a worker process died, {reason}") from None


class Ledger:
    """Which documents are in: errors, duplicates, what others take in; at the end the splits."""

    def __init__(
        self, seed: int, strict: bool, on_error: Callable[[DocumentError], None] | None
    ) -> None:
        self.seed = seed
        self.strict = strict
        self.on_error = on_error
        self.counts: Counter[str] = Counter(
            documents_skipped=0, documents_duplicate=0, documents_without_numerals=0
        )
        self.skipped: list[DocumentError] = []
        self._prescribed: dict[str, str | None] = {}  # document -> split, None: to be drawn
        self._digests: set[bytes] = set()
        self._files: dict[str, list[str]] = {}  # that a document takes in

    def enter(self, extracted: Extracted | DocumentError) -> list[bool]:
        """Take note of a unit's documents; which of them are to be staged."""
        if isinstance(extracted, DocumentError):
            self._skip(extracted)
            return []
        for error in extracted.errors:
            self._skip(error)
        self.counts.update(extracted.counts)
        admitted = [self._admit(*document) for document in extracted.documents]
        kept = zip(extracted.documents, extracted.files, strict=True)
        for (document, _, split), files in compress(kept, admitted):
            if files and split is None:
                self._files[document] = files
        return admitted

    def _skip(self, error: DocumentError) -> None:
        if self.strict:
            raise error
        self.counts["documents_skipped"] += 1
        if len(self.skipped) < MAX_LISTED:
            self.skipped.append(error)
        if self.on_error:
            self.on_error(error)

    def _admit(self, document: str, digest: bytes, split: str | None) -> bool:
        if split is None and digest in self._digests:
            # A copy under another name could land in another split.
            self.counts["documents_duplicate"] += 1
            return False
        known = self._prescribed.setdefault(document, split)
        if known != split:
            raise SourceError(f"document {document}: in both {known} and {split}")
        self._digests.add(digest)
        return True

    def assign(self, source: str, rules: Rules) -> dict[str, str]:
        """The split of each document: 70/10/20 in the order of a seeded hash of their ids."""
        elsewhere = taken_in(self._files) & self._prescribed.keys()
        self.counts["documents_taken_in"] = len(elsewhere)
        documents = {id: how for id, how in self._prescribed.items() if id not in elsewhere}
        if not documents:
            raise SourceError(self._nothing_kept(source, rules))
        prescribed = {id: split for id, split in documents.items() if split is not None}
        drawn = sorted(
            (id for id, split in documents.items() if split is None),
            key=lambda id: (hashlib.sha256(f"{self.seed}\0{id}".encode()).digest(), id),
        )
        if prescribed:
            missing = set(SPLITS) - set(prescribed.values())
            if missing:
                raise SourceError(f"{source}: nothing kept in {', '.join(sorted(missing))}")
            return prescribed
        if len(drawn) < len(SPLITS):
            raise SourceError(
                f"{source}: {_count(len(drawn), 'document')} kept, "
                "expected at least 3, one for each split"
            )
        dev = max(1, round(0.1 * len(drawn)))
        test = max(1, round(0.2 * len(drawn)))
        train = len(drawn) - dev - test
        names = ["train"] * train + ["dev"] * dev + ["test"] * test
        return dict(zip(drawn, names, strict=True))

    def _nothing_kept(self, source: str, rules: Rules) -> str:
        read = self.counts["documents_read"]
        reason = f"could not read {_count(self.counts['documents_skipped'], 'document')}" + (
            f", the first because {self.skipped[0]}" if self.skipped else ""
        )
        if read:
            wanted = what_is_kept(rules.keep)
            reason = f"{_count(read, 'document')} read, none with a paragraph that {wanted}"
        elif not self.skipped:
            known = " of a known format" if self.counts["files_ignored"] else ""
            reason = f"no document{known} in it"
        return f"{source}: nothing kept: {reason}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

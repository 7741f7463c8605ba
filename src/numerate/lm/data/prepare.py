"""Documents in, dataset out: split by document, tokenised, written as Parquet.

Two passes. The first streams the source, block by block, through an engine whose workers stage
what they extract, and learns which documents are kept; the second deals the staged rows out to the
splits. Order and content depend on the source alone, never on who does the work, or where.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numerate
from numerate import engines
from numerate.documents import formats
from numerate.documents.reader import Unit
from numerate.documents.sources import Block, Progress, Source
from numerate.engines.local_engine import LocalEngine
from numerate.errors import DocumentError, NumerateError, check_choice, printable
from numerate.lm.data.dataset import DATASET, MANIFEST, is_dataset
from numerate.lm.data.extract import CARDIAC, Rules
from numerate.lm.data.keep import Keep
from numerate.lm.data.ledger import Ledger
from numerate.lm.data.resuming import discard, resumable
from numerate.lm.data.schema import FORMAT_NAME, FORMAT_VERSION, SPLITS
from numerate.lm.data.shards import write_splits
from numerate.lm.data.staging import BlockExtraction, Staged, Staging
from numerate.storage.publish import published
from numerate.storage.shared_folder import SharedFolder
from numerate.text.reading_rules import ReadingRules
from numerate.text.tokenizer import DEFAULT_RULES

POOL_THRESHOLD = 4 << 20
"""Below so many bytes of input, starting worker processes costs more than it saves."""
CARDIAC_BLOCK = 250  # reports a unit

Report = Callable[[Progress, Counter[str]], None]


class Blocks(Protocol):
    progress: Progress

    def blocks(self) -> Iterator[Block]: ...

    def digest(self) -> str: ...


@dataclass(slots=True)
class CardiacSource:
    """The built-in corpus as a source of units: its data is the range of reports to write."""

    documents: int
    seed: int
    progress: Progress

    def blocks(self) -> Iterator[Block]:
        for number, start in enumerate(range(0, self.documents, CARDIAC_BLOCK)):
            count = min(CARDIAC_BLOCK, self.documents - start)
            unit = Unit(CARDIAC, CARDIAC, f"{self.seed} {start} {count}".encode())
            yield Block(number, None, [], [unit], POOL_THRESHOLD // 4, start + count)

    def digest(self) -> str:
        return f"{self.seed} {self.documents}"


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
    engine: str = engines.LOCAL,
    address: str | None = None,
    follow_links: bool = False,
    strict: bool = False,
    force: bool = False,
    report: Report | None = None,
    on_error: Callable[[DocumentError], None] | None = None,
) -> dict[str, Any]:
    """Prepare a dataset folder and return its manifest.

    `source` is a path or an address, or "cardiac" for the built-in corpus of `documents` reports,
    each with a table of its patient if `tables`; a folder of that name is "./cardiac". With
    `strict` the first thing that cannot be read is an error, be it a document, a folder or the rest
    of a damaged archive; otherwise it is skipped, counted, and passed to `on_error`. Links that
    lead out of a source folder are read only with `follow_links`. With `decimal="comma"`, texts
    write `74,5` and `1.234,5`; `split_names` separates letters from digits everywhere, as the
    released code of the paper does.

    With `engine="ray"` the work is done by `processes` workers, 0 for one per core, of the cluster
    at `address`. What they have done is kept beside `out` until all is done, so that the same call
    goes on where another was killed.

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
    if processes < (least := 0 if engine == engines.RAY else 1):
        raise NumerateError(f"processes: got {processes}, expected {least} or more")
    workers = engines.engine(engine, processes=processes, address=address)
    built_in = source == CARDIAC and format == "auto"
    if not built_in and is_dataset(Path(source)):
        raise NumerateError(f"{source}: a prepared dataset, expected documents")
    blocks: Blocks
    if built_in:
        if documents < 3:
            raise NumerateError(f"documents: got {documents}, expected 3 or more")
        if reading != DEFAULT_RULES:
            raise NumerateError(
                "cardiac: its probabilities are of whole names and of decimal points, "
                "so it takes neither split_names nor a decimal comma"
            )
        blocks = CardiacSource(documents, seed, Progress(documents))
    elif tables:
        raise NumerateError("tables: only for cardiac; of other sources they are read where given")
    else:
        blocks = Source(source, format, field=field, follow_links=follow_links)
    oracle = built_in and keep != Keep.ROWS  # it knows texts
    rules = Rules(None if keep is None else Keep(keep), reading, oracle, tables)
    options: dict[str, Any] = {
        "source": CARDIAC if built_in else printable(Path(str(source)).name),
        "format": CARDIAC if built_in else format,
        "keep": keep,
        "reading": reading.record(),
        "seed": seed,
    }
    if tables:
        options["tables"] = True
    job = _job(options, rules, blocks, field)
    with (
        published(out, DATASET, force=force) as folder,
        _staging(folder, out, job, engine) as (staging, token),
    ):
        ledger = Ledger(seed, strict, on_error)
        work = BlockExtraction(rules, staging, token)
        staged = 0
        for block in _all_staged(workers, work, blocks, staging):
            ledger.enter(block)
            staged += 1
            blocks.progress.done = block.done
            if report:
                report(blocks.progress, ledger.counts)
        ledger.counts["files_ignored"] = blocks.progress.ignored
        del blocks  # which may list millions of files
        assignment = ledger.assign(str(source), rules, staging.name_of)
        splits = write_splits(folder, rules.schema, staging, staged, assignment)
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
    discard(out)
    return manifest


def _job(options: dict[str, Any], rules: Rules, blocks: Blocks, field: str) -> str:
    """What decides the staged rows, all of it, in short."""
    versions = (numerate.__version__, FORMAT_VERSION)
    described = (versions, sorted(options.items()), rules, blocks.digest(), field)
    return hashlib.sha256(repr(described).encode()).hexdigest()[:16]


@contextmanager
def _staging(
    folder: Path, out: str | Path, job: str, engine: str
) -> Iterator[tuple[Staging, str | None]]:
    """In the folder being filled, and gone with it; for a cluster, where all its machines see it,
    and kept until the work is done."""
    if engine == engines.RAY:
        with resumable(out, job) as found:
            yield found
        return
    staging = Staging(SharedFolder(folder))
    yield staging, None
    staging.clear()


def _all_staged(
    workers: engines.Engine, work: BlockExtraction, blocks: Blocks, staging: Staging
) -> Iterator[Staged]:
    """All blocks in their order: what was staged before is remembered, the rest is done."""
    finished = staging.finished()
    drawn = 0

    def missing() -> Iterator[Block]:
        nonlocal drawn
        for block in blocks.blocks():
            drawn += 1
            if block.number not in finished:
                yield block

    number = 0
    todo: Iterator[Block] = missing()
    if isinstance(workers, LocalEngine) and workers.processes > 1:
        ahead = list(_until_worth_it(todo))
        if sum(block.size for block in ahead) <= POOL_THRESHOLD:
            workers = engines.engine()
        todo = chain(ahead, todo)
    for staged in workers.map(work, todo):
        yield from map(staging.recall, range(number, staged.number))
        yield staged
        number = staged.number + 1
    yield from map(staging.recall, range(number, drawn))


def _until_worth_it(blocks: Iterator[Block]) -> Iterator[Block]:
    """So many that starting processes pays, or all."""
    size = 0
    while size <= POOL_THRESHOLD and (block := next(blocks, None)):
        size += block.size
        yield block

"""`numerate.audit`: every document of a corpus checked, block by block.

The source is cut into pieces here, workers read and check them, and what they find comes back in
the order of the source. A block is written when it is full, so an audit that was killed goes on
after its last whole block, and the number of workers cannot change a byte of what it writes.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from numerate import engines
from numerate.config import Configuration
from numerate.documents import formats
from numerate.documents.sources import Source
from numerate.engines import Engine
from numerate.errors import NumerateError, SourceError, check_choice
from numerate.places import as_place, is_remote, local_path
from numerate.proofread.audit.audited import CHECKED, Audited
from numerate.proofread.audit.auditor import auditor
from numerate.proofread.audit.findings_folder import PAGE, SUMMARY, FindingsFolder, as_json
from numerate.proofread.audit.ledger import Ledger, Packet
from numerate.proofread.audit.looked_for import LookedFor
from numerate.proofread.audit.page import as_page
from numerate.proofread.audit.pieces import pieces
from numerate.proofread.audit.settling import settle
from numerate.proofread.audit.summary import Summary, summarise
from numerate.proofread.audit.surviving import Surviving
from numerate.proofread.options import CheckOptions, check_options
from numerate.storage.filesystems import check_address
from numerate.threads import threads_as_before

BLOCK = 256  # documents: no more is lost when an audit is killed
TIMEOUT = 600.0  # seconds for one document


@dataclass(slots=True)
class State:
    """How far an audit has come."""

    total: int  # bytes of the source
    done: int = 0
    checked: int = 0  # documents, by this process
    findings: int = 0
    seen: int = 0  # documents that an earlier part of the audit has checked


Report = Callable[[State], None]


def audit(
    source: str | Path,
    out: str | Path,
    *,
    model: str | Iterable[str] = (),
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    min_probability: float | None = None,
    format: str = "auto",
    field: str = "text",
    engine: str = "local",
    address: str | None = None,
    processes: int = 0,
    gpus: float = 1,
    timeout: float = TIMEOUT,
    follow_links: bool = False,
    force: bool = False,
) -> dict[str, Any]:
    """Check every document of a file, folder or archive, and write what is found to a folder.

    `model` is as for `numerate check`: by default the model that comes with the package; "none"
    recomputes alone. The folder `out` gets findings and documents as Parquet, a summary, which is
    also returned, and index.html. If it is there already, what it has is kept, and only documents
    that are new are checked; with `force` all are. `processes` is how many work at once, by default
    one a core, and `engine` where: "local", or "ray" for a cluster, at `address`. A document
    that takes longer than `timeout` seconds is left out, and counted.

    Examples:
        >>> import numerate
        >>> summary = numerate.audit("examples/articles", "findings", model="none", processes=1)
        >>> summary["documents"]["unread"]
        0
    """
    wanted = CheckOptions(input_format=format, field=field).configured(
        Configuration(),
        models=(model,) if isinstance(model, str) else tuple(model),
        select=tuple(select),
        ignore=tuple(ignore),
        min_probability=min_probability,
    )
    what = LookedFor(wanted)
    summary = run_audit(
        source,
        out,
        what,
        engines.engine(engine, processes=processes, address=address, gpus=what.gpus(gpus)),
        timeout=timeout,
        follow_links=follow_links,
        force=force,
    )
    return summary.record()


def run_audit(
    source: str | Path,
    out: str | Path,
    what: LookedFor,
    workers: Engine,
    *,
    timeout: float = TIMEOUT,
    follow_links: bool = False,
    force: bool = False,
    report: Report | None = None,
    block: int = BLOCK,
) -> Summary:
    wanted = what.wanted
    check_options(wanted, [str(source)])
    check_choice("format", wanted.input_format, formats())
    if timeout < 0:
        raise NumerateError(f"timeout: got {timeout:g}, expected seconds, or 0 for none")
    check_address(source)
    source = str(as_place(source))  # however its end is written
    root = Path() if is_remote(source) else Path(source)
    folder = FindingsFolder(out)
    with folder.place.held(), threads_as_before():
        folder.begin(what.record(), what.calibrations, force=force)
        ledger = Ledger(folder, source)
        opened = Source(
            source,
            wanted.input_format,
            field=wanted.field,
            follow_links=follow_links,
            is_document=partial(what.is_document, root),
            is_seen=ledger.is_seen,
            apart=_within(source, out),
        )
        state = State(opened.progress.total)
        work = Surviving(workers, partial(auditor, what, timeout, what.usual()))
        filling, number = Audited(), folder.blocks
        for packet, results in work.map(ledger.packets(pieces(opened))):
            found = _in_order(packet, results, source)
            filling.add(found)
            if len(filling.documents) >= block:
                folder.write_block(number, filling)
                filling, number = Audited(), number + 1
            state.done, state.seen = opened.progress.done, ledger.seen
            state.checked += sum(row["status"] == CHECKED for row in found.documents)
            state.findings += len(found.findings)
            if report:
                report(state)
        if filling.documents:
            folder.write_block(number, filling)
        if not folder.blocks:
            raise SourceError(f"{source}: no document of a format that is read")
        settle(folder)
        summary = summarise(folder, opened.progress.ignored)
        folder.place.write(PAGE, as_page(summary, what, source).encode())
        folder.place.write(SUMMARY, as_json(summary.record()))
    return summary


def _within(source: str | Path, out: str | Path) -> str | None:
    """The name of the findings in their own source, as `findings/`, if they are in it."""
    if is_remote(source) or is_remote(out):
        whole, part = (f"{str(place).rstrip('/')}/" for place in (source, out))
    else:
        whole, part = (f"{local_path(place).resolve()}/" for place in (source, out))
    return part.removeprefix(whole) if part.startswith(whole) else None


def _in_order(packet: Packet, results: list[Audited], source: str) -> Audited:
    """What was found in the pieces, between what was known without looking."""
    found, at = Audited(), 0
    for place, mark, result in zip(packet.places, packet.marks, results, strict=True):
        for row in result.documents:
            row["mark"] = mark
        found.documents += packet.rows[at:place]
        found.add(result)
        at = place
    found.documents += packet.rows[at:]
    for row in (*found.documents, *found.findings):
        row["source"] = source
    return found

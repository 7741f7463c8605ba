"""`numerate.audit`: every document of a corpus checked, block by block.

The driver cuts the source into packets, workers check them, and what they find comes back in the
order of the source. A block of findings is written when it is full, so an audit that was killed
goes on after its last whole block, and the number of workers changes no byte of what it writes.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from numerate import engines
from numerate.config import Configuration
from numerate.documents import formats
from numerate.documents.sources import Block, Source
from numerate.engines import Engine
from numerate.errors import NumerateError, SourceError, check_choice
from numerate.places import as_place, is_remote, local_path
from numerate.proofread.audit.audited import CHECKED, Audited
from numerate.proofread.audit.auditor import auditor
from numerate.proofread.audit.findings_folder import PAGE, SUMMARY, FindingsFolder, as_json
from numerate.proofread.audit.looked_for import LookedFor
from numerate.proofread.audit.packets import packets
from numerate.proofread.audit.page import as_page
from numerate.proofread.audit.parts import mark_parts
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
    before: int = 0  # bytes that an earlier part of the audit has done


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
    also returned, and index.html. An audit that was interrupted goes on there; with `force`, it
    begins anew. A source that has changed since is refused, as are other settings, unless `force`
    is given. `processes` is how many work at once, by default
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
        folder.begin(what.record() | {"source": source}, what.calibrations, force=force)
        opened = Source(
            source,
            wanted.input_format,
            field=wanted.field,
            follow_links=follow_links,
            is_document=partial(what.is_document, root),
            apart=_within(source, out),
        )
        folder.check_source(opened)
        blocks, before = _after(opened.blocks(), folder.source_blocks)
        state = State(opened.progress.total, before, before=before)
        work = Surviving(workers, partial(auditor, what, timeout, what.usual()))
        filling, number = Audited(), folder.blocks
        for packet, results in work.map(packets(blocks, before)):
            for found in results:
                for row in found.documents:
                    row["block"] = packet.block
                state.checked += sum(row["status"] == CHECKED for row in found.documents)
                state.findings += len(found.findings)
                filling.add(found)
            if packet.is_last and len(filling.documents) >= block:
                folder.write_block(number, filling)
                filling, number = Audited(), number + 1
            state.done = packet.done
            if report:
                report(state)
        if filling.documents:
            folder.write_block(number, filling)
        if not folder.blocks:
            raise SourceError(f"{source}: no document of a format that is read")
        mark_parts(folder)
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


def _after(blocks: Iterator[Block], count: int) -> tuple[Iterator[Block], int]:
    """Return the blocks that are left after the first `count`, and how many bytes those have."""
    done = 0
    for block in islice(blocks, count):
        done = block.done
    return blocks, done

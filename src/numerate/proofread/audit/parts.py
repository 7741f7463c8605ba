"""Files that other documents take in, as LaTeX does: their findings stand with those documents."""

import pyarrow as pa
import pyarrow.compute as pc

from numerate.documents.taken_in import taken_in
from numerate.proofread.audit.audited import CHECKED, TAKEN_IN
from numerate.proofread.audit.findings_folder import FindingsFolder


def mark_parts(folder: FindingsFolder) -> None:
    """Mark documents that are parts of others, and remove what was found in them alone.

    A second time, it changes nothing: an audit that is killed meanwhile does it again.
    """
    parts: dict[str, list[str]] = {}
    for number in range(folder.blocks):
        rows = folder.documents(number, ["file", "takes_in"]).to_pylist()
        parts |= {row["file"]: row["takes_in"] for row in rows if row["takes_in"]}
    inside = taken_in(parts)
    for number in range(folder.blocks) if inside else ():
        _mark(folder, number, inside)


def _mark(folder: FindingsFolder, number: int, inside: set[str]) -> None:
    rows = folder.documents(number).to_pylist()
    gone = [row for row in rows if row["status"] == CHECKED and row["file"] in inside]
    if not gone:
        return
    for row in gone:
        row["status"], row["findings"] = TAKEN_IN, 0
    findings = folder.findings(number)
    names = pa.array([row["document"] for row in gone], pa.string())
    of_parts = pc.is_in(findings["document"], value_set=names)
    in_parts = pc.is_in(findings["file"], value_set=pa.array(sorted(inside), pa.string()))
    kept = findings.filter(pc.invert(pc.and_(of_parts, in_parts)))
    folder.write_tables(number, kept, rows)

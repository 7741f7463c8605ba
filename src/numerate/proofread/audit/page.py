"""The findings of an audit as one HTML file to browse: the most certain ones, and where all are."""

from typing import Any

from numerate.errors import counted
from numerate.proofread.audit.audited import BOTH, LEARNED, RECOMPUTED_ALONE, Row
from numerate.proofread.audit.looked_for import LookedFor
from numerate.proofread.audit.summary import LIKELY, Summary
from numerate.reports.page import Section, page
from numerate.reports.tables import ResultTable
from numerate.reports.templates import render

NAMED = 200  # documents that were not read


def as_page(summary: Summary, what: LookedFor, source: str) -> str:
    sections = [_browser(summary)] if summary.first else []
    if summary.kinds:
        sections.append(Section("Kinds", tables=[kinds_table(summary, explained=True)]))
    if summary.skipped:
        sections.append(_not_checked(summary))
    sections.append(Section("How", facts=_how(summary, what, source)))
    assets = "proofread/audit/page"
    return page("numerate audit", sections, assets=assets, lead=in_words(summary))


def in_words(summary: Summary) -> list[str]:
    """What was done, and what came of it: a line each."""
    documents, sums = summary.documents, summary.sums
    others = [
        f"{documents[status]:,} {words}"
        for status, words in (
            ("unread", "that cannot be read"),
            ("failed", "that failed"),
            ("taken in", "parts of others"),
        )
        if documents[status]
    ]
    beside = f"; besides {', '.join(others)}" if others else ""
    ignored = f"; other files left out: {summary.files_ignored:,}" if summary.files_ignored else ""
    lines = [
        f"{counted(documents['checked'], 'document')} checked{beside}{ignored}.",
        f"{counted(sums['numbers'], 'number')} read; recomputed {sums['recomputed']:,} of "
        f"{counted(sums['statements'], 'statement')} about them.",
    ]
    found = counted(sums["findings"], "finding") if sums["findings"] else "Nothing found"
    if summary.with_findings:
        found += f" in {counted(summary.with_findings, 'document')}"
    certain = sum(summary.likely.values())
    if certain:
        found += f", {certain:,} of them with a probability of {LIKELY} or more"
    if sums["less_likely"]:
        found += f"; {sums['less_likely']:,} less likely are only counted"
    lines.append(f"{found}.")
    if summary.unfit:
        unlike = counted(summary.unfit, "document")
        lines.append(f"{unlike} unlike what the model knows: there it is uncalibrated.")
    if summary.failures:
        broken = ", ".join(f"{code} ({count:,})" for code, count in summary.failures.most_common())
        lines.append(f"Rules that failed, which is a mistake of numerate: {broken}.")
    return lines


def kinds_table(summary: Summary, *, explained: bool = False) -> ResultTable:
    columns = ["", "findings", f"of {LIKELY}\nor more", "recomputed", "learned", "both"]
    columns += ["what it is"] * explained
    rows = [
        [
            f"{kind['code']} {kind['kind']}",
            *(f"{kind[n]:,}" for n in ("findings", "likely", RECOMPUTED_ALONE, LEARNED, BOTH)),
            *[kind["summary"]] * explained,
        ]
        for kind in summary.kind_rows()
    ]
    return ResultTable("Findings by kind", columns, rows)


def _browser(summary: Summary) -> Section:
    body = render(
        "proofread/audit/findings.html.jinja",
        total=summary.sums["findings"],
        findings=[_shown(row) for row in summary.first],
        kinds=summary.kind_rows(),
        bases={RECOMPUTED_ALONE: "recomputed", LEARNED: "learned", BOTH: "both"},
    )
    return Section("Findings", body=body)


def _shown(row: Row) -> dict[str, Any]:
    """With short names, for there are thousands."""
    message = row["message"]
    start, end = row["sentence_start"], row["sentence_end"]
    sentence = row["sentence"]
    return {
        "d": row["document"],
        "p": row["place"],
        "c": row["code"],
        "k": row["kind"],
        "b": row["basis"],
        "s": [sentence[:start], sentence[start:end], sentence[end:]],
        "m": message,
        "e": [said for said in row["evidence"] if said not in message],
        "g": row["suggestion"],
        "q": row["probability"],
        "u": row["calibrated"],
    }


def _not_checked(summary: Summary) -> Section:
    named = summary.skipped[:NAMED]
    total = summary.documents["unread"] + summary.documents["failed"]
    template = "proofread/audit/not_checked.html.jinja"
    return Section("Not checked", body=render(template, named=named, more=total - len(named)))


def _how(summary: Summary, what: LookedFor, source: str) -> dict[str, Any]:
    settings = what.record()
    by = ", ".join(
        f"{'rules alone' if name == 'none' else name} ({count:,} documents)"
        for name, count in sorted(summary.models.items())
    )
    return {
        "source": source,
        "numerate": settings["numerate"],
        "checked_by": by or None,
        "rules": f"{len(settings['codes'])}",
        "least_probability": settings["min_probability"],
    }

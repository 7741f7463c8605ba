"""The findings of an audit as one HTML file to browse: the most certain ones, and where all are."""

import json
from importlib.resources import files
from typing import Any

from numerate.errors import counted
from numerate.proofread.audit.audited import BOTH, LEARNED, RECOMPUTED_ALONE, Row
from numerate.proofread.audit.looked_for import LookedFor
from numerate.proofread.audit.summary import LIKELY, Summary
from numerate.reports.page import Section, escape, facts, page, table
from numerate.reports.tables import ResultTable

NAMED = 200  # documents that were not read


def as_page(summary: Summary, what: LookedFor, source: str) -> str:
    sections = [Section("Findings", _browser(summary))] if summary.first else []
    if summary.kinds:
        sections.append(Section("Kinds", table(kinds_table(summary, explained=True))))
    if summary.skipped:
        sections.append(Section("Not checked", _not_checked(summary)))
    sections.append(Section("How", facts(_how(summary, what, source))))
    lead = "</p>\n<p>".join(map(escape, in_words(summary)))
    style, script = _part("audit_page.css"), _part("audit_page.js")
    return page("numerate audit", lead, sections, style=style, script=script)


def in_words(summary: Summary) -> list[str]:
    """What was done, and what came of it: a line each."""
    documents, sums = summary.documents, summary.sums
    others = [
        f"{documents[status]:,} {words}"
        for status, words in (
            ("duplicate", "identical to others"),
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


def _browser(summary: Summary) -> str:
    total, shown = summary.sums["findings"], len(summary.first)
    rest = (
        f'<p class="note">The {shown:,} most certain of {total:,} findings are on this page; all '
        "are in the Parquet files beside it.</p>"
        if shown < total
        else ""
    )
    # A script ends at the first `</`, wherever it stands.
    data = json.dumps([_shown(row) for row in summary.first], ensure_ascii=False)
    data = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    kinds = "".join(
        f'<option value="{escape(kind["code"])}">{escape(kind["code"])} {escape(kind["kind"])}'
        "</option>"
        for kind in summary.kind_rows()
    )
    return (
        f"{rest}"
        '<form id="filters" role="search">'
        '<label>Document <input type="search" id="document" autocomplete="off"></label>'
        f'<label>Kind <select id="kind"><option value="">all</option>{kinds}</select></label>'
        '<label>Basis <select id="basis"><option value="">all</option>'
        f'<option value="{RECOMPUTED_ALONE}">recomputed</option>'
        f'<option value="{LEARNED}">learned</option><option value="{BOTH}">both</option>'
        "</select></label>"
        '<label>Probability at least <input type="number" id="least" min="0" max="1" step="0.05" '
        'value="0"></label>'
        '<label>Order <select id="order"><option value="">most certain first</option>'
        '<option value="document">by document</option></select></label></form>\n'
        '<p id="counted" role="status"></p>\n<ol id="found_list" class="findings"></ol>\n'
        '<p class="pages"><button type="button" id="previous">Previous</button> '
        '<span id="at"></span> <button type="button" id="next">Next</button></p>\n'
        "<noscript><p>This page needs JavaScript to show findings; they are also in the Parquet "
        "files beside it.</p></noscript>\n"
        f'<script type="application/json" id="data">{data}</script>\n'
    )


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


def _not_checked(summary: Summary) -> str:
    total = summary.documents["unread"] + summary.documents["failed"]
    some = summary.skipped[:NAMED]
    items = "".join(
        f"<li><code>{escape(row['document'])}</code>: {escape(row['reason'])}</li>\n"
        for row in some
    )
    more = f'<p class="note">{total - len(some):,} more: see summary.json.</p>'
    return f"<ul>{items}</ul>{more if total > len(some) else ''}"


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


def _part(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")

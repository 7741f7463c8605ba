"""Damaged articles and torn-up papers in Markdown, proofread as `numerate check` does."""

import io
import random
from pathlib import Path

from rich.console import Console

from fuzzing.articles import MUTATIONS, Articles
from fuzzing.kind import Setting
from numerate.documents import read_file
from numerate.proofread.formats.html_report import as_html
from numerate.proofread.formats.printed_report import as_csv, as_json, print_report
from numerate.proofread.formats.sarif import as_sarif
from numerate.proofread.proofread import proofread
from numerate.proofread.report import Report
from numerate.proofread.selection import all_rules
from numerate.proofread.suppression import suppress
from numerate.rules.rule import RULES

_ODD = (
    "numerate: ignore", "<!-- numerate: ignore[NUM", "]", "|", "\n|---|---|\n", "\n\n", "\r\n", "(",
    " of ", "%", " ± ", "95% CI ", " to ", "p = ", "t(", ") = ", "n = ", "−", "–", "1e308", "0.0",
    "9" * 5_000, "1 of " * 3_000, "| 1 " * 2_000, "(1, " * 2_000, "p < 0.05; " * 2_000, "½",
    "e-308", "e308", "9" * 15, "†" * 60, "^***" * 60, "10 abcdefgh, " * 40,
)  # fmt: skip


class Checks(Articles):
    """Every place that a finding names is one of the document, and every report can be written."""

    share = 1.0

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        rules = RULES.values()
        self.examples = [text for rule in rules for text in (*rule.wrong, *rule.right)]

    def damage(self, chance: random.Random, folder: Path) -> str:
        if chance.random() < 0.3:
            return super().damage(chance, folder)
        pieces: list[str] = []
        for _ in range(chance.choice((1, 4, 20, 200))):
            text = chance.choice(self.examples)
            cut = sorted(chance.randrange(len(text) + 1) for _ in range(2))
            pieces.append(chance.choice((text, text[slice(*cut)], chance.choice(_ODD), "\n\n")))
        data = bytearray("".join(pieces).encode())
        if data and chance.random() < 0.2:
            chance.choice(MUTATIONS)(data, chance)
        (folder / "paper.md").write_bytes(data)
        return f"{len(pieces)} pieces of examples"

    def use(self, folder: Path) -> str:
        (path,) = folder.iterdir()
        found = []
        for document in read_file(str(path)):
            proof, _ = suppress(proofread(document), frozenset(all_rules()))
            assert not proof.failures, proof.failures
            for finding in proof:
                written = proof.read.text(finding.where)
                assert written == finding.written, f"{finding.code}: {written!r} is not its numeral"
            found.append(proof)
        report = Report(found)
        for write in (as_json, as_csv, as_sarif, as_html):
            write(report)
        print_report(report, Console(file=io.StringIO()))
        return "found" if len(report) else "clean"

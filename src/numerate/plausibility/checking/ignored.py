"""What a project does not want to hear of: certain numerals, and those within certain patterns."""

from dataclasses import replace

from numerate.configuration import Configuration
from numerate.plausibility.checking.check import Checked, Report
from numerate.plausibility.finding import Finding, Glance
from numerate.plausibility.findings import Findings


def without_ignored(report: Report, chosen: list[Configuration]) -> Report:
    """The report as each document's configuration wants it; all numerals are still counted."""
    pairs = zip(report.documents, chosen, strict=True)
    return replace(report, documents=[_kept(checked, project) for checked, project in pairs])


def _kept(checked: Checked, project: Configuration) -> Checked:
    text = checked.document.source.text
    spans = [found.span() for pattern in project.patterns for found in pattern.finditer(text)]

    def is_ignored(finding: Finding | Glance) -> bool:
        return not project.numerals.isdisjoint({finding.written, finding.numeral}) or any(
            start <= finding.start and finding.end <= end for start, end in spans
        )

    kept = [finding for finding in checked.numerals if not is_ignored(finding)]
    unusual = [glance for glance in checked.numerals.unusual if not is_ignored(glance)]
    return replace(checked, numerals=Findings(kept, checked.total, checked.domain, unusual))

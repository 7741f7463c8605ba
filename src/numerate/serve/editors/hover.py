"""What is shown of a number under the pointer: what is found, and what a model would expect."""

from collections.abc import Iterator

from lsprotocol import types

from numerate.lm.model.numeral_distribution import NumeralDistribution
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.proofread.report import sureness
from numerate.proofread.selection import all_rules
from numerate.rules.finding import Finding
from numerate.serve.editors.diagnostics import range_of, said
from numerate.serve.editors.positions import Encoding, Lines
from numerate.serve.editors.proof import Proof
from numerate.serve.editors.remembering import LONGEST, RememberingModel

SHOWN = 5  # numerals of a distribution
LEVEL = 0.9  # of the interval
BAR = 12  # characters of the longest bar
_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]<>#|~$&"})


def hover(proof: Proof, place: types.Position, encoding: Encoding) -> types.Hover | None:
    """None where no number stands."""
    lines = Lines(proof.buffer.text, encoding)
    at = lines.offset(place.line, place.character)
    parts: list[str] = []
    span: tuple[int, int] | None = None
    for finding in proof.found:
        stretch = proof.span(finding.where)
        if stretch is not None and stretch[0] <= at <= stretch[1]:
            span = stretch
            parts += _finding(proof, finding)
    expected = _expected(proof, at)
    if expected is not None:
        span = span or expected[0]
        parts.append(expected[1])
    if span is None:
        return None
    text = types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(parts))
    return types.Hover(text, range_of(lines, *span))


def _finding(proof: Proof, finding: Finding) -> Iterator[str]:
    yield f"**{finding.code}** " + said(finding).translate(_SPECIAL).replace("\n", "  \n")
    rule = all_rules()[finding.code]
    yield f"Probability of an error: {sureness(proof.found, finding)}."
    yield f"*{rule.summary.translate(_SPECIAL)}* {rule.fix}"


def _expected(proof: Proof, at: int) -> tuple[tuple[int, int], str] | None:
    """Where the number stands, and the distribution of what could stand there."""
    document, remembering = proof.found.document, proof.language_model
    source = document.source
    index = source.paragraph_at(at)
    if remembering is None or not 0 <= index < len(document.paragraphs):
        return None
    model, paragraph = remembering.model, document.paragraphs[index]
    if not isinstance(model, NumeralLM) or len(paragraph.text) > LONGEST:
        return None
    for token in model.tokens(paragraph.text):
        span = document.span(paragraph, token.start, token.end)
        if token.is_numeral and span[0] <= at <= span[1] <= len(proof.buffer.text):
            tables = document.tables_of(paragraph) if model.sees_tables else []
            with remembering.lock:
                judged = model.checker.judge_at(paragraph.text, token.start, tables)
                return None if judged is None else (span, _shown(remembering, judged[0]))
    return None


def _shown(remembering: RememberingModel, expected: NumeralDistribution) -> str:
    """As a table with bars, which every editor shows."""
    best = expected.top(SHOWN)
    if not best:
        return f"{remembering.name} can name no number that is likely here."
    low, high = expected.interval(LEVEL, calibrated=expected.is_calibrated())
    largest = max(chance for _, chance in best)
    rows = [
        f"| {numeral} | {100 * chance:.1f} % | {'█' * max(1, round(BAR * chance / largest))} |"
        for numeral, chance in best
    ]
    return "\n".join(
        [
            f"Expected here by {str(remembering.name).translate(_SPECIAL)}: median "
            f"{expected.median():g}, {100 * LEVEL:.0f} % from {low:g} to {high:g}.",
            "",
            "| number | probability | |",
            "|---:|---:|:---|",
            *rows,
        ]
    )

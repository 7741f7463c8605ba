"""How fast are the rules, and how many wrong statements do they find?

    python benchmarks/rules.py ARTICLES [--rounds 3] [--errors 500] [--seed 1]

ARTICLES are files that `numerate check` reads, or folders of them. The rules are timed one by one
and together, on one core, over text that has been read before; all together must do at least 1 MB
of text (paragraphs, captions, notes and cells) a second, otherwise the exit status is 1.

Then errors are put into statements that hold: into the p-value, the statistic or the degrees of
freedom of a test, into an estimate or a bound of an interval. An error counts if the statement no
longer holds beyond rounding of what is written (a p-value may be cut off), as SciPy tells it, and
is found if a finding of any rule involves the numeral. Statements that lack something (degrees of
freedom, an estimate, a method that makes symmetric intervals) are no part of this; intervals whose
scale no words tell can only be wrong by order or by what lies outside. Likewise into percentages of
counts and into totals, by two units of the last decimal or more.
"""

import argparse
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from scipy import stats

from numerate.detector.kinds_of_error import slips
from numerate.documents import read_file
from numerate.documents.document import Document, Paragraph
from numerate.numeral import Numeral, normalise
from numerate.rules.numbers import Number
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.recompute import recompute
from numerate.rules.reported_intervals import ReportedInterval, intervals_in_text
from numerate.rules.reported_tests import ReportedTest, tests_in_text
from numerate.rules.rule import RULES
from numerate.rules.tabulated_intervals import intervals_in_tables
from numerate.rules.tabulated_tests import tests_in_tables
from numerate.rules.where import Where

LEAST_SPEED = 1.0  # MB a second
KINDS = ("digit replaced", "digits swapped", "factor 10", "point dropped")
Bounds = tuple[float, float]


def documents(paths: list[Path]) -> Iterator[Document]:
    """Of files, and of all files in folders."""
    for path in paths:
        for file in sorted(path.rglob("*.*")) if path.is_dir() else [path]:
            yield from read_file(str(file))


def time_rules(articles: list[Document], rounds: int) -> float:
    """Print MB/s of each rule and of all; that of all."""
    size = sum(len(piece.text) for one in articles for piece in ReadDocument(one).pieces()) / 1e6
    print(f"{len(articles)} documents, {size:.1f} MB of text\n")

    def best(codes: list[str]) -> float:
        seconds = []
        for _ in range(rounds):
            start = time.process_time()
            for article in articles:
                recompute(article, codes=codes)
            seconds.append(time.process_time() - start)
        return size / min(seconds)

    together = best(sorted(RULES))
    for code in sorted(RULES):
        alone = best([code])
        print(f"{code}  {alone:7.1f} MB/s alone, {alone / together:5.1f} times as fast as all")
    print(f"all     {together:7.1f} MB/s")
    return together


def rounded(numeral: str) -> Bounds:
    one = Numeral.parse(numeral)
    half = 0.5 * 10.0**-one.precision
    return float(one) - half, float(one) + half


def test_holds(test: ReportedTest, texts: list[str]) -> bool:
    """By SciPy; `texts` are p-value, statistic and degrees of freedom as they are written now."""
    p, statistic, *degrees = texts
    low, high = rounded(statistic)
    sizes = [float(normalise(degree)) for degree in degrees]
    tail: dict[str, Callable[[float], float]] = {
        "t": lambda value: 2 * stats.t.sf(value, *sizes),
        "F": lambda value: stats.f.sf(value, *sizes),
        "χ²": lambda value: stats.chi2.sf(value, *sizes),
        "Q": lambda value: stats.chi2.sf(value, *sizes),
        "z": lambda value: 2 * stats.norm.sf(value),
        "r": lambda value: 2 * stats.t.sf(value * (sizes[0] / (1 - value**2)) ** 0.5, sizes[0]),
    }
    if test.kind == "r":
        low, high = min(low, 0.999999), min(high, 0.999999)
    least, most = tail[test.kind](high), tail[test.kind](max(low, 0.0))
    said = rounded(p)[0], 2 * rounded(p)[1] - float(normalise(p))
    relation = test.candidates[0].p.relation
    if relation == "<":
        return least <= float(normalise(p))
    if relation == ">":
        return most >= float(normalise(p))
    return said[0] <= most and least <= said[1]


def interval_holds(one: ReportedInterval, texts: list[str]) -> bool:
    """`texts` are estimate, lower and upper bound as they are written now, without signs."""
    assert one.estimate is not None
    signs = [1 if float(part) >= 0 else -1 for part in (one.estimate, one.low, one.high)]
    (e0, e1), (l0, l1), (h0, h1) = (
        sorted(sign * end for end in rounded(text)) for sign, text in zip(signs, texts, strict=True)
    )
    if l0 > h1 or e1 < l0 or e0 > h1:
        return False
    if one.scale is None:
        return True
    if not one.scale.is_log:
        return e0 <= (l1 + h1) / 2 and (l0 + h0) / 2 <= e1
    return l1 <= 0 or (e0 <= math.sqrt(l1 * h1) and math.sqrt(max(l0, 0) * h0) <= e1)


def changed(read: ReadDocument, where: Where, text: str) -> Document:
    """The document with another numeral there."""
    whole = read.whole(where)
    whole = whole[: where.start] + text + whole[where.end :]
    old = read.document
    paragraphs, tables = [Paragraph(one.text) for one in old.paragraphs], list(old.tables)
    if where.table is None:
        paragraphs[where.paragraph or 0] = Paragraph(whole)
    else:
        table = tables[where.table]
        rows = [[list(row) for row in part] for part in (table.header, table.body)]
        if where.row is None or where.column is None:
            name = "notes" if where.in_notes else "caption"
            tables[where.table] = replace(table, **{name: whole})
        else:
            rows[where.row >= 0][where.row][where.column] = whole
            tables[where.table] = replace(table, header=rows[0], body=rows[1])
    return Document(old.name, paragraphs, tables)


def find_errors(articles: list[Document], errors: int, rng: random.Random) -> None:
    tests: list[tuple[ReadDocument, ReportedTest]] = []
    intervals: list[tuple[ReadDocument, ReportedInterval]] = []
    for article in articles:
        read = ReadDocument(article)
        tests += [(read, one) for one in (*tests_in_text(read), *tests_in_tables(read))]
        found = (*intervals_in_text(read), *intervals_in_tables(read))
        intervals += [(read, one) for one in found if one.estimate is not None]

    def numerals(one: ReportedTest | ReportedInterval) -> list[Where] | None:
        if isinstance(one, ReportedInterval):
            assert one.estimate is not None
            numbers = [one.estimate, one.low, one.high]
            if any(part.number.stop != part.number.end for part in numbers):
                return None
            return [part.where for part in numbers]
        p, wheres = one.candidates[0], [degree.where for degree in one.degrees]
        wanted = {"F": 2, "z": 0}.get(one.kind, 1)
        powers = p.p.number is None or p.p.number.stop != p.p.number.end
        is_plain = one.relation == "=" and one.statistic.stop == one.statistic.end
        if powers or not is_plain or len(one.candidates) > 1 or len(wheres) != wanted:
            return None
        places = [p.where, one.statistic_at, *wheres]
        return None if None in places else [place for place in places if place is not None]

    for name, statements, holds, codes in (
        ("tests", tests, test_holds, ["NUM301"]),
        ("intervals", intervals, interval_holds, ["NUM201", "NUM203"]),
    ):
        tried: Counter[str] = Counter()
        hit: Counter[str] = Counter()
        rng.shuffle(statements)
        needs = [rule for number, rule in RULES.items() if number in codes]
        for read, one in statements:
            places = numerals(one)
            if places is None or tried.total() >= errors:
                continue
            texts = [read.text(place) for place in places]
            outcomes = [
                outcome
                for rule in needs
                for outcome in rule.recompute(read)
                if outcome.where == one.where
            ]
            if not holds(one, texts) or any(o.missing or o.finding for o in outcomes):
                continue
            kind, index = rng.choice(KINDS), rng.randrange(len(places))
            wrong = slips(kind, normalise(texts[index]))
            if not wrong:
                continue
            text = rng.choice(wrong)
            text = text.removeprefix("0") if texts[index].startswith(".") else text
            if holds(one, [*texts[:index], text, *texts[index + 1 :]]):
                continue
            document = changed(read, places[index], text)
            at = replace(places[index], end=places[index].start + len(text))
            findings = recompute(document).findings
            tried[kind] += 1
            hit[kind] += any(at in finding.involved for finding in findings)
        by_kind = ", ".join(f"{kind} {hit[kind]}/{tried[kind]}" for kind in KINDS)
        share = hit.total() / max(tried.total(), 1)
        print(f"{name}: {hit.total()} of {tried.total()} errors found, {share:.3f} ({by_kind})")


COUNTS = {
    "percentages in text": "NUM101",
    "percentages in tables": "NUM103",
    "sums in text": "NUM111",
    "totals of rows": "NUM113",
    "totals of columns": "NUM114",
}


def derived_numeral(code: str, piece: Piece, where: Where) -> Number | None:
    """What follows from the others: a percentage, or a total, which its statement begins with."""
    inside = [
        number
        for number in piece.numbers
        if where.start <= piece.of(number).start and piece.of(number).end <= where.end
    ]
    if code in ("NUM111", "NUM113", "NUM114"):
        return inside[0] if inside else None
    signed = [n for n in inside if piece.text[n.stop : n.stop + 2].strip().startswith("%")]
    if signed or code == "NUM101":
        return signed[0] if signed else None
    return inside[-1] if inside else None


def find_wrong_counts(articles: list[Document], errors: int, rng: random.Random) -> None:
    for name, code in COUNTS.items():
        statements = [
            (read, outcome.where)
            for read in map(ReadDocument, articles)
            for outcome in RULES[code].recompute(read)
            if outcome.missing is None and outcome.finding is None
        ]
        rng.shuffle(statements)
        tried = hit = 0
        for read, where in statements[: 2 * errors]:
            piece = next(one for one in read.pieces() if one.place.text_of == where.text_of)
            number = derived_numeral(code, piece, where)
            wrong = slips(rng.choice(KINDS), normalise(number.written)) if number else []
            if number is not None and number.is_whole:
                wrong = [text for text in wrong if text.isdigit()]  # nobody counts 1.2 patients
            if number is None or not wrong or tried >= errors:
                continue
            text = rng.choice(wrong)
            if abs(float(text) - float(number)) < 2 * 10.0**-number.precision:
                continue  # within what may be rounded
            document = changed(read, piece.of(number), text)
            at = replace(piece.of(number), end=piece.of(number).start + len(text))
            findings = recompute(document).findings
            tried += 1
            hit += any(at in finding.involved for finding in findings)
        print(f"{name}: {hit} of {tried} errors found, {hit / max(tried, 1):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("articles", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--errors", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    articles = list(documents(arguments.articles))
    for article in articles:
        _ = article.text
    speed = time_rules(articles, arguments.rounds)
    print()
    find_errors(articles, arguments.errors, random.Random(arguments.seed))
    find_wrong_counts(articles, arguments.errors, random.Random(arguments.seed))
    if speed < LEAST_SPEED:
        raise SystemExit(f"expected {LEAST_SPEED} MB a second or more")


if __name__ == "__main__":
    main()

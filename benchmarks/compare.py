"""How many wrong numbers of summaries does `numerate.compare` call unsupported?

    python benchmarks/compare.py ARTICLES --articles 300 --skip 300
    python benchmarks/compare.py ARTICLES --articles 300 --fit

ARTICLES is a folder of JATS files, taken by chance but always the same. Two summaries of each are
compared with what it says elsewhere, tables included: its abstract, as its authors wrote it; and
one that is generated, of sentences that say what stands in rows of its tables, with differences,
sums and percentages computed from them, and of sentences of its text. A third one, of one of its
tables, is compared with that table alone, what follows from single rows with these, and numbers of
the abstract with the one paragraph or table that they may be quoted from. In a copy of each some
numbers are made wrong, by the channel of errors that detectors are trained with, all kinds alike.
Printed: the share of right numbers called unsupported, and of wrong ones, with intervals by
article.

With `--fit`, weights and limits are fitted instead, and printed as in
src/numerate/comparison/fitted.py. The first `--skip` articles are left to the other use.
"""

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from numerate.comparison.compare import ALARMS, UNSUPPORTED, judged, limit_of
from numerate.comparison.mentions import mentions
from numerate.comparison.support import FEATURES, KINDS, Sources, Support
from numerate.detector.channel import CellNumbers, Channel, InSight
from numerate.detector.edits import apply
from numerate.detector.kinds_of_error import KINDS as ERRORS
from numerate.documents import read_file
from numerate.documents.document import Paragraph, Table
from numerate.documents.text import read_text
from numerate.errors import NumerateError
from numerate.rules.reading import ReadDocument
from numerate.text.tokenizer import tokenize

COUNTS = {
    "abstract": 0.1,
    "generated": 0.2,
    "of one table": 0.2,
    "of one row": 0.05,
    "of an excerpt": 0.2,
}
"""What is compared, and how much it counts where weights are fitted."""
RATE = 0.15  # of numbers of a summary that are made wrong
LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2)
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Case:
    """A number of a summary."""

    article: int
    summary: str  # its name in `COUNTS`
    kind: str | None  # of error; None: it is right
    support: Support
    is_unsupported: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--articles", type=int, default=300)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--alarms", type=float, default=0.05)
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    files = sorted(arguments.folder.rglob("*.*xml"))
    random.Random(arguments.seed).shuffle(files)
    chosen = files[arguments.skip : arguments.skip + arguments.articles]
    cases = [
        case
        for index, file in enumerate(chosen)
        for case in cases_of(index, file, arguments.alarms)
    ]
    if arguments.fit:
        print_fitted(cases)
    else:
        print_found(cases)


def cases_of(index: int, file: Path, alarms: float = ALARMS) -> Iterator[Case]:
    try:
        (document,) = read_file(str(file))
    except NumerateError:
        return
    generator = np.random.default_rng([index, 7])
    abstract = {at for at, one in enumerate(document.paragraphs) if one.in_abstract}
    read = ReadDocument(document)
    sources = Sources([one for one in mentions(read) if one.where.paragraph not in abstract])
    if not sources.mentions:
        return
    paragraphs = document.paragraphs
    summary = "\n\n".join(paragraphs[at].text for at in sorted(abstract))
    rest = [one for one in paragraphs if not one.in_abstract]
    made = generated(document.tables, rest, generator)
    table = document.tables[generator.integers(len(document.tables))] if document.tables else None
    alone = ReadDocument(read_text(""), [table] if table is not None else [])
    of_one = generated(alone.tables, [], generator)
    pairs = [("abstract", summary, sources), ("generated", made, sources)]
    pairs.append(("of one table", of_one, Sources(list(mentions(alone)))))
    for row, text in of_rows(document.tables, generator):
        alone = ReadDocument(read_text(""), [row])
        pairs.append(("of one row", text, Sources(list(mentions(alone)))))
    yield from of_excerpts(index, summary, sources, document.tables, generator, alarms)
    for name, text, of in pairs:
        for wrong in (False, True):
            written, kinds = with_errors(text, document.tables, generator) if wrong else (text, {})
            found = list(mentions(ReadDocument(read_text(written))))
            supports = of.support(found)
            for one, support, said in zip(
                found, supports, judged(found, supports, alarms), strict=True
            ):
                kind = kinds.get((one.where.paragraph or 0, one.where.start))
                if (kind is not None) == wrong:
                    yield Case(index, name, kind, support, said.verdict == UNSUPPORTED)


def of_excerpts(
    index: int,
    text: str,
    sources: Sources,
    tables: list[Table],
    generator: np.random.Generator,
    alarms: float,
) -> Iterator[Case]:
    """Numbers of an abstract, each beside the one paragraph or table that it may be quoted from."""
    right = list(mentions(ReadDocument(read_text(text))))
    written, kinds = with_errors(text, tables, generator)
    wrong = list(mentions(ReadDocument(read_text(written))))
    if len(wrong) != len(right):
        return
    excerpts: dict[tuple[int | None, int | None], Sources] = {}
    for at, support in enumerate(sources.support(right)):
        if support.quote is None:
            continue
        where = support.quote.where
        home = where.paragraph, where.table
        if home not in excerpts:
            some = [m for m in sources.mentions if (m.where.paragraph, m.where.table) == home]
            excerpts[home] = Sources(some)
        place = wrong[at].where
        kind = kinds.get((place.paragraph or 0, place.start))
        numbers = right if kind is None else wrong
        supports = excerpts[home].support(numbers)
        said = list(judged(numbers, supports, alarms))[at]
        yield Case(index, "of an excerpt", kind, supports[at], said.verdict == UNSUPPORTED)


def with_errors(
    text: str, tables: list[Table], generator: np.random.Generator
) -> tuple[str, dict[tuple[int, int], str]]:
    """The text, and of its wrong numbers the kinds, by paragraph and place."""
    channel, numbers = Channel(ERRORS), [CellNumbers.of(table) for table in tables]
    parts: list[str] = []
    kinds: dict[tuple[int, int], str] = {}
    for index, paragraph in enumerate(text.split("\n\n")):
        tokens = tokenize(paragraph)
        places = channel.places(paragraph, tokens)
        own = [place.numeral for place in places]
        edits = channel.some(places, InSight(own, numbers), generator, RATE)
        spans = [(token.start, token.end) for token in tokens if token.is_numeral]
        wrong, moved = apply(paragraph, spans, edits)
        parts.append(wrong)
        kinds |= {(index, moved[edit.index][0]): edit.kind for edit in edits}
    return "\n\n".join(parts), kinds


# A summary of an article


def generated(
    tables: list[Table], paragraphs: list[Paragraph], generator: np.random.Generator
) -> str:
    sentences = [*of_tables(tables, generator), *of_text(paragraphs, generator)]
    order = generator.permutation(len(sentences)).tolist()
    return "\n\n".join(sentences[index] for index in order)


def of_tables(tables: list[Table], generator: np.random.Generator, most: int = 6) -> list[str]:
    """What rows say, in words of the headers."""
    rows = [(table, row) for table in tables for row in table.body if len(row) > 2]
    found = []
    for index in generator.permutation(len(rows)).tolist():
        table, row = rows[index]
        header = table.header[-1] if table.header else []
        cells = [
            (header[column] or f"column {column + 1}", text)
            for column, text in enumerate(row)
            if 0 < column < len(header) and any(sign.isdigit() for sign in text)
        ]
        if row[0].strip() and len(cells) >= 2:
            said = " and ".join(f"{text} for {name}" for name, text in cells[:2])
            values = [plain(text) for _, text in cells[:2]]
            decimals = max(len(text.partition(".")[2]) for _, text in cells[:2])
            said += computed(values[0], values[1], decimals, generator)
            found.append(f"{row[0].strip()} was {said}.")
        if len(found) == most:
            break
    return found


def of_rows(
    tables: list[Table], generator: np.random.Generator, most: int = 6
) -> Iterator[tuple[Table, str]]:
    """What follows from single rows, without what it follows from."""
    rows = [(table, row) for table in tables for row in table.body if len(row) > 2]
    for index in generator.permutation(len(rows)).tolist():
        table, row = rows[index]
        numbers = [text for text in row[1:] if plain(text) is not None][:2]
        if len(numbers) < 2 or most == 0:
            continue
        decimals = max(len(text.partition(".")[2]) for text in numbers)
        said = computed(plain(numbers[0]), plain(numbers[1]), decimals, generator)
        if said:
            most -= 1
            yield replace(table, body=[row], repeated=frozenset()), f"Of {row[0].strip()}{said}."


def computed(
    a: float | None, b: float | None, decimals: int, generator: np.random.Generator
) -> str:
    if a is None or b is None or not a or not b or a == b:
        return ""
    forms = [f", a difference of {abs(a - b):.{decimals}f}", f", together {a + b:.{decimals}f}"]
    if not decimals:
        least, most = sorted((a, b))
        forms = [*forms, f"; the one is {100 * least / most:.1f}% of the other"]
        forms = [*forms, f"; the one is {100 * least / most:.0f}% of the other"]
    return str(generator.choice(forms))


def plain(text: str) -> float | None:
    """A cell that is a number and nothing else."""
    text = text.strip()
    return float(text) if text.replace(".", "", 1).isdigit() else None


def of_text(paragraphs: list[Paragraph], generator: np.random.Generator) -> list[str]:
    """Sentences with numbers in them, as they stand."""
    found = []
    for index in generator.permutation(len(paragraphs)).tolist()[:40]:
        for sentence in paragraphs[index].text.split(". ")[1:-1]:
            if sum(sign.isdigit() for sign in sentence) >= 3 and len(sentence) < 300:
                found.append(sentence + ".")
                break
        if len(found) == 4:
            break
    return found


# Results


def print_fitted(cases: list[Case]) -> None:
    from sklearn.linear_model import LogisticRegression

    lost = Counter(f"{case.summary} {case.kind is None}" for case in cases if is_nowhere(case))
    # Of what nobody says, and what follows from nothing, nothing is to be learnt.
    cases = [case for case in cases if not is_nowhere(case)]
    features = np.stack([case.support.features for case in cases])
    right = np.array([case.kind is None for case in cases])
    # Of every summary, right and wrong numbers count alike.
    groups = np.array([f"{case.summary} {case.kind is None}" for case in cases])
    names, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    fitted = LogisticRegression(C=1.0, fit_intercept=False, max_iter=5000)
    weigh = np.array([COUNTS[name.rpartition(" ")[0]] for name in names])
    fitted.fit(features, right, sample_weight=len(cases) * (weigh / counts)[inverse])
    weights = fitted.coef_[0].reshape(KINDS, len(FEATURES))
    chances = 1 / (1 + np.exp(-features @ weights.ravel()))
    chances /= np.array([limit_of(case.support, 1.0) for case in cases])
    # Of right numbers of summaries that are generated.
    kinds = [
        np.concatenate([chances[groups == f"{name} True"], np.zeros(lost[f"{name} True"])])
        for name in ("generated", "of one table")
    ]
    grid = np.sort(np.concatenate(kinds))
    share = np.mean([np.searchsorted(np.sort(some), grid) / len(some) for some in kinds], axis=0)
    limits = {level: float(grid[np.searchsorted(share, level)]) for level in LEVELS}
    print("WEIGHTS = (")
    for row in weights.round(3).tolist():
        print(f"    {tuple(row)},")
    print(")\nLIMITS = {")
    for level, limit in limits.items():
        print(f"    {level}: {limit:.4f},")
    print("}")


def is_nowhere(case: Case) -> bool:
    return case.support.quote is None and case.support.way is None


def print_found(cases: list[Case]) -> None:
    flagged = np.array([case.is_unsupported for case in cases])
    articles = np.array([case.article for case in cases])
    for summary in COUNTS:
        of = np.array([case.summary == summary for case in cases])
        kinds = np.array([case.kind or "right" for case in cases])
        for name in ("right", "wrong", *ERRORS):
            chosen = of & ((kinds != "right") if name == "wrong" else (kinds == name))
            if chosen.any():
                low, high = interval(flagged[chosen], articles[chosen])
                print(
                    f"{summary:13} {name:24} {chosen.sum():6,} numbers, called unsupported "
                    f"{100 * flagged[chosen].mean():5.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
                )


def interval(flagged: np.ndarray, articles: np.ndarray) -> tuple[float, float]:
    names, inverse = np.unique(articles, return_inverse=True)
    hits, counts = np.bincount(inverse, flagged), np.bincount(inverse)
    drawn = np.random.default_rng(1).integers(len(names), size=(RESAMPLES, len(names)))
    shares = hits[drawn].sum(1) / counts[drawn].sum(1)
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(low), float(high)


if __name__ == "__main__":
    main()

"""`numerate predict` and `rank`: texts on the command line, or one a line on standard input."""

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.table import Table

from numerate.documents import STANDARD_INPUT
from numerate.documents.document import Table as DocumentTable
from numerate.documents.reader import decode
from numerate.errors import NumerateError, check_choice, printable
from numerate.lm.model.given_tables import check_given, read_given
from numerate.lm.model.numeral_distribution import NumeralDistribution
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.rank import Ranking
from numerate.lm.model.source import ModelSource
from numerate.reports.notices import plain_console
from numerate.reports.progress import PassProgress
from numerate.storage import write
from numerate.text.seen_numbers import Source

NAMED = 3  # of the most probable numerals, in an answer of one line
TOLD = 0.005  # the least probable source


def predict_numeral(
    source: ModelSource,
    text: str,
    tables: Sequence[Path] = (),
    *,
    top: int,
    interval: float,
    uncalibrated: bool,
    plot: Path | None,
    format: str,
) -> None:
    check_choice("format", format, ("table", "json"))
    refuse_file(text, "predict")
    if text == STANDARD_INPUT and plot is not None:
        raise NumerateError("--plot draws one distribution: got a text a line from -")
    given = read_given(tables)
    model = source.load(with_tables=bool(given))
    check_given(model, given)
    if text == STANDARD_INPUT:
        _predict_lines(
            model, given, top=top, level=interval, uncalibrated=uncalibrated, format=format
        )
        return
    found = _predict(model, text, given)
    record = _prediction(found, top, interval, uncalibrated)
    if plot is not None:
        draw(found, plot, calibrated=record["calibrated"])
    if format == "json":
        _print_json(model, text, record)
    else:
        _print_prediction(record, found.sources[:top])


def refuse_file(text: str, command: str) -> None:
    """The path of a file is hardly meant as a text."""
    if os.path.isfile(text):
        raise NumerateError(
            f"{text}: a file, expected a text; to read one from each of its lines: "
            f"numerate {command} RUN - < {text}"
        )


def lines_of_input() -> Iterator[tuple[str, str]]:
    """Where each line of standard input stands, and the line; as they come, for who types them."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        where = f"stdin:{number}"
        yield where, decode(line, where).strip()


def _predict_lines(
    model: NumeralLM,
    tables: Sequence[DocumentTable],
    *,
    top: int,
    level: float,
    uncalibrated: bool,
    format: str,
) -> None:
    """One answer a line; an empty line has an empty answer, so that both stay side by side."""
    for where, text in lines_of_input():
        if not text:
            print(flush=True)
            continue
        try:
            record = _prediction(_predict(model, text, tables), top, level, uncalibrated)
        except NumerateError as error:
            raise NumerateError(f"{where}: {error}") from None
        if format == "json":
            _print_json(model, text, record)
        else:
            likely = ", ".join(entry["numeral"] for entry in record["top"][:NAMED])
            print(f"{_place_on_line(record)}; most likely {likely}", flush=True)


def _predict(model: NumeralLM, text: str, tables: Sequence[DocumentTable]) -> NumeralDistribution:
    """A gap over a pretrained model takes a minute: who waits is told how far it is."""
    with PassProgress("numerals") as progress:
        report = partial(progress, "predicting")
        return model.predict(text, tables, report=report)


def _prediction(
    found: NumeralDistribution, top: int, level: float, uncalibrated: bool
) -> dict[str, Any]:
    calibrated = not uncalibrated and found.is_calibrated()
    return {
        "top": [{"numeral": text, "probability": p} for text, p in found.top(top)],
        "median": found.median(),
        "level": level,
        "interval": found.interval(level, calibrated=calibrated),
        "calibrated": calibrated,
        "shares": found.mixture_weights,
        "sources": [source.record() for source in found.sources],
        "unnamed": found.unnamed,
        "unresolved": found.unresolved,
    }


def _print_json(model: NumeralLM, text: str, record: dict[str, Any]) -> None:
    whole = {"model": model.name, "text": text, **record}
    print(json.dumps(whole, ensure_ascii=False), flush=True)


def _place_on_line(record: dict[str, Any]) -> str:
    low, high = record["interval"]
    level = f"{record['level']:.0%}"
    own = "" if record["calibrated"] else " (uncalibrated)"
    return f"median {record['median']:.9g}, {level} between {low:.9g} and {high:.9g}{own}"


def _print_prediction(record: dict[str, Any], sources: Sequence[Source]) -> None:
    console = plain_console(highlight=False)
    table = Table("numeral", "probability")
    table.columns[1].justify = "right"
    for entry in record["top"]:
        table.add_row(entry["numeral"], f"{entry['probability']:.4f}")
    console.print(table)
    console.print(_place_on_line(record))
    told = [source for source in sources if source.probability >= TOLD]
    if told:
        console.print("from numbers in view:")
        for source in told:
            console.print(f"  {printable(str(source))}", markup=False)
    if record["shares"]:
        weights = ", ".join(f"{name} {part:.1%}" for name, part in record["shares"].items())
        console.print(f"mixture weights: {weights}")
    if record["unnamed"] > 0.01:
        console.print(f"no numeral that can be named: {record['unnamed']:.1%}")


def draw(found: NumeralDistribution, path: Path, *, calibrated: bool) -> None:
    """Write the figure; the suffix says in which format."""
    from numerate.reports.look import look

    kind = path.suffix.lower().removeprefix(".")
    check_choice("kind of picture", kind, ("png", "svg", "pdf"))
    stream = io.BytesIO()
    with look():
        found.plot(calibrated=calibrated).savefig(stream, format=kind, dpi=300)
    write(path, stream.getvalue())


def rank_claims(
    source: ModelSource,
    claims: list[str],
    tables: Sequence[Path] = (),
    *,
    by: str,
    format: str,
) -> None:
    check_choice("format", format, ("table", "json"))
    for claim in claims:
        refuse_file(claim, "rank")
    if claims == [STANDARD_INPUT]:
        claims = [line for _, line in lines_of_input() if line]
    given = read_given(tables)
    model = source.load(with_tables=bool(given))
    check_given(model, given)
    ranking = model.rank(claims, by, tables=given)
    if format == "json":
        print(json.dumps(ranking.record(), ensure_ascii=False))
    else:
        _print_ranking(ranking)


def _print_ranking(ranking: Ranking) -> None:
    console = plain_console(highlight=False)
    table = Table("", "claim", "log p", "against the first")
    table.columns[2].justify = "right"
    for place, claim in enumerate(ranking.claims, 1):
        table.add_row(str(place), printable(claim.text), f"{claim.log_prob:.2f}", claim.reason)
    console.print(table)

"""What comes next? The probability of every numeral in a context, by number of decimals."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import gcd
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.evaluate.distribution import quantiles
from numerate.lm.heads.base import Context as Place
from numerate.lm.heads.registry import head_class, paper_heads
from numerate.lm.inspect.contexts import Context
from numerate.lm.inspect.exhibit import Cell, Exhibit, NothingToShowError, Table
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.model.candidates import candidate_numerals, covering_decimals
from numerate.numeral import MAX_DIGITS, count_digits
from numerate.reports.look import COLOURS, INK, drawn, legend_above, look, new_figure

MOST = 1000  # numerals of one precision; of more, as many are taken at even distances
FEW = 250  # the same where a pretrained model has to read every one
WIDEST = 300.0  # so many times its lower end, or 1, and the number line is logarithmic
TAIL = 0.05  # probability left out at either end of the number line
_CURVES = [COLOURS[name] for name in ("blue", "orange", "green", "pink", "amber", "sky", "grey")]
_FLOOR = 1e-8  # lower end of the logarithmic axis


@dataclass(frozen=True, slots=True)
class _Prediction:
    run: Run
    log_probs: np.ndarray  # [C] of the grid; nan where a closed vocabulary has no such numeral
    unknown: float | None  # probability of the unknown numeral


def next_numeral(runs: Sequence[Run], context: Context, *, name: str = "next-numeral") -> Exhibit:
    """h-softmax, d-rnn, mog and combination under each other, linear and logarithmic.

    Probabilities are given that the next token is a numeral. The numerals are all those of each
    precision between the tails of the models' own predictions, so curves are not those of a
    fixed list of candidates. A closed vocabulary has its own numerals alone.
    """
    shown = sorted(filter(_can_be_shown, runs), key=lambda run: run.model.head.paper_row or 100)
    if not shown:
        drawable = (name for name in paper_heads() if head_class(name).drawn)
        raise NothingToShowError("next numeral: none of " + ", ".join(drawable))
    train = shown[0].shared.corpora["train"]
    candidates = candidate_numerals(train).to(train.table.device)
    places = [context.place(run) for run in shown]
    low, high = _range(shown, places, context, candidates)
    decimals = covering_decimals(train)
    logarithmic = high / max(low, 1.0) > WIDEST
    most = FEW if any(run.model.head.uses_digits for run in shown) else MOST
    grid = _grid(low, high, decimals, shown[0], logarithmic, most)
    predictions = [_predict(run, place, grid) for run, place in zip(shown, places, strict=True)]
    rows: list[tuple[Cell, ...]] = [
        (prediction.run.label, text, int(precision), float(np.exp(log_prob)))
        for prediction in predictions
        for text, precision, log_prob in zip(
            grid.texts, grid.precisions, prediction.log_probs, strict=True
        )
        if not np.isnan(log_prob)
    ]
    source = "given" if context.place is None else "of the dev split"
    caption = (
        f"Probability of the next numeral after “{context.ending(90)}” (context {source}), given "
        "that a numeral follows; one curve per number of decimals, left linear, right logarithmic."
    )
    if context.truth is not None:
        caption += f" The numeral that stands there, {context.truth}, is the dotted line."
    unknown = [f"{p.run.label} {100 * p.unknown:.1f} %" for p in predictions if p.unknown]
    if unknown:
        caption += " On the unknown numeral: " + ", ".join(unknown) + "."
    return Exhibit(
        name,
        f"Next numeral: “{context.ending(40)} …”",
        caption,
        _draw(predictions, grid, context, logarithmic),
        Table(("run", "numeral", "decimals", "probability"), rows),
    )


def _can_be_shown(run: Run) -> bool:
    """One of the heads of the paper's figure, with a numeral to its name."""
    knows_any = run.model.open_vocabulary or len(run.model.vocabulary.numerals) > 1
    return run.model.head.drawn and knows_any


def _range(
    runs: Sequence[Run],
    places: Sequence[Place],
    context: Context,
    candidates: NumeralTable,
) -> tuple[float, float]:
    """The part of the number line that matters to one of the models, or to the truth."""
    ends = []
    for run, place in zip(runs, places, strict=True):
        scores = run.table_in(place, candidates)
        if not run.model.open_vocabulary:
            known = torch.from_numpy(candidates.known > 0).to(scores.device)
            scores = scores.masked_fill(~known, -torch.inf)
        shares = torch.softmax(scores, dim=1).cpu().numpy()
        ends += [float(quantiles(shares, candidates.values, q)[0]) for q in (TAIL, 1 - TAIL)]
    if context.truth is not None:
        ends.append(float(context.truth))
    low, high = min(ends), max(ends)
    return low, high if high > low else low + 1


def _grid(
    low: float, high: float, decimals: int, run: Run, logarithmic: bool, most: int
) -> NumeralTable:
    """All numerals of 0 to `decimals` decimals in the range, and those of the vocabulary."""
    texts: dict[str, None] = {}
    for precision in range(decimals + 1):
        first = int(np.floor(low * 10**precision))
        last = int(np.ceil(high * 10**precision))
        for scaled in _spread(first, last, logarithmic, most):
            texts[f"{Decimal(scaled).scaleb(-precision):f}"] = None
    for text in run.model.vocabulary.numerals[1:]:
        if low <= float(text) <= high and len(text.partition(".")[2]) <= decimals:
            texts[text] = None
    kept = [text for text in texts if count_digits(text) <= MAX_DIGITS]
    table = NumeralTable(kept, run.model.vocabulary.numeral_ids())
    return table.to(run.shared.dev.table.device)


def _spread(first: int, last: int, logarithmic: bool, most: int) -> list[int]:
    """Whole numbers from first to last, not many more than `most`.

    Their distance has no common divisor with ten: else they would all end with the same digit.
    """
    if last - first < most:
        return list(range(first, last + 1))
    if logarithmic:
        points = np.geomspace(max(first, 1), last, most)
        return sorted({int(point) for point in points})
    distance = -(-(last - first) // most)
    while gcd(distance, 10) > 1:
        distance += 1
    return list(range(first, last + 1, distance))


def _predict(run: Run, place: Place, grid: NumeralTable) -> _Prediction:
    scores = run.table_in(place, grid)[0].cpu().numpy()
    if run.model.open_vocabulary:
        return _Prediction(run, scores, None)
    unknown = scores[grid.known == 0]
    return _Prediction(
        run,
        np.where(grid.known > 0, scores, np.nan),
        float(np.exp(unknown[0])) if len(unknown) else None,
    )


def _draw(
    predictions: list[_Prediction], grid: NumeralTable, context: Context, logarithmic: bool
) -> Figure:
    everything = np.concatenate([prediction.log_probs for prediction in predictions])
    floor = max(_FLOOR, np.exp(np.nanmin(everything)) / 3)
    positive = grid.values[grid.values > 0]
    with look():
        figure = new_figure(0.55 + 1.1 * len(predictions))
        panels = figure.subplots(len(predictions), 2, squeeze=False, sharex=True)
        for row, prediction in zip(panels, predictions, strict=True):
            for axes, scale in zip(row, ("linear", "log"), strict=True):
                _draw_curves(axes, prediction, grid, scale, logarithmic)
                truth = float(context.truth or "nan")
                if truth > 0 or (truth == 0 and not logarithmic):
                    axes.axvline(truth, color=INK, linewidth=0.8, linestyle=":", label="truth")
                axes.set_yscale(scale)
                axes.set_ylim(bottom=floor if scale == "log" else 0)
                if logarithmic:
                    axes.set_xlim(positive.min(), positive.max())
                    axes.set_xscale("log")
            row[0].set_title(drawn(prediction.run.label), loc="left")
            row[0].set_ylabel("probability")
        for axes in panels[-1]:
            axes.set_xlabel("number")
        handles, labels = panels[-1][0].get_legend_handles_labels()
        legend_above(figure, handles, labels)
    return figure


def _draw_curves(
    axes: Axes, prediction: _Prediction, grid: NumeralTable, scale: str, logarithmic: bool
) -> None:
    """One curve per number of decimals; single numerals where there is nothing between them."""
    shown = ~np.isnan(prediction.log_probs)
    if logarithmic:
        shown &= grid.values > 0
    order = np.argsort(grid.values, kind="stable")
    for precision in np.unique(grid.precisions):
        members = order[(shown & (grid.precisions == precision))[order]]
        numbers, probabilities = grid.values[members], np.exp(prediction.log_probs[members])
        style: dict[str, Any] = {
            "color": _CURVES[int(precision) % len(_CURVES)],
            "label": f"{precision} decimal{'' if precision == 1 else 's'}",
        }
        if prediction.run.model.open_vocabulary:
            axes.plot(numbers, probabilities, linewidth=0.7, **style)
        elif scale == "linear":
            axes.vlines(numbers, 0, probabilities, linewidth=0.7, **style)
        else:
            axes.plot(numbers, probabilities, ".", markersize=2, **style)

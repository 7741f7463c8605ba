"""Which digits come first? First, second and third significant digits beside Benford's law."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from numerate.lm.inspect.digit_laws import (
    NAMES,
    POSITIONS,
    DigitShares,
    benford,
    conformity,
)
from numerate.lm.inspect.exhibit import Cell, Exhibit, NothingToShowError, Table
from numerate.reports.look import COLOURS, INK, legend_above, look, new_figure
from numerate.reports.tables import ResultTable, format_figure

_BARS = (COLOURS["blue"], COLOURS["amber"], COLOURS["green"], COLOURS["pink"])


def significant_digit_shares(counted: Sequence[DigitShares], *, notes: str = "") -> Exhibit:
    """Digits as counted (of data, of models) beside what Benford's law expects."""
    if not counted or not all(shares.having(1) for shares in counted):
        raise NothingToShowError("significant digits: no number but zero")
    rows: list[tuple[Cell, ...]] = [
        (shares.name, name, digit, float(shares.shares(position)[digit]))
        for shares in counted
        for position, name in zip(POSITIONS, NAMES, strict=True)
        for digit in range(position == 1, 10)
        if shares.having(position)
    ]
    rows += [
        ("Benford", name, digit, float(benford(position)[digit]))
        for position, name in zip(POSITIONS, NAMES, strict=True)
        for digit in range(position == 1, 10)
    ]
    return Exhibit(
        "significant-digits",
        "Significant digits",
        "Share of each digit at the first, second and third significant place, among the numbers "
        "that have a digit there; the line is Benford's law." + (f" {notes}" if notes else ""),
        _draw(counted),
        Table(("of", "place", "digit", "share"), rows),
        (conformity_table(counted),),
    )


def conformity_table(counted: Sequence[DigitShares]) -> ResultTable:
    """Chi-square and mean absolute deviation against Benford's law, by place.

    A model's digits are averages of probabilities: no sample, so no test of one.
    """
    rows = []
    for shares in counted:
        for position, name in zip(POSITIONS, NAMES, strict=True):
            found = conformity(shares, position)
            tested = [
                f"{shares.having(position):,.0f}",
                format_figure(found.chi_square),
                str(found.degrees),
                format_p_value(found.p_value),
            ]
            rows.append(
                [
                    name if len(counted) == 1 else f"{shares.name}, {name}",
                    *(["–"] * 4 if shares.of_model else tested),
                    "–" if found.deviation != found.deviation else f"{found.deviation:.4f}",
                    found.verdict(position),
                ]
            )
    columns = ["digit", "numbers", "chi-square", "df", "p", "MAD", "conformity"]
    notes = [
        "Chi-square takes numbers for independent. Those of one document are not: p is too low."
    ]
    if any(shares.of_model for shares in counted):
        notes.append("A model's digits are mean probabilities, not counts, so none are tested.")
    return ResultTable(
        "Against Benford's law: chi-square, mean absolute deviation (MAD), and the conformity that "
        "Nigrini's bounds on the latter give",
        columns,
        rows,
        tuple(notes),
    )


def format_p_value(value: float) -> str:
    if value != value:
        return "–"
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def _draw(counted: Sequence[DigitShares]) -> Figure:
    with look():
        figure = new_figure(3.6)
        panels = figure.subplots(3, 1)
        width = 0.8 / len(counted)
        for axes, position, name in zip(panels, POSITIONS, NAMES, strict=True):
            digits = list(range(position == 1, 10))
            for index, shares in enumerate(counted):
                offset = (index - (len(counted) - 1) / 2) * width
                axes.bar(
                    [digit + offset for digit in digits],
                    100 * shares.shares(position)[digits],
                    width,
                    color=_BARS[index % len(_BARS)],
                    label=shares.name,
                )
            law = 100 * benford(position)[digits]
            axes.plot(digits, law, "o-", color=INK, markersize=2.5, linewidth=0.8, label="Benford")
            axes.set_xticks(digits)
            axes.set(ylabel="share (%)", xlabel=f"{name} significant digit")
            axes.grid(axis="x", visible=False)
        handles, labels = panels[0].get_legend_handles_labels()
        legend_above(figure, handles, labels)
    return figure

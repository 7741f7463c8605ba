"""Are numerals of near value alike? Cosine similarities of the numerals' output embeddings."""

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.figure import Figure

from numerate.lm.heads.softmax import SoftmaxHead
from numerate.lm.inspect.exhibit import Exhibit, NothingToShowError, Table
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.inspect.similarity import cosine_similarities, draw_similarities
from numerate.reports.look import look, new_figure, wrapped
from numerate.text.vocabulary import UNKNOWN_NUMERAL

MOST = 200  # numerals in a figure: more would be less than a dot each
_LABELS = 8


def numeral_similarities(runs: Sequence[Run], *, most: int = MOST) -> Exhibit:
    """Flat softmax beside hierarchical softmax, on one scale; numerals sorted by value.

    The embeddings are those that the output layer multiplies with the hidden state: with
    `+rnn`, the sum of a numeral's own and of the one composed from its digits. The unknown
    numeral comes first, set apart by a gap.
    """
    shown = [(run, weight) for run in runs if (weight := _output_embeddings(run)) is not None]
    if not shown:
        raise NothingToShowError("numeral embeddings: no run with a softmax over numerals")
    numerals = shown[0][0].model.vocabulary.numerals
    if len(numerals) < 3:
        raise NothingToShowError("numeral embeddings: fewer than two numerals in the vocabulary")
    frequent = np.arange(1, min(len(numerals), most + 1))
    values = np.array([float(numerals[index]) for index in frequent])
    order = np.concatenate([[0], frequent[np.argsort(values, kind="stable")]])
    texts = ["unknown" if index == 0 else numerals[index] for index in order]
    assert numerals[0] == UNKNOWN_NUMERAL
    matrices = {run.label: cosine_similarities(weight[order]) for run, weight in shown}
    rows = [
        (label, texts[i], texts[j], float(matrix[i, j]))
        for label, matrix in matrices.items()
        for i in range(len(texts))
        for j in range(len(texts))
    ]
    left = len(numerals) - 1 - len(frequent)
    caption = (
        f"Cosine similarities of the output embeddings of {len(frequent)} numerals, sorted by "
        "value; the unknown numeral is the first row and column, set apart by a gap."
    )
    if left:
        caption += f" The {left:,} less frequent numerals of the vocabulary are left out."
    return Exhibit(
        "numeral-similarities",
        "Numeral embeddings",
        caption,
        _draw(matrices, texts),
        Table(("run", "numeral", "other", "cosine"), rows),
    )


def _output_embeddings(run: Run) -> np.ndarray | None:
    """[numerals, D] as the output layer scores with; row 0 is the unknown's."""
    head = run.heads_of(SoftmaxHead).get(run.label)
    if head is None:
        return None
    with torch.no_grad():
        return head.weight().double().cpu().numpy()


def _draw(matrices: dict[str, np.ndarray], texts: list[str]) -> Figure:
    images = []
    with look():
        columns = min(2, len(matrices))
        rows = -(-len(matrices) // 2)
        figure = new_figure(0.5 + rows * (1.95 if columns == 2 else 2.9))
        grid = figure.subplots(rows, columns, squeeze=False)
        band = max(1, len(texts) // 25)  # the unknown's row, as thick as can be seen
        first = min(1 + band, len(texts) - 1)  # the label of the very first would touch the other
        places = np.unique(np.linspace(first, len(texts) - 1, _LABELS).round().astype(int))
        ticks = [(band - 1) / 2, *(places + 2 * band - 1)]
        names = ["unknown", *(texts[place] for place in places)]
        for axes, (label, matrix) in zip(grid.flat, matrices.items(), strict=False):
            images.append(draw_similarities(axes, _set_apart(matrix, band)))
            axes.set_title(wrapped(label, 2.6 / columns))
            axes.set_yticks(ticks, names if axes in grid[:, 0] else [""] * len(ticks))
            axes.set_xticks(ticks, ["unk.", *names[1:]], rotation=90)
        for axes in grid.flat[len(matrices) :]:
            axes.set_visible(False)
        for axes in grid[:, 0]:
            axes.set_ylabel("numeral, by value")
        bar = figure.colorbar(images[0], ax=grid, location="bottom", shrink=0.6, aspect=30)
        bar.set_label("cosine similarity")
        bar.outline.set_visible(False)
    return figure


def _set_apart(matrix: np.ndarray, band: int) -> np.ndarray:
    """The first row and column repeated, and a gap of the same width after them."""
    index = np.concatenate([np.zeros(2 * band, dtype=int), np.arange(1, len(matrix))])
    spread: np.ndarray = matrix[np.ix_(index, index)]
    spread[band : 2 * band] = spread[:, band : 2 * band] = np.nan
    return spread

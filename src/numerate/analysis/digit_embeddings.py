"""Is 3 like 2 and 4? Cosine similarities of digit embeddings, at the input and at the output."""

import numpy as np
import torch
from matplotlib.figure import Figure

from numerate.analysis.runs import Run
from numerate.analysis.similarity import cosine_similarities, draw_similarities
from numerate.heads.digit_rnn import DigitRNNHead
from numerate.heads.softmax import SoftmaxHead
from numerate.model.output import FlatOutput
from numerate.numeral_table import SYMBOLS
from numerate.report.exhibit import Exhibit, Table
from numerate.report.look import look, new_figure


def digit_similarities(run: Run) -> Exhibit:
    """All tables of digit embeddings that a model has: 0–9, the point, and end or start.

    Every model reads digits at its input. `+rnn` models also compose output embeddings from
    digits; the digit RNN has one table for the digit before and one for the digit to come.
    """
    matrices = {
        title: (cosine_similarities(weight), last)
        for title, (weight, last) in _digit_tables(run).items()
    }
    rows = [
        (title, a, b, float(matrix[i, j]))
        for title, (matrix, last) in matrices.items()
        for i, a in enumerate([*SYMBOLS, last])
        for j, b in enumerate([*SYMBOLS, last])
    ]
    return Exhibit(
        f"digit-similarities-{run.slug}",
        f"Digit embeddings of {run.label}",
        f"Cosine similarities of the digit embeddings of {run.label}: "
        + "; ".join(matrices)
        + ". Each table has the ten digits, the point, and the end, which as an input to what "
        "writes digits means the start.",
        _draw(matrices),
        Table(("table", "symbol", "other", "cosine"), rows),
    )


def _digit_tables(run: Run) -> dict[str, tuple[np.ndarray, str]]:
    """Title → embeddings [12, D] and what the twelfth symbol means there."""
    output = run.model.output
    tables = {"read at the input": (run.model.embedding.encoder.symbols.weight, "end")}
    composed = output.numerals if isinstance(output, FlatOutput) else None
    for name, head in run.heads().items():
        place = f" ({name.partition(' in ')[0]})" if head is not run.head else ""
        if isinstance(head, SoftmaxHead):
            composed = head.embedding
        if isinstance(head, DigitRNNHead):
            tables[f"written before{place}"] = (head.inputs.weight, "start")
            tables[f"to be written{place}"] = (head.outputs, "end")
    if composed is not None and composed.encoder is not None:
        tables["read at the output"] = (composed.encoder.symbols.weight, "end")
    with torch.no_grad():
        return {
            title: (weight.double().cpu().numpy(), last) for title, (weight, last) in tables.items()
        }


def _draw(matrices: dict[str, tuple[np.ndarray, str]]) -> Figure:
    images = []
    with look():
        columns = min(3, len(matrices))
        figure = new_figure({1: 2.7, 2: 2.35, 3: 1.85}[columns])
        grid = figure.subplots(1, columns, squeeze=False)
        for axes, (title, (matrix, last)) in zip(grid.flat, matrices.items(), strict=True):
            images.append(draw_similarities(axes, matrix))
            axes.set_title(title.replace(" (", "\n("))
            names = [*SYMBOLS, last]
            axes.set_yticks(range(len(names)), names)
            axes.set_xticks(range(len(names)), names)
            axes.get_xticklabels()[-1].set_rotation(90)
            axes.tick_params(labelsize=5, length=0, pad=1.5)
        bar = figure.colorbar(images[0], ax=grid, location="bottom", shrink=0.6, aspect=30)
        bar.set_label("cosine similarity")
        bar.outline.set_visible(False)
    return figure

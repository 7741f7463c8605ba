"""How well are empty cells of tables filled?

    numerate prepare ARTICLES --keep rows --out data/rows
    numerate train data/rows --model grounded --out runs/rows
    numerate prepare ARTICLES --out data/articles
    python benchmarks/fill.py runs/rows data/articles [--cells 500] [--split test] [--text]

The dataset has whole tables. Of those of its split, in documents that the run was not trained on,
one cell with a number is hidden at a time. What is to be found is its first number. Compared with

- the median of the first numbers in the other cells of its column, and their 5 % to 95 % quantiles;
- gradient boosting (scikit-learn's HistGradientBoostingRegressor) on the training split's cells:
  from the first numbers of its row and of its column without the cell itself (how many, their
  quantiles, spread and neighbours), the logarithm of the number, by median and by 5 % and 95 %
  quantiles.

MdAPE is the median of |answer − number| / number, in per cent, over numbers that are not zero;
coverage is of the 90 % interval; exact is how often the likeliest numeral, or the answer written
with as many decimals as the numbers beside it, is the one that was hidden. `--text` puts the first
paragraph that refers to the table before each question.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from numerate.documents.document import Table
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.integrity import read_batches
from numerate.lm.data.table_rows import row_lines, without_row
from numerate.lm.model.filling import Question, answers
from numerate.lm.model.load import load
from numerate.lm.model.run_folder import RunFolder
from numerate.numeral import Numeral
from numerate.text.table_numbers import CellTexts

SMALLEST = 1e-4  # where logarithms begin


@dataclass
class Hidden:
    """A cell that is hidden, with the first numbers around it."""

    question: Question
    document: str
    truth: str
    in_row: list[str]
    in_column: list[str]

    @property
    def value(self) -> float:
        return float(self.truth)


def tables_of(dataset: Dataset, split: str) -> Iterator[tuple[str, Table]]:
    shown = dataset.split(split)
    batches = read_batches(shown.folder, shown.summary["tables"], ["document"])
    documents = [name for batch in batches for name in batch["document"].to_pylist()]
    return zip(documents, shown.tables(), strict=True)


def hidden_cells(
    dataset: Dataset, split: str, generator: np.random.Generator, a_table: int
) -> Iterator[Hidden]:
    """Cells of columns that have other numbers: at most `a_table`, of different rows."""
    cells = CellTexts(dataset.reading)
    for document, table in tables_of(dataset, split):
        lines = {line.row: line for line in row_lines(table, dataset.reading) if line.columns}
        firsts = {
            (row, column): cells.numbers(line.texts[column])[0][0]
            for row, line in lines.items()
            for column in line.columns
        }
        for row in generator.permutation(sorted(lines))[:a_table].tolist():
            column = int(generator.choice(lines[row].columns))
            in_column = [text for (r, c), text in firsts.items() if c == column and r != row]
            in_row = [text for (r, c), text in firsts.items() if r == row and c != column]
            if in_column:
                question = Question(lines[row], column, without_row(table, row))
                yield Hidden(question, document, firsts[row, column], in_row, in_column)


def features(cell: Hidden) -> list[float]:
    asked = cell.question
    found: list[float] = [asked.line.row, asked.column, len(asked.rest.body)]
    for texts in (cell.in_row, cell.in_column):
        values = logarithms(np.array([float(text) for text in texts]))
        known = len(values) > 0
        quantiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]) if known else [np.nan] * 5
        decimals = [len(text.partition(".")[2]) for text in texts]
        found += [len(values), *quantiles, values.mean() if known else np.nan]
        found += [values.std() if known else np.nan, np.mean(decimals) if known else np.nan]
        found += [values[0] if known else np.nan, values[-1] if known else np.nan]
    return found


def logarithms(values: np.ndarray) -> np.ndarray:
    return np.log10(np.maximum(values, SMALLEST))


class Boosted:
    """Three regressors: median and both ends of the interval."""

    def __init__(self, train: list[Hidden]) -> None:
        inputs = np.array([features(cell) for cell in train])
        targets = logarithms(np.array([cell.value for cell in train]))
        self._models = [
            HistGradientBoostingRegressor(
                loss="quantile", quantile=q, max_iter=300, early_stopping=True, random_state=0
            ).fit(inputs, targets)
            for q in (0.5, 0.05, 0.95)
        ]

    def __call__(self, cells: list[Hidden]) -> np.ndarray:
        inputs = np.array([features(cell) for cell in cells])
        found = 10 ** np.array([model.predict(inputs) for model in self._models]).T
        found[found <= 1.01 * SMALLEST] = 0.0
        return found


def written(value: float, cell: Hidden) -> str:
    """As the numbers beside it are: with the most common number of decimals."""
    decimals = [len(text.partition(".")[2]) for text in cell.in_row or cell.in_column]
    return f"{value:.{max(decimals, key=decimals.count)}f}"


def column_medians(cells: list[Hidden]) -> np.ndarray:
    values = [np.array([float(text) for text in cell.in_column]) for cell in cells]
    return np.array([np.quantile(found, [0.5, 0.05, 0.95]) for found in values])


def report(name: str, answers: np.ndarray, numerals: list[str], cells: list[Hidden]) -> str:
    truth = np.array([cell.value for cell in cells])
    middle, low, high = answers.T
    some = truth != 0
    error = 100 * np.median(np.abs(middle - truth)[some] / truth[some])
    inside = np.mean((low <= truth) & (truth <= high))
    same = [
        Numeral.parse(text) == Numeral.parse(cell.truth)
        for text, cell in zip(numerals, cells, strict=True)
    ]
    return f"| {name} | {error:.1f} | {100 * inside:.1f} | {100 * np.mean(same):.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--cells", type=int, default=500)
    parser.add_argument("--split", default="test")
    parser.add_argument("--text", action="store_true")
    arguments = parser.parse_args()
    dataset = Dataset.open(arguments.dataset)
    generator = np.random.default_rng(1)
    trained = set(RunFolder(Path(arguments.run)).trained_documents())
    cells = [
        cell
        for cell in hidden_cells(dataset, arguments.split, generator, 2)
        if cell.document not in trained
    ]
    chosen = generator.permutation(len(cells))[: arguments.cells]
    cells = [cells[index] for index in sorted(chosen.tolist())]
    if arguments.text:
        with_text(cells, dataset, arguments.split)
    boosted = Boosted(list(hidden_cells(dataset, "train", generator, 20)))
    answered = list(answers(load(arguments.run), [cell.question for cell in cells]))
    rows = {
        "median of the column": column_medians(cells),
        "gradient boosting": boosted(cells),
        "numerate fill": np.array([(cell.median, cell.low, cell.high) for cell in answered]),
    }
    print(f"{len(cells):,} cells of {len({cell.document for cell in cells}):,} documents")
    print("| | MdAPE % | in 90 % | exact % |")
    print("|---|---:|---:|---:|")
    for name, found in rows.items():
        numerals = [written(value, cell) for value, cell in zip(found[:, 0], cells, strict=True)]
        if name == "numerate fill":
            numerals = [cell.likeliest for cell in answered]
        print(report(name, found, numerals, cells))


def with_text(cells: list[Hidden], dataset: Dataset, split: str) -> None:
    """Put the first paragraph that refers to the table before each question, if there is one."""
    columns = dataset.split(split).read(["document", "text", "tables"]).to_pydict()
    texts: dict[tuple[str, str], str] = {}
    for document, text, tables in zip(*columns.values(), strict=True):
        for table in tables:
            texts.setdefault((document, table), text)
    for cell in cells:
        table = cell.question.rest.id.rpartition(" but row ")[0]
        cell.question = replace(cell.question, about=texts.get((cell.document, table), ""))


if __name__ == "__main__":
    main()

"""Which rows of a table are its header."""

import pytest

from numerate.documents.cell_grid import Grid
from numerate.documents.header_rows import header_rows, with_header


@pytest.mark.parametrize(
    ("rows", "height"),
    [
        ([["Group", "Age"], ["A", "5"]], 1),
        ([["", "Age", ""], ["", "Mean", "SD"], ["A", "5", "1"]], 2),
        ([["", "Drug (n = 5)", "None"], ["", "Mean", "Mean"], ["A", "5", "1"]], 2),
        ([["Group", "Age"], ["", "5"], ["A", "5"]], 1),
        ([["Group", "Age"], ["Dogs", ""], ["A", "5"]], 1),
        ([["Group", "Age"], [], ["A", "5"]], 1),
        ([["Group", "2019", "2020"], ["A", "5", "1"]], 1),
        ([["1", "2"], ["3", "4"]], 0),
        ([["Group", "Age"]], 0),
        ([], 0),
    ],
)
def test_rows_at_the_top(rows: list[list[str]], height: int) -> None:
    assert header_rows(rows) == height


def test_a_corner_that_reaches_down() -> None:
    """What is repeated is counted from the header's end."""
    rows = [["Dog", "Age", "Age"], ["Dog", "at 5", "at 6"], ["A", "1", "2"]]
    grid = with_header(Grid([], rows, frozenset({(0, 2), (1, 0)})))
    assert (grid.header, grid.repeated) == (rows[:2], {(-2, 2), (-1, 0)})
    assert with_header(grid) == grid

"""Cells that span others are repeated, and known for it."""

from hypothesis import given
from hypothesis import strategies as st

from numerate.documents.cell_grid import SpanningCell, cell_grid

SPANS = st.sampled_from([None, "1", "2", "3", "", "x", "-1", "0"])
ROWS = st.lists(st.lists(st.tuples(SPANS, SPANS), max_size=4), max_size=5)


def cells(rows: list[list[tuple[str | None, str | None]]], name: str) -> list[list[SpanningCell]]:
    return [
        [SpanningCell(f"{name}{at}.{place}", *spans) for place, spans in enumerate(row)]
        for at, row in enumerate(rows)
    ]


@given(header=ROWS, body=ROWS)
def test_every_cell_stands_once_and_then_again(
    header: list[list[tuple[str | None, str | None]]],
    body: list[list[tuple[str | None, str | None]]],
) -> None:
    above, below = cells(header, "h"), cells(body, "b")
    grid = cell_grid(above, below)
    rows = [*grid.header, *grid.body]
    places = {
        (row - len(grid.header), column): text
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    }
    assert grid.repeated <= places.keys()
    once = [text for place, text in places.items() if place not in grid.repeated]
    assert sorted(once) == sorted(cell.text for row in [*above, *below] for cell in row)
    for row, column in grid.repeated:
        beside = {places.get((row, column - 1)), places.get((row - 1, column))}
        assert places[row, column] in beside

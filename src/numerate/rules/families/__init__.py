"""One module a family of rules; importing this package registers them all."""

from numerate.rules.families import (  # noqa: F401
    dates,
    equations,
    granularity,
    impossible,
    interval_tests,
    intervals,
    named_cells,
    percentages,
    same_quantity,
    same_size,
    spans,
    table_percentages,
    table_totals,
    tests,
    totals,
    units,
)

"""Tables that are given to a command, for a model to have in view."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from numerate.documents.document import Document, Table
from numerate.documents.table_file import read_tables
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.reports.notices import say
from numerate.text.columns import sees_tables
from numerate.text.table_numbers import numbers_of


def read_given(files: Sequence[Path]) -> list[Table]:
    """All tables of some files, in their order."""
    return [table for file in files for table in read_tables(file)]


def tell_if_none(model: NumeralLM, documents: Sequence[Document], given: Sequence[Table]) -> None:
    """A model that learnt from texts with their tables finds numbers strange without them."""
    if not sees_tables(model.config.sight) or given or any(one.tables for one in documents):
        return
    say(
        "no table in sight, though the model learnt from texts with theirs: what stands in a table "
        "looks unlikely without it; give it with --table"
    )


def check_given(model: NumeralLM, tables: Sequence[Table]) -> None:
    """Refuse tables where the model sees none; tell how many numbers are too many for it."""
    model.check_tables(tables)
    columns = model.columns([tables])
    if not tables or columns is None:
        return
    counts = [len(numbers_of(table, model.reference.reading)) for table in tables]
    for table, count in zip(tables, counts, strict=True):
        if not count:
            say(f"{table.label or 'table'}: no number in it, so nothing to be seen")
    total = sum(counts)
    fitting = int(np.diff(columns.number_offsets)[columns.views].sum())
    if (seen := fitting) < total:
        say(f"tables: {total - seen:,} of {total:,} numbers are out of view, the last ones")

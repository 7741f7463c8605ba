"""Tables that are given to a command, for a model to have in view."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from numerate.documents.document import Table
from numerate.documents.table_file import read_tables
from numerate.model.numeral_lm import NumeralLM
from numerate.notices import say
from numerate.sight.table_numbers import numbers_of


def read_given(files: Sequence[Path]) -> list[Table]:
    """All tables of some files, in their order."""
    return [table for file in files for table in read_tables(file)]


def check_given(model: NumeralLM, tables: Sequence[Table]) -> None:
    """Refuse tables where the model sees none; tell how many numbers are too many for it."""
    model.check_tables(tables)
    columns = model.columns([tables])
    if not tables or columns is None:
        return
    total = sum(len(numbers_of(table, model.reference.reading)) for table in tables)
    fitting = int(np.diff(columns.number_offsets)[columns.views].sum())
    if (seen := fitting) < total:
        say(f"tables: {total - seen:,} of {total:,} numbers are out of view, the last ones")

"""What the paragraphs of one document have in view: its tables, and what was said before."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from numerate.documents.document import Table
from numerate.text.columns import SightColumns
from numerate.text.reading_rules import ReadingRules
from numerate.text.table_numbers import ColumnsBuilder, within_view


@dataclass(frozen=True, slots=True)
class KeptParagraph:
    """A paragraph as a dataset keeps it."""

    tokens: Sequence[str]
    numerals: Sequence[int]  # their positions
    tables: Sequence[str]  # ids of the tables it refers to
    holds: Sequence[str] = ()  # ids of the tables that are part of its text, which it does not see


@dataclass(frozen=True, slots=True)
class DocumentSight:
    """T tables of a document, then its paragraphs but the last, read as tables."""

    columns: SightColumns  # in view: the tables that a paragraph refers to
    document_views: list[list[int]]  # in view of each: all other tables, and earlier paragraphs
    tables: int  # T
    counts: Counter[str]


def sight_of_document(
    tables: Sequence[Table], paragraphs: Sequence[KeptParagraph], rules: ReadingRules
) -> DocumentSight:
    builder, sizes = ColumnsBuilder(rules), []
    counts: Counter[str] = Counter()
    for table in tables:
        sizes.append(builder.sizes[builder.add_table(table)])
        counts.update(_count(table, sizes[-1]))
    counts["table_numbers_left_out"] = builder.left_out
    for paragraph in paragraphs[:-1]:
        builder.add_paragraph(paragraph.tokens, paragraph.numerals)
    named: dict[str, list[int]] = {}
    for index, table in enumerate(tables):
        named.setdefault(table.id, []).append(index)
    with_numbers = [index for index, size in enumerate(sizes) if size]
    all_referred: set[int] = set()
    document_views = []
    numbers = sum(sizes)  # what a paragraph could have in view
    for place, paragraph in enumerate(paragraphs, len(tables)):
        ids = dict.fromkeys(paragraph.tables)
        own = {index for id in paragraph.holds for index in named.get(id, [])}
        referred = [index for id in ids for index in named.get(id, []) if index not in own]
        told = {*referred, *own}
        all_referred.update(referred)
        builder.add_view(within_view(referred, builder.sizes))
        others = (index for index in with_numbers if index not in told)
        # Where not all fit, the nearest paragraphs do; they stand in their order.
        earlier = range(place - 1, len(tables) - 1, -1)
        seen = within_view(chain(referred, others, earlier), builder.sizes)
        before = [index for index in seen if index < len(tables)]
        document_views.append([*before, *sorted(seen[len(before) :])])
        counts["numbers_out_of_view"] += numbers - sum(
            builder.sizes[index] for index in (*seen, *own)
        )
        numbers += len(paragraph.numerals)  # also of those that are too many for a table
    counts["tables_referred"] = len(all_referred)
    return DocumentSight(builder.finish(), document_views, len(tables), counts)


def _count(table: Table, numbers: int) -> dict[str, int]:
    """What the manifest tells of a table: nothing of it is lost in silence."""
    rows = [*table.header, *table.body]
    cells = sum(map(len, rows))
    counts = {
        "tables_read": 1,
        "tables_nested": table.nested,
        "table_cells": cells,
        "table_cells_merged": len(table.repeated),
        "table_numbers": numbers,
    }
    if table.is_picture:
        kind = "pictures"
    elif not any(text for row in rows for text in row):
        kind = "empty"
    elif max(map(len, rows)) == 1:
        kind = "layout"
    elif not numbers:
        kind = "without_numbers"
    else:
        return counts
    return counts | {f"tables_{kind}": 1}

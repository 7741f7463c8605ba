"""Tables of requests: as text, or by their cells."""

from collections.abc import Sequence

from numerate.documents.document import Table
from numerate.documents.table_file import tables_in
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.serve.limits import Limits
from numerate.serve.messages import Cells
from numerate.text.table_numbers import numbers_of
from numerate.text.tokenizer import DEFAULT_RULES


class AskedTables:
    """What requests have in view: the tables that they give, or else the server's own."""

    def __init__(self, model: NumeralLM | None, limits: Limits, usual: Sequence[Table]) -> None:
        self._model, self._limits, self.usual = model, limits, list(usual)

    def check(self, asked: Sequence[str | Cells] | None) -> None:
        """Refuse too much of it before anything is read."""
        given = asked or ()
        self._limits.check_tables(len(given), sum(map(_characters, given)))

    def seen(self, asked: Sequence[str | Cells] | None) -> list[Table]:
        """Those that the model sees; one that sees none refuses what it is given."""
        found = self.read(asked)
        if self._model is None:
            return found
        if asked is None:
            return found if self._model.sees_tables else []
        self._model.check_tables(found)
        return found

    def read(self, asked: Sequence[str | Cells] | None) -> list[Table]:
        """Whether or not the model would see them."""
        if asked is None:
            return self.usual
        found: list[Table] = []
        for place, given in enumerate(asked):
            if isinstance(given, str):
                found += tables_in(given, "table" if len(asked) == 1 else f"table {place + 1}")
            else:
                found.append(Table("", given.label, given.caption, given.header, given.body))
        self._limits.check_tables(len(found), 0)
        if found:
            rules = DEFAULT_RULES if self._model is None else self._model.reference.reading
            self._limits.check_numbers(sum(len(numbers_of(table, rules)) for table in found))
        return found


def _characters(given: str | Cells) -> int:
    if isinstance(given, str):
        return len(given)
    cells = sum(len(text) + 1 for row in (*given.header, *given.body) for text in row)
    return len(given.label) + len(given.caption) + cells

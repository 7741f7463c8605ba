"""Results as tables of Arrow and pandas."""

from collections.abc import Iterable, Mapping
from typing import Any

from numerate.errors import NumerateError


def arrow_table(records: Iterable[Mapping[str, Any]], columns: Mapping[str, type]) -> Any:
    """With these columns, also where there is no record."""
    import pyarrow as pa

    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, types[type]) for name, type in columns.items()])
    rows = [{name: record[name] for name in columns} for record in records]
    return pa.Table.from_pylist(rows, schema=schema)


def pandas_table(table: Any) -> Any:
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise NumerateError("a table of pandas needs pandas: pip install pandas") from None
    return table.to_pandas()

"""What several markups of the contract of readers are made of."""

from tests.documents import office

ENTITIES = "<!DOCTYPE x [<!ENTITY a '9'>{}]>".format(
    "".join(
        f"<!ENTITY {new} '{f'&{old};' * 20}'>" for old, new in zip("abcdef", "bcdefg", strict=True)
    )
)
DEEP = 5000


def swapped(data: bytes, name: str, part: str) -> bytes:
    return office.replaced(data, {name: part})


def cells(rows: list[list[str]], row: str, cell: str) -> str:
    return "".join(row.format("".join(cell.format(one) for one in cells)) for cells in rows)


NOTES = (528, *range(2017, 9999, 13))

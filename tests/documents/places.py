"""What holds of every text that differs from its source."""

from numerate.documents.document import Document


def assert_places_are_inside(found: Document, source: str) -> None:
    """Every character of its text and of its cells leads into the source."""
    for paragraph in found.paragraphs:
        for at in range(len(paragraph.text)):
            start, end = found.span(paragraph, at, at + 1)
            assert 0 <= start < end <= len(source)
    for table in found.tables:
        assert table.source is not None
        for number, row in enumerate([*table.header, *table.body]):
            for column, cell in enumerate(row):
                if cell:
                    place = number - len(table.header), column
                    start, end = table.source.span(*place, 0, len(cell))
                    assert 0 <= start < end <= len(source)

"""Comments of HTML and XML, and the paragraph or table that each is about.

A comment is about the block it stands in, or about the next one if it stands between blocks.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from lxml import etree

from numerate.documents.document import Paragraph, Remark, Table
from numerate.documents.xml import Element, line_of

Block = Paragraph | Table


class Comment(NamedTuple):
    text: str
    line: int | None

    def about(self, block: Block | None) -> Remark:
        return Remark(self.text, f":{self.line}", block)


class Comments:
    """The comments of a tree, which are taken out of it, by the text that they stand in."""

    def __init__(self, root: Element) -> None:
        self._in_text: dict[Element, list[Comment]] = {}  # of an element, before its first child
        self._in_tail: dict[Element, list[Comment]] = {}  # of an element, up to the next one
        place: list[Comment] = []
        before: Element | None = None
        for found in root.iter(etree.Comment):
            sibling, parent = found.getprevious(), found.getparent()
            if sibling is not None and sibling is not before:
                place = self._in_tail.setdefault(sibling, [])
            elif sibling is None and parent is not None:
                place = self._in_text.setdefault(parent, [])
            place.append(Comment(found.text or "", line_of(found)))
            before = found
        etree.strip_tags(root, etree.Comment)

    def in_text(self, element: Element) -> list[Comment]:
        """Comments in the text of an element before its first child."""
        return self._in_text.get(element, [])

    def in_tail(self, element: Element) -> list[Comment]:
        """Comments in the text between an element and the next one."""
        return self._in_tail.get(element, [])

    def within(self, element: Element) -> Iterator[Comment]:
        """All comments in an element."""
        for inner in element.iter():
            yield from self.in_text(inner)
            if inner is not element:
                yield from self.in_tail(inner)

    def remarks(
        self, root: Element, blocks: Mapping[Element, Block], is_aside: Callable[[Element], bool]
    ) -> list[Remark]:
        """What each comment is about, where elements make whole `blocks`.

        Comments in an element aside, such as a figure, are left out, unless it is part of a table.
        """
        made: list[Remark] = []
        waiting: list[Comment] = []  # for the next block

        def take(comments: list[Comment], block: Block | None, *, aside: bool) -> None:
            if block is not None:
                made.extend(comment.about(block) for comment in comments)
            elif not aside:
                waiting.extend(comments)

        def visit(element: Element, block: Block | None, *, aside: bool) -> None:
            if (begun := blocks.get(element)) is not None:
                take(waiting, begun, aside=False)
                waiting.clear()
                block, aside = begun, False
            elif is_aside(element) and not isinstance(block, Table):
                block, aside = None, True
            take(self.in_text(element), block, aside=aside)
            for child in element:
                visit(child, block, aside=aside)
                take(self.in_tail(child), block, aside=aside)

        if self._in_text or self._in_tail:
            visit(root, None, aside=False)
        return [*made, *(comment.about(None) for comment in waiting)]

"""One HTML file that needs no other: sections, a table of contents, tables that sort."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain, count
from typing import Any

from numerate.reports.tables import ResultTable, figure_and_interval

LONG = 40  # characters of a cell that may be broken into lines
_IDENTIFIER = re.compile(r'(\bid="|href="#|url\(#)')
_BOLD = re.compile(r"\*\*(.+?)\*\*")


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    body: str  # HTML


def page(
    title: str, lead: str, sections: list[Section], *, style: str = "", script: str = ""
) -> str:
    """The whole file, with style and script of its own beside those of all pages."""
    anchors = _anchors([section.title for section in sections])
    links, blocks = "", ""
    for section, anchor in zip(sections, anchors, strict=True):
        name = escape(section.title)
        links += f'<li><a href="#{anchor}">{name}</a></li>'
        blocks += f'<section id="{anchor}"><h2>{name}</h2>{section.body}</section>\n'
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_part('page.css')}{style}</style>\n"
        "</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1><p>{lead}</p></header>\n"
        f'<nav aria-label="Contents"><ol>{links}</ol></nav>\n<main>\n{blocks}</main>\n'
        f"<script>\n{_part('page.js')}{script}</script>\n</body>\n</html>\n"
    )


@dataclass(frozen=True, slots=True)
class Link:
    """Makes a row of a table a place of its own, and its first cell lead to another."""

    anchor: str
    to: str


def table(content: ResultTable, links: Sequence[Link] = ()) -> str:
    """A table in a box that scrolls by itself where the screen is narrower than the table.

    `links`: one for each row, or none.
    """
    label = escape(content.title)
    texts = [any(len(cell) > LONG for cell in cells) for cells in zip(*content.rows, strict=True)]
    head = "".join(map(_heading, content.columns, texts or [False] * len(content.columns)))
    body = "".join(
        _row(
            row, texts, links[index] if links else None, {c for r, c in content.best if r == index}
        )
        for index, row in enumerate(content.rows)
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>\n' for note in content.notes)
    return (
        f'<p class="caption">{label}</p>\n'
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0">'
        f'<table aria-label="{label}"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table></div>\n{notes}"
    )


def figure(name: str, svg: str, caption: str, ink: str) -> str:
    """A figure in the colours of the page: what was drawn in `ink` takes that of the text.

    Its name makes the identifiers in it different from those of other figures.
    """
    drawing = svg[svg.index("<svg") :].replace(ink, "currentColor")
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    drawing = _IDENTIFIER.sub(rf"\g<1>{name}-", drawing)
    label = f'<svg role="img" aria-label="{escape(caption)}"'
    drawing = drawing.replace("<svg", label, 1)
    return f"<figure>{drawing}<figcaption>{escape(caption)}</figcaption></figure>\n"


def facts(known: dict[str, Any]) -> str:
    """Names and values; what was not chosen is left out."""
    rows = "".join(
        f"<dt>{escape(name.replace('_', ' '))}</dt><dd>{escape(_plain(value))}</dd>\n"
        for name, value in known.items()
        if value is not None
    )
    return f"<dl>{rows}</dl>"


def escape(text: object) -> str:
    return html.escape(str(text))


def _anchors(titles: list[str]) -> list[str]:
    """Letters, digits and hyphens; titles that differ in other signs only are numbered."""
    anchors: list[str] = []
    for title in titles:
        plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        numbered = (f"{plain}-{number}" for number in count(2))
        anchors.append(next(name for name in chain([plain], numbered) if name not in anchors))
    return anchors


def _heading(column: str, is_text: bool) -> str:
    if not column:
        return "<td></td>"
    text = escape(column.replace("\n", " "))
    kind = ' class="text"' if is_text else ""
    return f'<th scope="col"{kind}><button type="button">{text}</button></th>'


def _row(row: list[str], texts: list[bool], link: Link | None, best: set[int]) -> str:
    first = escape(row[0])
    cells = "".join(
        _cell(cell, texts[column], column in best) for column, cell in enumerate(row[1:], 1)
    )
    if link is None:
        return f'<tr><th scope="row">{first}</th>{cells}</tr>\n'
    first = f'<a href="#{link.to}">{first}</a>'
    return f'<tr id="{link.anchor}"><th scope="row">{first}</th>{cells}</tr>\n'


def _cell(text: str, is_text: bool, is_best: bool) -> str:
    """`is_text`: in a column that has texts in it."""
    figure, interval = figure_and_interval(text)
    if interval or is_best:
        shown = f"<strong>{escape(figure)}</strong>" if is_best else escape(figure)
        ends = f" <small>{escape(interval.strip())}</small>" if interval else ""
        return f"<td>{shown}{ends}</td>"
    marked = _BOLD.sub(r"<strong>\1</strong>", escape(text))
    return f'<td class="text">{marked}</td>' if is_text else f"<td>{marked}</td>"


def _plain(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _part(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")

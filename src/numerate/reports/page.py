"""One HTML file that needs no other: sections, a table of contents, tables that sort."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple

from numerate.errors import printable
from numerate.reports.tables import ResultTable, figure_and_interval
from numerate.reports.templates import asset, render

if TYPE_CHECKING:
    from markupsafe import Markup

LONG = 40  # characters of a cell that may be broken into lines
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BOLD = re.compile(r"\*\*(.+?)\*\*")


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing for a page, under its title and above its caption."""

    title: str
    drawing: "Markup"
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a title, with its contents in the order of the fields."""

    title: str
    facts: Mapping[str, object] = field(default_factory=dict)  # by name; None is left out
    paragraphs: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[ResultTable] = ()
    items: Sequence[str] = ()
    body: "Markup | str" = ""  # HTML from a template of its own


class _Cell(NamedTuple):
    parts: Sequence[str]  # plain and bold text in turn
    interval: str = ""
    is_text: bool = False


def page(
    title: str,
    sections: Sequence[Section],
    *,
    lead: Sequence[str] = (),
    template: str = "reports/page.html.jinja",
    assets: str = "",
    **values: object,
) -> str:
    """Write the whole file.

    `lead` is the paragraphs under the title; a `template` that extends the usual one may write them
    from `values` instead. `assets` is the path, without suffix, of a stylesheet and a script that
    the page has besides those of all pages.
    """
    style, script = asset("reports/page.css"), asset("reports/page.js")
    if assets:
        style, script = style + asset(f"{assets}.css"), script + asset(f"{assets}.js")
    contents = zip(_anchors([section.title for section in sections]), sections, strict=True)
    written = render(
        template,
        title=title,
        lead=lead,
        contents=list(contents),
        policy=_policy(style, script, any(section.figures for section in sections)),
        style=style,
        script=script,
        text_columns=_text_columns,
        rows_of=_rows_of,
        **values,
    )
    return str(written)


def figure(title: str, name: str, svg: str, caption: str, ink: str) -> Figure:
    """Prepare a figure for the page: `ink` becomes the colour of the page's text.

    The figure's name keeps its identifiers apart from those of other figures. Its styles become
    attributes, since the page's policy allows no style but the page's own.
    """
    from lxml import etree
    from markupsafe import Markup

    parser = etree.XMLParser(resolve_entities=False, remove_comments=True, huge_tree=True)
    drawing = etree.fromstring(_NOT_XML.sub("", svg).encode(), parser)
    etree.strip_elements(drawing, "{*}metadata", "{*}style", with_tail=False)
    for element in drawing.iter(etree.Element):
        styles = str(element.attrib.pop("style", "")).split(";")
        for key, _, value in (style.partition(":") for style in styles if style):
            element.set(key.strip(), value.strip())
        for attribute, given in element.items():
            value = str(given).replace(ink, "currentColor")
            element.set(attribute, _in_page(name, str(attribute), value))
    drawing.attrib.update({"stroke-linejoin": "round", "stroke-linecap": "butt"})  # by default
    drawing.attrib.update({"role": "img", "aria-label": printable(caption)})
    return Figure(title, Markup(etree.tostring(drawing, encoding="unicode")), caption)


def _in_page(name: str, key: str, value: str) -> str:
    """Put the name of a figure before identifiers in an attribute, and where it refers to them."""
    if key == "id":
        return f"{name}-{value}"
    if key.endswith("href") and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    return value.replace("url(#", f"url(#{name}-")


def _policy(style: str, script: str, has_figures: bool) -> str:
    """The Content-Security-Policy under which this style and script act, and nothing else."""
    rules = ["default-src 'none'", f"style-src {_digest(style)}", f"script-src {_digest(script)}"]
    if has_figures:
        rules.append("img-src data:")  # heat maps
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _anchors(titles: list[str]) -> list[str]:
    """Letters, digits and hyphens; titles that differ in other signs only are numbered."""
    anchors: list[str] = []
    for title in titles:
        plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        numbered = (f"{plain}-{number}" for number in count(2))
        anchors.append(next(name for name in chain([plain], numbered) if name not in anchors))
    return anchors


def _text_columns(table: ResultTable) -> list[bool]:
    """Tell which columns have texts in them, not figures."""
    return [
        any(len(row[column]) > LONG for row in table.rows) for column in range(len(table.columns))
    ]


def _rows_of(table: ResultTable) -> list[tuple[str, list[_Cell]]]:
    """Every row: its name, which is a heading, and its other cells."""
    texts = _text_columns(table)
    return [
        (
            name,
            [_cell(text, texts[n], (number, n) in table.best) for n, text in enumerate(cells, 1)],
        )
        for number, (name, *cells) in enumerate(table.rows)
    ]


def _cell(text: str, is_text: bool, is_best: bool) -> _Cell:
    figure, interval = figure_and_interval(text)
    if interval or is_best:
        return _Cell(["", figure] if is_best else [figure], interval.strip())
    return _Cell(_BOLD.split(text), is_text=is_text)

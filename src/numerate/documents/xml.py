"""Parsing XML and HTML from strangers: nothing is expanded, nothing is fetched."""

import codecs
import html
import re
from typing import Any, NamedTuple, cast

from lxml import etree

from numerate.documents.reader import UTF_16, ascii_of, is_older, say_older
from numerate.errors import DocumentError

Element = etree._Element

# What may stand before the first element; the marks are those of UTF-8 and UTF-16.
_PROLOG = re.compile(
    rb"(?:\s+|\xef\xbb\xbf|\xff\xfe|\xfe\xff|<!--.*?-->|<\?.*?\?>"
    rb"|<!doctype[^\[>]*(?:\[.*?\]\s*)?>)*",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(rb"<(?:([A-Za-z][\w.-]*):)?([A-Za-z][\w.-]*)(?=[\s/>]|\Z)([^<>]*)")

_OF_OLDER = "windows-1252"
# In a declaration of XML, or in a meta element.
_DECLARED = re.compile(rb"(?<=[\s;\"'])(encoding|charset)\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


class FirstElement(NamedTuple):
    """The first element of a file of markup, which is the root of XML."""

    name: str  # without its prefix
    namespace: str


def first_element(beginning: bytes) -> FirstElement | None:
    """Find the first element of a file in its first bytes, without parsing it."""
    plain = ascii_of(beginning)
    prolog = _PROLOG.match(plain)
    tag = _TAG.match(plain, prolog.end() if prolog else 0)
    if tag is None:
        return None
    prefix, name, attributes = tag.groups(default=b"")
    declares = rb"xmlns:" + re.escape(prefix) if prefix else rb"xmlns"
    declared = re.search(rb"\s" + declares + rb"\s*=\s*[\"']([^\"']*)", attributes)
    namespace = declared[1].decode("ascii", "replace") if declared else ""
    return FirstElement(name.decode("ascii", "replace"), namespace)


def _refuse_entities(data: bytes, name: str) -> None:
    # A declaration of entities is how documents explode or reach for files. No article
    # needs one, so it is refused before the parser sees it.
    if b"<!ENTITY" in data:
        raise DocumentError(name, "declares XML entities, which are never expanded")


def parse_xml(data: bytes, name: str, *, comments: bool = False) -> Element:
    """Parse XML, without its comments unless you ask for them."""
    _refuse_entities(data, name)
    # Leave `collect_ids` alone: turned off, libxml2 loads the external DTD, whatever else is set.
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=not comments,
        remove_pis=True,
    )
    return _parse(data, name, parser, "XML")


def parse_html(data: bytes, name: str, *, comments: bool = False) -> Element:
    """Parse HTML, without its comments unless you ask for them."""
    _refuse_entities(data, name)
    parser = etree.HTMLParser(
        no_network=True,
        huge_tree=False,
        remove_comments=not comments,
        remove_pis=True,
        encoding=_encoding_of_html(data, name),
    )
    return _parse(data, name, parser, "HTML")


def _encoding_of_html(data: bytes, name: str) -> str | None:
    """The encoding to read a page in; None: libxml2 finds what it declares.

    Pages that declare none are UTF-8 today, where libxml2 would assume Latin-1. Latin-1 means
    Windows-1252 in HTML.
    """
    if data.startswith(UTF_16):
        return None
    declared = _DECLARED.search(data[:1024])
    if declared is None:
        if not is_older(data):
            return "utf-8"
        say_older(name)
        return _OF_OLDER
    try:
        codec = codecs.lookup(declared[2].decode()).name
    except LookupError:
        return None
    if codec in ("ascii", "iso8859-1"):
        return _OF_OLDER
    return codec if declared[1].lower() == b"encoding" else None


def _parse(
    data: bytes, name: str, parser: etree.XMLParser | etree.HTMLParser, kind: str
) -> Element:
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        reason = " ".join(str(error).split()) or "empty document"
        raise DocumentError(name, f"not well-formed {kind}: {reason}") from None
    if root is None:
        raise DocumentError(name, f"not well-formed {kind}: empty document")
    # The parser of HTML goes on after an error, but when it gives up the rest is missing.
    for fatal in cast(Any, parser).error_log.filter_from_fatals():
        raise DocumentError(name, f"not readable as {kind}: {fatal.message}")
    internal = cast(Any, root.getroottree().docinfo.internalDTD)
    if internal is not None and any(True for _ in internal.iterentities()):
        raise DocumentError(name, "declares XML entities, which are never expanded")
    return root


def local_name(element: Element) -> str:
    """The tag without its namespace; an entity reference has the name `&`."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else "&"


def entity_text(entity: Element) -> str:
    """`&alpha;` without its DTD: the characters HTML gives the name, else the name itself."""
    return html.unescape(entity.text or "")


def line_of(element: Element) -> int | None:
    """Where it begins in its file."""
    line: int | None = cast(Any, element).sourceline
    return line

"""The site of the documentation is built without a warning, and its links lead somewhere."""

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from lxml import html
from mkdocs.commands.build import build
from mkdocs.config import load_config

import numerate

ROOT = Path(__file__).parents[1]
SCHEMES = ("http://", "https://", "mailto:", "data:")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    said: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("mkdocs").addHandler(handler)
    try:
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=False)
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
        config.plugins.on_shutdown()
    finally:
        logging.getLogger("mkdocs").removeHandler(handler)
    assert said == []
    return folder


def pages(site: Path) -> dict[Path, Any]:
    return {path: html.parse(path) for path in site.rglob("*.html") if path.name != "404.html"}


def broken_links(site: Path) -> list[str]:
    """What leads nowhere, and what a page would fetch from elsewhere."""
    found = []
    opened = pages(site)
    names = {path: set(page.xpath("//@id | //a/@name")) for path, page in opened.items()}
    for path, page in opened.items():
        for link in page.xpath("//@href | //@src"):
            element = link.getparent()
            if link.startswith(SCHEMES):
                is_fetched = element.tag != "a" and element.get("rel") != "canonical"
                if is_fetched and not link.startswith("data:"):
                    found.append(f"{path.name}: fetches {link}")
                continue
            target, anchor = urldefrag(unquote(link))
            place = (path.parent / target).resolve() if target else path
            if not place.is_file():
                found.append(f"{path.name}: no file {link}")
            elif anchor and anchor not in names[place]:
                found.append(f"{path.name}: no place {link}")
    return found


def test_every_link_leads_somewhere(site: Path) -> None:
    assert broken_links(site) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "here.html").write_text(
        '<script src="https://example.org/x.js"></script><a href="https://example.org">fine</a>'
        '<h2 id="there">x</h2><a href="here.html#there">fine</a><a href="#gone">x</a>'
        '<img src="y.png">'
    )
    assert broken_links(tmp_path) == [
        "here.html: fetches https://example.org/x.js",
        "here.html: no place #gone",
        "here.html: no file y.png",
    ]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[x](../README.md#use-it)", "[x](index.md#use-it)"),
        ("![x](images/page.png)", "![x](images/page.png)"),
        ("[a\nb](../tests/test_site.py)", "a\nb"),
        ("```\n[x](../tests/test_site.py)\n```", "```\n[x](../tests/test_site.py)\n```"),
        ("[x](https://example.org) [y](#here)", "[x](https://example.org) [y](#here)"),
    ],
)
def test_links_are_put_in_terms_of_the_site(written: str, shown: str) -> None:
    assert on_site(written) == shown


def test_a_link_to_no_file_is_told(caplog: pytest.LogCaptureFixture) -> None:
    on_site("[x](../tests/gone.py)")
    assert "../tests/gone.py, which does not exist" in caplog.text


def on_site(markdown: str) -> str:
    """What a guide of docs/ says, as its page on the site says it."""
    config = load_config(str(ROOT / "mkdocs.yml"))
    page = SimpleNamespace(file=SimpleNamespace(src_uri="server.md"))
    found = {"index.md", "images/page.png"}
    files = SimpleNamespace(get_file_from_path=lambda place: place if place in found else None)
    rewritten: str = config.plugins.on_page_markdown(
        markdown, page=page, config=config, files=files
    )
    return rewritten


def test_everything_that_numerate_shows_has_its_place(site: Path) -> None:
    places = {name for page in pages(site).values() for name in page.xpath("//@id")}
    assert [name for name in numerate.__all__ if f"numerate.{name}" not in places] == []

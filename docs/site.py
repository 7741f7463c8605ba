"""How the files of the repository become the pages of the site.

README, CONTRIBUTING and CHANGELOG stand in the root, where people look for them, and are pages
beside the guides. Links are written as the repository sees them: those between pages are put in
terms of the site, and those to what is no page, such as a test, become text.
"""

import logging
import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
SOURCES = {page: source for source, page in PAGES.items()}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
log = logging.getLogger("mkdocs.hooks.site")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    home = page.file.src_uri
    written_in = ROOT / SOURCES.get(home, Path("docs") / home)

    def on_site(link: re.Match[str]) -> str:
        picture, text, target = link.groups()
        path, mark, anchor = target.partition("#")
        if not path or re.match(r"\w+:", target):
            return link[0]
        found = Path(os.path.normpath(written_in.parent / path))
        if not found.exists():
            log.warning("%s: a link leads to %s, which does not exist", written_in, target)
        place = found.relative_to(ROOT).as_posix()
        place = PAGES.get(place, place.removeprefix("docs/"))
        if files.get_file_from_path(place) is None:
            return text
        there = os.path.relpath(place, os.path.dirname(home))
        return f"{picture}[{text}]({there}{mark}{anchor})"

    outside = re.split(r"(^```.*?^```)", markdown, flags=re.DOTALL | re.MULTILINE)
    outside[::2] = [LINK.sub(on_site, part) for part in outside[::2]]
    return "".join(outside)

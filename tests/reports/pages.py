"""What a page of HTML says of itself."""

from pathlib import Path

from lxml import html


def policy_of(page: Path) -> str:
    """The Content-Security-Policy of a page, which has one."""
    found = html.fromstring(page.read_bytes()).xpath("//meta[@http-equiv]/@content")
    assert len(found) == 1
    return str(found[0])

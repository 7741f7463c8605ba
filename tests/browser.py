"""A plugin for tests of pages: a real browser. Test modules name it in `pytest_plugins`."""

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Open Chromium with Playwright; without either of them, tests of pages are skipped."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium: install the package chromium to test pages")
    playwright.expect.set_options(timeout=60_000)  # milliseconds: a busy machine is not an error
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()

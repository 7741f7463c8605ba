"""What all tests share: fixed seeds, no clock, one thread, since small models want no more."""

import shutil
from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

from numerate.notices import Loudness, set_loudness

# A busy machine is not an error.
settings.register_profile("numerate", deadline=None, derandomize=True)
settings.load_profile("numerate")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def usual_loudness() -> Iterator[None]:
    """What a command was told in one test is forgotten in the next."""
    yield
    set_loudness(Loudness.USUAL)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, driven by Playwright; where there is none, tests of pages are skipped."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium: install the package chromium to test pages")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()

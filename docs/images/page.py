"""Draws `page.png`: the page with a simulated report in which two numbers were changed.

numerate serve demo/runs/combination --quiet &
python docs/images/page.py http://127.0.0.1:8000/
"""

import re
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright


def changed(report: str) -> str:
    """The first volume ten times too large, the last percentage ten times too small."""
    report = re.sub(r"volumes? of (\d+)", r"volumes of \g<1>0", report, count=1)
    first, last = report.rsplit("%", 1)
    return f"{first[:-1]}.{first[-1]}%{last}"


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1180, "height": 850}, device_scale_factor=1.25)
        page.goto(sys.argv[1])
        page.wait_for_selector("#numerals button")
        page.fill("#text", changed(page.input_value("#text")))
        page.click("#numerals button[data-level=implausible]")
        page.wait_for_selector("#panel svg")
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(500)
        page.screenshot(path=Path(__file__).with_name("page.png"))
        browser.close()


if __name__ == "__main__":
    main()

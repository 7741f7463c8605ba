"""Draws `page-with-table.png`: a text with two wrong numbers, the table it is about, and a source.

numerate serve runs/grounded --table examples/patient.csv --quiet &
python docs/images/page_with_table.py http://127.0.0.1:8000/
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

TEXT = Path(__file__).parents[2] / "examples" / "patient.txt"


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1180, "height": 900}, device_scale_factor=1.25)
        page.goto(sys.argv[1])
        page.wait_for_selector("#numerals button")
        page.fill("#text", TEXT.read_text(encoding="utf-8").replace("\n", " ").strip())
        page.wait_for_selector(".editor[aria-busy=false]")
        page.locator("#numerals button", has_text="161").click()
        page.locator(".sources button").first.click()
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        page.wait_for_timeout(500)
        page.screenshot(path=Path(__file__).with_name("page-with-table.png"))
        browser.close()


if __name__ == "__main__":
    main()

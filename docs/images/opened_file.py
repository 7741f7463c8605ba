"""Draws `opened-file.png`: the page with a file that was opened, and its first finding chosen.

numerate serve articles --quiet &
python docs/images/opened_file.py http://127.0.0.1:8000/ examples/article.md
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1180, "height": 720}, device_scale_factor=1.25)
        page.goto(sys.argv[1])
        page.set_input_files("input[type=file]", sys.argv[2])
        page.wait_for_selector("text=7 findings")
        page.keyboard.press("n")
        page.wait_for_timeout(500)
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=Path(__file__).with_name("opened-file.png"))
        browser.close()


if __name__ == "__main__":
    main()

"""Draws `findings.png`: the report of `check` in HTML, with a finding that was chosen.

numerate check examples/article.md --format html > findings.html
python docs/images/findings.py findings.html
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
        page = browser.new_page(viewport={"width": 1180, "height": 640}, device_scale_factor=1.25)
        page.goto(Path(sys.argv[1]).resolve().as_uri())
        page.click("#finding_2")
        page.mouse.move(0, 0)
        page.screenshot(path=Path(__file__).with_name("findings.png"))
        browser.close()


if __name__ == "__main__":
    main()

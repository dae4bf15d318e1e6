# SPDX-License-Identifier: Apache-2.0
"""Pictures of the report and of the web app, taken from the real thing: `python docs/making/pictures.py` (needs Chromium).

A slow test takes them again, elsewhere.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ASSETS = Path(__file__).parents[1] / "assets"
KARAT = [sys.executable, "-m", "karat"]


def report(browser: Browser, folder: Path, assets: Path = ASSETS) -> None:
    """The report that ``karat demo`` writes."""
    subprocess.run([*KARAT, "demo", str(folder)], check=True, stdout=subprocess.DEVNULL)
    page = browser.new_page(viewport={"width": 1000, "height": 820})
    page.goto((folder / "report.html").as_uri())
    page.screenshot(path=str(assets / "report.png"))
    page.close()


def web(browser: Browser, folder: Path, assets: Path = ASSETS) -> None:
    """Pages of ``karat serve --demo``: a run, its comparison, a benchmark."""
    server = subprocess.Popen(
        [*KARAT, "serve", "--demo", "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://[\w.:]+", line)))
        page = browser.new_page(viewport={"width": 1100, "height": 800})
        for name, path in (("web-evaluate", "/evaluate"), ("web-benchmarks", "/benchmarks")):
            page.goto(address + path)
            page.screenshot(path=str(assets / f"{name}.png"))
        page.goto(address + "/")
        page.locator("main a[href*='/runs/']").first.click()
        page.screenshot(path=str(assets / "web-run.png"))
    finally:
        server.terminate()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        report(browser, Path(folder))
        web(browser, Path(folder))
        browser.close()

# SPDX-License-Identifier: Apache-2.0
"""Debian's Chromium, driven by Playwright, with axe for accessibility."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 180_000
"""Milliseconds after which a page is taken for one that never comes: on a busy machine it may take half a minute."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def opened() -> Iterator[Any]:
    """A browser; a machine without one fails the test with the way out."""
    if CHROMIUM is None:
        pytest.fail("no Chromium on this machine: run `make test` as root, or apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def page(browser: Any, file: Path, width: int = 1280, scheme: str = "light") -> Iterator[tuple[Any, list[str]]]:
    """The file opened, and every request that was made to show it."""
    found = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    found.set_default_timeout(PATIENCE)
    asked: list[str] = []
    found.on("request", lambda request: asked.append(request.url))
    found.goto(file.as_uri())
    yield found, asked
    found.close()


def violations(found: Any) -> list[str]:
    """What axe has against the page, one line each."""
    script = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    found.evaluate(script)
    result = found.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:120]}" for v in result["violations"]]

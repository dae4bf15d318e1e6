# SPDX-License-Identifier: Apache-2.0
"""Visitors with a browser: what they ask for is watched, and what axe says of what they see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.report.browser import PATIENCE, violations
from tests.web.site import Site


@contextmanager
def visiting(browser: Any, site: Site, **settings: Any) -> Iterator[Any]:
    """A page of a fresh browser; at its end nothing was asked of anybody but the site, and no script complained."""
    context = browser.new_context(base_url=site.url, **settings)
    context.set_default_timeout(PATIENCE)
    page, asked, complaints = context.new_page(), list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    home = urlsplit(site.url).netloc
    assert [url for url in asked if urlsplit(url).netloc != home] == []
    assert [c for c in complaints if "Failed to load resource" not in c] == [], complaints


def complaints(page: Any) -> list[str]:
    """What is to be said against a page: not accessible, heavy, or wider than the window."""
    found = violations(page)
    if len(page.content()) > 300_000:
        found.append(f"{len(page.content()):,} bytes")
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return [*found, *([f"{wide} pixels too wide"] if wide > 0 else [])]


def sign_in(page: Any, token: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").wait_for()

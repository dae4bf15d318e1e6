# SPDX-License-Identifier: Apache-2.0
"""Templates: what every page needs, and how it is filled in."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

import karat
from karat.report.charts import svg
from karat.report.html import filters
from karat.report.rows import number
from karat.web.people import LOCAL, NOBODY
from karat.web.problems import Problem
from karat.web.server import Server, csrf


def html(ask: Any, template: str, status: int = 200, refresh: int = 0, **values: Any) -> Response:
    """A page; with ``refresh`` it is asked for again after so many seconds, also without scripts."""
    text = _templates().get_template(template).render(ask=ask, person=ask.person, server=ask.server, **values)
    return HTMLResponse(text, status, {"refresh": str(refresh)} if refresh else None)


class Lost:
    """What a page about a problem knows of the request: the problem may have come before the visitor was known."""

    def __init__(self, request: Request, server: Server) -> None:
        self.request, self.server = request, server
        self.person = getattr(request.state, "person", NOBODY if server.accounts else LOCAL)
        self.csrf = csrf(request.cookies.get("karat", ""))

    def url(self, path: str, **query: Any) -> str:
        return self.server.at(path)


def problem_page(request: Request, server: Server, problem: Problem) -> Response:
    page = html(Lost(request, server), "problem.html", problem.status, problem=problem)
    page.headers.update(problem.headers)
    return page


@cache
def _templates() -> Environment:
    loader = ChoiceLoader(
        [
            PackageLoader("karat.web"),
            PrefixLoader({"report": PackageLoader("karat.report.html", "")}),
        ]
    )
    jinja = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    jinja.filters |= filters() | {
        "number": number, "markdown": markdown, "day": day, "bare": bare, "amount": amount,
    }  # fmt: skip
    jinja.globals |= {"version": karat.__version__, "asset": asset}
    return jinja


def warm() -> None:
    """Read what pages are made of before the first visitor asks for one."""
    jinja = _templates()
    for name in jinja.list_templates(filter_func=lambda n: n.endswith(".html") and not n.startswith("report/")):
        jinja.get_template(name)
    assets()


def markdown(text: str) -> Markup:
    """An organiser's words; HTML in them is shown, not run, and pictures from elsewhere are links."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return Markup(reader.render(text))


def day(moment: str | None) -> Markup:
    """A moment to the minute, which no line breaks.

    >>> print(day("2026-11-16T12:34:56+00:00"))
    <time datetime="2026-11-16T12:34:56+00:00">2026-11-16 12:34</time>
    """
    shown = (moment or "")[:16].replace("T", " ")
    return Markup('<time datetime="{}">{}</time>').format(moment, shown) if shown else Markup("")


def amount(n: int) -> str:
    return f"{n:,}"


BROAD = 460
"""Width from which a chart gets a row of its own."""


def bare(image: str) -> Markup:
    """A chart without styles of its own, which the policy of the page would refuse."""
    plain = re.sub(r' style="--w:[^"]*"', "", svg.bare(str(image)))
    width = re.search(r'<svg [^>]*?width="(\d+)', plain)
    if width and int(width[1]) > BROAD:
        plain = plain.replace('class="karat-chart"', 'class="karat-chart broad"', 1)
    # A picture must not hold links; a group may.
    return Markup(plain.replace('role="img"', 'role="group"', 1) if "<a " in plain else plain)


@cache
def assets() -> dict[str, tuple[str, bytes]]:
    """Files that pages load, by name: their type and content."""
    report, web = files("karat.report.html"), files("karat.web").joinpath("static")
    css = report.joinpath("page.css").read_text("utf-8") + str(svg.STYLE) + web.joinpath("karat.css").read_text("utf-8")
    script = report.joinpath("page.js").read_text("utf-8") + web.joinpath("karat.js").read_text("utf-8")
    return {
        "karat.css": ("text/css", css.encode()),
        "karat.js": ("text/javascript", script.encode()),
        "icon.svg": ("image/svg+xml", web.joinpath("icon.svg").read_bytes()),
    }


@cache
def asset(name: str) -> str:
    """The path of such a file, which changes with its content."""
    return f"/static/{hashlib.sha256(assets()[name][1]).hexdigest()[:12]}/{name}"


def serve_asset(ask: Any) -> Response:
    """A file that pages load; it never changes under its name."""
    kind, content = assets().get(ask.part("name"), ("", b""))
    if not kind:
        return Response(status_code=404)
    return Response(content, media_type=kind, headers={"cache-control": "public, max-age=31536000, immutable"})


TYPES = {
    "json": "application/json", "tsv": "text/tab-separated-values", "csv": "text/csv", "markdown": "text/markdown",
    "latex": "application/x-tex", "html": "text/html",
}  # fmt: skip
"""Types of downloads."""
ENDINGS = {"markdown": "md", "latex": "tex"}


def download(text: str | bytes, form: str, name: str) -> Response:
    """A table or report as a file; a report in HTML has its own styles, so that it must not run on this site."""
    safe = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip("-") or "karat"
    headers = {"content-disposition": f'attachment; filename="{safe}.{ENDINGS.get(form, form)}"'}
    return Response(text, media_type=TYPES[form], headers=headers)

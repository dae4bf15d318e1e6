# SPDX-License-Identifier: Apache-2.0
"""The first page, help, and the health of the server."""

from __future__ import annotations

import inspect
from typing import Any

from sqlalchemy import func, select
from starlette.responses import JSONResponse, Response

import karat
from karat.contexts import MODULES, catalogue, context
from karat.metric import Definition
from karat.read import FORMATS
from karat.report.rows import Grid
from karat.web import benchmarks, tables
from karat.web.asking import READERS, Ask
from karat.web.pages.downloads import asked_form, table_download
from karat.web.problems import missing
from karat.web.showing import html
from karat.web.tables import HIDDEN

RECENT = 8


def home(ask: Ask) -> Response:
    """Recent runs and a place to drop files; for others, the benchmarks."""
    runs = total = None
    if ask.person.role in READERS:
        runs, total = ask.server.store.list(limit=RECENT, without=HIDDEN), ask.server.store.count(without=HIDDEN)
    with ask.server.store.transaction() as connection:
        listed, count = benchmarks.listed(connection, ask.person, RECENT)
    return html(ask, "home.html", runs=runs, total=total, benchmarks=listed, benchmark_count=count)


def metrics(ask: Ask) -> Response:
    """Every metric by context, or those of which the name or first sentence holds a word."""
    word, only = ask.query("q").casefold(), ask.query("context")
    known = {
        name: [d for d in sorted(catalogue(name), key=lambda d: d.name) if word in f"{d.name} {d.title} {_first(d)}".casefold()]
        for name in MODULES
        if not only or name == only
    }  # fmt: skip
    if form := asked_form(ask):
        rows = [[name, d.name, d.title, d.better, _first(d), d.reference] for name, some in known.items() for d in some]
        return table_download(Grid("Metrics", ["context", "metric", "title", "better", "definition", "reference"], rows), form, "metrics")  # fmt: skip
    return html(ask, "metrics.html", known=known, word=ask.query("q"), only=only, contexts=MODULES, first=_first)


def _first(definition: Definition) -> str:
    return definition.doc.splitlines()[0]


def metric(ask: Ask) -> Response:
    """The card of one metric."""
    where = [c for c in MODULES if ask.part("name") in catalogue(c).definitions]
    if not where:
        raise missing("metric")
    cards: dict[int, tuple[Definition, list[str]]] = {}
    for name in where:
        definition = catalogue(name).definitions[ask.part("name")]
        cards.setdefault(id(definition), (definition, []))[1].append(name)
    parameters = {
        id: {p.name: f"{p.default} ({p.describe})" for p in d.parameters(context(at[0]).cells).values()}
        for id, (d, at) in cards.items()
    }
    texts = {id: inspect.cleandoc(d.doc) for id, (d, _) in cards.items()}
    return html(ask, "metric.html", cards=cards, parameters=parameters, texts=texts)


def formats(ask: Ask) -> Response:
    """What files may look like."""
    contexts = {name: context(name) for name in MODULES}
    if form := asked_form(ask):
        kinds: list[tuple[str, dict[str, Any]]] = [("context", contexts), ("format", dict(FORMATS))]
        rows = [[kind, name, x.title, x.example] for kind, some in kinds for name, x in some.items()]
        return table_download(Grid("Formats", ["kind", "name", "what it is", "example"], rows), form, "formats")
    return html(ask, "formats.html", formats=FORMATS, contexts=contexts)


def health(ask: Ask) -> Response:
    """Whether the server works: the store answers, workers live, nothing is stuck. Says nothing else to strangers."""
    with ask.server.store.transaction() as connection:
        queued = connection.execute(select(func.count()).where(tables.jobs.c.state == "queued")).scalar_one()
    workers = len(ask.server.workers.processes) if ask.server.workers else 0
    state = {
        "status": "ok" if workers else "no workers",
        "karat": karat.__version__,
        "workers": workers,
        "queued": queued,
    }
    if "text/html" not in ask.request.headers.get("accept", ""):
        return JSONResponse(state, 200 if workers else 503)
    return html(ask, "health.html", 200 if workers else 503, state=state)

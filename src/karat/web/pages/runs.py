# SPDX-License-Identifier: Apache-2.0
"""Kept runs: the list, a run, its units one by one, comparisons."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import RedirectResponse, Response

from karat.contexts import MODULES, context
from karat.report import latex, markdown
from karat.report.delimited import delimited
from karat.report.html.view import Table, View
from karat.report.rows import Grid
from karat.store import Run
from karat.web import jobs, units
from karat.web.asking import MAKERS, READERS, Ask
from karat.web.jobs import Job
from karat.web.pages.evaluate import waiting
from karat.web.problems import Problem, invalid, missing
from karat.web.showing import download, html
from karat.web.unit_view import parts
from karat.web.units import Units, Wanted
from karat.web.work import HIDDEN

PAGE = 25
UNITS = 50
LONGEST_DOWNLOAD = 100_000
FORMS = {"json": "json", "tsv": "tsv", "csv": "csv", "md": "markdown", "tex": "latex", "html": "html"}
"""Downloads by the ending of their address, and the report that each is."""


def wanted_runs(ask: Ask) -> dict[str, str | None]:
    """The filter that the address asks for; runs against hidden gold are listed for administrators who ask for them."""
    names = ("context", "tag", "metric", "since", "until")
    found: dict[str, str | None] = {n: ask.query(n) or None for n in names}
    return found if found["tag"] == HIDDEN and ask.person.role == "admin" else found | {"without": HIDDEN}


def listing(ask: Ask) -> Response:
    """Runs, newest first, a page at a time."""
    ask.must_be(*READERS)
    wanted, page = wanted_runs(ask), max(ask.number("page", 1, 100_000), 1)
    store = ask.server.store
    found = store.list(limit=PAGE, offset=PAGE * (page - 1), **wanted)
    return html(
        ask, "runs.html", runs=found, total=store.count(**wanted), page=page, size=PAGE, wanted=wanted, contexts=MODULES
    )


class Links:
    """Where the marks of a run's charts lead: to the units that they stand for."""

    def __init__(self, ask: Ask, run: str) -> None:
        self.ask, self.run = ask, run

    def pair(self, system: str, gold: str, pred: str) -> str:
        return self.ask.url(f"/runs/{self.run}/units", system=system, gold=gold, pred=pred, kind="all")

    def label(self, system: str, gold: str) -> str:
        return self.ask.url(f"/runs/{self.run}/units", system=system, gold=gold, kind="wrong")


def show(ask: Ask) -> Response:
    """A run: scores, where it is right and wrong, findings and provenance."""
    run = ask.seen_run(ask.part("run"))
    view = View(run.evaluation, 4, 40, links=Links(ask, run.id))
    one = ask.query("system")
    shown = [s for s in view.systems if s.name == one] or view.systems[:1]
    return html(ask, "run.html", run=run, view=view, shown=shown, choosing=len(view.systems) > 1, forms=FORMS)


def report(ask: Ask) -> Response:
    """A run as a file."""
    run = ask.seen_run(ask.part("run"))
    form = FORMS.get(ask.part("form"))
    if form is None:
        raise missing("form of report")
    by = {"by": ["class"]} if form in ("markdown", "latex") and ask.query("by") == "class" else {}
    return download(run.evaluation.render(form, **by), form, run.id)


def verify(ask: Ask) -> Response:
    """Whether the run is as it was saved, and its cells still give the same scores."""
    run = ask.seen_run(ask.part("run"))
    again = run.evaluate()
    rows = [
        [system.name, str(score.metric), score.value, fresh.value, score.value == fresh.value]
        for system, other in zip(run.evaluation.systems, again.systems, strict=True)
        for score, fresh in zip(system, other, strict=True)
    ]
    return html(ask, "verify.html", run=run, rows=rows, same=all(row[-1] for row in rows))


def tag(ask: Ask) -> Response:
    """Give a run a tag, or take one from it."""
    ask.must_be(*MAKERS)
    run, store = ask.seen_run(ask.part("run")), ask.server.store
    if HIDDEN in (ask.said("add"), ask.said("remove")):
        raise invalid("This tag is the server's own.")
    if ask.said("add"):
        store.tag(run.id, ask.said("add"))
    if ask.said("remove"):
        store.untag(run.id, ask.said("remove"))
    ask.server.runs.forget()
    return RedirectResponse(ask.url(f"/runs/{run.id}"), 303)


def delete(ask: Ask) -> Response:
    """Remove a run for good."""
    ask.must_be(*MAKERS)
    run = ask.seen_run(ask.part("run"))
    if HIDDEN in run.tags:
        raise invalid("This run scores a submission; withdraw the submission instead.")
    ask.server.store.delete(run.id)
    ask.server.runs.forget()
    with ask.server.store.transaction(write=True) as connection:
        ask.note(connection, "delete run", run.id)
    return RedirectResponse(ask.url("/runs"), 303)


# units


def kept_units(ask: Ask, run: Run, system: str, metric: str) -> Units | None:
    """The units of a system, scored; remembered while somebody looks through them."""
    key = (run.id, system, metric)
    found: Units | None = ask.server.lists.get(key, lambda: units.units(run.evaluation, system, metric))
    return found


def asked_units(ask: Ask, run: Run) -> tuple[Units, Wanted, str]:
    """The units that the address asks for, and the system beside them."""
    system, metric = ask.query("system"), ask.query("metric")
    found = kept_units(ask, run, system, metric)
    if found is None:
        raise invalid("The units of this run were not kept, or no metric tells one from another.")
    kind = ask.query("kind", "wrong")
    if kind not in units.KINDS:
        raise invalid(f"kind is one of {', '.join(units.KINDS)}.")
    names = ("gold", "pred", "fault", "better", "worse", "text")
    wanted = Wanted(kind, **{n: ask.query(n) for n in names})
    return found, wanted, wanted.better or wanted.worse


def unit_list(ask: Ask) -> Response:
    """Units of a run, worst first."""
    run = ask.seen_run(ask.part("run"))
    found, wanted, other = asked_units(ask, run)
    places = found.find(wanted)
    if form := FORMS.get(ask.query("as")):
        return table_download(
            units.grid(found, found.lines(places[:LONGEST_DOWNLOAD], other), other), form, f"{run.id}-units"
        )
    page = max(ask.number("page", 1), 1)
    lines = found.lines(places[UNITS * (page - 1) : UNITS * page], other)
    return html(
        ask, "units.html", run=run, found=found, wanted=wanted, lines=lines, total=len(places), page=page, size=UNITS,
        other=other, systems=[s.name for s in run.evaluation.systems],
    )  # fmt: skip


def unit(ask: Ask) -> Response:
    """One unit: what gold says of it, and every system."""
    run = ask.seen_run(ask.part("run"))
    found, wanted, _ = asked_units(ask, run)
    i = found.place(ask.query("case"), ask.query("id"))
    before, after = found.neighbours(i, wanted)
    sides = []
    for system in run.evaluation.systems:
        theirs = kept_units(ask, run, system.name, str(found.metric))
        if theirs is None:
            continue
        try:
            at = theirs.place(ask.query("case"), ask.query("id"))
        except Problem:  # this system lacks the unit
            continue
        gold, *own = parts(theirs, at)
        sides.append((system.name, float(theirs.score[at]), float(theirs.short[at]) < 0, gold, own))
    line = found.lines([i])[0]
    return html(ask, "unit.html", run=run, found=found, line=line, sides=sides, before=before, after=after)


def table_download(grid: Grid, form: str, name: str) -> Response:
    """A table in the form that was asked for."""
    if form == "markdown":
        return download(markdown.table(grid) + "\n", form, name)
    if form == "latex":
        return download(latex.table(grid) + "\n", form, name)
    records = [dict(zip(grid.head, row, strict=True)) for row in grid.rows]
    if form == "json":
        return download(msgspec.json.encode(records), form, name)
    return download(delimited(records, "," if form == "csv" else "\t"), "csv" if form == "csv" else "tsv", name)


# comparisons


def comparison_job(ask: Ask) -> Job | None:
    """The job that answers the comparison which the address asks for; it is put into the queue if there is none."""
    names = ask.several("run")
    if not names:
        return None
    runs = [ask.seen_run(name) for name in dict.fromkeys(names)]
    payload = {
        "runs": [r.id for r in runs], "metrics": ask.several("metric"), "systems": ask.several("system"),
        "baseline": ask.query("baseline"),
    }  # fmt: skip
    _possible(runs, payload)
    key = "comparison " + hashlib.sha256(msgspec.json.encode(payload)).hexdigest()[:40]
    with ask.server.store.transaction() as connection:
        known = jobs.latest(connection, key)
    if known and known.state != "cancelled":
        return known
    with ask.server.store.transaction(write=True) as connection:
        jobs.not_too_many(connection, ask.person, ask.server.limits.waiting)
        id = jobs.add(connection, "comparison", ask.person, payload, key)
        found = jobs.find(connection, id)
    ask.server.wake()
    return found


def _possible(runs: list[Run], payload: Mapping[str, Any]) -> None:
    """Say at once what can never be compared."""
    systems = sum(len(r.evaluation.systems) for r in runs)
    if systems < 2:
        raise invalid("A comparison needs two systems or more; choose a second run.")
    if len({r.evaluation.context for r in runs}) > 1:
        raise invalid("The runs are of different contexts.")
    runs[0].plan(payload["metrics"] or None)


def compare(ask: Ask) -> Response:
    """Choose runs; then leaderboards first, then differences."""
    ask.must_be(*READERS)
    job = comparison_job(ask)
    if job is None:
        page = max(ask.number("page", 1, 100_000), 1)
        wanted = wanted_runs(ask)
        found = ask.server.store.list(limit=PAGE, offset=PAGE * (page - 1), **wanted)
        total = ask.server.store.count(**wanted)
        return html(ask, "choose.html", runs=found, total=total, page=page, size=PAGE, wanted=wanted, contexts=MODULES)
    if job.state in jobs.OPEN:
        return waiting(ask, job, "Comparing")
    if job.state != "done":
        return html(ask, "job.html", job=job)
    if form := FORMS.get(ask.query("as")):
        if form not in job.result["downloads"]:
            raise missing("form of report")
        return download(job.result["downloads"][form], form, "comparison")
    run = ask.seen_run(job.payload["runs"][0])
    grids = [Table(g["title"], g["head"], g["rows"]) for g in job.result["grids"]]
    every = [s.name for r in job.payload["runs"] for s in ask.seen_run(r).evaluation.systems]
    return html(
        ask, "compare.html", job=job, result=job.result, run=run, systems=every,
        boards=[t for t in grids if t.title.startswith("Leaderboard")],
        others=[t for t in grids if not t.title.startswith("Leaderboard")],
        context=context(run.evaluation.context),
    )  # fmt: skip

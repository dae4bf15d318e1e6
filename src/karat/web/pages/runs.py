# SPDX-License-Identifier: Apache-2.0
"""Kept runs: the list, a run, its units one by one, comparisons."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from markupsafe import escape
from sqlalchemy.exc import DBAPIError
from starlette.responses import RedirectResponse, Response

import karat
from karat.contexts import MODULES, context
from karat.report.html.view import Table, View
from karat.report.mistakes import main_metric
from karat.report.rows import Grid
from karat.store import Run, StoreError
from karat.store.listing import Summary
from karat.web import jobs, units
from karat.web.asking import MAKERS, READERS, Ask
from karat.web.comparing import PAIRS
from karat.web.jobs import Job
from karat.web.pages.downloads import FORMS, MOST, asked_form, table_download
from karat.web.pages.evaluate import waiting
from karat.web.problems import invalid, missing
from karat.web.showing import download, html
from karat.web.tables import HIDDEN
from karat.web.unit_view import DEEPEST, Side, side
from karat.web.units import Line, Units, Wanted

PAGE = 25
UNITS = 50
FORM = f"3 {karat.__version__}"
"""Comparisons that another karat has computed may have another form."""
MOST_SIDES = 12
"""Systems that are shown beside one another on a unit."""
FILTERS = ("gold", "pred", "fault", "case_of", "better", "worse", "text", "low", "high", "slice")
"""What narrows a list of units, each a field of `Wanted` and a part of the address."""
LONGEST_DOWNLOAD = 100_000


def wanted_runs(ask: Ask) -> dict[str, Any]:
    """The filter that the address asks for; runs against hidden gold are listed for administrators who ask for them."""
    names = ("context", "tag", "metric", "since", "until")
    wanted: dict[str, str | None] = {n: ask.query(n) or None for n in names}
    return wanted if wanted["tag"] == HIDDEN and ask.person.role == "admin" else wanted | {"without": HIDDEN}


def listing(ask: Ask) -> Response:
    """Runs, newest first, a page at a time."""
    ask.must_be(*READERS)
    wanted, page = wanted_runs(ask), max(ask.number("page", 1, 100_000), 1)
    store = ask.server.store
    if form := asked_form(ask):
        return table_download(run_grid(store.list(limit=MOST, **wanted)), form, "runs")
    shown = store.list(limit=PAGE, offset=PAGE * (page - 1), **wanted)
    return html(
        ask, "runs.html", runs=shown, total=store.count(**wanted), page=page, size=PAGE, wanted=wanted, contexts=MODULES
    )


def run_grid(summaries: Sequence[Summary]) -> Grid:
    """A list of runs as a table, a row for each system."""
    head = ["run", "system", "context", "gold", "created", "tags", "metric", "score"]
    rows = [
        [r.id, name, r.context, r.gold, r.created, ", ".join(r.tags), metric, repr(values[i]) if values[i] is not None else ""]
        for r in summaries
        for metric, values in [*r.scores.items()][:1]
        for i, name in enumerate(r.systems)
    ]  # fmt: skip
    return Grid("Runs", head, rows)


class Links:
    """Where the marks of a run's charts lead: to the units that they stand for."""

    def __init__(self, ask: Ask, run: Run) -> None:
        self.ask, self.run, self.systems = ask, run.id, run.evaluation.systems
        self.single = run.evaluation.context == "ranking"
        """Whether every test case is a unit."""
        self.metric = str(main_metric(run.evaluation))

    def pair(self, system: str, gold: str, pred: str) -> str:
        return self.ask.url(f"/runs/{self.run}/units", system=system, gold=gold, pred=pred, kind="all")

    def label(self, system: str, gold: str) -> str:
        return self.ask.url(f"/runs/{self.run}/units", system=system, gold=gold, kind="wrong")

    def system(self, system: str) -> str:
        return self.ask.url(f"/runs/{self.run}/units", system=system)

    def scores(self, system: str, low: float, high: float) -> str:
        """Units of a score; where test cases hold several units, those of the system."""
        if not self.single:
            return self.system(system)
        ends = {"low": f"{low:g}", "high": f"{high:g}" if high < float("inf") else ""}
        return self.ask.url(f"/runs/{self.run}/units", system=system, metric=self.metric, kind="all", **ends)

    def slice(self, system: str, column: str, name: str) -> str:
        """Units of a slice; a run of an older karat does not say which they are."""
        kept = next((s.sliced for s in self.systems if s.name == system), {})
        part = units.slice_name(column, name) if column in kept else ""
        return self.ask.url(f"/runs/{self.run}/units", system=system, slice=part, kind="all")

    def unit(self, system: str, unit: str) -> str:
        return self.ask.url(f"/runs/{self.run}/units", system=system, text=unit, kind="all")


def show(ask: Ask) -> Response:
    """A run: scores, where it is right and wrong, findings and provenance."""
    run = ask.seen_run(ask.part("run"))
    view = View(run.evaluation, 4, 40, links=Links(ask, run))
    system = ask.query("system")
    shown = [s for s in view.systems if s.name == system] or view.systems[:1]
    return html(ask, "run.html", run=run, view=view, shown=shown, choosing=len(view.systems) > 1, forms=FORMS)


def report(ask: Ask) -> Response:
    """A run as a file."""
    run = ask.seen_run(ask.part("run"))
    form = FORMS.get(ask.part("form"))
    if form is None:
        raise missing("form of report")
    by = {"by": ["class"]} if form in ("markdown", "latex") and ask.query("by") == "class" else {}
    return download(run.evaluation.render(form, **by), form, run.id)


def table(ask: Ask) -> Response:
    """One table of a run as a file, with all its rows and numbers in full."""
    run, form = ask.seen_run(ask.part("run")), FORMS.get(ask.part("form"), "")
    if form in ("", "html"):
        raise missing("form of report")
    view = View(run.evaluation, 10, MOST)
    chosen = next((t for t in _tables(view, ask.query("system")) if t.title == ask.query("table")), None)
    if chosen is None:
        raise missing("table")
    return table_download(Grid(chosen.title, chosen.head, chosen.rows), form, f"{run.id}-{chosen.title}")


def _tables(view: View, system: str) -> Iterator[Table]:
    """The tables of a run, those of one system or those of all."""
    charts: list[Any] = [view.distributions, _inputs(view)]
    for shown in view.systems:
        if shown.name == system:
            charts = [shown.by_class, *shown.slices, *shown.details]
    for chart in charts:
        if chart is not None:
            kept = chart if isinstance(chart, Table) else chart.table
            if kept is not None:
                yield kept


def _inputs(view: View) -> Table:
    """The files of a run, as far as it says what they were."""
    head = ["input", "role", "format", "records", "SHA-256 of the file", "SHA-256 of the records"]
    keys = ("path", "role", "format", "rows", "sha256", "canonical")
    rows = [["" if i.get(k) is None else str(i.get(k)) for k in keys] for i in view.inputs]
    return Table("Inputs", head, rows)


def verify(ask: Ask) -> Response:
    """Whether the run is as it was saved, and its cells still give the same scores."""
    run = ask.seen_run(ask.part("run"))
    rows = recomputed(run)
    if form := asked_form(ask):
        texts = [["" if v is None else str(v) for v in row] for row in rows]
        return table_download(Grid("Verification", list(Recomputed._fields), texts), form, f"{run.id}-verify")
    return html(ask, "verify.html", run=run, rows=rows, same=all(row.same for row in rows))


class Recomputed(NamedTuple):
    """A score as it was saved, and as the cells of the run give it now."""

    system: str
    metric: str
    saved: float | None
    now: float | None
    same: bool


def recomputed(run: Run) -> list[Recomputed]:
    """Every score of the run, computed once more."""
    again = run.evaluate()
    return [
        Recomputed(system.name, str(score.metric), score.value, fresh.value, score.value == fresh.value)
        for system, other in zip(run.evaluation.systems, again.systems, strict=True)
        for score, fresh in zip(system, other, strict=True)
    ]


def tag(ask: Ask) -> Response:
    """Give a run a tag, or take one from it."""
    tagged(ask, ask.entry("add"), ask.entry("remove"))
    return RedirectResponse(ask.url(f"/runs/{ask.part('run')}"), 303)


def tagged(ask: Ask, add: str, remove: str) -> Sequence[str]:
    """The tags of a run, once some were changed."""
    ask.must_be(*MAKERS)
    run, store = ask.seen_run(ask.part("run")), ask.server.store
    if HIDDEN in (add, remove):
        raise invalid("This tag is the server's own.")
    try:
        if add:
            store.tag(run.id, add)
        tags = store.untag(run.id, *([remove] if remove else []))
    except StoreError as error:
        if isinstance(error.__cause__, DBAPIError):
            raise
        raise invalid(str(error)) from None
    ask.server.runs.forget()
    with store.transaction(write=True) as connection:
        ask.note(connection, "tag run", f"{run.id} +{add} -{remove}")
    return tags


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
    kept: Units | None = ask.server.lists.get(key, lambda: units.units(run.evaluation, system, metric))
    return kept


def units_beside(ask: Ask, run: Run, scored: Units, wanted: Wanted) -> Units | None:
    """The units of the system that a list is compared with; one of another run is written ``RUN/SYSTEM``."""
    name = wanted.better or wanted.worse
    if not name:
        return None
    if name not in [s.name for s in run.evaluation.systems] and "/" in name:
        id, _, name = name.partition("/")
        run = ask.seen_run(id)
    theirs = kept_units(ask, run, name, str(scored.metric))
    if theirs is None or theirs.evaluation.context != scored.evaluation.context:
        raise invalid("The two systems cannot be compared unit by unit.")
    return theirs


def asked_units(ask: Ask, run: Run) -> tuple[Units, Wanted, Units | None]:
    """The units that the address asks for, and those of the system beside them."""
    system, metric = ask.query("system"), ask.query("metric")
    scored = kept_units(ask, run, system, metric)
    if scored is None:
        raise invalid("The units of this run were not kept, or no metric tells one from another.")
    kind = ask.query("kind", "wrong")
    if kind not in units.KINDS:
        raise invalid(f"kind is one of {', '.join(units.KINDS)}.")
    wanted = Wanted(kind, **{n: ask.query(n) for n in FILTERS})
    return scored, wanted, units_beside(ask, run, scored, wanted)


def unit_list(ask: Ask) -> Response:
    """Units of a run, worst first."""
    run = ask.seen_run(ask.part("run"))
    scored, wanted, theirs = asked_units(ask, run)
    places, other = scored.find(wanted, theirs), theirs.system.name if theirs else ""
    if form := asked_form(ask):
        lines = scored.lines(places[:LONGEST_DOWNLOAD], theirs)
        return table_download(units.grid(scored, lines, other), form, f"{run.id}-units")
    page = max(ask.number("page", 1), 1)
    lines = scored.lines(places[UNITS * (page - 1) : UNITS * page], theirs)
    return html(
        ask, "units.html", run=run, scored=scored, wanted=wanted, lines=lines, total=len(places), page=page, size=UNITS,
        other=other, systems=[s.name for s in run.evaluation.systems], metrics=scoring(ask, run, scored),
        given={name: ask.query(name) for name in ("metric", "kind", *FILTERS)},
    )  # fmt: skip


def scoring(ask: Ask, run: Run, scored: Units) -> list[str]:
    """Metrics of the run that score single units."""
    names: list[str] = ask.server.lists.get((run.id, "metrics"), lambda: units.metrics(run.evaluation))
    return names if str(scored.metric) in names else [str(scored.metric), *names]


def unit(ask: Ask) -> Response:
    """One unit: what gold says of it, and every system."""
    run = ask.seen_run(ask.part("run"))
    scored, wanted, theirs = asked_units(ask, run)
    before, after = scored.neighbours(scored.place(ask.query("case"), ask.query("id")), wanted, theirs)
    line, sides = shown_unit(ask, run, scored, theirs)
    if form := asked_form(ask):
        return table_download(_side_grid(str(scored.metric), sides), form, f"{run.id}-{line.name}")
    given = {name: ask.query(name) for name in ("system", "metric", "kind", *FILTERS)}
    return html(
        ask, "unit.html", run=run, scored=scored, line=line, sides=sides, before=before, after=after,
        listed=ask.url(f"/runs/{run.id}/units", **given), labels=sorted({label for s in sides for p in (s.gold, s.pred) for label in p.bars}),
        deepest=min(max((r for s in sides for p in (s.gold, s.pred) for r in p.grades), default=0), DEEPEST),
    )  # fmt: skip


def _side_grid(metric: str, sides: Sequence[Side]) -> Grid:
    """What gold and every system say of a unit."""
    rows = [[s.name, repr(s.score), s.gold.words, s.pred.words] for s in sides]
    return Grid("Unit", ["system", metric, "gold", "predicted"], rows)


def shown_unit(ask: Ask, run: Run, scored: Units, beside: Units | None = None) -> tuple[Line, list[Side]]:
    """A unit of the list, and what every system that has it says of it; the system of the list comes first."""
    case, id = ask.query("case"), ask.query("id")
    line = scored.lines([scored.place(case, id)])[0]
    others = [s.name for s in run.evaluation.systems if s.name != scored.system.name]
    sides = []
    every = [kept_units(ask, run, name, str(scored.metric)) for name in [scored.system.name, *others[: MOST_SIDES - 1]]]
    for theirs in [*every, *([beside] if beside and beside.evaluation is not scored.evaluation else [])]:
        at = theirs.spot(case, id) if theirs else None
        if theirs and at is not None:
            sides.append(side(theirs, at))
    return line, sides


# comparisons


def comparison_job(ask: Ask) -> Job | None:
    """The job that answers the comparison which the address asks for; it is put into the queue if there is none."""
    names = ask.several("run")
    if not names:
        return None
    runs = [ask.seen_run(name) for name in dict.fromkeys(names)]
    payload = {
        "runs": [r.id for r in runs], "metrics": metrics_of(ask), "systems": ask.several("system", split=False),
        "baseline": ask.query("baseline"),
    }  # fmt: skip
    _possible(runs, payload)
    key = "comparison " + hashlib.sha256(msgspec.json.encode([FORM, payload])).hexdigest()[:40]
    with ask.server.store.transaction() as connection:
        known = jobs.latest(connection, key)
    if known and known.state != "cancelled":
        return known
    with ask.server.store.transaction(write=True) as connection:
        jobs.not_too_many(connection, ask.person, ask.server.limits.waiting)
        id = jobs.add(connection, "comparison", ask.person, payload, key)
        job = jobs.find(connection, id)
    ask.server.wake()
    return job


def metrics_of(ask: Ask) -> list[str]:
    """Metrics of the address: each its own parameter, or several with commas or semicolons between."""
    given = ask.several("metric", split=False)
    return [m.strip() for text in given for m in re.split(r"[;,](?![^(]*\))", text) if m.strip()]


def _possible(runs: list[Run], payload: Mapping[str, Any]) -> None:
    """Say at once what can never be compared."""
    systems = sum(len(r.evaluation.systems) for r in runs)
    if systems < 2:
        raise invalid("A comparison needs two systems or more; choose a second run.")
    if len({r.evaluation.context for r in runs}) > 1:
        raise invalid("The runs are of different contexts.")
    runs[0].plan(payload["metrics"] or None)


def _compared_file(job: Job, form: str, title: str) -> Response:
    """A comparison as a file, or one of its tables."""
    if not title:
        if form not in job.result["downloads"]:
            raise missing("form of report")
        return download(job.result["downloads"][form], form, "comparison")
    grid = next((g for g in job.result["grids"] if g["title"] == title), None)
    if grid is None:
        raise missing("table")
    return table_download(Grid(grid["title"], grid["head"], grid["rows"]), form, title)


def compare(ask: Ask) -> Response:
    """Choose runs; then leaderboards first, then differences."""
    ask.must_be(*READERS)
    job = comparison_job(ask)
    if job is None:
        page = max(ask.number("page", 1, 100_000), 1)
        wanted = wanted_runs(ask)
        listed = ask.server.store.list(limit=PAGE, offset=PAGE * (page - 1), **wanted)
        total = ask.server.store.count(**wanted)
        return html(ask, "choose.html", runs=listed, total=total, page=page, size=PAGE, wanted=wanted, contexts=MODULES)
    if job.state in jobs.OPEN:
        return waiting(ask, job, "Comparing")
    if job.state != "done":
        return html(ask, "job.html", job=job)
    if form := asked_form(ask):
        return _compared_file(job, form, ask.query("table"))
    return _compared_page(ask, job)


def _compared_page(ask: Ask, job: Job) -> Response:
    """A comparison by one of its metrics, some pairs at a time."""
    result = job.result
    section = next((s for s in result["sections"] if s["metric"] == ask.query("show")), result["sections"][0])
    tables = {g["title"]: Table(g["title"], g["head"], g["rows"]) for g in result["grids"]}
    shown = [tables[title] for title in section["tables"]]
    page = max(ask.number("pairs", 1, 100_000), 1)
    at = result["metrics"].index(section["metric"])
    pairs = next((t for t in shown if t.title.startswith("Pairs")), None)
    others = [t for t in shown if not t.title.startswith(("Leaderboard", "Pairs"))]
    others += [tables[g["title"]] for g in result["others"]]
    return html(
        ask, "compare.html", job=job, result=result, section=section, at=at, page=page, size=PAIRS, pairs=pairs,
        overview=sorted(result["overview"], key=lambda row: (row["cells"][at]["rank"] is None, row["cells"][at]["rank"])),
        board=next((t for t in shown if t.title.startswith("Leaderboard")), None),
        others=[_of_page(t, pairs, page) for t in others],
        charts=[(title, _with_links(ask, result, image)) for title, image in section["charts"]],
        between=lambda i, j: pair_link(ask, result, i, j), context=context(ask.seen_run(job.payload["runs"][0]).evaluation.context),
    )  # fmt: skip


def _of_page(table: Table, pairs: Table | None, page: int) -> Table:
    """What a table says of the pairs that the page shows; one about something else is shown whole."""
    if pairs is None or len(pairs.rows) <= PAIRS or table.head[0] != pairs.head[0]:
        return table
    names = {row[0] for row in pairs.rows[PAIRS * (page - 1) : PAIRS * page]}
    rows = [row for row in table.rows if row[0] in names]
    note = f"Of the pairs above; the files have all {len(table.rows):,} rows."
    return table._replace(rows=rows, notes=[*table.notes, note])


def pair_link(ask: Ask, result: Mapping[str, Any], a: int, b: int) -> str:
    """The units on which one system of a comparison does better than another."""
    (run, system), (other, name) = (result["places"][result["systems"][i]] for i in (a, b))
    return ask.url(f"/runs/{run}/units", system=system, worse=name if run == other else f"{other}/{name}", kind="all")


def _with_links(ask: Ask, result: Mapping[str, Any], image: str) -> str:
    """A chart whose pairs lead to their units."""
    pair = re.compile(r'href="#pair-(\d+)-(\d+)"')
    return pair.sub(lambda m: f'href="{escape(pair_link(ask, result, int(m[1]), int(m[2])))}"', image)

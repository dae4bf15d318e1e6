# SPDX-License-Identifier: Apache-2.0
"""A new evaluation: files are dropped, looked at, and evaluated as the visitor wishes; and jobs under way."""

from __future__ import annotations

import io
from typing import IO, Any

from starlette.responses import RedirectResponse, Response

from karat.contexts import MODULES, catalogue, context
from karat.plan import make_plan
from karat.report.rows import Grid
from karat.web import files, jobs, options
from karat.web.asking import MAKERS, Ask
from karat.web.jobs import Job
from karat.web.pages.downloads import asked_form, table_download
from karat.web.problems import invalid, missing
from karat.web.showing import html

MOST = 50
"""Systems of one evaluation."""
COLUMNS = ("id", "value", "test_case")
"""Roles whose columns a form may name."""


def form(ask: Ask) -> Response:
    """Where files are dropped."""
    ask.must_be(*MAKERS)
    return html(ask, "evaluate.html", contexts={name: context(name) for name in MODULES})


def take(ask: Ask) -> Response:
    """Take the files, and have them looked at."""
    ask.must_be(*MAKERS)
    gold = (ask.uploads("gold") or pasted(ask, "gold_text", "gold"))[:1]
    systems = ask.uploads("systems") + pasted(ask, "system_text", "system")
    job = begin_check(ask, gold, systems, {"context": chosen_context(ask.entry("context"))})
    return RedirectResponse(ask.url(f"/evaluate/{job}"), 303)


def pasted(ask: Ask, field: str, name: str) -> list[tuple[str, IO[bytes]]]:
    """A file that was pasted as text."""
    text = ask.entry(field)
    return [(name, io.BytesIO(text.encode("utf-8", "replace") + b"\n"))] if text else []


def chosen_context(name: str) -> str:
    if name and name not in MODULES:
        raise invalid(f"{name!r} is no context; there are {', '.join(MODULES)}.")
    return name


Sources = list[tuple[str, IO[bytes]]]
"""Open files, with what the visitor calls them."""


def begin_check(ask: Ask, gold: Sources, systems: Sources, more: dict[str, Any], kind: str = "check") -> str:
    """Keep the files and put their check, or their evaluation, into the queue."""
    if not gold or not systems:
        raise invalid("Give one gold file and one file or more of systems' output.")
    if len(systems) > MOST:
        raise invalid(f"At most {MOST} systems are evaluated together.")
    with ask.server.store.transaction(write=True) as connection:
        jobs.not_too_many(connection, ask.person, ask.server.limits.waiting)
        kept = {"gold": files.keep(connection, gold[0][1], gold[0][0]).id}
        for i, (name, source) in enumerate(systems):
            kept[f"system{i}"] = files.keep(connection, source, name).id
        job = jobs.add(connection, kind, ask.person, {"files": kept} | more)
        ask.note(connection, f"{kind} of files", ", ".join([gold[0][0], *(n for n, _ in systems)]))
    ask.server.wake()
    return job


def own_job(ask: Ask, id: str, *kinds: str) -> Job:
    """A job that this visitor began."""
    if ask.person.role == "participant":  # whose submissions are jobs too, and what befell them may tell of gold
        raise missing("job")
    with ask.server.store.transaction() as connection:
        job = jobs.find(connection, id)
    if (
        job is None
        or (kinds and job.kind not in kinds)
        or not (job.owner == ask.person.id or ask.person.role == "admin")
    ):
        raise missing("job")
    return job


def checked(ask: Ask) -> Response:
    """What was found in the files, and the form that evaluates them."""
    ask.must_be(*MAKERS)
    job = own_job(ask, ask.part("job"), "check")
    if job.state in jobs.OPEN:
        return waiting(ask, job, "Looking at your files")
    result = job.result or {
        "ready": False,
        "findings": (job.problem or {}).get("findings", []),
        "lines": {},
        "context": "",
    }
    if form := asked_form(ask):
        return table_download(_file_grid(result), form, f"files-{job.id}")
    name = ask.query("context") or result.get("context") or "monolabel"
    name = chosen_context(name)
    plan = make_plan(name, None, {})
    shown = result.get("computed") if name == result.get("context") else None
    return html(
        ask, "checked.html", job=job, result=result, context=name, contexts={n: context(n) for n in MODULES},
        metrics=shown or [str(m) for m in plan.metrics], options=options.fields(name), has_tree=options.has_tree(name), columns=COLUMNS,
        catalogue=sorted(catalogue(name), key=lambda d: d.name), errors=[f for f in result["findings"] if f["severity"] == "error"],
    )  # fmt: skip


def _file_grid(result: dict[str, Any]) -> Grid:
    """The files with what of gold each of them covers."""
    head = ["file", "role", "system", "format", "records", "in gold", "in gold and predicted", "predicted only"]
    rows = []
    for file in result.get("inputs", ()):
        counts = result["coverage"].get(file.get("system"), {})
        covered = [str(counts.get(n, 0)) for n in ("gold", "aligned", "pred_only")] if counts else ["", "", ""]
        rows.append([file["path"], file["role"], file.get("system") or "", file["format"], str(file["rows"]), *covered])
    return Grid("Files", head, rows)


def waiting(ask: Ask, job: Job, title: str) -> Response:
    """Place and progress of a job; the page looks again by itself."""
    with ask.server.store.transaction() as connection:
        before = jobs.place(connection, job)
    return html(ask, "waiting.html", refresh=1 if before < 5 else 5, job=job, before=before, title=title)


def start(ask: Ask) -> Response:
    """Evaluate files that were looked at."""
    ask.must_be(*MAKERS)
    job = own_job(ask, ask.part("job"), "check")
    wish = wishes(ask, job)
    with ask.server.store.transaction(write=True) as connection:
        jobs.not_too_many(connection, ask.person, ask.server.limits.waiting)
        id = jobs.add(connection, "evaluation", ask.person, wish)
        ask.note(connection, "evaluate", id)
    ask.server.wake()
    return RedirectResponse(ask.url(f"/jobs/{id}"), 303)


def given_options(ask: Ask, context: str) -> dict[str, Any]:
    """The options that a form gives; a label tree is one of its files."""
    fields = {o.name: ask.entry(f"option-{o.name}") for o in options.fields(context)}
    chosen: dict[str, Any] = {name: value for name, value in fields.items() if value}
    sent = ask.uploads("hierarchy")
    return chosen | ({"hierarchy": options.tree(*sent[0])} if sent and options.has_tree(context) else {})


def wishes(ask: Ask, job: Job) -> dict[str, Any]:
    """What the form asks for, checked before it is put into the queue."""
    name = chosen_context(ask.entry("context")) or "monolabel"
    listed = [str(m) for m in ask.form.getlist("metric") if isinstance(m, str)]
    metrics = [m for m in [*listed, *ask.entry("metrics").replace(";", "\n").split("\n")] if m.strip()]
    chosen = given_options(ask, name)
    columns = {role: ask.entry(f"column-{role}") for role in COLUMNS if ask.entry(f"column-{role}")}
    plan = make_plan(name, metrics or None, chosen)
    tags = [t for t in (part.strip() for part in ask.entry("tags").split(",")) if t]
    return {
        "files": job.payload["files"], "context": name, "metrics": [str(m) for m in plan.metrics], "columns": columns,
        "slices": names_of(ask.entry("slices")), "cluster_by": ask.entry("cluster_by"), "options": chosen, "intervals": 0.95 if ask.entry("intervals") else None, "tags": tags,
    }  # fmt: skip


def names_of(text: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def job_page(ask: Ask) -> Response:
    """A job: where it stands; when it is done, what it gave."""
    job = own_job(ask, ask.part("job"))
    if job.state in jobs.OPEN:
        return waiting(ask, job, {"evaluation": "Evaluating"}.get(job.kind, "Working"))
    if job.state == "done" and job.kind == "evaluation":
        return RedirectResponse(ask.url(f"/runs/{job.result['run']}"), 303)
    if job.state == "done" and job.kind == "check":
        return RedirectResponse(ask.url(f"/evaluate/{job.id}"), 303)
    return html(ask, "job.html", job=job)


def cancel(ask: Ask) -> Response:
    """Stop a job of one's own."""
    job = own_job(ask, ask.part("job"), "check", "evaluation", "comparison")
    with ask.server.store.transaction(write=True) as connection:
        jobs.cancel(connection, job.id)
        ask.note(connection, "cancel", job.id)
    return RedirectResponse(ask.url(f"/jobs/{job.id}"), 303)

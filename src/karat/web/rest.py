# SPDX-License-Identifier: Apache-2.0
"""REST: every operation is one entry of a table, from which routes, the OpenAPI document and its page are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

import msgspec
from starlette.responses import Response

import karat
from karat.contexts import MODULES, catalogue, context
from karat.plan import make_plan
from karat.read import FORMATS
from karat.web import archive, benchmarks, files, jobs, options, people, schemas, submissions, tables
from karat.web.asking import MAKERS, READERS, Ask, json_body, json_object
from karat.web.benchmarks import Settings
from karat.web.files import shown_name
from karat.web.jobs import Job
from karat.web.pages import benchmarks as pages
from karat.web.pages import evaluate, runs
from karat.web.problems import invalid, missing
from karat.web.showing import html

MOST = 200
"""Entries of one page of a list."""


def reply(value: Any, status: int = 200, **headers: str) -> Response:
    given = {k.replace("_", "-"): v for k, v in headers.items()}
    return Response(msgspec.json.encode(value), status, given, media_type="application/json")


def paged(ask: Ask) -> tuple[int, int]:
    """Limit and offset of a list."""
    return min(max(ask.number("limit", 50), 1), MOST), ask.number("offset", 0)


def sent_file(ask: Ask, field: str) -> tuple[str, IO[bytes]]:
    """The file of a request: a field of a form, or the whole body."""
    uploads = ask.uploads(field)
    if uploads:
        return uploads[0]
    if ask.body:
        return shown_name(ask.query("name"), field), ask.body
    raise invalid(f"Send the file as the field {field!r} of a form, or as the body.")


def given_json(ask: Ask, field: str) -> dict[str, Any]:
    """A field of a form that is a JSON object."""
    try:
        return json_object(ask.entry(field).encode() or b"{}")
    except ValueError as error:
        raise invalid(f"{field}: {error}") from None


# runs


def list_runs(ask: Ask) -> Response:
    ask.must_be(*READERS)
    limit, offset = paged(ask)
    wanted = runs.wanted_runs(ask)
    listed = ask.server.store.list(limit=limit, offset=offset, **wanted)
    return reply({"total": ask.server.store.count(**wanted), "runs": listed})


def get_run(ask: Ask) -> Response:
    run = ask.seen_run(ask.part("run"))
    report = msgspec.Raw(run.evaluation.render("json").encode())
    return reply({"id": run.id, "tags": run.tags, "whole": run.whole, "report": report})


def delete_run(ask: Ask) -> Response:
    runs.delete(ask)
    return Response(status_code=204)


def tag_run(ask: Ask) -> Response:
    """Give a run a tag (PUT), or take it away (DELETE)."""
    name = ask.part("tag")
    added = ask.request.method == "PUT"
    return reply({"tags": runs.tagged(ask, name if added else "", "" if added else name)})


def verify_run(ask: Ask) -> Response:
    run = ask.seen_run(ask.part("run"))
    rows = runs.recomputed(run)
    return reply({
        "id": run.id, "whole": run.whole, "same": all(row.same for row in rows), "scores": [row._asdict() for row in rows],
    })  # fmt: skip


def get_unit(ask: Ask) -> Response:
    """What gold and every system say of one unit."""
    run = ask.seen_run(ask.part("run"))
    scored, _, _ = runs.asked_units(ask, run)
    line, sides = runs.shown_unit(ask, run, scored)
    systems = [
        {"system": s.name, "score": s.score, "wrong": s.wrong, "gold": s.gold.words, "predicted": s.pred.words} for s in sides
    ]  # fmt: skip
    return reply({"test_case": line.test_case, "id": line.id, "text": line.text, "metric": str(scored.metric), "systems": systems})  # fmt: skip


def list_units(ask: Ask) -> Response:
    run = ask.seen_run(ask.part("run"))
    scored, wanted, theirs = runs.asked_units(ask, run)
    limit, offset = paged(ask)
    places = scored.find(wanted, theirs)
    lines = scored.lines(places[offset : offset + limit], theirs)
    return reply({"total": len(places), "metric": str(scored.metric), "units": [vars(line) for line in lines]})


def get_comparison(ask: Ask) -> Response:
    ask.must_be(*READERS)
    job = runs.comparison_job(ask)
    if job is None:
        raise invalid("Name one run or more: ?run=ID&run=ID.")
    if job.state == "done":
        return Response(job.result["downloads"]["json"], media_type="application/json")
    return reply(job_document(ask, job), 200 if job.state == "failed" else 202)


# evaluations and jobs


def evaluate_files(ask: Ask) -> Response:
    """Gold and systems of a form, evaluated as its other fields say."""
    ask.must_be(*MAKERS)
    gold, systems = ask.uploads("gold")[:1], ask.uploads("systems")
    name = evaluate.chosen_context(ask.entry("context"))
    metrics = ask.listed("metric")
    chosen = options.checked(given_json(ask, "options"))
    if sent := ask.uploads("hierarchy"):
        chosen["hierarchy"] = options.tree(*sent[0])
    if name:
        make_plan(name, metrics or None, chosen)
    elif chosen:
        raise invalid("Name the context, so that its options can be checked.")
    more = {
        "context": name, "metrics": metrics, "intervals": 0.95 if ask.entry("intervals") else None,
        "tags": ask.listed("tag"), "options": chosen, "columns": _columns(ask),
        "slices": evaluate.names_of(ask.entry("slices")), "cluster_by": ask.entry("cluster_by"),
    }  # fmt: skip
    id = evaluate.begin_check(ask, gold, systems, more, kind="check" if ask.query("check") else "evaluation")
    return _accepted(ask, id)


def _columns(ask: Ask) -> dict[str, str]:
    given = given_json(ask, "columns")
    if not all(role in evaluate.COLUMNS and isinstance(column, str) for role, column in given.items()):
        raise invalid(f"columns is an object of names by role; the roles are {', '.join(evaluate.COLUMNS)}.")
    return given


def _accepted(ask: Ask, id: str) -> Response:
    job = evaluate.own_job(ask, id)
    return reply(job_document(ask, job), 202, Location=ask.url(f"/api/jobs/{id}"))


def get_job(ask: Ask) -> Response:
    return reply(job_document(ask, evaluate.own_job(ask, ask.part("job"))))


def job_document(ask: Ask, job: Job) -> dict[str, Any]:
    with ask.server.store.transaction() as connection:
        before = jobs.place(connection, job)
    shown = {
        "id": job.id,
        "kind": job.kind,
        "state": job.state,
        "created": job.created,
        "before": before,
        "step": job.step,
    }
    result = job.result if job.kind in ("check", "evaluation") else None
    return shown | {"result": result, "problem": job.problem}


def cancel_job(ask: Ask) -> Response:
    evaluate.cancel(ask)
    return Response(status_code=204)


# benchmarks


def benchmark_document(benchmark: benchmarks.Benchmark) -> dict[str, Any]:
    settings = msgspec.to_builtins(benchmark.settings)
    now = benchmark.phase()
    return {"id": benchmark.id, "created": benchmark.created, "open": now.name if now else None} | settings


def list_benchmarks(ask: Ask) -> Response:
    limit, offset = paged(ask)
    with ask.server.store.transaction() as connection:
        listed, total = benchmarks.listed(connection, ask.person, limit, offset)
    return reply({"total": total, "benchmarks": [benchmark_document(b) for b in listed]})


def create_benchmark(ask: Ask) -> Response:
    """Settings as the JSON field ``settings`` of a form, gold as its file ``gold``."""
    ask.must_be(*MAKERS)
    gold = ask.uploads("gold")
    if not gold:
        raise invalid("Send gold as the file 'gold' of a form, and the settings as its field 'settings' in JSON.")
    settings = given_json(ask, "settings")
    if sent := ask.uploads("hierarchy"):
        settings["options"] = {**settings.get("options", {}), "hierarchy": options.tree(*sent[0])}
    benchmark = pages.begin(ask, settings, gold[0], ask.entry("id"))
    return reply(benchmark_document(benchmark), 201, Location=ask.url(f"/api/benchmarks/{benchmark.id}"))


def get_benchmark(ask: Ask) -> Response:
    return reply(benchmark_document(ask.seen_benchmark(ask.part("id"))))


def change_benchmark(ask: Ask) -> Response:
    benchmark, new = ask.organised(ask.part("id")), json_body(ask)
    unknown = set(new) - set(Settings.__struct_fields__)
    if unknown:
        raise invalid(f"There is no setting {sorted(unknown)[0]!r}.")
    with ask.server.store.transaction(write=True) as connection:
        changed = benchmarks.change(connection, benchmark, **new)
        ask.note(connection, "change benchmark", benchmark.id)
    return reply(benchmark_document(changed))


def get_gold(ask: Ask) -> Response:
    """What was found in gold."""
    benchmark = ask.organised(ask.part("id"))
    with ask.server.store.transaction() as connection:
        job = benchmarks.gold_check(connection, benchmark)
        file = files.find(connection, benchmark.gold)
    state = job.state if job else "unknown"
    result = (job.result if job else None) or {"good": None, "findings": []}
    shown = {"name": file.name, "bytes": file.bytes, "sha256": file.sha256, "state": state}
    return reply(
        shown | {"good": result["good"], "findings": result["findings"], "problem": job.problem if job else None}
    )


def put_gold(ask: Ask) -> Response:
    benchmark = ask.organised(ask.part("id"))
    return reply(benchmark_document(pages.replace_gold(ask, benchmark, sent_file(ask, "gold"))), 202)


def get_board(ask: Ask) -> Response:
    benchmark = ask.seen_benchmark(ask.part("id"))
    return reply(pages.seen_board(ask, benchmark, ask.query("phase") or benchmark.shown_phase.name).document())


def list_submissions(ask: Ask) -> Response:
    benchmark = ask.seen_benchmark(ask.part("id"))
    organiser = benchmarks.organises(ask.person, benchmark)
    if not organiser and not benchmarks.takes_part(ask.person, benchmark):
        ask.must_be("participant")
        raise missing("benchmark")
    limit, offset = paged(ask)
    with ask.server.store.transaction() as connection:
        listed, total = submissions.listed(connection, benchmark, None if organiser else ask.person.id, limit, offset)
    return reply({"total": total, "submissions": [pages.document(ask, benchmark, s) for s in listed]})


def submit(ask: Ask) -> Response:
    """A submission; with an Idempotency-Key the same request may be sent again."""
    benchmark = ask.seen_benchmark(ask.part("id"))
    key = ask.request.headers.get("idempotency-key")
    if key is not None and not 1 <= len(key) <= 255:
        raise invalid("An Idempotency-Key has 1 to 255 characters.")
    system = ask.entry("system") or ask.query("system")
    sent, fresh = pages.receive(ask, benchmark, sent_file(ask, "file"), system, key)
    with ask.server.store.transaction() as connection:
        left = submissions.quota(connection, benchmark, ask.person)
    shown = pages.document(ask, benchmark, sent) | {"duplicate": not fresh, "left": vars(left)}
    return reply(shown, 202 if fresh else 200, Location=ask.url(f"/api/submissions/{sent.id}"))


def get_submission(ask: Ask) -> Response:
    sent, benchmark = ask.seen_submission(ask.part("id"))
    return reply(pages.document(ask, benchmark, sent))


def act_on_submission(ask: Ask) -> Response:
    sent, benchmark = ask.seen_submission(ask.part("id"))
    pages.act(ask, sent, benchmark, str(json_body(ask).get("what", "")))
    return get_submission(ask)


def import_benchmark(ask: Ask) -> Response:
    ask.must_be(*MAKERS)
    benchmark = archive.load(ask.server.store, sent_file(ask, "archive")[1], ask.person, ask.server.limits)
    with ask.server.store.transaction(write=True) as connection:
        ask.note(connection, "import benchmark", benchmark.id)
    ask.server.wake()
    return reply(benchmark_document(benchmark), 201)


# teams and tokens


def list_teams(ask: Ask) -> Response:
    benchmark = ask.organised(ask.part("id"))
    with ask.server.store.transaction() as connection:
        listed, total = people.listed(connection, benchmark.id, *paged(ask))
    return reply({"total": total, "teams": [_person(p) for p in listed]})


def _person(person: people.Person) -> dict[str, Any]:
    return {k: v for k, v in vars(person).items() if v != ""}


def invite_team(ask: Ask) -> Response:
    benchmark, body = ask.organised(ask.part("id")), json_body(ask)
    with ask.server.store.transaction(write=True) as connection:
        person, secret = people.invite(connection, "participant", str(body.get("name", "")), benchmark.id)
        ask.note(connection, "invite in benchmark", f"{benchmark.id} {person.name}")
    return reply(_person(person) | {"token": secret}, 201)


def change_team(ask: Ask) -> Response:
    """Renew a team's token (POST) or revoke it (DELETE)."""
    benchmark, team = ask.organised(ask.part("id")), ask.part("team")
    with ask.server.store.transaction(write=True) as connection:
        if team not in benchmarks.teams(connection, benchmark):
            raise missing("team")
        ask.note(connection, "change token in benchmark", f"{benchmark.id} {team}")
        if ask.request.method == "POST":
            return reply({"id": team, "token": people.renew(connection, team)})
        people.revoke(connection, team)
    return Response(status_code=204)


def list_tokens(ask: Ask) -> Response:
    ask.must_be("admin")
    with ask.server.store.transaction() as connection:
        listed, total = people.listed(connection, None, *paged(ask))
    return reply({"total": total, "tokens": [_person(p) for p in listed]})


def create_token(ask: Ask) -> Response:
    ask.must_be("admin")
    body = json_body(ask)
    with ask.server.store.transaction(write=True) as connection:
        person, secret = people.invite(connection, str(body.get("role", "")), str(body.get("name", "")))
        ask.note(connection, "invite token", person.name)
    return reply(_person(person) | {"token": secret}, 201)


def delete_token(ask: Ask) -> Response:
    ask.must_be("admin")
    people.not_own(ask.person, ask.part("token"))
    with ask.server.store.transaction(write=True) as connection:
        people.revoke(connection, ask.part("token"))
        ask.note(connection, "revoke token", ask.part("token"))
    return Response(status_code=204)


def get_audit(ask: Ask) -> Response:
    ask.must_be("admin")
    limit, offset = paged(ask)
    with ask.server.store.transaction() as connection:
        rows = connection.execute(tables.audit.select().order_by(tables.audit.c.id.desc()).limit(limit).offset(offset))
        return reply({"lines": [dict(row._mapping) for row in rows]})


# what karat knows


def get_metrics(ask: Ask) -> Response:
    names = [ask.query("context")] if ask.query("context") else list(MODULES)
    by_context = {
        name: [
            {"name": d.name, "title": d.title, "better": d.better, "reference": d.reference, "definition": d.doc}
            for d in catalogue(evaluate.chosen_context(name))
        ]
        for name in names
    }
    return reply(by_context)


def get_formats(ask: Ask) -> Response:
    formats = {name: {"title": f.title, "example": f.example} for name, f in FORMATS.items()}
    contexts = {name: {"title": context(name).title, "example": context(name).example} for name in MODULES}
    return reply({"formats": formats, "contexts": contexts})


def whoami(ask: Ask) -> Response:
    return reply(_person(ask.person))


# the table


@dataclass(frozen=True)
class Operation:
    """One operation: where it is, what it does, who may do it, what it takes."""

    method: str
    path: str
    does: Callable[[Ask], Response]
    summary: str
    who: str
    query: dict[str, str] = field(default_factory=dict)
    body: str = ""
    """``json``, ``form`` or ``file``."""
    fields: dict[str, str] = field(default_factory=dict)
    """Fields of the body with their meaning; those of a form that end in ``*`` are files."""


LIST = {"limit": f"how many, up to {MOST}", "offset": "how many to leave out first"}
RUNS = {"context": "only this context", "tag": "only with this tag", "metric": "only with this metric", "since": "first day", "until": "last day"}  # fmt: skip
UNITS = {
    "system": "whose units", "metric": "what scores them", "kind": "wrong, right or all", "gold": "a class in gold",
    "pred": "a predicted class", "fault": "a kind of error", "better": "a system that does better",
    "worse": "a system that does worse", "text": "a part of id or text", "slice": "a slice, such as language: es",
}  # fmt: skip
TEXT_SETTINGS = ", ".join(Settings.__struct_fields__)

OPERATIONS = (
    Operation("GET", "/runs", list_runs, "List runs, newest first", "reader", RUNS | LIST),
    Operation("GET", "/runs/{run}", get_run, "A run as a JSON report (schema 1)", "reader"),
    Operation("DELETE", "/runs/{run}", delete_run, "Remove a run", "organiser"),
    Operation("PUT", "/runs/{run}/tags/{tag}", tag_run, "Give a run a tag", "organiser"),
    Operation("DELETE", "/runs/{run}/tags/{tag}", tag_run, "Take a tag from a run", "organiser"),
    Operation("GET", "/runs/{run}/verify", verify_run, "Whether a run is as it was saved, and its cells give the same scores", "reader"),
    Operation("GET", "/runs/{run}/unit", get_unit, "One unit: what gold and every system say of it", "reader",
              {"case": "its test case", "id": "its id", "metric": "what scores it"}),
    Operation("GET", "/runs/{run}/units", list_units, "Units of a run, worst first", "reader", UNITS | LIST),
    Operation("GET", "/comparison", get_comparison, "Compare the systems of runs; 202 until it is computed", "reader",
              {"run": "a run (repeatable)", "metric": "a metric (repeatable)", "system": "a system (repeatable)", "baseline": "compare with this one alone"}),
    Operation("POST", "/evaluations", evaluate_files, "Evaluate files in the background", "organiser", {"check": "1 to look at the files only"}, "form",
              {"gold*": "gold file", "systems*": "systems' files (repeatable)", "context": "context, if not detected", "metric": "metric (repeatable)",
               "options": "JSON object: options of the context", "hierarchy*": "label tree", "columns": "JSON object: id, value, test_case by name",
               "slices": "columns of gold by whose values scores are broken down", "cluster_by": "column of gold whose values are drawn whole",
               "intervals": "1 for confidence intervals", "tag": "tag of the run (repeatable)"}),
    Operation("GET", "/jobs/{job}", get_job, "Place, progress and result of a job", "its owner"),
    Operation("DELETE", "/jobs/{job}", cancel_job, "Cancel a job", "its owner"),
    Operation("GET", "/benchmarks", list_benchmarks, "List benchmarks", "anybody", LIST),
    Operation("POST", "/benchmarks", create_benchmark, "Make a benchmark", "organiser", {}, "form",
              {"gold*": "gold file, which never leaves the server", "settings": f"JSON object: {TEXT_SETTINGS}", "hierarchy*": "label tree", "id": "a part of its address"}),
    Operation("POST", "/benchmarks/import", import_benchmark, "Import an exported benchmark", "organiser", {}, "file"),
    Operation("GET", "/benchmarks/{id}", get_benchmark, "A benchmark", "anybody"),
    Operation("PATCH", "/benchmarks/{id}", change_benchmark, "Change settings; board=public unblinds", "its organiser", {}, "json",
              dict.fromkeys(Settings.__struct_fields__, "")),
    Operation("GET", "/benchmarks/{id}/gold", get_gold, "What was found in gold", "its organiser"),
    Operation("PUT", "/benchmarks/{id}/gold", put_gold, "Put other gold in its place, as long as nothing was scored", "its organiser", {}, "file", {"gold*": "gold file"}),
    Operation("GET", "/benchmarks/{id}/leaderboard", get_board, "The leaderboard: rounded scores, ranges of ranks, groups", "anybody, once it is public", {"phase": "whose leaderboard"}),
    Operation("GET", "/benchmarks/{id}/submissions", list_submissions, "Own submissions; all, for organisers", "participant", LIST),
    Operation("POST", "/benchmarks/{id}/submissions", submit, "Submit a file; send an Idempotency-Key to be sure that it counts once", "participant",
              {"name": "what the file is called, if it is the whole body", "system": "what the system is called"}, "file", {"file*": "the file", "system": "what the system is called"}),
    Operation("GET", "/benchmarks/{id}/export", pages.export, "Everything of a benchmark as one file", "its organiser"),
    Operation("GET", "/benchmarks/{id}/teams", list_teams, "Teams and their tokens' state", "its organiser", LIST),
    Operation("POST", "/benchmarks/{id}/teams", invite_team, "Invite a team; its token is shown this once", "its organiser", {}, "json", {"name": "name of the team"}),
    Operation("POST", "/benchmarks/{id}/teams/{team}", change_team, "Renew a team's token", "its organiser"),
    Operation("DELETE", "/benchmarks/{id}/teams/{team}", change_team, "Revoke a team's token", "its organiser"),
    Operation("GET", "/submissions/{id}", get_submission, "A submission with its findings and rounded scores", "its team"),
    Operation("POST", "/submissions/{id}", act_on_submission, "Withdraw a submission, or score a failed one again", "its organiser", {}, "json", {"what": "withdraw or again"}),
    Operation("GET", "/tokens", list_tokens, "All tokens", "admin", LIST),
    Operation("POST", "/tokens", create_token, "Make a token; it is shown this once", "admin", {}, "json", {"role": "admin, organiser or reader", "name": "whose it is"}),
    Operation("DELETE", "/tokens/{token}", delete_token, "Revoke a token", "admin"),
    Operation("GET", "/audit", get_audit, "The audit log, newest first", "admin", LIST),
    Operation("GET", "/me", whoami, "Whose token this is", "anybody"),
    Operation("GET", "/metrics", get_metrics, "Metrics with their definitions", "anybody", {"context": "only this context"}),
    Operation("GET", "/formats", get_formats, "Formats and contexts with examples", "anybody"),
)  # fmt: skip


def openapi(ask: Ask) -> Response:
    """The OpenAPI document."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation)
    return reply(
        {
            "openapi": "3.1.0",
            "info": {"title": "karat", "version": karat.__version__},
            "servers": [{"url": ask.url("/api")}],
            "security": [{"token": []}, {}],
            "paths": paths,
            "components": {
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
                "schemas": schemas.components(),
            },
        }
    )


def _described(operation: Operation) -> dict[str, Any]:
    names = [p.strip("{}") for p in operation.path.split("/") if p.startswith("{")]
    parameters = [{"name": n, "in": "path", "required": True, "schema": {"type": "string"}} for n in names]
    parameters += [
        {"name": n, "in": "query", "description": text, "schema": _query_schema(n)}
        for n, text in operation.query.items()
    ]
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    described: dict[str, Any] = {
        "summary": operation.summary,
        "description": f"For: {operation.who}.",
        "operationId": f"{operation.method.lower()}_{operation.does.__name__}",
        "parameters": parameters,
        "responses": {
            "2XX": {"description": "done, or accepted"} | _answer(operation),
            "4XX": {"description": "a problem, with findings where there are any", "content": problem},
            "503": {"description": "the store cannot be used at the moment", "content": problem},
        },
    }
    return described | ({"requestBody": {"content": _body(operation)}} if operation.body else {})


def _answer(operation: Operation) -> dict[str, Any]:
    name = schemas.ANSWERS.get(operation.does.__name__)
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    return {"content": content} if name and operation.method != "DELETE" else {}


def _query_schema(name: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0} if name in LIST else {"type": "string"}


def _body(operation: Operation) -> dict[str, Any]:
    if operation.body == "json":
        names = operation.fields
        return {"application/json": {"schema": {"type": "object", "properties": {n: {} for n in names}}}}
    fields = {
        n.rstrip("*"): {"type": "string", "description": text} | ({"format": "binary"} if n.endswith("*") else {})
        for n, text in operation.fields.items()
    }
    form = {"multipart/form-data": {"schema": {"type": "object", "properties": fields}}}
    whole = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return form if operation.body == "form" else whole | (form if fields else {})


def documentation(ask: Ask) -> Response:
    """The operations: a page for people, OpenAPI for programs."""
    if "text/html" not in ask.request.headers.get("accept", ""):
        return openapi(ask)
    groups: dict[str, list[Operation]] = {}
    for operation in OPERATIONS:
        groups.setdefault(operation.path.split("/")[1], []).append(operation)
    return html(ask, "api.html", groups=groups)

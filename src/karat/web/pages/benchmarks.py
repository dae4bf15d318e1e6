# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: what participants see and send, and what organisers decide."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from starlette.background import BackgroundTask
from starlette.responses import RedirectResponse, Response, StreamingResponse

from karat.contexts import MODULES, context
from karat.report.rows import Grid
from karat.web import archive, benchmarks, boards, files, jobs, options, people, submissions
from karat.web.asking import MAKERS, Ask
from karat.web.benchmarks import Benchmark, organises, takes_part
from karat.web.boards import Board
from karat.web.pages.downloads import FORMS, MOST, asked_form, table_download
from karat.web.pages.evaluate import COLUMNS, given_options, pasted
from karat.web.problems import invalid, missing, refused
from karat.web.showing import html
from karat.web.submissions import Submission

PAGE = 25


def listing(ask: Ask) -> Response:
    """All benchmarks; a participant's own."""
    page, form = max(ask.number("page", 1, 100_000), 1), asked_form(ask)
    size, skip = (MOST, 0) if form else (PAGE, PAGE * (page - 1))
    with ask.server.store.transaction() as connection:
        listed, total = benchmarks.listed(connection, ask.person, size, skip)
    if form:
        head = ["benchmark", "title", "context", "leading metric", "phase", "created"]
        rows = [[b.id, b.title, b.settings.context, b.settings.leading, b.open_phase, b.created] for b in listed]
        return table_download(Grid("Benchmarks", head, rows), form, "benchmarks")
    return html(ask, "benchmarks.html", listed=listed, total=total, page=page, size=PAGE)


def new(ask: Ask) -> Response:
    """The form of a new benchmark."""
    ask.must_be(*MAKERS)
    name = ask.query("context", "monolabel")
    if name not in MODULES:
        raise missing("context")
    return html(
        ask, "benchmark_new.html", contexts=MODULES, context=context(name), options=options.fields(name),
        has_tree=options.has_tree(name), columns=COLUMNS,
    )  # fmt: skip


def create(ask: Ask) -> Response:
    """Make a benchmark of the form."""
    ask.must_be(*MAKERS)
    gold = ask.uploads("gold") or pasted(ask, "gold_text", "gold")
    if not gold:
        raise invalid("Give the gold file.")
    settings = from_form(ask) | {
        "context": ask.entry("context"),
        "metrics": [m.strip() for m in re.split(r"[\n;]", ask.entry("metrics")) if m.strip()],
        "options": given_options(ask, ask.entry("context")),
        "columns": {role: ask.entry(f"column-{role}") for role in COLUMNS if ask.entry(f"column-{role}")},
    }
    benchmark = begin(ask, settings, gold[0], ask.entry("id"))
    return RedirectResponse(ask.url(f"/benchmarks/{benchmark.id}/manage"), 303)


def begin(ask: Ask, settings: dict[str, Any], gold: tuple[str, Any], id: str) -> Benchmark:
    """Make a benchmark; a worker then looks at its gold."""
    name, source = gold
    benchmarks.checked(settings)
    with ask.server.store.transaction(write=True) as connection:
        benchmark = benchmarks.create(connection, ask.person, settings, source, name, id)
        ask.note(connection, "create benchmark", benchmark.id)
    ask.server.wake()
    return benchmark


def replace_gold(ask: Ask, benchmark: Benchmark, gold: tuple[str, Any]) -> Benchmark:
    """Put other gold in the place of what has faults."""
    with ask.server.store.transaction(write=True) as connection:
        changed = benchmarks.replace_gold(connection, benchmark, ask.person, gold[1], gold[0])
        ask.note(connection, "replace gold", benchmark.id)
    ask.server.wake()
    return changed


def from_form(ask: Ask) -> dict[str, Any]:
    """What of a benchmark may change later, from the fields of a form."""
    phases = [p for p in (_phase(line) for line in ask.entry("phases").splitlines()) if p]
    given: dict[str, Any] = {
        "title": ask.entry("title"), "description": ask.entry("description"), "phases": phases,
        "board": ask.entry("board") or "public", "board_from": ask.entry("board_from") or None,
        "pick": ask.entry("pick") or "best",
    }  # fmt: skip
    return given | {n: ask.entry(n) for n in ("per_day", "in_all", "digits") if ask.entry(n)}


def _phase(line: str) -> dict[str, str | None] | None:
    """A phase as a line: its name, its first and its last moment, with commas between."""
    parts = [p.strip() for p in line.split(",")]
    if not parts[0]:
        return None
    start, end = ([*parts[1:3], "", ""])[:2]
    return {"name": parts[0], "start": start or None, "end": end or None}


def show(ask: Ask) -> Response:
    """A benchmark: description, phases, leaderboard, and for a team its own submissions."""
    benchmark = ask.seen_benchmark(ask.part("id"))
    phase = ask.query("phase") or benchmark.shown_phase.name
    with ask.server.store.transaction() as connection:
        board = seen_board(ask, benchmark, phase) if sees_board(ask, benchmark) else None
        mine = (
            submissions.listed(connection, benchmark, ask.person.id, 10)[0]
            if takes_part(ask.person, benchmark)
            else None
        )
        left = submissions.quota(connection, benchmark, ask.person) if takes_part(ask.person, benchmark) else None
    shown = [document(ask, benchmark, s) for s in mine] if mine is not None else None
    waiting = any(s["state"] == "queued" for s in shown or [])
    return html(
        ask, "benchmark.html", refresh=3 if waiting else 0, benchmark=benchmark, phase=phase, board=board, mine=shown,
        left=left, organiser=organises(ask.person, benchmark), context=context(benchmark.settings.context),
        ranks=boards.ranks, forms=FORMS, options=options.shown(benchmark.settings.options),
    )  # fmt: skip


def sees_board(ask: Ask, benchmark: Benchmark) -> bool:
    return benchmark.board == "public" or organises(ask.person, benchmark)


def seen_board(ask: Ask, benchmark: Benchmark, phase: str) -> Board:
    """The leaderboard, if this visitor may see it."""
    if not sees_board(ask, benchmark):
        raise refused("The leaderboard is not public yet.")
    if phase not in [p.name for p in benchmark.phases]:
        raise missing("phase")
    with ask.server.store.transaction() as connection:
        return boards.board(connection, benchmark, phase)


def board_file(ask: Ask) -> Response:
    """The leaderboard as a file."""
    benchmark = ask.seen_benchmark(ask.part("id"))
    board = seen_board(ask, benchmark, ask.query("phase") or benchmark.shown_phase.name)
    form = FORMS.get(ask.part("form"), "")
    if form not in ("json", "tsv", "csv", "markdown", "latex"):
        raise missing("form of report")
    return table_download(boards.grid(board, benchmark.settings.digits), form, f"{benchmark.id}-{board.phase}")


def document(ask: Ask, benchmark: Benchmark, sent: Submission) -> dict[str, Any]:
    """A submission as far as this visitor may see it: findings of the file alone, scores rounded."""
    organiser = organises(ask.person, benchmark)
    scores = sent.scores if organiser else {} if benchmark.board == "blind" else boards.rounded(benchmark, sent)
    fields = {
        "id": sent.id, "benchmark": sent.benchmark, "system": sent.system, "phase": sent.phase, "sha256": sent.sha256,
        "received": sent.received, "state": sent.state, "scores": scores if sent.state == "scored" else {},
        "findings": [msgspec.structs.asdict(f) for f in sent.findings],
    }  # fmt: skip
    return fields | ({"team": sent.team, "run": sent.run} if organiser else {})


def submit(ask: Ask) -> Response:
    """Take a submission of a team."""
    benchmark = ask.seen_benchmark(ask.part("id"))
    sources = ask.uploads("file") or pasted(ask, "text", "pasted")
    if not sources:
        raise invalid("Choose a file.")
    sent, fresh = receive(ask, benchmark, sources[0], ask.entry("system"), None)
    return RedirectResponse(ask.url(f"/submissions/{sent.id}", again="" if fresh else "1"), 303)


def receive(
    ask: Ask, benchmark: Benchmark, source: tuple[str, Any], system: str, key: str | None
) -> tuple[Submission, bool]:
    """Keep a submission: it is on disk before the answer is given."""
    if not takes_part(ask.person, benchmark):
        ask.must_be("participant")
        raise refused("Your token is of another benchmark.")
    name, file = source
    digest = files.digest_of(file)
    with ask.server.store.transaction(write=True) as connection:
        taken = submissions.take(connection, benchmark, ask.person, file, name, system, key, digest)
        ask.note(connection, "submit", f"{benchmark.id} {taken[0].id}" + ("" if taken[1] else " (again)"))
    ask.server.wake()
    return taken


def submission(ask: Ask) -> Response:
    """A submission: where it stands, its findings, its scores."""
    sent, benchmark = ask.seen_submission(ask.part("id"))
    with ask.server.store.transaction() as connection:
        job = jobs.find(connection, sent.job) if sent.state == "queued" else None
        before = jobs.place(connection, job) if job else 0
        team = benchmarks.teams(connection, benchmark).get(sent.team, "?")
    return html(
        ask, "submission.html", refresh=1 if sent.state == "queued" else 0, sent=document(ask, benchmark, sent),
        benchmark=benchmark, job=job, before=before, again=ask.query("again"), team=team,
        organiser=organises(ask.person, benchmark), digits=benchmark.settings.digits,
    )  # fmt: skip


def all_submissions(ask: Ask) -> Response:
    """Every submission for the organisers, and for a team its own."""
    benchmark = ask.seen_benchmark(ask.part("id"))
    organiser = organises(ask.person, benchmark)
    if not organiser and not takes_part(ask.person, benchmark):
        ask.organised(benchmark.id)
    team = ask.query("team") if organiser else ask.person.id
    page, form = max(ask.number("page", 1, 100_000), 1), asked_form(ask)
    size, skip = (MOST, 0) if form else (PAGE, PAGE * (page - 1))
    with ask.server.store.transaction() as connection:
        listed, total = submissions.listed(connection, benchmark, team or None, size, skip)
        names = benchmarks.teams(connection, benchmark)
    shown = [document(ask, benchmark, s) | {"team_name": names.get(s.team, "?")} for s in listed]
    if form:
        return table_download(_submission_grid(benchmark, shown), form, f"{benchmark.id}-submissions")
    return html(
        ask, "submissions.html", benchmark=benchmark, listed=shown, total=total, page=page, size=PAGE, organiser=organiser,
        team=names.get(team, ""), digits=4 if organiser else benchmark.settings.digits,
    )  # fmt: skip


def _submission_grid(benchmark: Benchmark, shown: list[dict[str, Any]]) -> Grid:
    metrics = benchmark.settings.metrics
    head = ["submission", "system", "team", "phase", "received", "state", *metrics, "sha256"]
    rows = [
        [x["id"], x["system"], x["team_name"], x["phase"], x["received"], x["state"],
         *("" if x["scores"].get(m) is None else repr(x["scores"][m]) for m in metrics), x["sha256"]]
        for x in shown
    ]  # fmt: skip
    return Grid("Submissions", head, rows)


def withdraw(ask: Ask) -> Response:
    """Take a submission off the leaderboard, or have it scored again."""
    sent, benchmark = ask.seen_submission(ask.part("id"))
    act(ask, sent, benchmark, ask.entry("what"))
    return RedirectResponse(ask.url(f"/submissions/{sent.id}"), 303)


def act(ask: Ask, sent: Submission, benchmark: Benchmark, what: str) -> None:
    """What an organiser does with a submission."""
    if not organises(ask.person, benchmark):
        raise refused("This is for the organisers of the benchmark.")
    with ask.server.store.transaction(write=True) as connection:
        if what == "withdraw":
            submissions.settle(connection, sent.id, "withdrawn")
            boards.ask(connection, benchmark, sent.phase, ask.person)
        elif what == "again":
            submissions.again(connection, sent, ask.person)
        else:
            raise invalid("A submission is withdrawn or scored again.")
        ask.note(connection, f"{what} submission", sent.id)
    ask.server.wake()


# what organisers decide


def manage(ask: Ask, secret: str = "", whose: str = "") -> Response:
    """Settings, teams and tokens of a benchmark."""
    benchmark = ask.organised(ask.part("id"))
    page = max(ask.number("page", 1, 100_000), 1)
    if form := asked_form(ask):
        return _team_file(ask, benchmark, form)
    with ask.server.store.transaction() as connection:
        teams, total = people.listed(connection, benchmark.id, PAGE, PAGE * (page - 1))
        best = boards.chosen(connection, benchmark, benchmark.shown_phase.name)
        gold = benchmarks.gold_check(connection, benchmark)
        file = files.find(connection, benchmark.gold)
    return html(
        ask, "manage.html", refresh=2 if gold and gold.state in jobs.OPEN and not secret else 0, gold=gold, file=file, benchmark=benchmark, teams=teams, total=total, page=page, size=PAGE, secret=secret, whose=whose,
        compared=[s.run for s in best if s.run][:40],
    )  # fmt: skip


def _team_file(ask: Ask, benchmark: Benchmark, form: str) -> Response:
    """The teams of a benchmark as a file."""
    with ask.server.store.transaction() as connection:
        listed, _ = people.listed(connection, benchmark.id, MOST)
    rows = [[p.id, p.name, p.created, p.revoked or ""] for p in listed]
    return table_download(Grid("Teams", ["id", "team", "invited", "revoked"], rows), form, f"{benchmark.id}-teams")


def manage_change(ask: Ask) -> Response:
    """One of the forms of that page."""
    benchmark = ask.organised(ask.part("id"))
    what, whose = ask.entry("what"), ask.entry("team")
    secret = name = ""
    if what == "gold" and (sent := ask.uploads("gold")):
        replace_gold(ask, benchmark, sent[0])
        return RedirectResponse(ask.url(f"/benchmarks/{benchmark.id}/manage"), 303)
    with ask.server.store.transaction(write=True) as connection:
        if what in ("renew", "revoke") and whose not in benchmarks.teams(connection, benchmark):
            raise missing("team")
        if what == "invite":
            person, secret = people.invite(connection, "participant", ask.entry("name"), benchmark.id)
            name = person.name
        elif what == "renew":
            secret, name = people.renew(connection, whose), benchmarks.teams(connection, benchmark)[whose]
        elif what == "revoke":
            people.revoke(connection, whose)
        elif what == "unblind":
            benchmarks.change(connection, benchmark, board="public", board_from=None)
        elif what == "settings":
            benchmarks.change(connection, benchmark, **from_form(ask))
        else:
            raise invalid("Nothing is known of this form.")
        ask.note(connection, f"{what} in benchmark", f"{benchmark.id} {name or whose}".strip())
    if secret:
        return manage(ask, secret, name)
    return RedirectResponse(ask.url(f"/benchmarks/{benchmark.id}/manage"), 303)


def export(ask: Ask) -> Response:
    """Everything of a benchmark as one file."""
    benchmark = ask.organised(ask.part("id"))
    with ask.server.store.transaction(write=True) as connection:
        ask.note(connection, "export benchmark", benchmark.id)
    source = archive.export(ask.server.store, benchmark)
    headers = {"content-disposition": f'attachment; filename="{benchmark.id}.karat-benchmark"'}
    blocks = iter(lambda: source.read(1 << 18), b"")
    return StreamingResponse(
        blocks, headers=headers, media_type="application/zip", background=BackgroundTask(source.close)
    )


def load(ask: Ask) -> Response:
    """A benchmark from an exported file."""
    ask.must_be(*MAKERS)
    sources = ask.uploads("archive")
    if not sources:
        raise invalid("Choose an exported benchmark.")
    benchmark = archive.load(ask.server.store, sources[0][1], ask.person, ask.server.limits)
    with ask.server.store.transaction(write=True) as connection:
        ask.note(connection, "import benchmark", benchmark.id)
    ask.server.wake()
    return RedirectResponse(ask.url(f"/benchmarks/{benchmark.id}/manage"), 303)

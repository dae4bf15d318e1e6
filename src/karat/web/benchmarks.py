# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: a gold standard that stays hidden, what is computed against it, when, and who may see what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import IO, Annotated, Any, Literal

import msgspec
from msgspec import Meta
from sqlalchemy import Connection, func, select

from karat.contexts import context
from karat.findings import InputError
from karat.metric import MetricError
from karat.plan import make_plan
from karat.web import files, jobs, options, people, tables
from karat.web.people import Person
from karat.web.problems import Problem, invalid, missing

Board = Literal["public", "hidden", "blind"]
Text = Annotated[str, Meta(max_length=20_000)]
Short = Annotated[str, Meta(max_length=128)]


class Phase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A time in which submissions are taken; each phase has a leaderboard of its own."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    start: str | None = None
    """First moment, in ISO form; open from the beginning if there is none."""
    end: str | None = None
    """Last moment; open for ever if there is none."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an organiser decides."""

    title: Annotated[str, Meta(min_length=1, max_length=200)]
    context: Short
    metrics: Annotated[list[Short], Meta(min_length=1, max_length=40)]
    """The first is the leading one, by which the leaderboard is ordered."""
    description: Text = ""
    """Markdown."""
    options: dict[str, Any] = {}
    columns: dict[str, str] = {}
    phases: Annotated[list[Phase], Meta(max_length=20)] = []
    per_day: Annotated[int, Meta(ge=1, le=10_000)] = 5
    in_all: Annotated[int, Meta(ge=1, le=100_000)] = 100
    digits: Annotated[int, Meta(ge=0, le=6)] = 3
    """Decimals to which participants see scores."""
    pick: Literal["best", "last"] = "best"
    """Which submission of a team stands on the leaderboard."""
    board: Board = "public"
    """Who sees scores: everybody; each team its own; nobody but organisers."""
    board_from: str | None = None
    """Moment from which the leaderboard is public."""

    @property
    def leading(self) -> str:
        return self.metrics[0]


class Benchmark(msgspec.Struct, frozen=True):
    """A benchmark as it is kept."""

    id: str
    created: str
    owner: str
    gold: str
    settings: Settings

    @property
    def title(self) -> str:
        return self.settings.title

    @property
    def board(self) -> Board:
        """Who sees scores at this moment."""
        opens = self.settings.board_from
        return "public" if opens and moment(opens) <= datetime.now(UTC) else self.settings.board

    def phase(self, when: datetime | None = None) -> Phase | None:
        """The phase that takes submissions now."""
        when = when or datetime.now(UTC)
        return next((p for p in self.phases if _within(p, when)), None)

    @property
    def phases(self) -> Sequence[Phase]:
        return self.settings.phases or [Phase("open")]

    @property
    def open_phase(self) -> str:
        """The name of the phase that takes submissions now."""
        now = self.phase()
        return now.name if now else "closed"

    @property
    def shown_phase(self) -> Phase:
        """The phase whose leaderboard is shown first: the present one, or the last that has begun."""
        now = datetime.now(UTC)
        begun = [p for p in self.phases if not p.start or moment(p.start) <= now]
        return self.phase() or (begun or list(self.phases))[-1]


def _within(phase: Phase, when: datetime) -> bool:
    return (not phase.start or moment(phase.start) <= when) and (not phase.end or when <= moment(phase.end))


def moment(text: str) -> datetime:
    """A moment of a phase; UTC unless it says otherwise."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise invalid(f"{text!r} is no moment: write 2026-11-16 or 2026-11-16T12:00.") from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def checked(given: Any) -> Settings:
    """Settings that can be worked with: metrics and options that the context has, moments that can be read."""
    try:
        settings = msgspec.convert(given, Settings, strict=False)
        settings = msgspec.structs.replace(settings, options=options.checked(settings.options))
        plan = make_plan(context(settings.context).name, settings.metrics, settings.options)
    except (msgspec.ValidationError, MetricError) as error:
        raise invalid(str(error)) from error
    except InputError as error:
        raise invalid("The label tree cannot be used.", error.findings) from error
    if plan.options.get("missing") == "skip":  # a file of one item would be told whether that item is right
        raise invalid("missing=skip scores a team on the items that it chooses, one by one if it likes; choose wrong or error.")  # fmt: skip
    for text in [settings.board_from, *(t for p in settings.phases for t in (p.start, p.end))]:
        if text:
            moment(text)
    if len({p.name for p in settings.phases}) < len(settings.phases):
        raise invalid("Give each phase a name of its own.")
    return msgspec.structs.replace(settings, metrics=[str(m) for m in plan.metrics])


def slug(title: str) -> str:
    """A title as a part of an address.

    >>> slug("Détection of Irony, 2026!")
    'd-tection-of-irony-2026'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:48] or "benchmark"


def create(connection: Connection, owner: Person, given: Any, gold: IO[bytes], name: str, id: str = "") -> Benchmark:
    """A new benchmark."""
    settings = checked(given)
    id = id or slug(settings.title)
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,47}", id):
        raise invalid("The id of a benchmark has up to 48 small letters, digits and dashes.")
    must_be_free(connection, id)
    file = files.keep(connection, gold, name)
    benchmark = Benchmark(id, tables.now(), owner.id, file.id, settings)
    connection.execute(tables.benchmarks.insert(), [_row(benchmark)])
    _have_checked(connection, benchmark, owner)
    return benchmark


def _have_checked(connection: Connection, benchmark: Benchmark, who: Person) -> None:
    """Have gold looked at by a worker: organisers learn of its faults before a team pays for them."""
    jobs.add(connection, "gold", who, {"benchmark": benchmark.id, "file": benchmark.gold}, f"gold {benchmark.id}")


def gold_check(connection: Connection, benchmark: Benchmark) -> jobs.Job | None:
    """What was found in gold; none for benchmarks that an older karat made."""
    return jobs.latest(connection, f"gold {benchmark.id}")


def gold_is_bad(connection: Connection, benchmark: Benchmark) -> bool:
    check = gold_check(connection, benchmark)
    return check is not None and check.state == "done" and not check.result["good"]


def replace_gold(connection: Connection, benchmark: Benchmark, who: Person, gold: IO[bytes], name: str) -> Benchmark:
    """The benchmark with other gold, as long as nothing was scored against the old one."""
    sent = tables.submissions
    scored = select(sent.c.id).where(sent.c.benchmark == benchmark.id, sent.c.run.is_not(None)).limit(1)
    if connection.execute(scored).first():
        raise Problem(409, "scored", "Gold cannot change any more", "Submissions were scored against it; make another benchmark.")  # fmt: skip
    changed = msgspec.structs.replace(benchmark, gold=files.keep(connection, gold, name).id)
    connection.execute(tables.benchmarks.update().where(tables.benchmarks.c.id == benchmark.id).values(**_row(changed)))
    files.forget(connection, benchmark.gold)
    _have_checked(connection, changed, who)
    return changed


def must_be_free(connection: Connection, id: str) -> None:
    if connection.execute(select(tables.benchmarks.c.id).where(tables.benchmarks.c.id == id)).first():
        raise Problem(409, "taken", "There is a benchmark of this id", f"Give another id or title than {id!r}.")


def _row(benchmark: Benchmark) -> dict[str, str]:
    return {
        "id": benchmark.id, "created": benchmark.created, "owner": benchmark.owner, "gold": benchmark.gold,
        "title": benchmark.title, "settings": msgspec.json.encode(benchmark.settings).decode(),
    }  # fmt: skip


def change(connection: Connection, benchmark: Benchmark, **new: Any) -> Benchmark:
    """The benchmark with other settings; what it computes stays, for scores of one board must be alike."""
    fixed = {"context", "metrics", "options", "columns"} & {
        k for k, v in new.items() if v != msgspec.to_builtins(getattr(benchmark.settings, k, None))
    }
    if fixed:
        raise invalid(f"{', '.join(sorted(fixed))} cannot change once there is a benchmark; make another one.")
    settings = checked(msgspec.to_builtins(benchmark.settings) | new)
    changed = msgspec.structs.replace(benchmark, settings=settings)
    connection.execute(tables.benchmarks.update().where(tables.benchmarks.c.id == benchmark.id).values(**_row(changed)))
    return changed


def find(connection: Connection, id: str) -> Benchmark:
    row = connection.execute(tables.benchmarks.select().where(tables.benchmarks.c.id == id)).first()
    if row is None:
        raise missing("benchmark")
    return of_row(row)


def of_row(row: Any) -> Benchmark:
    """A row of the table as a benchmark."""
    return Benchmark(row.id, row.created, row.owner, row.gold, msgspec.json.decode(row.settings, type=Settings))


def listed(connection: Connection, who: Person, limit: int, offset: int = 0) -> tuple[list[Benchmark], int]:
    """A page of the benchmarks that a person knows of, newest first, and how many there are."""
    table = tables.benchmarks
    known = [table.c.id == who.benchmark] if who.role == "participant" else []
    wanted = table.select().where(*known).order_by(table.c.created.desc(), table.c.id)
    rows = connection.execute(wanted.limit(limit).offset(offset))
    total = connection.execute(select(func.count()).select_from(table).where(*known)).scalar_one()
    return [of_row(row) for row in rows], total


def organises(person: Person, benchmark: Benchmark) -> bool:
    """Whether the person sees everything of the benchmark."""
    return person.role == "admin" or (person.role == "organiser" and person.id == benchmark.owner)


def takes_part(person: Person, benchmark: Benchmark) -> bool:
    return person.role == "participant" and person.benchmark == benchmark.id


def teams(connection: Connection, benchmark: Benchmark) -> dict[str, str]:
    """Names of the teams by the id of their token."""
    return {p.id: p.name for p in people.listed(connection, benchmark.id)[0]}

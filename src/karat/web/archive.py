# SPDX-License-Identifier: Apache-2.0
"""A benchmark as one file, with gold, submissions and scores: for another server, or for the shelf."""

from __future__ import annotations

import secrets
import tempfile
import zipfile
import zlib
from typing import IO, Annotated, Any, Literal

import msgspec
from msgspec import Meta
from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from karat.store import Store, StoreError, bundle
from karat.web import benchmarks, boards, files, people, submissions, tables
from karat.web.benchmarks import Benchmark, Settings
from karat.web.limits import Limits
from karat.web.people import Person
from karat.web.problems import Problem, invalid
from karat.web.submissions import Submission
from karat.web.tables import HIDDEN

FORMAT = 1
HEADER = "benchmark.json"


LARGEST_HEADER = 64 << 20
"""Bytes of the readable part."""

Hex = Annotated[str, Meta(pattern="^[0-9a-f]{1,64}$")]
Short = Annotated[str, Meta(max_length=128)]


class Team(msgspec.Struct):
    id: Hex
    name: Short


class Sent(msgspec.Struct):
    """A submission, without its file and run."""

    id: Hex
    team: Hex
    system: Short
    phase: Short
    sha256: Hex
    received: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT[0-9:.]{8,15}\+00:00$")]
    state: Literal["queued", "scored", "unscored", "refused", "failed", "withdrawn"]
    name: Short
    run: Annotated[str, Meta(pattern="^[0-9a-f]{12}$")] | None = None
    scores: dict[str, float | None] = {}
    findings: list[dict[str, Any]] = []


class Header(msgspec.Struct):
    """The readable part of an exported benchmark."""

    karat_benchmark: int
    id: str
    created: str
    gold: str
    settings: Settings
    teams: list[Team]
    submissions: list[Sent]


def export(store: Store, benchmark: Benchmark) -> IO[bytes]:
    """Everything of a benchmark as an open archive; tokens are left out, for they are nobody else's."""
    out = tempfile.TemporaryFile(prefix="karat-")  # noqa: SIM115 (whoever asks closes it)
    with store.transaction() as connection, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        sent, _ = submissions.listed(connection, benchmark, limit=1_000_000)
        teams = [Team(id, name) for id, name in benchmarks.teams(connection, benchmark).items()]
        gold = files.find(connection, benchmark.gold)
        rows = [_sent(connection, s) for s in sent]
        header = Header(FORMAT, benchmark.id, benchmark.created, gold.name, benchmark.settings, teams, rows)
        archive.writestr(HEADER, msgspec.json.format(msgspec.json.encode(header), indent=1))
        _add(archive, connection, "gold", benchmark.gold)
        for submission in sent:
            _add(archive, connection, f"files/{submission.id}", submission.file)
            if submission.run:
                archive.writestr(f"runs/{submission.run}", store.export(submission.run), zipfile.ZIP_STORED)
    out.seek(0)
    return out


def _sent(connection: Connection, s: Submission) -> Sent:
    findings = [msgspec.structs.asdict(f) for f in s.findings]
    name = files.find(connection, s.file).name
    state: Any = s.state
    return Sent(s.id, s.team, s.system, s.phase, s.sha256, s.received, state, name, s.run, s.scores, findings)


def _add(archive: zipfile.ZipFile, connection: Connection, name: str, file: str) -> None:
    with archive.open(name, "w", force_zip64=True) as out:
        for piece in files.pieces(connection, file):
            out.write(piece)


DAMAGE = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, ValueError, NotImplementedError, RuntimeError)
"""All that reading an archive and its JSON may raise."""


def load(store: Store, source: IO[bytes], owner: Person, limits: Limits) -> Benchmark:
    """The benchmark of an exported file; its teams need new tokens."""
    try:
        with zipfile.ZipFile(source) as archive:
            if sum(i.file_size for i in archive.infolist()) > 8 * limits.unpacked:
                raise invalid("The archive holds more than the server takes.")
            if archive.getinfo(HEADER).file_size > LARGEST_HEADER:
                raise invalid("The archive holds more than the server takes.")
            header = msgspec.json.decode(archive.read(HEADER), type=Header)
            if header.karat_benchmark > FORMAT:
                raise invalid("The file was exported by a newer karat; upgrade karat to import it.")
            return _loaded(store, archive, header, owner)
    except Problem:
        raise
    except StoreError as error:
        if isinstance(error.__cause__, DBAPIError):
            raise
        raise invalid("A run of the archive cannot be taken.") from error
    except DAMAGE as error:
        raise invalid("This is no exported benchmark, or it is damaged.") from error


def _loaded(store: Store, archive: zipfile.ZipFile, header: Header, owner: Person) -> Benchmark:
    benchmarks.checked(msgspec.to_builtins(header.settings))
    with store.transaction() as connection:
        benchmarks.must_be_free(connection, header.id)
    for run in sorted({s.run for s in header.submissions if s.run}):
        _load_run(store, archive, run)
    with store.transaction(write=True) as connection:
        settings = msgspec.to_builtins(header.settings)
        with archive.open("gold") as gold:
            benchmark = benchmarks.create(connection, owner, settings, _spooled(gold), header.gold, header.id)
        teams = {t.id: _team(connection, benchmark, t.name) for t in header.teams}
        for sent in header.submissions:
            with archive.open(f"files/{sent.id}") as source:
                file = files.keep(connection, _spooled(source), sent.name)
            if file.sha256 != sent.sha256:
                raise invalid("A file of the archive was changed after it was exported.")
            row = {
                "id": secrets.token_hex(12), "benchmark": benchmark.id, "team": teams[sent.team], "system": sent.system,
                "phase": sent.phase, "file": file.id, "sha256": sent.sha256, "received": sent.received, "job": "",
                "state": "failed" if sent.state == "queued" else sent.state, "run": sent.run,
                "scores": msgspec.json.encode(sent.scores).decode(),
                "findings": msgspec.json.encode(sent.findings).decode(),
            }  # fmt: skip
            connection.execute(tables.submissions.insert(), [row])
        for phase in benchmark.phases:
            boards.ask(connection, benchmark, phase.name, owner)
    return benchmark


def _load_run(store: Store, archive: zipfile.ZipFile, run: str) -> None:
    """Put a run into the store, hidden from its first moment.

    An archive that names somebody else's run gives nobody the right to see it, nor hides it from those who have.
    """
    with store.transaction() as connection:
        table = tables.submissions
        if connection.execute(select(table.c.id).where(table.c.run == run)).first():
            raise invalid("A run of the archive belongs to another benchmark of this server.")
    content = archive.read(f"runs/{run}")
    record, tags = bundle.read(content)
    if record.run["id"] != run or HIDDEN not in tags:
        raise invalid("A run of the archive is not the one that it is said to be.")
    if HIDDEN not in store.load(content).tags:
        raise invalid("A run of the archive is on this server already, for everybody to see.")


def _spooled(source: IO[bytes]) -> IO[bytes]:
    """A file of the archive that can be read twice."""
    out = tempfile.TemporaryFile(prefix="karat-")  # noqa: SIM115
    while block := source.read(1 << 20):
        out.write(block)
    out.seek(0)
    return out


def _team(connection: Connection, benchmark: Benchmark, name: str) -> str:
    """A team whose token is worth nothing until it is renewed."""
    person, _ = people.invite(connection, "participant", name, benchmark.id)
    people.revoke(connection, person.id)
    return person.id

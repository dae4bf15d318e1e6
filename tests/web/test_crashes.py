# SPDX-License-Identifier: Apache-2.0
"""A submission that was accepted is scored once, whatever dies in between."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import make_url, select

from karat.store import open_store
from karat.web import files, tables
from tests.store import server
from tests.store.disk import small
from tests.web.site import Site, Visitor, labels, running, until
from tests.web.stories import benchmark, board, settled, submit, team

BOTH = pytest.mark.parametrize("address", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True)


LEFT_OVER = {
    "a piece without its file": "SELECT count(*) FROM web_chunks WHERE file NOT IN (SELECT id FROM web_files)",
    "a file of nobody": "SELECT count(*) FROM web_files WHERE id NOT IN (SELECT file FROM web_submissions) AND id NOT IN (SELECT gold FROM web_benchmarks)",
    "a submission without its file": "SELECT count(*) FROM web_submissions WHERE file NOT IN (SELECT id FROM web_files)",
    "a submission without its run": "SELECT count(*) FROM web_submissions WHERE run NOT IN (SELECT id FROM runs)",
    "a run of nobody": "SELECT count(*) FROM runs WHERE id NOT IN (SELECT run FROM web_submissions WHERE run IS NOT NULL)",
    "a run without systems": "SELECT count(*) FROM runs WHERE id NOT IN (SELECT run_id FROM systems)",
    "a run without scores": "SELECT count(*) FROM runs WHERE id NOT IN (SELECT run_id FROM scores)",
    "scores without a run": "SELECT count(*) FROM scores WHERE run_id NOT IN (SELECT id FROM runs)",
    "a job that somebody holds": "SELECT count(*) FROM web_jobs WHERE kind = 'submission' AND state <> 'done'",
}  # fmt: skip


def half_written(address: str) -> list[str]:
    """What a store holds that is not whole."""
    store = open_store(address, create=False)
    with store.transaction() as connection:
        found = [what for what, query in LEFT_OVER.items() if connection.exec_driver_sql(query).scalar()]
        for file in connection.execute(tables.files.select()).all():
            content = b"".join(files.pieces(connection, file.id))
            if (len(content), hashlib.sha256(content).hexdigest()) != (file.bytes, file.sha256):
                found.append("a file that is cut off")
        if connection.dialect.name == "sqlite":
            found += [row[0] for row in connection.exec_driver_sql("PRAGMA integrity_check") if row[0] != "ok"]
    found += [f"run {run.id} is damaged" for run in store.list(limit=1000) if not store[run.id].whole]
    store.close()
    return found


def accounted(site: Site, id: str, sent: list[str]) -> None:
    """Every submission is scored, each by one run, and nothing is left over."""
    admin = Visitor(site, site.token)
    found = [settled(admin, {"id": s}) for s in sent]
    assert {f["state"] for f in found} == {"scored"}
    runs = [f["run"] for f in found]
    assert len(set(runs)) == len(runs)
    listed = admin.get("/api/runs?tag=hidden-gold&limit=200").json
    assert sorted(r["id"] for r in listed["runs"]) == sorted(runs)
    assert admin.get(f"/api/benchmarks/{id}/submissions").json["total"] == len(sent)
    assert half_written(site.store) == []
    board(admin, id)


def begun(site: Site, files: int) -> tuple[str, list[str]]:
    """A benchmark with submissions in its queue."""
    site.token = site.admin
    admin = Visitor(site, site.token)
    id = benchmark(admin, labels(20_000))
    one = team(admin, id)
    sent = [submit(one, id, labels(20_000, wrong=10 * k)).json["id"] for k in range(files)]
    return id, sent


@BOTH
def test_a_killed_server_loses_nothing(address):
    with running(address, "--accounts") as site:
        id, sent = begun(site, 5)
        for _ in range(2):
            site.stop(signal.SIGKILL)
            site.start()
        accounted(site, id, sent)


def killed(workers: list[int]) -> None:
    """End processes at once; one that was killed a moment ago may be gone."""
    for pid in workers:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@BOTH
def test_a_killed_worker_loses_nothing(address):
    with running(address, "--accounts") as site:
        id, sent = begun(site, 5)
        for _ in range(3):
            killed(until(site.workers, "workers"))
        accounted(site, id, sent)


def at_step(site: Site, step: str) -> bool:
    """Wait until a worker is at a step of its work; whether one was seen there before all was done."""
    store, jobs = open_store(site.store), tables.jobs
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with store.transaction() as connection:
            states = connection.execute(select(jobs.c.state, jobs.c.step).where(jobs.c.kind == "submission")).all()
        if any(s.state == "running" and s.step == step for s in states):
            return True
        if all(s.state == "done" for s in states):
            return False
        time.sleep(0.001)
    return False


FAST = [("server", "scoring"), ("worker", "saving")]


@pytest.mark.parametrize(
    ("victim", "step"),
    [
        pytest.param(v, s, marks=[] if (v, s) in FAST else pytest.mark.slow)
        for v in ("server", "worker")
        for s in ("reading", "checking", "scoring", "saving")
    ],
)
def test_whoever_is_killed_at_any_step_loses_nothing(tmp_path, victim, step):
    with running(tmp_path / "s.db", "--accounts") as site:
        id, sent = begun(site, 4)
        assert at_step(site, step), f"no submission was seen {step}"
        if victim == "server":
            site.stop(signal.SIGKILL)
            site.start()
        else:
            killed(site.workers())
        accounted(site, id, sent)


def filled(folder: Path) -> Path:
    """A file that takes all the room there is."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as out, suppress(OSError):
        for size in (65536, 4096, 512, 1):
            with suppress(OSError):
                while True:
                    out.write(b"x" * size)
    return filler


def test_a_disk_that_fills_while_submissions_wait(monkeypatch):
    """What was accepted before is scored after, though every step of the work meanwhile fails."""
    with small(48) as folder:
        monkeypatch.setenv("TMPDIR", str(folder))
        with running(folder / "s.db", "--accounts") as site:
            id, sent = begun(site, 5)
            filler = filled(folder)
            until(lambda: any('"event":"worker"' in line for line in site.said), "a worker that complains")
            filler.unlink()
            accounted(site, id, sent)


def sent_while_the_disk_fills(site: Site, folder: Path, rounds: int) -> tuple[str, list[str], int]:
    """A benchmark, the submissions that were accepted while its disk was full every other time, and how many were not."""
    site.token = site.admin
    admin = Visitor(site, site.token)
    id = benchmark(admin, labels(5_000))
    teams = [team(admin, id) for _ in range(3)]
    accepted, refused, content = list[str](), 0, dict[tuple[int, int], str]()
    for turn in range(rounds):
        filler = filled(folder) if turn % 2 else None
        for k, one in enumerate(teams):
            # Small ones find room in a page that is half empty; large ones meet the end of the disk in the middle.
            content[turn, k] = labels(5_000 if k else 10 + turn, wrong=7 * turn + k)
            answer = submit(one, id, content[turn, k], Idempotency_Key=f"{turn}")
            assert answer.status in (202, 503), answer.text
            assert str(folder) not in answer.text
            accepted += [answer.json["id"]] if answer.status == 202 else []
            refused += answer.status == 503
        if filler:
            filler.unlink()
            for k, one in enumerate(teams):
                again = submit(one, id, content[turn, k], Idempotency_Key=f"{turn}")
                assert again.status in (200, 202), again.text
                assert (again.status == 200) == (again.json["id"] in accepted)
                accepted += [again.json["id"]] if again.status == 202 else []
    return id, accepted, refused


def test_a_disk_that_fills_again_and_again(monkeypatch):
    """Store and uploads stand on a disk of their own: what it has room for is scored once, the rest leaves nothing."""
    with small(24) as folder:
        monkeypatch.setenv("TMPDIR", str(folder))
        with running(folder / "s.db", "--accounts") as site:
            id, accepted, refused = sent_while_the_disk_fills(site, folder, 6)
            assert refused >= 3
            assert len(accepted) == 18
            accounted(site, id, accepted)
        assert {f.name for f in folder.iterdir()} <= {"s.db", "s.db-wal", "s.db-shm"}


@pytest.mark.slow
def test_a_full_disk_of_postgres():
    """The same where the database is a server of its own."""
    with (
        server.running() as url,
        small(64) as folder,
        server.on_disk(url, folder) as address,
        running(address, "--accounts") as site,
    ):
        id, accepted, refused = sent_while_the_disk_fills(site, folder, 4)
        assert refused >= 1
        accounted(site, id, accepted)


@pytest.mark.slow
def test_no_worker_outlives_its_server(tmp_path):
    with running(tmp_path / "s.db") as site:
        pids = until(site.workers, "workers")
        site.stop(signal.SIGKILL)
        until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), "the end of the workers")


@pytest.mark.slow
def test_an_upload_that_breaks_off_leaves_nothing(tmp_path):
    with running(tmp_path / "s.db", "--accounts") as site:
        id, _ = begun(site, 0)
        one = team(Visitor(site, site.token), id)
        place = urlsplit(site.url)
        for how in ("client", "server"):
            with socket.create_connection((place.hostname, place.port)) as line:
                head = f"POST /api/benchmarks/{id}/submissions HTTP/1.1\r\nHost: {place.netloc}\r\n"
                line.sendall(
                    f"{head}Authorization: Bearer {one.token}\r\nContent-Length: 900000\r\n\r\n".encode()
                    + b"x" * 500_000
                )
                if how == "server":
                    site.stop(signal.SIGKILL)
        site.start()
        assert Visitor(site, site.token).get(f"/api/benchmarks/{id}/submissions").json["total"] == 0
        with open_store(str(tmp_path / "s.db")).transaction() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM web_files").scalar() == 1  # gold


def test_a_full_disk_refuses_and_later_takes():
    with small(24) as folder, running(folder / "s.db", "--accounts") as site:
        id, sent = begun(site, 1)
        accounted(site, id, sent)
        one = team(Visitor(site, site.token), id)
        filler = filled(folder)
        answer = submit(one, id, labels(20_000, wrong=77))
        assert (answer.status, answer.json["type"]) == (503, "urn:karat:problem:store")
        assert str(folder) not in answer.text
        filler.unlink()
        answer = submit(one, id, labels(20_000, wrong=77))
        assert answer.status == 202
        assert settled(one, answer)["state"] == "scored"


@pytest.mark.slow
@pytest.mark.parametrize("step", ["reading", "scoring", "saving"])
def test_postgres_may_be_restarted(step):
    with server.running() as url, running(url, "--accounts") as site:
        id, sent = begun(site, 5)
        assert at_step(site, step)
        folder = make_url(url).query["host"]
        binaries, user = server._binaries(), server._user()
        command = [str(binaries / "pg_ctl"), "-D", f"{folder}/data", "-w", "-m", "immediate", "restart"]
        subprocess.run(command, user=user, check=True, stdout=subprocess.DEVNULL, cwd=folder)
        accounted(site, id, sent)

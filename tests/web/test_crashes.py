# SPDX-License-Identifier: Apache-2.0
"""A submission that was accepted is scored once, whatever dies in between."""

from __future__ import annotations

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
from karat.web import tables
from tests.store import server
from tests.store.disk import small
from tests.web.site import Site, Visitor, labels, running, until
from tests.web.stories import benchmark, board, settled, submit, team

BOTH = pytest.mark.parametrize("address", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True)


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


@BOTH
def test_a_killed_worker_loses_nothing(address):
    with running(address, "--accounts") as site:
        id, sent = begun(site, 5)
        for _ in range(3):
            for pid in until(site.workers, "workers"):
                os.kill(pid, signal.SIGKILL)
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
            for pid in site.workers():
                os.kill(pid, signal.SIGKILL)
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


def test_a_full_disk_refuses_and_later_takes(tmp_path):
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

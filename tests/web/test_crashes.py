# SPDX-License-Identifier: Apache-2.0
"""A submission that was accepted is scored once, whatever dies in between."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from urllib.parse import urlsplit

import pytest
from sqlalchemy import make_url

from karat.store import open_store
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
        filler = folder / "filler"
        with filler.open("wb") as out:
            try:
                while True:
                    out.write(b"x" * 65536)
                    out.flush()
            except OSError:
                pass
        answer = submit(one, id, labels(20_000, wrong=77))
        assert (answer.status, answer.json["type"]) == (503, "urn:karat:problem:store")
        assert str(folder) not in answer.text
        filler.unlink()
        answer = submit(one, id, labels(20_000, wrong=77))
        assert answer.status == 202
        assert settled(one, answer)["state"] == "scored"


@pytest.mark.slow
def test_postgres_may_be_restarted():
    with server.running() as url, running(url, "--accounts") as site:
        id, sent = begun(site, 5)
        folder = make_url(url).query["host"]
        binaries, user = server._binaries(), server._user()
        command = [str(binaries / "pg_ctl"), "-D", f"{folder}/data", "-w", "-m", "immediate", "restart"]
        subprocess.run(command, user=user, check=True, stdout=subprocess.DEVNULL, cwd=folder)
        accounted(site, id, sent)

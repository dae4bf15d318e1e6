# SPDX-License-Identifier: Apache-2.0
"""Nothing lost and nothing half-written: killed writers, full disks, writers side by side."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from contextlib import closing

import pytest

from karat.store import Store, StoreError, open_store
from tests.store import disk, server
from tests.store.saver import evaluation


def saver(address: str, *numbers: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.saver", address, *map(str, numbers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return [line.strip() for line in process.stdout.read().splitlines() if line.strip() != "ready"]


def ids(store: Store) -> set[str]:
    return {run.id for run in store.list()}


def assert_whole(store: Store) -> None:
    """Every run that is listed can be read, matches its hash, and has all its parts."""
    for summary in store.list():
        run = store[summary.id]
        assert run.whole
        assert len(run.evaluation.systems) == 1
        assert set(summary.scores) == {"accuracy", "f1"}
        assert run.evaluate(["kappa"])["kappa"].value is not None


def test_killed_while_saving(address):
    store = open_store(address)
    random.seed(5)
    promised: list[str] = []
    for _ in range(4):
        process = saver(address, 10_000, 2_000)
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        lines = [process.stdout.readline().strip()]  # however slow the machine is, a run is kept before the end
        time.sleep(random.uniform(0.0, 0.3))
        process.kill()
        lines += said(process)
        process.wait()
        promised += [line for line in lines if len(line) == 12]
    assert len(promised) >= 4
    assert set(promised) <= ids(store)
    assert_whole(store)
    assert store.save(evaluation()).id in ids(store)


def test_two_processes_save_two_hundred_runs_each(address):
    both = [saver(address, 200) for _ in range(2)]
    saved = [said(process) for process in both]
    assert [process.wait() for process in both] == [0, 0]
    assert [len(lines) for lines in saved] == [200, 200]
    store = open_store(address)
    assert ids(store) == {line for lines in saved for line in lines}
    assert len(ids(store)) == 400


def test_threads_share_a_store(store):
    from concurrent.futures import ThreadPoolExecutor

    found = evaluation()
    with ThreadPoolExecutor(4) as pool:
        saved = [run.id for run in pool.map(lambda _: store.save(found), range(24))]
    assert ids(store) == set(saved)


def test_full_disk_on_sqlite(tmp_path):
    address = str(tmp_path / "runs.db")
    store = open_store(address)
    before = store.save(evaluation()).id
    lines = said(saver(address, 3, 100_000, 400_000))
    assert len(lines) == 3
    assert all(line.startswith("failed: the store") for line in lines)
    assert "nothing was changed" in lines[0]
    assert ids(store) == {before}
    assert_whole(store)
    assert store.save(evaluation()).id in ids(store)


def test_full_disk_on_postgres():
    with server.running(largest_file=17 * 2**20) as url:
        store = open_store(url)
        before = store.save(evaluation()).id
        huge = evaluation(50)
        huge.systems[0].cells.unit_ids = [random.randbytes(400).hex() for _ in range(50_000)]
        with pytest.raises(StoreError, match="nothing was changed"):
            store.save(huge)
        assert ids(store) == {before}
        assert_whole(store)
        assert store.save(evaluation()).id in ids(store)
        store.close()


def test_really_full_disk_on_sqlite():
    with disk.small(1) as folder:
        address = str(folder / "runs.db")
        store = open_store(address)
        before = store.save(evaluation()).id
        lines = said(saver(address, 2, 100_000))
        assert len(lines) == 2
        assert all("nothing was changed: database or disk is full" in line for line in lines)
        assert all("free some space" in line for line in lines)
        assert ids(open_store(address)) == {before}
        assert_whole(open_store(address))
        (folder / "rest").write_bytes(b"x" * 300_000)
        found = evaluation(2_000)
        with pytest.raises(StoreError, match="disk is full"):
            [store.save(found) for _ in range(500)]
        assert_whole(store)
        (folder / "rest").unlink()
        assert store.save(evaluation()).id in ids(store)


def test_really_full_disk_on_postgres(postgres):
    """The store's database stands on a small disk, the server's own files on another."""
    with disk.small(24) as folder, server.on_disk(postgres, folder) as url, closing(open_store(url)) as store:
        before = store.save(evaluation()).id
        huge = evaluation(50)
        huge.systems[0].cells.unit_ids = [random.randbytes(400).hex() for _ in range(60_000)]
        with pytest.raises(StoreError, match=r"nothing was changed.*No space left on device") as found:
            store.save(huge)
        assert "free some space" in str(found.value)
        assert ids(store) == {before}
        assert_whole(store)
        assert store.save(evaluation()).id in ids(store)


def test_store_that_cannot_be_written(tmp_path):
    path = tmp_path / "file"
    path.write_text("x")
    with pytest.raises(StoreError, match="cannot make the folder"):
        open_store(path / "runs.db").list()
    (tmp_path / "bad.db").write_text("this is text, not a database, and long enough to be read as one" * 20)
    bad = open_store(tmp_path / "bad.db")
    with pytest.raises(StoreError, match="not a database"):
        bad.list()


def test_no_server_is_said_without_the_password():
    with pytest.raises(StoreError, match="failed") as found:
        open_store("postgresql://me:secret@127.0.0.1:1/x").list()
    assert "secret" not in str(found.value)

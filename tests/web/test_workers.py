# SPDX-License-Identifier: Apache-2.0
"""A worker turn by turn, over a real store whose database fails where the test says."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import select, text

from karat.findings import InputError, finding
from karat.store import Store, open_store
from karat.web import benchmarks, boards, jobs, people, submissions, tables, work
from karat.web.limits import Limits
from karat.web.people import LOCAL
from karat.web.worker import Start, Turns
from tests.web.site import labels

SETTINGS = {"title": "T", "context": "monolabel", "metrics": ["accuracy"]}


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    found = open_store(tmp_path / "store.db")
    tables.prepare(found)
    yield found
    found.close()


def sent(
    store: Store, gold: str = "", content: str = "", teams: int = 1, **settings
) -> tuple[benchmarks.Benchmark, list[str]]:
    """A benchmark with a submission of each team, whose gold was looked at."""
    with store.transaction(write=True) as connection:
        gold_file = io.BytesIO((gold or labels(60)).encode())
        made = benchmarks.create(connection, LOCAL, SETTINGS | settings, gold_file, "gold.csv")
        ids = []
        for k in range(teams):
            person, _ = people.invite(connection, "participant", f"Team {k}", made.id)
            file = io.BytesIO((content or labels(60, wrong=3 + 10 * k)).encode())
            ids.append(submissions.take(connection, made, person, file, "run.csv")[0].id)
    return made, ids


def turns(store: Store, name: str = "one") -> Turns:
    return Turns(store, Start(store.address, name, Limits()))


def states(store: Store, ids: list[str]) -> list[str]:
    with store.transaction() as connection:
        return [submissions.find(connection, id).state for id in ids]


@contextmanager
def failing(store: Store, where: str) -> Iterator[None]:
    """The database refuses one kind of writing, as a full disk would."""
    with store.transaction(write=True) as connection:
        connection.execute(text(f"CREATE TRIGGER full BEFORE {where} BEGIN SELECT RAISE(ABORT, 'disk is full'); END"))
    yield
    with store.transaction(write=True) as connection:
        connection.execute(text("DROP TRIGGER full"))


@pytest.mark.parametrize("where", ["INSERT ON runs", "INSERT ON scores", "UPDATE OF scores ON web_submissions", "UPDATE OF step ON web_jobs"])  # fmt: skip
def test_what_a_failing_database_interrupts_is_done_again(store, where):
    _, ids = sent(store)
    worker = turns(store)
    assert worker.take()  # gold
    with failing(store, where):
        assert not worker.take()
        assert not worker.take()
    assert states(store, ids) == ["queued"]
    assert worker.take()
    assert states(store, ids) == ["scored"]
    assert store.count() == 1


def test_another_worker_does_not_take_what_one_has(store):
    sent(store)
    worker, other = turns(store), turns(store, "two")
    with store.transaction(write=True) as connection:
        assert jobs.claim(connection, "one")
        assert jobs.claim(connection, "two").kind == "submission"
        assert jobs.claim(connection, "three") is None
    assert not worker.take()
    assert not other.take()


def test_a_job_that_was_given_to_another_keeps_nothing(store):
    """A worker that was thought dead comes back with a result: the other one's counts."""
    _, ids = sent(store)
    worker = turns(store)
    worker.take()
    with failing(store, "INSERT ON runs"):
        worker.take()
    with store.transaction(write=True) as connection:
        connection.execute(tables.jobs.update().where(tables.jobs.c.worker == "one").values(worker="two"))
        job = connection.execute(select(tables.jobs.c.id).where(tables.jobs.c.worker == "two")).scalar()
        with pytest.raises(jobs.NotMine):
            jobs.finish(connection, job, "one")
    assert states(store, ids) == ["queued"]


def test_a_leaderboard_whose_teams_cannot_be_compared_still_stands(store):
    """Every unit alike gives no test anything to do; the ranks are there without ranges."""
    made, ids = sent(store, content=labels(60), teams=2)
    worker = turns(store)
    while worker.take():
        pass
    with store.transaction() as connection:
        found = boards.board(connection, made, "open")
    assert (found.settled, [r.rank for r in found.rows]) == (True, [1, 1])
    assert states(store, ids) == ["scored", "scored"]


def test_what_gold_lacks_is_nobodys_fault(store):
    """Gold that cannot be read costs no team anything."""
    made, ids = sent(store, gold="id,value\ni0,A\ni0,B\n")
    with store.transaction(write=True) as connection:
        connection.execute(tables.jobs.delete().where(tables.jobs.c.kind == "gold"))
    turns(store).take()
    assert states(store, ids) == ["failed"]
    with store.transaction() as connection:
        team = submissions.find(connection, ids[0]).team
        assert submissions.quota(connection, made, people.find(connection, team)).today == made.settings.per_day


def test_what_the_server_lacks_is_no_fault_of_a_file():
    """A disk without room for a join and memory without room for a file are the server's: no team pays for them as for errors."""
    with pytest.raises(OSError, match="No space left"):
        work._had_room(InputError([finding("disk-full", reason="No space left on device")]))
    with pytest.raises(MemoryError):
        work._had_room(InputError([finding("out-of-memory", reason="failed to allocate")]))
    work._had_room(InputError([finding("packed-twice", "a.gz")]))

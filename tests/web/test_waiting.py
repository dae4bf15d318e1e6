# SPDX-License-Identifier: Apache-2.0
"""Who waits for whom: writers for one another, pages for nobody."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from karat.store import open_store
from tests.web.site import Visitor, labels, running, until
from tests.web.stories import benchmark, settled, submit, team

MANY = 60
"""Submissions at once: more than any pool of threads has."""


def test_pages_do_not_wait_for_those_who_write(tmp_path):
    with running(tmp_path / "s.db", "--accounts") as site:
        admin = Visitor(site, site.admin)
        id = benchmark(admin)
        until(lambda: admin.get(f"/api/benchmarks/{id}/gold").json["state"] == "done", "the look at gold")
        one = team(admin, id)
        with ThreadPoolExecutor(MANY) as pool:
            with open_store(site.store).transaction(write=True):  # nobody else writes as long as this is open
                answers = [pool.submit(submit, one, id, labels(60, wrong=k % 50)) for k in range(MANY)]
                time.sleep(2)
                assert not any(a.done() for a in answers)
                began = time.monotonic()
                for path in ("/", f"/benchmarks/{id}", "/runs", f"/api/benchmarks/{id}/leaderboard"):
                    assert admin.page(path).status == 200
                assert time.monotonic() - began < 15
            sent = [a.result() for a in answers]
        assert {a.status for a in sent} == {200, 202}  # some of them are the same
        assert settled(one, sent[0])["state"] == "scored"


def test_a_page_of_many_teams_looks_its_metric_up_once(monkeypatch):
    """Parsing a metric for every row made a leaderboard of 50 teams seven times as slow."""
    from karat.web import boards
    from karat.web.benchmarks import Benchmark, Settings
    from karat.web.submissions import Submission

    asked = list[str]()
    real = boards.catalogue
    monkeypatch.setattr(boards, "catalogue", lambda name: asked.append(name) or real(name))
    contest = Benchmark("b", "", "", "", Settings("T", "monolabel", ["accuracy"]))
    rows = [Submission(f"{k}", "b", "t", "s", "open", "", "", "", "scored", "", None, {"accuracy": k / 100}, []) for k in range(50)]  # fmt: skip
    order = boards.best_first(contest)
    assert [s.id for s in sorted(rows, key=order)][:2] == ["49", "48"]
    assert len(asked) == 1


def test_threads_share_a_store_that_stays_open(tmp_path):
    import karat

    store = open_store(tmp_path / "s.db", pooled=True)
    found = karat.evaluate(["A", "B"], ["A", "A"], metrics=["accuracy"])
    failures = list[BaseException]()

    def work() -> None:
        try:
            for _ in range(5):
                assert store[store.save(found).id].whole
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert store.count() == 60
    store.close()
    assert [f.name for f in tmp_path.iterdir()] == ["s.db"]


def test_a_store_that_stays_open_notices_another_file_in_its_place(tmp_path):
    import karat

    found = karat.evaluate(["A", "B"], ["A", "A"], metrics=["accuracy"])
    store, other = open_store(tmp_path / "s.db", pooled=True), open_store(tmp_path / "other.db")
    store.save(found)
    kept = other.save(found).id
    for ending in ("", "-wal", "-shm"):
        (tmp_path / f"s.db{ending}").unlink(missing_ok=True)
    (tmp_path / "other.db").rename(tmp_path / "s.db")
    assert [run.id for run in store.list()] == [kept]
    store.save(found)
    assert open_store(tmp_path / "s.db").count() == 2

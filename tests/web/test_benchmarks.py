# SPDX-License-Identifier: Apache-2.0
"""Benchmarks over REST: quotas, duplicates, phases, leaderboards, withdrawing, export and import."""

from __future__ import annotations

from tests.web.site import Visitor, labels, running
from tests.web.stories import GOLD, benchmark, board, settled, submit, team


def test_two_teams_submit_and_stand_on_the_leaderboard(admin):
    id = benchmark(admin)
    good, poor = team(admin, id, "Good"), team(admin, id, "Poor")
    first, second = submit(good, id, labels(60, wrong=3)), submit(poor, id, labels(60, wrong=40))
    assert (first.status, second.status) == (202, 202)
    assert settled(good, first)["scores"] == {"accuracy": 0.95, "f1": 0.95}
    assert settled(poor, second)["state"] == "scored"
    rows = board(Visitor(admin.site), id)["rows"]
    assert [(r["rank"], r["team"], r["low"], r["high"], r["group"]) for r in rows] == [
        (1, "Good", 1, 1, "a"),
        (2, "Poor", 2, 2, "b"),
    ]


def test_a_broken_file_costs_nothing_and_is_told_all_its_findings(admin):
    id = benchmark(admin, per_day=1)
    one = team(admin, id)
    for broken in ("id,value\ni1,A\ni1,B\ni2,\n", "", '[{"id": "i1", '):
        answer = submit(one, id, broken)
        if answer.status == 202:
            found = settled(one, answer)
            assert found["state"] == "refused"
            assert found["findings"]
            assert {f["file"] for f in found["findings"]} == {"run.csv"}
        else:
            assert answer.status == 422
    assert settled(one, submit(one, id, labels(60)))["state"] == "scored"
    assert submit(one, id, labels(60, wrong=1)).json["type"] == "urn:karat:problem:quota"


def test_the_same_file_twice_is_free_and_says_so(admin):
    id = benchmark(admin, per_day=1)
    one = team(admin, id)
    first = submit(one, id, GOLD)
    settled(one, first)
    again = submit(one, id, GOLD)
    assert (again.status, again.json["duplicate"], again.json["id"]) == (200, True, first.json["id"])


def test_an_idempotency_key_gives_the_same_submission(admin):
    id = benchmark(admin)
    one = team(admin, id)
    first = submit(one, id, GOLD, Idempotency_Key="once")
    again = submit(one, id, GOLD, Idempotency_Key="once")
    assert first.json["id"] == again.json["id"]
    other = submit(one, id, labels(60, wrong=1), Idempotency_Key="once")
    assert (other.status, other.json["type"]) == (422, "urn:karat:problem:key-reused")


def test_a_closed_phase_takes_nothing(admin):
    id = benchmark(admin, phases=[{"name": "past", "end": "2020-01-01"}, {"name": "future", "start": "2999-01-01"}])
    assert submit(team(admin, id), id, GOLD).json["type"] == "urn:karat:problem:closed"


def test_phases_have_leaderboards_of_their_own(admin):
    id = benchmark(admin, phases=[{"name": "dev"}])
    one = team(admin, id)
    settled(one, submit(one, id, GOLD))
    admin.ask("PATCH", f"/api/benchmarks/{id}", {"phases": [{"name": "dev", "end": "2020-01-01"}, {"name": "test"}]})
    assert board(admin, id)["rows"] == []
    assert settled(one, submit(one, id, GOLD))["phase"] == "test"
    rows = admin.get(f"/api/benchmarks/{id}/leaderboard?phase=dev").json["rows"]
    assert [r["scores"]["accuracy"] for r in rows] == [1.0]


def test_the_best_or_the_last_submission_of_a_team_counts(admin):
    for pick, expected in (("best", 1.0), ("last", 0.5)):
        id = benchmark(admin, pick=pick)
        one = team(admin, id)
        for wrong in (0, 30):
            settled(one, submit(one, id, labels(60, wrong=wrong)))
        assert board(admin, id)["rows"][0]["scores"]["accuracy"] == expected


def test_a_withdrawn_submission_leaves_the_leaderboard(admin):
    id = benchmark(admin)
    one = team(admin, id)
    sent = settled(one, submit(one, id, GOLD))
    assert one.ask("POST", f"/api/submissions/{sent['id']}", {"what": "withdraw"}).status == 403
    assert admin.ask("POST", f"/api/submissions/{sent['id']}", {"what": "withdraw"}).json["state"] == "withdrawn"
    assert board(admin, id)["rows"] == []


def test_export_and_import_on_another_store(admin, tmp_path):
    id = benchmark(admin)
    one, two = team(admin, id, "One"), team(admin, id, "Two")
    settled(one, submit(one, id, labels(60, wrong=5)))
    settled(two, submit(two, id, labels(60, wrong=25)))
    settled(two, submit(two, id, "id,value\ni1,A\ni1,B\n"))
    before = board(admin, id)["rows"]
    archive = admin.get(f"/api/benchmarks/{id}/export").body
    with running(tmp_path / "other.db", "--accounts") as site:
        there = Visitor(site, site.admin)
        made = there.ask("POST", "/api/benchmarks/import", archive, Content_Type="application/octet-stream")
        assert made.status == 201, made.text
        assert board(there, id)["rows"] == before
        assert there.get(f"/api/benchmarks/{id}/submissions").json["total"] == 3
        assert Visitor(site, one.token).get(f"/api/benchmarks/{id}").status == 401
        teams = there.get(f"/api/benchmarks/{id}/teams").json["teams"]
        fresh = there.ask("POST", f"/api/benchmarks/{id}/teams/{teams[0]['id']}").json["token"]
        assert submit(Visitor(site, fresh), id, labels(60)).status == 202
        assert there.ask("POST", "/api/benchmarks/import", archive[:900]).status == 422

# SPDX-License-Identifier: Apache-2.0
"""Hidden gold stays hidden: what a participant, a stranger and a reader try, by every route and with every trick."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from karat.store import open_store
from karat.web import benchmarks, jobs, submissions
from tests.web.site import Site, Visitor, table
from tests.web.stories import benchmark, settled, submit, team

LABEL, ITEM, CASE = "zebra-label", "secret-item-77", "secret-case-5"
"""What only gold knows: a label, an id and a test case."""
N = 83
"""Gold units, a number that must not be told."""
EXACT = 64 / 83
OTHER = "rival-system-output"


@pytest.fixture(scope="module")
def hidden(guarded: Site) -> dict[str, Any]:
    """A benchmark whose gold holds secrets, with two teams that have submitted."""
    admin = Visitor(guarded, guarded.admin)
    rows = {f"u{i}": "yes" if i % 2 else "no" for i in range(N - 2)} | {ITEM: LABEL, "u900": "no"}
    gold = "test_case,id,value\n" + "".join(f"{CASE},{k},{v}\n" for k, v in rows.items())
    id = benchmark(admin, gold, title="Hidden", metrics=["accuracy", "kappa"], digits=2)
    one, two = team(admin, id, "Mine"), team(admin, id, "Rival")
    right = {k: v for i, (k, v) in enumerate(rows.items()) if k != ITEM and i < 64}
    wrong = {k: "no" if v == "yes" else "yes" for k, v in rows.items() if k not in right and k != ITEM}
    sent = settled(one, submit(one, id, as_case(right | wrong), "mine.csv"))
    theirs = settled(two, submit(two, id, as_case(dict.fromkeys(right, OTHER)), "theirs.csv"))
    run = admin.get(f"/api/submissions/{sent['id']}").json["run"]
    with open_store(guarded.store).transaction() as connection:
        job = submissions.find(connection, sent["id"]).job
        check = jobs.latest(connection, f"gold {id}").id
        file = benchmarks.find(connection, id).gold
    reader = admin.ask("POST", "/api/tokens", {"role": "reader", "name": "Reader"}).json["token"]
    organiser = admin.ask("POST", "/api/tokens", {"role": "organiser", "name": "Other"}).json["token"]
    return {
        "id": id, "one": one, "two": two, "sent": sent["id"], "theirs": theirs["id"], "run": run, "job": job, "check": check, "file": file, "admin": admin,
        "reader": Visitor(guarded, reader), "organiser": Visitor(guarded, organiser), "nobody": Visitor(guarded),
    }  # fmt: skip


def as_case(rows: dict[str, str]) -> str:
    return "test_case,id,value\n" + "".join(f"{CASE},{k},{v}\n" for k, v in rows.items())


ROUTES = [
    "/runs", "/runs/{run}", "/runs/{run}/report.json", "/runs/{run}/report.tsv", "/runs/{run}/report.html",
    "/runs/{run}/units", "/runs/{run}/units?kind=all&as=tsv", "/runs/{run}/unit?case=&id=u1", "/runs/{run}/verify",
    "/runs/{short}", "/runs/latest", "/runs/hidden-gold", "/compare?run={run}", "/compare?run={run}&as=json",
    "/api/runs", "/api/runs?tag=hidden-gold", "/api/runs/{run}", "/api/runs/latest", "/api/runs/hidden-gold", "/api/runs/{short}",
    "/api/runs/{run}/units?kind=all", "/api/comparison?run={run}", "/benchmarks/{id}", "/benchmarks/{id}/manage",
    "/benchmarks/{id}/submissions", "/benchmarks/{id}/export", "/benchmarks/{id}/leaderboard.json",
    "/benchmarks/{id}/leaderboard.tex", "/submissions/{sent}", "/submissions/{theirs}", "/api/benchmarks/{id}",
    "/api/benchmarks/{id}/leaderboard", "/api/benchmarks/{id}/submissions", "/api/benchmarks/{id}/export",
    "/api/benchmarks/{id}/teams", "/api/submissions/{sent}", "/api/submissions/{theirs}", "/api/tokens", "/api/audit",
    "/tokens", "/", "/benchmarks", "/health", "/api/jobs/{job}", "/jobs/{job}", "/evaluate/{job}", "/api/openapi.json",
    "/api/jobs/{check}", "/jobs/{check}", "/evaluate/{check}", "/runs/{run}/table.tsv?table=Inputs", "/runs/{run}/table.json?table=Confusion+matrix&system=mine.csv",
    "/runs/{run}/report.md?by=class", "/runs/{run}/unit?case=&id=u1&as=json", "/runs/{run}/units?kind=all&gold=zebra-label", "/api/runs/{run}/unit?case=&id=u1",
    "/api/runs/{run}/verify", "/runs/{run}/verify?as=json", "/compare?run=latest", "/compare?run=hidden-gold", "/api/comparison?run={short}&run=latest",
    "/compare?run={run}&as=tsv&table=Inputs", "/runs?tag=hidden-gold&as=tsv", "/runs?metric=kappa", "/api/runs?without=", "/api/runs?context=monolabel&limit=200",
    "/benchmarks/{id}/manage?as=json", "/benchmarks/{id}/submissions?team=", "/benchmarks/{id}/submissions?team=%25", "/api/benchmarks/{id}/submissions?team=all&limit=200",
    "/benchmarks/{id}/leaderboard.json?phase=open", "/benchmarks/{id}/leaderboard.html", "/benchmarks/{id}?phase=closed", "/api/benchmarks/{id}/gold", "/api/benchmarks/{id}/gold?name=x",
    "/files/{file}", "/api/files/{file}", "/gold/{file}", "/submissions/{sent}?as=json", "/submissions/{theirs}/file", "/submissions/{file}", "/tokens?as=json&table=audit", "/api/audit?limit=200",
    "/static/x/karat.css/../../../store.db", "/static/x/..%2f..%2fstore.db", "/runs/..%2f..%2fetc%2fpasswd", "/metrics/..%2f..%2fetc", "/%2e%2e/%2e%2e/etc/passwd", "/api/runs/{run}/../{run}",
    "/static/x/../../gold.csv", "/runs/{run}%2funits", "//runs/{run}", "/api//runs/{run}",
]  # fmt: skip


def told(text: str) -> list[str]:
    """Secrets of gold, and what is finer than rounded scores, in what a server says."""
    signs = {
        "label": LABEL, "item": ITEM, "rival": OTHER, "exact": repr(EXACT)[:7], "count": f'"gold":{N}', "of": f"of {N}",
        "coverage": "gold_only", "path": "/tmp/", "trace": "Traceback",
    }  # fmt: skip
    return [name for name, sign in signs.items() if sign in text]


@pytest.mark.parametrize("who", ["one", "nobody", "reader", "organiser"])
@pytest.mark.parametrize("route", ROUTES)
def test_no_route_tells_a_secret(hidden, who, route):
    visitor: Visitor = hidden[who]
    path = route.format(**hidden, short=hidden["run"][:6])
    for accept in ("text/html", "application/json"):
        answer = visitor.ask("GET", path, Accept=accept)
        assert told(answer.text) == [], answer.text[:500]
        assert answer.status < 500
        assert "etag" not in answer.headers
        assert "last-modified" not in answer.headers


def test_the_organiser_does_see_it(hidden):
    """The signs are signs: where they may be seen, they are."""
    text = hidden["admin"].get(f"/api/runs/{hidden['run']}").text
    assert {"exact", "coverage"} <= set(told(text))
    assert "label" in told(hidden["admin"].get(f"/api/runs/{hidden['run']}/units?kind=all&limit=200").text)


PROBES = {
    "one known id": {"u1": "yes"},
    "one unknown id": {"nowhere": "yes"},
    "ids alike": {"U1": "yes", "u01": "yes"},
    "a gold label": {"u1": LABEL},
    "the secret id": {ITEM: "yes"},
    "all missing but one": {ITEM: LABEL},
    "labels nobody uses": {"u1": "qqq", "u2": "qqq"},
    "other test cases": {},
}


@pytest.mark.parametrize("probe", PROBES)
def test_no_finding_depends_on_gold(hidden, probe):
    """Files alike in form are told the same, whatever gold holds."""
    text = as_case(PROBES[probe]) if PROBES[probe] else table({"u1": "yes"})
    found = settled(hidden["one"], submit(hidden["one"], hidden["id"], text, "probe.csv"))
    said = json.dumps(found["findings"])
    assert told(said.replace(ITEM, "") if ITEM in text else said) == []
    assert not re.search(r"\b(gold-only|pred-only|no-common|ids-alike|label-not-in-gold|test-case)", said)
    assert {f["code"] for f in found["findings"]} <= {"not-scored"}
    assert all(f["line"] is None or f["file"] == "probe.csv" for f in found["findings"])


def test_a_file_without_a_common_id_is_no_free_oracle(hidden):
    """It costs a submission, so that ids cannot be guessed one by one."""
    admin = hidden["admin"]
    id = benchmark(admin, per_day=1)
    one = team(admin, id)
    assert settled(one, submit(one, id, table({"nowhere": "A"})))["state"] == "unscored"
    assert submit(one, id, table({"i1": "A"})).status == 429


def test_scores_are_rounded_everywhere(hidden):
    one = hidden["one"]
    rows = one.get(f"/api/benchmarks/{hidden['id']}/leaderboard").json["rows"]
    shown = [one.get(f"/api/submissions/{hidden['sent']}").json["scores"], *(r["scores"] for r in rows)]
    assert [v for scores in shown for v in scores.values() if v != round(v, 2)] == []
    pages = [one.page(p).text for p in (f"/submissions/{hidden['sent']}", f"/benchmarks/{hidden['id']}")]
    assert re.findall(r">\s*[01]\.\d{3,}", " ".join(pages)) == []


def test_ranks_are_those_of_rounded_scores(guarded):
    """Of two scores that round alike, neither stands before the other."""
    admin = Visitor(guarded, guarded.admin)
    rows = {f"i{k}": "AB"[k % 2] for k in range(1000)}
    id = benchmark(admin, table(rows), metrics=["accuracy"], digits=1)
    for name, wrong in (("First", 12), ("Second", 10)):
        one = team(admin, id, name)
        settled(one, submit(one, id, table({k: "x" if int(k[1:]) < wrong else v for k, v in rows.items()})))
    shown = admin.get(f"/api/benchmarks/{id}/leaderboard").json["rows"]
    assert [(r["rank"], r["team"], r["scores"]["accuracy"]) for r in shown] == [(1, "First", 1.0), (1, "Second", 1.0)]


def test_blind_scores_are_told_to_nobody(guarded):
    admin = Visitor(guarded, guarded.admin)
    id = benchmark(admin, board="blind")
    one = team(admin, id)
    sent = settled(one, submit(one, id, table({"i0": "A", "i1": "B"})))
    assert (sent["state"], sent["scores"]) == ("scored", {})
    for path in (f"/submissions/{sent['id']}", f"/benchmarks/{id}"):
        assert not re.search(r">\s*0\.\d", one.page(path).text)
    assert one.get(f"/api/benchmarks/{id}/leaderboard").status == 403
    assert one.get(f"/benchmarks/{id}/leaderboard.tsv").status == 403
    admin.ask("PATCH", f"/api/benchmarks/{id}", {"board": "public"})
    assert one.get(f"/api/submissions/{sent['id']}").json["scores"]


def test_a_hidden_board_shows_each_team_its_own(guarded):
    admin = Visitor(guarded, guarded.admin)
    id = benchmark(admin, board="hidden", board_from="2999-01-01")
    one = team(admin, id)
    assert settled(one, submit(one, id, table({"i0": "A", "i1": "B"})))["scores"]
    assert one.get(f"/api/benchmarks/{id}/leaderboard").status == 403
    admin.ask("PATCH", f"/api/benchmarks/{id}", {"board_from": "2020-01-01"})
    assert one.get(f"/api/benchmarks/{id}/leaderboard").status == 200


@pytest.mark.parametrize("who", ["one", "nobody", "reader", "organiser"])
def test_nobody_else_changes_a_benchmark(hidden, who):
    visitor, id = hidden[who], hidden["id"]
    team = hidden["admin"].get(f"/api/benchmarks/{id}/teams").json["teams"][0]["id"]
    tries = [
        ("PATCH", f"/api/benchmarks/{id}", {"board": "public"}), ("POST", f"/api/benchmarks/{id}/teams", {"name": "Spy"}),
        ("POST", f"/api/benchmarks/{id}/teams/{team}", {}), ("DELETE", f"/api/benchmarks/{id}/teams/{team}", None),
        ("POST", f"/api/submissions/{hidden['theirs']}", {"what": "withdraw"}), ("DELETE", f"/api/runs/{hidden['run']}", None),
        ("POST", "/api/tokens", {"role": "admin", "name": "Spy"}),
    ]  # fmt: skip
    for method, path, body in tries:
        assert visitor.ask(method, path, body).status in (401, 403, 404), (method, path)


def test_a_team_of_one_benchmark_knows_no_other(hidden, guarded):
    admin = Visitor(guarded, guarded.admin)
    elsewhere = team(admin, benchmark(admin))
    for path in (
        "/api/benchmarks/{id}",
        "/benchmarks/{id}",
        "/api/benchmarks/{id}/leaderboard",
        "/api/submissions/{sent}",
    ):
        assert elsewhere.get(path.format(**hidden)).status == 404
    assert submit(elsewhere, hidden["id"], table({"u1": "yes"})).status == 404


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "POST"])
def test_no_other_method_tells_a_secret(hidden, method):
    """Nor does the length of an answer: what is hidden answers as what is not there."""
    one: Visitor = hidden["one"]
    for path, nowhere in (("/runs/{run}", "/runs/000000000000"), ("/api/runs/{run}", "/api/runs/000000000000"), ("/submissions/{theirs}", "/submissions/" + "0" * 24), ("/api/jobs/{job}", "/api/jobs/" + "0" * 24), ("/jobs/{check}", "/jobs/" + "0" * 24)):  # fmt: skip
        seen = []
        for place in (path.format(**hidden), nowhere):
            answer = one.ask(method, place, X_HTTP_Method_Override="GET", Range="bytes=0-10")
            assert told(answer.text) == []
            assert 400 <= answer.status < 500
            seen.append((answer.status, answer.headers.get("content-length"), answer.body))
        assert seen[0] == seen[1], path


@pytest.mark.parametrize(
    "header",
    [
        {"X_Forwarded_For": "127.0.0.1"}, {"X_Forwarded_Host": "localhost"}, {"Forwarded": "for=127.0.0.1;host=localhost"}, {"X_Real_IP": "127.0.0.1"},
        {"X_Original_URL": "/api/audit"}, {"X_Rewrite_URL": "/api/audit"}, {"Host": "localhost"}, {"Referer": "http://localhost/tokens"}, {"Origin": "null"},
        {"Cookie": "karat=; role=admin; admin=1"}, {"If_None_Match": "*"}, {"If_Modified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"}, {"Accept": "*/*;q=0"},
    ],
)  # fmt: skip
def test_no_header_opens_a_door(hidden, header):
    one: Visitor = hidden["one"]
    for path in ("/api/audit", "/api/runs/{run}", "/benchmarks/{id}/export", "/api/submissions/{theirs}", "/api/benchmarks/{id}/gold"):  # fmt: skip
        answer = one.get(path.format(**hidden), **header)
        assert answer.status in (401, 403, 404), (path, header)
        assert told(answer.text) == []


def test_words_beside_a_token_make_nobody_an_organiser(hidden):
    """Neither fields of a form nor a token spelt otherwise do."""
    one: Visitor = hidden["one"]
    for token in (f"{one.token} ", f"{one.token}\t", one.token.upper(), f"{one.token},{one.token}", "null", "*", "%", "' OR 1=1 --"):  # fmt: skip
        answer = Visitor(one.site).ask("GET", "/api/audit", Authorization=f"Bearer {token}")
        assert answer.status in (401, 403, 429), token
    sent = one.ask("POST", f"/api/benchmarks/{hidden['id']}/submissions?name=x.csv&team={hidden['theirs']}&role=admin&state=scored&run={hidden['run']}", as_case({"u3": "yes"}).encode())  # fmt: skip
    assert sent.status == 202
    assert {"run", "team", "job"} & set(sent.json) == set()
    for body in ({"what": "again"}, {"what": "withdraw"}, {"state": "scored"}):
        assert one.ask("POST", f"/api/submissions/{hidden['sent']}", body).status in (403, 404, 422)


def test_the_same_key_of_another_team_is_another_key(hidden):
    """Idempotency keys are each team's own: nobody learns of another's submission by guessing its key."""
    one, two = hidden["one"], hidden["two"]
    first = submit(two, hidden["id"], as_case({"u5": "yes"}), "a.csv", Idempotency_Key="guess")
    again = submit(one, hidden["id"], as_case({"u5": "yes"}), "a.csv", Idempotency_Key="guess")
    assert (first.status, again.status) == (202, 202)
    assert first.json["id"] != again.json["id"]


def test_the_place_in_the_queue_is_no_ones_name(hidden):
    """A page of one's own submission tells how many wait, and not who."""
    one = hidden["one"]
    page = one.page(f"/submissions/{hidden['sent']}").text
    assert "Rival" not in page
    assert hidden["theirs"] not in page


def test_nobody_is_scored_on_the_items_that_he_chooses(hidden):
    """With missing=skip a file of one item would be told that item's score."""
    admin = hidden["admin"]
    given = {"title": "Chosen", "context": "monolabel", "metrics": ["accuracy"], "options": {"missing": "skip"}}
    made = admin.upload(
        "/api/benchmarks", gold=("gold.csv", table({"u1": "yes", "u2": "no"})), settings=json.dumps(given)
    )
    assert made.status == 422
    assert "missing=skip" in made.text
    one = hidden["one"]
    alone = [settled(one, submit(one, hidden["id"], as_case({u: "yes"}), "one.csv"))["scores"] for u in ("u11", "u12")]
    assert alone[0]["accuracy"] <= 0.01
    assert alone[1]["accuracy"] <= 0.01

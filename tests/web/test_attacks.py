# SPDX-License-Identifier: Apache-2.0
"""Attacks on the server itself: each test is one thing that somebody would try."""

from __future__ import annotations

import io
import json
import re
import socket
import time
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import karat
from karat.store import open_store
from karat.web import archive, benchmarks, people, submissions, tables
from karat.web.limits import Limits
from karat.web.people import LOCAL, NOBODY
from karat.web.problems import Problem
from tests.web.inside import Inside
from tests.web.site import Visitor, labels, table, until
from tests.web.stories import GOLD, benchmark, board, organiser, settled, submit, team

SETTINGS = {"title": "T", "context": "monolabel", "metrics": ["accuracy"]}


@pytest.fixture
def inside(tmp_path) -> Inside:
    return Inside(tmp_path / "store.db")


def token(inside: Inside, role: str, name: str, benchmark: str = "") -> str:
    with inside.store.transaction(write=True) as connection:
        return people.invite(connection, role, name, benchmark)[1]


def made(inside: Inside, title: str, owner: people.Person = LOCAL) -> benchmarks.Benchmark:
    with inside.store.transaction(write=True) as connection:
        return benchmarks.create(connection, owner, SETTINGS | {"title": title}, io.BytesIO(GOLD.encode()), "gold.csv")


# files of the server


@pytest.mark.parametrize("secret", ["/etc/passwd", "/nowhere/at/all", "gold.csv"])
def test_an_option_is_no_way_to_open_a_file(admin, secret):
    """A label tree on the command line is a path; from a client it never is."""
    settings = SETTINGS | {"options": {"hierarchy": secret}}
    answers = [
        admin.upload("/api/benchmarks", gold=("g.csv", GOLD), settings=json.dumps(settings)),
        admin.upload("/api/evaluations", gold=("g.csv", GOLD), systems=("s.csv", GOLD), context="monolabel", options=json.dumps(settings["options"])),
        admin.ask("PATCH", f"/api/benchmarks/{benchmark(admin)}", {"options": settings["options"]}),
    ]  # fmt: skip
    for answer in answers:
        assert answer.status == 422
        assert "root:" not in answer.text
        assert "no such" not in answer.text.lower()


def test_a_label_tree_is_sent(admin):
    tree = ("tree.json", json.dumps({"top": ["A", "B"], "C": []}))
    fields = {"gold": ("g.csv", GOLD), "systems": ("s.csv", labels(60, wrong=6)), "context": "monolabel"}
    job = admin.upload("/api/evaluations", **fields, hierarchy=tree, metric="hierarchical_f1").json
    done = until(lambda: (j := admin.get(f"/api/jobs/{job['id']}").json)["state"] not in ("queued", "running") and j)
    assert done["state"] == "done", done
    report = admin.get(f"/api/runs/{done['result']['run']}").json["report"]
    assert report["provenance"]["plan"]["options"]["hierarchy"] == {"C": {}, "top": {"A": {}, "B": {}}}
    bad = admin.upload("/api/evaluations", **fields, hierarchy=("../tree.json", '{"a": {"b": ["a"]}}'))
    assert (bad.status, {f["file"] for f in bad.json["findings"]}) == (422, {"tree.json"})
    assert "/tmp" not in bad.text
    deep = admin.upload("/api/evaluations", **fields, hierarchy=("t.json", "[" * 50_000 + "]" * 50_000))
    assert deep.status == 422


# what is read of strangers


def test_the_file_of_a_stranger_is_not_read(guarded):
    """Nobody without a token makes the server take megabytes: the answer comes before the body is sent."""
    place = urlsplit(guarded.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as line:
        head = f"POST /api/evaluations HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: 60000000\r\n\r\n"
        line.sendall(head.encode())
        assert b" 401 " in line.recv(4096).split(b"\r\n")[0]


def test_a_stranger_sends_a_token_and_no_more(guarded):
    answer = Visitor(guarded).form("/sign-in", token="x" * 100_000)
    assert answer.status == 413


def test_a_body_that_does_not_come_is_given_up(tmp_path):
    inside = Inside(tmp_path / "store.db", patience=0.05)
    status, _, body = inside.ask("POST", "/sign-in", body=b"token=x", pause=0.5, content_type="application/x-www-form-urlencoded")  # fmt: skip
    assert (status, json.loads(body)["type"]) == (408, "urn:karat:problem:too-slow")


# texts that nobody can keep


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data; boundary=x; charset=idna", b'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n\xff.\r\n--x--\r\n'),
        ("multipart/form-data; boundary=x; charset=zip", b'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nx\r\n--x--\r\n'),
        ("multipart/form-data; boundary=x; charset=unicode_escape", b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n\\ud800\r\n--x--\r\n'),
        ("multipart/form-data", b"--x\r\n"), ("multipart/form-data; boundary=", b""), ("application/x-www-form-urlencoded", b"csrf=%00&name=%ff%fe"),
        ("application/json", b'{"name": "\\u0000"}'), ("application/json", b'{"name": "\\ud800"}'), ("application/json", b"[" * 100_000),
        ("application/json", b"\xff\xfe"), ("application/json", b"1e999999"), ("", b"\x00"),
    ],
)  # fmt: skip
def test_bodies_of_which_nobody_can_make_sense(admin, kind, body):
    id = benchmark(admin)
    for path in (
        "/api/tokens",
        f"/api/benchmarks/{id}/teams",
        "/tokens",
        f"/benchmarks/{id}/manage",
        "/api/benchmarks",
    ):
        answer = admin.ask("POST", path, body, Content_Type=kind)
        assert 400 <= answer.status < 500, (path, answer.text)


@pytest.mark.parametrize("path", ["/api/runs/%00", "/runs/%00", "/api/benchmarks/%00", "/api/runs?tag=%00", "/metrics?q=%00", "/api/submissions/a%00b"])  # fmt: skip
def test_addresses_that_no_database_can_look_for(admin, path):
    assert admin.get(path).status == 400


def test_settings_without_nul_and_halves_of_characters(admin):
    id = benchmark(admin)
    for text in ('{"description": "a\\u0000b"}', '{"description": "\\ud83d"}'):
        assert admin.ask("PATCH", f"/api/benchmarks/{id}", text.encode()).status in (400, 422)
    assert admin.ask("PATCH", f"/api/benchmarks/{id}", {"description": "𝔘nicode 😀"}).status == 200
    one = team(admin, id)
    sent = one.ask("POST", f"/api/benchmarks/{id}/submissions?name=x&system=a%0d%0ab%07c", GOLD.encode()).json
    assert sent["system"] == "a b c"


# what takes time


def test_a_hidden_run_and_one_that_is_not_there_take_the_same(inside):
    """The same statements are asked of the store, so that no clock tells them apart."""
    hidden = inside.store.save(karat.evaluate(["A", "B"], ["A", "A"], units=True), [tables.HIDDEN]).id
    contest = made(inside, "Hidden")
    with inside.store.transaction(write=True) as connection:
        rival, _ = people.invite(connection, "participant", "Rival", contest.id)
        sent, _ = submissions.take(connection, contest, rival, io.BytesIO(GOLD.encode()), "run.csv")
        submissions.settle(connection, sent.id, "scored", run=hidden, scores={"accuracy": 0.5}, findings=[])
    readers = {role: token(inside, role, role) for role in ("reader", "organiser")}
    mine = token(inside, "participant", "Mine", contest.id)
    tries = [(t, "/api/runs/{}", hidden, "0" * 12) for t in readers.values()]
    tries += [
        (mine, "/api/submissions/{}", sent.id, "0" * 24),
        (mine, "/api/benchmarks/{}", made(inside, "Other").id, "no"),
    ]
    for who, path, there, nowhere in tries:
        seen = []
        for name in (there, nowhere):
            with inside.questions() as asked:
                status, answer = inside.json("GET", path.format(name), who)
            seen.append((status, answer, list(asked)))
        assert seen[0] == seen[1]
        assert seen[0][0] == 404


def test_a_token_is_found_by_its_hash_alone(inside):
    """No part of a token, however much of it is right, is nearer than none."""
    whole = token(inside, "reader", "R")
    for wrong in (whole[:-1], whole + "x", whole.upper(), whole[:20], "", "karat_"):
        with inside.questions() as asked:
            status, _ = inside.json("GET", "/api/me", wrong or "x")
        assert status == 401
        assert not any("LIKE" in s for s in asked)
    assert inside.json("GET", "/api/me", whole)[0] == 200


# tokens, sessions, forms


def test_nobody_locks_himself_out(admin):
    me = admin.get("/api/me").json["id"]
    assert admin.ask("DELETE", f"/api/tokens/{me}").status == 409
    assert admin.get("/api/me").status == 200


def test_a_session_ends_when_somebody_signs_out_and_when_its_time_is_over(guarded, admin):
    browser = Visitor(guarded)
    browser.sign_in(admin.token)
    kept = browser.cookie
    assert browser.page("/tokens").status == 200
    assert browser.form("/sign-out", "/").status == 303
    browser.cookie = kept
    assert browser.page("/tokens").status == 401
    browser.sign_in(admin.token)
    with open_store(guarded.store).transaction(write=True) as connection:
        connection.execute(tables.sessions.update().values(expires="2020-01-01T00:00:00.000000+00:00"))
    assert browser.page("/tokens").status == 401


def test_cookies_are_not_kept_as_they_are(guarded, admin):
    browser = Visitor(guarded)
    browser.sign_in(admin.token)
    with open_store(guarded.store).transaction() as connection:
        assert browser.cookie not in str(connection.execute(tables.sessions.select()).all())


def test_a_form_of_another_session_is_refused(guarded, admin):
    one, two = Visitor(guarded), Visitor(guarded)
    one.sign_in(admin.token)
    two.sign_in(admin.token)
    csrf = re.search(r'name="csrf" value="(\w+)"', one.page("/tokens").text)[1]
    body = f"csrf={csrf}&what=invite&name=x&role=reader".encode()
    assert two.ask("POST", "/tokens", body, Content_Type="application/x-www-form-urlencoded").status == 403
    assert one.ask("POST", "/tokens", body, Content_Type="application/x-www-form-urlencoded").status == 200


def test_no_header_is_smuggled_into_an_answer(guarded, admin):
    answer = Visitor(guarded).form("/sign-in", token=admin.token, then="/x\r\nSet-Cookie: karat=evil")
    assert answer.headers["location"] == "/"
    assert "evil" not in str(answer.headers)


def test_forwarding_headers_are_believed_of_nobody_unless_told(guarded, admin):
    made = admin.ask("POST", "/api/tokens", {"role": "reader", "name": "Forwarded"}, X_Forwarded_For="198.51.100.7")
    assert made.status == 201
    assert "198.51.100.7" not in admin.get("/api/audit").text
    assert "Secure" not in Visitor(guarded).ask("GET", "/sign-in", X_Forwarded_Proto="https").headers["set-cookie"]


def test_rates_are_counted_by_token_and_by_address(tmp_path):
    inside = Inside(tmp_path / "s.db", writes=3, reads=8)
    one, two = token(inside, "admin", "One"), token(inside, "admin", "Two")
    post = lambda who: inside.json("POST", "/api/tokens", who, {"role": "reader", "name": "r"})[0]
    assert [post(one) for _ in range(4)] == [201, 201, 201, 429]
    assert post(two) == 201
    answers = [inside.json("GET", "/api/me", two)[0] for _ in range(6)]
    assert answers[0] == 200
    assert answers[-1] == 429


def test_a_report_never_runs_on_the_site(own_run):
    who, run = own_run
    for form in ("html", "json", "tsv"):
        answer = who.get(f"/runs/{run}/report.{form}")
        assert answer.headers["content-disposition"].startswith("attachment")
        assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.fixture(scope="module")
def own_run(guarded):
    who = Visitor(guarded, guarded.admin)
    job = who.upload("/api/evaluations", gold=("g.csv", GOLD), systems=[("a.csv", labels(60, wrong=6)), ("b.csv", labels(60, wrong=20))]).json  # fmt: skip
    done = until(lambda: (j := who.get(f"/api/jobs/{job['id']}").json)["state"] == "done" and j, "the run")
    return who, done["result"]["run"]


# archives


def forged(content: bytes, change) -> io.BytesIO:
    """An exported benchmark with another header."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, json.dumps(change(json.loads(data))) if name == archive.HEADER else data)
    out.seek(0)
    return out


def test_an_archive_gives_nobody_the_right_to_see_a_run(guarded, admin):
    """An organiser who knows the id of somebody's run names it in an archive of his own."""
    theirs = benchmark(admin)
    rival = team(admin, theirs)
    victim = admin.get(f"/api/submissions/{settled(rival, submit(rival, theirs, GOLD))['id']}").json["run"]
    spy = organiser(guarded)
    own = benchmark(spy)
    mine = team(spy, own)
    settled(mine, submit(mine, own, GOLD))
    exported = spy.get(f"/api/benchmarks/{own}/export").body

    def change(header):
        header["id"] += "-2"
        old = header["submissions"][0]["run"]
        header["submissions"][0]["run"] = victim
        changed.append(old)
        return header

    changed = []
    body = forged(exported, change)
    with zipfile.ZipFile(body, "a") as more:
        more.writestr(f"runs/{victim}", zipfile.ZipFile(io.BytesIO(exported)).read(f"runs/{changed[0]}"))
    answer = spy.ask("POST", "/api/benchmarks/import", body.getvalue(), Content_Type="application/octet-stream")
    assert answer.status == 422
    assert spy.get(f"/api/runs/{victim}").status == 404
    assert admin.get(f"/api/runs/{victim}").status == 200
    assert spy.get(f"/api/benchmarks/{own}-2").status == 404


def test_an_archive_that_cannot_be_taken_leaves_nothing(guarded, admin, tmp_path):
    id = benchmark(admin)
    one = team(admin, id)
    settled(one, submit(one, id, GOLD))
    exported = admin.get(f"/api/benchmarks/{id}/export").body
    bad = [
        lambda h: h | {"settings": h["settings"] | {"metrics": ["no_such_metric"]}},
        lambda h: h | {"settings": h["settings"] | {"options": {"hierarchy": "/etc/passwd"}}},
        lambda h: h | {"submissions": [h["submissions"][0] | {"state": "better"}]},
        lambda h: h | {"submissions": [h["submissions"][0] | {"team": "nobody"}]},
        lambda h: h | {"submissions": [h["submissions"][0] | {"sha256": "0" * 64}]},
        lambda h: h | {"submissions": [h["submissions"][0] | {"system": "x" * 5000}]},
        lambda h: h | {"id": "../../x"},
    ]
    store = open_store(tmp_path / "other.db")
    tables.prepare(store)
    for change in bad:
        with pytest.raises(Problem):
            archive.load(store, forged(exported, change), LOCAL, Limits())
        with store.transaction() as connection:
            assert benchmarks.listed(connection, LOCAL, 5)[1] == 0
            assert connection.execute(tables.files.select()).all() == []
        assert store.count(without=tables.HIDDEN) == 0
    archive.load(store, io.BytesIO(exported), LOCAL, Limits())


def test_a_bomb_of_an_archive(admin):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr(archive.HEADER, b" " * (archive.LARGEST_HEADER + 1))
    answer = admin.ask("POST", "/api/benchmarks/import", out.getvalue(), Content_Type="application/octet-stream")
    assert answer.status == 422


# gold with faults


def test_teams_do_not_pay_for_faults_of_gold(admin):
    id = benchmark(admin, "id,value\ni0,A\ni0,B\ni1,\n", per_day=1)
    one = team(admin, id)
    early = submit(one, id, GOLD)
    if early.status == 202:
        assert settled(one, early)["state"] == "failed"
    found = until(
        lambda: (g := admin.get(f"/api/benchmarks/{id}/gold").json)["state"] == "done" and g, "the look at gold"
    )
    assert (found["good"], {f["line"] for f in found["findings"]}) == (False, {3, 4})
    page = admin.page(f"/benchmarks/{id}/manage").text
    assert "i0,B" in page
    assert "Replace it" in page
    refused = submit(one, id, labels(60, wrong=1))
    assert (refused.status, refused.json["type"]) == (409, "urn:karat:problem:not-ready")
    assert "i0" not in refused.text
    assert one.get(f"/api/benchmarks/{id}/gold").status == 403
    assert admin.ask("PUT", f"/api/benchmarks/{id}/gold?name=g.csv", GOLD.encode()).status == 202
    until(lambda: admin.get(f"/api/benchmarks/{id}/gold").json["good"], "good gold")
    assert settled(one, submit(one, id, labels(60, wrong=1)))["state"] == "scored"
    assert admin.ask("PUT", f"/api/benchmarks/{id}/gold?name=g.csv", GOLD.encode()).status == 409


# many of everything


def test_a_participant_finds_the_benchmark_among_many(inside):
    first = made(inside, "First")
    with inside.store.transaction(write=True) as connection:
        person, _ = people.invite(connection, "participant", "P", first.id)
    for k in range(60):
        made(inside, f"Later {k}")
    with inside.store.transaction() as connection:
        assert [b.id for b in benchmarks.listed(connection, person, 8)[0]] == [first.id]
        assert benchmarks.listed(connection, NOBODY, 8)[1] == 61


def test_every_team_of_many_has_its_name(inside):
    contest = made(inside, "Crowd")
    with inside.store.transaction(write=True) as connection:
        for k in range(520):
            people.invite(connection, "participant", f"Team {k}", contest.id)
    with inside.store.transaction() as connection:
        assert len(benchmarks.teams(connection, contest)) == 520


def test_systems_that_teams_call_alike_are_told_apart(admin):
    id = benchmark(admin)
    runs = []
    for name, wrong in (("Red", 4), ("Blue", 30)):
        one = team(admin, id, name)
        sent = settled(one, submit(one, id, labels(60, wrong=wrong), "run.csv"))
        runs.append(admin.get(f"/api/submissions/{sent['id']}").json["run"])
    board(admin, id)
    path = f"/compare?run={runs[0]}&run={runs[1]}&metric=accuracy"
    text = until(lambda: (a := admin.page(path).text) and "Comparing" not in a and a, "the comparison")
    assert "Red: run.csv" in text
    assert "Blue: run.csv" in text
    link = re.search(rf'href="(/runs/{runs[0]}/units\?[^"]*worse={runs[1]}%2Frun.csv[^"]*)"', text)[1].replace(
        "&amp;", "&"
    )
    listed = admin.get(f"{link}&as=json").json
    assert {(u["gold"], u["run.csv"]) for u in listed} == {("A", "A"), ("B", "B"), ("C", "C")}
    assert len(listed) == 26


def test_no_path_is_in_an_error_page(admin):
    for path in (
        "/runs/nowhere",
        "/benchmarks/none",
        "/compare?run=x",
        "/metrics/none",
        "/jobs/none",
        "/static/x/none",
    ):
        text = admin.page(path).text
        assert not re.search(r"/(home|tmp|src|usr|root)/|Traceback|\.py\b", text)


def test_the_log_holds_no_secret(guarded, admin):
    before = len(guarded.said)
    Visitor(guarded).sign_in(admin.token)
    admin.get("/api/runs?tag=secret-tag")
    time.sleep(0.2)
    lines = "".join(guarded.said[before:])
    assert admin.token not in lines
    assert "secret-tag" not in lines


def test_the_store_is_not_for_others_to_read(guarded):
    assert Path(guarded.store).stat().st_mode & 0o077 == 0


def test_a_table_that_is_not_there(own_run):
    who, run = own_run
    assert who.get(f"/runs/{run}/table.tsv?table=none").status == 404
    assert who.get(f"/runs/{run}/table.exe?table=none").status == 404
    assert who.get(f"/runs/{run}/units?low=nan").status == 422
    assert who.get("/runs?as=exe").status == 404
    assert table({}) == "id,value\n"

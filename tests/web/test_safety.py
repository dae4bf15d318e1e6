# SPDX-License-Identifier: Apache-2.0
"""Who is let in and what is let through: tokens, forms, hosts, sizes, packings, rates, headers."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import re
import socket
import tempfile
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from karat.store import open_store
from tests.web.site import Site, Visitor, labels, running, table, until
from tests.web.stories import benchmark, settled, submit, team


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A server with narrow limits."""
    limits = ("--max-upload", "1", "--max-unpacked", "2", "--max-rows", "5000", "--max-seconds", "20")
    with running(tmp_path_factory.mktemp("small") / "store.db", "--accounts", *limits) as site:
        yield site


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A server that is open to its own machine."""
    with running(tmp_path_factory.mktemp("own") / "store.db") as site:
        yield site


def test_tokens_are_256_bits_and_stored_hashed(guarded):
    assert len(guarded.admin) >= len("karat_") + 43
    with open_store(guarded.store).transaction() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM web_tokens").all()
    assert rows
    assert guarded.admin not in str(rows)


def test_a_revoked_token_and_its_sessions_are_worth_nothing(admin):
    id = benchmark(admin)
    one = team(admin, id, "Gone")
    browser = Visitor(admin.site)
    assert browser.sign_in(one.token).status == 303
    assert browser.page(f"/benchmarks/{id}").status == 200
    assert "Sign out" in browser.page("/").text
    whose = admin.get(f"/api/benchmarks/{id}/teams").json["teams"][0]["id"]
    assert admin.ask("DELETE", f"/api/benchmarks/{id}/teams/{whose}").status == 204
    assert one.get("/api/me").status == 401
    assert "Sign out" not in browser.page("/").text


def test_cookies_are_for_this_site_and_no_script(guarded):
    found = Visitor(guarded).page("/sign-in").headers["set-cookie"]
    assert "HttpOnly" in found
    assert "SameSite=Lax" in found


def test_signing_in_changes_the_cookie(guarded):
    browser = Visitor(guarded)
    browser.page("/sign-in")
    before = browser.cookie
    browser.sign_in(guarded.admin)
    assert browser.cookie != before


@pytest.mark.parametrize("then", ["https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example"])
def test_signing_in_never_leads_elsewhere(guarded, then):
    answer = Visitor(guarded).form("/sign-in", token=guarded.admin, then=then)
    assert (answer.status, answer.headers["location"]) == (303, "/")


def test_forms_of_other_sites_are_refused(own):
    browser = Visitor(own)
    browser.page("/")
    body = b"csrf=" + b"0" * 64 + b"&name=x&role=admin&what=invite"
    kind = "application/x-www-form-urlencoded"
    assert browser.ask("POST", "/tokens", body, Content_Type=kind).status == 403
    csrf = re.search(r'name="csrf" value="(\w+)"', browser.page("/tokens").text)[1].encode()
    good = body.replace(b"0" * 64, csrf)
    assert browser.ask("POST", "/tokens", good, Content_Type=kind, Origin="https://elsewhere.example").status == 403
    assert browser.ask("POST", "/tokens", good, Content_Type=kind, Sec_Fetch_Site="cross-site").status == 403
    assert browser.ask("POST", "/tokens", good, Content_Type=kind).status == 200


def test_pages_of_other_sites_cannot_call(own):
    body = {"role": "admin", "name": "Spy"}
    assert Visitor(own).ask("POST", "/api/tokens", body, Origin="https://elsewhere.example").status == 403
    assert Visitor(own).ask("POST", "/api/tokens", body, Origin="null").status == 403


@pytest.mark.parametrize("host", ["elsewhere.example", "127.0.0.1.elsewhere.example", "localhost.example:80", ""])
def test_an_open_server_answers_under_its_own_names_only(own, host):
    assert Visitor(own).ask("GET", "/api/runs", Host=host).status == 421


def test_an_open_server_does_not_stand_behind_a_proxy(own):
    assert Visitor(own).ask("GET", "/", X_Forwarded_For="203.0.113.7").status == 403


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere(guarded):
    answer = Visitor(guarded).page("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=", answer.text)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


def test_descriptions_run_no_script(admin):
    id = benchmark(
        admin, description="<script>alert(1)</script> [x](javascript:alert(1)) ![y](http://elsewhere.example/z.png)"
    )
    text = Visitor(admin.site).page(f"/benchmarks/{id}").text
    assert "<script>alert" not in text
    assert 'href="javascript' not in text
    assert "<img" not in text


def test_names_and_labels_are_shown_not_run(own):
    evil = '"><img src=x onerror=alert(1)>'
    gold = json.dumps([{"id": evil, "value": evil}, {"id": "b", "value": "x"}])
    pred = json.dumps([{"id": evil, "value": "x"}, {"id": "b", "value": "x"}])
    who = Visitor(own)
    job = who.upload("/api/evaluations", gold=("gold.json", gold), systems=(evil[2:] + ".json", pred)).json
    done = until(lambda: (found := who.get(f"/api/jobs/{job['id']}").json)["state"] == "done" and found, "the run")
    run = done["result"]["run"]
    for path in (f"/runs/{run}", f"/runs/{run}/units", "/runs", "/"):
        assert "<img" not in who.page(path).text


def test_too_much_is_refused_whether_or_not_it_is_said(small):
    admin = Visitor(small, small.admin)
    id = benchmark(admin)
    one = team(admin, id)
    assert submit(one, id, b"x" * (1 << 20) + b"y").status == 413
    place = urlsplit(small.url)
    with socket.create_connection((place.hostname, place.port)) as line:
        head = f"POST /api/benchmarks/{id}/submissions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {one.token}\r\n"
        line.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        answer = b""
        try:
            for _ in range(40):
                line.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        except OSError:
            pass
        line.settimeout(20)
        try:
            answer = line.recv(4096)
        except OSError:
            answer = b"HTTP/1.1 413"  # the server hung up before it was read
    assert b" 413" in answer.split(b"\r\n")[0]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress], ids=["gzip", "bzip2"])
def test_bombs_are_found_before_they_burst(small, pack):
    admin = Visitor(small, small.admin)
    id = benchmark(admin)
    one = team(admin, id)
    found = settled(one, submit(one, id, pack(b"id,value\n" + b"a,b" * (8 << 20))))
    assert [f["code"] for f in found["findings"]] == ["file-too-large"]
    twice = settled(one, submit(one, id, gzip.compress(pack(b"0" * (30 << 20)))))
    assert [f["code"] for f in twice["findings"]] == ["packed-twice"]
    rows = settled(one, submit(one, id, pack(b"id,value\n" + b"a,b\n" * 6000)))
    assert [f["code"] for f in rows["findings"]] == ["too-many-rows"]
    cut = settled(one, submit(one, id, pack(table({"i1": "A"}).encode())[:-9]))
    assert (cut["state"], [f["code"] for f in cut["findings"]]) == ("refused", ["file-unreadable"])
    assert settled(one, submit(one, id, pack(labels(60).encode())))["state"] == "scored"


def test_attempts_to_sign_in_are_limited(small):
    stranger = Visitor(small, "karat_wrong")
    answers = [stranger.get("/api/me").status for _ in range(14)]
    assert answers[:5] == [401] * 5
    assert answers[-1] == 429


def test_no_path_of_a_client_is_opened(admin, tmp_path):
    (tmp_path / "gold.csv").write_text(labels(60))
    id = benchmark(admin)
    one = team(admin, id)
    for name in (quote(str(tmp_path / "gold.csv")), "../../etc/passwd", "a%07b", "C:%5Cx%5Cy.csv"):
        sent = one.ask("POST", f"/api/benchmarks/{id}/submissions?name={name}", f"id,value\n{name},\n".encode()).json
        assert "/" not in sent["system"]
        assert "\\" not in sent["system"]


def test_what_was_done_is_in_the_audit_log(admin):
    id = benchmark(admin)
    submit(team(admin, id, "Logged"), id, labels(60))
    lines = admin.get("/api/audit").json["lines"]
    assert {"create benchmark", "invite in benchmark", "submit"} <= {line["action"] for line in lines}
    assert all(admin.token not in str(line) for line in lines)


def test_the_server_says_when_it_is_reachable_without_encryption(tmp_path):
    with running(tmp_path / "s.db", "--host", "0.0.0.0") as site:
        until(lambda: any("warning" in line for line in site.said), "the warning")
        assert site.admin


def test_behind_a_proxy_under_a_path(tmp_path):
    with running(tmp_path / "s.db", "--root-path", "/eval", "--proxy", "127.0.0.1") as site:
        assert site.url.endswith("/eval")
        who = Visitor(site, site.admin)
        text = who.page("/benchmarks").text
        assert 'href="/eval/metrics"' in text
        assert not re.search(r'(href|src|action)="/(?!eval)', text)
        secure = Visitor(site).ask("GET", "/sign-in", X_Forwarded_Proto="https", X_Forwarded_For="203.0.113.9")
        assert "Secure" in secure.headers["set-cookie"]


def test_problems_are_documents(guarded):
    answer = Visitor(guarded).get("/api/runs")
    assert answer.status == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json == {
        "type": "urn:karat:problem:unknown", "title": "Please sign in", "status": 401,
        "detail": "This is shown to people with a token.",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "status"),
    [("/api/runs?limit=x", 422), ("/api/runs?since=yesterday", 422), ("/api/nothing", 404), ("/runs/zzzz", 404),
     ("/api/metrics?context=x", 422), ("/compare?run=nowhere", 404), ("/benchmarks?page=99999999999", 422)],
)  # fmt: skip
def test_odd_requests_have_an_answer(own, path, status):
    assert Visitor(own).get(path).status == status


def test_methods_that_are_not_there(own: Site):
    assert Visitor(own).ask("PUT", "/api/runs").status == 405
    assert Visitor(own).ask("POST", "/api/runs", io.BytesIO(b"")).status == 405


def test_a_parquet_file_of_many_rows_is_refused_before_it_is_read(small):
    """Four kilobytes may hold a hundred million rows."""
    import duckdb

    admin = Visitor(small, small.admin)
    id = benchmark(admin)
    one = team(admin, id)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        duckdb.sql(f"COPY (SELECT 'x' AS id, 'A' AS value FROM range(5000000)) TO '{path}' (FORMAT parquet)")
        assert path.stat().st_size < 100_000
        found = settled(one, submit(one, id, path.read_bytes(), "rows.parquet"))
    assert (found["state"], [f["code"] for f in found["findings"]]) == ("refused", ["too-many-rows"])


def test_a_page_about_a_problem_knows_who_asks(guarded):
    admin = Visitor(guarded, guarded.admin)
    one = team(admin, benchmark(admin), "Who Asks")
    browser = Visitor(guarded)
    browser.sign_in(one.token)
    text = browser.page("/tokens").text
    assert "This needs the role admin" in text
    assert "Who Asks" in text
    assert "Sign out" in text

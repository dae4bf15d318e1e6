# SPDX-License-Identifier: Apache-2.0
"""The command line and the client against a real server."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command
from karat.store import open_store
from tests.web.site import Visitor, labels, running
from tests.web.stories import benchmark, board, settled, submit, team


def run(*line: str, code: int = 0, **environment: str):
    said = CliRunner().invoke(command, [*line], env=environment)
    assert said.exit_code == code, said.output
    return said


def test_a_benchmark_by_command_line(guarded, tmp_path):
    at = {"KARAT_SERVER": guarded.url, "KARAT_TOKEN": guarded.admin}
    (tmp_path / "gold.csv").write_text(labels(60))
    (tmp_path / "run.csv").write_text(labels(60, wrong=6))
    (tmp_path / "bad.csv").write_text("id,value\ni1,\n")
    made = run(
        "benchmark", "create", str(tmp_path / "gold.csv"), "-c", "monolabel", "-m", "accuracy", "--title", "By command",
        "--phase", "dev,2020-01-01,2999-01-01", "--board", "blind", "--option", "missing=wrong", **at,
    )  # fmt: skip
    id = made.stdout.strip()
    assert id == "by-command"
    token = run("benchmark", "invite", id, "Typists", **at).stdout.strip()
    mine = at | {"KARAT_TOKEN": token}
    broken = run("submit", id, str(tmp_path / "bad.csv"), code=2, **mine)
    assert "bad.csv:2: error[" in broken.stderr
    assert "scored" in run("submit", id, str(tmp_path / "run.csv"), "--system", "first", **mine).stdout
    assert "403" in run("benchmark", "show", id, code=2, **mine).stderr
    run("benchmark", "unblind", id, **at)
    again = run("submit", id, str(tmp_path / "run.csv"), **mine)
    assert "nothing was counted" in again.stderr
    assert "accuracy" in again.stdout
    assert "0.9" in again.stdout
    assert "Typists" in run("benchmark", "show", id, **mine).stdout
    assert id in run("benchmark", "list", **mine).stdout
    run("benchmark", "change", id, "--per-day", "9", **at)
    run("benchmark", "export", id, "-o", str(tmp_path / "b.zip"), **at)
    store = str(tmp_path / "other.db")
    assert run("benchmark", "import", str(tmp_path / "b.zip"), "--store", store).stdout.strip() == id
    assert "taken" not in run("benchmark", "import", str(tmp_path / "b.zip"), "--store", store, code=2).stdout


def test_faults_of_gold_are_told_and_mended(guarded, tmp_path):
    at = {"KARAT_SERVER": guarded.url, "KARAT_TOKEN": guarded.admin}
    (tmp_path / "gold.csv").write_text("key,value\ni0,A\ni0,B\n")
    (tmp_path / "tree.csv").write_text("A,top\nB,top\n")
    line = [
        "benchmark",
        "create",
        str(tmp_path / "gold.csv"),
        "-c",
        "monolabel",
        "-m",
        "icm",
        "--id",
        "faulty",
        "--id-column",
        "key",
    ]
    made = run(*line, "--hierarchy", str(tmp_path / "tree.csv"), code=2, **at)
    assert made.stdout.strip() == "faulty"
    assert "gold.csv:3: error[" in made.stderr
    (tmp_path / "gold.csv").write_text("key,value\ni0,A\ni1,B\n")
    run("benchmark", "gold", "faulty", str(tmp_path / "gold.csv"), **at)
    found = karat.Client(guarded.url, guarded.admin).benchmarks()
    settings = next(b for b in found if b["id"] == "faulty")
    assert (settings["columns"], settings["options"]) == ({"id": "key"}, {"hierarchy": {"top": {"A": {}, "B": {}}}})
    assert "is not NAME=VALUE" in run(*line, "--option", "missing", code=2, **at).stderr


def test_the_client_evaluates(guarded, tmp_path):
    (tmp_path / "gold.csv").write_text(labels(30))
    (tmp_path / "sys.csv").write_text(labels(30, wrong=3))
    client = karat.Client(guarded.url, guarded.admin)
    found = client.evaluate(tmp_path / "gold.csv", tmp_path / "sys.csv", metrics=("accuracy",))
    assert found["report"]["systems"][0]["metrics"][0]["value"] == 0.9
    (tmp_path / "bad.csv").write_text("id,value\ni1,\n")
    with pytest.raises(karat.InputError, match=r"bad\.csv:2: error"):
        client.evaluate(tmp_path / "gold.csv", tmp_path / "bad.csv")


def test_the_client_says_what_is_wrong(guarded):
    with pytest.raises(karat.MetricError, match="no address of a server"):
        karat.Client("ftp://x")
    with pytest.raises(karat.MetricError, match="not known"):
        karat.Client(guarded.url, "karat_wrong").benchmarks()
    with pytest.raises(karat.MetricError, match="There is no such benchmark"):
        karat.Client(guarded.url, guarded.admin).leaderboard("nowhere")


def test_a_token_is_made_beside_the_server(guarded):
    token = run("token", "Helper", "--role", "reader", "--store", guarded.store).stdout.strip()
    assert Visitor(guarded, token).get("/api/me").json["role"] == "reader"


def test_a_store_in_use_is_backed_up(guarded, admin, tmp_path):
    id = benchmark(admin)
    one = team(admin, id, "Kept")
    settled(one, submit(one, id, labels(60, wrong=6)))
    before = board(admin, id)
    run("store", "backup", str(tmp_path / "copy.db"), "--store", guarded.store)
    assert (
        "is there already" in run("store", "backup", str(tmp_path / "copy.db"), "--store", guarded.store, code=2).stderr
    )
    with open_store(str(tmp_path / "copy.db")).transaction() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
    with running(tmp_path / "copy.db", "--accounts") as site:
        assert Visitor(site, guarded.admin).get(f"/api/benchmarks/{id}/leaderboard").json == before
        assert submit(Visitor(site, one.token), id, labels(60, wrong=1)).status == 202


def test_the_whole_description_is_valid_json(guarded):
    found = Visitor(guarded).get("/api/openapi.json").json
    assert found["openapi"].startswith("3.1")
    ids = [o["operationId"] for p in found["paths"].values() for o in p.values()]
    assert len(set(ids)) == len(ids)
    assert json.dumps(found)

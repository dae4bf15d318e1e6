# SPDX-License-Identifier: Apache-2.0
"""A record is compared with what its files give now, and every kind of change is named."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import karat
from karat.provenance import versions
from karat.store import Recorded, open_store, verify

HERE = os.environ | {"PYTHONPATH": str(Path(karat.__file__).parents[1])}


def changed(checks) -> dict[str, str]:
    return {c.what: c.message for c in checks if c.status != "equal"}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(i, "ABC"[i % 3], "ABC"[i % 2]) for i in range(90)]
    for name, k in (("gold.tsv", 1), ("a.tsv", 2)):
        (tmp_path / name).write_text("id\tvalue\n" + "".join(f"{r[0]}\t{r[k]}\n" for r in rows))
    found = karat.evaluate("gold.tsv", ["a.tsv"], metrics=["f1", "kappa"], intervals=0.9, units=True, hashes=True)
    return open_store(tmp_path / "runs.db").save(found)


def test_unchanged(kept):
    checks = verify(Recorded.of_run(kept))
    assert changed(checks) == {}
    assert {c.what for c in checks} == {"record", "versions", "plan", "input gold.tsv", "input a.tsv", "results"}


def test_report_is_verified_too(kept):
    report = json.loads(kept.evaluation.to_json())
    assert changed(verify(Recorded.of_report(report))) == {}
    report["systems"][0]["metrics"][1]["value"] += 1e-14
    assert [c.status for c in verify(Recorded.of_report(report))][-1] == "close"
    report["systems"][0]["metrics"][1]["value"] += 0.25
    assert list(changed(verify(Recorded.of_report(report)))) == ["result a / kappa"]


def test_a_number_that_is_off_by_its_last_bit_is_close(kept):
    report = json.loads(kept.evaluation.to_json())
    number = report["systems"][0]["metrics"][0]["value"]
    assert number > 0.1  # near 0 every number is close to its opposite
    for other, status in ((math.nextafter(number, 1), "close"), (number + 1e-11, "changed")):
        report["systems"][0]["metrics"][0]["value"] = other
        assert [c.status for c in verify(Recorded.of_report(report))][-1] == status


def test_a_changed_byte(kept, tmp_path):
    text = (tmp_path / "a.tsv").read_text()
    (tmp_path / "a.tsv").write_text(text.replace("7\tB", "7\tC", 1))
    found = changed(verify(Recorded.of_run(kept)))
    assert "input a.tsv" in found
    assert "not the file that was evaluated" in found["input a.tsv"]
    assert [what for what in found if what.startswith("result")] == [
        "result a / f1",
        "result a / kappa",
        "results",
    ]


def test_other_bytes_with_the_same_records(kept, tmp_path):
    rows = [line.split("\t") for line in (tmp_path / "a.tsv").read_text().splitlines()[1:]]
    (tmp_path / "a.json").write_text(json.dumps([{"id": i, "value": v} for i, v in rows[::-1]]))
    checks = verify(Recorded.of_run(kept), {"a.tsv": "a.json"})
    assert changed(checks) == {}
    assert "other bytes, the same records" in {c.message for c in checks}


def test_a_changed_version(kept, monkeypatch):
    now = versions()
    monkeypatch.setattr("karat.store.verification.versions", lambda: now | {"numpy": "9.9"})
    assert changed(verify(Recorded.of_run(kept))) == {"version numpy": f"recorded {now['numpy']}, now 9.9"}


def test_a_changed_parameter(kept):
    report = json.loads(kept.evaluation.to_json())
    report["provenance"]["plan"]["metrics"]["f1"]["average"] = "micro"
    report["provenance"]["plan"]["options"]["missing"] = "skip"
    found = changed(verify(Recorded.of_report(report)))
    assert found["parameter metrics.f1.average"] == "recorded micro, now macro"


def test_a_changed_seed(kept):
    report = json.loads(kept.evaluation.to_json())
    report["provenance"]["plan"]["seed"] = 5
    found = changed(verify(Recorded.of_report(report)))
    assert found["parameter seed"] == "recorded 5, now 0"


def test_a_missing_file_and_one_that_moved(kept, tmp_path):
    (tmp_path / "gold.tsv").rename(tmp_path / "moved.tsv")
    assert list(changed(verify(Recorded.of_run(kept)))) == ["input gold.tsv"]
    assert changed(verify(Recorded.of_run(kept), {"gold": "moved.tsv"})) == {}


def test_a_file_that_is_broken_now(kept, tmp_path):
    (tmp_path / "a.tsv").write_text("id\tvalue\n1\tA\n1\tA\n")
    assert list(changed(verify(Recorded.of_run(kept)))) == ["input a.tsv", "inputs"]


def karat_command(*args: str, cwd) -> subprocess.CompletedProcess[str]:
    script = "from karat.cli.main import main; main()"
    return subprocess.run([sys.executable, "-c", script, *args], capture_output=True, text=True, cwd=cwd, env=HERE)


def test_from_the_command_line_without_the_data(tmp_path):
    for name, values in (("gold.tsv", "ABCABC"), ("a.tsv", "ABCAAC"), ("b.tsv", "ABBAAA")):
        (tmp_path / name).write_text("id\tvalue\n" + "".join(f"{i}\t{v}\n" for i, v in enumerate(values)))
    saved = karat_command("evaluate", "gold.tsv", "a.tsv", "b.tsv", "-m", "f1", "--save", "--tag", "x", cwd=tmp_path)
    assert saved.returncode == 0
    assert "saved run" in saved.stderr
    assert karat_command("verify", "x", cwd=tmp_path).returncode == 0
    for name in ("gold.tsv", "a.tsv", "b.tsv"):
        (tmp_path / name).unlink()
    shown = karat_command("runs", "show", "x", "-m", "kappa", "--intervals", "--report", "json", cwd=tmp_path)
    scores = json.loads(shown.stdout)["systems"][0]["metrics"]
    assert [s["metric"] for s in scores] == ["kappa"]
    assert scores[0]["interval"]["level"] == 0.95
    assert "a − b" in karat_command("runs", "compare", "x", "-m", "f1", cwd=tmp_path).stdout
    assert karat_command("verify", "x", cwd=tmp_path).returncode == 1
    listed = karat_command("runs", "list", "--json", cwd=tmp_path).stdout.splitlines()
    assert json.loads(listed[0])["tags"] == ["x"]
    exported = karat_command("runs", "export", "x", "-o", "x.karat", cwd=tmp_path)
    assert exported.returncode == 0
    assert karat_command("runs", "import", "x.karat", "--store", "o.db", cwd=tmp_path).returncode == 0
    assert "same" in karat_command("runs", "diff", "x", "x", cwd=tmp_path).stdout
    assert "Where a and b disagree" in karat_command("show", "x", "--disagree", "a,b", cwd=tmp_path).stdout
    assert "name two systems" in karat_command("show", "x", "--disagree", "a", cwd=tmp_path).stderr
    assert "is a file: give GOLD" in karat_command("show", "x.karat", cwd=tmp_path).stderr
    assert "has the tags x, y" in karat_command("runs", "tag", "x", "y", cwd=tmp_path).stderr
    assert karat_command("runs", "delete", "x", "--yes", cwd=tmp_path).returncode == 0
    assert karat_command("runs", "show", "x", cwd=tmp_path).returncode == 2

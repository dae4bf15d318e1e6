# SPDX-License-Identifier: Apache-2.0
"""Everything that can be wrong with a store, a name, an address or an exported file is said, and nothing is changed."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import subprocess
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import text

import karat
from karat.cli.main import karat as command
from karat.evaluation import Evaluation
from karat.store import Recorded, Store, StoreError, bundle, open_store, verify
from karat.store.record import record_digest
from karat.store.tables import runs, systems
from tests.store import disk


def evaluation(**more) -> Evaluation:
    gold, pred = {"1": "A", "2": "B", "3": "B"}, {"1": "A", "2": "A", "3": "B"}
    return karat.evaluate(gold, pred, **({"metrics": ["accuracy"], "units": True, "hashes": True} | more))


def said(*line: str) -> str:
    """What the command complains of; it exits with 2 and without a traceback."""
    found = CliRunner().invoke(command, line)
    assert found.exit_code == 2, found.output
    assert isinstance(found.exception, SystemExit)
    return found.stderr


def test_a_misspelt_name_is_answered_with_the_nearest(store):
    with pytest.raises(StoreError, match="which is empty"):
        store["latest"]
    run = store.save(evaluation(), tags=["baseline"])
    other = "0" if run.id[-1] != "0" else "1"
    for wrong, meant in (("basline", "baseline"), (run.id[:-1] + other, run.id), ("lastest", "latest")):
        with pytest.raises(StoreError, match=f"did you mean {meant}"):
            store[wrong]
    with pytest.raises(StoreError, match=f"latest .which is {run.id}"):
        store["something else"]
    assert store[run.id.upper()].id == store.id_of(run.id[:4]) == run.id


def test_the_beginning_of_several_ids(store, monkeypatch):
    for run_id in ("abcd00000001", "abcd00000002"):
        monkeypatch.setattr("karat.store.record.secrets.token_hex", lambda n, run_id=run_id: run_id)
        store.save(evaluation())
    with pytest.raises(StoreError, match=r"begins the ids of 2 runs: abcd00000002, abcd00000001"):
        store["abcd"]


def test_looking_makes_nothing(tmp_path, address):
    for line in (["runs", "list"], ["runs", "show", "latest"], ["verify", "latest"], ["show", "latest"]):
        assert "there is no store at" in said(*line, "--store", address)
        assert "there is no store at" in said(*line, "--store", str(tmp_path / "no" / "folder" / ""))
    assert not list(tmp_path.iterdir())
    with pytest.raises(StoreError, match="there is no store"):
        open_store(address, create=False).save(evaluation())


def test_a_store_in_which_nothing_would_be_kept_is_refused(tmp_path, monkeypatch):
    """It was taken in silence, and the run was lost; in a project's file the key is a default and no request."""
    monkeypatch.chdir(tmp_path)
    Path("gold.csv").write_text("id,label\n1,a\n2,b\n")
    Path("new.csv").write_text("id,label\n1,a\n2,a\n")
    line = ["evaluate", "gold.csv", "new.csv", "-m", "accuracy"]
    assert "add --save" in said(*line, "--store", "kept.db")
    assert not Path("kept.db").exists()
    assert "saved run" in CliRunner().invoke(command, [*line, "--store", "kept.db", "--tag", "first"]).stderr
    Path("karat.toml").write_text('store = "kept.db"\n')
    done = CliRunner().invoke(command, line)
    assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("where", "what"),
    [
        ("mysql://x/y", "not mysql"),
        ("postgresql://me:secret@host:port/x", "cannot be read"),
        ("://", "cannot be read"),
        ("sqlite://", "names no file"),
        ("postgresql://me:secret@127.0.0.1:1/x", "see that the server runs"),
        ("postgresql://me:secret@no.such.host.invalid/x", "see that the URL names the server"),
    ],
)
def test_an_address_that_leads_nowhere(where, what):
    complaint = said("runs", "list", "--store", where)
    assert what in complaint
    assert "secret" not in complaint


def test_a_database_or_user_that_is_not_there(postgres):
    assert 'database "none" does not exist' in said("runs", "list", "--store", postgres.replace("/postgres?", "/none?"))
    assert 'role "none" does not exist' in said("runs", "list", "--store", re.sub("//[^@]*@", "//none@", postgres))


def test_psycopg_that_is_not_installed(monkeypatch):
    def absent(*args, **more):
        raise ImportError("psycopg")

    monkeypatch.setattr("karat.store.database.create_engine", absent)
    with pytest.raises(StoreError, match=r"pip install 'karat\[postgres\]'"):
        open_store("postgresql://host/x")


def test_the_database_of_another_program_is_left_alone(tmp_path, address):
    alien = tmp_path / "alien.db"
    with sqlite3.connect(alien) as connection:
        connection.execute("CREATE TABLE foo (x)")
    with pytest.raises(StoreError, match=r"another program keeps its tables here \(foo\)"):
        open_store(alien).save(evaluation())
    assert [*sqlite3.connect(alien).execute("SELECT name FROM sqlite_master")] == [("foo",)]
    store = Store(address)
    with store._database._engine.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE tags (x INTEGER)")
        connection.commit()
    with pytest.raises(StoreError, match="tags"):
        store.save(evaluation())


def test_a_store_that_does_not_say_its_form(store):
    store.save(evaluation())
    for change in ("UPDATE settings SET value = 'x'", "DELETE FROM settings"):
        with store._database.write() as connection:
            connection.execute(text(change))
        with pytest.raises(StoreError, match="damaged"):
            Store(store.address).list()


def test_a_store_that_cannot_be_written_can_be_read(tmp_path, monkeypatch):
    run = open_store(tmp_path / "runs.db").save(evaluation(), tags=["x"])
    monkeypatch.setattr("karat.store.location.os.access", lambda *args: False)
    store = open_store(tmp_path / "runs.db")
    assert store["x"].evaluate(["kappa"]).metrics == run.evaluate(["kappa"]).metrics
    with pytest.raises(StoreError, match=r"readonly database \(make the file and its folder writable"):
        store.save(evaluation())


def test_a_store_on_a_disk_that_cannot_be_written():
    with disk.small(2) as folder:
        open_store(folder / "runs.db").save(evaluation(), tags=["x"])
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        assert open_store(folder / "runs.db")["x"].whole
        with pytest.raises(StoreError, match="writable"):
            open_store(folder / "runs.db").tag("x", "y")
        with pytest.raises(StoreError, match="writable"):
            open_store(folder / "other.db").save(evaluation())


@pytest.mark.parametrize(
    "change",
    [
        systems.update().values(result=b"\x00\x11"), systems.update().values(cells=b""), systems.delete(),
        runs.update().values(plan="{"), runs.update().values(plan="{}"), runs.update().values(provenance="[]"),
        runs.update().values(texts=b"K1"),
    ],
)  # fmt: skip
def test_a_damaged_run_is_named_and_can_be_deleted(store, change):
    run = store.save(evaluation(), tags=["x"])
    with store._database.write() as connection:
        connection.execute(change)
    for line in (["runs", "show"], ["show"], ["verify"], ["runs", "compare"], ["runs", "export"]):
        assert run.id in said(*line, "x", "--store", store.address)
    assert [line.id for line in store.list()] == [run.id]
    assert store.tag("x", "y") == ["x", "y"]
    assert store.delete("x") == run.id


def test_an_altered_run_is_shown_with_a_warning(store):
    store.save(evaluation(), tags=["x"])
    with store._database.write() as connection:
        connection.execute(runs.update().values(plan=runs.c.plan + " "))
    found = CliRunner().invoke(command, ["runs", "show", "x", "--store", store.address])
    assert found.exit_code == 0
    assert "was altered after it was saved" in found.stderr
    with pytest.raises(StoreError, match="altered"):
        store.export("x")


def changed(data: bytes, change) -> bytes:
    """An exported file with another header, and with a hash that fits where one can be made."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    files = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(files[bundle.HEADER])
    change(header)
    files[bundle.HEADER] = json.dumps(header).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as again:
        for name, content in files.items():
            again.writestr(name, content)
    return out.getvalue()


CHANGES = {
    "no run": lambda h: h.pop("run"),
    "no tags": lambda h: h.pop("tags"),
    "no id": lambda h: h["run"].pop("id"),
    "an id that is a path": lambda h: h["run"].update(id="../../../x"),
    "an id that is a number": lambda h: h["run"].update(id=7),
    "another id": lambda h: h["run"].update(id="0" * 12),
    "no moment": lambda h: h["run"].update(created="yesterday"),
    "another context": lambda h: h["run"].update(context="soft"),
    "another parameter": lambda h: h["run"]["plan"].update(seed=1),
    "another hash of an input": lambda h: h["run"]["provenance"]["inputs"][0].update(canonical="0" * 64),
    "another name": lambda h: h.update(systems=["winner"]),
    "more systems": lambda h: h["systems"].append("more"),
    "a bad tag": lambda h: h.update(tags=["latest"]),
    "tags of another kind": lambda h: h.update(tags=3),
    "a newer form": lambda h: h.update(karat_run=2),
    "no form": lambda h: h.pop("karat_run"),
    "a list": lambda h: h.update(run=[]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_header_that_was_tampered_with(tmp_path, what):
    data = open_store(tmp_path / "a.db").save(evaluation()) and open_store(tmp_path / "a.db").export("latest")
    (tmp_path / "x.karat").write_bytes(changed(data, CHANGES[what]))
    other = open_store(tmp_path / "b.db")
    other.save(evaluation())
    said("runs", "import", str(tmp_path / "x.karat"), "--store", str(tmp_path / "b.db"))
    assert len(other) == 1


def test_what_a_hash_does_not_cover_is_worked_out_anew(tmp_path):
    store = open_store(tmp_path / "a.db")
    run = store.save(evaluation())

    def lie(header):
        header["run"].update(gold="another.tsv", karat="9.9", question="0" * 16, more="of it")

    found = open_store(tmp_path / "b.db").load(changed(store.export(run.id), lie))
    (line,) = open_store(tmp_path / "b.db").list()
    (true,) = store.list()
    assert found.id == run.id
    assert line == true


def test_parts_that_do_not_unpack_are_refused_even_with_a_hash_that_fits(tmp_path):
    store = open_store(tmp_path / "a.db")
    store.save(evaluation())
    record, tags = bundle.read(store.export("latest"))
    bad = type(record.systems[0])("x", b"K1junk", b"K1junk")
    forged = type(record)(record.run | {"digest": record_digest(record.run, [bad])}, [bad])
    with pytest.raises(StoreError, match="cannot be read"):
        open_store(tmp_path / "b.db").load(bundle.write(forged, tags))


def test_a_report_that_cannot_be_written(tmp_path):
    for name, values in (("gold.tsv", "ABAB"), ("a.tsv", "ABAA"), ("b.tsv", "AAAA")):
        (tmp_path / name).write_text("id\tvalue\n" + "".join(f"{i}\t{v}\n" for i, v in enumerate(values)))
    files, nowhere = [str(tmp_path / f"{n}.tsv") for n in ("gold", "a", "b")], str(tmp_path / "none" / "x")
    at = ["--store", str(tmp_path / "runs.db")]
    CliRunner().invoke(command, ["evaluate", *files, "--tag", "x", *at])
    for line in (
        ["evaluate", *files], ["compare", *files], ["runs", "show", "x", *at], ["runs", "compare", "x", *at],
        ["runs", "export", "x", *at],
    ):  # fmt: skip
        assert f"cannot write {nowhere}" in said(*line, "-o", nowhere)


def leaves(value, path=()):
    """Every place in nested data."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from leaves(value[key], (*path, key))


def test_a_report_with_any_part_missing_or_strange_can_be_verified_or_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("gold.tsv", "a.tsv"):
        Path(name).write_text("id\tvalue\n1\tA\n2\tB\n")
    whole = karat.evaluate("gold.tsv", "a.tsv", metrics=["accuracy"], intervals=0.9, interval_method="wilson").to_json()
    for path in [p for p in leaves(json.loads(whole)) if p[0] == "provenance" or "metrics" in p]:
        for strange in ("gone", 7):
            report = json.loads(whole)
            *above, last = path
            parent = report
            for key in above:
                parent = parent[key]
            if strange == "gone":
                del parent[last]
            else:
                parent[last] = strange
            with suppress(karat.InputError, karat.MetricError):
                verify(Recorded.of_report(report))

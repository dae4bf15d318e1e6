# SPDX-License-Identifier: Apache-2.0
"""Tables that do not fit into memory: joins go to disk, nothing stays there, and a full disk is a finding."""

from __future__ import annotations

import errno

import duckdb
import pytest
from click.testing import CliRunner

import karat
from karat import pipeline
from karat.cli.main import karat as command
from karat.engines import duckdb as engine
from tests.store import disk

ROWS = 400_000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Gold and shuffled predictions, a quarter of them wrong."""
    folder = tmp_path_factory.mktemp("tables")
    connection = duckdb.connect()
    ids = "'a long id, so that keys take room ' || lpad(CAST(i AS VARCHAR), 12, '0')"
    for name, value, order in (("gold", "i % 10", "i"), ("pred", "(i + (i % 4 = 0)::INT) % 10", "hash(i)")):
        sql = f"SELECT {ids} AS id, 'label ' || ({value}) AS label FROM range({ROWS}) t(i) ORDER BY {order}"
        connection.execute(f"COPY ({sql}) TO '{folder}/{name}.parquet'")
    return [str(folder / f"{name}.parquet") for name in ("gold", "pred")]


def test_a_join_goes_to_disk_and_leaves_nothing_there(files, tmp_path):
    found = karat.evaluate(*files, metrics=["accuracy"], memory=40_000_000, temp=str(tmp_path))
    assert found["accuracy"].value == 0.75
    assert list(tmp_path.iterdir()) == []


def test_too_little_memory_is_said(files, tmp_path):
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(*files, metrics=["accuracy"], memory=3_000_000, temp=str(tmp_path))
    assert [f.code for f in caught.value.findings] == ["out-of-memory"]
    assert "--memory" in caught.value.findings[0].hint
    assert list(tmp_path.iterdir()) == []


def test_too_little_memory_for_a_text_is_no_fault_of_its_rows(tmp_path):
    path = tmp_path / "gold.csv"
    with path.open("w") as file:
        file.write("id,value\n")
        file.writelines(f"doc{n:07d},label {n % 7}\n" for n in range(200_000))
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(str(path), str(path), memory=2_000_000, allow_same=True)
    assert {f.code for f in caught.value.findings} == {"out-of-memory"}


@pytest.mark.parametrize("fault", [MemoryError(), OSError(errno.ENOMEM, "Cannot allocate memory")])
def test_what_the_system_does_not_give_is_said(fault, monkeypatch):
    def starved(*_):
        raise fault

    monkeypatch.setattr(pipeline, "gathered", starved)
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(["A"], ["B"])
    assert [f.code for f in caught.value.findings] == ["out-of-memory"]


def test_what_killed_runs_left_is_removed(files, tmp_path):
    left = tmp_path / f"{engine._SPILL}4194305-00000000"  # no process has this number
    left.mkdir()
    (left / "duckdb_temp_storage.tmp").write_bytes(b"x")
    karat.evaluate(*files, metrics=["accuracy"], memory=200_000_000, temp=str(tmp_path))
    assert not left.exists()


def test_a_full_disk_is_said(files):
    with disk.small(1) as folder:
        with pytest.raises(karat.InputError) as caught:
            karat.evaluate(*files, metrics=["accuracy"], memory=40_000_000, temp=str(folder))
        assert [f.code for f in caught.value.findings] == ["disk-full"]
        assert "--temp" in caught.value.findings[0].hint
        assert list(folder.iterdir()) == []


def test_a_full_disk_is_said_of_lines_that_are_copied(tmp_path):
    paths = [str(tmp_path / f"{name}.jsonl") for name in ("gold", "pred")]
    for path in paths:
        with open(path, "w") as file:
            file.writelines(f'{{"id": "item-{n}", "value": "label {n % 10}"}}\n' for n in range(100_000))
    with disk.small(1) as folder:
        with pytest.raises(karat.InputError) as caught:
            karat.evaluate(*paths, metrics=["accuracy"], memory=20_000_000, temp=str(folder))
        assert [f.code for f in caught.value.findings] == ["disk-full"]
        assert list(folder.iterdir()) == []
    found = karat.evaluate(*paths, metrics=["accuracy"], memory=20_000_000, temp=str(tmp_path / "temp"))
    assert found["accuracy"].value == 1.0
    assert list((tmp_path / "temp").glob("*")) == []


def test_a_full_disk_ends_the_command_with_2_while_a_table_is_put_in_order(tmp_path):
    connection = duckdb.connect()
    for name in ("gold", "pred"):
        sql = "SELECT 'item ' || i AS id, hash(i) / 1e9 AS value FROM range(200_000) t(i)"
        connection.execute(f"COPY ({sql}) TO '{tmp_path}/{name}.parquet'")
    files = [str(tmp_path / f"{name}.parquet") for name in ("gold", "pred")]
    with disk.small(1) as folder:
        options = ["--context", "numbers", "--memory", "40MB", "--temp", str(folder)]
        done = CliRunner().invoke(command, ["evaluate", *files, *options])
        assert (done.exit_code, list(folder.iterdir())) == (2, [])
        assert "[disk-full]" in done.output

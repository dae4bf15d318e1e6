# SPDX-License-Identifier: Apache-2.0
"""No report names a folder of the machine that made it."""

from __future__ import annotations

import json

import pytest
from tests.report.examples import labels

import karat
from karat.report import TEXT
from karat.report.comparison import TEXT as COMPARISONS
from karat.report.published import file_names
from karat.store import Recorded, verify

SECRET = "home of ann 4711"


@pytest.fixture
def files(tmp_path):
    """Gold and two systems in a folder that nobody need know; one of them gives a warning that names its file."""
    folder = tmp_path / SECRET
    folder.mkdir()
    labels(folder)
    rows = json.loads((folder / "hasty.json").read_text())
    (folder / "hasty.json").write_text(json.dumps([*rows[:-1], rows[-1] | {"value": "unheard"}]))
    return [str(folder / f"{name}.json") for name in ("gold", "careful", "hasty")]


@pytest.mark.parametrize("report", [t for t in TEXT if t not in ("trec", "pyevall")])
def test_evaluations(files, report):
    found = karat.evaluate(files[0], files[1:])
    assert "label-not-in-gold" in {f.code for f in found.findings}
    text = found.render(report)
    assert SECRET not in text
    assert "hasty" in text


@pytest.mark.parametrize("report", COMPARISONS)
def test_comparisons(files, report):
    text = karat.compare(files[0], files[1:], metrics=["accuracy"], draws=99, resamples=100).render(report)
    assert SECRET not in text
    assert "hasty" in text


def test_the_evaluation_itself_knows_where_its_files_are(files):
    found = karat.evaluate(files[0], files[1:])
    found.to_json()
    assert [i["path"] for i in found.provenance["inputs"]] == files


def test_names_of_data_in_memory_are_kept_whole():
    found = karat.evaluate(["A", "B"], {"org/model": ["A", "B"], "org/other": ["A", "C"]})
    assert [i["path"] for i in json.loads(found.to_json())["provenance"]["inputs"]][1:] == ["org/model", "org/other"]


def test_files_of_one_name_keep_the_folders_that_tell_them_apart():
    assert file_names(["/x/a/run.json", "/x/b/run.json", "/x/gold.json", "/x/gold.json"]) == {
        "/x/a/run.json": "a/run.json",
        "/x/b/run.json": "b/run.json",
        "/x/gold.json": "gold.json",
    }
    assert file_names(["run.json", "old/run.json"]) == {"run.json": "run.json", "old/run.json": "old/run.json"}


def test_a_report_is_verified_from_the_files_beside_it(files, tmp_path):
    report = json.loads(karat.evaluate(files[0], files[1:], hashes=True).to_json())
    found = verify(Recorded.of_report(report), folder=tmp_path / SECRET)
    assert [c.what for c in found if c.status != "equal"] == []
    assert {c.status for c in verify(Recorded.of_report(report))} == {"equal", "unknown"}


def test_documents_of_a_folder_are_named_by_their_place_in_it(tmp_path):
    folder = tmp_path / SECRET / "corpus"
    folder.mkdir(parents=True)
    (folder / "one.ann").write_text("T1\tPER 0 3;8 11\tAnn Bob\nT2\tLOC 4 7\tmet\n")
    found = karat.evaluate(str(folder), str(folder), context="spans", allow_same=True)
    report = json.loads(found.to_json())
    assert "corpus/one.ann" in {f["file"] for f in report["systems"][0]["findings"]}
    assert [i["path"] for i in report["provenance"]["inputs"]] == ["corpus", "corpus"]
    assert SECRET not in found.to_json()

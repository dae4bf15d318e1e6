# SPDX-License-Identifier: Apache-2.0
"""The poetry door: every recorded page and every recorded run of the script."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from karat.cli.main import karat
from karat.doors import poetry_spans as door

with gzip.open(Path(__file__).parent.parent / "data" / "page-excerpts.jsonl.gz", "rt", encoding="utf-8") as lines:
    RECORDS = [json.loads(line) for line in lines]
PAGES = [record for record in RECORDS if record["kind"] == "page"]
RUNS = [record for record in RECORDS if record["kind"] == "files"]


def page(record, strict):
    given = record["input"]
    found = door.get_page_eval(given["ref"], given["sys"], given["ignore_label"], strict)
    return found.evaluate(given["partial_match_weight"])


@pytest.mark.parametrize("record", PAGES, ids=lambda record: record["id"])
def test_pages(record):
    if "output" in record:
        found = page(record, strict=True)
        expected = {key: value for key, value in record["output"].items() if key in found}
        assert {key: repr(value) for key, value in found.items()} == {
            key: repr(value) for key, value in expected.items()
        }
    else:
        with pytest.raises(Exception) as raised:  # noqa: PT011 (the type is compared)
            page(record, strict=True)
        assert type(raised.value).__name__ == record["error"]["type"]


@pytest.mark.parametrize("record", RUNS, ids=lambda record: record["id"])
def test_runs(record, tmp_path):
    """The same CSV and summary; where the script died, a finding or a whole file, never a part of one."""
    given, expected = record["input"], record["output"]
    for role in ("ref", "sys"):
        path = tmp_path / given[f"{role}_name"]
        text = given[f"{role}_jsonl"]
        if text is not None:
            path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    out = tmp_path / "out.csv"
    if given["output_exists_before"]:
        out.write_text("x")
    files = [str(tmp_path / given["ref_name"]), str(tmp_path / given["sys_name"]), str(out)]
    result = CliRunner().invoke(karat, ["evaluate-poetry-spans", *files, *given["args"]])
    if expected["exit_code"] == 0 and "nan" not in expected["stdout"]:
        assert (result.exit_code, result.stdout) == (0, expected["stdout"])
        assert out.read_bytes().decode() == expected["csv"]
    else:
        assert result.exit_code in (0, 2)
        assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit)
        assert result.stderr or result.output
        assert result.exit_code == 0 or not out.exists() or out.read_text() == "x"


def test_members_of_a_page():
    ref = {
        "page_id": "p",
        "n_excerpts": 2,
        "excerpts": [{"start": 0, "end": 5, "poem_id": "a"}, {"start": 5, "end": 9, "poem_id": "a"}],
    }
    system = {"page_id": "p", "n_spans": 1, "poem_spans": [{"page_start": 0, "page_end": 9, "ref_id": "a"}]}
    found = door.get_page_eval(ref, system)
    assert (found.ref_to_sys, found.sys_to_refs) == ([0, 0], [[0, 1]])
    assert found.span_pairs == [
        (door.Span(0, 5, "a"), door.Span(0, 5, "a")),
        (door.Span(5, 9, "a"), door.Span(5, 9, "a")),
    ]
    assert (found.precision(), found.recall()) == (1.0, 1.0)


def test_without_labels_a_spurious_span_is_called_like_a_nameless_reference():
    """The script calls every system span "" then, which is no new poem where a reference has that name."""
    ref = {"page_id": "p", "n_excerpts": 1, "excerpts": [{"start": 0, "end": 5, "poem_id": ""}]}
    sys = {"page_id": "p", "n_spans": 1, "poem_spans": [{"page_start": 9, "page_end": 12, "ref_id": "a"}]}
    assert door.get_page_eval(ref, sys, ignore_label=True).evaluate()["n_poem_spurious"] == 0
    assert door.get_page_eval(ref, sys).evaluate()["n_poem_spurious"] == 1

# SPDX-License-Identifier: Apache-2.0
"""The poetry door: every recorded page and every recorded run of the script."""

import bz2
import csv
import gzip
import io
import json
import lzma
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


def line(page_id, *spans):
    """A line of each file, with the same spans."""
    ref = [{"start": start, "end": end, "poem_id": poem} for start, end, poem in spans]
    sys = [{"page_start": start, "page_end": end, "ref_id": poem} for start, end, poem in spans]
    return (
        {"page_id": page_id, "n_excerpts": len(ref), "excerpts": ref},
        {"page_id": page_id, "n_spans": len(sys), "poem_spans": sys},
    )


def files(folder, refs, systems):
    for name, pages in (("ref.jsonl", refs), ("sys.jsonl", systems)):
        (folder / name).write_text("".join(json.dumps(page) + "\n" for page in pages))
    return folder / "ref.jsonl", folder / "sys.jsonl"


def run(*args):
    result = CliRunner().invoke(karat, ["evaluate-poetry-spans", *map(str, args)])
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit)
    return result


def test_the_interface_is_the_script_s():
    ref, sys = map(
        lambda kind, page: kind(page), (door.PageReferenceSpans, door.PageSystemSpans), line("p", (0, 5, "a"))
    )
    found = door.PageEvaluation(page_ref_spans=ref, page_sys_spans=sys)
    assert list(found.evaluate())[-3:] == ["n_poem_misses", "n_span_spurious", "n_poem_spurious"]
    span = door.Span(2, 5, "a")
    span.end = 9
    assert (len(span), repr(span)) == (7, "Span(start=2, end=9, label='a')")


def test_a_reference_without_a_piece_is_in_no_pair():
    """Two equal references cannot cut their span between them: the last one gets it all."""
    ref, _ = line("p", (0, 10, "a"), (0, 10, "a"))
    found = door.get_page_eval(ref, line("p", (0, 10, "a"))[1])
    assert (found.ref_to_sys, found.span_pairs) == ([0, 0], [(door.Span(0, 10, "a"), door.Span(0, 10, "a"))])
    assert found.evaluate()["precision"] == 0.5  # 1 of 2 pieces


def test_the_means_are_printed(tmp_path, capsys):
    pages = [line(f"p{nth}") for nth in range(1200)]
    door.write_page_evals(*files(tmp_path, *zip(*pages, strict=True)), tmp_path / "out.csv")
    assert capsys.readouterr().out == "Overall: 1200 Pages | Precision = 1 | Recall = 1\n"


def test_csv_as_the_csv_module_writes_it(tmp_path):
    """Odd ids, whole numbers, and a share with an exponent."""
    ids = ["a,b", 'q"x', "two\nlines", " ", "", "é", 7]
    refs = [line(one, (0, 50_000, "a"))[0] for one in ids]
    systems = [line(one, (0, 1, "a"))[1] for one in ids[1:]] + [line(ids[0])[1]]
    scores = door.evaluate_files(*files(tmp_path, refs, systems))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, door.COLUMNS)
    writer.writeheader()
    writer.writerows(scores.rows)
    assert scores.csv() == text.getvalue()
    assert "2e-05" in scores.csv()
    assert [type(row["precision"]) for row in scores.rows[:2]] == [int, float]


def test_missing_pages_are_one_finding(tmp_path):
    refs, systems = zip(*(line(f"p{nth}", (0, 5, "a")) for nth in range(100)), strict=True)
    paths = files(tmp_path, refs, systems[:40])
    result = run(*paths, tmp_path / "out.csv")
    assert result.stdout == "Overall: 100 Pages | Precision = 0.4 | Recall = 0.4\n"
    assert "60 reference pages are not in this file and count as empty answers (first: p40, p41, p42)" in result.stderr
    with pytest.warns(UserWarning, match="60 reference pages"):
        assert len(list(door.get_page_evals(*paths))) == 100


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "it is [1], not an object with fields"),
        ('{"page_id": "p"}', "no field 'n_excerpts'"),
        ('{"page_id": "p", "n_excerpts": "1"}', "n_excerpts is '1', not a number"),
        ('{"page_id": "p", "n_excerpts": 1, "excerpts": [null]}', "excerpts is not a list of objects"),
        ('{"page_id": ["p"], "n_excerpts": 0}', "page_id is a list or an object"),
        ('{"page_id": "p", "n_excerpts": 1, "excerpts": [', "truncated"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, said):
    ref, sys = files(tmp_path, [], [line("p")[1]])
    ref.write_text("\n" + text + "\n")
    result = run(ref, sys, tmp_path / "out.csv")
    assert (result.exit_code, (tmp_path / "out.csv").exists()) == (2, False)
    assert f"{ref}:2: error[bad-page]" in result.stderr
    assert said in result.stderr


def test_many_bad_lines_are_counted(tmp_path):
    ref, sys = files(tmp_path, [{}] * 50, [line("p")[1]])
    result = run(ref, sys, tmp_path / "out.csv")
    assert result.exit_code == 2
    assert result.stderr.count("error[bad-page]") == 1
    assert "and 49 more like it: lines 2, 3, 4" in result.stderr


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_packed_files(tmp_path, suffix, pack):
    packed = []
    for path in files(tmp_path, *([page] for page in line("p", (0, 5, "a")))):
        packed.append(path.with_name(path.name + suffix))
        packed[-1].write_bytes(pack(path.read_bytes()))
    assert run(*packed, tmp_path / "out.csv").stdout == "Overall: 1 Pages | Precision = 1 | Recall = 1\n"
    packed[0].write_bytes(packed[0].read_bytes()[:-9])
    assert "cannot be read" in run(*packed, tmp_path / "out2.csv").stderr

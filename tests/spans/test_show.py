# SPDX-License-Identifier: Apache-2.0
import json

from click.testing import CliRunner

from karat.cli.main import karat


def shown(tmp_path, gold, pred, *options):
    paths = [tmp_path / "gold.jsonl", tmp_path / "pred.jsonl"]
    for path, rows in zip(paths, (gold, pred), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return CliRunner().invoke(karat, ["show", *map(str, paths), *options])


TEXT = "Anna Smith went to Rome on Monday"
GOLD = [{"id": "d1", "text": TEXT, "spans": [[0, 10, "PER"], [19, 23, "LOC"]]}, {"id": "d2", "text": "no", "spans": []}]
PRED = [{"id": "d1", "text": TEXT, "spans": [[0, 4, "PER"], [27, 33, "LOC"]]}, {"id": "d2", "text": "no", "spans": []}]


def test_spans_are_marked_below_the_text(tmp_path):
    result = shown(tmp_path, GOLD, PRED)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[:7] == [
        "d1",
        "text Anna Smith went to Rome on Monday",
        "gold ~PER~~~~~~         ----",
        "pred ~~~~                       +LOC++",
        "gold boundary: PER [0, 10) 'Anna Smith'",
        "gold missed: LOC [19, 23) 'Rome'",
        "pred boundary: PER [0, 4) 'Anna'",
    ]


def test_one_document_and_an_unknown_one(tmp_path):
    assert shown(tmp_path, GOLD, PRED, "--document", "d2").stdout.startswith("d2\ntext no")
    bad = shown(tmp_path, GOLD, PRED, "--document", "d9")
    assert bad.exit_code == 2
    assert "no document 'd9'" in bad.output


def test_overlapping_spans_have_their_own_tracks(tmp_path):
    gold = [{"id": "d1", "text": TEXT, "spans": [[0, 10, "PER"], [5, 10, "SUR"]]}]
    result = shown(tmp_path, gold, gold, "--all")
    assert [line for line in result.stdout.splitlines() if line.startswith("gold")] == [
        "gold =PER======",
        "gold      =SUR=",
    ]


def test_tokens_and_long_lines(tmp_path):
    path = tmp_path / "g.conll"
    path.write_text("\n".join(f"word{i} {'B-X' if i == 20 else 'O'}" for i in range(30)) + "\n")
    other = tmp_path / "p.conll"
    other.write_text(path.read_text().replace("B-X", "O"))
    result = CliRunner().invoke(karat, ["show", str(path), str(other)])
    assert "missed: X" in result.stdout
    assert "'word20'" in result.stdout
    assert max(len(line) for line in result.stdout.splitlines()) < 100


def test_nothing_wrong_is_said(tmp_path):
    result = shown(tmp_path, GOLD, GOLD)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no document has an error" in result.stderr

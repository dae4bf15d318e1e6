"""An organiser with many submissions, some of them broken."""

import json

import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command
from karat.inputs import system_names

LABELS = ["a", "b"] * 20


@pytest.fixture
def task(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "subs").mkdir()

    def write(name, labels, first=0):
        (tmp_path / name).write_text("id,label\n" + "".join(f"{i},{v}\n" for i, v in enumerate(labels, first)))

    write("gold.csv", LABELS)
    for k in range(6):
        write(f"subs/team{k}.csv", LABELS[k:] + LABELS[:k])
    write("subs/team6.csv", LABELS, first=1000)  # no common id
    (tmp_path / "subs/team7.csv").write_text("id,label\n1,a\n1,b\n")  # a repeated id
    (tmp_path / "subs/team8.csv").write_text('id,label\n1,"a\n')  # cannot be read
    return tmp_path


def run(*line):
    return CliRunner().invoke(command, [*line])


BROKEN = {"no-common-ids", "repeated-id", "bad-quote"}


def test_all_broken_files_at_once(task):
    found = run("evaluate", "gold.csv", "subs")
    assert found.exit_code == 2
    assert not found.stdout
    assert all(f"error[{code}]" in found.stderr for code in BROKEN)


@pytest.mark.parametrize("verb", ["evaluate", "compare"])
@pytest.mark.parametrize("systems", ["subs", "subs/*.csv", "subs/team?.csv"])
def test_keep_going_ranks_the_others(task, verb, systems):
    found = run(verb, "gold.csv", systems, "-m", "accuracy", "--keep-going", "--report", "json")
    assert found.exit_code == 2
    report = json.loads(found.stdout)
    report = report.get("evaluation", report)
    assert [s["name"] for s in report["systems"]] == [f"team{k}" for k in range(6)]
    assert {r["name"]: r["findings"][-1]["code"] for r in report["rejected"]} == {
        "team6": "no-common-ids",
        "team7": "repeated-id",
        "team8": "bad-quote",
    }
    assert "rejected 3 of 9 systems: team6, team7, team8" in found.stderr


def test_the_others_score_as_they_do_alone(task):
    e = karat.evaluate("gold.csv", [f"subs/team{k}.csv" for k in range(9)], metrics=["f1"], keep_going=True)
    for system in e.systems:
        assert system["f1"].value == karat.evaluate("gold.csv", f"subs/{system.name}.csv", metrics=["f1"])["f1"].value
    for shown in (str(e), e.to_markdown(), e.to_html()):
        assert "no predicted id is in gold" in shown


def test_nothing_to_rank_is_an_error(task):
    assert run("evaluate", "gold.csv", "subs/team6.csv", "subs/team7.csv", "--keep-going").exit_code == 2
    with pytest.raises(karat.InputError):
        karat.compare("gold.csv", ["subs/team0.csv", "subs/team7.csv"], keep_going=True)


def test_a_broken_gold_is_said_once(task):
    (task / "gold.csv").write_text("id,label\n1,a\n1,b\n")
    found = run("evaluate", "gold.csv", "subs/team0.csv", "subs/team1.csv", "--keep-going")
    assert found.exit_code == 2
    assert found.stderr.count("gold.csv:3: error[repeated-id]") == 1


def test_validate_against_gold(task):
    assert run("validate", "subs/team6.csv").exit_code == 0
    found = run("validate", "--gold", "gold.csv", "subs")
    assert found.exit_code == 2
    assert found.stdout.startswith("9 files checked: ")
    assert all(f"error[{code}]" in found.stderr for code in BROKEN)
    (task / "part.csv").write_text("id,label\n1,A\n")
    codes = {f.code for f in karat.validate("part.csv", gold="gold.csv")}
    assert codes == {"gold-only-ids", "no-common-labels"}


def test_an_empty_folder_and_a_pattern_without_files(task):
    (task / "none").mkdir()
    assert "holds no file" in run("evaluate", "gold.csv", "none").stderr
    assert "no file matches" in run("evaluate", "gold.csv", "none/*.csv").stderr


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/run.tsv", "b/run.tsv", "b/other.tsv"], ["a/run", "b/run", "other"]),
        (["a.tsv", "a.json"], ["a.tsv", "a.json"]),
        (["x/y/run.csv", "x/z/run.csv"], ["y/run", "z/run"]),
        (["gpt-4.5", "gpt-4.5.jsonl.gz"], ["gpt-4.5", "gpt-4.5.jsonl.gz"]),
        (["a.tsv", "a.tsv"], ["a.tsv", "a.tsv"]),
    ],
)
def test_names_of_files(paths, names):
    assert system_names(paths) == names


def test_names_that_are_given(task):
    line = ["evaluate", "gold.csv", "subs/team0.csv", "subs/team1.csv", "-m", "accuracy", "--report", "json"]
    report = json.loads(run(*line, "--name", "A", "--name", "B").stdout)
    assert [s["name"] for s in report["systems"]] == ["A", "B"]
    assert "--name is given 1 times for 2 systems" in run(*line, "--name", "A").stderr


def test_a_baseline_by_its_name_or_its_file(task):
    for baseline in ("team1", "team1.csv", "subs/team1.csv"):
        assert run("compare", "gold.csv", "subs/team0.csv", "subs/team1.csv", "--baseline", baseline).exit_code == 0

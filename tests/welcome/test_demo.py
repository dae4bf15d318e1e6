"""``karat demo``: what it prints is what its commands print, and what it says it wrote is there."""

import os
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command
from karat.contexts import MODULES
from karat.examples import TOUR, data


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "tour"
    run = CliRunner().invoke(command, ["demo", str(folder)])
    assert run.exit_code == 0, run.output
    return folder, run.stdout


def test_every_context_is_shown():
    assert {example.context for example in TOUR} == set(MODULES)


@pytest.mark.parametrize("example", TOUR, ids=lambda example: example.context)
def test_a_command_prints_what_the_tour_shows(example, told, monkeypatch):
    folder, shown = told
    monkeypatch.chdir(folder)
    run = CliRunner().invoke(command, example.words[1:])
    assert run.exit_code == 0
    table = run.stdout.partition("Scores\n")[2].rstrip()
    assert table.count("\n") == 3
    assert f"$ {shlex.join(example.words)}\nScores\n{table}\n\n{example.lesson}" in shown


def test_it_says_where_the_report_is(told):
    folder, shown = told
    assert f"browser: {folder / 'report.html'}\n" in shown
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "careful" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_the_files_are_there(told):
    folder, shown = told
    assert all((folder / path).read_bytes() == content for path, content in data())
    assert shown.startswith(f"{len(list(data()))} files are in {folder}")


def test_the_lessons_are_true(told):
    """What the tour says of its systems."""
    folder, _ = told
    scores = {}
    for example in TOUR:
        tree = {"hierarchy": folder / example.options[1]} if "--hierarchy" in example.options else {}
        systems = [folder / path for path in example.systems]
        e = karat.evaluate(folder / example.gold, systems, context=example.context, metrics=example.metrics, **tree)
        scores[example.context] = [{str(m): s.value for m, s in system.scores.items()} for system in e.systems]
    near, far = scores["multilabel"]
    assert near["f1"] < far["f1"]
    assert near["icm_norm"] > far["icm_norm"]
    listener, judge = scores["soft"]
    assert abs(listener["accuracy"] - judge["accuracy"]) < 0.03
    assert judge["cross_entropy"] > 1.5 * listener["cross_entropy"]
    calm, loud = scores["probabilities"]
    assert calm["roc_auc"] == loud["roc_auc"]
    assert loud["log_loss"] > 2 * calm["log_loss"]
    steady, eager = scores["numbers"]
    assert eager["pearson"] > steady["pearson"]
    assert eager["mae"] > 2 * steady["mae"]


def test_a_reader_who_has_seen_enough(tmp_path):
    here = os.environ | {"PYTHONPATH": str(Path(karat.__file__).parents[1])}
    line = f"{shlex.quote(sys.executable)} -m karat demo | head -2; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=here, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "taken").write_text("a file")
    run = CliRunner().invoke(command, ["demo", str(tmp_path / "taken" / "inside")])
    assert run.exit_code == 2
    assert "cannot write" in run.stderr


def test_the_data_are_what_the_script_makes(tmp_path, monkeypatch):
    script = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "bundled.py"))
    monkeypatch.setitem(script["main"].__globals__, "FOLDER", tmp_path)
    script["main"]()
    made = {p.relative_to(tmp_path).as_posix(): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert made == {path: content for path, content in data() if not path.startswith("reviews/")}

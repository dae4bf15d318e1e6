# SPDX-License-Identifier: Apache-2.0
"""Every context, kept on SQLite and on PostgreSQL and asked new questions once its files are gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command
from karat.store import open_store
from karat.store.run import compare_runs
from karat.store.verification import numbers
from tests.report.examples import EXAMPLES

NEW = {
    "labels": "hierarchical_f1",
    "label-sets": "average_accuracy@2",
    "weights": "js_divergence",
    "rankings": "rbp(p=0.5)",
    "spans": "token_f1",
    "splitting": "boundary_similarity",
    "clusters": "jaccard",
    "probabilities": "average_precision",
    "numbers": "kendall",
}
"""For each context a metric that was not asked for when the run was kept."""


@pytest.fixture(params=EXAMPLES)
def kept(request, address, tmp_path):
    """A run that was kept by the command line, its store, and the evaluation as it would be made anew."""
    name, folder = request.param, tmp_path / "files"
    folder.mkdir()
    first = {"labels": "accuracy", "label-sets": "f1", "weights": "manhattan", "rankings": "ndcg@10", "spans": "f1",
             "splitting": "f1", "clusters": "purity", "probabilities": "roc_auc",
             "numbers": "mae"}[name]  # fmt: skip
    EXAMPLES[name](folder, **({} if name == "label-sets" else {"metrics": [first]}))
    systems = [p for p in sorted(folder.glob("*.json")) if p.name != "gold.json"]
    (folder / "tree.json").write_text(json.dumps({"animal": ["cat", "dog"], "plant": ["rose", "oak", "moss"]}))
    context = {"labels": "monolabel", "label-sets": "multilabel", "weights": "soft", "rankings": "ranking",
               "clusters": "clustering"}.get(name, name)  # fmt: skip
    more = ["--hierarchy", str(folder / "tree.json")] if name in ("labels", "label-sets") else []
    files = [str(folder / "gold.json"), *map(str, systems)]
    said = run("evaluate", *files, "-c", context, "-m", first, "--tag", "mine", "--store", address, *more)
    assert "saved run" in said.stderr
    return name, address, files, folder, context


def run(*line: str, code: int = 0):
    said = CliRunner().invoke(command, line)
    assert said.exit_code == code, said.output
    return said


def test_new_questions_without_the_files(kept):
    name, address, files, folder, context = kept
    metric = NEW[name]
    tree = {"hierarchy": str(folder / "tree.json")} if name in ("labels", "label-sets") else {}
    fresh = karat.evaluate(
        files[0], files[1:], context=context, metrics=[metric], intervals=0.9, resamples=199, names=[Path(f).name for f in files[1:]], **tree
    )  # fmt: skip
    compared = karat.compare(files[0], files[1:], context=context, metrics=[metric], draws=99, resamples=199, **tree)
    assert run("verify", "mine", "--store", address).exit_code == 0
    for file in folder.iterdir():
        file.unlink()
    asked = ("-m", metric, "--intervals", "0.9", "--resamples", "199", "--report", "json", "--store", address)
    shown = json.loads(run("runs", "show", "mine", *asked).stdout)
    wanted = json.loads(fresh.to_json())
    for system, again in zip(wanted["systems"], shown["systems"], strict=True):
        assert [(m["value"], m["interval"]) for m in again["metrics"]] == [
            (m["value"], m["interval"]) for m in system["metrics"]
        ]
    store = open_store(address)
    assert numbers(store["mine"].evaluate()) == numbers(store["mine"].evaluation)
    pair = compare_runs([store["mine"]], [metric], draws=99).pairs[0]
    assert (pair.difference, pair.p) == (compared.pairs[0].difference, compared.pairs[0].p)
    assert "≠" not in run("verify", "mine", "--store", address, code=1).stdout
    store.close()


def test_every_command_on_a_kept_run(kept, tmp_path):
    name, address, files, folder, _ = kept
    for file in folder.iterdir():
        file.unlink()
    at = ("--store", address)
    names = [Path(f).stem for f in files[1:]]
    shown = run("show", "mine", "--worst", "3", "--disagree", ",".join(names), *at).stdout
    assert f"Worst units: {names[0]}" in shown
    assert f"Where {names[0]} and {names[1]} disagree" in shown
    if name in ("labels", "label-sets", "weights", "spans", "clusters", "probabilities", "numbers"):
        assert " text\n" in shown or " text  " in shown
    assert "mine" in run("runs", "list", *at).stdout
    assert "Scores" in run("runs", "show", "mine", *at).stdout
    run("runs", "tag", "mine", "other", *at)
    assert "the same" in run("runs", "diff", "mine", "other", *at).stdout
    assert names[0] in run("runs", "compare", "mine", *at).stdout
    run("runs", "export", "mine", "-o", str(tmp_path / "run.karat"), *at)
    run("runs", "delete", "mine", "--yes", *at)
    assert run("runs", "list", *at).stdout == ""
    run("runs", "import", str(tmp_path / "run.karat"), *at)
    page = run("runs", "show", "mine", "--report", "html", *at).stdout
    assert "Worst units" in page

"""karat fits in: several reports, JUnit, defaults of a project, consoles, scikit-learn and trackers of experiments."""

import importlib.util
import json
import pydoc
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score

import karat
from karat.cli.main import karat as command
from karat.exports.flat import flat
from karat.exports.scikit_learn import function, scorer


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.csv").write_text("id,label\n1,a\n2,b\n3,a\n4,b\n")
    (tmp_path / "out.csv").write_text("id,label\n1,a\n2,b\n3,a\n4,a\n")
    return tmp_path


def run(*line):
    return CliRunner().invoke(command, [*line])


def evaluated(*line):
    return run("evaluate", "gold.csv", "out.csv", *line)


# ---- reports


def test_several_reports(files):
    found = evaluated("--report", "json", "-o", "a.json", "--report", "html", "-o", "b.html", "--report", "tsv")
    assert found.exit_code == 0
    assert json.loads((files / "a.json").read_text())["context"] == "monolabel"
    assert (files / "b.html").read_text().startswith("<!doctype html>")
    assert found.stdout.startswith("system\tmetric")


@pytest.mark.parametrize("line", [["--report", "json", "--report", "html"], ["-o", "a", "-o", "b"]])
def test_reports_without_a_place(files, line):
    found = evaluated(*line)
    assert found.exit_code == 2
    assert "give each report its file" in found.stderr
    assert sorted(p.name for p in files.iterdir()) == ["gold.csv", "out.csv"]


@pytest.mark.parametrize(
    ("verb", "name", "begins"),
    [
        ("evaluate", "a.json", "{"),
        ("evaluate", "a.HTML", "<!doctype html>"),
        ("evaluate", "a.md", "**Scores**"),
        ("evaluate", "a.xml", "<?xml"),
        ("evaluate", "a.csv", "system,metric"),
        ("evaluate", "a.txt", "Context:"),
        ("compare", "a.html", "<!doctype html>"),
    ],
)
def test_the_suffix_says_which_report(files, verb, name, begins):
    (files / "other.csv").write_text("id,label\n1,a\n2,b\n3,b\n4,a\n")
    assert run(verb, "gold.csv", "out.csv", "other.csv", "-m", "accuracy", "-o", name).exit_code == 0
    assert (files / name).read_text().startswith(begins)


@pytest.mark.parametrize("name", ["a.pdf", "a.XLSX", "a.png"])
def test_no_table_is_written_under_a_name_that_opens_elsewhere(files, name):
    found = evaluated("-m", "accuracy", "-o", name)
    assert (found.exit_code, (files / name).exists()) == (2, False)
    assert f"no report here is a {name[1:].lower()} file: name it .json, .md" in found.stderr
    assert evaluated("-m", "accuracy", "--report", "table", "-o", name).exit_code == 0  # said is said


def test_what_is_said_goes_before_the_suffix(files):
    evaluated("-m", "accuracy", "--report", "tsv", "-o", "a.csv")
    assert (files / "a.csv").read_text().startswith("system\tmetric")
    evaluated("-m", "accuracy", "-o", "a.json", "-o", "a.md")
    assert (files / "a.json").read_text().startswith("{")
    assert (files / "a.md").read_text().startswith("**Scores**")


def test_two_reports_in_one_file(files):
    found = evaluated("--report", "json", "-o", "a", "--report", "html", "-o", "./a")
    assert (found.exit_code, "two reports go to one file" in found.stderr) == (2, True)
    assert not (files / "a").exists()


OVER_AN_INPUT = [
    (["evaluate", "gold.csv", "out.csv", "-o", "out.csv"], "the predictions of 'out'"),
    (["evaluate", "gold.csv", "out.csv", "-o", "./gold.csv"], "gold"),
    (["evaluate", "gold.csv", "out.csv", "--report", "json", "-o", "a.json", "-o", "link"], "the predictions of 'out'"),
    (["evaluate", "gold.csv", "x=out.csv,other.csv", "-o", "other.csv"], "the predictions of 'x'"),
    (["evaluate", "gold.csv", "o*.csv", "--append", "-o", "other.csv"], "the predictions of 'other'"),
    (["evaluate", "gold.csv", "out.csv", "--hierarchy", "tree.json", "-o", "tree.json"], "the hierarchy"),
    (["evaluate", "gold.csv", "out.csv", "--judge", "other.csv", "-o", "other.csv"], "the judge"),
    (["evaluate", "brat", "brat", "--allow-same", "-o", "brat/1.txt"], "gold"),
    (["compare", "gold.csv", "out.csv", "other.csv", "-o", "other.csv"], "the predictions of 'other'"),
    (["compare", "gold.csv", "out.csv", "other.csv", "--disagree", "out.csv"], "the predictions of 'out'"),
    (["design", "gold.csv", "out.csv", "--width", "0.1", "-o", "gold.csv"], "gold"),
    (["design", "gold.csv", "out.csv", "--width", "0.1", "--annotator", "other.csv", "-o", "other.csv"], "annotator"),
    (["evaluate-poetry-spans", "gold.csv", "out.csv", "out.csv", "--force"], "the system's file"),
    (["runs", "show", "latest", "--store", "kept.db", "-o", "kept.db"], "the store"),
    (["runs", "compare", "latest", "--store", "kept.db", "-o", "kept.db"], "the store"),
    (["runs", "export", "latest", "--store", "kept.db", "-o", "kept.db"], "the store"),
]


@pytest.mark.parametrize(("line", "what"), OVER_AN_INPUT)
def test_no_report_goes_where_it_is_made_from(files, line, what):
    (files / "other.csv").write_text("id,label\n1,a\n2,b\n3,b\n4,a\n")
    (files / "tree.json").write_text('{"a": {}, "b": {}}')
    (files / "link").symlink_to("out.csv")
    (files / "brat").mkdir()
    (files / "brat" / "1.txt").write_text("Anna ran")
    (files / "brat" / "1.ann").write_text("T1\tPER 0 4\tAnna\n")
    assert run("evaluate", "gold.csv", "out.csv", "--save", "--store", "kept.db").exit_code == 0
    before = {path: path.read_bytes() for path in files.rglob("*") if path.is_file()}
    found = run(*line)
    assert found.exit_code == 2
    assert what in found.stderr
    assert "name another file" in found.stderr
    assert {path: path.read_bytes() for path in files.rglob("*") if path.is_file()} == before


def test_a_report_may_be_written_again(files):
    for _ in range(2):
        assert evaluated("-o", "report.html").exit_code == 0
    assert evaluated("-o", "/dev/null").exit_code == 0


def test_junit(files):
    (files / "bad.csv").write_text("id,label\n1,a\n1,<b>\n")
    found = run(
        "evaluate", "gold.csv", "out.csv", "bad.csv", "-m", "accuracy,f1", "--keep-going",
        "--fail-under", "accuracy=0.9", "--fail-under", "f1=0.5", "--report", "junit",
    )  # fmt: skip
    suite = ElementTree.fromstring(found.stdout.encode()).find("testsuite")
    assert suite.attrib | {"name": ""} == {"name": "", "tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    assert [(c.get("classname"), c.get("name"), c[0].tag) for c in suite] == [
        ("out", "accuracy", "failure"),
        ("out", "f1", "system-out"),
        ("bad", "input", "error"),
    ]


@pytest.mark.parametrize(
    "metrics", [["-m", "accuracy,f1"], ["-m", "accuracy", "-m", "f1"], ["-m", "accuracy, f1(average=macro)"]]
)
def test_metrics_with_commas(files, metrics):
    report = json.loads(evaluated(*metrics, "--report", "json").stdout)
    assert [m["name"].split()[0] for m in report["systems"][0]["metrics"]] == ["Accuracy", "F1"]


# ---- defaults of a project


def test_defaults_of_a_project(files):
    (files / "karat.toml").write_text(
        'digits = 1\nmetric = "kappa"\n[evaluate]\nmetric = ["accuracy"]\nreport = "csv"\n'
    )
    assert [line.split(",")[1] for line in evaluated().stdout.splitlines()[1:]] == ["accuracy"]
    assert "F1 (macro, all classes)" in evaluated("-m", "f1", "--report", "table").stdout
    (files / "inner").mkdir()
    (files / "other.csv").write_text("id,label\n1,a\n2,b\n3,b\n4,a\n")
    assert "kappa" in run("compare", "gold.csv", "out.csv", "other.csv").stdout


def test_defaults_in_pyproject(files, monkeypatch):
    (files / "pyproject.toml").write_text('[tool.karat.evaluate]\nreport = "json"\n')
    (files / "inner").mkdir()
    monkeypatch.chdir(files / "inner")
    assert json.loads(run("evaluate", "../gold.csv", "../out.csv").stdout)["context"] == "monolabel"
    (files / "inner" / ".git").mkdir()
    assert not run("evaluate", "../gold.csv", "../out.csv").stdout.startswith("{")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[evaluate]\nmetrik = 'f1'\n", "did you mean 'metric'?"),
        ("digits =", "cannot be read"),
        ("digits = 99\n", "karat.toml: digits: 99"),
        ("digit = 2\n", "did you mean 'digits'?"),
        ("[evalute]\nmetric = 'f1'\n", "no command 'evalute'; did you mean 'evaluate'?"),
        ("evaluate = 3\n", "write [evaluate] as a table"),
        ("digits = true\n", "karat.toml: digits: 'True'"),
        ("resamples = 99.5\n", "karat.toml: resamples: '99.5'"),
        ("context = ['monolabel']\n", "context takes one value"),
        ("[evaluate]\nintervals = 'yes'\n", "karat.toml: intervals: 'yes'"),
    ],
)
def test_bad_defaults(files, text, said):
    (files / "karat.toml").write_text(text)
    found = evaluated()
    assert found.exit_code == 2
    assert said in found.stderr


@pytest.mark.parametrize(("said", "intervals"), [("true", True), ("false", False), ("0.9", True)])
def test_intervals_by_default(files, said, intervals):
    (files / "karat.toml").write_text(f"metric = 'accuracy'\nintervals = {said}\n")
    assert ("[0." in evaluated().stdout) is intervals


def test_a_table_that_is_no_table(files):
    (files / "pyproject.toml").write_text("[tool]\nkarat = 3\n")
    assert "write [tool.karat] as a table" in evaluated().stderr
    (files / "pyproject.toml").write_text("tool = 3\n")
    assert evaluated().exit_code == 0


def test_the_store_of_a_project(files, monkeypatch):
    """`store` is a command and an option; runs are found in the store where evaluations keep them, from inner folders, too."""
    (files / "karat.toml").write_text('store = "kept.db"\n[evaluate]\nmetric = "accuracy"\nsave = true\n')
    assert "in kept.db" in evaluated().stderr
    (files / "inner").mkdir()
    monkeypatch.chdir(files / "inner")
    assert "accuracy 0.7500" in run("runs", "list").stdout
    assert not [*(files / "inner").iterdir()]


def test_wrong_tables_of_groups(files):
    (files / "karat.toml").write_text("[runs.lst]\njson = true\n")
    assert "did you mean 'list'?" in run("runs", "list").stderr


# ---- consoles


def test_the_public_names_are_shown():
    assert {*karat.__all__} <= {*dir(karat)}
    assert not {"import_module", "Any", "annotations"} & {*dir(karat)}
    helped = pydoc.render_doc(karat, renderer=pydoc.plaintext)
    assert all(name in helped for name in ("evaluate(", "compare(", "class Evaluation"))


def test_short_forms():
    gold = ["a", "b"] * 20
    e = karat.evaluate(gold, {"x": gold, "y": gold[::-1]}, intervals=True)
    c = karat.compare(gold, {"x": gold, "y": gold[::-1]})
    for one in (e, c, e.systems[0], e.systems["y"]["f1"]):
        assert len(repr(one)) < 200
    assert e.systems["x"] is e.systems[0]
    with pytest.raises(karat.MetricError, match="there is no system 'z'; there are: x, y"):
        e.systems["z"]


@pytest.mark.parametrize("verb", ["demo", "metrics"])
def test_a_reader_that_has_seen_enough(verb):
    line = f"{shlex.quote(sys.executable)} -m karat {verb} | head -2 >/dev/null; exit ${{PIPESTATUS[0]}}"
    assert subprocess.run(["bash", "-c", line], check=False).returncode == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_of_a_shell(shell):
    found = subprocess.run(
        [sys.executable, "-m", "karat"], env={"_KARAT_COMPLETE": f"{shell}_source", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "karat" in found.stdout


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("validat", ["validate"]),
        ("evaluate --report mark", ["markdown"]),
        ("evaluate go", ["go"]),  # of the kind `file`: the shell completes it
        ("evaluate gold.csv o", ["o"]),
        ("validate --gold go", ["go"]),
        ("evaluate -c numbers -m ma", ["mae", "max_error"]),
        ("compare -m accuracy,bala", ["accuracy,balanced_accuracy"]),
        ("metrics bala", ["balanced_accuracy"]),
    ],
)
def test_what_a_shell_offers(words, offered, files, monkeypatch):
    (files / "karat.toml").write_text("digit = 2\n")  # no moment to complain of it
    monkeypatch.setenv("_KARAT_COMPLETE", "bash_complete")
    *before, begun = words.split()
    items = ShellComplete(command, {}, "karat", "_KARAT_COMPLETE").get_completions(before, begun)
    assert [item.value for item in items] == offered
    assert all(item.type == "file" for item in items) is (offered == [begun])


# ---- scikit-learn


def data():
    X, y = make_classification(120, 6, n_informative=4, n_classes=3, random_state=0)
    return X, y


def test_scorers_in_cross_validation():
    X, y = data()
    model = LogisticRegression(max_iter=500)
    for own, theirs in (("f1", "f1_macro"), ("accuracy", "accuracy")):
        wanted = cross_val_score(model, X, y, scoring=theirs)
        assert np.allclose(cross_val_score(model, X, y, scoring=scorer(own)), wanted)
        assert np.allclose(cross_val_score(model, X, y, scoring=make_scorer(function(own))), wanted)
    lower = cross_val_score(model, X, y, scoring=scorer("hamming_loss"))
    assert np.allclose(lower, cross_val_score(model, X, y, scoring="accuracy") - 1)


@pytest.mark.parametrize(("own", "theirs"), [("roc_auc", "roc_auc_ovr"), ("log_loss", "neg_log_loss")])
def test_scorers_of_probabilities(own, theirs):
    X, y = data()
    model = LogisticRegression(max_iter=500)
    assert np.allclose(cross_val_score(model, X, y, scoring=scorer(own)), cross_val_score(model, X, y, scoring=theirs))


@pytest.mark.parametrize("make", [scorer, function])
def test_a_scorer_is_checked_before_the_search(make):
    with pytest.raises(karat.MetricError, match="did you mean accuracy"):
        make("acuracy")
    with pytest.raises(karat.MetricError, match="is not a metric"):
        make(["accuracy", "f1"])


def test_scorers_in_a_search_with_workers():
    X, y = data()
    found = GridSearchCV(
        LogisticRegression(max_iter=500), {"C": [0.1, 1]}, scoring=scorer("kappa"), cv=2, n_jobs=2
    ).fit(X, y)
    assert 0 < found.best_score_ <= 1


def test_an_undefined_score_is_no_number():
    assert np.isnan(function("kappa")(["a", "a"], ["a", "a"]))


# ---- trackers, against the packages themselves


def needs(package):
    reason = f"{package} is an optional package of the extra `full`"
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=reason)


def evaluation():
    return karat.evaluate(["a", "b", "b", "a"], {"x": ["a", "b", "a", "a"], "y": ["b"] * 4}, metrics=["accuracy", "f1(average=micro)"], intervals=0.9)  # fmt: skip


def test_flat_names():
    names = flat(evaluation())
    assert {"x/accuracy", "x/accuracy_low", "x/accuracy_high", "y/f1_average_micro"} <= {*names}


def test_flat_names_are_told_apart():
    e = karat.evaluate(["a", "b"], {"run (1)": ["a", "b"], "run/1": ["a", "a"]}, metrics=["accuracy"])
    assert flat(e) == {"run_1/accuracy": 1.0, "run_1_2/accuracy": 0.5}


def test_flat_comparison():
    gold = ["a", "b"] * 20
    c = karat.compare(gold, {"x": gold, "y": ["a"] * 40}, metrics=["accuracy"])
    assert flat(c)["x/accuracy"] == 1.0


def test_a_metric_of_another_context():
    with pytest.raises(
        karat.MetricError, match=r"roc_auc is a metric of .*probabilities, and the data are taken for mono"
    ):
        karat.evaluate(["a", "b"], ["a", "b"], metrics=["roc_auc"])
    with pytest.raises(karat.MetricError, match=r"f1 has no parameter 'gamma'"):
        karat.evaluate(["a", "b"], ["a", "b"], metrics=["f1(gamma=2)"])


def typed(word):
    """The lines of docs/tools.md that name a package, as a reader types them."""
    lines = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8").splitlines()
    return "\n".join(line.strip() for line in lines if line.startswith("    ") and word in line)


@pytest.mark.slow
@needs("mlflow")
def test_mlflow(tmp_path, monkeypatch):
    import mlflow

    from karat.exports.mlflow import log

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # a database would need more packages than karat's part does
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    mlflow.set_experiment("karat")
    with mlflow.start_run() as active:
        logged = log(evaluation())
    kept = mlflow.get_run(active.info.run_id).data.metrics
    assert kept == pytest.approx(logged)
    names = {f.path for f in mlflow.MlflowClient().list_artifacts(active.info.run_id)}
    assert names == {"karat.json", "karat.html"}
    compared = karat.compare(["a", "b"] * 10, {"x": ["a", "b"] * 10, "y": ["a"] * 20}, metrics=["accuracy"])
    for result in (evaluation(), compared):
        with mlflow.start_run() as active:
            exec(typed("mlflow"), {"e": result})
        assert mlflow.get_run(active.info.run_id).data.metrics["y/accuracy"] == 0.5


@pytest.mark.slow
@needs("wandb")
def test_wandb(tmp_path):
    import wandb

    from karat.exports.wandb import log

    with pytest.raises(ValueError, match="no run is active"):
        log(evaluation())
    run = wandb.init(mode="offline", dir=tmp_path, project="karat")
    logged = log(evaluation(), run)
    assert {k: run.summary[k] for k in logged} == pytest.approx(logged)
    exec(typed("wandb"), {"e": evaluation(), "run": run})
    run.finish()


@pytest.mark.slow
@needs("evaluate")
def test_hugging_face_evaluate():
    from karat.exports.hugging_face import load

    metric = load("accuracy", "kappa")
    assert metric.compute(predictions=[0, 1, 1], references=[0, 1, 0]) == pytest.approx(
        {"accuracy": 2 / 3, "kappa": 0.4}
    )
    texts = load("accuracy", kind="string")
    for gold, pred in (("a", "a"), ("b", "a")):
        texts.add(prediction=pred, reference=gold)
    assert texts.compute() == {"accuracy": 0.5}
    assert np.isnan(load("kappa").compute(predictions=[0, 0], references=[0, 0])["kappa"])
    with pytest.raises(karat.MetricError, match="did you mean"):
        load("acuracy")
    exec(typed("hugging_face"))

# SPDX-License-Identifier: Apache-2.0
"""The calls of PyEvALL's manual, run by PyEvALL itself and by the door with the import lines alone changed."""

import contextlib
import io
import json
import os
import re
import subprocess

import pytest

from tests.doors.pyevall_case import answer, differences
from tests.oracle import Unavailable, ask, python

THEIRS = """
from pyevall.evaluation import PyEvALLEvaluation
from pyevall.metrics.metricfactory import MetricFactory
from pyevall.utils.utils import PyEvALLUtils
"""
OURS = "from karat.doors.pyevall import MetricFactory, PyEvALLEvaluation, PyEvALLUtils\n"
QUIET = "params = {PyEvALLUtils.PARAM_LOG_LEVEL: PyEvALLUtils.PARAM_OPTION_LOG_LEVEL_NONE}\n"
FRAME = "params[PyEvALLUtils.PARAM_REPORT] = PyEvALLUtils.PARAM_OPTION_REPORT_DATAFRAME\n"
EMBEDDED = "params[PyEvALLUtils.PARAM_REPORT] = PyEvALLUtils.PARAM_OPTION_REPORT_EMBEDDED\n"
RUN = "report = PyEvALLEvaluation().evaluate(PRED, GOLD, metrics, **params)\n"
LABELS = "metrics = [MetricFactory.Accuracy.value, MetricFactory.Precision.value, MetricFactory.FMeasure.value]\n"
EXAMPLES = {
    "one file": LABELS + RUN + "report.print_report()",
    "several files": LABELS + FRAME
    + "report = PyEvALLEvaluation().evaluate_lst([PRED, OTHER], GOLD, metrics, **params)\nreport.print_report()",
    "several files, embedded": LABELS + EMBEDDED
    + "report = PyEvALLEvaluation().evaluate_lst([PRED, OTHER], GOLD, metrics, **params)\nreport.print_report()",
    "hierarchy": "metrics = [MetricFactory.ICM.value, MetricFactory.Accuracy.value]\n"
    + 'params[PyEvALLUtils.PARAM_HIERARCHY] = {"P": ["A", "B"], "C": []}\n' + EMBEDDED + RUN + "report.print_report()",
    "table": LABELS + FRAME + RUN + "report.print_report()",
    "Markdown and TSV": LABELS + FRAME + RUN + "report.print_report_to_markdown()\nreport.print_report_tsv()",
    "parameters": "metrics = [MetricFactory.FMeasure.value, MetricFactory.ICM.value]\n"
    'params["metric_params"] = {"FMeasure": {"alfa_param": 0.9}, MetricFactory.ICM.value: {"alpha_1": 2, "beta": 2.5}}\n'
    + RUN + "report.print_report()",
    "a metric for other data": "metrics = [MetricFactory.MAP.value, 'Nope']\n" + EMBEDDED + RUN + "report.print_report()",
}  # fmt: skip


@pytest.fixture(scope="module")
def oracle():
    try:
        return str(python())
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def files(tmp_path):
    gold, labels = "AABBC", {"pred": "ABBBC", "other": "AACAC"}
    for name, values in {"gold": gold, **labels}.items():
        rows = [{"test_case": "t", "id": str(n), "value": value} for n, value in enumerate(values)]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    return {name.upper(): str(tmp_path / f"{name}.json") for name in ("gold", "pred", "other")}


def essential(printed):
    """Without descriptions, which are in our words, what PyEvALL says of itself, and the last digits."""
    lines = [
        line for line in printed.splitlines() if not line.startswith(("cargado", "This is a table", "Scores only"))
    ]
    text = re.sub(r'"description": ".*"', "", "\n".join(lines))
    return re.sub(r"\d\.\d{12,}", lambda number: f"{float(number[0]):.12f}", text)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_print_the_same(oracle, files, name):
    paths = "".join(f"{name} = {path!r}\n" for name, path in files.items())
    script = paths + QUIET + EXAMPLES[name]
    environment = {**os.environ, "PYTHONPATH": "", "PYTHONIOENCODING": "utf-8"}
    theirs = subprocess.run(
        [oracle, "-c", THEIRS + script], capture_output=True, text=True, env=environment, check=True
    )
    with contextlib.redirect_stdout(io.StringIO()) as ours:
        exec(OURS + script, {})
    assert essential(ours.getvalue()) == essential(theirs.stdout)


def test_parameters_at_top_level_as_the_manual_shows_them(files):
    """PyEvALL ignores this form; the manual promises that it counts."""
    from karat.doors.pyevall import MetricFactory, PyEvALLEvaluation

    name = MetricFactory.FMeasure.value
    found = [
        PyEvALLEvaluation().evaluate(files["PRED"], files["GOLD"], [name], **params).report["metrics"][name]
        for params in ({name: {"alfa_param": 0.9}}, {"metric_params": {name: {"alfa_param": 0.9}}}, {})
    ]
    assert found[0] == found[1] != found[2]


def test_every_report_prints_tables(files, capsys):
    from karat.doors.pyevall import PyEvALLEvaluation

    report = PyEvALLEvaluation().evaluate(files["PRED"], files["GOLD"], ["Accuracy"])
    report.print_report_to_markdown()
    report.print_report_tsv()
    several = PyEvALLEvaluation().evaluate_lst([files["PRED"], files["OTHER"]], files["GOLD"], ["Accuracy"])
    several.print_report_tsv()
    printed = capsys.readouterr().out
    assert "|  0 | pred.json |" in printed
    assert "1\tother.json\t0.6" in printed


CASES = {
    "unknown report, and a metric that fails": {"params": {"report": "xml"}, "metrics": ["ICMNorm"], "gold": "A", "pred": "A"},
    "kinds are compared before gold's empty records are dropped": {"gold": ["", 1], "pred": ["A"], "metrics": ["MRR"]},
    "a class under two parents": {"params": {"hierarchy": {"A": {"B": ["C"]}, "D": {"C": ["B"]}}}, "metrics": ["ICM", "ICMNorm"],
                                  "gold": "ABCDCB", "pred": "BBDDCA"},
    "sets of classes under two parents": {"params": {"hierarchy": {"A": {"B": ["C"]}, "D": {"C": ["B"]}}}, "metrics": ["ICM"],
                                          "gold": [["A", "B"], ["C"], ["D"]], "pred": [["B", "C"], ["C", "D"], ["A"]]},
    "kappa's failure comes before the hierarchy": {"params": {"hierarchy": {"A": []}}, "metrics": ["Kappa"], "gold": "A", "pred": "A"},
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_strict_answers_that_once_differed(oracle, name):
    case = {"params": {}, "gold_file": "gold.json", "pred_file": "pred.json", **CASES[name]}
    for side in ("gold", "pred"):
        case[side] = json.dumps([{"test_case": "t", "id": str(n), "value": one} for n, one in enumerate(case[side])])
    (theirs,) = ask([case])
    assert list(differences(theirs, answer(case))) == []

# SPDX-License-Identifier: Apache-2.0
"""The default door: PyEvALL's proven bugs are mended, and a finding says so."""

import contextlib
import io
import json
import logging
import threading

import pytest

from karat.doors.pyevall import MetricFactory, PyEvALLEvaluation, PyEvALLReport, PyEvALLUtils
from tests.doors.cases import case
from tests.doors.pyevall_case import answer, differences, files
from tests.doors.test_pyevall_vectors import RECORDS

BY_NAME = {record["name"]: record for record in RECORDS}


def report(record, tmp_path, strict=False, **params):
    paths = files(record, tmp_path)
    given = {"report": "embedded", **record["params"], **params}
    return PyEvALLEvaluation(strict=strict).evaluate(paths["pred"], paths["gold"], record["metrics"], **given)


@pytest.mark.parametrize("record", [r for r in RECORDS if r["name"] != "mono_report_invalid"], ids=lambda r: r["name"])
def test_nothing_raises_and_every_other_number_is_said_to_be_other(record, tmp_path):
    """What crashes PyEvALL is a score, an undefined score or an error in the report."""
    ours = report(record, tmp_path)
    assert set(ours.report) == {"metrics", "files"}
    said = {finding.message.partition(":")[0] for finding in ours.findings}
    files_said = said & {record["gold_file"], record["pred_file"]}
    for metric, entry in ours.report["metrics"].items():
        theirs = record["report"].get("metrics", {metric: entry}).get(metric, {})
        unlike = list(differences(scores(theirs), scores(entry)))
        assert not unlike or metric in said or files_said, (metric, unlike)


def scores(entry):
    return entry.get("results", {"test_cases": [], "average_per_test_case": None})


def test_an_unknown_report_is_refused(tmp_path):
    with pytest.raises(ValueError, match="report='xml' is not one of"):
        report(BY_NAME["mono_report_invalid"], tmp_path)


@pytest.mark.parametrize(
    ("name", "metric", "expected"),
    [
        ("mono_same_name_tsv", "Accuracy", 0.0),  # all labels are wrong; PyEvALL scores gold against gold
        ("mono_tsv_bom", "Accuracy", 0.75),  # the header is no test case
        ("file_both_jsonl", "Accuracy", 0.75),
        ("mono_csv_na_labels", "Accuracy", 1 / 3),  # NA and None are labels
        ("mono_single_class_icmnorm", "ICMNorm", None),
        ("soft_class_named_value", "MAE", 0.125),  # (|.2 − .7| + 0)/2 over two items
        ("soft_class_named_id", "MAE", 0.125),
        ("soft_class_named_value", "ICMSoft", 1.70186293),
        ("clu_perfect", "Entropy", 0.0),
        ("clu_perfect", "ClassEntropy", 0.0),
        ("clu_orthogonal", "VariationOfInformation", 2.0),  # 1 bit each way
        ("clu_vi_extra_items", "VariationOfInformation", 0.0),
        ("clu_overlap_perfect", "ReliabilityBCubed", 1.0),
        ("rank_float_gold_and_pred", "MRR", 1.0),
    ],
)
def test_mended_scores(name, metric, expected, tmp_path):
    found = report(BY_NAME[name], tmp_path)
    average = found.report["metrics"][metric]["results"]["average_per_test_case"]
    assert average == (expected if expected is None else pytest.approx(expected, abs=1e-6))
    assert found.findings or name == "mono_single_class_icmnorm"  # where PyEvALL has no number


def test_a_test_case_does_not_know_of_another(tmp_path):
    """ICM of the second test case is the same whichever comes first."""
    scores = []
    for name in ("mono_icm_tc_leak_ab", "mono_icm_tc_leak_ba"):
        (tmp_path / name).mkdir()
        cases = report(BY_NAME[name], tmp_path / name).report["metrics"]["ICM"]["results"]["test_cases"]
        scores.append({case["name"]: pytest.approx(case["average"], abs=1e-12) for case in cases})
    assert scores[0] == {name: value.expected for name, value in scores[1].items()}


def test_params_of_the_manual(tmp_path):
    """{"FMeasure": {"alfa_param": …}} at top level and in metric_params; members and single names as metrics."""
    record = BY_NAME["mono_param_f_09"]
    paths = files(record, tmp_path)

    def f(metrics, **params):
        found = PyEvALLEvaluation().evaluate(paths["pred"], paths["gold"], metrics, **params).report["metrics"]
        return found["FMeasure"]["results"]["average_per_test_case"]

    nested = f(["FMeasure"], metric_params={"FMeasure": {"alfa_param": 0.9}})
    assert nested == f(["FMeasure"], FMeasure={"alfa_param": 0.9}) == f("FMeasure", alfa_param=0.9)
    assert nested == f([MetricFactory.FMeasure], alfa_param=0.9, **{PyEvALLUtils.PARAM_REPORT: "embedded"})
    assert len(MetricFactory.get_lst_all_metrics()) == 33


def test_hierarchy_of_the_caller_is_left_alone(tmp_path):
    tree = {"P": ["A"]}
    record = {"gold": '[{"test_case":"t","id":"1","value":["Z"]},{"test_case":"t","id":"2","value":["A"]}]'}
    record |= {"pred": record["gold"], "gold_file": "g", "pred_file": "p", "metrics": ["ICM"], "params": {}}
    for strict in (True, False):
        (tmp_path / str(strict)).mkdir()
        report(record, tmp_path / str(strict), strict, hierarchy=tree)
    assert tree == {"P": ["A"]}


def test_threads_and_logging_and_stdout(tmp_path):
    """Files of one name in many threads; nothing global changes, nothing is printed."""
    handlers, levels, wrong = list(logging.root.handlers), logging.root.level, []

    def work(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        record = dict(BY_NAME["mono_tsv_header"], gold_file="data.tsv", pred_file="data.tsv")
        record["pred"] = record["gold"] if number % 2 else "t\t1\tno\n"
        got = report(record, folder).report["metrics"]["Accuracy"]["results"]["average_per_test_case"]
        wrong.extend([] if got == number % 2 else [number])

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (wrong, printed.getvalue()) == ([], "")
    assert (logging.root.handlers, logging.root.level) == (handlers, levels)


def test_frames_of_several_test_cases_and_files(tmp_path, capsys):
    record = BY_NAME["mono_multi_tc_0"]
    paths = files(record, tmp_path)
    found = PyEvALLEvaluation().evaluate_lst(
        [paths["pred"], paths["gold"]], paths["gold"], ["Accuracy", "Precision"], report="dataframe"
    )
    assert found.df_average["files"].tolist() == ["pred.json", "gold.json"]
    assert found.df_average["Acc"].tolist() == [pytest.approx(0.5571428571428572), 1.0]
    assert found.df_test_case["files"].tolist() == [f"{f}.json_{t}" for f in ("pred", "gold") for t in ("t0", "t1")]
    assert "Pr_A" in found.df_test_case_classes
    found.print_report_tsv()
    found.print_report_to_markdown()
    found.print_report()
    assert "| pred.json_t0 |" in capsys.readouterr().out


def test_several_files_in_one_report(tmp_path, capsys):
    paths = files(BY_NAME["mono_multi_tc_0"], tmp_path)
    found = PyEvALLEvaluation().evaluate_lst([paths["pred"], paths["gold"]], paths["gold"], ["Accuracy"])
    assert list(found.report) == ["EVALUATION_1", "EVALUATION_2"]
    found.print_report()
    assert json.loads(capsys.readouterr().out) == found.report


def test_lists_in_memory():
    """PyEvALL's docstrings show lists of labels; records work too."""
    found = PyEvALLEvaluation().evaluate([0.1, 0.2, 0.3], [0.2, 0.2, 0.3], ["Accuracy"]).report
    assert found["metrics"]["Accuracy"]["results"]["average_per_test_case"] == pytest.approx(2 / 3)
    records = [{"test_case": "t", "id": "1", "value": ["A"]}]
    found = PyEvALLEvaluation().evaluate(records, records, ["Recall"]).report
    assert found["metrics"]["Recall"]["results"]["average_per_test_case"] == 1.0
    with pytest.raises(TypeError):
        PyEvALLEvaluation(strict=True).evaluate(records, records, ["Recall"])


def test_nothing_raises_on_random_input():
    for seed in range(60):
        assert set(answer(case(seed), strict=False)) == {"metrics", "files"}, seed


@pytest.mark.parametrize(
    ("gold", "what"),
    [
        ('t,1,"A\nt,2,"B\n', "quotes"),  # PyEvALL reads one record: A, the second line, B
        ("test_case , id,value\nt,1,A\nt,2,B\n", "header"),
        ('t\t1\t{"A": 0.123456789012, "B": 1}\nt\t2\t{"A": 1, "B": 0}\n', "tenth"),
    ],
)
def test_a_table_that_is_read_otherwise(tmp_path, gold, what):
    path = tmp_path / "gold.csv"
    path.write_text(gold)
    report = PyEvALLEvaluation().evaluate(path, path, ["Accuracy"])
    assert any(what in finding.message for finding in report.findings)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_only_pyevall_takes(tmp_path, value):
    found = report(BY_NAME["mono_rand_01"], tmp_path, beta=value)
    assert [f.message for f in found.findings if f.message.startswith("ICM: beta")]
    assert found.report["metrics"]["ICM"]["warnings"][0]["name"] == "METRIC_PARAM_BETA_NOT_VALID_WARNING"


@pytest.mark.parametrize(
    ("gold", "pred", "expected"),
    [("aa", "xx", 1.0), ("ab", "xx", 0.0), ("aa", "xy", 0.0), ("ab", "xy", 1.0), ("a", "x", 1.0)],
)
def test_nmi_of_one_cluster_is_said_to_be_other(gold, pred, expected):
    """PyEvALL has no value where either side is one cluster."""
    sides = [
        [{"test_case": "t", "id": str(n), "value": [label]} for n, label in enumerate(side)] for side in (pred, gold)
    ]
    report = PyEvALLEvaluation().evaluate(*sides, ["NMI-SG"])
    assert report.report["metrics"]["NMI-SG"]["results"]["average_per_test_case"] == expected
    assert any("NMI-SG" in one.message for one in report.findings) == (len(set(gold)) == 1 or len(set(pred)) == 1)


def test_the_words_of_a_report_have_names(tmp_path):
    found = report(BY_NAME["clu_perfect"], tmp_path)
    assert isinstance(found, PyEvALLReport)
    metric = found.report[PyEvALLReport.METRIC_TAG]["Entropy"]
    assert metric[PyEvALLReport.STATUS_TAG] == PyEvALLReport.OK
    assert metric[PyEvALLReport.RESULTS_TAG][PyEvALLReport.AVERAGE_PER_TC_TAG] == 0.0
    missing = PyEvALLEvaluation().evaluate(str(tmp_path / "no"), str(tmp_path / "no"), ["Accuracy"], report="dataframe")
    assert isinstance(missing, PyEvALLReport)
    assert PyEvALLReport.FORMAT_FILE_NOT_EXIST_ERROR in str(missing.report)

# SPDX-License-Identifier: Apache-2.0
"""How commands end: interrupted, with nowhere to write to, or with file names made to mislead."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import karat
from karat.cli.failures import as_github
from karat.cli.main import karat as command
from karat.metric import split_metrics

KARAT = [sys.executable, "-m", "karat"]
HERE = os.environ | {"PYTHONPATH": str(Path(karat.__file__).parents[1])}
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs pipes and devices as Linux has them")


def interrupted(code: str, sent: str = "SIGINT") -> subprocess.CompletedProcess[str]:
    """A command that a signal stops while ``code`` runs."""
    program = (
        "import os, signal, sys, time\n"
        "from karat.cli.exits import run\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which a shell's background jobs ignore
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # which nohup ignores
        f"def command():\n    try:\n        os.kill(os.getpid(), signal.{sent}); time.sleep(9)\n    except KeyboardInterrupt:\n        {code}\n"
        "sys.exit(run(command))"
    )
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=HERE, check=False)


@pytest.mark.parametrize(
    "code",
    [
        "raise",
        "raise RuntimeError('Query interrupted')",  # as the engine says it
        "return",
        "sys.exit(2)",
        "import click; raise click.Abort",
        "raise OSError(4, 'interrupted')",
    ],
)
def test_ctrl_c_is_130_whatever_becomes_of_the_exception(code):
    said = interrupted(code)
    assert said.returncode == 130
    assert "fault of karat" not in said.stderr


@ON_LINUX
@pytest.mark.parametrize("sent", ["SIGTERM", "SIGHUP"])
def test_who_is_ended_cleans_up_first(sent):
    said = interrupted("print('clean'); raise", sent)
    assert (said.returncode, said.stdout, said.stderr) == (-getattr(signal, sent), "clean\n", "")


def hears_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore


def pressed_until_it_ends(process: subprocess.Popen[str]) -> int:
    """Python hears a signal only after the call that it was about to make: one just before a read waits with it."""
    for _ in range(60):
        process.send_signal(signal.SIGINT)
        try:
            return process.wait(2)
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    return process.wait()


@ON_LINUX
@pytest.mark.parametrize("seconds", [0, 0.3])
def test_ctrl_c_leaves_nothing_half_written(tmp_path, seconds):
    os.mkfifo(tmp_path / "gold")
    (tmp_path / "pred.csv").write_text("id,value\n1,A\n")
    line = [*KARAT, "evaluate", str(tmp_path / "gold"), str(tmp_path / "pred.csv"), "-o", str(tmp_path / "out.json")]
    process = subprocess.Popen(
        line, env=HERE | {"TMPDIR": str(tmp_path)}, stderr=subprocess.PIPE, text=True, preexec_fn=hears_ctrl_c
    )
    with open(tmp_path / "gold", "wb") as pipe:  # opens when the command does
        pipe.write(b"id,value\n")
        pipe.flush()
        time.sleep(seconds)
        assert pressed_until_it_ends(process) == 130
    assert "Traceback" not in process.stderr.read()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["gold", "pred.csv"]


@ON_LINUX
def test_a_reader_that_has_seen_enough():
    process = subprocess.Popen([*KARAT, "metrics"], env=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert (process.wait(60), process.stderr.read()) == (0, b"")


@ON_LINUX
@pytest.mark.parametrize(("where", "code"), [(">/dev/full", 2), (">&-", 0), (">&- 2>&-", 0)])
def test_output_that_goes_nowhere(where, code):
    said = subprocess.run(f"{shlex.quote(sys.executable)} -m karat metrics accuracy {where}", shell=True, capture_output=True, text=True, env=HERE, check=False)  # fmt: skip
    assert said.returncode == code
    assert "fault of karat" not in said.stderr
    assert ("No space left" in said.stderr) == (code == 2)


@ON_LINUX
@pytest.mark.parametrize("where", ["| true", ">&-", "2>/dev/full", "2>&1 | true", "2>&-", ">/dev/null 2>&1"])
@pytest.mark.parametrize(("pred", "limit", "code"), [("A", 0.5, 0), ("B", 0.5, 1), ("", 0.5, 2)])
def test_the_exit_code_says_what_was_found_whoever_listens(tmp_path, where, pred, limit, code):
    for name, label in (("gold", "A"), ("pred", pred)):
        (tmp_path / f"{name}.csv").write_text(f"id,value\n1,{label}\n")
    line = f"{shlex.join([*KARAT, 'evaluate', 'gold.csv', 'pred.csv', '--fail-under', f'accuracy={limit}'])} {where}"
    said = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=tmp_path, capture_output=True, text=True, env=HERE, check=False)  # fmt: skip
    assert (said.returncode, "Traceback" in said.stderr) == (code, False)


@ON_LINUX
def test_an_output_that_is_no_file_stays_what_it_is(tmp_path):
    (tmp_path / "gold.csv").write_text("id,value\n1,A\n")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "report.csv")
    line = [
        *KARAT,
        "evaluate",
        *[str(tmp_path / "gold.csv")] * 2,
        "--allow-same",
        "-m",
        "accuracy",
        "--report",
        "csv",
        "-o",
    ]
    process = subprocess.Popen([*line, str(tmp_path / "pipe")], env=HERE)
    with open(tmp_path / "pipe") as pipe:
        said = pipe.read()
    assert process.wait(60) == 0
    assert (tmp_path / "pipe").is_fifo()
    assert subprocess.run([*line, str(tmp_path / "link")], env=HERE, check=False).returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "report.csv").read_text() == said != ""


@ON_LINUX
def test_a_terminal_that_is_not_there(tmp_path):
    (tmp_path / "gold.csv").write_text("id,value\n1,A\n")
    line = [*KARAT, "evaluate", str(tmp_path / "gold.csv"), "/dev/tty"]
    done = subprocess.run(line, env=HERE, start_new_session=True, capture_output=True, text=True, check=False)
    assert (done.returncode, "file-unreadable" in done.stderr) == (2, True)


def test_a_file_name_breaks_out_of_no_annotation():
    found = karat.Finding("bad-row", "error", "100 %\nwrong", "mend", "a\n::error::b,c.csv", 3)
    assert as_github(found) == (
        "::error file=a%0A%3A%3Aerror%3A%3Ab%2Cc.csv,line=3,title=bad-row::100 %25%0Awrong. mend"
    )


def test_a_file_name_drives_no_terminal(tmp_path):
    path = tmp_path / "a\x1b[31m\n.csv"
    path.write_text("id,value\n1,A\n1,B\n")
    said = CliRunner().invoke(command, ["validate", str(path)])
    assert said.exit_code == 2
    assert "\x1b" not in said.output
    assert r"a\x1b[31m\n.csv:3: error[repeated-id]" in said.stderr


HOSTILE = [
    "=1+1",
    "+cmd",
    "-x",
    "@sum",
    "\uff1d1+1",
    "\uff0bcmd",
    "\uff0dx",
    "\uff20sum",
    "-1",
    "+2.5",
    "esc\x1b[31m",
    "bell\x07",
    "two\nlines",
    "turn\u202e",
    "back\r=1",
]


@pytest.fixture
def hostile():
    return karat.evaluate(HOSTILE, HOSTILE, metrics=["f1"])


@pytest.mark.parametrize("report", ["table", "markdown", "latex", "csv", "tsv", "html"])
def test_no_label_drives_a_terminal(hostile, report):
    text = hostile.render(report, **({"by": ["class"]} if report in ("table", "markdown", "latex") else {}))
    assert "bell" in text
    assert not set(text) & set("\x1b\x07\u202e\r")


def test_texts_that_a_spreadsheet_would_compute(hostile):
    formulas = {"=1+1", "+cmd", "-x", "@sum", "\uff1d1+1", "\uff0bcmd", "\uff0dx", "\uff20sum"}
    numbers = {"-1", "+2.5"}
    assert classes(hostile.to_csv(), ",") >= {"'" + text for text in formulas} | numbers
    assert classes(hostile.to_csv(escape_formulas=False), ",") >= formulas | numbers
    assert classes(hostile.to_tsv(), "\t") >= formulas | numbers
    assert classes(hostile.to_tsv(escape_formulas=True), "\t") >= {"'" + text for text in formulas} | numbers


def classes(text: str, mark: str) -> set[str]:
    return {row["class"] for row in csv.DictReader(io.StringIO(text), delimiter=mark)}


def test_the_command_keeps_formulas_if_it_is_told_to(tmp_path):
    (tmp_path / "gold.json").write_text(json.dumps([{"id": "1", "value": "=1+1"}]))
    line = ["evaluate", *[str(tmp_path / "gold.json")] * 2, "--allow-same", "-m", "f1", "--report", "csv"]
    assert ",'=1+1," in CliRunner().invoke(command, line).stdout
    assert ",=1+1," in CliRunner().invoke(command, [*line, "--keep-formulas"]).stdout


def test_a_label_as_long_as_a_file_is_shortened_for_people():
    labels = [c * 1_000_000 for c in "abc"]
    found = karat.evaluate(labels, labels[::-1], metrics=["f1"], units=True)
    for report in ("table", "markdown", "latex", "html"):
        text = found.render(report, **({} if report == "html" else {"by": ["class"], "show": ["confusion"]}))
        assert "(1,000,000 letters)" in text
        assert len(text) < 200_000
    assert labels[0] in found.to_json()


def test_many_classes_make_no_large_page():
    labels = [f"class {i}" for i in range(3_000)]
    page = karat.evaluate(labels, labels[1:] + labels[:1], metrics=["f1", "precision"]).to_html()
    assert "2,000 more are left out" in page
    assert "the 50 worst of 3,000" in page


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("f1(average=micro,average=macro)", "gives 'average' twice"),
        ("ndcg(k=3)@5", "gives 'k' twice"),
        ("ndcg@3@5", "gives 'k' twice"),
        ("micro_f1(average=macro)", "gives 'average' twice"),
        ("f1()", "cannot read the parameters"),
        ("f1(average=micro,)", "cannot read the parameters"),
        ("f1(average=micro", "is not a metric"),
        ("f1(average=)", "cannot read the parameters"),
    ],
)
def test_parameters_that_are_twice_or_half_there(metric, reason):
    with pytest.raises(karat.MetricError, match=reason):
        karat.parse(metric)


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("fbeta(beta=1_0)", "beta=1_0 is not a number"),
        ("fbeta(beta=\u0663)", "beta=\u0663 is not a number"),
        ("fbeta(beta=inf)", "beta=inf is not a number"),
        ("f\u0662", "beta=\u0662 is not a number"),
        ("topk_precision(k=1_0)", "k=1_0 is not a whole number"),
        ("topk_precision@\u0663", "is not a metric"),
        ("P_\u0663", "is not a metric"),
        ("topk_precision@99999999999999999999", "k=99999999999999999999 is not below 2\\^53"),
        ("topk_precision@9007199254740993", "k=9007199254740993 is not below 2\\^53"),
        ("topk_precision@" + "9" * 5000, "is not a whole number"),
    ],
)
def test_numbers_are_those_that_everybody_reads(metric, reason):
    with pytest.raises(karat.MetricError, match=reason):
        karat.evaluate([["A"], ["B"]], [["A", "B"], ["B"]], metrics=[metric], context="multilabel")


@pytest.mark.parametrize("text", ["1", "-2", "+3", "0.5", ".5", "5.", "1e3", "2.5E-3", "9007199254740991"])
def test_numbers_survive(text):
    metric = karat.parse(f"fbeta(beta={text})")
    assert metric == karat.parse(str(metric))
    assert dict(metric.params)["beta"] == float(text)


@pytest.mark.parametrize("value", ["1_0", "\u0663", "007", "inf", "nan", "1e5", "true"])
def test_texts_that_look_like_numbers_survive(value):
    metric = karat.Metric("x", (("by", value),))
    assert karat.parse(str(metric)) == metric


@pytest.mark.parametrize("metrics", ["", " ", ",", [""]])
def test_no_name_is_no_metric(metrics):
    """As of a variable of the shell that is not set: the usual ones were scored in silence."""
    with pytest.raises(karat.MetricError, match="'' is not a metric"):
        karat.evaluate(["A", "B"], ["A", "A"], metrics=metrics)
    assert split_metrics(["f1,", *metrics]) == ["f1", *[""] * len(metrics)]


def test_the_first_none():
    rows = [{"query": "q", "id": "d", "value": 1}]
    with pytest.raises(karat.MetricError, match="the first k are 1 or more"):
        karat.evaluate(rows, rows, context="ranking", metrics=["ndcg@0"])


def test_more_resamples_than_there_is_time_for():
    with pytest.raises(karat.MetricError, match="1,000,000,000,000 resamples would take for ever"):
        karat.evaluate(["A", "B"], ["A", "A"], intervals=True, resamples=10**12)
    with pytest.raises(karat.MetricError, match="draws would take for ever"):
        karat.compare(["A", "B"], {"a": ["A", "A"], "b": ["A", "B"]}, draws=10**12)

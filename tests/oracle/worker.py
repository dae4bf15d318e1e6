"""Runs inside PyEvALL's environment: one case a line on stdin, one report a line on stdout."""

import contextlib
import io
import json
import math
import sys
import tempfile
from pathlib import Path

from pyevall.evaluation import PyEvALLEvaluation


def main():
    out = sys.stdout
    for line in sys.stdin:
        case = json.loads(line)
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            answer = run(case, Path(folder))
        out.write(json.dumps(plain(answer)) + "\n")
        out.flush()


def run(case, folder):
    """The report, what was raised, or that nothing came back."""
    pred, gold = (write(case, role, folder / role) for role in ("pred", "gold"))
    params = {"report": "embedded", **case["params"], "log_level": "none"}
    try:
        report = PyEvALLEvaluation().evaluate(str(pred), str(gold), case["metrics"], **params)
    except Exception as error:  # whatever PyEvALL raises is its answer
        return {"exception": f"{type(error).__name__}: {error}"}
    return {"returned": None} if report is None else answer(report)


def answer(report):
    """The dictionary, with the printed forms where a report is a table."""
    if not hasattr(report, "df_average"):
        return report.report
    return {
        "report": report.report,
        "printed": {
            name: printed(getattr(report, name))
            for name in ("print_report", "print_report_to_markdown", "print_report_tsv")
        },
    }


def printed(method):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        method()
    return text.getvalue()


def write(case, role, folder):
    folder.mkdir()
    path = folder / case.get(f"{role}_file", f"{role}.json")
    if case[role] is not None:
        path.write_bytes(case[role].encode(case.get("encoding", "utf-8")))
    return path


def plain(value):
    """NaN as a string, as in the recorded vectors; numpy numbers as Python's."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else str(value)
    return value


if __name__ == "__main__":
    main()

"""Command lines and what they print; `python -m tests.golden` writes the expected files anew."""

from __future__ import annotations

import re
import shlex
from inspect import signature
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from karat.cli.main import karat

FOLDER = Path(__file__).parent
FILES = FOLDER / "files"
"""The commands run in this directory."""


class Golden(NamedTuple):
    """A command line (without ``karat``), its exit code and, where it reads ``-``, its input."""

    line: str
    code: int = 0
    stdin: str | None = None


CASES: dict[str, Golden] = {
    "table": Golden("evaluate gold.tsv a.tsv"),
    "table-by-class": Golden("evaluate gold.tsv a.tsv --by class --by test-case --show confusion"),
    "several": Golden("evaluate gold.tsv a.tsv other=b.jsonl -m f1 -m kappa -m accuracy"),
    "json": Golden("evaluate gold.tsv a.tsv --report json -m f1 -m accuracy"),
    "markdown": Golden("evaluate gold.tsv a.tsv b.jsonl --report markdown --by class -m f1"),
    "latex": Golden("evaluate gold.tsv a.tsv b.jsonl --report latex"),
    "tsv": Golden("evaluate gold.tsv a.tsv --report tsv -m precision"),
    "csv": Golden("evaluate gold.tsv a.tsv --report csv -m recall"),
    "stdin": Golden("evaluate gold.tsv - -m accuracy", stdin="a.tsv"),
    "short-form": Golden("gold.tsv a.tsv -m accuracy"),
    "multilabel": Golden("evaluate sets.json sets_a.json --hierarchy tree.json -m all"),
    "missing-wrong": Golden("evaluate gold.tsv part.csv -m accuracy"),
    "missing-skip": Golden("evaluate gold.tsv part.csv -m accuracy --missing skip"),
    "missing-error": Golden("evaluate gold.tsv part.csv -m accuracy --missing error", 2),
    "quiet": Golden("evaluate gold.tsv part.csv -m accuracy --quiet"),
    "fail-under-met": Golden("evaluate gold.tsv a.tsv -m f1 --fail-under f1=0.1"),
    "fail-under-missed": Golden("evaluate gold.tsv a.tsv b.jsonl -m f1 --fail-under f1=0.99 --fail-under hamming_loss=0.5", 1),
    "fail-under-nonsense": Golden("evaluate gold.tsv a.tsv --fail-under f1=high", 2),
    "fail-under-another": Golden("evaluate gold.tsv a.tsv --fail-under balanced_accuracy=0.99", 1),
    "fail-under-nan": Golden("evaluate gold.tsv a.tsv --fail-under f1=nan", 2),
    "no-such-detail": Golden("evaluate gold.tsv a.tsv --show confuson", 2),
    "no-such-folder": Golden("evaluate gold.tsv a.tsv -o nowhere/report.txt", 2),
    "no-such-command": Golden("vaildate gold.tsv", 2),
    "no-such-encoding": Golden("evaluate gold.tsv a.tsv --encoding klingon", 2),
    "markdown-confusion": Golden("evaluate gold.tsv a.tsv --report markdown --show confusion -m accuracy"),
    "undefined": Golden("evaluate one.tsv one.tsv --allow-same -m kappa -m mcc -m accuracy"),
    "undefined-latex": Golden("evaluate one.tsv one.tsv --allow-same -m kappa -m mcc --report latex"),
    "clustered": Golden("evaluate grouped.csv grouped_a.csv -m accuracy --intervals --cluster-by doc --quiet"),
    "broken": Golden("evaluate gold.tsv broken.json", 2),
    "both-broken": Golden("evaluate broken.csv broken.json", 2),
    "no-file": Golden("evaluate gold.tsv nowhere.tsv", 2),
    "unknown-metric": Golden("evaluate gold.tsv a.tsv -m accuracyy", 2),
    "unknown-parameter": Golden("evaluate gold.tsv a.tsv -m 'fbeta(bta=2)'", 2),
    "two-stdins": Golden("evaluate - -", 2),
    "validate-good": Golden("validate gold.tsv"),
    "validate-broken": Golden("validate broken.csv", 2),
    "validate-json": Golden("validate broken.csv --json", 2),
    "validate-github": Golden("validate broken.csv --format github", 2),
    "metric": Golden("metrics kappa"),
    "excerpts": Golden("evaluate pages.jsonl excerpts.jsonl --show excerpt-scores --show poems --show works --show excerpt-list"),
    "excerpts-options": Golden(
        "evaluate pages.jsonl excerpts.jsonl -m 'excerpt_f1(join=true)' -m 'excerpt_f1(factor=iou, assignment=one_to_one)'"
    ),
}  # fmt: skip


RUNNER = CliRunner(**({"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}))
"""Before click 8.2 both outputs were one unless that was said."""


def run(case: Golden) -> tuple[int, str]:
    """Exit code and everything printed, with what changes from run to run taken out."""
    stdin = (FILES / case.stdin).read_text() if case.stdin else None
    result = RUNNER.invoke(karat, shlex.split(case.line), input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    parts = [
        f"$ karat {case.line}",
        result.stdout.rstrip("\n"),
        *(["--- stderr", result.stderr.rstrip("\n")] if result.stderr else []),
    ]
    return result.exit_code, steady("\n".join(parts) + f"\n--- exit code {result.exit_code}\n")


def steady(text: str) -> str:
    """Without times, versions and the directory."""
    text = re.sub(r'"created": "[^"]*"', '"created": "…"', text)
    text = re.sub(r'("(?:karat|numpy|scipy|duckdb|python|platform)": )"[^"]*"', r'\1"…"', text)
    text = text.replace(" -h' for help", " --help' for help")  # the one that click 8.1 names
    return text.replace(str(FILES), "…")

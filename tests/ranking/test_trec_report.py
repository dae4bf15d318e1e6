"""`--report trec` against trec_eval 9.0.4, byte by byte: kept outputs, and the program itself where it is installed."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from karat.cli.main import karat
from tests.ranking.collections import collection

KEPT = Path(__file__).parents[1] / "data" / "trec-report.jsonl.gz"
PROGRAM = os.environ.get("KARAT_TREC_EVAL") or shutil.which("trec_eval")
FLAGS: dict[str, list[str]] = {
    "-m official": ["-m", "official", "--missing-queries", "skip"],
    "-q -m all_trec": ["-m", "all_trec", "--missing-queries", "skip", "--by", "query"],
    "-q -c -m all_trec": ["-m", "all_trec", "--by", "query"],
    "-q -M 5 -m all_trec": ["-m", "all_trec", "--missing-queries", "skip", "--by", "query", "--depth", "5"],
    "-m set": ["-m", "set", "--missing-queries", "skip"],
}


def ours(qrels: Path, run: Path, flags: str) -> str:
    how = ["evaluate", str(qrels), str(run), "--quiet", "--score-type", "single", "--report", "trec"]
    return CliRunner().invoke(karat, [*how, *FLAGS[flags]]).stdout


def kept() -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(KEPT.read_bytes()).splitlines()]


@pytest.mark.parametrize("case", kept(), ids=lambda case: case["flags"].replace(" ", ""))
def test_kept_outputs(case: dict[str, str], tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(case["qrels"])
    run.write_text(case["run"])
    assert ours(qrels, run, case["flags"]) == case["output"]


@pytest.mark.skipif(PROGRAM is None, reason="trec_eval is not on the path, nor named by KARAT_TREC_EVAL")
@pytest.mark.parametrize("seed", range(20))
def test_the_program(seed: int, tmp_path: Path) -> None:
    qrels, run = collection(seed).write(tmp_path)
    for flags in FLAGS:
        done = subprocess.run([str(PROGRAM), *flags.split(), qrels, run], capture_output=True, text=True)
        if done.returncode == 0:  # it crashes where a query has grades below 0 only
            assert ours(qrels, run, flags) == done.stdout

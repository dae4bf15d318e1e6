"""No broken file gives a traceback or a score: each gives its finding, at its line, and exit code 2."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import karat
from karat.cli.main import karat as command
from tests.fuzz.broken import WAYS, Broken, records

SEEDS = (1, 2)
FOREIGN = re.compile(r"duckdb|read_csv|read_json|Conversion Error|Invalid Input|Binder|/tmp/karat", re.IGNORECASE)
"""An engine's own words do not help the reader of a finding."""
GOLD = "id,value\n" + "".join(f"{r['id']},{r['value']}\n" for r in records(random.Random(0), 40))


def run(folder: Path, case: Broken, role: str) -> Result:
    """The broken file as gold or as prediction of an evaluation."""
    good, bad = folder / "good.csv", folder / case.file
    good.write_text(GOLD)
    bad.write_bytes(case.content)
    files = [str(good), str(bad)] if role == "pred" else [str(bad), str(good)]
    return CliRunner().invoke(command, ["evaluate", *files, "-c", "monolabel"])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("way", WAYS)
def test_finding_line_and_exit_code(way: str, seed: int, tmp_path: Path) -> None:
    rng = random.Random(f"{way} {seed}")
    case = WAYS[way](rng)
    result = run(tmp_path, case, rng.choice(["pred", "gold"]))
    assert isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code, result.stdout) == (2, "")
    place = [
        (f.code, f.line)
        for f in karat.validate(str(tmp_path / case.file), context="monolabel")
        if f.severity == "error"
    ]
    assert any(code in case.codes and line in case.lines for code, line in place), (place, result.stderr)
    assert case.file in result.stderr
    assert not FOREIGN.search(result.stderr.replace(str(tmp_path), ""))


def test_more_than_a_hundred_files() -> None:
    assert len(WAYS) * len(SEEDS) >= 100


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 40))
@pytest.mark.parametrize("way", WAYS)
def test_sweep(way: str, seed: int, tmp_path: Path) -> None:
    test_finding_line_and_exit_code(way, seed, tmp_path)

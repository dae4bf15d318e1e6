# SPDX-License-Identifier: Apache-2.0
"""Every input is read as it was, to the letter, and every number of statistics is what it was, to seven digits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kept import evaluations, fast, functions, samples
from tests.kept.evaluations import same
from tests.kept.families import FAMILIES, IN_BLOCKS, INPUTS, MOST, kept

PARTS = [
    pytest.param(name, family, start, id=f"{name}-{family}-{start}")
    for name in FAMILIES
    for family, results in kept(name).items()
    for start in range(0, len(results), MOST[name])
]


@pytest.mark.parametrize(("name", "family", "start"), PARTS)
def test_everything_is_as_it_was(name: str, family: str, start: int, tmp_path: Path) -> None:
    for case, result in FAMILIES[name][family](tmp_path, slice(start, start + MOST[name])).items():
        before = kept(name)[family][case]
        assert result == before or (name != "reading" and same(result, before)), case


def test_all_that_is_kept_is_tried() -> None:
    blocks = {f"{family} in small blocks": INPUTS[family] for family in IN_BLOCKS}
    computed = {"statistics": evaluations.ALL | samples.ALL, "functions": functions.ALL | fast.ALL}
    for name, families in {"reading": INPUTS | blocks, **computed}.items():
        names = {family: [case for case, _ in cases()] for family, cases in families.items()}
        assert names == {family: list(results) for family, results in kept(name).items()}


@pytest.mark.slow
def test_statistics_are_the_same_on_another_processor() -> None:
    """Without the instructions of the last fifteen years sums and products differ in their last bits."""
    older = {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}
    line = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        __file__,
        "-k",
        "statistics- or functions-",
    ]
    done = subprocess.run(line, env={**os.environ, **older}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]

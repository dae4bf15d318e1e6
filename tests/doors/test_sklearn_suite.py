# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own tests of the functions that the door offers, as the installed package ships them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

ROOT = Path(__file__).parents[2]

EXCEPTIONS = {
    "test_confusion_matrix_dtype": "wants the sum of whole weights beyond 64 bits to be −2, where the door refuses them",
}
"""Tests that fail here on purpose; docs/doors/class-reports.md says so too."""


def outcomes(module: str, folder: Path) -> dict[str, str]:
    """How the tests of a module that call the door end, in a process of their own."""
    path = folder / "outcomes.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.doors.sklearn_suite"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    run = subprocess.run(
        [*command, f"--outcomes={path}", "--pyargs", module],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert path.exists(), run.stdout + run.stderr
    return json.loads(path.read_text())


@pytest.mark.slow
@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9), reason="older suites want other words"
)
@pytest.mark.parametrize(("module", "least"), [("test_classification", 130), ("test_common", 700)])
def test_suite(module: str, least: int, tmp_path: Path) -> None:
    found = outcomes(f"sklearn.metrics.tests.{module}", tmp_path)
    failed = {name: text for name, text in found.items() if text not in ("passed", "skipped")}
    surprises = {name: text for name, text in failed.items() if name not in EXCEPTIONS}
    assert not surprises, "\n\n".join(f"{name}\n{text}" for name, text in surprises.items())
    assert len(found) >= least, "so few tests call the door that something else was tested"
    missing = {name for name in EXCEPTIONS if name in found} - set(failed)
    assert not missing, "these pass now: the exceptions are out of date"

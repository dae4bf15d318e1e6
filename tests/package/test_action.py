# SPDX-License-Identifier: Apache-2.0
"""The GitHub action and the pre-commit hook, run as far as that is possible without GitHub."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import karat
from karat.examples import data

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[0]


@pytest.fixture
def here(tmp_path):
    """A checkout with the bundled data, and a `karat` on the path."""
    for path, content in data():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "karat"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m karat "$@"\n')
    command.chmod(0o755)
    return tmp_path


def environment(here):
    return os.environ | {
        "PATH": f"{here / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(karat.__file__).parents[1]),
        "GITHUB_STEP_SUMMARY": str(here / "summary.md"),
    }


def step(name, here, **inputs):
    """A step of the action, with its inputs in the place of GitHub's expressions."""
    found = next(s for s in ACTION["runs"]["steps"] if s["name"] == name)
    given = {key: value["default"] for key, value in ACTION["inputs"].items() if "default" in value} | inputs
    said = {key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: given[m[1]], v) for key, v in found["env"].items()}
    assert not any("${{" in value for value in said.values())
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found["run"]]  # as GitHub calls it
    return subprocess.run(bash, cwd=here, env=environment(here) | said, capture_output=True, text=True, check=False)


REVIEWS = {"gold": "reviews/gold.tsv", "systems": "reviews/careful.tsv reviews/hasty.tsv", "metrics": "accuracy,f1"}


def test_scores_are_shown_and_the_limit_holds(here):
    done = step("Evaluate", here, **REVIEWS, **{"fail-under": "f1=0.7 accuracy=0.6"})
    assert done.returncode == 0, done.stderr
    assert "careful    0.8917" in done.stdout
    assert "| careful | 0.8917 | 0.8714 |" in (here / "summary.md").read_text(encoding="utf-8")
    assert 'failures="0"' in (here / "karat.xml").read_text(encoding="utf-8")


def test_below_the_limit_the_job_fails(here):
    done = step("Evaluate", here, **REVIEWS, **{"fail-under": "f1=0.8"})
    assert done.returncode == 1
    assert "failed: hasty: f1 is 0.722544, limit 0.8" in done.stderr
    assert 'failures="1"' in (here / "karat.xml").read_text(encoding="utf-8")


def test_other_contexts_and_arguments(here):
    inputs = {"gold": "people/gold.csv", "systems": "people/l*.csv", "context": "clustering", "arguments": "--digits 2"}
    done = step("Evaluate", here, **inputs, metrics="bcubed_f1")
    assert done.returncode == 0, done.stderr
    assert "0.89" in done.stdout
    assert "0.8911" not in done.stdout


def test_findings_are_marked_in_the_files(here):
    (here / "mine.tsv").write_text("test_case\tid\tvalue\nreviews\tr000\tPOSITIVE\nreviews\tr000\tNEGATIVE\n")
    done = step("Check the files", here, gold="reviews/gold.tsv", systems="mine.tsv")
    assert done.returncode == 0, done.stderr  # the evaluation says whether the job fails
    assert "::error file=mine.tsv,line=3" in done.stdout + done.stderr


def test_the_action_installs_something(here):
    run = next(s["run"] for s in ACTION["runs"]["steps"] if s["name"] == "Install karat")
    assert run.startswith("python -m pip install")


def test_the_hook_stops_broken_files(here):
    (here / "broken.csv").write_text("id,label\n1,A\n1,B\n")
    assert re.search(HOOK["files"], "broken.csv")
    good, bad = (
        subprocess.run(
            [*HOOK["entry"].split(), name], cwd=here, env=environment(here), capture_output=True, check=False
        )
        for name in ("reviews/gold.tsv", "broken.csv")
    )
    assert (good.returncode, bad.returncode) == (0, 2)


def test_the_files_of_the_tutorial_fit():
    page = (ROOT / "docs/start/integration.md").read_text(encoding="utf-8")
    workflow, hooks = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", page, re.S))
    given = workflow["jobs"]["karat"]["steps"][1]["with"]
    assert set(given) <= set(ACTION["inputs"])
    assert {n for n, v in ACTION["inputs"].items() if v.get("required")} <= set(given)
    assert hooks["repos"][0]["hooks"][0]["id"] == HOOK["id"]
    assert f"v{karat.__version__}" == hooks["repos"][0]["rev"]

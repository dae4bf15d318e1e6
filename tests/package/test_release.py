# SPDX-License-Identifier: Apache-2.0
"""What is released: the same bytes from the same source, one version, a bill of materials, and a wheel that works alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import karat
from karat.examples import data

ROOT = Path(__file__).parents[2]
PARTS = (
    "src",
    "docs",
    "examples",
    "deploy",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "pyproject.toml",
    "Makefile",
    "action.yml",
)
CORE = {"backports.zstd", "click", "duckdb", "jinja2", "msgspec", "numpy", "rich", "scipy", "sqlalchemy"}


def built(folder: Path) -> dict[str, Path]:
    """Wheel and source of a copy of the checkout, by their endings."""
    copy = folder / "karat"
    copy.mkdir(parents=True)
    for part in PARTS:
        here = ROOT / part
        if here.is_dir():
            shutil.copytree(here, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(here, copy)
    for path in copy.rglob("*"):
        os.utime(path)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(copy)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"SOURCE_DATE_EPOCH": "1767225600"})
    return {path.suffix: path for path in (folder / "dist").iterdir()}


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return built(tmp_path_factory.mktemp("once"))


def test_the_same_source_gives_the_same_bytes(once: dict[str, Path], tmp_path: Path) -> None:
    again = built(tmp_path / "elsewhere")
    assert {end: path.read_bytes() == again[end].read_bytes() for end, path in once.items()} == {
        ".whl": True,
        ".gz": True,
    }


def test_the_version_is_said_once(once: dict[str, Path]) -> None:
    assert once[".whl"].name == f"karat-{karat.__version__}-py3-none-any.whl"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]


def test_the_wheel_has_everything(once: dict[str, Path]) -> None:
    names = set(zipfile.ZipFile(once[".whl"]).namelist())
    assert {f"karat/examples/{path}" for path, _ in data()} <= names
    ours = {
        p.relative_to(ROOT / "src").as_posix()
        for p in (ROOT / "src").rglob("*")
        if p.is_file() and "__pycache__" not in p.parts
    }
    assert ours <= names
    assert not any(name.startswith(("tests/", "docs/")) for name in names)


def test_the_core_asks_for_no_more_than_it_needs() -> None:
    """A new dependency is a decision: each must earn its megabytes (docs/peers.md)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {re.split(r"[<>=; ]", line)[0] for line in project["dependencies"]} == CORE


def test_the_bill_of_materials() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "deploy" / "sbom.py")], capture_output=True, text=True, check=True
    )
    bill = json.loads(done.stdout)
    named = {part["name"].lower(): part for part in bill["components"]}
    assert named.keys() >= CORE | {"markupsafe"}
    assert not named.keys() & {"pytest", "pandas", "starlette"}
    assert all(part["version"] and part["licenses"] for part in named.values())
    known = {part["bom-ref"] for part in [*bill["components"], bill["metadata"]["component"]]}
    assert all({one["ref"], *one["dependsOn"]} <= known for one in bill["dependencies"])


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(once: dict[str, Path], tmp_path: Path) -> None:
    """Without extras, without the checkout, and nothing but what pip brings."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    here = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def ran(*command: str) -> str:
        words = [str(tmp_path / "venv" / "bin" / command[0]), *command[1:]]
        return subprocess.run(words, cwd=tmp_path, env=here, capture_output=True, text=True, check=True).stdout

    ran("pip", "install", "--quiet", str(once[".whl"]))
    assert "report.html" in ran("karat", "demo", "tour")
    assert (tmp_path / "tour" / "report.html").stat().st_size > 10_000
    assert "Leaderboard" in ran(
        "karat", "compare", "tour/reviews/gold.tsv", "tour/reviews/careful.tsv", "tour/reviews/hasty.tsv", "-m", "f1"
    )
    ran("karat", "evaluate", "tour/reviews/gold.tsv", "tour/reviews/careful.tsv", "--save", "--store", "kept.db")
    assert "careful" in ran("karat", "runs", "list", "--store", "kept.db")

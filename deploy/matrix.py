# SPDX-License-Identifier: Apache-2.0
"""`make test-matrix`: the wheel under every Python that is here, with the oldest and the newest dependencies.

Each environment holds the wheel, pytest and hypothesis only; what runs there needs no other package: the demonstration,
hand-worked values, golden files and the meeting of sides. A Python that is not here is named, not passed over.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
OLDEST = {
    "3.11": ["numpy==1.26.0", "scipy==1.11.3", "duckdb==1.4.0"],
    "3.12": ["numpy==1.26.0", "scipy==1.11.3", "duckdb==1.4.0"],
    "3.13": ["numpy==2.1.0", "scipy==1.14.1", "duckdb==1.4.0"],
    "3.14": ["numpy==2.3.2", "scipy==1.16.1", "duckdb==1.4.2"],
}
"""The first releases with wheels for each Python, not before those that pyproject.toml asks for."""
FLOOR = ["click==8.1.3", "rich==13.0.0", "jinja2==3.1.0", "sqlalchemy==2.0.31"]
MSGSPEC = {"3.11": "0.18.0", "3.12": "0.18.4", "3.13": "0.19.0", "3.14": "0.20.0"}
TESTS = ["tests/golden", "tests/worked", "tests/waist/test_aligned.py"]


def interpreter(version: str) -> str | None:
    """On the path, or where pyenv keeps them."""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(kept[-1]) if kept else shutil.which(f"python{version}")


def pins(version: str, oldest: bool) -> list[str]:
    if not oldest:
        return []
    zstd = ["backports.zstd==1.0.0"] if version != "3.14" else []
    return [*FLOOR, *OLDEST[version], f"msgspec=={MSGSPEC[version]}", *zstd]


def run(command: list[str], folder: Path) -> bool:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"  {' '.join(command[-4:])}: {(done.stdout + done.stderr)[-1500:]}", flush=True)
    return done.returncode == 0


def tried(python: str, version: str, oldest: bool, wheel: Path) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        at = str(here / "venv" / "bin" / "python")
        pip = [at, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        shutil.copytree(ROOT / "tests", here / "tests")
        for name in ("conftest.py", "pyproject.toml"):
            shutil.copy(ROOT / name, here)
        return (
            run([python, "-m", "venv", str(here / "venv")], here)
            and run([*pip, str(wheel), *pins(version, oldest), "pytest", "hypothesis", "zstandard"], here)
            and run([at, "-m", "karat", "demo"], here)
            and run([at, "-m", "pytest", "-q", "-x", "-m", "not slow", "--rootdir", ".", *TESTS], here)
        )


def main(wheel: Path, wanted: list[str]) -> int:
    failed = 0
    for version in wanted or PYTHONS:
        python = interpreter(version)
        if python is None:
            print(f"Python {version}: not here, not tried", flush=True)
            continue
        for oldest in (True, False):
            passed = tried(python, version, oldest, wheel)
            failed += not passed
            print(
                f"Python {version}, {'oldest' if oldest else 'newest'} dependencies: {'passed' if passed else 'FAILED'}",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))

"""`python -m benchmarks.install`: what a plain install weighs, and what a command costs before it does anything.

The checkout is installed into an empty environment without extras; CPU is the least of many starts, each beside the start of
NumPy and DuckDB alone, so that a busy machine slows both. `python -m benchmarks.install peers` weighs other tools in the same way.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.case import ROOT
from benchmarks.table import write

STORE = ROOT / "results.json"
REPEATS = 20
PEERS = ("PyEvALL", "ranx", "mlflow")
ALONE = "import numpy, duckdb; duckdb.connect()"


def megabytes(folder: Path) -> float:
    """Installed files, with what pip compiles of them."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink()) / 1e6


def cpu(command: list[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    here = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=here)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def files(folder: Path) -> None:
    for name, values in {"gold": "AB", "pred": "AA"}.items():
        records = [{"id": str(i), "value": value} for i, value in enumerate(values)]
        (folder / f"{name}.json").write_text(json.dumps(records))
        (folder / f"{name}.csv").write_text("id,value\n" + "".join(f"{r['id']},{r['value']}\n" for r in records))


def weight(package: str) -> dict[str, Any] | None:
    """Version and megabytes of a package with all that it needs in an empty environment; None where it cannot be installed."""
    with tempfile.TemporaryDirectory() as place:
        venv = Path(place) / "venv"
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        empty, python = megabytes(venv), str(venv / "bin/python")
        if subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=False).returncode:
            return None
        asked = f"from importlib.metadata import version; print(version({package!r}))"
        version = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True).stdout.strip()
        return {"version": version, "megabytes": megabytes(venv) - empty}


def measured() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        python, karat = str(folder / "venv/bin/python"), str(folder / "venv/bin/karat")
        empty = megabytes(folder / "venv")
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(ROOT.parent)], check=True)
        size = megabytes(folder / "venv") - empty
        files(folder)
        subprocess.run(
            [karat, "evaluate", "gold.json", "pred.json", "--save", "--store", "kept.db"],
            cwd=folder,
            check=True,
            capture_output=True,
        )
        commands = {
            ALONE: [python, "-c", ALONE],
            "karat evaluate gold.json pred.json": [karat, "evaluate", "gold.json", "pred.json"],
            "karat evaluate gold.csv pred.csv": [karat, "evaluate", "gold.csv", "pred.csv"],
            "karat runs list": [karat, "runs", "list", "--store", "kept.db"],
            "karat --help": [karat, "--help"],
        }
        taken = [{name: cpu(command, folder) for name, command in commands.items()} for _ in range(REPEATS)]
    return {"megabytes": size, "start": {name: min(one[name] for one in taken) for name in commands}}


if __name__ == "__main__":
    if sys.argv[1:] == ["peers"]:
        weights = {name: weight(name) for name in PEERS}
        store = json.loads(STORE.read_text())
        store["install"]["peers"] |= {name: found for name, found in weights.items() if found is not None}
    else:
        found = measured()
        store = json.loads(STORE.read_text())
        store["install"] |= found
    STORE.write_text(json.dumps(store, indent=1) + "\n")
    write(store, ROOT / "RESULTS.md")
    print(json.dumps(store["install"], indent=1))

"""Run the cases, print each as it ends, keep the figures in results.json and write RESULTS.md from them.

What a busy machine can change fails nothing: promises that were missed are named.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from typing import Any

from tests.oracle import Unavailable, python

from benchmarks.case import FAMILIES, ROOT, Case, Side, family
from benchmarks.table import failed, missed, write

STORE = ROOT / "results.json"


def main() -> None:
    options = arguments()
    chosen = [(group, case) for group in FAMILIES for case in family(group) if options.only in f"{group}/{case.name}"]
    for group, case in chosen:
        if options.list:
            print(f"{group}/{case.name}")
        else:
            keep(group, case, [measured(group, case, side) for side in case.sides])
    if not options.list:
        store = json.loads(STORE.read_text())
        write(store, ROOT / "RESULTS.md")
        report({f"{group}/{case.name}": store["cases"][f"{group}/{case.name}"] for group, case in chosen})


def report(cases: dict[str, Any]) -> None:
    """Name the promises that this run missed; a side that failed fails the run."""
    for name in missed(cases):
        print(f"promised and not reached: {name}", flush=True)
    if faults := failed(cases):
        sys.exit("\n".join(faults))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks", description="karat against its peers on the same data")
    parser.add_argument("--only", default="", metavar="NAME", help="cases whose family/name holds this text")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    return parser.parse_args()


def measured(group: str, case: Case, side: Side) -> dict[str, Any]:
    """The side's figures, from its own process; the data is made first, outside of it."""
    case.data.folder()
    try:
        command = [interpreter(side.env), "-m", "benchmarks.side", group, case.name, side.name]
    except Unavailable as reason:
        return {"side": side.name, "error": str(reason)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT.parent, env=environment(side.env))
    if done.returncode:
        return {"side": side.name, "error": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "failed"}
    figures = {"side": side.name, **json.loads(done.stdout.splitlines()[-1])}
    print(f"{group}/{case.name:32} {side.name:24} {figures['cpu']:10.4f} s CPU {figures['rss']:8.0f} MB", flush=True)
    return figures


def interpreter(env: str) -> str:
    """PyEvALL needs an environment of its own; the other peers live beside karat."""
    return sys.executable if env == "here" else str(python())


def environment(env: str) -> dict[str, str]:
    """karat's source on the path of its own interpreter only."""
    source = str(ROOT.parent / "src") if env == "here" else ""
    return {**os.environ, "PYTHONPATH": source, "PYTHONHASHSEED": "0"}


def keep(group: str, case: Case, figures: list[dict[str, Any]]) -> None:
    """Replace this case's row, so that a run with --only leaves the others as they were."""
    store = json.loads(STORE.read_text()) if STORE.exists() else {"cases": {}}
    store["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    store["cases"][f"{group}/{case.name}"] = {"note": case.note, "target": case.target, "sides": figures}
    STORE.write_text(json.dumps(store, indent=1) + "\n")


if __name__ == "__main__":
    main()

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
    chosen = {f"{group}/{case.name}": (group, case) for group in FAMILIES for case in family(group)}
    chosen = {name: pair for name, pair in chosen.items() if options.only in name}
    if options.list:
        return print(*chosen, sep="\n")
    rows = {
        name: keep(name, case, [measured(group, case, side) for side in case.sides])
        for name, (group, case) in chosen.items()
    }
    write(json.loads(STORE.read_text()), ROOT / "RESULTS.md")
    report({name: row for name, row in rows.items() if row})


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
        return {"side": side.name, "absent": str(reason)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT.parent, env=environment(side.env))
    if done.returncode:
        return {"side": side.name, "error": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "failed"}
    figures = {"side": side.name, **json.loads(done.stdout.splitlines()[-1])}
    if "absent" not in figures:
        print(
            f"{group}/{case.name:32} {side.name:24} {figures['cpu']:10.4f} s CPU {figures['rss']:8.0f} MB", flush=True
        )
    return figures


def interpreter(env: str) -> str:
    """PyEvALL needs an environment of its own; the other peers live beside karat."""
    return sys.executable if env == "here" else str(python())


def environment(env: str) -> dict[str, str]:
    """karat's source on the path of its own interpreter only."""
    source = str(ROOT.parent / "src") if env == "here" else ""
    return {**os.environ, "PYTHONPATH": source, "PYTHONHASHSEED": "0"}


def keep(name: str, case: Case, figures: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Replace this case's row, so that a run with --only leaves the others as they were; so does one without the peer."""
    if absent := [f"{side['side']}: {side['absent']}" for side in figures if "absent" in side]:
        print(f"not measured, kept as it was: {name}: {'; '.join(absent)}", flush=True)
        return None
    store = json.loads(STORE.read_text()) if STORE.exists() else {"cases": {}}
    store["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    store["cases"][name] = row = {"note": case.note, "target": case.target, "sides": figures}
    STORE.write_text(json.dumps(store, indent=1) + "\n")
    return row


if __name__ == "__main__":
    main()

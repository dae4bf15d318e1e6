"""Measure one side in a process of its own: python -m benchmarks.side FAMILY CASE SIDE -> JSON on stdout."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.case import Absent, Side, family

ENOUGH = 5.0
"""Seconds for which a short run is repeated: the least of many is nearly free of what else the machine does."""


def main(group: str, case_name: str, side_name: str) -> None:
    case = next(case for case in family(group) if case.name == case_name)
    side = next(side for side in case.sides if side.name == side_name)
    try:
        print(json.dumps(figures(side, side.load(case.data.folder()))))
    except Absent as reason:
        print(json.dumps({"absent": str(reason)}))


def figures(side: Side, loaded: Any) -> dict[str, Any]:
    """The run that took the least CPU, and the largest memory of all."""
    runs = [measure(side, loaded) for _ in range(side.repeat)]
    while side.repeat > 1 and sum(run["wall"] for run in runs) < ENOUGH:
        runs.append(measure(side, loaded))
    return {**min(runs, key=lambda run: run["cpu"]), "rss": peak()}


def measure(side: Side, loaded: Any) -> dict[str, Any]:
    """One run: CPU seconds of all threads, wall seconds, the answer."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    answer = side.run(loaded)
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    return {"cpu": cpu / side.part, "wall": wall / side.part, "answer": answer, "part": side.part}


def cpu_seconds() -> float:
    """CPU seconds of this process and of the ones that it has started, those that have ended and those that run."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used) + sum(map(ticks, running(os.getpid()))) / os.sysconf("SC_CLK_TCK")


def running(pid: int) -> list[int]:
    """Processes that a process has started and that still run, as Linux tells."""
    started = [int(c) for f in Path(f"/proc/{pid}/task").glob("*/children") for c in f.read_text().split()]
    return [one for child in started for one in (child, *running(child))]


def ticks(pid: int) -> int:
    """Clock ticks of a process and of the children that it has seen end."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))


def peak() -> float:
    """Largest resident memory so far, in MB (Linux counts in KB, macOS in bytes); of the largest started process, if any."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (children or own_peak()) / (1e6 if sys.platform == "darwin" else 1e3)


def own_peak() -> int:
    """Of this program alone: getrusage gives a process what the one that started it had, as when that made the data."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(status.read_text().partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    main(*sys.argv[1:])

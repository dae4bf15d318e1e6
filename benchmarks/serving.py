"""The server under load: 50 submissions at once while pages are read, and large lists (`python -m benchmarks.serving`).

Wall-clock time means something on an idle machine only, so that the load average and the processors' time of the server
stand beside it; SERVING.md keeps the figures.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tests.web.site import Site, Visitor, running
from tests.web.stories import benchmark, board, settled, submit, team

import karat
from benchmarks.case import ROOT
from karat.store import Store, open_store

TEAMS, ITEMS = 50, 10_000
RUNS, UNITS, SYSTEMS = 200, 100_000, 50
READERS = 2


@dataclass(frozen=True)
class Times:
    """Seconds that answers took."""

    all: list[float]

    def __str__(self) -> str:
        ms = sorted(1000 * t for t in self.all)
        return f"{median(ms):.0f} | {ms[int(0.95 * (len(ms) - 1))]:.0f} | {ms[-1]:.0f}"


def rows(n: int, right: float, seed: int) -> str:
    rng = random.Random(seed)
    return "id,value\n" + "".join(
        f"u{i},{'ABC'[i % 3] if rng.random() < right else rng.choice('ABC')}\n" for i in range(n)
    )


def fill(store: Store) -> dict[str, str]:
    """Many runs, a large one and one of many systems; gives the ids of the last two."""
    small = karat.evaluate(["A", "B", "C"] * 20, ["A", "B", "B"] * 20, units=True)
    for _ in range(RUNS):
        store.save(small)
    gold = ["ABCDE"[i % 5] for i in range(UNITS)]
    rng = random.Random(1)
    pred = [g if rng.random() < 0.8 else rng.choice("ABCDE") for g in gold]
    ids = [f"item-{i}" for i in range(UNITS)]
    large = karat.evaluate(dict(zip(ids, gold, strict=True)), dict(zip(ids, pred, strict=True)), units=True)
    some = gold[:2000]
    systems = {f"system {k}": [g if rng.random() < 0.5 + k / 100 else "A" for g in some] for k in range(SYSTEMS)}
    return {"large": store.save(large).id, "many": store.save(karat.evaluate(some, systems, units=True)).id}


def asked(who: Visitor, path: str) -> tuple[float, int]:
    """Seconds and bytes of a page."""
    began = time.perf_counter()
    answer = who.page(path)
    assert answer.status == 200, (path, answer.status)
    return time.perf_counter() - began, len(answer.body)


def places(ids: dict[str, str]) -> dict[str, str]:
    """Pages about much, by what they are."""
    return {
        f"list of {RUNS} runs": "/runs", "its last page": "/runs?page=8", f"run of {SYSTEMS} systems": f"/runs/{ids['many']}",
        f"run of {UNITS:,} units": f"/runs/{ids['large']}", "its wrong units": f"/runs/{ids['large']}/units",
        "the 300th page of them": f"/runs/{ids['large']}/units?page=300",
        "those of a pair of classes": f"/runs/{ids['large']}/units?gold=A&pred=B&kind=all",
        "search among all": f"/runs/{ids['large']}/units?kind=all&text=item-4242",
        "one unit beside others": f"/runs/{ids['many']}/unit?case=&id=1&kind=all",
        f"units of one of {SYSTEMS} systems": f"/runs/{ids['many']}/units?system=system+7",
    }  # fmt: skip


def lists(who: Visitor, ids: dict[str, str]) -> Iterator[str]:
    """Times of the large lists, once they were asked for."""
    for name, path in places(ids).items():
        first, size = asked(who, path)
        yield f"| {name} | {1000 * first:.0f} | {Times([asked(who, path)[0] for _ in range(9)])} | {size / 1000:.0f} |"


def read_on(who: Visitor, paths: list[str], done: Any, out: Any) -> None:
    """A reader in a process of its own, whom no thread of the senders keeps from looking at the clock."""
    times = list[float]()
    while not done.is_set():
        times.append(asked(who, paths[len(times) % len(paths)])[0])
        time.sleep(0.05)
    out.put(times)


def processor_time(pid: int) -> float:
    """Seconds that processors have spent on a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def logged(site: Site, paths: list[str], since: int) -> list[float]:
    """What the server itself says of the pages that were asked for: seconds from a request's head to its answer's end."""
    lines = (json.loads(line) for line in site.said[since:] if line.startswith("{"))
    return [
        x["ms"] / 1000 for x in lines if x.get("event") == "request" and x["method"] == "GET" and x["path"] in paths
    ]


def load(site: Site, admin: Visitor) -> Iterator[str]:
    """All teams at once, and readers meanwhile."""
    id = benchmark(admin, rows(ITEMS, 1.0, 0))
    teams = [team(admin, id) for _ in range(TEAMS)]
    files = [rows(ITEMS, 0.6 + k / 200, k) for k in range(TEAMS)]
    paths = ["/", f"/benchmarks/{id}", "/runs", "/metrics/f1"]
    since, busy = len(site.said), os.getloadavg()[0]
    done, out = multiprocessing.Event(), multiprocessing.Queue()
    readers = [multiprocessing.Process(target=read_on, args=(admin, paths, done, out)) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    assert site.process
    began, spent = time.perf_counter(), processor_time(site.process.pid)
    taken = list[float]()

    def send(k: int) -> Any:
        start = time.perf_counter()
        answer = submit(teams[k], id, files[k])
        taken.append(time.perf_counter() - start)
        assert answer.status == 202, answer.text
        return answer.json

    with ThreadPoolExecutor(TEAMS) as pool:
        sent = list(pool.map(send, range(TEAMS)))
    states = {settled(teams[k], s)["state"] for k, s in enumerate(sent)}
    scored, spent = time.perf_counter() - began, processor_time(site.process.pid) - spent
    done.set()
    pages = [t for _ in readers for t in out.get()]
    for reader in readers:
        reader.join()
    assert states == {"scored"}
    yield f"| {TEAMS} submissions of {ITEMS:,} items, all accepted | {Times(taken)} |"
    yield f"| pages meanwhile ({len(pages)} asked for by {READERS} readers) | {Times(pages)} |"
    yield f"| … as the server's log has them | {Times(logged(site, paths, since))} |"
    try:
        board(admin, id, teams=TEAMS)
        ranges = f"after {time.perf_counter() - began:.1f} s"
    except AssertionError:  # a busy machine gives way to pages and submissions first
        ranges = f"not yet after {time.perf_counter() - began:.0f} s"
    yield (
        f"\nAll {TEAMS} were scored after {scored:.1f} s, in which the server itself used {spent:.1f} s of a processor; ranges "
        f"and groups of {TEAMS} teams {ranges}. Load average {busy:.1f} before and {os.getloadavg()[0]:.1f} after."
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "store.db")
        ids = fill(store)
        store.close()
        with running(Path(folder) / "store.db", "--accounts", "--workers", "2") as site:
            admin = Visitor(site, site.admin)
            parts = [
                "# The server under load", "",
                f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; milliseconds of wall-clock "
                f"time, client and server on one machine, load average {os.getloadavg()[0]:.1f} before (idle is 0, busy is {os.cpu_count()}).", "",
                "| page | first ms | median | 95 % | most | kB |", "|---|---|---|---|---|---|", *lists(admin, ids), "",
                "| at once | median ms | 95 % | most |", "|---|---|---|---|", *load(site, admin), "",
            ]  # fmt: skip
    text = "\n".join(parts)
    (ROOT / "SERVING.md").write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()

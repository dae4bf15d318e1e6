# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.mutants [--sample N] [--seed N] [--reached FILE] [PART…]``: plant faults and see whether a test fails.

Constants and declarations of modules are left alone: only bodies of functions can be exchanged while they run.
All tests are collected once. A first pass notes which tests reach which function and how long each takes; then each
fault is put into the running code of a forked process, where the tests that reach it run, quick ones first, until one
fails. What survives must be in ``survivors.toml`` with the reason why no test could tell.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.mutation import Mutant, mutants
from tests.mutants.planting import plant, watch

ROOT = Path(__file__).parents[2]
LEAST = 0.95
ENOUGH = 120
"""Seconds of tests for one fault: what they do not notice counts as unnoticed."""

PARTS = ("src/karat/align.py", "src/karat/contexts/", "src/karat/read/", "src/karat/stats/")
LEFT_OUT = ("src/karat/contexts/base.py", "src/karat/contexts/__init__.py")
"""Modules of declarations alone."""
TESTS = [
    *PARTS, "tests/clustering", "tests/docs/test_metric_examples.py", "tests/doors", "tests/fuzz/test_broken.py", "tests/golden", "tests/inputs", "tests/laws",
    "tests/numbers", "tests/probabilities", "tests/ranking", "tests/reference", "tests/soft", "tests/spans", "tests/splitting", "tests/stats", "tests/waist", "tests/worked",
]  # fmt: skip
"""Which tests are there to notice; the examples of the modules themselves come first."""
OPTIONS = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow", "--hypothesis-seed=0", "--no-summary"]  # fmt: skip


def every(begins: tuple[str, ...]) -> list[Mutant]:
    out = []
    for part in PARTS:
        for path in sorted((ROOT / part).rglob("*.py")) if part.endswith("/") else [ROOT / part]:
            name = path.relative_to(ROOT).as_posix()
            if name not in LEFT_OUT and name.startswith(begins):
                out += mutants(path.relative_to(ROOT))
    return out


@dataclass
class Reached:
    """Which tests passed, how many seconds each took, and which of them reach a function."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[str, list[str]] = field(default_factory=dict)

    def of(self, mutant: Mutant) -> list[str]:
        """Tests that could notice the fault, quick ones first, up to what is enough."""
        out, total = [], 0.0
        for test in sorted(self.tests.get(f"{mutant.path.as_posix()}:{mutant.function}", []), key=self.seconds.get):  # type: ignore[arg-type]
            total += self.seconds[test]
            if out and total > ENOUGH:
                break
            out.append(test)
        return out


def failing(item: pytest.Item, following: pytest.Item | None) -> bool:
    return any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def in_child(work: Callable[[], int], seconds: float) -> int:
    """What a forked process ends with; 99 where it does not end."""
    child = os.fork()
    if not child:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            os._exit(work())
        finally:
            os._exit(98)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return 99 if code < 0 else code


class Planting:
    """Runs in the place of pytest's own loop, over the tests that it has collected."""

    def __init__(self, sample: list[Mutant], kept: Path) -> None:
        self.sample, self.kept = sample, kept
        self.rate = 0.0
        self.sound: dict[str, bool] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        if not self.kept.exists() and in_child(self.first_pass, 36_000):
            raise RuntimeError("the first pass did not end")
        self.reached = Reached(**json.loads(self.kept.read_text("utf-8")))
        self.rate = self.planted()
        return True

    def first_pass(self) -> int:
        """In a process of its own: what tests leave in memory would hide faults from later ones."""
        reached, seen = Reached(), watch([ROOT / part for part in PARTS], ROOT)
        items = list(self.items.values())
        for item, following in zip(items, [*items[1:], None], strict=True):
            seen.clear()
            began = time.process_time()
            if failing(item, following):
                continue
            reached.seconds[item.nodeid] = round(time.process_time() - began, 3)
            for function in seen:
                reached.tests.setdefault(function, []).append(item.nodeid)
        self.kept.write_text(json.dumps(reached.__dict__), "utf-8")
        return 0

    def run(self, tests: list[str], mutant: Mutant | None) -> int:
        """How many tests have run when one failed, and 0 if none did."""
        if mutant is not None and not plant(mutant, ROOT):
            return 97
        items = [self.items[test] for test in tests if test in self.items]
        for item, following in zip(items, [*items[1:], None], strict=True):
            if failing(item, following):
                (self.kept.parent / f"{self.kept.name}.killer").write_text(item.nodeid, "utf-8")
                return 1
        return 0

    def fate(self, mutant: Mutant) -> tuple[str, str]:
        """killed, survived or unreached; and the test that noticed."""
        tests = self.reached.of(mutant)
        killer = self.kept.parent / f"{self.kept.name}.killer"
        while tests:
            code = in_child(
                partial(self.run, tests, mutant), 60 + 4 * sum(map(self.reached.seconds.__getitem__, tests))
            )
            if code in (0, 97):
                return ("survived" if code == 0 else "unreached"), ""
            if code != 1:
                return "killed", "it ends in another way" if code == 98 else "it does not end"
            if self.is_sound(by := killer.read_text("utf-8")):
                return "killed", by
            tests = [test for test in tests if test != by]
        return "survived", "no test reaches it"

    def is_sound(self, test: str) -> bool:
        """Whether a test passes alone where no fault was planted."""
        if test not in self.sound:
            self.sound[test] = not in_child(partial(self.run, [test], None), 600)
        return self.sound[test]

    def planted(self) -> float:
        known = tomllib.loads((Path(__file__).parent / "survivors.toml").read_text("utf-8"))
        counts = {"killed": 0, "survived": 0, "equivalent": 0, "unreached": 0}
        for n, mutant in enumerate(self.sample, 1):
            began, (outcome, by) = time.time(), self.fate(mutant)
            outcome = "equivalent" if outcome == "survived" and mutant.name in known else outcome
            counts[outcome] += 1
            print(f"{n:4} {outcome:10} {time.time() - began:5.0f} s  {mutant.name}  {by}", flush=True)
        rate = counts["killed"] / max(counts["killed"] + counts["survived"], 1)
        print(f"{counts}: {rate:.1%} of the faults that make a difference are noticed")
        return rate


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.mutants")
    asked.add_argument("--sample", type=int, default=200)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--reached", type=Path, default=ROOT / ".reached.json", help="which tests reach what; made if it is not there")  # fmt: skip
    asked.add_argument("part", nargs="*", help="beginnings of paths; all without")
    given = asked.parse_args()
    os.chdir(ROOT)
    found = every(tuple(given.part or [""]))
    sample = random.Random(given.seed).sample(found, min(given.sample, len(found)))
    print(f"{len(found):,} possible faults, of which {len(sample)} are planted", flush=True)
    planting = Planting(sample, given.reached.resolve())
    pytest.main([*OPTIONS, *TESTS], plugins=[planting])
    return 0 if planting.rate >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())

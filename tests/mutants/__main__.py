# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.mutants [--sample N] [--seed N] [PART…]``: plant faults one by one and see whether a test fails.

Constants and declarations of modules are left alone: only bodies of functions can be exchanged while they run.
All tests are collected once; each fault is put into the running code of a forked process, where the tests of its
module run until one fails. What survives must be in ``survivors.toml`` with the reason why no test could tell.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import random
import signal
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from tests.mutants.mutation import Mutant, mutants

ROOT = Path(__file__).parents[2]
LEAST = 0.95
SECONDS = 600

TESTS: dict[str, list[str]] = {
    "src/karat/contexts/monolabel.py": ["tests/worked", "tests/reference/test_sklearn_live.py", "tests/inputs/test_edges.py", "tests/laws", "tests/golden"],
    "src/karat/contexts/multilabel.py": ["tests/worked", "tests/soft/test_label_sets.py", "tests/inputs/test_edges.py", "tests/inputs/test_sets.py", "tests/reference/test_sklearn_live.py", "tests/laws", "tests/golden"],
    "src/karat/contexts/label_sets.py": ["tests/worked", "tests/soft/test_label_sets.py", "tests/inputs/test_sets.py", "tests/inputs/test_faulty.py", "tests/laws", "tests/golden"],
    "src/karat/contexts/by_class.py": ["tests/worked", "tests/reference/test_sklearn_live.py", "tests/laws"],
    "src/karat/contexts/soft/": ["tests/worked", "tests/soft", "tests/laws"],
    "src/karat/contexts/ranking/": ["tests/worked", "tests/ranking", "tests/laws"],
    "src/karat/contexts/spans/": ["tests/worked", "tests/spans", "tests/inputs/test_span_files.py", "tests/inputs/test_span_seams.py", "tests/laws"],
    "src/karat/contexts/splitting/": ["tests/splitting", "tests/doors/test_file_splitting.py", "tests/laws"],
    "src/karat/contexts/clustering/": ["tests/worked", "tests/clustering", "tests/laws"],
    "src/karat/stats/": ["tests/stats", "tests/reference/test_stats_vectors.py", "tests/reference/test_stats_live.py"],
    "src/karat/align.py": ["tests/waist", "tests/inputs/test_edges.py", "tests/inputs/test_containers.py", "tests/ranking", "tests/worked", "tests/golden"],
    "src/karat/read/": ["tests/inputs", "tests/fuzz/test_broken.py", "tests/ranking/test_reading.py", "tests/spans", "tests/splitting/test_context.py", "tests/golden"],
}  # fmt: skip
"""Which tests are there to notice the faults of a module; the examples of the module itself come first."""
LEFT_OUT = ("src/karat/contexts/base.py", "src/karat/contexts/__init__.py")
"""Modules of declarations alone."""


def every(begins: tuple[str, ...]) -> Iterator[Mutant]:
    for part in TESTS:
        paths = sorted((ROOT / part).rglob("*.py")) if part.endswith("/") else [ROOT / part]
        for path in paths:
            name = path.relative_to(ROOT).as_posix()
            if name not in LEFT_OUT and name.startswith(begins):
                yield from mutants(path.relative_to(ROOT))


def tests_of(path: Path) -> list[str]:
    own = next(tests for part, tests in TESTS.items() if path.as_posix().startswith(part))
    examples = ["tests/docs/test_metric_examples.py"] if "contexts" in path.parts else []
    return [path.as_posix(), *examples, *own]


def planted(mutant: Mutant) -> bool:
    """The fault in the running code; False where no such function is there."""
    importlib.import_module(".".join(mutant.path.with_suffix("").parts[1:]).removesuffix(".__init__"))
    code = _code(mutant.code(), mutant.function, mutant.line)
    file = str(ROOT / mutant.path)
    alike = [f for f in gc.get_objects() if isinstance(f, FunctionType) and _is(f.__code__, file, mutant.function)]
    for function in alike:
        function.__code__ = code
    return bool(alike)


def _is(code: CodeType, file: str, name: str) -> bool:
    return code.co_filename == file and code.co_qualname == name


def _code(module: CodeType, name: str, line: int) -> CodeType:
    inner = [c for c in module.co_consts if isinstance(c, CodeType)]
    found = next((c for c in inner if c.co_qualname == name), None)
    return found or next(_code(c, name, line) for c in inner if name.startswith(c.co_qualname + "."))


def fate(mutant: Mutant) -> str:
    """killed, survived, or unreached."""
    child = os.fork()
    if not child:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        signal.alarm(SECONDS)
        if not planted(mutant):
            os._exit(77)
        os._exit(int(pytest.main([*OPTIONS, "-x", *tests_of(mutant.path)])))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "survived", 77: "unreached"}.get(code, "killed")


OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow", "--hypothesis-seed=0"]


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.mutants")
    asked.add_argument("--sample", type=int, default=200)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("part", nargs="*", help="beginnings of paths; all without")
    given = asked.parse_args()
    os.chdir(ROOT)
    known = tomllib.loads((Path(__file__).parent / "survivors.toml").read_text("utf-8"))
    found = list(every(tuple(given.part or [""])))
    sample = random.Random(given.seed).sample(found, min(given.sample, len(found)))
    print(f"{len(found):,} possible faults, of which {len(sample)} are planted", flush=True)
    files = sorted({test for mutant in sample for test in tests_of(mutant.path)})
    if pytest.main([*OPTIONS, "--collect-only", "-qq", "--no-summary", *files]):
        return 2
    counts = {"killed": 0, "survived": 0, "equivalent": 0, "unreached": 0}
    for n, mutant in enumerate(sample, 1):
        began, outcome = time.time(), fate(mutant)
        outcome = "equivalent" if outcome == "survived" and mutant.name in known else outcome
        counts[outcome] += 1
        print(f"{n:4} {outcome:10} {time.time() - began:5.0f} s  {mutant.name}", flush=True)
    rate = counts["killed"] / max(counts["killed"] + counts["survived"], 1)
    print(f"{counts}: {rate:.1%} of the faults that make a difference are noticed")
    return 0 if rate >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())

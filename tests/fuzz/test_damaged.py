# SPDX-License-Identifier: Apache-2.0
"""Damaged files of every format end with the right score or with findings: no signal, no hour, no gigabyte.

Every file is scored in a process of its own, forked from one that has imported karat, so that a crash is seen as one.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.formats import Format, accuracy, damaged, formats

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

FILES = 5000
QUICK = 90
SECONDS, BYTES = 60, 1 << 30


def cases(count: int, seed: int) -> Iterator[tuple[str, Format, bool, bytes]]:
    """Formats in turn; the damage is in gold or in the prediction."""
    known = list(formats().items())
    for n in range(count):
        name, format = known[n % len(known)]
        rng = random.Random(f"{seed} {n}")
        of_gold = rng.random() < 0.5
        yield name, format, of_gold, damaged(format.gold if of_gold else format.pred, rng, format.pieces)


def scored(folder: Path, name: str, format: Format, of_gold: bool, content: bytes) -> tuple[int, float, int, str]:
    """Exit code (negative: the signal), seconds of processor time, bytes of memory, and what was said."""
    paths = [folder / f"gold.{name}", folder / f"pred.{name}"]
    for path, good, bad in zip(paths, (format.gold, format.pred), (of_gold, not of_gold), strict=True):
        path.write_bytes(content if bad else good)
    report, said = folder / "report.json", folder / "said"
    report.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        _child(["evaluate", *map(str, paths), *format.options, "--report", "json", "-o", str(report)], said)
    _, status, used = os.wait4(child, 0)
    return (
        os.waitstatus_to_exitcode(status),
        used.ru_utime + used.ru_stime,
        used.ru_maxrss << 10,
        said.read_text(errors="replace"),
    )


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    """What commands import as they go is imported once, in this process, and not by every child."""
    program = "import sys; from karat.cli.main import main\ntry: main()\nexcept SystemExit: print(*sys.modules, file=sys.stderr)"
    folder = Path(__file__).parents[1] / "golden" / "files"
    line = [sys.executable, "-c", program, "evaluate", str(folder / "gold.tsv"), str(folder / "a.tsv")]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    for name in done.stderr.splitlines()[-1].split():
        with suppress(ImportError):
            importlib.import_module(name)


def _child(line: list[str], said: Path) -> None:
    from karat.cli.exits import run
    from karat.cli.main import karat as command

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(30 * SECONDS)  # only for what waits for ever: on a busy machine a minute of work takes many
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(said, "w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        code = run(lambda: command.main(line, standalone_mode=False))
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def problem(folder: Path, case: tuple[str, Format, bool, bytes]) -> str | None:
    """What is wrong with how karat takes a damaged file, if something is."""
    _, format, of_gold, content = case
    code, seconds, memory, said = scored(folder, *case)
    if code not in (0, 2):
        return f"ended with {code}: {said[-400:]}"
    if seconds > SECONDS or memory > BYTES:
        return f"took {seconds:.0f} s and {memory >> 20} MB"
    if code == 2:
        return None if "error" in said and "Traceback" not in said else f"no finding: {said[-400:]}"
    found: Any = json.loads((folder / "report.json").read_text("utf-8"))
    reading = format.reading(content) if format.reading else None
    if reading is None:
        return None
    gold, pred = (format.reading(side) for side in (format.gold, format.pred))  # type: ignore[misc]
    right = accuracy(reading if of_gold else gold, pred if of_gold else reading)  # type: ignore[arg-type]
    score = next(m["value"] for m in found["systems"][0]["metrics"] if m["metric"] == "accuracy")
    return None if abs(score - right) < 1e-12 else f"accuracy {score}, but another program reads {right}"


def problems(folder: Path, count: int, seed: int) -> list[str]:
    out = []
    for n, case in enumerate(cases(count, seed)):
        if fault := problem(folder, case):
            name, _, of_gold, content = case
            kept = folder / f"kept-{n}.{name}"
            kept.write_bytes(content)
            out.append(f"file {n} of seed {seed} ({name}, {'gold' if of_gold else 'pred'}, {kept}): {fault}")
    return out


def test_good_files(tmp_path: Path) -> None:
    for name, format in formats().items():
        code, _, _, said = scored(tmp_path, name, format, True, format.gold)
        assert code == 0, (name, said)
        assert problem(tmp_path, (name, format, True, format.gold)) is None


def test_damaged_files(tmp_path: Path) -> None:
    assert not problems(tmp_path, QUICK, 1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_damaged_files(part: int, tmp_path: Path) -> None:
    assert not problems(tmp_path, FILES // 10, 100 + part)

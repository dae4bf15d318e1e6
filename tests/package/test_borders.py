# SPDX-License-Identifier: Apache-2.0
"""How far a record travels: the borders between modules that an evaluation crosses, and what it costs."""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import karat

ROOT = str(Path(karat.__file__).parent)
SCORING = (
    "plan.py",
    "metric.py",
    "evaluation.py",
    "score.py",
    "weights.py",
    "contexts/tree.py",
    "contexts/by_class.py",
)
"""Where a score is computed, once for each metric: not part of the way from a file to cells."""
MOST_CROSSINGS = 190
"""Calls from one module into another, from two files to cells (188 now; 368 with the scores of eight metrics).
The aim is 120."""
MOST_BORDERS = 120
"""Pairs of modules of which one calls the other, in a whole evaluation."""
MOST_MILLISECONDS = 25.0

VALUES: dict[str, Any] = {
    "monolabel": lambda r: r.choice("ABC"),
    "multilabel": lambda r: r.sample("ABCDE", r.randint(1, 3)),
    "soft": lambda r: {"A": (share := round(r.random(), 2)), "B": round(1 - share, 2)},
    "clustering": lambda r: r.choice("xyz"),
}


def files(folder: Path, context: str, records: int = 1000) -> list[Path]:
    draw, out = random.Random(0), []
    for role in ("gold", "pred"):
        rows = [{"test_case": "T", "id": str(i), "value": VALUES[context](draw)} for i in range(records)]
        out.append(folder / f"{role}.json")
        out[-1].write_text(json.dumps(rows))
    return out


def crossings(gold: Path, pred: Path, context: str) -> Counter[tuple[str, str]]:
    """How often each module of karat calls each other one."""
    count: Counter[tuple[str, str]] = Counter()

    def look(frame: FrameType, event: str, _: Any) -> None:
        caller = frame.f_back
        if event != "call" or caller is None:
            return
        here, there = caller.f_code.co_filename, frame.f_code.co_filename
        if here != there and here.startswith(ROOT) and there.startswith(ROOT):
            count[here[len(ROOT) + 1 :], there[len(ROOT) + 1 :]] += 1

    karat.evaluate(gold, pred, context=context)
    sys.setprofile(look)
    try:
        karat.evaluate(gold, pred, context=context)
    finally:
        sys.setprofile(None)
    return count


def test_the_way_of_a_record_is_short(tmp_path: Path) -> None:
    count = crossings(*files(tmp_path, "monolabel"), "monolabel")
    to_cells = {pair: n for pair, n in count.items() if not {*pair} & {*SCORING}}
    assert sum(to_cells.values()) <= MOST_CROSSINGS, Counter(to_cells).most_common(20)
    assert len(count) <= MOST_BORDERS, sorted(count)


def test_its_length_does_not_grow_with_the_data(tmp_path: Path) -> None:
    few, many = (sum(crossings(*files(tmp_path, "monolabel", n), "monolabel").values()) for n in (100, 1000))
    assert few == many


@pytest.mark.slow  # a clock: whoever else uses the processor can make it fail
@pytest.mark.parametrize("context", VALUES)
def test_a_thousand_records_take_a_moment(context: str, tmp_path: Path) -> None:
    """The best of some: other programs only ever add to the time."""
    gold, pred = files(tmp_path, context)
    karat.evaluate(gold, pred, context=context)
    times = []
    for _ in range(7):
        start = time.process_time()
        karat.evaluate(gold, pred, context=context)
        times.append(1000 * (time.process_time() - start))
    assert min(times) <= MOST_MILLISECONDS

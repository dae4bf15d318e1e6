# SPDX-License-Identifier: Apache-2.0
"""Families of inputs and of evaluations, and where their results are kept."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from tests.inputs.odd_tables import TABLES
from tests.inputs.oddities import READERS
from tests.kept import documents, evaluations, fast, functions, inputs, memory
from tests.kept.reading import Input, results

DATA = Path(__file__).parents[1] / "data"
MOST = {"reading": 150, "statistics": 20, "functions": 400}
"""Results of one test, so that it takes less than a second."""

INPUTS: dict[str, Callable[[], Iterator[tuple[str, Input]]]] = {
    **{f"oddities {reader}": partial(inputs.oddities, reader) for reader in READERS | TABLES if reader != "docbin"},
    **{f"values {container}": partial(inputs.values, container) for container in inputs.CONTAINERS},
    **{f"documents {layout}": partial(documents.documents, layout) for layout in ("json", "jsonl", "records")},
    **{f"span names {layout}": partial(documents.span_names, layout) for layout in ("json", "jsonl")},
    "tables": inputs.tables, "shapes": inputs.shapes, "named": inputs.named, "shared": inputs.shared, "keys": inputs.keys, "long tables": inputs.long_tables, "wide tables": inputs.wide_tables, "json files": inputs.json_files,
    "uniform lines": documents.uniform_lines, "conll": documents.conll, "brat": documents.brat, "trec": documents.trec, "rankings": documents.rankings, "pages": documents.pages,
    "containers": memory.containers, "sources": memory.sources, "ranked frames": memory.ranked_frames,
}  # fmt: skip


Make = Callable[[Path, slice], dict[str, Any]]
"""Some of the results of a family, made in a folder."""


def _reading(inputs: Callable[[], Iterator[tuple[str, Input]]], folder: Path, part: slice) -> dict[str, Any]:
    return results(islice(inputs(), part.start, part.stop), folder)


def _computed(cases: Callable[[], evaluations.Cases], folder: Path, part: slice) -> dict[str, Any]:
    return evaluations.results(islice(cases(), part.start, part.stop))


FAMILIES: dict[str, dict[str, Make]] = {
    "reading": {family: partial(_reading, inputs) for family, inputs in INPUTS.items()},
    "statistics": {family: partial(_computed, cases) for family, cases in evaluations.ALL.items()},
    "functions": {family: partial(_computed, cases) for family, cases in (functions.ALL | fast.ALL).items()},
}


@cache
def kept(name: str) -> dict[str, dict[str, Any]]:
    with lzma.open(DATA / f"kept-{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        out: dict[str, dict[str, Any]] = {}
        for line in lines:
            family, case, result = json.loads(line)
            out.setdefault(family, {})[case] = result
    return out


def keep(name: str, results: dict[str, dict[str, Any]]) -> None:
    rows = [[family, case, result] for family, cases in results.items() for case, result in cases.items()]
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    (DATA / f"kept-{name}.jsonl.xz").write_bytes(lzma.compress(text.encode(), preset=9))

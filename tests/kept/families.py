# SPDX-License-Identifier: Apache-2.0
"""Families of inputs and of evaluations, and where their results are kept."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.inputs.odd_tables import TABLES
from tests.inputs.oddities import READERS
from tests.kept import documents, evaluations, fast, functions, inputs, memory, samples
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


SMALL = {
    "karat.read.json.BLOCK": 40, "karat.read.json.FIRST": 60, "karat.read.json.PART": 25, "karat.read.json.AT_ONCE": 2, "karat.read.json.NEAR": 40, "karat.read.json.HEAD": 2, "karat.read.source.HEAD": 32, "karat.read.source.LONGEST_RECORD": 512, "karat.read.source.BLOCK": 7, "karat.read.conll.HEAD": 4, "karat.read.delimited.SAMPLE": 4, "karat.read.table.WAITING": 3,
    "karat.read.spans.BLOCK": 60, "karat.read.spans.HEAD": 90, "karat.read.fast.uniform.BLOCK": 100, "karat.read.fast.span_lines.SAMPLE": 2, "karat.read.fast.trec.CHUNK": 20, "karat.read.trec._BLOCK": 25, "karat.read.fast.decimals._BLOCK": 2, "karat.read.fast.tag_bytes.BLOCK": 2, "karat.read.delimited.LONGEST_ROW": 60,
}  # fmt: skip
"""What readers take at once, so small that the inputs here are many blocks."""
IN_BLOCKS = (
    "json files", "oddities json", "oddities jsonl", "oddities span json", "oddities span jsonl", "documents json", "documents jsonl", "uniform lines", "trec", "oddities run", "conll", "shapes", "sources", "named",
)  # fmt: skip


def _in_blocks(inputs: Callable[[], Iterator[tuple[str, Input]]], folder: Path, part: slice) -> dict[str, Any]:
    with ExitStack() as stack:
        for name, size in SMALL.items():
            stack.enter_context(patch(name, size))
        return _reading(inputs, folder, part)


def _computed(cases: Callable[[], evaluations.Cases], folder: Path, part: slice) -> dict[str, Any]:
    return evaluations.results(islice(cases(), part.start, part.stop))


FAMILIES: dict[str, dict[str, Make]] = {
    "reading": {family: partial(_reading, inputs) for family, inputs in INPUTS.items()}
    | {f"{family} in small blocks": partial(_in_blocks, INPUTS[family]) for family in IN_BLOCKS},
    "statistics": {family: partial(_computed, cases) for family, cases in (evaluations.ALL | samples.ALL).items()},
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

# SPDX-License-Identifier: Apache-2.0
"""Labels of items as flat arrays: (item, label, weight) of gold and of the predictions for gold's items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.base import Coded, Run, Table
from karat.contexts.labels import encode
from karat.contexts.pairing import in_order

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Entries:
    """One row per item and label; labels (and annotators) are codes into sorted lists of names."""

    item: Ints
    label: Ints
    weight: Floats
    labels: list[str]
    annotator: Ints | None = None
    annotators: tuple[str, ...] = ()

    def recoded(self, classes: Sequence[str]) -> Ints:
        """The label codes in another list of names."""
        place = encode(np.array(self.labels, object), classes)
        return place[self.label] if len(place) else self.label

    def of(self, keep: NDArray[np.bool_]) -> Entries:
        who = None if self.annotator is None else self.annotator[keep]
        return Entries(self.item[keep], self.label[keep], self.weight[keep], self.labels, who, self.annotators)


def numbered(table: Table) -> str:
    return f"(SELECT *, row_number() OVER () - 1 AS item FROM {table.sql})"


def gold_entries(run: Run, gold: Table) -> Entries:
    """Every label of gold; items are numbered in file order."""
    if gold.coded:
        return _coded(gold.coded["value"])
    return _entries(run, f"(SELECT item, value FROM {numbered(gold)})", gold.kind)


def pred_entries(run: Run, gold: Table, pred: Table) -> Entries:
    """Every predicted label of an item that gold has, under gold's item number."""
    if pred.coded:
        return _coded(pred.coded["value"])
    if in_order(run, gold, pred):
        return _entries(run, f"(SELECT item, value FROM {numbered(pred)})", pred.kind)
    aligned = (
        f"(SELECT g.item, p.value FROM (SELECT item, test_case, id FROM {numbered(gold)}) g"
        f" JOIN {pred.sql} p ON g.test_case = p.test_case AND g.id = p.id)"
    )
    return _entries(run, aligned, pred.kind)


def _coded(column: Any) -> Entries:
    assert isinstance(column, Coded)
    return Entries(np.arange(len(column.codes)), column.codes, np.ones(len(column.codes)), list(column.values))


_FLAT = {
    "label": "SELECT item, value AS label, 1.0 AS weight FROM {source}",
    "labels": "SELECT item, unnest(value) AS label, unnest(range(len(value))) AS weight FROM {source}",
    "weights": "SELECT item, unnest(map_keys(value)) AS label, unnest(map_values(value)) AS weight FROM {source}",
    "votes": "SELECT item, unnest(map_keys(value)) AS annotator, unnest(map_values(value)) AS label, 1.0 AS weight FROM {source}",
}


def flat(kind: str, source: str) -> str:
    """A query of one row per item and label; for lists the weight is the place in the list."""
    return _FLAT[kind].format(source=source)


def _entries(run: Run, source: str, kind: str) -> Entries:
    """Names become codes through their hashes, so that no text leaves the engine more than once."""
    rows = flat(kind, source)
    texts = ["label", "annotator"] if kind == "votes" else ["label"]
    names = {text: _names(run, rows, text) for text in texts}
    hashes = ", ".join(f"hash({text}) AS {text}" for text in texts)
    found = run(f"SELECT item, {hashes}, CAST(weight AS DOUBLE) AS weight FROM ({rows}) WHERE label IS NOT NULL")
    codes = {text: _codes(found[text], names[text][1]) for text in texts}
    weight = np.asarray(found["weight"], float)
    who = codes.get("annotator")
    annotators = tuple(names["annotator"][0]) if kind == "votes" else ()
    return Entries(found["item"].astype(np.int64), codes["label"], weight, names["label"][0], who, annotators)


def _names(run: Run, rows: str, text: str) -> tuple[list[str], NDArray[Any]]:
    """Distinct names in order, and their hashes."""
    found = run(f"SELECT {text} AS name, hash({text}) AS h FROM ({rows}) WHERE {text} IS NOT NULL GROUP BY ALL ORDER BY name")
    return [str(name) for name in found["name"].tolist()], found["h"]


def _codes(hashes: NDArray[Any], known: NDArray[Any]) -> Ints:
    order = np.argsort(known)
    return order[np.searchsorted(known[order], hashes)].astype(np.int64) if len(known) else np.zeros(len(hashes), np.int64)


def cases(run: Run, gold: Table) -> tuple[Ints, list[str]]:
    """Test case of each gold item, as codes, and their names."""
    if gold.coded:
        return np.zeros(gold.rows, np.int64), [""]
    names = sorted(run(f"SELECT DISTINCT test_case FROM {gold.sql}")["test_case"].tolist())
    if len(names) == 1:
        return np.zeros(gold.rows, np.int64), names
    found = run(f"SELECT hash(test_case) AS h FROM {numbered(gold)} ORDER BY item")["h"]
    known = run(f"SELECT test_case, hash(test_case) AS h FROM {gold.sql} GROUP BY ALL ORDER BY test_case")
    return _codes(found, known["h"]), [str(t) for t in known["test_case"].tolist()]


def ids(run: Run, gold: Table) -> list[str]:
    """Ids of gold's items in file order."""
    if gold.coded:
        return [str(i) for i in range(gold.rows)]
    return [str(i) for i in run(f"SELECT id FROM {numbered(gold)} ORDER BY item")["id"].tolist()]


def predicted(run: Run, gold: Table, pred: Table) -> NDArray[np.bool_]:
    """Whether each gold item has a record in the predictions."""
    if pred.coded or in_order(run, gold, pred):
        return np.ones(gold.rows, bool)
    match = f"{numbered(gold)} g JOIN {pred.sql} p ON g.test_case = p.test_case AND g.id = p.id"
    out = np.zeros(gold.rows, bool)
    out[run(f"SELECT g.item FROM {match}")["item"].astype(np.int64)] = True
    return out

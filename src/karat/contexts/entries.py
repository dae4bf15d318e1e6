# SPDX-License-Identifier: Apache-2.0
"""Labels of items as flat arrays: (item, label, weight) of gold and of the predictions for gold's items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.base import Coded, Run, Table
from karat.contexts.groups import distinct
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
        if keep.all():
            return self
        who = None if self.annotator is None else self.annotator[keep]
        return Entries(self.item[keep], self.label[keep], self.weight[keep], self.labels, who, self.annotators)


def numbered(table: Table) -> str:
    return f"(SELECT *, row_number() OVER () - 1 AS item FROM {table.sql})"


_FLAT = {
    "label": "SELECT item, value AS label, 1.0 AS weight FROM {source}",
    "labels": "SELECT item, unnest(value) AS label, unnest(range(len(value))) AS weight FROM {source}",
    "weights": "SELECT item, unnest(value.labels) AS label, unnest(value.weights) AS weight FROM {source}",
    "votes": "SELECT item, unnest(value.labels) AS annotator, unnest(value.votes) AS label, 1.0 AS weight FROM {source}",
}
"""One row per item and label; for lists the weight is the place in the list."""


def entries(run: Run, table: Table) -> Entries:
    """Every label of a table; items are numbered in file order. Read once for each table."""
    if "entries" not in table.memo:
        table.memo["entries"] = _coded(table.coded["value"]) if table.coded else _read(run, table)
    found: Entries = table.memo["entries"]
    return found


def _coded(column: Any) -> Entries:
    assert isinstance(column, Coded)
    return Entries(np.arange(len(column.codes)), column.codes, np.ones(len(column.codes)), list(column.values))


def _read(run: Run, table: Table) -> Entries:
    """Names become codes through their hashes, so that a text leaves the engine once."""
    if table.kind == "weights" and (alike := _same_labels(run, table)):
        return alike
    rows = _FLAT[table.kind].format(source=numbered(table))
    texts = ["label", "annotator"] if table.kind == "votes" else ["label"]
    names = {text: _names(run, rows, text) for text in texts}
    hashes = ", ".join(f"hash({text}) AS {text}" for text in texts)
    found = run(f"SELECT item, {hashes}, CAST(weight AS DOUBLE) AS weight FROM ({rows}) WHERE label IS NOT NULL")
    codes = {text: _codes(found[text], names[text][1]) for text in texts}
    annotators = tuple(names["annotator"][0]) if "annotator" in names else ()
    item, weight = found["item"].astype(np.int64), np.asarray(found["weight"], float)
    out = Entries(item, codes["label"], weight, names["label"][0], codes.get("annotator"), annotators)
    table.memo["repeated"] = _repeated(out) if table.kind in ("weights", "votes") else []
    return out


def _repeated(of: Entries) -> list[tuple[int, str]]:
    """Items that name a label, or an annotator, more than once."""
    code, names = (of.label, of.labels) if of.annotator is None else (of.annotator, of.annotators)
    key, place = distinct(of.item * max(len(names), 1) + code)
    again = key[np.bincount(place, minlength=len(key)) > 1]
    return [(int(k) // len(names), names[int(k) % len(names)]) for k in again.tolist()]


def _same_labels(run: Run, table: Table) -> Entries | None:
    """The entries of a table whose items all name the same labels in the same order: then only numbers are read."""
    found = run(f"SELECT DISTINCT value.labels AS labels FROM {table.sql} LIMIT 2")["labels"]
    if len(found) != 1 or not len(found[0]) or len(set(found[0])) < len(found[0]):
        return None
    names = [str(name) for name in found[0]]
    weight = np.asarray(run(f"SELECT unnest(value.weights) AS weight FROM {table.sql}")["weight"], float)
    if len(weight) != table.rows * len(names):
        return None
    labels = sorted(names)
    code = np.array([labels.index(name) for name in names])
    item = np.repeat(np.arange(table.rows), len(names))
    return Entries(item, np.tile(code, table.rows), weight, labels)


def _names(run: Run, rows: str, text: str) -> tuple[list[str], NDArray[Any]]:
    """Distinct names in order, and their hashes."""
    found = run(
        f"SELECT {text} AS name, hash({text}) AS h FROM ({rows}) WHERE {text} IS NOT NULL GROUP BY ALL ORDER BY name"
    )
    return [str(name) for name in found["name"].tolist()], found["h"]


def _codes(hashes: NDArray[Any], known: NDArray[Any]) -> Ints:
    if not len(known):
        return np.zeros(len(hashes), np.int64)
    order = np.argsort(known)
    return order[np.searchsorted(known[order], hashes)].astype(np.int64)


def places(run: Run, gold: Table, pred: Table) -> Ints:
    """Gold item of each predicted record, −1 where gold has none."""
    if pred.coded or in_order(run, gold, pred):
        return np.arange(pred.rows)
    if gold.keys and pred.keys:
        at = {key: row for row, key in enumerate(gold.keys.pairs())}
        return np.fromiter((at.get(key, -1) for key in pred.keys.pairs()), np.int64, pred.rows)
    match = f"{numbered(gold)} g JOIN {numbered(pred)} p ON g.test_case = p.test_case AND g.id = p.id"
    found = run(f"SELECT g.item AS gold, p.item AS pred FROM {match}")
    out = np.full(pred.rows, -1)
    out[found["pred"].astype(np.int64)] = found["gold"]
    return out


def moved(pred: Entries, place: Ints) -> Entries:
    """Predicted labels under gold's item numbers, those without gold left out."""
    return replace(pred, item=place[pred.item]).of(place[pred.item] >= 0)


def cases(run: Run, gold: Table) -> tuple[Ints, list[str]]:
    """Test case of each gold item, as codes, and their names."""
    if gold.coded:
        return np.zeros(gold.rows, np.int64), [""]
    if gold.keys:
        return case_codes(gold.keys.test_case)
    known = run(f"SELECT test_case, hash(test_case) AS h FROM {gold.sql} GROUP BY ALL ORDER BY test_case")
    names = [str(name) for name in known["test_case"].tolist()]
    if len(names) == 1:
        return np.zeros(gold.rows, np.int64), names
    return _codes(run(f"SELECT hash(test_case) AS h FROM {gold.sql}")["h"], known["h"]), names


def case_codes(cases: Sequence[str]) -> tuple[Ints, list[str]]:
    """Test cases as codes into their sorted names; most data have one."""
    names = sorted(set(cases))
    return encode(np.array(cases, object), names) if len(names) > 1 else np.zeros(len(cases), np.int64), names


def ids(run: Run, gold: Table) -> list[str]:
    """Ids of gold's items in file order."""
    if gold.coded:
        return [str(i) for i in range(gold.rows)]
    if gold.keys:
        return gold.keys.id
    return [str(i) for i in run(f"SELECT id FROM {gold.sql}")["id"].tolist()]

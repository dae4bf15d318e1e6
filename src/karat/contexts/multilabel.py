# SPDX-License-Identifier: Apache-2.0
"""A set of labels per item: the cells are distinct pairs of gold and predicted sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from karat.cells import Floats, Ints, Sparse, Weights
from karat.contexts.base import AnyTable, CodedSets, Context, Counted, Run, Table
from karat.contexts.entries import cases, entries
from karat.contexts.labels import encode, ordered, unknown_labels
from karat.contexts.lists import Lists, lists
from karat.contexts.options import OPTIONS
from karat.contexts.pairing import Coverage, bad_rows, coverage_findings, in_order, repeated_ids
from karat.contexts.tree import TreeCells, outside_hierarchy
from karat.findings import Finding, finding
from karat.hierarchy import Hierarchy
from karat.metric import metric
from karat.score import Values, ratio
from karat.state import stored


@stored("multilabel-cells")
class MultiLabelCells(TreeCells):
    """Cells of items with label sets; ``in_gold`` and ``in_pred`` say which sides know the item."""

    per_cell = ("gold_of", "pred_of", "score_of", "in_gold", "in_pred")
    class_codes = ()
    averages = ("macro", "micro", "weighted", "samples")

    def __init__(
        self, gold_of: Sparse, pred_of: Sparse, in_gold: Any, in_pred: Any, n: Any, test_case: Any,
        test_cases: Sequence[str], classes: Sequence[str], hierarchy: Hierarchy | None = None,
        score_of: Sparse | None = None, **units: Any,
    ) -> None:  # fmt: skip
        super().__init__(n, test_case, test_cases, classes, hierarchy=hierarchy, **units)
        self.gold_of = gold_of
        self.pred_of = pred_of
        self.score_of = pred_of if score_of is None else score_of
        """Scores of the labels that a prediction ranks; of a list, minus the place."""
        self.in_gold = np.asarray(in_gold, float)
        self.in_pred: Floats = np.asarray(in_pred, float)

    @cached_property
    def hit_of(self) -> Sparse:
        return self.gold_of.shared(self.pred_of)

    @cached_property
    def exact(self) -> Floats:
        """1 where both sets are the same."""
        hit, gold, pred = (np.bincount(s.row, minlength=len(self)) for s in (self.hit_of, self.gold_of, self.pred_of))
        return ((hit == gold) & (hit == pred) & (self.in_gold > 0) & (self.in_pred > 0)).astype(float)

    @cached_property
    def _lists(self) -> dict[int | None, Lists]:
        return {}

    def lists(self, level: int | None = None) -> Lists:
        """The ranked labels of each item; at a level of the hierarchy, labels become their ancestors there."""
        if level not in self._lists:
            gold, score = self.gold_of, self.score_of
            to = np.arange(len(self.classes)) if level is None else self._ancestors(level)
            inside, known = to[gold.col] >= 0, to[score.col] >= 0
            truth = gold.row[inside], to[gold.col[inside]]
            ranked = score.row[known], to[score.col[known]], score.data[known]
            self._lists[level] = lists(truth, ranked, len(self), int(to.max(initial=-1)) + 1)
        return self._lists[level]

    def _ancestors(self, level: int) -> Ints:
        """A code for each class's ancestor at a level (0: roots); −1 for classes above it."""
        tree = (self.hierarchy or Hierarchy({})).extended(self.classes)
        paths = [tree.path(label)[::-1] for label in self.classes]
        names = [path[level] if level < len(path) else None for path in paths]
        at = {name: i for i, name in enumerate(dict.fromkeys(n for n in names if n is not None))}
        return np.array([-1 if name is None else at[name] for name in names], np.int64)


@dataclass
class Flat:
    """One side's labels as (row of the file, label code) pairs, each pair once and in order."""

    row: Ints
    code: Ints
    score: Floats
    repeated: Ints
    """Rows that give a label more than once."""
    scored: bool = False
    """Whether the scores are the file's, and not places in a list."""


class MultiLabel(Context):
    """Multi-label classification, with or without a hierarchy."""

    name = "multilabel"
    title = "Multi-label classification"
    cells = MultiLabelCells
    kinds = ("labels", "label", "weights")
    metrics = ("precision", "recall", "f1", "jaccard", "subset_accuracy", "hamming_loss", "icm", "icm_norm")
    options = OPTIONS["multilabel"]
    example = '{"id": "1", "value": ["A", "B"]}'

    def records(self, table: AnyTable) -> AnyTable:
        return as_sets(table) if table.sql else table

    def check(self, run: Run, table: Table, options: Mapping[str, Any]) -> list[Finding]:
        if table.kind == "label" or "sets" in table.memo:
            return []
        found = repeated_ids(run, table)
        if any(not (label or "").strip() for label in _labels(run, table)):
            found += bad_rows(run, table, "empty-value", _empty(table), field="label in the list")
        return found

    def count(self, run: Run, gold: Table, pred: Table, options: Mapping[str, Any], *, units: bool = False) -> Counted:
        sides = as_sets(gold), as_sets(pred)
        classes = ordered(_labels(run, sides[0]) | _labels(run, sides[1]))
        pairs = paired(run, sides[0], sides[1], options)
        flats = [flat_labels(run, side, classes) for side in sides]
        cells = self._cells(run, pairs, flats, classes, options, units)
        findings = coverage_findings(run, sides[0], sides[1], pairs.coverage, options)
        gold_used = {classes[c] for c in np.flatnonzero(np.bincount(flats[0].code)).tolist()}
        uses = np.bincount(flats[1].code, minlength=len(classes))
        unknown = {label: int(uses[i]) for i, label in enumerate(classes) if uses[i] and label not in gold_used}
        findings += unknown_labels(unknown, sorted(gold_used), pred)
        gold_code = "repeated-gold-label" if options["faulty"] == "error" else "repeated-label"
        findings += [
            finding(code, t.name, t.line(int(f.repeated[0])), count=len(f.repeated))
            for code, t, f in zip((gold_code, "repeated-label"), sides, flats, strict=True)
            if len(f.repeated)
        ]
        findings += [*_unlabelled(pairs, flats[0], gold), *_tied(flats[1], pred)]
        findings += outside_hierarchy(gold_used, options["hierarchy"], gold.name)
        findings += outside_hierarchy(unknown, options["hierarchy"], pred.name)
        return Counted(cells, pairs.coverage.counts(), findings)

    def _cells(
        self, run: Run, pairs: Pairs, flats: list[Flat], classes: list[str], options: Mapping[str, Any], units: bool
    ) -> MultiLabelCells:  # fmt: skip
        shape = (len(pairs.gold), len(classes))
        at = options["threshold"]
        gold, score = (_matrix(f, rows, shape) for f, rows in zip(flats, (pairs.gold, pairs.pred), strict=True))
        each = MultiLabelCells(
            _held(gold, flats[0].scored, at), _held(score, flats[1].scored, at), pairs.gold >= 0, pairs.pred >= 0, np.ones(shape[0], np.int64),
            pairs.test_case, pairs.test_cases, classes, options["hierarchy"], score,
        )  # fmt: skip
        cells, unit = merged(each)
        if units:
            cells.unit, cells.unit_ids = unit, pairs.ids(run)
        return cells


def _unlabelled(pairs: Pairs, flat: Flat, table: Table) -> list[Finding]:
    """How many gold items have no label."""
    rows = pairs.gold[pairs.gold >= 0]
    empty = int((np.bincount(flat.row, minlength=rows.max(initial=0) + 1)[rows] == 0).sum())
    return [finding("no-gold-labels", table.name, count=empty, total=len(rows))] if empty else []


def _tied(flat: Flat, table: Table) -> list[Finding]:
    """How many items have labels that their scores do not order."""
    if not flat.scored:
        return []
    order = np.lexsort((flat.score, flat.row))
    row, score = flat.row[order], flat.score[order]
    tied = np.unique(row[1:][(row[1:] == row[:-1]) & (score[1:] == score[:-1])])
    return [finding("tied-labels", table.name, count=len(tied), total=len(np.unique(row)))] if len(tied) else []


def _held(score: Sparse, scored: bool, threshold: float) -> Sparse:
    """1 for the labels of the set: all of a list, and of scores those from the threshold on."""
    held = score.data >= threshold if scored else np.ones(len(score.data), bool)
    return Sparse(score.row[held], score.col[held], np.ones(int(held.sum())), score.shape)


def _empty(table: Table) -> str:
    labels = "value.labels" if table.kind == "weights" else "value"
    return f"len(list_filter({labels}, lambda label: coalesce(trim(label, ' ' || chr(9) || chr(10) || chr(13)), '') = '')) > 0"


def as_sets(table: AnyTable) -> AnyTable:
    """The table with one row per id: a long table (id, label) becomes lists of labels."""
    if table.kind != "label":
        return table
    from copy import copy

    out = copy(table)
    numbered = f"(SELECT *, row_number() OVER () AS nth FROM {table.sql})"
    out.sql = f"(SELECT test_case, id, list(value ORDER BY nth) AS value FROM {numbered} GROUP BY test_case, id ORDER BY min(nth))"
    out.rows, out.keys = -1, None
    return out


def _labels(run: Run, table: Table) -> set[str]:
    if sets := table.memo.get("sets"):
        return {sets.values[code] for code in np.flatnonzero(np.bincount(sets.code)).tolist()}
    if table.keys:
        return set(entries(run, table).labels)
    labels = "value.labels" if table.kind == "weights" else "value"
    return set(run(f"SELECT DISTINCT unnest({labels}) AS label FROM {table.sql}")["label"].tolist())


def flat_labels(run: Run, table: Table, classes: Sequence[str]) -> Flat:
    """The labels of one side as codes."""
    if sets := table.memo.get("sets"):
        return _flat(sets.row, encode(np.array(sets.values, object), classes)[sets.code], _places(sets), classes, False)
    if table.keys:
        of, scored = entries(run, table), table.kind == "weights"
        return _flat(
            of.item, of.recoded(classes), of.weight if scored else -of.weight.astype(np.int64), classes, scored
        )
    numbered = f"(SELECT row_number() OVER () - 1 AS nth, {_RANKED[table.kind == 'weights']} FROM {table.sql})"
    known = f"(SELECT unnest(?) AS label, unnest(range({len(classes)})) AS code)".replace("?", _sql_list(classes))
    found = run(f"SELECT v.nth, k.code, v.score FROM {numbered} v JOIN {known} k ON v.label = k.label")
    return _flat(found["nth"].astype(np.int64), found["code"], found["score"], classes, table.kind == "weights")


def _places(sets: CodedSets) -> Ints:
    """Minus the place of each label in its list."""
    length = np.bincount(sets.row, minlength=sets.rows)
    return np.repeat(np.cumsum(length) - length, length) - np.arange(len(sets.row))


def _flat(nth: Ints, code: Any, score: Any, classes: Sequence[str], scored: bool) -> Flat:
    """The pairs in order, each once, with its best score."""
    width = max(len(classes), 1)
    key, score = _in_order(nth * width + code, score)
    again = np.flatnonzero(key[1:] == key[:-1]) + 1
    repeated = np.unique(key[again] // width)
    if len(again):
        key, score = np.delete(key, again), np.delete(score, again)
    row = key // width
    return Flat(row, key - row * width, score, repeated, scored)


_RANKED = {
    False: "unnest(value) AS label, unnest(range(0, -len(value), -1)) AS score",
    True: "unnest(value.labels) AS label, unnest(value.weights) AS score",
}
"""Labels with scores, of lists and of scored labels: a list scores its labels by minus their place."""


def _in_order(key: Ints, score: Any) -> tuple[Ints, Floats]:
    """Keys in order, the best score of a key first. Places are whole numbers: one sort does for both."""
    if score.dtype.kind == "f":
        order = np.lexsort((-score, key))
        return key[order], score[order]
    place = -score.astype(np.int64)
    depth = int(place.max(initial=0)) + 1
    both = np.sort(key * depth + place)
    key = both // depth
    return key, (key * depth - both).astype(float)


def _sql_list(texts: Sequence[str]) -> str:
    return "CAST([" + ", ".join("'" + t.replace("'", "''") + "'" for t in texts) + "] AS VARCHAR[])"


@dataclass
class Pairs:
    """Which row of gold meets which row of predictions; −1 where one side lacks the item."""

    gold: Ints
    pred: Ints
    test_case: Ints
    test_cases: list[str]
    coverage: Coverage
    source: str

    def ids(self, run: Run) -> list[str]:
        """Ids of the units, in their order."""
        found = run(self.source)
        return [str(i) for i in found["id"].tolist()]


def paired(run: Run, gold: Table, pred: Table, options: Mapping[str, Any]) -> Pairs:
    """The rows of both sides that belong together, in gold's order, as the options want them."""
    number = "(SELECT test_case, id, row_number() OVER () - 1 AS nth FROM {}) {}"
    g, p = number.format(gold.sql, "g"), number.format(pred.sql, "p")
    by_position = "sets" in gold.memo and "sets" in pred.memo and gold.rows == pred.rows
    if by_position or (gold.rows >= 0 and pred.rows >= 0 and in_order(run, gold, pred)):
        return _in_step(run, gold)
    join = f"{g} FULL JOIN {p} ON g.test_case = p.test_case AND g.id = p.id"
    both = f"SELECT coalesce(g.test_case, p.test_case) AS test_case, coalesce(g.id, p.id) AS id, coalesce(g.nth, -1) AS g, coalesce(p.nth, -1) AS p FROM {join}"
    wanted = ["true"]
    wanted += [] if options.get("extra") == "wrong" else ["g >= 0"]
    wanted += ["p >= 0"] if options["missing"] == "skip" else []
    source = f"SELECT * FROM ({both}) WHERE {' AND '.join(wanted)} ORDER BY g, test_case, id"
    return _pairs(run, both, source)


def _in_step(run: Run, gold: Table) -> Pairs:
    """Pairs of two sides that have the same ids in the same order."""
    source = f"SELECT test_case, id FROM {gold.sql}"
    code, names = (np.zeros(gold.rows, np.int64), [""]) if "sets" in gold.memo else cases(run, gold)
    row = np.arange(gold.rows)
    return Pairs(row, row, code, names, Coverage(gold.rows, gold.rows, gold.rows), source)


def _test_cases(run: Run, source: str) -> list[str]:
    return [str(t) for t in run(f"SELECT DISTINCT test_case FROM {source} ORDER BY 1")["test_case"].tolist()]


def _pairs(run: Run, both: str, source: str) -> Pairs:
    sizes = run(
        f"SELECT sum((g >= 0)::BIGINT) AS g, sum((p >= 0)::BIGINT) AS p, sum((g >= 0 AND p >= 0)::BIGINT) AS b FROM ({both})"
    )
    coverage = Coverage(*(int(sizes[k][0]) for k in ("g", "p", "b")))
    names = _test_cases(run, f"({source})")
    if len(names) == 1:
        rows = run(f"SELECT g, p FROM ({source})")
        code = np.zeros(len(rows["g"]), np.int64)
    else:
        rows = run(
            f"SELECT g, p, c.code FROM ({source}) s JOIN (SELECT unnest({_sql_list(names)}) AS name, unnest(range({len(names)})) AS code) c ON s.test_case = c.name ORDER BY g, test_case, id"
        )
        code = rows["code"].astype(np.int64)
    return Pairs(rows["g"].astype(np.int64), rows["p"].astype(np.int64), code, names, coverage, source)


def _matrix(flat: Flat, rows: Ints, shape: tuple[int, int]) -> Sparse:
    """The labels of the units: ``rows[u]`` is the row of the file that unit u is."""
    in_file_order = shape[0] == len(rows) and np.array_equal(rows, np.arange(shape[0]))
    if in_file_order and flat.row.max(initial=-1) < shape[0]:
        return Sparse(flat.row, flat.code, flat.score, shape)
    size = int(max(flat.row.max(initial=-1), rows.max(initial=-1))) + 1
    unit = np.full(size, -1, np.int64)
    unit[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    at = unit[flat.row]
    keep = at >= 0
    key, score = at[keep] * shape[1] + flat.code[keep], flat.score[keep]
    if not (key[1:] > key[:-1]).all():
        order = np.argsort(key)
        key, score = key[order], score[order]
    return Sparse(key // shape[1], key % shape[1], score, shape)


def merged(cells: MultiLabelCells) -> tuple[MultiLabelCells, Ints]:
    """Units with the same sets as one cell, and the cell of each unit.

    Sets are compared by a hash; where most units are alone in their cell nothing is merged,
    and neither is anything if two sets should ever share a hash.
    """
    size = len(cells)
    if size > 10 * _SAMPLE and len(merged(cells.take(np.arange(_SAMPLE)))[0]) > _SAMPLE // 2:
        return cells, np.arange(size)
    key = _set_hash(cells.gold_of, 1) + _set_hash(cells.pred_of, 2) + _score_hash(cells.score_of)
    side = (cells.in_gold * 2 + cells.in_pred).astype(np.uint64) + cells.test_case.astype(np.uint64) * np.uint64(4)
    _, first, unit = np.unique(key + _mix(side + np.uint64(1 << 40)), return_index=True, return_inverse=True)
    if len(first) > size // 2 or not _same_sets(cells, first[unit]):
        return cells, np.arange(size)
    return cells.take(first, np.bincount(unit, minlength=len(first))), unit


_SAMPLE = 10_000
"""Units that show whether merging pays."""


def _mix(x: Any) -> Any:
    """splitmix64: every bit of the output depends on every bit of the input."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _set_hash(of: Sparse, salt: int) -> Any:
    """A hash of each row's set of columns that does not depend on their order."""
    each = _mix((np.arange(1, of.shape[1] + 1).astype(np.uint64) << np.uint64(8)) + np.uint64(salt))
    total = np.zeros(of.shape[0], np.uint64)
    np.add.at(total, of.row, each[of.col])
    return total


def _score_hash(of: Sparse) -> Any:
    """A hash of each row's labels with their scores."""
    score = np.ascontiguousarray(of.data + 0.0).view(np.uint64)
    total = np.zeros(of.shape[0], np.uint64)
    np.add.at(total, of.row, _mix(score + _mix(of.col.astype(np.uint64) + np.uint64(7))))
    return total


def _same_sets(cells: MultiLabelCells, other: Ints) -> bool:
    """Does every unit have the very sets of the unit that stands for it?"""
    for of in (cells.gold_of, cells.pred_of, cells.score_of):
        again = of.rows(other)
        pairs = ((again.col, of.col), (again.row, of.row), (again.data, of.data))
        if not all(len(a) == len(b) and np.array_equal(a, b) for a, b in pairs):
            return False
    return bool((cells.test_case == cells.test_case[other]).all() and (cells.in_pred == cells.in_pred[other]).all())


@metric(MultiLabelCells, proportion=True, symmetric=True, reference="Zhang & Zhou 2014, doi:10.1109/TKDE.2013.39")
def subset_accuracy(W: Weights, cells: MultiLabelCells) -> Values:
    """Share of gold items whose predicted set is exactly the gold set.

    Undefined without gold items.

    >>> # gold {A, B}, {A}; predicted {A, B}, {B}: 1 of 2
    >>> karat.evaluate([["A", "B"], ["A"]], [["A", "B"], ["B"]], metrics=["subset_accuracy"])["subset_accuracy"].value
    0.5
    """
    return ratio(W @ cells.exact, W @ cells.in_gold, "no gold items")


@metric(MultiLabelCells, better="lower", symmetric=True, reference="Zhang & Zhou 2014, doi:10.1109/TKDE.2013.39")
def hamming_loss(W: Weights, cells: MultiLabelCells) -> Values:
    """Share of (item, class) decisions that are wrong.

    HL = Σ_c (gold_c + predicted_c − 2·hits_c) / (n·K), K the classes in use on either side.
    Undefined without gold items or classes.

    >>> # gold {A, B}, {A}; predicted {A, B}, {B}: A missed and B added in the second: 2 of 2·2
    >>> karat.evaluate([["A", "B"], ["A"]], [["A", "B"], ["B"]], metrics=["hamming_loss"])["hamming_loss"].value
    0.5
    """
    gold, pred = W @ cells.gold_of, W @ cells.pred_of
    wrong = (gold + pred - 2 * (W @ cells.hit_of)).sum(-1)
    return ratio(wrong, (W @ cells.in_gold) * ((gold > 0) | (pred > 0)).sum(-1), "no gold items or classes")


context = MultiLabel()

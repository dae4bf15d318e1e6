# SPDX-License-Identifier: Apache-2.0
"""Clusters against gold clusters: names do not matter, only who is with whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat.cells import Ints, Sparse
from karat.contexts.base import Context, Counted, Run, Table
from karat.contexts.clustering.cells import Clusters
from karat.contexts.entries import Entries, cases, entries, ids, moved, places
from karat.contexts.groups import distinct
from karat.contexts.options import OPTIONS
from karat.contexts.pairing import Coverage, coverage_findings, repeated_ids
from karat.findings import Finding, finding


class Clustering(Context):
    """Clusters of items; an item may be in several."""

    name = "clustering"
    title = "Clustering"
    cells = Clusters
    kinds = ("clusters", "labels", "label")
    metrics = (
        "purity",
        "inverse_purity",
        "purity_f",
        "bcubed_precision",
        "bcubed_recall",
        "bcubed_f1",
        "adjusted_rand",
        "nmi",
        "ami",
    )
    options = OPTIONS["clustering"]
    example = '{"id": "1", "value": ["cluster 3"]}'

    def check(self, run: Run, table: Table, options: Mapping[str, Any]) -> list[Finding]:
        return repeated_ids(run, table)

    def count(self, run: Run, gold: Table, pred: Table, options: Mapping[str, Any], *, units: bool = False) -> Counted:
        place = places(run, gold, pred)
        coverage = Coverage(gold.rows, pred.rows, int((place >= 0).sum()))
        findings = coverage_findings(run, gold, pred, coverage, options)
        sides = [entries(run, gold), moved(entries(run, pred), place)]
        findings += [f for side, table in zip(sides, (gold, pred), strict=True) for f in _remarks(side, table, options)]
        gold_of, pred_of = (_memberships(side, gold.rows, options) for side in sides)
        keep = np.bincount(gold_of[0], minlength=gold.rows) > 0
        found = np.bincount(pred_of[0], minlength=gold.rows) > 0
        if options["missing"] == "skip":
            keep &= found
        if options["missing"] == "singletons":
            pred_of = _with_singletons(pred_of, np.flatnonzero(~found))
        return Counted(_cells(run, gold, gold_of, pred_of, keep, units), coverage.counts(), findings)


Members = tuple[Ints, Ints]
"""Items and the clusters that they are in."""


def _remarks(side: Entries, table: Table, options: Mapping[str, Any]) -> list[Finding]:
    """Items in several clusters, and noise, are said."""
    out = []
    several = int((np.bincount(side.item) > 1).sum()) if len(side.item) else 0
    if several:
        out.append(finding("cluster-overlap", table.name, count=several))
    noise = options["noise"] or "-1"
    if noise in side.labels:
        count = int((side.label == side.labels.index(noise)).sum())
        code = "noise-items" if options["noise"] else "noise-unsaid"
        out.append(finding(code, table.name, count=count, name=noise, policy=options["noise_as"]))
    return out


def _memberships(side: Entries, rows: int, options: Mapping[str, Any]) -> Members:
    """Item and cluster of each membership, noise dealt with."""
    noise = side.labels.index(options["noise"]) if options["noise"] in side.labels else -1
    is_noise = side.label == noise
    kept = side.item[~is_noise], side.label[~is_noise]
    if options["noise_as"] == "missing" or not is_noise.any():
        return kept
    return _with_singletons(kept, np.setdiff1d(side.item[is_noise], kept[0]))


def _with_singletons(members: Members, items: Ints) -> Members:
    """Each of the items in a cluster of its own."""
    free = int(members[1].max(initial=-1)) + 1
    return np.concatenate([members[0], items]), np.concatenate([members[1], free + np.arange(len(items))])


def _cells(run: Run, gold: Table, gold_of: Members, pred_of: Members, keep: Any, units: bool) -> Clusters:
    """Items with the same clusters on both sides become one cell."""
    test_case, names = cases(run, gold)
    used = np.unique(test_case[keep])
    place = np.where(keep, np.cumsum(keep) - 1, -1)
    test_case = np.searchsorted(used, test_case[keep])
    sides = [_own(members, place, test_case) for members in (gold_of, pred_of)]
    codes = [_set_codes(item, cluster, len(test_case)) for item, cluster in sides]
    _, cell = distinct(
        (test_case * (codes[0].max(initial=0) + 1) + codes[0]) * (codes[1].max(initial=0) + 1) + codes[1]
    )
    first = np.zeros(int(cell.max(initial=-1)) + 1, np.int64)
    first[cell[::-1]] = np.arange(len(cell))[::-1]
    matrices = [_matrix(item, cluster, first, len(cell)) for item, cluster in sides]
    return Clusters(
        np.bincount(cell), test_case[first], [names[t] for t in used], *matrices,
        unit=cell if units else None, unit_ids=np.array(ids(run, gold), object)[keep].tolist() if units else None,
    )  # fmt: skip


def _own(members: Members, place: Ints, test_case: Ints) -> Members:
    """Memberships of the kept items; clusters of different test cases are different clusters."""
    item = place[members[0]]
    item, cluster = item[item >= 0], members[1][item >= 0]
    _, cluster = distinct(test_case[item] * (int(cluster.max(initial=0)) + 1) + cluster)
    width = int(cluster.max(initial=0)) + 1
    key, _ = distinct(item * width + cluster)
    return key // width, key % width


def _set_codes(item: Ints, cluster: Ints, items: int) -> Ints:
    """A code for each item's set of clusters; ``item`` is sorted."""
    size = np.bincount(item, minlength=items)
    start = np.cumsum(size) - size
    code = np.zeros(items, np.int64)
    for depth in range(int(size.max(initial=0))):
        has = np.flatnonzero(size > depth)
        nth = np.zeros(items, np.int64)
        nth[has] = cluster[start[has] + depth] + 1
        _, code = distinct(code * (int(nth.max()) + 1) + nth)
    return code


def _matrix(item: Ints, cluster: Ints, first: Ints, items: int) -> Sparse:
    """Memberships of one item of each cell."""
    row = np.full(items, -1)
    row[first] = np.arange(len(first))
    inside = row[item] >= 0
    width = int(cluster.max(initial=-1)) + 1
    return Sparse.of(row[item[inside]], cluster[inside], 1.0, (len(first), width))


context = Clustering()

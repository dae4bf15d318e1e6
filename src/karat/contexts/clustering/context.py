# SPDX-License-Identifier: Apache-2.0
"""The context of clusters: what its sides must be, how its cells are made, what it says of both sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from karat.align import Aligned
from karat.cells import Cells, Sparse
from karat.check import repeated_ids
from karat.columns import distinct
from karat.contexts.base import Context
from karat.contexts.clustering.cells import ClusteringCells
from karat.contexts.options import OPTIONS
from karat.findings import Finding, finding
from karat.side import Entries, Side


class Clustering(Context):
    """Clusters of items; an item may be in several."""

    name = "clustering"
    title = "Clustering"
    cells = ClusteringCells
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

    def prepare(self, side: Side, options: Mapping[str, Any]) -> Side:
        """Labels are clusters; the place in a list says nothing."""
        of = side.entries
        clusters = Entries(of.unit, {"label": of["label"]}, of.single)
        return replace(side, entries=clusters if of.single else _once(clusters))

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        return repeated_ids(side)

    def remarks(self, gold: Side, pred: Side, cells: Cells, options: Mapping[str, Any]) -> list[Finding]:
        """Items in several clusters, and noise, are said."""
        out, noise = [], options["noise"] or "-1"
        for side in (gold, pred):
            several = side.units_in(side.entries.sizes(len(side)) > 1)
            if several:
                out.append(finding("cluster-overlap", side.name, count=several))
            if noise in side.names["label"]:
                count = int(side.uses()[side.names["label"].index(noise)])
                code = "noise-items" if options["noise"] else "noise-unsaid"
                out.append(finding(code, side.name, count=count, name=noise, policy=options["noise_as"]))
        return out

    def reduce(self, both: Aligned, options: Mapping[str, Any]) -> Aligned:
        """Equal items as one; those in a cluster of their own are equal to no other, so they are left as they are."""
        both = both.take(np.flatnonzero(both.in_gold)) if not both.in_gold.all() else both
        both, lone = _without_noise(both, options)
        empty = both.gold.sizes(len(both)) == 0
        answered = both.pred.sizes(len(both)) > 0
        drop = (empty & ~lone[0]) | ((options["missing"] == "skip") & ~answered & ~lone[1])
        if options["missing"] == "singletons":
            lone[1] |= ~answered
        rows = {"gold alone": lone[0], "pred alone": lone[1]}
        both = replace(both, rows=both.rows | rows)
        if drop.any():
            both = both.take(np.flatnonzero(~drop))
        return both if options["noise"] or options["missing"] == "singletons" else both.collapsed()

    def cells_of(self, both: Aligned, options: Mapping[str, Any]) -> ClusteringCells:
        sides = [_memberships(both, which) for which in ("gold", "pred")]
        return ClusteringCells(both.n, both.case.code, both.case.names, *sides, unit=both.unit, unit_ids=both.ids)


def _once(entries: Entries) -> Entries:
    """Each cluster of an item once."""
    order = np.lexsort((entries["label"], entries.unit))
    rising = entries.at(order)
    again = (np.diff(rising.unit) == 0) & (np.diff(rising["label"]) == 0)
    return rising.at(np.flatnonzero(np.append(True, ~again)[: len(rising)]))


def _without_noise(both: Aligned, options: Mapping[str, Any]) -> tuple[Aligned, Any]:
    """Both sides without memberships of noise, and the rows of either side that are thereby in a cluster of their own."""
    names, noise = both.names["label"], options["noise"]
    lone = np.zeros((2, len(both)), bool)
    if noise not in names:
        return both, lone
    sides = {}
    for nth, which in enumerate(("gold", "pred")):
        side: Entries = getattr(both, which)
        kept = side.at(np.flatnonzero(side["label"] != names.index(noise)))
        if options["noise_as"] == "singletons":
            lone[nth] = (side.sizes(len(both)) > 0) & (kept.sizes(len(both)) == 0)
        sides[which] = kept
    return replace(both, gold=sides["gold"], pred=sides["pred"]), lone


def _memberships(both: Aligned, which: str) -> Sparse:
    """Who is in which cluster: clusters of different test cases are different, and so are those of single items."""
    side: Entries = getattr(both, which)
    names = max(len(both.names["label"]), 1)
    _, cluster = distinct(both.case.code[side.unit] * names + side["label"])
    alone = np.flatnonzero(both.rows[f"{which} alone"]) if f"{which} alone" in both.rows else np.zeros(0, np.int64)
    free = int(cluster.max(initial=-1)) + 1
    row, column = np.append(side.unit, alone), np.append(cluster, free + np.arange(len(alone)))
    if (row[1:] <= row[:-1]).any():  # of one cluster to an item there is nothing to sort
        order = np.lexsort((column, row))
        row, column = row[order], column[order]
    return Sparse.of(row, column, 1.0, (len(both), free + len(alone)))


context = Clustering()

# SPDX-License-Identifier: Apache-2.0
"""Learning with disagreement: gold and prediction give weights to labels, or gold is the annotators' votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat.cells import Sparse
from karat.contexts.base import Context, Counted, Run, Table
from karat.contexts.entries import Entries, Floats, cases, entries, ids, moved, places
from karat.contexts.labels import ordered, unknown_labels
from karat.contexts.options import OPTIONS
from karat.contexts.pairing import Coverage, bad_rows, coverage_findings, repeated_ids
from karat.contexts.soft.cells import SoftCells
from karat.contexts.soft.checks import check_votes, check_weights, texts_for_weights
from karat.contexts.soft.hard import tied
from karat.contexts.tree import outside_hierarchy
from karat.findings import Finding, InputError, finding


class Soft(Context):
    """Weights by label, or votes."""

    name = "soft"
    title = "Learning with disagreement"
    cells = SoftCells
    kinds = ("weights", "votes", "label")
    metrics = ("icm_soft", "icm_soft_norm", "cross_entropy", "js_divergence", "mae", "soft_f1", "accuracy", "f1")
    options = OPTIONS["soft"]
    example = '{"id": "1", "value": {"A": 0.7, "B": 0.3}}'

    def check(self, run: Run, table: Table, options: Mapping[str, Any]) -> list[Finding]:
        found = repeated_ids(run, table)
        if table.kind == "label":
            return found + bad_rows(run, table, "bad-json", "value LIKE '{%'", reason="an object that JSON cannot read")
        return found + (check_weights(run, table) if table.kind == "weights" else check_votes(run, table))

    def count(self, run: Run, gold: Table, pred: Table, options: Mapping[str, Any], *, units: bool = False) -> Counted:
        place = places(run, gold, pred)
        of_gold, of_pred = entries(run, gold), moved(entries(run, pred), place)
        texts_for_weights((gold, of_gold), (pred, entries(run, pred)))
        answered = np.bincount(place[place >= 0], minlength=gold.rows) > 0
        coverage = Coverage(gold.rows, pred.rows, int(answered.sum()))
        findings = coverage_findings(run, gold, pred, coverage, options)
        findings += unknown_labels(_unknown(of_gold, of_pred), of_gold.labels, pred)
        findings += outside_hierarchy(of_gold.labels, options["hierarchy"], gold.name)
        keep = np.bincount(of_gold.item, minlength=gold.rows) > 0
        if options["missing"] == "skip":
            keep &= answered
        cells = _cells(run, gold, of_gold, of_pred, keep, options, units)
        return Counted(cells, coverage.counts(), [*findings, *_ties(cells, gold)])


def _unknown(gold: Entries, pred: Entries) -> dict[str, int]:
    count = np.bincount(pred.label[pred.weight > 0], minlength=len(pred.labels))
    return {name: int(count[i]) for i, name in enumerate(pred.labels) if count[i] and name not in set(gold.labels)}


def _cells(
    run: Run, gold: Table, of_gold: Entries, of_pred: Entries, keep: Any, options: Mapping[str, Any], units: bool
) -> SoftCells:
    classes = ordered([*of_gold.labels, *of_pred.labels])
    place = np.where(keep, np.cumsum(keep) - 1, -1)
    kept = [e.of(keep[e.item]) for e in (of_gold, of_pred)]
    annotators = sorted({*of_gold.annotators, *of_pred.annotators})
    test_case, names = cases(run, gold)
    used = np.unique(test_case[keep])
    size = (int(keep.sum()), len(classes))
    gold_weight, pred_weight = (_weights(of, place, classes, size) for of in kept)
    votes, answers = (_votes(of, place, classes, annotators, size) for of in kept)
    return SoftCells(
        gold_weight, pred_weight, np.searchsorted(used, test_case[keep]), [names[t] for t in used], classes,
        hierarchy=options["hierarchy"], how=options["harden"], at=options["threshold"],
        position=positions(classes, options["order"]), annotators=annotators, votes_of=votes, answers_of=answers,
        unit=np.arange(size[0]) if units else None,
        unit_ids=np.array(ids(run, gold), object)[keep].tolist() if units else None,
    )  # fmt: skip


def _weights(of: Entries, place: Any, classes: Sequence[str], size: tuple[int, int]) -> Sparse:
    """Weights by item and label; votes become shares. Zeros are kept: a label can be named with weight 0."""
    item, label, weight = place[of.item], of.recoded(classes), of.weight
    if of.annotator is None:
        return Sparse(item, label, weight, size)
    key = np.sort(item * size[1] + label)
    start = np.flatnonzero(np.append(True, np.diff(key) > 0)[: len(key)])
    votes, row = np.diff(np.append(start, len(key))), key[start] // max(size[1], 1)
    total = np.bincount(row, votes, size[0])
    return Sparse(row, key[start] % max(size[1], 1), votes / total[row], size)


def _votes(
    of: Entries, place: Any, classes: Sequence[str], annotators: Sequence[str], size: tuple[int, int]
) -> Sparse | None:
    if of.annotator is None:
        return None
    who = np.searchsorted(np.array(annotators, object), np.array(of.annotators, object))[of.annotator]
    column = who * len(classes) + of.recoded(classes)
    return Sparse.of(place[of.item], column, 1.0, (size[0], len(annotators) * len(classes)))


def positions(classes: Sequence[str], order: str | None) -> Floats | None:
    """Where each label stands: by the order given, else by its number; None for names without an order."""
    if order is None:
        try:
            return np.array([float(label) for label in classes])
        except ValueError:
            return None
    place = {label.strip(): float(i) for i, label in enumerate(order.split(","))}
    lost = [label for label in classes if label not in place]
    if lost:
        raise InputError(
            [
                finding(
                    "bad-option",
                    None,
                    message=f"order leaves out {', '.join(lost[:5])}",
                    way_out="name every label once",
                )
            ]
        )
    return np.array([place[label] for label in classes])


def _ties(cells: SoftCells, gold: Table) -> list[Finding]:
    if cells.how != "majority":
        return []
    count = tied(cells.aligned, cells.aligned.gold)
    return [finding("tied-majority", gold.name, count=count, total=len(cells))] if count else []


context = Soft()

# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with weights: numbers that are none, that leave [0, 1], or that do not add up to 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karat.contexts.base import Run, Table
from karat.contexts.entries import Entries, entries
from karat.contexts.pairing import more
from karat.contexts.soft.aligned import ROUNDED
from karat.findings import LIMIT, Finding, InputError, finding

CLOSE = 1e-6
"""Weights may leave [0, 1] by this much: rounding of a softmax."""


def check_weights(run: Run, table: Table) -> list[Finding]:
    """Findings about a file whose values are weights by label."""
    of = entries(run, table)
    again = _repeated(table)
    bad = np.isnan(of.weight)
    outside = ~bad & ((of.weight < -CLOSE) | (of.weight > 1 + CLOSE))
    out = _listed(table, "weight-not-number", of, bad) + _listed(table, "weight-outside", of, outside)
    return again + out + _empty(table, of) + ([] if again or out else _sums(table, of))


def check_votes(run: Run, table: Table) -> list[Finding]:
    """Findings about a file whose values are votes by annotator."""
    of = entries(run, table)
    blank = [i for i, label in enumerate(of.labels) if not label.strip()]
    rows = np.unique(of.item[np.isin(of.label, blank)]).tolist()
    out = [finding("empty-value", table.name, table.line(i), field="vote") for i in rows[:LIMIT]]
    return _repeated(table) + out + more("empty-value", len(rows), table) + _empty(table, of)


def texts_for_weights(*sides: tuple[Table, Entries]) -> None:
    """Stop at weights in quotes: they would be the votes of annotators who are called like the other side's labels."""
    for (table, votes), (_, other) in (sides, sides[::-1]):
        named, known = set(votes.annotators), set(other.labels)
        if named and other.annotator is None and named <= known and not known & set(votes.labels):
            assert votes.annotator is not None
            rows = zip(votes.item[:LIMIT].tolist(), votes.annotator[:LIMIT].tolist(), strict=True)
            at = [(table.line(item), votes.annotators[who]) for item, who in rows]
            raise InputError([finding("weight-not-number", table.name, line, label=label) for line, label in at])


def _repeated(table: Table) -> list[Finding]:
    """A name twice in an object: which of the two is meant cannot be known."""
    found = table.memo.get("repeated", [])
    out = [finding("repeated-key", table.name, table.line(i), key=name) for i, name in found[:LIMIT]]
    return out + more("repeated-key", len(found), table)


def _listed(table: Table, code: str, of: Entries, rows: NDArray[np.bool_]) -> list[Finding]:
    found = np.flatnonzero(rows)
    first = found[np.argsort(of.item[found], kind="stable")][:LIMIT].tolist()
    out = [
        finding(code, table.name, table.line(int(of.item[i])), label=of.labels[of.label[i]], weight=of.weight[i])
        for i in first
    ]
    return out + more(code, len(found), table)


def _empty(table: Table, of: Entries) -> list[Finding]:
    none = np.flatnonzero(np.bincount(of.item, minlength=table.rows) == 0)
    policy = "left out" if table.role == "gold" else "without a prediction"
    out = [finding("weights-empty", table.name, table.line(i), policy=policy) for i in none[:LIMIT].tolist()]
    return out + more("weights-empty", len(none), table)


def _sums(table: Table, of: Entries) -> list[Finding]:
    """Each item whose weights miss 1, by how much; or one note when most do (independent labels)."""
    total = np.bincount(of.item, of.weight, table.rows)
    some = np.bincount(of.item, minlength=table.rows) > 0
    off = np.where(some, total - 1, 0.0)
    missed = np.flatnonzero(np.abs(off) > ROUNDED)
    worst = missed[np.argsort(-np.abs(off[missed]), kind="stable")][:LIMIT].tolist()
    if 2 * len(missed) > some.sum():
        i, count = worst[0], {"count": len(missed), "total": int(some.sum())}
        return [finding("weights-independent", table.name, table.line(i), sum=total[i], off=off[i], **count)]
    out = [finding("weights-sum", table.name, table.line(i), total=total[i], off=off[i]) for i in sorted(worst)]
    return out + more("weights-sum", len(missed), table)

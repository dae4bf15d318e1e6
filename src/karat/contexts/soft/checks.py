# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with weights: numbers that are none, that leave [0, 1], or that do not add up to 1."""

from __future__ import annotations

import numpy as np

from karat.check import at_units, blank, more
from karat.columns import Mask, distinct
from karat.contexts.soft.aligned import ROUNDED
from karat.findings import LIMIT, Finding, InputError, finding
from karat.side import Side

CLOSE = 1e-6
"""Weights may leave [0, 1] by this much: rounding of a softmax."""


def check_weights(side: Side) -> list[Finding]:
    """Findings about a side whose values are weights by label."""
    weight = side.entries["number"]
    again = _repeated(side, "label")
    bad = np.isnan(weight)
    outside = ~bad & ((weight < -CLOSE) | (weight > 1 + CLOSE))
    out = _listed(side, "weight-not-number", bad) + _listed(side, "weight-outside", outside)
    return again + out + _empty(side) + ([] if again or out else _sums(side))


def check_votes(side: Side) -> list[Finding]:
    """Findings about a side whose values are votes by annotator."""
    empty = (side.entries["label"] < 0) | np.isin(side.entries["label"], blank(side.names["label"]))
    rows = np.unique(side.entries.unit[empty])
    return _repeated(side, "annotator") + at_units(side, "empty-value", rows, field="vote") + _empty(side)


def texts_for_weights(*sides: Side) -> None:
    """Stop at weights in quotes: they would be the votes of annotators who are called like the other side's labels."""
    for votes, other in (sides, sides[::-1]):
        named, known = {*votes.names.get("annotator", ())}, {*other.names["label"]}
        if named and "annotator" not in other.entries and named <= known and not known & {*votes.names["label"]}:
            rows = zip(votes.entries.unit[:LIMIT].tolist(), votes.entries["annotator"][:LIMIT].tolist(), strict=True)
            lines = [(votes.line(unit), votes.names["annotator"][who]) for unit, who in rows]
            raise InputError([finding("weight-not-number", votes.name, line, label=label) for line, label in lines])


def _repeated(side: Side, column: str) -> list[Finding]:
    """A name twice in an object: which of the two is meant cannot be known."""
    names = side.names[column]
    pattern = side.entries.pattern(column, len(side))
    if pattern is not None and len({*pattern.tolist()}) == len(pattern):
        return []
    key, place = distinct(side.entries.unit * max(len(names), 1) + side.entries[column])
    again = key[np.bincount(place, minlength=len(key)) > 1]
    pairs = [divmod(k, len(names)) for k in again[:LIMIT].tolist()]
    out = [finding("repeated-key", side.name, side.line(unit), key=names[code]) for unit, code in pairs]
    return out + more("repeated-key", len(again), side)


def _listed(side: Side, code: str, bad: Mask) -> list[Finding]:
    rows, of = np.flatnonzero(bad), side.entries
    out = [
        finding(
            code,
            side.name,
            side.line(int(of.unit[i])),
            label=side.names["label"][of["label"][i]],
            weight=of["number"][i],
        )
        for i in rows[:LIMIT].tolist()
    ]
    return out + more(code, len(rows), side)


def _empty(side: Side) -> list[Finding]:
    none = np.flatnonzero(side.entries.sizes(len(side)) == 0)
    policy = "left out" if side.role == "gold" else "without a prediction"
    return at_units(side, "weights-empty", none, policy=policy)


def _sums(side: Side) -> list[Finding]:
    """Each item whose weights miss 1, by how much; or one note when most do (independent labels)."""
    total = side.entries.sums("number", len(side))
    some = side.entries.sizes(len(side)) > 0
    off = np.where(some, total - 1, 0.0)
    missed = np.flatnonzero(np.abs(off) > ROUNDED)
    worst = missed[np.argsort(-np.abs(off[missed]), kind="stable")][:LIMIT].tolist()
    count, all_units = side.units_in(missed), side.units_in(some)
    if 2 * count > all_units:
        i, facts = worst[0], {"count": count, "total": all_units}
        return [finding("weights-independent", side.name, side.line(i), sum=total[i], off=off[i], **facts)]
    out = [finding("weights-sum", side.name, side.line(i), total=total[i], off=off[i]) for i in sorted(worst)]
    return out + more("weights-sum", len(missed), side)

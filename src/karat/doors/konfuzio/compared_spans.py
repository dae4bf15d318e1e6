# SPDX-License-Identifier: Apache-2.0
"""True and predicted spans side by side, and what each row of them counts for, for the door `karat.doors.konfuzio.extraction`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from karat.cells import Floats, Ints

Bools = np.ndarray[Any, np.dtype[np.bool_]]
Masks = dict[str, Bools]


class Side:
    """The spans of one side of all pairs, as arrays with one more element: index -1 stands for no span."""

    def __init__(self, annotations: Sequence[Sequence[Any]], compat: bool) -> None:
        every = [(pair, annotation) for pair, listed in enumerate(annotations) for annotation in listed]
        spans = [(pair, i, span) for i, (pair, annotation) in enumerate(every) for span in annotation.spans]
        owners = [every[i][1] for _, i, _ in spans]
        self.size = len(spans)
        self.pair, self.annotation = _ints(pair for pair, *_ in spans), _ints(i for _, i, _ in spans)
        self.start = _floats(span.start_offset for *_, span in spans)
        self.end = _floats(span.end_offset for *_, span in spans)
        self.label = _ids(owner.label.id_ for owner in owners)
        self.label_set = _ids(owner.label_set.id_ for owner in owners)
        self.set = _ids(_set_ids([owner.annotation_set for owner in owners], compat))
        # The original takes an annotation or annotation set without an id for a wrong one.
        self.known = np.array([not compat or bool(owner.id_) for owner in owners] + [False])
        self.single = np.array([not owner.label.has_multiple_top_candidates for owner in owners] + [False])
        unsure = np.nan if compat else 1.0
        self.confidence = _floats(unsure if owner.confidence is None else owner.confidence for owner in owners)
        self.threshold = _floats(owner.label.threshold for owner in owners)

    def keys(self, *columns: str) -> list[Hashable]:
        """Values of these columns together, for each span."""
        return list(zip(*(getattr(self, column)[:-1].tolist() for column in ("pair", *columns)), strict=True))


@dataclass
class Rows:
    """Pairs of a true and a predicted span that may be the same, and spans without partner."""

    gold: Side
    pred: Side
    g: Ints
    p: Ints
    strict: bool
    repeated: Any = False
    repeated_pred: Any = False

    @classmethod
    def of(cls, gold: Side, pred: Side, *, strict: bool) -> Rows:
        """Spans are joined by place if strict, else by label and label set."""
        columns = ("start", "end") if strict else ("label", "label_set")
        codes = _codes([*gold.keys(*columns), *pred.keys(*columns)])
        return cls(gold, pred, *_joined(codes[: gold.size], codes[gold.size :]), strict)

    def take(self, rows: Ints | Bools) -> Rows:
        return replace(self, g=self.g[rows], p=self.p[rows])

    @cached_property
    def pair(self) -> Ints:
        return np.where(self.in_gold, self.gold.pair[self.g], self.pred.pair[self.p])

    @cached_property
    def in_gold(self) -> Bools:
        return self.g >= 0

    @cached_property
    def in_pred(self) -> Bools:
        return self.p >= 0

    @cached_property
    def exact(self) -> Bools:
        """At the same place."""
        gold, pred = self.gold, self.pred
        return (gold.start[self.g] == pred.start[self.p]) & (gold.end[self.g] == pred.end[self.p])

    @cached_property
    def matched(self) -> Bools:
        """At the same place, or else at places that overlap or touch."""
        gold, pred = self.gold, self.pred
        overlap = (pred.start[self.p] <= gold.end[self.g]) & (pred.end[self.p] >= gold.start[self.g])
        return self.exact if self.strict else overlap

    def same(self, column: str) -> Bools:
        gold, pred = getattr(self.gold, column)[self.g], getattr(self.pred, column)[self.p]
        return self.in_gold & self.in_pred & (gold == pred).astype(bool)

    @cached_property
    def same_label(self) -> Bools:
        return self.same("label")

    @cached_property
    def same_kind(self) -> Bools:
        """Matched, with the same label and label set."""
        return self.matched & self.same_label & self.same("label_set")

    @cached_property
    def voters(self) -> tuple[Ints, Ints, list[Any]]:
        """Codes of predicted and true annotation sets, and the ids of the latter in order."""
        ids = _in_order({name for name in self.gold.set[:-1].tolist() if name is not None})
        code = {name: i for i, name in enumerate(ids)}
        true = np.array([code.get(name, -1) for name in self.gold.set.tolist()], np.int64)
        return np.append(_codes(self.pred.keys("set")), -1)[self.p], true[self.g], ids

    @cached_property
    def gold_unit(self) -> Ints:
        return self._unit(self.gold)[self.g]

    @cached_property
    def pred_unit(self) -> Ints:
        return self._unit(self.pred)[self.p]

    def _unit(self, side: Side) -> Ints:
        """What counts once: a span if strict; else an annotation, or all of a label that occurs once in its set."""
        if self.strict:
            return np.append(np.arange(side.size), -1)
        once = zip(side.single.tolist(), side.keys("set", "label"), side.annotation.tolist(), strict=False)
        return np.append(_codes([place if single else annotation for single, place, annotation in once]), -1)

    def above(self, threshold: float | None) -> Bools:
        """Predictions that reach the threshold, or that of their label."""
        return self.pred.confidence[self.p] >= (self.pred.threshold[self.p] if threshold is None else threshold)


def in_right_set(rows: Rows, above: Bools, compat: bool) -> Bools:
    """Is the true annotation set the one that has the most confidence among the matches of the predicted set?"""
    out = np.zeros(len(rows.g), bool)
    group, true, ids = rows.voters
    at = np.flatnonzero(above & rows.matched & (true >= 0))
    if not len(at):
        return out
    group, true, weight = group[at], true[at], rows.pred.confidence[rows.p[at]]
    weight = np.where(np.bincount(group, weight)[group] == 0, 1.0, weight)
    key, vote = np.unique(group * len(ids) + true, return_inverse=True)
    order = np.lexsort((key, -np.bincount(vote, weight), key // len(ids)))
    winner = np.zeros(group.max() + 1, np.int64)
    winner[(key // len(ids))[order][::-1]] = (key % len(ids))[order][::-1]
    out[at] = true == winner[group]
    if compat:
        valid = np.array([bool(name) for name in ids])
        out[at] &= np.bincount(group, valid[true])[group] > 0
    return out


def corrected(rows: Rows, above: Bools) -> Masks:
    """Every true unit is found or missed, every prediction above its threshold is right or wrong, each on its own side."""
    hit = rows.same_kind & in_right_set(rows, above, compat=False)
    if rows.strict:  # else parts of an annotation may find it together
        hit = hit & (_nth(hit, rows.gold_unit) == _nth(hit, rows.pred_unit))
    tp, fp, fn = _by_side(rows, hit, rows.in_gold, above)
    offered = _has(above | rows.same_kind, rows.pred_unit)
    out = {"tp": tp, "fp": fp, "fn": fn, "tn": _first(rows.in_pred & ~offered, rows.pred_unit), "gt": tp | fn}
    offers = rows.matched & above
    return out | _named("clf", _by_side(rows, offers & rows.same_label, rows.matched, offers))


def by_place(rows: Rows) -> Masks:
    """Places that both sides have, or one."""
    return _named("tokenizer", _by_side(rows, rows.exact, rows.in_gold, rows.in_pred))


def _by_side(rows: Rows, hit: Bools, golds: Bools, preds: Bools) -> tuple[Bools, Bools, Bools]:
    """TP, FP and FN: the first hit of each true unit; predictions and true units without any."""
    gold, pred = rows.gold_unit, rows.pred_unit
    return _first(hit, gold), _first(preds & ~_has(hit, pred), pred), _first(golds & ~_has(hit, gold), gold)


def konfuzio(rows: Rows, above: Bools) -> Masks:
    """The original's rules, row by row."""
    right = rows.same_kind & in_right_set(rows, above, compat=True) & rows.gold.known[rows.g]
    tp = right & above & ~rows.repeated
    fn = rows.in_gold & ~rows.repeated & ~(rows.matched & above)
    fp = above & ~fn & ~tp & ~rows.repeated_pred & ~right
    kept = _kept(rows, tp, fp, fn)
    gt = rows.in_gold if rows.strict else kept
    out = {"tp": tp, "fp": fp, "fn": fn, "tn": ~(tp | fp | fn), "gt": gt}
    missed = rows.in_gold & ~rows.in_pred & rows.strict
    out |= _named("tokenizer", (rows.exact, rows.in_pred & ~rows.exact, missed))
    label, wrong = rows.matched & rows.same_label, rows.matched & ~rows.same_label
    out |= _named("clf", (label & above, wrong, label & ~above))
    return {name: mask & kept for name, mask in out.items()}


def konfuzio_order(rows: Rows) -> Rows:
    """Matched rows first, by a sort that is not stable from 17 rows on, without rows that repeat both sides."""
    if rows.strict or not len(rows.g):
        return replace(rows, repeated=np.zeros(len(rows.g), bool), repeated_pred=np.zeros(len(rows.g), bool))
    by_pair = np.argsort(rows.pair, kind="stable")[::-1]
    parts = np.split(by_pair, np.flatnonzero(np.diff(rows.pair[by_pair])) + 1)
    rows = rows.take(np.concatenate([part[np.argsort(rows.matched[part])] for part in parts])[::-1])
    sides = (rows.gold.annotation[rows.g], rows.pred.annotation[rows.p])
    gold, pred = (~_first(np.ones(len(rows.g), bool), np.where(unit < 0, -1 - rows.pair, unit)) for unit in sides)
    kept = ~(gold & pred)
    return replace(rows.take(kept), repeated=gold[kept], repeated_pred=pred[kept])


def _kept(rows: Rows, tp: Bools, fp: Bools, fn: Bools) -> Bools:
    """Of a label that occurs once, one row per predicted annotation set: the first TP, or else FP, or else FN."""
    single = rows.gold.single[rows.g] | rows.pred.single[rows.p]
    if rows.strict or not single.any():
        return np.ones(len(rows.g), bool)
    rank = np.select([tp, fp, fn], [0, 1, 2], 3)
    best = np.lexsort((rank,))
    there = (single & (rows.pred.set[rows.p] != None) & (rank < 3))[best]  # noqa: E711 (element by element)
    out = ~single
    out[best] |= _first(there, rows.pred_unit[best])
    return out


def _named(family: str, masks: Iterable[Bools]) -> Masks:
    return {f"{family}_{name}": mask for name, mask in zip(("tp", "fp", "fn"), masks, strict=True)}


def _first(mask: Bools, unit: Ints) -> Bools:
    """The first row of each unit among those of the mask."""
    at = np.flatnonzero(mask)
    out = np.zeros(len(mask), bool)
    out[at[np.unique(unit[at], return_index=True)[1]]] = True
    return out


def _nth(mask: Bools, unit: Ints) -> Ints:
    """Which row of its unit among those of the mask; equals on both sides pair what is interchangeable one to one."""
    at = np.flatnonzero(mask)
    at = at[np.argsort(unit[at], kind="stable")]
    _, start, count = np.unique(unit[at], return_index=True, return_counts=True)
    out = np.zeros(len(mask), np.int64)
    out[at] = np.arange(len(at)) - np.repeat(start, count)
    return out


def _has(mask: Bools, unit: Ints) -> Bools:
    """Is any row of the same unit in the mask?"""
    return np.isin(unit, unit[mask & (unit >= 0)])


def _joined(gold: Ints, pred: Ints) -> tuple[Ints, Ints]:
    """Outer join of two columns of codes: places on both sides, -1 for none."""
    n = max(gold.max(initial=-1), pred.max(initial=-1)) + 1
    counts = [np.bincount(side, minlength=n) for side in (gold, pred)]
    wide = [np.maximum(count, 1) for count in counts]
    size = wide[0] * wide[1]
    code = np.repeat(np.arange(n), size)
    offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    places = (offset // wide[1][code], offset % wide[1][code])
    return tuple(_place(*column, code) for column in zip((gold, pred), counts, places, strict=True))  # type: ignore[return-value]


def _place(side: Ints, count: Ints, nth: Ints, code: Ints) -> Ints:
    order = np.append(np.argsort(side, kind="stable"), -1)
    at = np.where(count[code] > 0, (np.cumsum(count) - count)[code] + nth, len(side))
    return order[at]


def _codes(keys: Sequence[Hashable]) -> Ints:
    """Numbers in order of appearance."""
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys], np.int64)


def _in_order(ids: set[Any]) -> list[Any]:
    return sorted(ids, key=lambda name: (isinstance(name, str), name))


def _set_ids(sets: Sequence[Any], compat: bool) -> list[Any]:
    numbers = _codes([id(group) for group in sets]).tolist()
    named = zip(numbers, sets, strict=True)
    return [f"unnamed {number:09}" if group.id_ is None and not compat else group.id_ for number, group in named]


def _ids(values: Iterable[Any]) -> np.ndarray[Any, np.dtype[np.object_]]:
    listed = [*values, None]
    out = np.empty(len(listed), object)
    out[:] = listed
    return out


def _ints(values: Iterable[int]) -> Ints:
    return np.array([*values, -1], np.int64)


def _floats(values: Iterable[float]) -> Floats:
    return np.array([*values, np.nan], np.float64)

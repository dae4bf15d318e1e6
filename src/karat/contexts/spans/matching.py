# SPDX-License-Identifier: Apache-2.0
"""Which prediction belongs to which gold span: sort and sweep, one to one, whatever the order of the input."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.contexts.options import POLICIES
from karat.contexts.spans.span import (
    Bools,
    Ints,
    Line,
    Spans,
    firsts,
    on_one_line,
    rank_in_group,
    rising,
    runs,
    searched,
)


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """Rows of gold and predicted spans that share `common` > 0 positions."""

    gold: Ints
    pred: Ints
    common: Ints

    def __len__(self) -> int:
        return len(self.gold)

    def take(self, rows: NDArray[np.int64] | Bools) -> Pairs:
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows  # once for all columns
        return Pairs(self.gold[rows], self.pred[rows], self.common[rows])


def overlaps(gold: Spans, pred: Spans) -> Pairs:
    """All overlapping pairs, in O(n log n + pairs): a pair begins inside its gold span or inside its prediction."""
    line = on_one_line(gold, pred)
    if not (_apart(line.gold_start, line.gold_end) and _apart(line.pred_start, line.pred_end)):
        return _swept(gold, pred, line)
    # Where the spans of a side do not overlap, a span with an equal partner overlaps nothing else.
    equal = _equal_on_line(gold, pred, line)
    g, p = _others(len(gold), equal.gold), _others(len(pred), equal.pred)
    low = searched(line.pred_end[p], line.gold_start[g], side="right")
    row, place = runs(low, searched(line.pred_start[p], line.gold_end[g]))
    g, p = g[row], p[place]
    return joined([equal, Pairs(g, p, _common(gold, pred, g, p))])


def overlaps_in_turn(gold: Spans, pred: Spans) -> Pairs:
    """All overlapping pairs; where predictions end in the order in which they start, each gold span meets a run of them."""
    line = on_one_line(gold, pred)
    if not (rising(line.pred_start) and rising(line.pred_end)):
        return overlaps(gold, pred)
    g, p = _met(line, searched(line.pred_end, line.gold_start, side="right"))
    common = _common(gold, pred, g, p)
    return Pairs(g, p, common) if np.all(common > 0) else Pairs(g, p, common).take(common > 0)


STEPS = 4
"""Neighbours that are looked at one by one before the ends of the runs are searched."""


def _met(line: Line, low: Ints) -> tuple[Ints, Ints]:
    """The predictions from `low` on that begin before their gold span ends: mostly one, so the next ones are tried."""
    begins = np.append(line.pred_start, np.iinfo(np.int64).max)
    rows = np.flatnonzero(begins[low] < line.gold_end)
    pairs = [(rows, low[rows])]
    for _ in range(STEPS):
        rows, at = pairs[-1]
        more = np.flatnonzero(begins[at + 1] < line.gold_end[rows])
        pairs.append((rows[more], at[more] + 1))
    rows, at = pairs.pop()
    nth, places = runs(at, np.searchsorted(line.pred_start, line.gold_end[rows], side="left"))
    pairs.append((rows[nth], places))
    return np.concatenate([g for g, _ in pairs]), np.concatenate([p for _, p in pairs])


def _apart(start: Ints, end: Ints) -> bool:
    """Sorted, and no span reaches into the next?"""
    return bool(np.all(start[1:] >= end[:-1])) and bool(np.all(end > start))


def _others(size: int, rows: Ints) -> Ints:
    free = np.ones(size, dtype=bool)
    free[rows] = False
    return np.flatnonzero(free)


def _swept(gold: Spans, pred: Spans, line: Line) -> Pairs:
    g1, p1 = _starting_inside(line.gold_start, line.gold_end, line.pred_start, side="left")
    p2, g2 = _starting_inside(line.pred_start, line.pred_end, line.gold_start, side="right")
    g, p = np.concatenate((g1, g2)), np.concatenate((p1, p2))
    common = _common(gold, pred, g, p)
    return Pairs(g, p, common) if np.all(common > 0) else Pairs(g, p, common).take(common > 0)


def _common(gold: Spans, pred: Spans, g: Ints, p: Ints) -> Ints:
    return np.minimum(gold.end[g], pred.end[p]) - np.maximum(gold.start[g], pred.start[p])


def _starting_inside(start: Ints, end: Ints, other: Ints, *, side: str) -> tuple[Ints, Ints]:
    """Pairs (row, other row) where the other starts inside the row's span; "right" leaves equal starts out."""
    order = np.argsort(other, kind="stable")
    ahead = other[order]
    low = np.searchsorted(ahead, start, side=side)  # type: ignore[call-overload]
    row, place = runs(low, np.searchsorted(ahead, end, side="left"))
    return row, order[place]


def equal_places(gold: Spans, pred: Spans) -> Pairs:
    """All pairs at the same place: one lookup of packed (unit, start, length) keys."""
    return _equal_on_line(gold, pred, on_one_line(gold, pred))


def _equal_on_line(gold: Spans, pred: Spans, line: Line) -> Pairs:
    width = int(max(gold.length.max(initial=0), pred.length.max(initial=0))) + 1
    mine, theirs = line.gold_start * width + gold.length, line.pred_start * width + pred.length
    order = np.argsort(theirs, kind="stable")
    ahead = theirs[order]
    low = searched(ahead, mine)
    if len(ahead) and np.all(ahead[1:] != ahead[:-1]):
        g = np.flatnonzero(ahead[np.minimum(low, len(ahead) - 1)] == mine)
        return Pairs(g, order[low[g]], gold.length[g])
    g, place = runs(low, np.searchsorted(ahead, mine, side="right"))
    return Pairs(g, order[place], gold.length[g])


def share(gold: Spans, pred: Spans, pairs: Pairs, of: str = "gold") -> NDArray[np.float64]:
    """The common part as a share of the gold span, the prediction, the longer, or both together (`iou`)."""
    return part(pairs.common, gold.length[pairs.gold], pred.length[pairs.pred], of)


def part(common: Ints, gold: Ints, pred: Ints, of: str) -> NDArray[np.float64]:
    """Common lengths over what `of` makes of the lengths of gold spans and predictions."""
    sizes: dict[str, Callable[[], Ints]] = {
        "gold": lambda: gold,
        "pred": lambda: pred,
        "longer": lambda: np.maximum(gold, pred),
        "iou": lambda: gold + pred - common,
    }
    return np.asarray(common / sizes[of](), dtype=np.float64)


def same_place(gold: Spans, pred: Spans, pairs: Pairs) -> Bools:
    return (gold.start[pairs.gold] == pred.start[pairs.pred]) & (gold.end[pairs.gold] == pred.end[pairs.pred])


def same_label(gold: Spans, pred: Spans, pairs: Pairs) -> Bools:
    return np.asarray(gold.label[pairs.gold] == pred.label[pairs.pred])


def eligible(gold: Spans, pred: Spans, policy: str = "strict", *, threshold: float = 0.0, of: str = "gold") -> Pairs:
    """The pairs that a policy may match: same place, same label, or enough in common."""
    if policy not in POLICIES:
        raise ValueError(f"no match policy {policy!r}: choose one of {', '.join(POLICIES)}")
    pairs = equal_places(gold, pred) if policy in ("strict", "exact") else overlaps(gold, pred)
    if threshold > 0:
        pairs = pairs.take(share(gold, pred, pairs, of) >= threshold)
    return pairs.take(same_label(gold, pred, pairs)) if policy in ("strict", "type") else pairs


def match(
    gold: Spans, pred: Spans, policy: str = "strict", *, threshold: float = 0.0, of: str = "gold", greedy: bool = False
) -> Pairs:
    """A one-to-one matching under a policy: optimal, or greedy in the order of the predictions.

    >>> gold = Spans.of([0, 0], [0, 5], [4, 9], [0, 0])
    >>> pred = Spans.of([0, 0], [0, 4], [4, 9], [0, 0])
    >>> [len(match(gold, pred, policy)) for policy in POLICIES]
    [1, 1, 2, 2]
    """
    pairs = eligible(gold, pred, policy, threshold=threshold, of=of)
    return first_come(pairs) if greedy else best(gold, pred, pairs)


def best(gold: Spans, pred: Spans, pairs: Pairs) -> Pairs:
    """Equal spans first, then equal places; then the most pairs of one label, the most pairs, the most in common."""
    golds, preds = gold.order(), pred.order()
    chosen = _in_order(
        gold.take(golds), pred.take(preds), Pairs(_ranks(golds)[pairs.gold], _ranks(preds)[pairs.pred], pairs.common)
    )
    return Pairs(golds[chosen.gold], preds[chosen.pred], chosen.common)


def _ranks(order: Ints) -> Ints:
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _in_order(gold: Spans, pred: Spans, pairs: Pairs) -> Pairs:
    """The best matching of sorted spans: what the input's order was can then decide nothing."""
    equal = _equal_spans(gold, pred, pairs)
    return joined([equal, heaviest(gold, pred, _without(pairs, equal))])


def joined(parts: list[Pairs]) -> Pairs:
    return Pairs(*(np.concatenate([getattr(part, c) for part in parts]) for c in ("gold", "pred", "common")))


def _without(pairs: Pairs, taken: Pairs) -> Pairs:
    """The pairs whose two spans are both still free."""
    if not len(taken) or not len(pairs):
        return pairs
    free = ~(_is_in(pairs.gold, taken.gold) | _is_in(pairs.pred, taken.pred))
    return pairs.take(free)


def _is_in(rows: Ints, taken: Ints) -> Bools:
    mask = np.zeros(int(max(rows.max(), taken.max())) + 1, dtype=bool)
    mask[taken] = True
    return mask[rows]


def _equal_spans(gold: Spans, pred: Spans, pairs: Pairs) -> Pairs:
    """Pair off equal spans; of several the k-th gold span takes the k-th prediction."""
    pairs = pairs.take(same_place(gold, pred, pairs) & same_label(gold, pred, pairs))
    if _all_once(pairs.gold) and _all_once(pairs.pred):
        return pairs
    pairs = pairs.take(np.lexsort((pairs.pred, pairs.gold)))
    by_pred = np.lexsort((pairs.gold, pairs.pred))
    nth_gold = np.empty(len(pairs), dtype=np.int64)
    nth_gold[by_pred] = rank_in_group(pairs.pred[by_pred])
    return pairs.take(rank_in_group(pairs.gold) == nth_gold)


def _all_once(rows: Ints) -> bool:
    return len(rows) < 2 or int(np.bincount(rows).max()) == 1


Weigh = Callable[[Spans, Spans, Pairs, Ints], Ints]
"""What each pair is worth, with the component that it belongs to."""


def _most_alike(gold: Spans, pred: Spans, pairs: Pairs, component: Ints) -> Ints:
    """More pairs at one place outweigh more of one label, those more pairs, those all that a component has in common."""
    common = np.bincount(component, weights=pairs.common).astype(np.int64) + 1
    most = np.minimum(_spans_of(pairs.gold, component), _spans_of(pairs.pred, component)) + 1
    common, most = common[component], most[component]
    return pairs.common + common * (1 + most * (same_label(gold, pred, pairs) + most * same_place(gold, pred, pairs)))


def _spans_of(rows: Ints, component: Ints) -> Ints:
    """How many spans of a side each component has."""
    return np.bincount(component[np.unique(rows, return_index=True)[1]])


def heaviest(gold: Spans, pred: Spans, pairs: Pairs, weigh: Weigh = _most_alike) -> Pairs:
    """Pairs without a rival are matched at once; only spans with rivals need an assignment."""
    hard = rivals(pairs)
    if not np.any(hard):
        return pairs
    return joined([pairs.take(~hard), _contested(gold, pred, pairs.take(hard), weigh)])


def _contested(gold: Spans, pred: Spans, pairs: Pairs, weigh: Weigh) -> Pairs:
    """Solve each overlap component: by dynamic programming where the spans of a side do not overlap, else exactly."""
    pairs = pairs.take(_sweep_order(gold, pred, pairs))
    component = _components(pairs)
    order = np.argsort(component, kind="stable")
    pairs, component = pairs.take(order), component[order]
    weight = weigh(gold, pred, pairs, component)
    flat = _flat_components(gold, pred, pairs, component)[component]
    chosen = np.zeros(len(pairs), dtype=bool)
    chosen[flat] = _schedule(pairs.take(flat), component[flat], weight[flat])
    chosen[~flat] = _solve(pairs.take(~flat), component[~flat], weight[~flat])
    return pairs.take(chosen)


def _sweep_order(gold: Spans, pred: Spans, pairs: Pairs) -> Ints:
    """Left to right by where the overlap begins and ends."""
    g, p = pairs.gold, pairs.pred
    begin, finish = np.maximum(gold.start[g], pred.start[p]), np.minimum(gold.end[g], pred.end[p])
    return np.lexsort((p, g, finish, begin, gold.unit[g]))


def _components(pairs: Pairs) -> Ints:
    from scipy.sparse import coo_array  # scipy takes longer to import than most evaluations take
    from scipy.sparse.csgraph import connected_components

    g, p = (np.unique(side, return_inverse=True)[1] for side in (pairs.gold, pairs.pred))
    golds, size = int(g.max()) + 1, int(g.max()) + int(p.max()) + 2
    graph = coo_array((np.ones(len(pairs), dtype=np.int8), (g, p + golds)), shape=(size, size))
    label = connected_components(graph, directed=False)[1]
    return np.unique(label[g], return_inverse=True)[1].astype(np.int64)


def _flat_components(gold: Spans, pred: Spans, pairs: Pairs, component: Ints) -> Bools:
    """Components in which no two spans of one side overlap."""
    flat = np.ones(int(component.max()) + 1, dtype=bool)
    for spans, rows in ((gold, pairs.gold), (pred, pairs.pred)):
        row, at = np.unique(rows, return_index=True)
        owner = component[at]
        order = np.lexsort((spans.start[row], owner))
        row, owner = row[order], owner[order]
        clash = (owner[1:] == owner[:-1]) & (spans.start[row][1:] < spans.end[row][:-1])
        flat[owner[1:][clash]] = False
    return flat


def _schedule(pairs: Pairs, component: Ints, weight: Ints) -> Bools:
    """Heaviest matching of flat components, all of them at once, a step along every component in each round.

    In sweep order the pairs of a span are neighbours, so this is weighted interval scheduling:
    best[k] = max(best[k-1], weight[k] + best[first rival of k - 1]).
    """
    chosen = np.zeros(len(pairs), dtype=bool)
    if not len(pairs):
        return chosen
    begin = np.flatnonzero(firsts(component))
    size = np.diff(np.append(begin, len(pairs)))
    rival = np.minimum(_first_of(pairs.gold), _first_of(pairs.pred))
    total = _totals(begin, size, rival, weight)
    _trace(chosen, total, begin, size, rival)
    return chosen


def _first_of(rows: Ints) -> Ints:
    first, inverse = np.unique(rows, return_index=True, return_inverse=True)[1:]
    return np.asarray(first[inverse], dtype=np.int64)


def _totals(begin: Ints, size: Ints, rival: Ints, weight: Ints) -> Ints:
    total = np.zeros(len(weight), dtype=np.int64)
    for step in range(int(size.max())):
        start = begin[size > step]
        k = start + step
        total[k] = np.maximum(_before(total, k, start), weight[k] + _before(total, rival[k], start))
    return total


def _before(total: Ints, k: Ints, start: Ints) -> Ints:
    """The best sum of the pairs before k in its component."""
    return np.where(k > start, total[k - 1], 0)


def _trace(chosen: Bools, total: Ints, begin: Ints, size: Ints, rival: Ints) -> None:
    start, k = begin, begin + size - 1
    while len(k):
        take = total[k] > _before(total, k, start)
        chosen[k[take]] = True
        k = np.where(take, rival[k], k) - 1
        start, k = start[k >= start], k[k >= start]


def _solve(pairs: Pairs, component: Ints, weight: Ints) -> Bools:
    """Heaviest matching of each nested or crossing component by the assignment algorithm."""
    chosen = np.zeros(len(pairs), dtype=bool)
    cuts = np.append(np.flatnonzero(firsts(component)), len(pairs))
    for low, high in itertools.pairwise(cuts):
        chosen[low:high] = _heaviest(pairs.gold[low:high], pairs.pred[low:high], weight[low:high])
    return chosen


def _heaviest(gold: Ints, pred: Ints, weight: Ints) -> Bools:
    from scipy.optimize import linear_sum_assignment

    g, p = (np.unique(side, return_inverse=True)[1] for side in (gold, pred))
    matrix = np.zeros((int(g.max()) + 1, int(p.max()) + 1))
    matrix[g, p] = weight
    row, column = linear_sum_assignment(matrix, maximize=True)
    partner = np.full(len(matrix), -1)
    partner[row] = column
    return np.asarray(partner[g] == p)


def first_come(pairs: Pairs) -> Pairs:
    """Greedy: each prediction in its row order takes the free gold span of the lowest row."""
    hard = rivals(pairs)
    some = np.flatnonzero(hard)
    contested = pairs.take(some)
    return joined(
        [pairs.take(~hard), pairs.take(some[in_turn(contested, turns(contested), np.zeros(len(some), np.int64))])]
    )


def rivals(pairs: Pairs) -> Bools:
    """Pairs of which a span has another partner too."""
    if not len(pairs):
        return np.zeros(0, dtype=bool)
    return (np.bincount(pairs.gold)[pairs.gold] > 1) | (np.bincount(pairs.pred)[pairs.pred] > 1)


def in_turn(pairs: Pairs, turn: Ints, cost: Ints) -> Ints:
    """Rounds: in each, every component's next prediction chooses among the gold spans that are still free."""
    if not len(pairs):
        return pairs.gold
    order = np.lexsort((pairs.gold, cost, pairs.pred, turn))
    cuts = np.append(np.flatnonzero(firsts(turn[order])), len(order))
    free = np.ones(int(pairs.gold.max()) + 1, dtype=bool)
    chosen = []
    for low, high in itertools.pairwise(cuts):
        open_ = order[low:high][free[pairs.gold[order[low:high]]]]
        taken = open_[firsts(pairs.pred[open_])]
        free[pairs.gold[taken]] = False
        chosen.append(taken)
    return np.concatenate(chosen)


def turns(pairs: Pairs) -> Ints:
    """The rank of each pair's prediction among the predictions of its component."""
    if not len(pairs):
        return pairs.pred
    _pred, at, inverse = np.unique(pairs.pred, return_index=True, return_inverse=True)
    return rank_in_group(_components(pairs)[at])[inverse]

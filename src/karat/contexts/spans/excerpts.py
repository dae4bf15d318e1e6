# SPDX-License-Identifier: Apache-2.0
"""Page excerpts: each reference takes its best system span; a span taken by several is cut among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from karat.contexts.spans.matching import Pairs, heaviest, overlaps_in_turn, part, same_label, share
from karat.contexts.spans.span import (
    Bools,
    Ints,
    Spans,
    among,
    any_overlap,
    counts,
    distinct,
    firsts,
    merged,
    merged_by_label,
    rising,
    totals,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pages:
    """Sums for each page; precision is relevance / retrieved, recall relevance / gold."""

    relevance: Floats
    retrieved: Ints
    gold: Ints
    pred: Ints
    matched: Ints
    spurious: Ints
    poems_matched: Ints
    poems_missed: Ints
    poems_spurious: Ints
    cut_wrong: Bools

    @property
    def missed(self) -> Ints:
        return self.gold - self.matched

    @property
    def precision(self) -> Floats:
        """An empty answer is right (1) on an empty page and wrong (0) elsewhere."""
        return _quotient(self.relevance, self.retrieved, self.gold == 0)

    @property
    def recall(self) -> Floats:
        return _quotient(self.relevance, self.gold, self.pred == 0)

    @property
    def halves(self) -> Floats:
        """Half of retrieved and references together: F1 is relevance over this."""
        return (self.retrieved + self.gold) / 2

    @property
    def f1(self) -> Floats:
        return _quotient(self.relevance, self.halves, self.halves == 0)


def _quotient(above: Floats, below: Ints | Floats, otherwise: Bools) -> Floats:
    return np.divide(above, below, out=otherwise.astype(np.float64), where=below > 0)


@dataclass(frozen=True, eq=False)
class Excerpts:
    """The matching behind `Pages`: sorted spans, each reference's choice, and the pieces that were scored.

    `rows` are the references that have a piece, in the order of the system's spans.
    """

    gold: Spans
    pred: Spans
    choice: Ints
    rows: Ints
    piece_start: Ints
    piece_end: Ints
    factor: Floats

    @property
    def chosen(self) -> Bools:
        return self.choice >= 0

    @cached_property
    def exact(self) -> Bools:
        """Which pieces are at exactly their reference's place."""
        start, end = self.gold.start[self.rows], self.gold.end[self.rows]
        return (start == self.piece_start) & (end == self.piece_end)

    def credit(self, weight: float) -> Floats:
        """What each piece is worth: 1 if it is exact, else weight × factor."""
        return np.where(self.exact, 1.0, weight * self.factor)

    @cached_property
    def taken(self) -> Ints:
        """How many references chose each system span."""
        return counts(self.choice[self.chosen], len(self.pred))


@dataclass(frozen=True)
class Rule:
    """How excerpts are matched.

    With `ignore_label` overlapping system spans are merged first. With `merge_gold` overlapping references are
    merged too: all of them if labels are ignored, those of one label if not. With `join` the system spans that lie
    on one reference become one. `factor` says of what the common part is a share; any part counts whole with `any`.
    """

    ignore_label: bool = False
    merge_gold: bool = False
    factor: str = "longer"
    assignment: str = "best"
    join: bool = False

    @property
    def ranked_by(self) -> str:
        return "longer" if self.factor == "any" else self.factor


def excerpts(gold: Spans, pred: Spans, rule: Rule = Rule()) -> Excerpts:
    """Match references with system spans by the greatest overlap factor."""
    gold = _references(gold, ignore_label=rule.ignore_label, merge=rule.merge_gold)
    pred = merged(pred) if rule.ignore_label else pred.in_place()
    pairs = _candidates(gold, pred, rule)
    if rule.join:
        pred = _fragments_joined(pred, pairs)
        pairs = _candidates(gold, pred, rule)
    if rule.assignment == "one_to_one":
        pairs = heaviest(gold, pred, pairs, lambda g, p, some, _: _whole(share(g, p, some, rule.ranked_by)))
    choice = _best_choice(len(gold), pairs, share(gold, pred, pairs, rule.ranked_by))
    return _cut(gold, pred, choice, rule.factor)


def _candidates(gold: Spans, pred: Spans, rule: Rule) -> Pairs:
    pairs = overlaps_in_turn(gold, pred)
    return pairs if rule.ignore_label else pairs.take(same_label(gold, pred, pairs))


def _whole(factor: Floats) -> Ints:
    """Factors as whole numbers, whose sums do not depend on their order."""
    return np.rint(factor * (1 << 40)).astype(np.int64)


def _fragments_joined(pred: Spans, pairs: Pairs) -> Spans:
    """System spans that have most in common with the same reference, from the first start to the last end."""
    order = np.lexsort((pairs.gold, -pairs.common, pairs.pred))
    lead = order[firsts(pairs.pred[order])]
    owner = -1 - np.arange(len(pred))  # a span without a reference stays alone
    owner[pairs.pred[lead]] = pairs.gold[lead]
    order = np.lexsort((np.arange(len(pred)), owner))
    begin = np.flatnonzero(firsts(owner[order]))
    start = np.minimum.reduceat(pred.start[order], begin) if len(pred) else pred.start
    end = np.maximum.reduceat(pred.end[order], begin) if len(pred) else pred.end
    first = order[begin]
    return Spans(pred.unit[first], start, end, pred.label[first]).in_place()


def _references(gold: Spans, *, ignore_label: bool, merge: bool) -> Spans:
    rows = gold.in_place()
    if not merge or not any_overlap(rows):
        return rows
    return merged(rows) if ignore_label else merged_by_label(rows)


def _best_choice(golds: int, pairs: Pairs, factor: Floats) -> Ints:
    """Each reference's first system span of the strictly greatest factor, or -1."""
    choice = np.full(golds, -1)
    choice[pairs.gold] = pairs.pred  # right for references with one candidate
    rivals = np.flatnonzero(counts(pairs.gold, golds)[pairs.gold] > 1)
    order = rivals[np.lexsort((pairs.pred[rivals], -factor[rivals], pairs.gold[rivals]))]
    lead = order[firsts(pairs.gold[order])]
    choice[pairs.gold[lead]] = pairs.pred[lead]
    return choice


def _cut(gold: Spans, pred: Spans, choice: Ints, factor: str) -> Excerpts:
    """A system span with several references is cut at the start of each but the first."""
    rows = np.flatnonzero(choice >= 0)
    of = choice[rows]
    if not rising(of):
        order = np.argsort(of, kind="stable")
        rows, of = rows[order], of[order]
    start, end = pred.start[of], pred.end[of]
    again = np.flatnonzero(of[1:] == of[:-1]) + 1
    start[again] = end[again - 1] = gold.start[rows[again]]
    value = _piece_factor(gold.start[rows], gold.end[rows], start, end, factor)
    return Excerpts(gold, pred, choice, rows, start, end, value)


def _piece_factor(gold_start: Ints, gold_end: Ints, start: Ints, end: Ints, of: str) -> Floats:
    common = np.minimum(gold_end, end) - np.maximum(gold_start, start)
    if of == "any":
        return (common > 0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = part(common, gold_end - gold_start, end - start, of)
    value[common <= 0] = 0.0
    return value


def score_pages(
    excerpts: Excerpts, pages: int, *, partial_weight: float = 1.0, ignore_label: bool = False, compat: bool = False
) -> Pages:
    """Sum up the pages; `compat` counts a poem with one missed excerpt as missed, as the poetry evaluation does."""
    gold, pred, chosen, taken = excerpts.gold, excerpts.pred, excerpts.chosen, excerpts.taken
    return Pages(
        relevance=_relevance(excerpts, pages, partial_weight),
        retrieved=totals(pred.unit, np.maximum(taken, 1), pages).astype(np.int64),
        gold=counts(gold.unit, pages),
        pred=counts(pred.unit, pages),
        matched=counts(gold.unit, pages, chosen),
        spurious=counts(pred.unit, pages, taken == 0),
        cut_wrong=counts(gold.unit[excerpts.rows[excerpts.piece_end <= excerpts.piece_start]], pages) > 0,
        **_poems(excerpts, taken == 0, pages, ignore_label=ignore_label, compat=compat),
    )


def _relevance(excerpts: Excerpts, pages: int, weight: float) -> Floats:
    """The credits, added one by one in system order, so that every bit agrees with the poetry evaluation."""
    return totals(excerpts.gold.unit[excerpts.rows], excerpts.credit(weight), pages)


def _poems(excerpts: Excerpts, spare: Bools, pages: int, *, ignore_label: bool, compat: bool) -> dict[str, Ints]:
    """Distinct labels of a page that were matched, missed, or predicted for nothing."""
    gold, pred = excerpts.gold, excerpts.pred
    bits = int(max(gold.label.max(initial=0), pred.label.max(initial=0))).bit_length()
    # The last bit is set for a missed excerpt: a poem's first key tells whether any was matched, its last whether all were.
    keys = np.sort((gold.unit << bits | gold.label) << 1 | ~excerpts.chosen)
    first = firsts(keys >> 1)
    lead = keys[first]
    known, lost = lead >> 1, (lead & 1) == 1
    missed = (keys & 1)[np.roll(first, -1)] == 1 if compat else lost
    page, spares = known >> bits, np.flatnonzero(spare)
    # With labels ignored the system's poem is "", which is no reference's label.
    extra = distinct((pred.unit[spares] << bits) | (0 if ignore_label else pred.label[spares]))
    extra = extra if ignore_label else extra[~among(extra, known)]
    return {
        "poems_matched": counts(page, pages, ~lost),
        "poems_missed": counts(page, pages, missed),
        "poems_spurious": counts(extra >> bits, pages),
    }

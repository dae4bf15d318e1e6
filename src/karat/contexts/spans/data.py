# SPDX-License-Identifier: Apache-2.0
"""Gold and predicted spans of the same documents, and everything that is computed from them once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.spans import nested
from karat.contexts.spans.annotated import Annotated, Side, Text
from karat.contexts.spans.coverage import Coverage, Positions, coverage, positions
from karat.contexts.spans.errors import Errors, cut_and_joined, errors
from karat.contexts.spans.excerpts import Excerpts, Pages, Rule, excerpts, score_pages
from karat.contexts.spans.matching import Pairs, match
from karat.contexts.spans.semeval import READINGS, Fits, Greedy, Outcomes, alignment, all_fits, outcomes, tally
from karat.contexts.spans.span import Bools, Ints, Spans
from karat.contexts.spans.tags import Tagged, equal_tokens
from karat.state import UNSTORED, stored


@stored("spans-matching")
@dataclass(frozen=True)
class Matching:
    """How spans are matched: the policy, how much they must share, and of what."""

    policy: str = "strict"
    threshold: float = 0.0
    of: str = "gold"
    greedy: bool = False

    @property
    def with_label(self) -> bool:
        return self.policy in ("strict", "type")


RULE = Rule(merge_gold=True)
"""The poetry evaluation's rule, but for overlapping references, which are merged."""


@stored("spans-data")
@dataclass(eq=False)
class SpanData:
    """Documents with gold and predicted spans over one list of labels; `unit` counts documents."""

    gold: Spans
    pred: Spans
    labels: list[str]
    ids: Sequence[str]
    matching: Matching = field(default_factory=Matching)
    gold_parent: Ints | None = None
    pred_parent: Ints | None = None
    tagged: tuple[Tagged, Tagged, Ints] | None = None
    """Gold's and the prediction's tags and the sentences that are scored, where both sides are tags."""
    texts: Sequence[Text] | None = None
    paged: bool = False
    """Are the documents pages with excerpts?"""
    gold_classes: Sequence[Sequence[str]] | None = None
    pred_classes: Sequence[Sequence[str]] | None = None
    _kept: dict[Any, Any] = field(default_factory=dict, metadata=UNSTORED)

    @property
    def units(self) -> int:
        return len(self.ids)

    def text(self, unit: int) -> str:
        """A document's text; tokens are joined by blanks."""
        found = None if self.texts is None else self.texts[unit]
        return " ".join(found) if isinstance(found, list) else found or ""

    def words(self, spans: Spans, unit: int) -> str:
        """A document's spans with what they mark, or where they stand if there is no text."""
        rows = np.flatnonzero(spans.unit == unit)
        found = None if self.texts is None else self.texts[unit]
        said = []
        for row in rows[np.argsort(spans.start[rows], kind="stable")].tolist():
            start, end = int(spans.start[row]), int(spans.end[row])
            mark = f"[{start}, {end})" if not found else found[start:end]
            mark = " ".join(mark) if isinstance(mark, list) else mark
            said.append(
                f"{self.labels[spans.label[row]]} {mark!r}" if found else f"{self.labels[spans.label[row]]} {mark}"
            )
        return ", ".join(said) or "—"

    @cached_property
    def tokens(self) -> tuple[Ints, Ints]:
        """Tokens of each document, and how many have the right tag; none where the input is not tags."""
        if self.tagged is None:
            return np.zeros(self.units, dtype=np.int64), np.zeros(self.units, dtype=np.int64)
        gold, pred, rows = self.tagged
        return gold.lengths[rows], equal_tokens(*_one_vocabulary(gold, pred))[rows]

    @cached_property
    def matched(self) -> Pairs:
        """The matching under the chosen policy."""
        m = self.matching
        return match(self.gold, self.pred, m.policy, threshold=m.threshold, of=m.of, greedy=m.greedy)

    @cached_property
    def aligned(self) -> Pairs:
        """The alignment that the MUC readings and the error analysis share: any overlap, best first."""
        return alignment(self.gold, self.pred, threshold=self.matching.threshold, of=self.matching.of)

    def outcomes(self, reading: str) -> Outcomes:
        """What became of every span in one MUC reading."""
        if ("outcomes", reading) not in self._kept:
            self._kept["outcomes", reading] = self._outcomes(reading)
        return self._kept["outcomes", reading]

    def _outcomes(self, reading: str) -> Outcomes:
        if self.matching.greedy:
            return self.greedy.outcomes(reading)
        return outcomes(self.gold, self.pred, self.aligned, reading, self.fits[reading])

    @cached_property
    def fits(self) -> Fits:
        return all_fits(self.gold, self.pred, self.aligned)

    @cached_property
    def greedy(self) -> Greedy:
        return Greedy.of(self.gold, self.pred, max(self.matching.threshold, 0.01))

    @cached_property
    def semeval(self) -> Ints:
        """Counts by (reading, label, outcome)."""
        return np.array([tally(self.outcomes(r), self.gold, self.pred, len(self.labels)) for r in READINGS])

    @cached_property
    def errors(self) -> Errors:
        return errors(self.gold, self.pred, self.aligned)

    @cached_property
    def cut_and_joined(self) -> tuple[Bools, Bools]:
        return cut_and_joined(self.gold, self.pred)

    @cached_property
    def coverage(self) -> Coverage:
        return coverage(self.gold, self.pred, self.units)

    @cached_property
    def positions(self) -> Positions:
        """Tokens or characters by label; by one label where the policy ignores labels."""
        if self.matching.with_label:
            return positions(self.gold, self.pred, len(self.labels))
        return positions(unlabelled(self.gold), unlabelled(self.pred), 1)

    def excerpts(self, rule: Rule = RULE) -> Excerpts:
        """Which system span each reference takes."""
        if rule not in self._kept:
            self._kept[rule] = excerpts(self.gold, self.pred, rule)
        return self._kept[rule]

    def pages(self, rule: Rule = RULE, weight: float = 1.0) -> Pages:
        """The page-excerpt sums."""
        if (rule, weight) not in self._kept:
            found = self.excerpts(rule)
            self._kept[rule, weight] = score_pages(
                found, self.units, partial_weight=weight, ignore_label=rule.ignore_label
            )
        return self._kept[rule, weight]

    @cached_property
    def trees(self) -> tuple[nested.Tree, nested.Tree]:
        return _tree(self.gold, self.gold_parent), _tree(self.pred, self.pred_parent)

    @cached_property
    def nested(self) -> Pairs:
        """Entities aligned level by level."""
        return nested.align(*self.trees)

    def credits(self, *, text_requires_type: bool = True) -> tuple[Pairs, Pairs]:
        """MUC's text and type credits of the nested alignment."""
        if text_requires_type not in self._kept:
            self._kept[text_requires_type] = nested.text_and_type(
                *self.trees, self.nested, text_requires_type=text_requires_type
            )
        return self._kept[text_requires_type]


def quote(text: Text, start: int, end: int) -> str | None:
    """What a text has between two positions."""
    part = None if text is None else text[start:end]
    return " ".join(part) if isinstance(part, list) else part


def unlabelled(spans: Spans) -> Spans:
    return Spans(spans.unit, spans.start, spans.end, np.zeros(len(spans), dtype=np.int64))


def _tree(spans: Spans, parent: Ints | None) -> nested.Tree:
    return nested.Tree(spans, np.full(len(spans), -1) if parent is None else parent)


@dataclass(frozen=True, eq=False)
class Documents:
    """Which documents of the two sides are the same: rows of gold and of the prediction, -1 where one lacks it."""

    gold: Ints
    pred: Ints

    def take(self, keep: NDArray[Any]) -> Documents:
        return Documents(self.gold[keep], self.pred[keep])


def meet(gold: Annotated, pred: Annotated) -> Documents:
    """Documents in gold's order, then those that only the prediction has."""
    if gold.ids == pred.ids and gold.test_case == pred.test_case:
        return Documents(np.arange(len(gold.ids)), np.arange(len(gold.ids)))
    mine, theirs = gold.keys, pred.keys
    place = {key: row for row, key in enumerate(theirs)}
    found = np.fromiter((place.get(key, -1) for key in mine), dtype=np.int64, count=len(mine))
    extra = np.setdiff1d(np.arange(len(theirs)), found)
    return Documents(np.concatenate((np.arange(len(mine)), np.full(len(extra), -1))), np.concatenate((found, extra)))


def combine(
    gold: Annotated, pred: Annotated, documents: Documents, options: Mapping[str, Any], matching: Matching
) -> SpanData:
    """Both sides over the same documents and labels."""
    sides = gold.side(options).paths, pred.side(options).paths
    labels = sorted(set(sides[0].used) | set(sides[1].used))
    (g, gp), (p, pp) = (
        _moved(side, rows, labels) for side, rows in zip(sides, (documents.gold, documents.pred), strict=True)
    )
    return SpanData(
        g, p, labels, _either(gold.ids, pred.ids, documents), matching, gp, pp, _tagged(gold.tagged, pred.tagged, documents),
        _either(gold.texts, pred.texts, documents), gold.excerpts,
        _only(gold.classes, documents.gold), _only(pred.classes, documents.pred),
    )  # fmt: skip


def _moved(side: Side, rows: Ints, labels: list[str]) -> tuple[Spans, Ints | None]:
    """A side's spans with the common documents' and labels' numbers; spans of dropped documents go."""
    place = {label: i for i, label in enumerate(labels)}
    code = np.array([place.get(label, -1) for label in side.labels], dtype=np.int64)
    spans = side.spans
    if len(rows) and np.array_equal(rows, np.arange(len(rows))) and (not len(spans) or spans.unit.max() < len(rows)):
        return Spans(spans.unit, spans.start, spans.end, code[spans.label]), side.parent
    unit = np.full(max(int(rows.max(initial=-1)), int(spans.unit.max(initial=-1))) + 2, -1)
    unit[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    keep = np.flatnonzero(unit[spans.unit] >= 0)
    kept = spans.take(keep)
    return Spans(unit[kept.unit], kept.start, kept.end, code[kept.label]), _reparented(side.parent, keep)


def _reparented(parent: Ints | None, keep: Ints) -> Ints | None:
    if parent is None:
        return None
    place = np.full(len(parent) + 1, -1)
    place[keep] = np.arange(len(keep))
    return place[parent[keep]]


def _either(mine: Sequence[Any] | None, theirs: Sequence[Any] | None, documents: Documents) -> Any:
    """A column of the documents from gold, or from the prediction where gold lacks the document (or the column)."""
    if mine is None and theirs is None:
        return None
    if mine is not None and len(mine) == len(documents.gold) and not np.any(documents.gold < 0):
        return mine
    none: Sequence[Any] = ()
    first, second = (none if mine is None else mine), (none if theirs is None else theirs)
    return [
        first[g] if g >= 0 and len(first) else second[p] if p >= 0 and len(second) else None
        for g, p in zip(documents.gold.tolist(), documents.pred.tolist(), strict=True)
    ]


def _only(column: Sequence[Any] | None, rows: Ints) -> list[Any] | None:
    return None if column is None else [column[row] if row >= 0 else [] for row in rows.tolist()]


def _tagged(gold: Tagged | None, pred: Tagged | None, documents: Documents) -> tuple[Tagged, Tagged, Ints] | None:
    same = np.array_equal(documents.gold, documents.pred)
    if gold is None or pred is None or not same or len(gold.lengths) != len(pred.lengths):
        return None
    return gold, pred, documents.gold


def _one_vocabulary(gold: Tagged, pred: Tagged) -> tuple[Tagged, Tagged]:
    if gold.tags is pred.tags or gold.tags == pred.tags:
        return gold, pred
    tags = list(dict.fromkeys([*gold.tags, *pred.tags]))
    place = {tag: i for i, tag in enumerate(tags)}
    moved = (
        Tagged(side.at, np.array([place[t] for t in side.tags], dtype=np.int64)[side.code], side.lengths, tags)
        for side in (gold, pred)
    )
    first, second = moved
    return first, second

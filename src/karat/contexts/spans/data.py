# SPDX-License-Identifier: Apache-2.0
"""Gold and predicted spans of the same documents, and everything that is computed from them once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from karat.align import Aligned
from karat.columns import ordered, recode
from karat.contexts.spans import nested
from karat.contexts.spans.coverage import Coverage, Positions, coverage, positions
from karat.contexts.spans.errors import Errors, cut_and_joined, errors
from karat.contexts.spans.excerpts import Excerpts, Pages, Rule, excerpts, score_pages
from karat.contexts.spans.marked import Marked, Text, scheme_of, tagged
from karat.contexts.spans.matching import Pairs, match
from karat.contexts.spans.semeval import READINGS, Fits, Greedy, Outcomes, alignment, all_fits, outcomes, tally
from karat.contexts.spans.span import Bools, Ints, Spans
from karat.contexts.spans.tags import Tagged, equal_tokens
from karat.side import Entries
from karat.state import restored, stored


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
    tagged: tuple[Tagged, Tagged, Bools] | None = None
    """Gold's and the prediction's tags and which sentences both have, where both sides are tags."""
    texts: Sequence[Text] | None = None
    paged: bool = False
    """Are the documents pages with excerpts?"""
    gold_classes: Sequence[Sequence[str]] | None = None
    pred_classes: Sequence[Sequence[str]] | None = None

    state_version = 2
    former_fields = ("_kept",)

    @staticmethod
    def upgrade_state(fields: dict[str, Any], version: int) -> dict[str, Any]:
        """Form 1 had the number of every tagged sentence in place of whether both sides have it."""
        if fields["tagged"] is not None:
            gold, pred, rows = fields["tagged"]
            tags = list(dict.fromkeys([*gold.tags, *pred.tags]))
            pred = replace(pred, code=recode(pred.code, pred.tags, tags), tags=tags)
            fields["tagged"] = replace(gold, tags=tags), pred, np.ones(len(rows), bool)
        return fields | {"ids": list(fields["ids"])}

    @cached_property
    def _results(self) -> dict[Any, Any]:
        """What was computed for some choice of parameters."""
        return {}

    @property
    def units(self) -> int:
        return len(self.ids)

    def text(self, unit: int) -> str:
        """A document's text; tokens are joined by blanks."""
        text = None if self.texts is None else self.texts[unit]
        return " ".join(text) if isinstance(text, list) else text or ""

    def words(self, spans: Spans, unit: int) -> str:
        """A document's spans with what they mark, or where they stand if there is no text."""
        rows = np.flatnonzero(spans.unit == unit)
        text = None if self.texts is None else self.texts[unit]
        words = []
        for row in rows[np.argsort(spans.start[rows], kind="stable")].tolist():
            start, end = int(spans.start[row]), int(spans.end[row])
            mark = f"[{start}, {end})" if not text else text[start:end]
            mark = " ".join(mark) if isinstance(mark, list) else mark
            words.append(
                f"{self.labels[spans.label[row]]} {mark!r}" if text else f"{self.labels[spans.label[row]]} {mark}"
            )
        return ", ".join(words) or "—"

    @cached_property
    def tokens(self) -> tuple[Ints, Ints]:
        """Tokens of each document, and how many have the right tag; none where the input is not tags."""
        if self.tagged is None:
            return np.zeros(self.units, dtype=np.int64), np.zeros(self.units, dtype=np.int64)
        gold, pred, shared = self.tagged
        return gold.lengths, equal_tokens(gold, pred) * shared

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
        if ("outcomes", reading) not in self._results:
            self._results["outcomes", reading] = self._outcomes(reading)
        return self._results["outcomes", reading]

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
        if rule not in self._results:
            self._results[rule] = excerpts(self.gold, self.pred, rule)
        return self._results[rule]

    def pages(self, rule: Rule = RULE, weight: float = 1.0) -> Pages:
        """The page-excerpt sums."""
        if (rule, weight) not in self._results:
            excerpts = self.excerpts(rule)
            self._results[rule, weight] = score_pages(
                excerpts, self.units, partial_weight=weight, ignore_label=rule.ignore_label
            )
        return self._results[rule, weight]

    @cached_property
    def trees(self) -> tuple[nested.Tree, nested.Tree]:
        return _tree(self.gold, self.gold_parent), _tree(self.pred, self.pred_parent)

    @cached_property
    def nested(self) -> Pairs:
        """Entities aligned level by level."""
        return nested.align(*self.trees)

    def credits(self, *, text_requires_type: bool = True) -> tuple[Pairs, Pairs]:
        """MUC's text and type credits of the nested alignment."""
        if text_requires_type not in self._results:
            self._results[text_requires_type] = nested.text_and_type(
                *self.trees, self.nested, text_requires_type=text_requires_type
            )
        return self._results[text_requires_type]


def quote(text: Text, start: int, end: int) -> str | None:
    """What a text has between two positions."""
    part = None if text is None else text[start:end]
    return " ".join(part) if isinstance(part, list) else part


def unlabelled(spans: Spans) -> Spans:
    return spans.labelled(np.zeros(len(spans), dtype=np.int64))


def _tree(spans: Spans, parent: Ints | None) -> nested.Tree:
    return nested.Tree(spans, np.full(len(spans), -1) if parent is None else parent)


def span_data(both: Aligned, options: Mapping[str, Any]) -> SpanData:
    """Both sides over the same documents and labels."""
    tags = _tags(both)
    scheme = scheme_of(options["scheme"], *tags)
    gold, pred = (_marked(both, role, of_tags, scheme, options) for role, of_tags in zip(ROLES, tags, strict=True))
    labels = ordered({*gold.used, *pred.used})
    matching = Matching(options["match"], options["overlap"], options["overlap_of"], options["matching"] == "greedy")
    return SpanData(
        gold.under(labels), pred.under(labels), labels, both.ids or [], matching, gold.parent, pred.parent,
        None if tags[0] is None or tags[1] is None else (tags[0], tags[1], both.in_gold & both.in_pred),
        _texts(both), bool(both.facts["gold"].get("excerpts")),
        _classes(both.rows.get("classes")), _classes(both.rows.get("pred classes")),
    )  # fmt: skip


ROLES = ("gold", "pred")


def _marked(both: Aligned, role: str, of_tags: Tagged | None, scheme: str, options: Mapping[str, Any]) -> Marked:
    if of_tags is not None:
        return Marked.of_tags(of_tags, scheme)
    entries: Entries = getattr(both, role)
    return Marked.of_entries(entries, both.names["label"], len(both), both.facts[role], options).full_names()


def _tags(both: Aligned) -> list[Tagged | None]:
    """The tag sequences of the sides that have them, over one vocabulary; who lacks a sentence has none of its tags."""
    known = both.names.get("tag", [])
    lengths: dict[str, Ints] = {}
    for role, column, there in (("gold", "length", both.in_gold), ("pred", "pred length", both.in_pred)):
        if column in both.rows:
            lengths[role] = np.where(there, both.rows[column], 0)
    if len(lengths) == 2:
        lengths["gold"] = np.where(both.in_gold, lengths["gold"], lengths["pred"])
        lengths["pred"] = np.where(both.in_pred, lengths["pred"], lengths["gold"])
    return [tagged(getattr(both, role), lengths[role], known) if role in lengths else None for role in ROLES]


def _texts(both: Aligned) -> list[Text] | None:
    """A document's text from gold, or from the prediction where gold lacks it."""
    mine, theirs = both.rows.get("text"), both.rows.get("pred text")
    if mine is None or theirs is None:
        return theirs if mine is None else mine
    return [theirs[row] if text is None else text for row, text in enumerate(mine)]


def _classes(column: Sequence[Any] | None) -> list[list[str]] | None:
    return None if column is None else [classes or [] for classes in column]


@restored("spans-numbered-ids")
def _numbered_ids(fields: dict[str, Any]) -> list[str]:
    return [str(number) for number in range(1, fields["_size"] + 1)]


@restored("spans-encoded-ids")
def _encoded_ids(fields: dict[str, Any]) -> list[str]:
    return [text.lstrip(b"\0").decode() for text in fields["_texts"].tolist()]

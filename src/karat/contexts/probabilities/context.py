# SPDX-License-Identifier: Apache-2.0
"""The context of scored classes: gold labels, and a score for each class or for the positive one of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from karat.align import Aligned
from karat.cells import Cells, Floats, Ints, Sparse, guessed_positive
from karat.check import at_units, repeated_ids
from karat.columns import Codes, Mask, ordered
from karat.contexts.base import Context
from karat.contexts.labels import unknown_labels
from karat.contexts.options import OPTIONS
from karat.contexts.probabilities.cells import OUTSIDE, SUMS, ProbabilityCells
from karat.contexts.probabilities.tables import tables
from karat.evaluation import Detail
from karat.findings import Finding, InputError, finding
from karat.metric import Metric
from karat.side import Entries, Side

CLOSE = 1e-6
"""Probabilities may leave [0, 1] by this much: rounding of a softmax."""
ROUNDED = 1e-3
"""By how much the probability of a class may be rounded: shares written with three digits."""


class Probabilities(Context):
    """Scores by class."""

    name = "probabilities"
    title = "Scores or probabilities of classes"
    cells = ProbabilityCells
    kinds = ("probabilities", "label", "labels", "weights", "number")
    numbers = ("pred",)
    metrics = ("roc_auc", "average_precision", "log_loss", "brier", "ece", "accuracy", "f1")
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "calibration": ("ece", "mce", "brier", "brier_reliability", "brier_resolution", "brier_uncertainty", "log_loss")
    }
    options = OPTIONS["probabilities"]
    example = '{"id": "1", "value": {"spam": 0.9, "ham": 0.1}}'

    def prepare(self, side: Side, options: Mapping[str, Any]) -> Side:
        """Gold's labels, and scores: of named classes, or one number for the positive class."""
        of = side.entries
        if side.role == "gold":
            return replace(side, entries=Entries(of.unit, {"label": of["label"]}, of.single))
        if side.kind in ("label", "labels"):
            raise InputError([finding("labels-not-scores", side.name)])
        if side.kind == "number":
            return replace(side, entries=Entries(of.unit, {"number": of["number"]}, of.single), names={})
        return side

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        out = repeated_ids(side)
        if side.role == "gold" or "number" not in side.entries:
            return out
        number = side.entries["number"]
        if not len(number) or np.isfinite(number.min() - number.max()):
            return out
        bad = ~np.isfinite(number)
        return out + at_units(side, "score-not-finite", side.entries.unit[bad])

    def reduce(self, both: Aligned, options: Mapping[str, Any]) -> Aligned:
        """Items without gold are left out; equal items are one."""
        both = both if both.in_gold.all() else both.take(np.flatnonzero(both.in_gold))
        return single_scores(both) or both.collapsed()

    def cells_of(self, both: Aligned, options: Mapping[str, Any]) -> ProbabilityCells:
        several = not both.gold.one_each(len(both)) and bool((both.gold.sizes(len(both)) != 1).any())
        classes = both.names["label"]
        answered = np.ones(len(both), bool) if both.pred.one_each(len(both)) else both.pred.sizes(len(both)) > 0
        pos_label = _positive(classes, options)
        if "label" in both.pred:
            score = np.zeros((len(both), len(classes)))
            score[both.pred.unit, both.pred["label"]] = both.pred["number"]
        else:
            classes, score = _of_positive(both, classes, pos_label)
        if not answered.all():
            score[~answered] = np.nan
        ones = np.broadcast_to(1.0, len(both.gold))
        label = both.gold["label"].astype(np.int64, copy=False)
        gold = Sparse(both.gold.unit, label, ones, (len(both), len(classes)))
        return ProbabilityCells(
            gold, score, answered, both.n, both.case.code, both.case.names, classes, several=several,
            trusted=_trusted(score, answered, several), threshold=options["threshold"], pos_label=pos_label,
            unit=both.unit, unit_ids=both.ids,
        )  # fmt: skip

    def remarks(self, gold: Side, pred: Side, cells: Cells, options: Mapping[str, Any]) -> list[Finding]:
        assert isinstance(cells, ProbabilityCells)
        out = list[Finding]()
        if "label" in pred.entries:
            known = gold.names["label"]
            lone = [name for name in pred.names["label"] if name not in {*known}]
            out += unknown_labels(dict.fromkeys(lone, len(pred)), ordered(known), pred)
            silent = [repr(name) for name in ordered(known) if name not in {*pred.names["label"]}]
            if pred.names["label"] and len(silent) == len(known):
                shown = [", ".join(map(repr, ordered(names)[:10])) for names in (known, pred.names["label"])]
                raise InputError([finding("no-class-has-scores", pred.name, gold=shown[0], pred=shown[1])])
            if silent:
                out.append(finding("class-without-scores", pred.name, labels=", ".join(silent[:10])))
        if cells.binary and cells.positive is not None and options["pos_label"] is None:
            guessed = "label" not in pred.entries and guessed_positive(cells.classes)
            code = "positive-class-guessed" if guessed else "positive-class"
            out.append(
                finding(code, gold.name, label=cells.classes[cells.positive], other=cells.classes[1 - cells.positive])
            )
        if cells.trusted:
            out.append(finding("no-probabilities", pred.name, reason=cells.trusted))
        return out

    def doubts(self, metrics: Sequence[Metric], pred: Side, cells: Cells) -> list[Finding]:
        tuned = [str(m) for m in metrics if m.name in ("best", "recall_at_precision", "precision_at_recall")]
        return [finding("threshold-tuned", pred.name, metric=", ".join(tuned))] if tuned else []

    def details(self, cells: Cells) -> Sequence[Detail]:
        assert isinstance(cells, ProbabilityCells)
        return tables(cells)


MOST_GROUPS = 64
"""Test cases × labels whose scores are sorted one after the other."""


def single_scores(both: Aligned) -> Aligned | None:
    """What `Aligned.collapsed` gives for one label and one score an item, by sorting the scores alone; None elsewhere."""
    labels = len(both.names["label"])
    single = both.gold.one_each(len(both)) and both.pred.one_each(len(both))
    plain = single and "label" not in both.pred and both.unit is None
    if not plain or labels * len(both.case.names) > MOST_GROUPS or (both.n != 1).any():
        return None
    key, cases = both.gold["label"], len(both.case.names)
    if cases > 1:
        key = both.case.code * labels + key
    number, n, sizes = _counted(key, both.pred["number"], labels * cases)
    rows, there = both.gold.unit[: len(n)], np.ones(len(n), bool)
    case = both.case.code[: len(n)] if cases == 1 else np.repeat(np.arange(cases), sizes.reshape(cases, labels).sum(1))
    return replace(
        both,
        case=Codes(case, both.case.names),
        n=n,
        in_gold=there,
        in_pred=there,
        gold=Entries(rows, {"label": np.repeat(np.tile(np.arange(labels), cases), sizes)}, single=True),
        pred=Entries(rows, {"number": number}, single=True),
        rows={},
    )


def _counted(key: Ints, number: Floats, keys: int) -> tuple[Floats, Ints, Ints]:
    """The distinct numbers of each key, rising, how often each is there, and how many of them a key has."""
    ends = np.cumsum(np.bincount(key, minlength=keys))
    out = np.empty(len(number))
    new = np.ones(len(number), bool)
    for k, end in enumerate(ends.tolist()):
        part, fresh = out[(begin := int(ends[k - 1]) if k else 0) : end], new[begin:end]
        np.compress(key == k, number, out=part)
        part += 0.0  # −0.0 is 0.0
        part.sort()
        np.not_equal(part[1:], part[:-1], out=fresh[1:])
    if new.all():
        return out, np.ones(len(out), np.int64), np.diff(ends, prepend=0)
    at = np.flatnonzero(new)
    n = np.empty(len(at), np.int64)
    np.subtract(at[1:], at[:-1], out=n[:-1])
    n[-1:] = len(out) - at[-1:]
    return out[at], n, np.diff(np.searchsorted(at, ends), prepend=0)


def _positive(classes: Sequence[str], options: Mapping[str, Any]) -> str | None:
    """The positive class that was named, which must be there."""
    named: str | None = options["pos_label"]
    if named is not None and len(classes) > 1 and named not in classes:
        message = f"no item has the label {named!r}; gold has {', '.join(classes[:5])}"
        raise InputError([finding("bad-option", None, message=message, way_out="name one of them with pos_label")])
    return named


def _of_positive(both: Aligned, classes: list[str], pos_label: str | None) -> tuple[list[str], Floats]:
    """One score an item is that of the positive class of two: what speaks for it speaks against the other."""
    if len(classes) == 1:
        other = pos_label if pos_label is not None and pos_label not in classes else f"not {classes[0]}"
        classes = [*classes, other]
    if len(classes) != 2:
        raise InputError([finding("one-score-many-classes", None, count=len(classes), labels=", ".join(classes[:5]))])
    if both.pred.one_each(len(both)):
        return classes, both.pred["number"][:, None]
    number = np.zeros((len(both), 1))
    number[both.pred.unit, 0] = both.pred["number"]
    return classes, number


def _trusted(score: Floats, answered: Mask, several: bool) -> str:
    """Why scores are no probabilities."""
    given = score if answered.all() else score[answered]
    if not len(given):
        return ""
    if given.min() < -CLOSE or given.max() > 1 + CLOSE:
        return OUTSIDE
    if score.shape[1] == 1:
        return ""
    off = np.abs(given.sum(1) - 1) > ROUNDED * max(2, score.shape[1] / 2)
    return "" if several or 2 * off.sum() <= len(off) else SUMS


context = Probabilities()

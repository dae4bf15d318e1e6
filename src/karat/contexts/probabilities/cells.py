# SPDX-License-Identifier: Apache-2.0
"""Cells of scored classes: an item's gold classes, and the score that the system gives to every class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from karat.cells import ClassCells, Collapsed, Floats, Ints, Sparse, TakenCells, Weights
from karat.columns import Mask
from karat.contexts.curve import Curve
from karat.state import stored
from karat.weights import Scaled


@stored("probability-cells")
class ProbabilityCells(TakenCells, ClassCells):
    """Items with scores. The metrics of hard labels see the class with the highest score, or those past a threshold."""

    per_cell = ("gold_of", "score", "answered")
    averages = ("auto", "macro", "micro", "weighted", "binary")

    def __init__(
        self, gold_of: Sparse, score: Floats, answered: Mask, n: Any, test_case: Any, test_cases: Sequence[str],
        classes: Sequence[str], *, several: bool = False, trusted: str = "", threshold: float | None = None,
        pos_label: str | None = None, **units: Any,
    ) -> None:  # fmt: skip
        super().__init__(n, test_case, test_cases, classes, **units)
        self.gold_of = gold_of
        self.score = score
        """Cells × classes; an item without a prediction has no numbers here. One column is that of the positive class."""
        self.answered = answered
        self.several = several
        """Whether an item may have several gold classes, or none."""
        self.trusted = trusted
        """Why the scores are no probabilities; empty where they are."""
        self.threshold = threshold
        self.pos_label = pos_label

    def all_items(self) -> Weights:
        """One row: every item by its weight."""
        return self.pooled() if self.weight is None else Scaled(self.pooled(), self.weight)

    @property
    def binary(self) -> bool:
        """Whether there are two classes that exclude each other."""
        return len(self.classes) == 2 and not self.several

    def average_of(self, average: str) -> str:
        """Of two classes the positive one speaks, of more their mean."""
        return ("binary" if self.binary and self.positive is not None else "macro") if average == "auto" else average

    def collapsed(self) -> Collapsed:
        return Pooled(self)

    @cached_property
    def in_gold(self) -> Floats:
        return np.ones(len(self))

    @cached_property
    def truth(self) -> Mask:
        """Cells × classes: whether the class is gold."""
        out = np.zeros((len(self), len(self.classes)), bool)
        out[self.gold_of.row, self.gold_of.col] = True
        return out

    @cached_property
    def gold(self) -> Ints:
        """The gold class of each item, where items have one."""
        if self.plain:
            return self.gold_of.col
        out = np.zeros(len(self), np.int64)
        out[self.gold_of.row] = self.gold_of.col
        return out

    @cached_property
    def plain(self) -> bool:
        """Whether every item has one gold class, as they stand."""
        row = self.gold_of.row
        return len(row) == len(self) and bool((row[1:] > row[:-1]).all())

    @property
    def mirrored(self) -> bool:
        """Whether one score speaks for the positive class and against the other."""
        return self.score.shape[1] == 1

    def column(self, of: int) -> Floats:
        """The scores of a class."""
        if not self.mirrored:
            return self.score[:, of]
        score = self.score[:, 0]
        return score if of == self.positive else -score if self.whole.trusted == OUTSIDE else 1 - score

    @cached_property
    def scores(self) -> Floats:
        """Cells × classes."""
        return np.stack([self.column(0), self.column(1)], 1) if self.mirrored else self.score

    def placed(self, of: int) -> Floats:
        """The scores of a class; silence is the worst answer: lowest where the class is gold, highest elsewhere."""
        score = self.column(of)
        if self.answered.all():
            return score
        return np.where(self.answered, score, np.where(self.truth[:, of], -np.inf, np.inf))

    @cached_property
    def curves(self) -> list[Curve]:
        """For each class, it against all others."""
        if self.mirrored and self.positive is not None:
            curve = self.own_curve
            mirror = curve.mirrored(self.column(1 - self.positive))
            return [mirror, curve] if self.positive else [curve, mirror]
        return [self._curve(c) for c in range(len(self.classes))]

    @cached_property
    def own_curve(self) -> Curve:
        """That of the positive class."""
        assert self.positive is not None
        return self._curve(self.positive)

    def _curve(self, of: int) -> Curve:
        is_gold = self.truth[:, of] if self.several else self.gold == of
        cell = self.gold_of.row if self.plain else np.arange(len(self))
        return Curve.through(cell, self.placed(of), is_gold, len(self))

    @cached_property
    def pooled_curve(self) -> Curve:
        """Every class of every item as an outcome of its own."""
        classes = len(self.classes)
        cell, of = np.repeat(np.arange(len(self)), classes), np.tile(np.arange(classes), len(self))
        score = np.stack([self.placed(c) for c in range(classes)], 1) if classes else np.zeros((len(self), 0))
        return Curve.through(cell, score.reshape(-1), self.truth[cell, of], len(self))

    @cached_property
    def duels(self) -> dict[tuple[int, int], Curve]:
        """For each ordered pair of classes, the first against the second among the items of the two."""
        classes, out = range(len(self.classes)), {}
        member = [np.flatnonzero(self.gold == c) for c in classes]
        for first in classes:
            placed = self.placed(first)
            for second in classes:
                if first != second:
                    cell = np.concatenate([member[first], member[second]])
                    out[first, second] = Curve.through(cell, placed[cell], self.gold[cell] == first, len(self))
        return out

    @cached_property
    def chosen(self) -> Mask:
        """Cells × classes: the classes that the system's scores stand for."""
        score, at = self.scores, self.cut
        if self.several:
            return (score >= at) & self.answered[:, None]
        if self.binary and self.positive is not None:
            yes = score[:, self.positive] >= at
            out = np.stack([~yes, yes] if self.positive else [yes, ~yes], 1)
        else:
            out = np.zeros(score.shape, bool)
            if score.shape[1]:
                out[np.arange(len(self)), score.argmax(1)] = True
        return out & self.answered[:, None]

    @property
    def cut(self) -> float:
        """The score from which a class is predicted."""
        return self.threshold if self.threshold is not None else 0.0 if self.whole.trusted == OUTSIDE else 0.5

    @cached_property
    def pred_of(self) -> Sparse:  # type: ignore[override]
        if self.mirrored and self.positive is not None and self.answered.all():
            yes = self.score[:, 0] >= self.cut
            col = (yes if self.positive else ~yes).astype(np.int64)
            row = self.gold_of.row if self.plain else np.arange(len(self))
            return Sparse(row, col, np.broadcast_to(1.0, col.shape), (len(self), 2))
        row, col = np.nonzero(self.chosen)
        return Sparse.of(row, col, 1.0, self.chosen.shape)

    @cached_property
    def hit_of(self) -> Sparse:  # type: ignore[override]
        row, col = np.nonzero(self.chosen & self.truth)
        return Sparse.of(row, col, 1.0, self.chosen.shape)

    @cached_property
    def exact(self) -> Floats:
        """1 where the predicted classes are gold's."""
        return ((self.chosen == self.truth).all(1) & self.answered).astype(float)

    @cached_property
    def probability(self) -> Floats:
        """The scores as probabilities, rounding cut off; nothing for silence."""
        return np.where(self.answered[:, None], np.clip(self.scores, 0.0, 1.0), 0.0)

    @cached_property
    def surprise(self) -> Floats:
        """Natural logarithm of what gold was given, negative; over the classes of an item on average if it may have several."""
        least = np.finfo(float).eps
        if not self.several:
            given = np.clip(self.given if len(self.classes) else np.zeros(len(self)), least, 1 - least)
            return np.negative(np.log(given, out=given), out=given)
        given = np.where(self.truth, self.probability, 1 - self.probability)
        given = np.where(self.answered[:, None], given, 0.0)
        return np.asarray(-np.log(np.clip(given, least, 1 - least)).mean(1))

    @cached_property
    def given(self) -> Floats:
        """The probability of the gold class."""
        if not self.mirrored:
            return self.probability[np.arange(len(self)), self.gold]
        yes = np.clip(self.score[:, 0], 0.0, 1.0)
        given = np.where(self.gold == self.positive, yes, 1 - yes)
        return given if self.answered.all() else np.where(self.answered, given, 0.0)

    @cached_property
    def square(self) -> Floats:
        """Squared distance between the probabilities and gold; silence is as far off as can be."""
        if self.mirrored:
            return (1 - self.given) ** 2
        apart = ((self.probability - self.truth) ** 2).sum(1)
        worst = float(len(self.classes)) if self.several else 2.0
        scale = float(len(self.classes)) if self.several else 2.0 if self.binary else 1.0
        return np.where(self.answered, apart, worst) / scale

    @cached_property
    def beaten(self) -> tuple[Floats, Floats]:
        """How many classes score higher than gold's, and how many as high (gold's among them)."""
        of_gold = self.scores[np.arange(len(self)), self.gold][:, None]
        with np.errstate(invalid="ignore"):
            return (self.scores > of_gold).sum(1).astype(float), (self.scores == of_gold).sum(1).astype(float)

    def answers(self, cell: int) -> tuple[str, str]:
        """Gold's classes, and the scores with the highest first."""
        if not self.answered[cell]:
            return self._labels(self.gold_of, cell), "—"
        score = self.scores[cell]
        order = np.argsort(-score, kind="stable")[:4].tolist()
        order = [self.positive] if self.binary and self.positive is not None else order
        scores = ", ".join(f"{self.classes[c]} {score[c]:.3g}" for c in order)
        return self._labels(self.gold_of, cell), scores + (" …" if len(self.classes) > 4 else "")


OUTSIDE = "some scores lie outside 0 to 1: they are no probabilities"
SUMS = "the scores of most items do not sum to 1: they are no probabilities"


class Pooled(Collapsed):
    """All classes as one: every class of every item is an outcome."""

    @property
    def curves(self) -> list[Curve]:
        return [self._cells.pooled_curve]  # type: ignore[attr-defined]

# SPDX-License-Identifier: Apache-2.0
"""Labels with their ancestors: information contrast (ICM) and hierarchical precision and recall."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from karat.cells import ClassCells, Floats, Ints, Sparse, Weights
from karat.hierarchy import Hierarchy
from karat.metric import metric
from karat.score import Values, across, ratio


class TreeCells(ClassCells):
    """Cells whose labels may have ancestors; without a hierarchy every label is its own root."""

    def __init__(self, *args: Any, hierarchy: Hierarchy | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.hierarchy = hierarchy

    @cached_property
    def in_gold(self) -> Floats:
        """1 where the unit is in gold."""
        raise AttributeError("in_gold")

    @cached_property
    def _closure(self) -> tuple[list[str], Ints, Ints]:
        return (self.hierarchy or Hierarchy({})).closure(self.classes)

    @property
    def nodes(self) -> list[str]:
        """Labels in use and all that stand above them."""
        return self._closure[0]

    @cached_property
    def parents(self) -> Ints:
        """Index of each node's parent, −1 for roots."""
        return (self.hierarchy or Hierarchy({})).parents_of(self.nodes)

    def _raised(self, of: Sparse) -> Sparse:
        """1 at every node that stands at or above a label of the cell."""
        nodes, label, node = self._closure
        if self.hierarchy is None:
            return of
        start = np.searchsorted(label, np.arange(len(self.classes) + 1))
        depth = (start[1:] - start[:-1])[of.col]
        row = np.repeat(of.row, depth)
        within = np.arange(depth.sum()) - np.repeat(np.cumsum(depth) - depth, depth)
        key = np.unique(row * len(nodes) + node[np.repeat(start[:-1][of.col], depth) + within])
        return Sparse.of(key // len(nodes), key % len(nodes), 1.0, (len(self), len(nodes)))

    @cached_property
    def gold_at(self) -> Sparse:
        return self._raised(self.gold_of)

    @cached_property
    def pred_at(self) -> Sparse:
        return self._raised(self.pred_of)

    @cached_property
    def answer_at(self) -> Sparse:
        """What is predicted for gold's items alone."""
        return self.pred_at if self.in_gold.all() else self.pred_at * self.in_gold

    @cached_property
    def lightest_gold(self) -> Floats:
        """By item with gold, the weight of the lightest of its test case."""
        return np.asarray(self.in_gold * self.lightest[self.test_case], float)

    @cached_property
    def hit_at(self) -> Sparse:
        same = self.gold_at is self.gold_of and self.pred_at is self.pred_of
        return self.hit_of if same else self.gold_at.shared(self.pred_at)


def _information(W: Weights, cells: TreeCells) -> Floats:
    """What each node adds to its parent: Δ(c) = IC(c) − IC(parent), IC = −log2 P; a node never in gold has P = 1/n."""
    n = (W @ cells.in_gold)[:, None]
    one: Any = 1.0
    if cells.weight is not None:
        one = np.divide((W @ cells.lightest_gold)[:, None], n, out=np.ones(n.shape), where=n > 0)
    content = -np.log2(np.maximum(W @ cells.gold_at, one) / np.maximum(n, one))
    if cells.hierarchy is None:
        return content
    return content - np.where(cells.parents < 0, 0.0, content[:, cells.parents])


_AMIGO = "Amigó & Delgado 2022, doi:10.18653/v1/2022.acl-long.399"


@metric(TreeCells, bounds=(-np.inf, np.inf), title="ICM", reference=_AMIGO)
def icm(W: Weights, cells: TreeCells, *, alpha_1: float = 2.0, alpha_2: float = 2.0, beta: float = 3.0) -> Values:
    """Information contrast of predicted and gold labels, over their ancestors too.

    ICM = (1/n) Σ_c Δ(c)·((α1+α2−β)·TP_c + (α1−β)·FP_c + (α2−β)·FN_c) over labels and ancestors c;
    Δ(c) = IC(c) − IC(parent of c), IC(c) = −log2 of the share of gold items with c or a descendant (1/n if none has).
    Undefined without gold items.

    >>> # gold A A B, predicted A B B: IC(A) = .585, IC(B) = 1.585: (.585 − .585 − 1.585 + 1.585)/3
    >>> abs(round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["icm"])["icm"].value, 4))
    0.0
    """
    gain = _gain(W, cells, alpha_1, alpha_2, beta)
    return ratio(across(_information(W, cells) * gain), W @ cells.in_gold, "no gold items")


def _gain(W: Weights, cells: TreeCells, alpha_1: float, alpha_2: float, beta: float) -> Floats:
    """How often the information of each node is counted: for hits, less for what is spurious or missed."""
    hit, gold, pred = W @ cells.hit_at, W @ cells.gold_at, W @ cells.answer_at
    return (alpha_1 + alpha_2 - beta) * hit + (alpha_1 - beta) * (pred - hit) + (alpha_2 - beta) * (gold - hit)


@metric(TreeCells, title="ICM-Norm", reference=_AMIGO)
def icm_norm(W: Weights, cells: TreeCells, *, alpha_1: float = 2.0, alpha_2: float = 2.0, beta: float = 3.0) -> Values:
    """ICM scaled so that gold itself scores 1: (ICM + G) / 2G, G = ICM(gold, gold), not below 0.

    Undefined where gold holds no information (one label in use, or one item).

    >>> # gold A A B, predicted A B B: ICM = 0, so 1/2
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["icm_norm"])["icm_norm"].value, 4)
    0.5
    """
    information, items = _information(W, cells), W @ cells.in_gold
    contrast = ratio(across(information * _gain(W, cells, alpha_1, alpha_2, beta)), items, "").value
    gold = across(information * (W @ cells.gold_at)) * (alpha_1 + alpha_2 - beta)
    best = ratio(gold, items, "").value
    best = np.where(np.abs(best) > 1e-12, best, 0)
    norm = ratio(contrast + best, 2 * best, "gold holds no information: one label in use, or one item")
    return Values(np.clip(norm.value, 0, None), norm.reason)


_KIRITCHENKO = "Kiritchenko et al. 2006, doi:10.1007/11766247_34"


@metric(TreeCells, title="Hierarchical precision", reference=_KIRITCHENKO)
def hierarchical_precision(W: Weights, cells: TreeCells) -> Values:
    """Share of the predicted labels and their ancestors that gold has too.

    hP = Σ_i |P̂_i ∩ Ĝ_i| / Σ_i |P̂_i|, the hat adding all ancestors.
    Undefined where nothing is predicted.

    >>> # tree X:[A, B]; gold A, predicted B: {B, X} ∩ {A, X}: 1 of 2
    >>> e = karat.evaluate(["A"], ["B"], metrics=["hierarchical_precision"], hierarchy={"X": ["A", "B"]})
    >>> e["hierarchical_precision"].value
    0.5
    """
    return ratio((W @ cells.hit_at).sum(-1), (W @ cells.pred_at).sum(-1), "nothing was predicted")


@metric(TreeCells, title="Hierarchical recall", reference=_KIRITCHENKO)
def hierarchical_recall(W: Weights, cells: TreeCells) -> Values:
    """Share of the gold labels and their ancestors that are predicted.

    hR = Σ_i |P̂_i ∩ Ĝ_i| / Σ_i |Ĝ_i|, the hat adding all ancestors.
    Undefined without gold labels.

    >>> # tree X:[A, B]; gold A, predicted X: {X} ∩ {A, X}: 1 of 2
    >>> e = karat.evaluate(["A"], ["X"], metrics=["hierarchical_recall"], hierarchy={"X": ["A", "B"]})
    >>> e["hierarchical_recall"].value
    0.5
    """
    return ratio((W @ cells.hit_at).sum(-1), (W @ cells.gold_at).sum(-1), "no gold labels")


@metric(TreeCells, title="Hierarchical F1", symmetric=True, reference=_KIRITCHENKO)
def hierarchical_f1(W: Weights, cells: TreeCells) -> Values:
    """Harmonic mean of hierarchical precision and recall.

    hF = 2 Σ_i |P̂_i ∩ Ĝ_i| / (Σ_i |P̂_i| + Σ_i |Ĝ_i|).
    Undefined where both sides are empty.

    >>> # tree X:[A, B]; gold A, predicted B: 2·1/(2 + 2)
    >>> e = karat.evaluate(["A"], ["B"], metrics=["hierarchical_f1"], hierarchy={"X": ["A", "B"]})
    >>> e["hierarchical_f1"].value
    0.5
    """
    size = (W @ cells.pred_at).sum(-1) + (W @ cells.gold_at).sum(-1)
    return ratio(2 * (W @ cells.hit_at).sum(-1), size, "both sides are empty")

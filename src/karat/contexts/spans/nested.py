# SPDX-License-Identifier: Apache-2.0
"""Nested entities: full names joined by `::`, children aligned only inside an aligned pair of parents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat.contexts.spans.matching import Pairs, match, same_place
from karat.contexts.spans.span import Ints, Spans

SEPARATOR = "::"
Entity = Mapping[str, Any]


def full_name(parent: str, name: str) -> str:
    """`Order` + `Size` → `Order::Size`; an unnamed parent adds nothing."""
    return f"{parent}{SEPARATOR}{name}" if parent else name


@dataclass(frozen=True, eq=False)
class Tree:
    """Spans with the row of their parent (-1 at the top); `spans.label` codes the full name."""

    spans: Spans
    parent: Ints

    @property
    def depth(self) -> Ints:
        return depths(self.parent)


def depths(parent: Ints) -> Ints:
    """0 at the top; a step up for all rows in each round."""
    depth, above = np.zeros(len(parent), dtype=np.int64), parent
    while np.any(above >= 0):
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    return depth


def align(gold: Tree, pred: Tree, *, policy: str = "type") -> Pairs:
    """One-to-one, level by level: the same full name inside the same aligned parents, equal places first.

    A span without a character is aligned with none.
    """
    depth_gold, depth_pred = gold.depth, pred.depth
    chosen = [Pairs(*(np.zeros(0, dtype=np.int64) for _ in range(3)))]
    inside_gold, inside_pred = gold.spans.unit, pred.spans.unit
    real_gold, real_pred = (tree.spans.end > tree.spans.start for tree in (gold, pred))
    for level in range(int(max(depth_gold.max(initial=-1), depth_pred.max(initial=-1))) + 1):
        g = np.flatnonzero((depth_gold == level) & (inside_gold >= 0) & real_gold)
        p = np.flatnonzero((depth_pred == level) & (inside_pred >= 0) & real_pred)
        matched = match(_inside(gold.spans, g, inside_gold), _inside(pred.spans, p, inside_pred), policy)
        chosen.append(Pairs(g[matched.gold], p[matched.pred], matched.common))
        inside_gold = _parents_pair(gold.parent, chosen[-1].gold)
        inside_pred = _parents_pair(pred.parent, chosen[-1].pred)
    return Pairs(*(np.concatenate([getattr(c, n) for c in chosen]) for n in ("gold", "pred", "common")))


def _inside(spans: Spans, rows: Ints, unit: Ints) -> Spans:
    part = spans.take(rows)
    return Spans(unit[rows], part.start, part.end, part.label)


def _parents_pair(parent: Ints, rows: Ints) -> Ints:
    """For every row the number of the aligned pair that its parent is in, or -1."""
    number = np.full(len(parent) + 1, -1)
    number[rows] = np.arange(len(rows))
    return number[parent]


def text_and_type(gold: Tree, pred: Tree, aligned: Pairs, *, text_requires_type: bool = True) -> tuple[Pairs, Pairs]:
    """MUC's two credits: pairs at the same place (text) and pairs of the same name that overlap (type)."""
    if not text_requires_type:
        return align(gold, pred, policy="exact"), aligned
    return aligned.take(same_place(gold.spans, pred.spans, aligned)), aligned


def flatten(
    units: Sequence[Iterable[Entity]], codes: dict[str, int], *,
    name: str = "Name", start: str = "StartPosition", end: str = "EndPosition", children: str = "Children",
    inclusive: bool = True,
) -> Tree:  # fmt: skip
    """Entity trees (dictionaries) as columns, in preorder; `codes` grows by the full names met."""
    rows: list[tuple[int, int, int, int, int]] = []
    for unit, entities in enumerate(units):
        todo = [(entity, -1, "") for entity in reversed(list(entities))]
        while todo:
            entity, parent, above = todo.pop()
            path = full_name(above, entity[name])
            rows.append((unit, entity[start], entity[end] + inclusive, codes.setdefault(path, len(codes)), parent))
            todo += [(child, len(rows) - 1, path) for child in reversed(entity.get(children) or ())]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return Tree(Spans.of(*columns[:4]), columns[4])


@dataclass(eq=False)
class LuisCounts:
    """The old package's counts, by full name: [correct type, correct text, labelled, predicted], and its error lists.

    It compares every prediction with every label of its name, so counts can exceed the number of entities.
    """

    rows: dict[str, list[int]] = field(default_factory=dict)

    def example(self, gold: Sequence[Entity], pred: Sequence[Entity]) -> tuple[list[_Place], list[_Place]]:
        """Count one example; returns its (false positives, false negatives) as (name, start, end)."""
        missed: dict[str, _Place] = {}
        wrong: list[_Place] = []
        for name, entity in preorder(gold):
            self._row(name)[2] += 1
            # Glued without a separator, as the package does: (1, 112) and (11, 12) collide.
            missed[_glued(name, entity)] = _place(name, entity)
        for entity in pred:
            for name, _ in preorder([entity]):
                self._row(name)[3] += 1
            self._match(gold, entity, "", missed, wrong)
        return wrong, list(missed.values())

    def _row(self, name: str) -> list[int]:
        return self.rows.setdefault(name, [0, 0, 0, 0])

    def _match(
        self, labels: Sequence[Entity], entity: Entity, above: str, missed: dict[str, _Place], wrong: list[_Place]
    ) -> None:
        name = full_name(above, entity["Name"])
        named = [label for label in labels if full_name(above, label["Name"]) == name]
        exact = [self._credit(label, entity, name, missed, wrong) for label in named]
        if not any(exact):
            wrong.append(_place(name, entity))
            if not named:
                wrong += [_place(path, child) for path, child in preorder(entity.get("Children") or (), name)]

    def _credit(self, label: Entity, entity: Entity, name: str, missed: dict[str, _Place], wrong: list[_Place]) -> bool:
        row = self._row(name)
        exact = _ends(label) == _ends(entity)
        row[0] += label["StartPosition"] <= entity["EndPosition"] and entity["StartPosition"] <= label["EndPosition"]
        row[1] += exact
        if exact:
            missed.pop(_glued(name, label), None)
        for child in entity.get("Children") or ():
            self._match(label.get("Children") or (), child, name, missed, wrong)
        return exact


_Place = tuple[str, int, int]


def preorder(entities: Iterable[Entity], above: str = "") -> Iterable[tuple[str, Entity]]:
    """(full name, entity) of a forest, parents before children."""
    for entity in entities:
        name = full_name(above, entity["Name"])
        yield name, entity
        yield from preorder(entity.get("Children") or (), name)


def _ends(entity: Entity) -> tuple[int, int]:
    return entity["StartPosition"], entity["EndPosition"]


def _place(name: str, entity: Entity) -> _Place:
    return name, *_ends(entity)


def _glued(name: str, entity: Entity) -> str:
    return f"{name}{entity['StartPosition']}{entity['EndPosition']}"

# SPDX-License-Identifier: Apache-2.0
"""PyEvALL's hierarchies as it walks them: objects of children, lists of leaves, and whatever else the caller gave.

It does not check their form, and each of its walks takes odd forms its own way: text in the place of children is a
node to the walk that looks for common ancestors only, null stops the walk that counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from karat.doors.pyevall.rows import TestCase


def nodes(tree: Any) -> Iterator[Any]:
    """What stands in objects and lists, in their order; nothing below a list."""
    for node in tree if isinstance(tree, (dict, list)) else ():
        yield node
        yield from nodes(tree[node]) if isinstance(tree, dict) else ()


def adopted(tree: Any, case: TestCase) -> Any:
    """The hierarchy with gold's unknown classes added as roots, which PyEvALL does for sets and weights."""
    inside = {node for node in nodes(tree) if isinstance(node, str)}
    for label in {label: None for value in case.gold.values() for label in value}:
        if label not in inside:
            tree[label] = []
    return tree


def routes(tree: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """From the root to each place of each class, objects inside lists and bare text included."""
    if isinstance(tree, str):
        yield (*above, tree)
    elif isinstance(tree, list):
        for inner in tree:
            yield from routes(inner, above)
    elif isinstance(tree, dict):
        for node, inner in tree.items():
            yield (*above, node)
            yield from routes(inner, (*above, node))


class Paths:
    """The first place of each class; ``tangled`` where some class stands in two."""

    def __init__(self, tree: Any) -> None:
        self.to: dict[str, tuple[str, ...]] = {}
        paths = list(routes(tree))
        for path in paths:
            self.to.setdefault(path[-1], path)
        self.tangled = len(self.to) < len(paths)

    def parent(self, label: str) -> str | None:
        return next(iter(self.to.get(label, ())[-2:-1]), None)

    def common(self, left: str, right: str) -> str | None:
        """Deepest node on both paths, if both classes have a place."""
        there = self.to.get(right, ())
        return next((node for node in reversed(self.to.get(left, ())) if node in there), None)

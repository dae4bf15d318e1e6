# SPDX-License-Identifier: Apache-2.0
"""Label trees: reading, checking, and the ancestors of every label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.findings import Finding, InputError, finding
from karat.state import stored


@stored("hierarchy")
class Hierarchy:
    """A forest over labels: every label has one parent, or none.

    >>> tree = karat.Hierarchy.of({"YES": ["DIRECT", "REPORTED"], "NO": []})
    >>> tree.parent["DIRECT"], tree.parent["NO"]
    ('YES', None)
    """

    def __init__(self, parent: Mapping[str, str | None]) -> None:
        self.parent = dict(parent)

    @staticmethod
    def of(source: Any, file: str | None = None) -> Hierarchy:
        """A hierarchy from a nested dict, a list of roots, or (child, parent) pairs."""
        if isinstance(source, Hierarchy):
            return source
        edges = list(_pairs(source) if _is_pairs(source) else _nested(source, None, file))
        return Hierarchy(_checked(edges, file))

    def check_state(self) -> None:
        """No label is above itself."""
        if _cycles(self.extended([up for up in self.parent.values() if up is not None]).parent, None):
            raise ValueError("a hierarchy that runs in a circle")

    def extended(self, labels: Iterable[str]) -> Hierarchy:
        """This hierarchy with the labels that it lacks added as roots."""
        return Hierarchy(self.parent | {label: None for label in labels if label not in self.parent})

    def path(self, label: str) -> list[str]:
        """The label and its ancestors, nearest first."""
        out = [label]
        while (up := self.parent.get(out[-1])) is not None:
            out.append(up)
        return out

    @property
    def nodes(self) -> list[str]:
        """All labels."""
        return list(self.parent)

    def depth(self, label: str) -> int:
        """0 for a root."""
        return len(self.path(label)) - 1

    def closure(self, labels: Sequence[str]) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
        """All nodes above ``labels`` (themselves included), and which label has which as (label, node) pairs.

        Labels that the hierarchy does not hold are roots of their own.
        """
        whole = self.extended(labels)
        nodes = sorted({node for label in labels for node in whole.path(label)})
        at = {node: i for i, node in enumerate(nodes)}
        pairs = [(i, at[node]) for i, label in enumerate(labels) for node in whole.path(label)]
        index = np.array(pairs, np.int64).reshape(-1, 2)
        return nodes, index[:, 0], index[:, 1]

    def parents_of(self, nodes: Sequence[str]) -> NDArray[np.int64]:
        """Index of each node's parent among ``nodes``, −1 for roots."""
        at = {node: i for i, node in enumerate(nodes)}
        up = [self.parent.get(node) for node in nodes]
        return np.array([-1 if node is None else at.get(node, -1) for node in up], np.int64)

    def to_dict(self) -> dict[str, Any]:
        """The nested form, in label order."""
        children: dict[str | None, list[str]] = {}
        for child, up in sorted(self.parent.items(), key=lambda pair: pair[0]):
            children.setdefault(up, []).append(child)

        def below(node: str | None) -> dict[str, Any]:
            return {child: below(child) for child in children.get(node, [])}

        return below(None)


def _is_pairs(source: Any) -> bool:
    return (
        isinstance(source, (list, tuple))
        and bool(source)
        and all(isinstance(row, (list, tuple)) and len(row) == 2 for row in source)
    )


def _pairs(source: Iterable[Any]) -> Iterable[tuple[str, str | None]]:
    for child, up in source:
        yield str(child), None if up in (None, "") else str(up)


def _nested(source: Any, up: str | None, file: str | None) -> Iterable[tuple[str, str | None]]:
    if isinstance(source, str):
        yield source, up
    elif isinstance(source, Mapping):
        for child, below in source.items():
            yield str(child), up
            if below is not None and below != "":
                yield from _nested(below, str(child), file)
    elif isinstance(source, (list, tuple)):
        for child in source:
            yield from _nested(child, up, file)
    else:
        raise InputError([finding("hierarchy-bad", file, reason=f"{source!r} is not an object, a list or a label")])


def _checked(edges: Sequence[tuple[str, str | None]], file: str | None) -> dict[str, str | None]:
    parent: dict[str, str | None] = {}
    bad: list[Finding] = []
    for child, up in edges:
        if child in parent and parent[child] != up:
            facts: dict[str, Any] = {"label": child, "first": parent[child] or "the root", "second": up or "the root"}
            bad.append(finding("hierarchy-two-parents", file, **facts))
        parent[child] = up
    for up in [up for up in parent.values() if up is not None]:
        parent.setdefault(up, None)
    bad += _cycles(parent, file)
    if bad:
        raise InputError(bad)
    return parent


def _cycles(parent: Mapping[str, str | None], file: str | None) -> list[Finding]:
    safe: set[str] = set()
    for start in parent:
        seen: dict[str, None] = {}  # in the order of the way up, and asked at every step
        node: str | None = start
        while node is not None and node not in safe:
            if node in seen:
                way = list(seen)
                return [finding("hierarchy-cycle", file, labels=", ".join(way[way.index(node) :]))]
            seen[node] = None
            node = parent[node]
        safe.update(seen)
    return []

# SPDX-License-Identifier: Apache-2.0
"""What is said of labels that gold, or the hierarchy, does not know; and the known label that is nearest."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from karat.check import more
from karat.columns import ordered
from karat.findings import LIMIT, Finding, finding
from karat.hierarchy import Hierarchy
from karat.side import Side


def label_findings(gold: Side, pred: Side, hierarchy: Hierarchy | None) -> list[Finding]:
    """What is said of predicted labels that gold never uses, and of labels that the hierarchy lacks."""
    known = gold.names["label"]
    strange = {*pred.names["label"]} - {*known}
    uses = pred.uses() if strange else ()
    lone = {name: int(n) for name, n in zip(pred.names["label"], uses) if n and name in strange}
    out = unknown_labels(lone, ordered(known), pred)
    return out + outside_hierarchy(known, hierarchy, gold.name) + outside_hierarchy(lone, hierarchy, pred.name)


def unknown_labels(unknown: Mapping[str, int], gold: Sequence[str], side: Any) -> list[Finding]:
    """A finding for each predicted label that gold never uses, with the gold label that it may stand for."""
    out = [
        finding("label-not-in-gold", side.name, label=label, count=unknown[label], suggestion=_suggestion(label, gold))
        for label in sorted(unknown)[:LIMIT]
    ]
    return out + more("label-not-in-gold", len(unknown), side)


def outside_hierarchy(labels: Iterable[str], hierarchy: Hierarchy | None, file: str | None) -> list[Finding]:
    """A warning for each label of a file that the hierarchy does not hold."""
    if hierarchy is None:
        return []
    out = []
    for label in sorted(label for label in labels if label not in hierarchy.parent)[:LIMIT]:
        near = nearest(label, hierarchy.nodes)
        hint = f", or spell it as {near!r}" if near else ""
        out.append(finding("label-not-in-hierarchy", file, label=label, suggestion=hint))
    return out


def _suggestion(label: str, known: Sequence[str]) -> str:
    near = nearest(label, known)
    return (
        f"gold has {near!r}: spell it alike"
        if near
        else "check that the label is meant; gold has " + ", ".join(known[:5])
    )


LONGEST = 200
"""Signs of the longest label that is compared with others; what is longer is a text in the wrong place."""


def nearest(label: str, known: Sequence[str]) -> str | None:
    """The known label that differs by case, accents or blanks, else the most alike one."""
    if len(label) > LONGEST:
        return None
    folded = {_fold(k): k for k in known}
    if _fold(label) in folded:
        return folded[_fold(label)]
    near = difflib.get_close_matches(label, known[:2000], 1, 0.75)
    return near[0] if near else None


def _fold(label: str) -> str:
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode() or label
    return "".join(plain.casefold().replace("_", "").replace("-", "").split())

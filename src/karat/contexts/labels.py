# SPDX-License-Identifier: Apache-2.0
"""Labels: their order, the nearest of another set, and what is said of unknown ones."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.base import Table
from karat.contexts.pairing import LIMIT, more
from karat.findings import Finding, finding


def ordered(labels: Iterable[str]) -> list[str]:
    """Labels in number order if all are numbers, else in text order."""
    labels = set(labels)
    try:
        return sorted(labels, key=lambda label: (float(label), label))
    except ValueError:
        return sorted(labels)


def encode(values: NDArray[Any], classes: Sequence[str]) -> NDArray[np.int64]:
    """Codes of the values in ``classes``; −1 for null."""
    at = {label: i for i, label in enumerate(classes)}
    return np.fromiter((at.get(v, -1) for v in values.tolist()), np.int64, len(values))


def unknown_labels(unknown: Mapping[str, int], gold: Sequence[str], table: Table) -> list[Finding]:
    """A finding for each predicted label that gold never uses, with the gold label that it may stand for."""
    out = [
        finding("label-not-in-gold", table.name, label=label, count=unknown[label], suggestion=_suggestion(label, gold))
        for label in sorted(unknown)[:LIMIT]
    ]
    return out + more("label-not-in-gold", len(unknown), table)


def _suggestion(label: str, known: Sequence[str]) -> str:
    near = nearest(label, known)
    return (
        f"gold has {near!r}: spell it alike"
        if near
        else "check that the label is meant; gold has " + ", ".join(known[:5])
    )


def nearest(label: str, known: Sequence[str]) -> str | None:
    """The known label that differs by case, accents or blanks, else the most alike one."""
    folded = {_fold(k): k for k in known}
    if _fold(label) in folded:
        return folded[_fold(label)]
    near = difflib.get_close_matches(label, known[:2000], 1, 0.75)
    return near[0] if near else None


def _fold(label: str) -> str:
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode() or label
    return "".join(plain.casefold().replace("_", "").replace("-", "").split())

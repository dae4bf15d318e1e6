# SPDX-License-Identifier: Apache-2.0
"""Labels: their order, the nearest of another set, and what is said of unknown ones."""

from __future__ import annotations

import difflib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.base import Coded, Table
from karat.contexts.pairing import more
from karat.findings import LIMIT, Finding, finding


def ordered(labels: Iterable[str]) -> list[str]:
    """Labels in number order if all are numbers, else in text order. NaN is none: it has no place among numbers."""
    texts = sorted(set(labels))
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return texts
    return texts if any(map(isnan, numbers)) else sorted(texts, key=float)


def as_coded(values: NDArray[Any]) -> Coded:
    """A column of texts as codes; whatever is no text is missing."""
    table: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(table.__getitem__, values.tolist()), np.int64, len(values))
    texts = [v for v in table if isinstance(v, str)]
    return Coded(recoded(Coded(codes, list(table)), texts), texts)


def recoded(coded: Coded, labels: Sequence[str]) -> NDArray[np.int64]:
    """The codes of a column in another list of labels; −1 for those that it lacks, and for missing values."""
    at = {label: i for i, label in enumerate(labels)}
    lookup = np.array([*(at.get(v, -1) for v in coded.values), -1], np.int64)
    return lookup[coded.codes]


def common_codes(gold: Coded, pred: Coded) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """The labels that either column uses, in order, and both columns in their codes."""
    classes = ordered(label for side in (gold, pred) for label in _in_use(side))
    return classes, recoded(gold, classes), recoded(pred, classes)


def _in_use(coded: Coded) -> list[str]:
    used = np.bincount(coded.codes[coded.codes >= 0], minlength=len(coded.values))
    return [coded.values[i] for i in np.flatnonzero(used).tolist()]


def tally(key: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys below ``size`` in order, and how often each occurs."""
    if size <= 4 * len(key) + (1 << 20):
        counts = np.bincount(key, minlength=size)
        found = np.flatnonzero(counts)
        return found, counts[found]
    ordered_keys = np.sort(key)
    first = np.flatnonzero(np.concatenate([[True], ordered_keys[1:] != ordered_keys[:-1]]))
    return ordered_keys[first], np.diff(np.append(first, len(key)))


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

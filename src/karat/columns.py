# SPDX-License-Identifier: Apache-2.0
"""Columns: texts as codes into a list of names, and the array idioms that sort, match and count them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

DENSE = 8
"""Possible keys for each key there is up to which a table of all of them is cheaper than sorting."""


@dataclass(frozen=True, eq=False, slots=True)
class Codes:
    """A column of texts as numbers: ``names[code]`` is the text, −1 is none."""

    code: Ints
    names: list[str]

    @staticmethod
    def of(texts: Sequence[str | None]) -> Codes:
        """Texts (None: nothing) as codes into their names, in the order in which they first appear."""
        if not len(texts):
            return Codes(np.zeros(0, np.int64), [])
        at = dict.fromkeys(texts)
        at.pop(None, None)
        lookup: dict[Any, int] = {name: i for i, name in enumerate(at)}
        lookup[None] = -1
        return Codes(
            np.fromiter(map(lookup.__getitem__, texts), np.int64, len(texts)), [n for n in at if n is not None]
        )

    @staticmethod
    def one(name: str, rows: int) -> Codes:
        """The same text in every row."""
        return Codes(np.zeros(rows, np.int64), [name])

    def __len__(self) -> int:
        return len(self.code)

    def take(self, index: Any) -> Codes:
        return Codes(self.code[index], self.names)

    def text(self, row: int) -> str:
        return self.names[int(self.code[row])]

    def texts(self) -> list[str | None]:
        names: list[str | None] = [*self.names, None]
        return [names[code] for code in self.code.tolist()]

    def inside(self, names: Sequence[str]) -> Ints:
        """The codes in another list of names; −1 where it lacks them."""
        return recode(self.code, self.names, names)

    def used(self) -> list[str]:
        """The names that some row has."""
        counts = np.bincount(self.code[self.code >= 0], minlength=len(self.names))
        return [self.names[i] for i in np.flatnonzero(counts).tolist()]


def recode(code: Ints, names: Sequence[str], to: Sequence[str]) -> Ints:
    """Codes into ``names`` as codes into ``to``; −1 stays, and is what ``to`` lacks."""
    if names is to:
        return code
    at = {name: i for i, name in enumerate(to)}
    return np.array([*(at.get(name, -1) for name in names), -1], np.int64)[code]


def ordered(names: Iterable[str]) -> list[str]:
    """Names in number order if all are numbers, else in text order. NaN is none: it has no place among numbers."""
    texts = sorted(set(names))
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return texts
    return texts if any(map(isnan, numbers)) else sorted(texts, key=float)


def vocabulary(column: str, lists: Iterable[Sequence[str]]) -> list[str]:
    """One list of names for a column of several sides or batches, in an order that does not depend on them."""
    every = {name for names in lists for name in names}
    return sorted(every) if column in BY_BYTES else ordered(every)


BY_BYTES = ("document",)
"""Columns whose codes rise with the bytes of their texts, because ties are broken by them."""


def distinct(key: Ints) -> tuple[Ints, Ints]:
    """Sorted distinct keys (none below 0), and the place of each key among them; in linear time where they are dense."""
    if (key[1:] > key[:-1]).all():
        return key, np.arange(len(key))
    size = int(key.max(initial=-1)) + 1
    if size > DENSE * len(key):
        return _by_sorting(key)
    used = np.zeros(size, bool)
    used[key] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[key]


def _by_sorting(key: Ints) -> tuple[Ints, Ints]:
    order = np.argsort(key, kind="stable")
    new = firsts(key[order])
    place = np.empty(len(key), np.int64)
    place[order] = np.cumsum(new) - 1
    return key[order][new], place


def firsts(rising: Ints) -> Mask:
    """Where a new value begins in a sorted column."""
    return np.append(True, np.diff(rising) != 0)[: len(rising)]


def paired(one: Ints, two: Ints) -> Ints:
    """A code for each pair of codes (none below 0), rising with the first, then with the second."""
    return distinct(one * (int(two.max(initial=0)) + 1) + two)[1]


def ranked(column: Any) -> Ints:
    """Numbers as whole numbers from 0 that rise with them; codes (−1: none, which comes last) stay in their order."""
    if column.dtype.kind in "iu" and column.min(initial=0) >= 0:
        return np.asarray(column, np.int64)
    if column.dtype.kind in "iu" and column.min(initial=0) == -1:
        return np.where(column < 0, column.max(initial=0) + 1, column)
    return np.asarray(np.unique(column + 0.0, return_inverse=True)[1], np.int64).reshape(-1)


def starts(size: Ints) -> Ints:
    """Where each of consecutive groups of these sizes begins."""
    return np.cumsum(size) - size


def within(size: Ints) -> Ints:
    """The place, from 0, of every member in its group, for consecutive groups of these sizes."""
    return np.arange(int(size.sum())) - np.repeat(starts(size), size)


def matches(keys: Mapping[Any, int], wanted: Iterable[Any], rows: int) -> Ints:
    """Where each wanted key stands; −1 where it is not there."""
    get = keys.get
    return np.fromiter((get(key, -1) for key in wanted), np.int64, rows)

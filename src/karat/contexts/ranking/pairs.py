# SPDX-License-Identifier: Apache-2.0
"""Pairs of a group and a string, found among many others."""

from __future__ import annotations

import numpy as np

from karat.contexts.ranking.strings import Ints, Strings, Words, odd


class Pairs:
    """Finds (group, string) pairs among many by a hash; every hit is compared byte for byte.

    Salts are tried until no two of its own pairs share a hash. A stranger that shares one is
    then told apart by its bytes, so no chain has to be followed.
    """

    def __init__(self, group: Ints, strings: Strings) -> None:
        self.strings, self.salt = strings, 0
        while not self._fill(group):
            self.salt += 1

    def _fill(self, group: Ints) -> bool:
        """Hash every pair; False where two different ones share a hash."""
        self.key = self.keys(group, 1, self.strings)
        one, two = repeats(self.key)
        same = (group[one] == group[two]) & self.strings[one].equals(self.strings[two])
        self.repeats = two[same]
        """Rows whose pair an earlier row has."""
        return bool(same.all())

    def keys(self, group: Ints, size: Ints | int, strings: Strings) -> Words:
        """A hash of each pair, equal for equal pairs; each group holds for ``size`` strings."""
        salted = (group.astype(np.uint64) + np.uint64(1)) * odd(97, self.salt)
        total = strings.hash(self.salt)
        total += np.repeat(salted, size)
        return total

    def find(self, key: Words, strings: Strings, among: Ints | None = None) -> tuple[Ints, Ints]:
        """Which of the strings are here, and their rows; ``among`` are the only rows that can be meant."""
        own = self.key if among is None else self.key[among]
        at = _near(key, own)
        at, row = _matched(key[at], own, at)
        row = row if among is None else among[row]
        same = strings[at].equals(self.strings[row])
        return (at, row) if same.all() else (at[same], row[same])


def twins(key: Words) -> Ints:
    """Rows whose half keys come more than once: halves are sorted in half the time, and few are alike by chance."""
    half = key.view(np.uint32)[1::2]
    ordered = np.sort(half)
    alike = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.flatnonzero(np.isin(half, alike)) if len(alike) else np.zeros(0, np.int64)


def repeats(key: Words) -> tuple[Ints, Ints]:
    """Rows whose key an earlier row has, second, and the row that has it just before, first."""
    rows = twins(key)
    rows = rows[np.argsort(key[rows], kind="stable")]
    again = np.flatnonzero(key[rows[1:]] == key[rows[:-1]])
    return rows[again], rows[again + 1]


def _slots(key: Words, bits: int) -> Ints:
    return (key >> np.uint64(64 - bits)).view(np.int64)


def _near(key: Words, own: Words) -> Ints:
    """Where ``key`` may be one of ``own``: nearly all strangers are told by the first bits alone."""
    bits = max(len(own).bit_length() + 4, 8)
    used = np.zeros(1 << bits, bool)
    used[_slots(own, bits)] = True
    return np.flatnonzero(used[_slots(key, bits)])


def _matched(key: Words, own: Words, at: Ints) -> tuple[Ints, Ints]:
    """Those of ``at`` whose keys are in ``own``, and where.

    Few of one's own keys want the same slot; those that lose it wait in a sorted list.
    """
    bits = max(len(own).bit_length() + 2, 8)
    slot, number = _slots(own, bits), np.arange(len(own), dtype=np.int32)
    first = np.zeros(1 << bits, np.int32)
    first[slot] = number
    row = first[_slots(key, bits)]
    lost = np.flatnonzero(first[slot] != number)
    if len(lost):
        lost = lost[np.argsort(own[lost])]
        left = np.flatnonzero(own[row] != key)
        row[left] = lost[np.minimum(np.searchsorted(own[lost], key[left]), len(lost) - 1)]
    found = own[row] == key
    return at[found], row[found]

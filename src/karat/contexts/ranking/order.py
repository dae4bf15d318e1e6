# SPDX-License-Identifier: Apache-2.0
"""From scores to ranks: where each judged document stands, and with whom it is tied.

Only what a score needs is sorted: rows that already fall by score keep their place, and a
tie is put in order of document ids only if a judged document is in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.contexts.ranking.strings import Strings, spans

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Groups(NamedTuple):
    """Queries one after the other: the number of each, and how many rows it has."""

    query: Ints
    size: Ints

    @property
    def first(self) -> Ints:
        """Row at which each begins."""
        return np.cumsum(self.size) - self.size

    @property
    def distinct(self) -> bool:
        return bool((self.query[1:] > self.query[:-1]).all()) or len(np.unique(self.query)) == len(self.query)


@dataclass(frozen=True, eq=False)
class Places:
    """Places of the judged documents among the rows of their queries."""

    row: Ints
    """Row in the judgements."""
    rank: Ints
    ahead: Ints
    """Documents with a better score."""
    tied: Ints
    """Documents with the same score, itself included."""
    tied_documents: int
    """Documents, judged or not, that share their score with another."""


def places(groups: Groups, score: Floats, at: Ints, row: Ints, ids: Callable[[Ints], Strings] | None) -> Places:
    """Rank whole queries by falling score; rows ``at`` hold the judged documents ``row``.

    ``ids`` gives the document ids of some rows: a tie is then ordered by falling id, in bytes;
    without it rows of a tie keep their order.
    """
    first = groups.first
    order = _falling(groups, score, first)
    if order is not None:
        query, score = np.repeat(*groups)[order], score[order]
        first = np.flatnonzero(_changes(query))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        at, row = place[at], row[np.argsort(place[at])]
        at.sort()
    begin = first[np.searchsorted(first, at, "right") - 1]
    found = Places(row, at - begin + 1, at - begin, np.ones(len(at), np.int64), 0)
    ties = _ties(score, first)
    return _with_ties(found, ties, at, begin, order, ids) if len(ties.first) else found


def _falling(groups: Groups, score: Floats, first: Ints) -> Ints | None:
    """The order by query, then falling score; None where the rows have it."""
    falls = score[1:] <= score[:-1]
    falls[first[1:] - 1] = True
    if falls.all() and groups.distinct:
        return None
    order = np.argsort(-score, kind="stable")
    return order[np.argsort(np.repeat(*groups)[order], kind="stable")]


class Ties(NamedTuple):
    """Rows with the same score in a query: where each such block begins, and how many there are."""

    first: Ints
    size: Ints


def _ties(score: Floats, first: Ints) -> Ties:
    same = score[1:] == score[:-1]
    same[first[1:] - 1] = False
    pair = np.flatnonzero(same)
    start = np.flatnonzero(_changes(pair - np.arange(len(pair))))
    return Ties(pair[start], spans(start, len(pair)) + 1)


def _changes(values: Ints) -> NDArray[np.bool_]:
    """Where a value differs from the one before it; the first does."""
    out = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=out[1:])
    return out


def _with_ties(
    found: Places, ties: Ties, at: Ints, begin: Ints, order: Ints | None, ids: Callable[[Ints], Strings] | None
) -> Places:
    """The places with those of tied documents set right."""
    block = np.searchsorted(ties.first, at, "right") - 1
    hit = np.flatnonzero((block >= 0) & (at < ties.first[block] + ties.size[block]))
    block = block[hit]
    found.ahead[hit], found.tied[hit] = ties.first[block] - begin[hit], ties.size[block]
    if ids is not None and len(hit):
        found.rank[hit] = _by_id(at[hit], block, ties, order, ids) - begin[hit] + 1
    return replace(found, tied_documents=int(ties.size.sum()))


def _by_id(at: Ints, block: Ints, ties: Ties, order: Ints | None, ids: Callable[[Ints], Strings]) -> Ints:
    """Where rows ``at`` stand when their ties are in order of falling ids."""
    own = block[_changes(block)]
    size = ties.size[own]
    start = np.cumsum(size) - size
    row = np.arange(size.sum()) + np.repeat(ties.first[own] - start, size)
    strings = ids(row if order is None else order[row])
    keys = [~key for key in strings.sort_keys()]
    falling = np.lexsort((*keys, np.repeat(np.arange(len(own)), size)))
    place = np.empty(len(row), np.int64)
    place[falling] = row
    return place[start[np.searchsorted(own, block)] + at - ties.first[block]]

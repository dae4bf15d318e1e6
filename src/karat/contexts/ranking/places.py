# SPDX-License-Identifier: Apache-2.0
"""From scores to ranks: where each judged document stands, and with whom it is tied.

Only what a score needs is sorted: documents that already fall by score keep their place, and a tie is put in order
of document ids only if a judged document is in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karat.columns import Floats, Ints, Text, firsts, starts, within
from karat.contexts.ranking.rows import SmallInts
from karat.side import Entries


class Places(NamedTuple):
    """Places of judged documents in the rankings of their queries."""

    rank: SmallInts
    """0: not retrieved."""
    ahead: SmallInts
    """Documents with a better score."""
    tied: SmallInts
    """Documents with the same score, itself included."""
    ties: Ints
    """Documents of each query, judged or not, that share their score with another."""


def places(run: Entries, size: Ints, score: Floats, entry: Ints, *, by_id: bool) -> Places:
    """Rank the documents of each query by falling score; ``entry`` is the judged documents' place in the run, −1 for none.

    Documents of a tie stand by falling id, in bytes, or else in the order given.
    """
    first, order = starts(size), _falling(run.unit, size, score)
    hit = np.flatnonzero(entry >= 0)
    at, begin = entry[hit], first[run.unit[entry[hit]]]
    if order is not None:
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        at, score = place[at], score[order]
    rank, ahead, tied = (np.zeros(len(entry), np.int32) for _ in range(3))
    rank[hit], ahead[hit], tied[:] = at - begin + 1, at - begin, 1
    ties = _ties(score, run.unit)
    block = np.searchsorted(ties.first, at, "right") - 1
    inside = np.flatnonzero((block >= 0) & (at < (ties.first + ties.size)[block])) if len(ties.first) else block[:0]
    if len(inside):
        hit, at, begin, block = (x[inside] for x in (hit, at, begin, block))
        ahead[hit], tied[hit] = ties.first[block] - begin, ties.size[block]
        if by_id:
            rank[hit] = _by_id(at, block, ties, order, run["document"]) - begin + 1
    shared = np.bincount(run.unit[ties.first], ties.size, len(size)).astype(np.int64)
    return Places(rank, ahead, tied, shared)


def _falling(unit: Ints, size: Ints, score: Floats) -> Ints | None:
    """The order by query, then falling score; None where the documents have it."""
    falls = score[1:] <= score[:-1]
    border = np.cumsum(size)[:-1]
    falls[border[(border > 0) & (border < len(score))] - 1] = True
    if falls.all():
        return None
    order = np.argsort(-score, kind="stable")
    return order[np.argsort(unit[order], kind="stable")]


class Ties(NamedTuple):
    """Documents with the same score in a query: where each such block begins, and how many there are."""

    first: Ints
    size: Ints


def _ties(score: Floats, unit: Ints) -> Ties:
    pair = np.flatnonzero((score[1:] == score[:-1]) & (unit[1:] == unit[:-1]))
    start = np.flatnonzero(firsts(pair - np.arange(len(pair))))
    return Ties(pair[start], np.diff(start, append=len(pair)) + 1)


def _by_id(at: Ints, block: Ints, ties: Ties, order: Ints | None, document: Text) -> Ints:
    """Where ``at`` stand when the documents of their ties are in order of falling ids."""
    blocks, nth = np.unique(block, return_inverse=True)
    size = ties.size[blocks]
    row = within(size) + np.repeat(ties.first[blocks], size)
    keys = [~key for key in document[row if order is None else order[row]].sort_keys()]
    falling = np.lexsort((*keys, np.repeat(np.arange(len(blocks)), size)))
    place = np.empty(len(row), np.int64)
    place[falling] = row
    return place[starts(size)[nth] + at - ties.first[block]]

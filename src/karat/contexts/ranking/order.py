# SPDX-License-Identifier: Apache-2.0
"""From scores to ranks: where each judged document stands, and with whom it is tied.

Only what a score needs is sorted: rows that already fall by score keep their place, and a
tie is put in order of document ids only if a judged document is in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.contexts.ranking.strings import Strings

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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


def places(query: Ints, score: Floats, judged: Ints, ids: Callable[[Ints], Strings] | None) -> Places:
    """Rank whole queries by falling score; ``judged`` is the judgement of each row or −1.

    ``ids`` gives the document ids of some rows: a tie is then ordered by falling id, in bytes;
    without it rows of a tie keep their order.
    """
    first = _starts(query)
    order = _falling(query, score, first)
    if order is not None:
        query, score, judged = query[order], score[order], judged[order]
        first = _starts(query)
    block = _starts(score, first)
    size = np.diff(block, append=len(query))
    hit = np.flatnonzero(judged >= 0)
    of = np.searchsorted(block, hit, "right") - 1
    begin = first[np.searchsorted(first, hit, "right") - 1]
    rank, tied = hit - begin + 1, size[of]
    if ids is not None:
        _order_ties(rank, hit, begin, of, block, size, order, ids)
    return Places(judged[hit], rank, block[of] - begin, tied, int(size[size > 1].sum()))


def _falling(query: Ints, score: Floats, first: Ints) -> Ints | None:
    """The order by query, then falling score; None where the rows have it."""
    falls = score[1:] <= score[:-1]
    falls[first[1:] - 1] = True
    if falls.all() and np.bincount(query[first]).max(initial=1) == 1:
        return None
    order = np.argsort(-score, kind="stable")
    return order[np.argsort(query[order], kind="stable")]


def _starts(values: Ints | Floats, first: Ints | None = None) -> Ints:
    """Where a value differs from the one before it, and the rows ``first``."""
    new = np.ones(len(values), bool)
    new[1:] = values[1:] != values[:-1]
    new[first if first is not None else slice(0)] = True
    return np.flatnonzero(new)


def _order_ties(
    rank: Ints,
    hit: Ints,
    begin: Ints,
    of: Ints,
    block: Ints,
    size: Ints,
    order: Ints | None,
    ids: Callable[[Ints], Strings],
) -> None:
    """Replace the ranks of tied hits by those of falling ids."""
    in_tie = np.flatnonzero(size[of] > 1)
    if not len(in_tie):
        return
    blocks = of[in_tie][_starts(of[in_tie])]
    length = size[blocks]
    start = np.cumsum(length) - length
    row = np.arange(length.sum()) + np.repeat(block[blocks] - start, length)
    strings = ids(row if order is None else order[row])
    keys = [~key for key in strings.sort_keys()]
    falling = np.lexsort((*keys, np.repeat(np.arange(len(blocks)), length)))
    place = np.empty(len(row), np.int64)
    place[falling] = row
    at = start[np.searchsorted(blocks, of[in_tie])] + hit[in_tie] - block[of[in_tie]]
    rank[in_tie] = place[at] - begin[in_tie] + 1

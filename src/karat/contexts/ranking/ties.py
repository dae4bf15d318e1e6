# SPDX-License-Identifier: Apache-2.0
"""Expectations over all orders of tied documents, in closed form.

McSherry and Najork, Computing information retrieval performance measures efficiently in the
presence of tied scores, ECIR 2008, doi:10.1007/978-3-540-78646-7_38.
"""

from __future__ import annotations

import numpy as np

from karat.contexts.ranking.cells import Level, RankingCells, discount
from karat.contexts.ranking.rows import Floats, Ints, Rows, summed


def mean_discount(rows: Rows, k: int | None) -> Floats:
    """Mean of the discounts of the places (within ``k``) that each document may take."""
    last = int((rows.ahead + rows.tied).max(initial=0))
    weight = discount(np.arange(1, last + 1))
    weight[k if k is not None else last :] = 0.0
    total = np.concatenate([[0.0], np.cumsum(weight)])
    return (total[rows.ahead + rows.tied] - total[rows.ahead]) / rows.tied


def _blocks(rows: Rows) -> tuple[Ints, Ints]:
    """First row of each tie, and how many of the rows it holds."""
    new = np.ones(len(rows), bool)
    new[1:] = (rows.query[1:] != rows.query[:-1]) | (rows.ahead[1:] != rows.ahead[:-1])
    first = np.flatnonzero(new)
    return first, np.diff(first, append=len(rows))


def expected_precision_sum(cells: RankingCells, rel: Level, k: int | None) -> Floats:
    """Expected sum of the precisions at the relevant documents.

    A tie of n documents after a, r of them relevant, m relevant before it, adds
    Σ_{i=1..n} (r/n) · (m + 1 + (i−1)(r−1)/(n−1)) / (a + i); i stops at k − a.
    """
    hits = cells.hits(rel)
    first, r = _blocks(hits)
    a, n, m = hits.ahead[first], hits.tied[first], hits.nth()[first] - 1
    places = n if k is None else np.clip(k - a, 0, n)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, int((a + n).max(initial=0)) + 1))])
    inverse = harmonic[a + places] - harmonic[a]
    slope = (r - 1) / np.maximum(n - 1, 1)
    total = (r / n) * ((m + 1) * inverse + slope * (places - (a + 1) * inverse))
    return summed(hits.query[first], total, cells.judged.queries)


def expected_reciprocal_rank(cells: RankingCells, rel: Level, k: int | None) -> Floats:
    """Expected inverse of the place of the first relevant document, within ``k``.

    In a tie of n with r relevant it comes at place i with chance C(n−i, r−1) / C(n, r).
    """
    hits = cells.hits(rel)
    first, r = _blocks(hits)
    leading = hits.nth()[first] == 1
    first, r = first[leading], r[leading]
    n = hits.tied[first]
    tries = Rows(np.concatenate([[0], np.cumsum(n - r + 1)]))
    row, i = tries.query, tries.nth() - 1
    r, n = r[row], n[row]
    not_yet = np.log1p(-r / (n - i), where=i < n - r, out=np.zeros(len(row)))
    chance = np.exp(tries.running(not_yet) - not_yet) * r / (n - i)
    place = hits.ahead[first][row] + i + 1
    inside = place <= (place if k is None else k)
    return summed(hits.query[first][row], chance / place * inside, cells.judged.queries)

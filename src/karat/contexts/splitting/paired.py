# SPDX-License-Identifier: Apache-2.0
"""Gold's and the prediction's pages put side by side by bundle and page number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.align import Aligned
from karat.contexts.splitting.pages import Bools, Ints


@dataclass(frozen=True)
class Paired:
    """Both sides on the same pages: which page of each side stands where, -1 for none."""

    row: Ints
    number: Ints
    gold_at: Ints
    pred_at: Ints
    in_gold: Bools
    """The page is in gold, or follows the last one of an open-ended bundle."""
    in_pred: Bools

    def kept(self, keep: Bools) -> Paired:
        """Only these pages; bundles stay, even without pages."""
        return replace(self, **{name: getattr(self, name)[keep] for name in self.__dataclass_fields__})

    def lacking(self, bundles: int) -> Ints:
        """A number for each bundle that tells which of gold's pages the prediction lacks: 0 where it lacks none."""
        lost = np.flatnonzero(self.in_gold & ~self.in_pred)
        out, mark = np.zeros(bundles, np.int64), self.number[lost].astype(np.uint64)
        # Odd multiples of a mixed number add up to another sum for any other pages.
        mark = (mark + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mark = (mark ^ (mark >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        np.add.at(out, self.row[lost], (mark | np.uint64(1)).view(np.int64))
        return out

    def counts(self) -> dict[str, int]:
        """Coverage in pages."""
        gold, pred = self.in_gold, self.in_pred
        masks = {
            "gold": gold,
            "pred": pred,
            "aligned": gold & pred,
            "gold_only": gold & ~pred,
            "pred_only": pred & ~gold,
        }
        return {name: int(mask.sum()) for name, mask in masks.items()}


def paired(both: Aligned) -> Paired:
    """Pages by bundle and number."""
    row, gold_at, pred_at = both.met("page")
    number = np.where(gold_at >= 0, taken(both.gold["page"], gold_at, 0), taken(both.pred["page"], pred_at, 0))
    in_gold = (gold_at >= 0) | _after_the_end(row, gold_at, both.rows["open_ended"] & both.in_gold)
    in_pred = (pred_at >= 0) | _after_the_end(row, pred_at, both.rows["pred open_ended"] & both.in_pred)
    return Paired(row, number, gold_at, pred_at, in_gold, in_pred)


def _after_the_end(row: Ints, at: Ints, open_ended: Bools) -> Bools:
    """Pages after the last one that an open-ended bundle names."""
    if not open_ended.any() or (at >= 0).all():
        return np.zeros(len(at), bool)
    last = np.where(open_ended, -1, len(row))
    known = np.flatnonzero((at >= 0) & open_ended[row])
    np.maximum.at(last, row[known], known)
    return np.arange(len(row)) > last[row]


def taken(values: NDArray[Any], at: Ints, missing: Any) -> NDArray[Any]:
    """The values at these positions, and ``missing`` where there is none."""
    if len(at) == len(values) and (at[:1] >= 0).all() and (at[1:] > at[:-1]).all():
        return values
    out = np.full(len(at), missing, values.dtype)
    out[at >= 0] = values[at[at >= 0]]
    return out

# SPDX-License-Identifier: Apache-2.0
"""Pages ordered by the confidence that they begin a file: what each threshold would have found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.contexts.splitting.pages import Bools, Floats, Ints


@dataclass(frozen=True)
class Levels:
    """Distinct confidences, highest first, and the level of each page."""

    bundle: Ints
    gold: Bools
    confidence: Floats

    @cached_property
    def _distinct(self) -> tuple[Floats, Ints]:
        values, code = np.unique(-self.confidence, return_inverse=True)
        return -values, code.reshape(-1)

    @property
    def thresholds(self) -> Floats:
        return self._distinct[0]

    @property
    def level(self) -> Ints:
        return self._distinct[1]


def average_precision(hits: Floats, shown: Floats) -> Floats:
    """Precision at each level weighted by the gain in recall; `hits` and `shown` are cumulative, NaN without hits."""
    gain = np.diff(hits, axis=-1, prepend=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(shown > 0, gain * hits / shown, 0).sum(-1) / hits[..., -1]


def f1_at(hits: Floats, shown: Floats) -> Floats:
    """F1 of "first page at or above this level" for every level, from cumulative counts."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return 2 * hits / (shown + hits[..., -1:])


def bins_of(confidence: Floats, bins: int) -> Ints:
    """Equal-width bin of each confidence in [0, 1]; 1 falls into the last bin.

    .29 · 100 is 28.999999999999996: rounding keeps it on its side of the edge.
    """
    return np.minimum(np.round(confidence * bins, 9).astype(np.int64), bins - 1)

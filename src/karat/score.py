# SPDX-License-Identifier: Apache-2.0
"""What a metric function returns: numbers, some of them undefined for a stated reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.patched import Patched, elementwise

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Values:
    """Numbers by group (and class); NaN marks *undefined*, and ``reason`` says why.

    ``num`` and ``den`` are kept where the values are ratios, because an average
    over pooled counts divides last. Counts have no ``den``: pooled they are summed.
    """

    value: Floats
    reason: str
    num: Floats | None = None
    den: Floats | None = None

    def filled(self, fill: float) -> Values:
        """The same values with every undefined one replaced by ``fill``."""
        value = np.where(np.isnan(self.value), fill, self.value)
        return Values(value, self.reason, self.num, self.den)


def ratio(num: Any, den: Any, reason: str) -> Values:
    """``num / den``, undefined where ``den`` is 0 (decided on counts, not on the quotient)."""
    if isinstance(num, Patched) or isinstance(den, Patched):
        return Values(elementwise(_quotient, num, den), reason, num, den)
    num, den = np.broadcast_arrays(np.asarray(num, float), np.asarray(den, float))
    return Values(_quotient(num, den), reason, num, den)


def _quotient(num: Floats, den: Floats) -> Floats:
    num, den = np.broadcast_arrays(num, den)
    return np.divide(num, den, out=np.full(num.shape, np.nan), where=den != 0)


def defined(value: Any, ok: Any, reason: str) -> Values:
    """``value`` where ``ok`` holds, undefined elsewhere."""
    value = value if isinstance(value, Patched) else np.asarray(value, float)
    return Values(np.where(ok, value, np.nan), reason)


def mean_defined(value: Floats, scope: Mask | None = None, weight: Floats | None = None) -> Floats:
    """Mean along the last axis of the values that are defined and in scope; NaN where none is."""
    use = ~np.isnan(value) if scope is None else scope & ~np.isnan(value)
    share = use.astype(float) if weight is None else np.where(use, weight, 0.0)
    total, den = across(np.where(use, value, 0.0) * share), across(share)
    return np.divide(total, den, out=np.full(np.shape(total), np.nan), where=den != 0)


def across(x: Any) -> Floats:
    """``x.sum(-1)``: NumPy adds fewer than eight numbers one after the other, so whole columns give the same sums in a tenth of the time."""
    if isinstance(x, Patched) or not 0 < x.shape[-1] < 8:
        return np.asarray(x.sum(-1), float)
    total = np.array(x[..., 0], float)
    for column in range(1, x.shape[-1]):
        total += x[..., column]
    return total

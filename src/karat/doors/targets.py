# SPDX-License-Identifier: Apache-2.0
"""True and predicted labels as scikit-learn tells them apart: two classes, more, or label sets as indicator matrices.

The words of the refusals begin as scikit-learn's do: scripts and its own tests match them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SETS = "multilabel-indicator"
NUMBERS = "biuf"
LABELS = NUMBERS + "UTMm"
"""The kinds of NumPy's types that can be labels: numbers, texts, moments."""


class Targets(NamedTuple):
    """What two sides say of the same items, one of the three kinds, with the labels or columns that they have."""

    kind: str
    gold: NDArray[Any]
    pred: NDArray[Any]
    weight: NDArray[Any]
    present: NDArray[Any]

    @property
    def right(self) -> NDArray[np.bool_]:
        """The items of which both sides say the same."""
        equal = self.gold == self.pred
        return equal.all(axis=1) if self.kind == SETS else equal

    @property
    def accuracy(self) -> float:
        return float(np.average(self.right, weights=self.weight))


def targets(y_true: Any, y_pred: Any, sample_weight: Any) -> Targets:
    """Both sides; a ValueError if they cannot be compared."""
    gold, pred = array(y_true, "y_true"), array(y_pred, "y_pred")
    weight = np.ones(len(gold), np.int64) if sample_weight is None else array(sample_weight, "sample_weight")
    same_length(gold, pred, *([] if sample_weight is None else [weight]))
    kind = common(kind_of(gold, "y_true"), kind_of(pred, "y_pred"))
    if not len(gold):
        raise ValueError(
            "Found empty input array (e.g., `y_true` or `y_pred`) while a minimum of 1 item is needed to score"
        )
    weight = checked(weight)
    if kind == SETS:
        if gold.shape[1] != pred.shape[1]:
            raise ValueError(f"{gold.shape[1]} true and {pred.shape[1]} predicted labels: the columns must be the same")
        return Targets(kind, gold, pred, weight, np.arange(gold.shape[1]))
    gold, pred = gold.reshape(-1), pred.reshape(-1)
    present = together(gold, pred)
    return Targets("multiclass" if len(present) > 2 else kind, gold, pred, weight, present)


def array(side: Any, name: str) -> NDArray[Any]:
    """A side as one array; numbers and texts in an array of objects are what they are elsewhere."""
    if hasattr(side, "toarray"):
        if side.shape[1] < 2:
            raise TypeError(f"{name} is a sparse column: only label sets may be sparse")
        return np.asarray(side.toarray())
    if isinstance(side, str | bytes) or not (isinstance(side, Sequence) or hasattr(side, "__array__")):
        raise ValueError(f"{name} is neither an array nor a list but {side!r}")
    if np.ma.is_masked(side):
        raise TypeError(f"{name} has masked values: leave such items out, or give them a label")
    try:
        values = np.asarray(side)
    except ValueError:
        raise ValueError(f"{name} has lists of unlike lengths: write label sets as an indicator matrix") from None
    if values.dtype == object and all(isinstance(v, int | float | np.number) for v in values.flat):
        return np.array(values.tolist())
    return values


def same_length(*sides: NDArray[Any]) -> None:
    lengths = [len(side) if side.ndim else 1 for side in sides]
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")


def kind_of(side: NDArray[Any], name: str) -> str:
    """What one side holds: ``binary``, ``multiclass``, label sets, or something that has no classes."""
    if side.dtype.kind == "S":
        raise TypeError(f"{name} holds bytes: decode its labels")
    if side.dtype == object and {isinstance(label, str) for label in side.flat} == {True, False}:
        raise mixed(f"both are in {name}")
    if side.shape == (0,):
        return "binary"
    texts = side.dtype == object and all(isinstance(label, str) for label in side.flat)
    if side.ndim not in (1, 2) or not side.size or not (texts or side.dtype.kind in LABELS):
        return "unknown"
    wide = side.ndim == 2 and side.shape[1] > 1
    if side.dtype.kind == "f":
        finite(side, name)
        if (side != np.floor(side)).any():
            return "continuous-multioutput" if wide else "continuous"
    few = len(np.unique(side)) <= 2
    if wide:
        return SETS if few and side.dtype.kind in NUMBERS else "multiclass-multioutput"
    return "binary" if few else "multiclass"


def finite(values: NDArray[Any], name: str) -> None:
    if np.isnan(values).any():
        raise ValueError(f"Input {name} contains NaN: leave such items out, or give them a label")
    if np.isinf(values).any():
        raise ValueError(f"Input {name} contains infinity or a value too large for a label")


def common(gold: str, pred: str) -> str:
    """The kind of both sides."""
    if {gold, pred} == {"binary", "multiclass"}:
        return "multiclass"
    if gold != pred:
        raise ValueError(f"Classification metrics can't handle a mix of {gold} and {pred} targets")
    if gold not in ("binary", "multiclass", SETS):
        raise ValueError(f"{gold} is not supported: give one class for each item, or an indicator matrix")
    return gold


def together(*sides: NDArray[Any]) -> NDArray[Any]:
    """The labels of all sides in order; equal numbers are written as the first side writes them."""
    labels = dict.fromkeys(label for side in sides for label in np.unique(side))
    against = " against ".join(str(np.unique(side)) for side in sides)
    if {isinstance(label, str) for label in labels} == {True, False}:
        raise mixed(against)
    try:
        return np.asarray(sorted(labels))
    except TypeError:
        raise TypeError(f"labels of unlike types have no order: {against}") from None


def mixed(detail: str) -> ValueError:
    return ValueError(f"Mix of label input types (string and number): {detail}")


def checked(weight: NDArray[Any]) -> NDArray[Any]:
    """Weights as they can be summed: whole numbers stay whole."""
    if weight.dtype.kind == "c":
        raise ValueError("Complex data not supported: a weight is one number")
    if weight.ndim > 1:
        raise ValueError("Sample weights must be 1D array or scalar: one weight for each item")
    if weight.dtype.kind not in NUMBERS:
        raise TypeError("sample_weight holds other values than numbers")
    weight = weight if weight.dtype.kind in "biu" else weight.astype(np.float64)
    finite(weight, "sample_weight")
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number: nothing is left to score")
    return weight

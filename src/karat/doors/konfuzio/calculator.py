# SPDX-License-Identifier: Apache-2.0
"""Konfuzio's calculator of precision, recall and F1, for the doors of its evaluations."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np

from karat.score import ratio

COUNTS = ("tp", "fp", "fn", "tn")
SCORES = ("precision", "recall", "f1")
LOGGED = ("true positives", "false negatives", "true negatives", "false positives", "precision", "recall", "F1")
_UNDEFINED = {
    "precision": "TP and FP are zero, impossible to calculate precision.",
    "recall": "TP and FN are zero, recall is impossible to calculate.",
    "f1": "Precision and recall are zero, F1 is impossible to calculate.",
}

logger = logging.getLogger(__name__)


class EvaluationCalculator:
    """Precision, recall and F1 of four counts.

    >>> calculator = EvaluationCalculator(tp=3, fp=0, fn=1, tn=4)
    >>> calculator.precision, calculator.recall, round(calculator.f1, 4)
    (1.0, 0.75, 0.8571)
    """

    def __init__(
        self,
        tp: float = 0,
        fp: float = 0,
        fn: float = 0,
        tn: float = 0,
        zero_division: Any = "warn",
        *,
        strict: bool = False,
    ) -> None:
        check_zero_division(zero_division)
        self.tp, self.fp, self.fn, self.tn = tp, fp, fn, tn
        self.zero_division, self.strict = zero_division, strict

    @property
    def precision(self) -> Any:
        return self._value("precision", self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Any:
        return self._value("recall", self.tp, self.tp + self.fn)

    @property
    def f1(self) -> Any:
        return self._value("f1", self.tp, self.tp + 0.5 * (self.fp + self.fn))

    def _value(self, name: str, num: float, den: float) -> Any:
        value = float(ratio(num, den, "").value)
        return self._undefined(_UNDEFINED[name]) if np.isnan(value) else value

    def _undefined(self, message: str) -> Any:
        if self.zero_division == "error":
            raise ZeroDivisionError(message)
        if self.zero_division != "warn":
            return self.zero_division
        logger.info(message)
        if not self.strict:
            warnings.warn(f"{message} It is set to 0.", stacklevel=4)
        return 0

    def metrics_logging(self) -> None:
        """Log counts and scores."""
        for name, attribute in zip(LOGGED, ("tp", "fn", "tn", "fp", *SCORES), strict=True):
            logger.info("%s: %s", name, getattr(self, attribute))


def check_zero_division(value: Any) -> None:
    if not any(value is allowed or value == allowed for allowed in ("warn", "error", 0, None)):
        raise AssertionError("The value of zero_division has to be 'warn', 'error', 0 or None")

# SPDX-License-Identifier: Apache-2.0
"""karat's metrics as scorers of scikit-learn: for `make_scorer`, `cross_val_score` and searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from karat.api import evaluate
from karat.contexts import homes
from karat.evaluation import Score
from karat.exports.checked import checked


@dataclass(frozen=True)
class Function:
    """A metric as a function of true and predicted values, as `make_scorer` takes it; NaN where it is undefined.

    >>> Function("kappa")(["A", "B", "B"], ["A", "B", "A"])
    0.4
    """

    metric: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def __name__(self) -> str:
        return self.metric

    def score(self, y_true: Any, y_pred: Any, **more: Any) -> Score:
        return evaluate(y_true, y_pred, metrics=[self.metric], hashes=False, **more | self.options)[self.metric]

    def __call__(self, y_true: Any, y_pred: Any) -> float:
        value = self.score(y_true, y_pred).value
        return float("nan") if value is None else value


@dataclass(frozen=True)
class Scorer:
    """A metric as a scorer: called with an estimator, data and true values; what is better lower has its sign turned."""

    function: Function
    probabilities: bool = False
    """Is it a metric of probabilities? Then it asks the estimator for them, not for labels."""

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        if self.probabilities:
            score = self.function.score(y, estimator.predict_proba(X), classes=list(estimator.classes_))
        else:
            score = self.function.score(y, estimator.predict(X))
        if score.value is None:
            return float("nan")
        return -score.value if score.better == "lower" else score.value


def function(metric: str, **options: Any) -> Function:
    """The metric for `sklearn.metrics.make_scorer`; say there whether greater is better."""
    return Function(checked(metric), options)


def scorer(metric: str, **options: Any) -> Scorer:
    """The metric for the parameter ``scoring`` of scikit-learn."""
    contexts = homes(checked(metric))
    return Scorer(Function(metric, options), "probabilities" in contexts and not {"monolabel", "numbers"} & {*contexts})

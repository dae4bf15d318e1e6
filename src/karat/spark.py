# SPDX-License-Identifier: Apache-2.0
"""karat inside pipelines of Spark ML: an evaluator that says what it computes."""

from __future__ import annotations

from typing import Any

from pyspark import keyword_only
from pyspark.ml.evaluation import Evaluator as SparkEvaluator
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasLabelCol, HasPredictionCol

from karat.api import evaluate
from karat.contexts import catalogue
from karat.contexts import context as context_of
from karat.evaluation import Evaluation
from karat.metric import MetricError

__all__ = ["Evaluator"]


class Evaluator(SparkEvaluator, HasLabelCol, HasPredictionCol):  # type: ignore[misc]
    """Any metric of karat, for `CrossValidator`, `TrainValidationSplit` and by itself.

    ``metric`` is written as everywhere in karat (``accuracy``, ``f1``, ``f1(average=weighted)``), ``context`` says what
    the two columns hold. An undefined score stops the search: nobody can say whether it is better.
    """

    metric = Param(Params._dummy(), "metric", "metric of karat", TypeConverters.toString)
    context = Param(Params._dummy(), "context", "context of karat", TypeConverters.toString)

    @keyword_only  # type: ignore[untyped-decorator]
    def __init__(
        self, *, metric: str = "f1", labelCol: str = "label", predictionCol: str = "prediction",
        context: str = "monolabel",
    ) -> None:  # fmt: skip
        super().__init__()
        self._set(metric=metric, labelCol=labelCol, predictionCol=predictionCol, context=context)
        catalogue(context).resolve(metric)  # a metric that there is not is said now, and not after the first model

    def evaluation(self, dataset: Any) -> Evaluation:
        """Everything that karat says of the predictions: the score by class, counts and findings too."""
        label, prediction = self.getLabelCol(), self.getPredictionCol()
        data = dataset.select(label, prediction)
        columns = {"gold_value": label, "pred_value": prediction}
        context, metric = self.getOrDefault(self.context), self.getOrDefault(self.metric)
        return evaluate(data, context=context, metrics=[metric], columns=columns)

    def _evaluate(self, dataset: Any) -> float:
        score = next(iter(self.evaluation(dataset)))
        if score.value is None:
            raise MetricError(f"{score.metric} is undefined: {score.undefined}")
        return score.value

    def isLargerBetter(self) -> bool:
        known = catalogue(self.getOrDefault(self.context))
        return bool(known[known.resolve(self.getOrDefault(self.metric)).name].better != "lower")

    def __str__(self) -> str:
        name = self.getOrDefault(self.context)
        known, cells = catalogue(name), context_of(name).cells
        metric = known.resolve(self.getOrDefault(self.metric))
        return f"{known[metric.name].label(metric, cells)} ({metric}) of {self.getPredictionCol()} against {self.getLabelCol()}"

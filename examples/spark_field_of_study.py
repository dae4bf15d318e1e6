# SPDX-License-Identifier: Apache-2.0
"""Field-of-study labels of papers on Apache Spark: the accuracies by their names, and what "accuracy" used to be.

Run it as it is for a small made-up table, or give a Parquet table with the columns paperid, labels (all fields of study
of a paper) and predicted (the predicted ones, best first):

    python examples/spark_field_of_study.py hdfs:///papers/predicted.parquet

The same on the command line:

    karat evaluate papers.parquet --engine spark --gold-value labels --pred-value predicted \
        -m accuracy -m adjusted_accuracy -m average_accuracy@5
"""

from __future__ import annotations

import sys
from typing import Any

from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.sql import SparkSession

import karat
from karat.spark import Evaluator

PAPERS = [
    (1, ["physics"], ["physics", "optics"]),
    (2, ["physics", "mechanics"], ["physics", "mechanics"]),
    (3, ["optics"], ["physics", "optics", "mechanics"]),
    (4, ["optics", "physics"], ["optics"]),
]


def main(spark: SparkSession, path: str | None = None) -> dict[str, float]:
    """Print the three accuracies of label sets, and the two numbers that were taken for one."""
    schema = "paperid long, labels array<string>, predicted array<string>"
    papers = spark.read.parquet(path) if path else spark.createDataFrame(PAPERS, schema)
    metrics = ["accuracy", "adjusted_accuracy", "average_accuracy@5"]
    found = karat.evaluate(papers, columns={"gold_value": "labels", "pred_value": "predicted"}, metrics=metrics)
    print(found.render("table"))
    scores = {str(score.metric): float(score.value or 0) for score in found}
    return scores | what_accuracy_was(single_labels(papers))


def single_labels(papers: Any) -> Any:
    """The first label of each paper on either side, as the class numbers that Spark ML has."""
    from pyspark.sql import functions as F

    names = sorted(
        row[0] for row in papers.select(F.explode(F.array_union("labels", "predicted"))).distinct().collect()
    )
    number = F.create_map(*(part for i, name in enumerate(names) for part in (F.lit(name), F.lit(float(i)))))
    return papers.select(number[F.col("labels")[0]].alias("label"), number[F.col("predicted")[0]].alias("prediction"))


def what_accuracy_was(single: Any) -> dict[str, float]:
    """Spark's evaluator computes weighted F1 unless it is told otherwise; karat's says what it computes."""
    unnamed = MulticlassClassificationEvaluator(predictionCol="prediction").evaluate(single)
    accuracy, weighted = Evaluator(metric="accuracy"), Evaluator(metric="f1(average=weighted)")
    print(f"Spark's evaluator without a metricName:  {unnamed:.4f}")
    for evaluator in (accuracy, weighted):
        print(f"{evaluator}:  {evaluator.evaluate(single):.4f}")
    return {"unnamed": unnamed, "single accuracy": accuracy.evaluate(single), "weighted f1": weighted.evaluate(single)}


if __name__ == "__main__":
    main(SparkSession.builder.appName("field of study").getOrCreate(), *sys.argv[1:2])

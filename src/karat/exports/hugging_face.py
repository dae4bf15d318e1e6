# SPDX-License-Identifier: Apache-2.0
"""karat's metrics as modules of Hugging Face `evaluate`: compute(predictions=…, references=…), add_batch, combine."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from karat.api import evaluate as scored
from karat.exports.checked import checked
from karat.exports.flat import flat


def load(*metrics: str, kind: str = "int64", **options: Any) -> Any:
    """A module that computes the metrics; ``kind`` is the type of a label (``string`` for texts). Nothing is downloaded."""
    evaluate, datasets = import_module("evaluate"), import_module("datasets")
    names = [checked(name) for name in metrics] or ["default"]

    class Karat(evaluate.Metric):  # type: ignore[misc,name-defined]
        def _info(self) -> Any:
            features = datasets.Features({name: datasets.Value(kind) for name in ("predictions", "references")})
            return evaluate.MetricInfo(
                description=f"karat: {', '.join(names)}", citation="", inputs_description="", features=features
            )

        def _compute(self, predictions: Any, references: Any) -> dict[str, float]:
            evaluation = scored(list(references), list(predictions), metrics=names, hashes=False, **options)
            return flat(evaluation, undefined=float("nan"))

    return Karat()

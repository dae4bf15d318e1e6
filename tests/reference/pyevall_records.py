"""PyEvALL's recorded answers for classification, and its metrics and parameters in karat's words."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "data" / "pyevall.jsonl.gz"
CONTEXTS = {"mono": "monolabel", "multi": "multilabel"}
PER_CLASS = {"Precision": "precision", "Recall": "recall", "FMeasure": "f1"}
PLAIN = {
    "Accuracy": "accuracy",
    "SystemPrecision": "system_precision",
    "Kappa": "kappa",
    "ICM": "icm",
    "ICMNorm": "icm_norm",
}
MONO_ONLY = {"Accuracy", "SystemPrecision", "Kappa"}


def records(contexts: Iterable[str] = CONTEXTS) -> list[dict[str, Any]]:
    """The mono-label, multi-label and hierarchical ones, or those of other contexts."""
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [r for r in found if r["context"].split("-")[0] in contexts]


def context(record: dict[str, Any]) -> str:
    return CONTEXTS[record["context"].split("-")[0]]


def parameters(record: dict[str, Any], metric: str) -> dict[str, Any]:
    """What PyEvALL takes for the metric: numbers alone, those for the metric before those for all."""
    given = dict(record["params"])
    own = given.get("metric_params")
    own = own.get(metric) if isinstance(own, dict) else None
    merged = {**given, **(own if isinstance(own, dict) else {})}
    found = {k: v for k, v in merged.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}
    return {k: v for k, v in found.items() if k != "alfa_param" or 0 <= v <= 1}


def karat_metric(record: dict[str, Any], metric: str) -> str | None:
    """karat's text for the metric; PyEvALL averages over gold classes."""
    if metric in MONO_ONLY and context(record) != "monolabel":
        return None
    given = parameters(record, metric)
    if metric in ("ICM", "ICMNorm"):
        said = ",".join(f"{k}={given[k]}" for k in ("alpha_1", "alpha_2", "beta") if k in given)
        return f"{PLAIN[metric]}({said})" if said else PLAIN[metric]
    alpha = given.get("alfa_param", 0.5)
    if metric == "FMeasure" and alpha == 0:
        return "recall(classes=gold)"
    if metric == "FMeasure" and alpha != 0.5:
        return f"fbeta(beta={((1 - alpha) / alpha) ** 0.5!r},classes=gold)"
    return f"{PER_CLASS[metric]}(classes=gold)" if metric in PER_CLASS else PLAIN.get(metric)


def write(record: dict[str, Any], folder: Path) -> tuple[str, str]:
    paths = []
    for role in ("gold", "pred"):
        path = folder / role / record[f"{role}_file"]
        path.parent.mkdir(parents=True)
        path.write_bytes(record[role].encode(record.get("encoding") or "utf-8"))
        paths.append(str(path))
    return paths[0], paths[1]


def options(record: dict[str, Any]) -> dict[str, Any]:
    """Predictions for ids that gold lacks are wrong predictions to PyEvALL."""
    tree = record["params"].get("hierarchy")
    return {"extra": "wrong"} | ({"hierarchy": tree} if tree is not None else {})

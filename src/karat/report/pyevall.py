# SPDX-License-Identifier: Apache-2.0
"""An evaluation in the layout of PyEvALL's report, for scripts that read it."""

from __future__ import annotations

import json
import os
from typing import Any

from karat.evaluation import Evaluation, Score, SystemResult
from karat.findings import Finding

TITLES: dict[str, tuple[str, str]] = {
    "Accuracy": ("Accuracy", "Acc"),
    "SystemPrecision": ("System Precision", "SP"),
    "Kappa": ("Cohen's Kappa", "Kappa"),
    "Precision": ("Precision", "Pr"),
    "Recall": ("Recall", "Re"),
    "FMeasure": ("F-Measure", "F1"),
    "ICM": ("Information Contrast model", "ICM"),
    "ICMNorm": ("Normalized Information Contrast Model", "ICM-Norm"),
    "ICMSoft": ("Information Contrast Model Soft", "ICM-Soft"),
    "ICMSoftNorm": ("Normalized Information Contrast Model Soft", "ICM-Soft-Norm"),
    "CrossEntropy": ("Cross Entropy", "CE"),
    "MAE": ("Mean Absolute Error", "MAE"),
    "PrecisionAtK": ("Precision at k", "P@k"),
    "RPrecision": ("R Precision", "RPre"),
    "MRR": ("Mean Reciprocal Rank", "MRR"),
    "MAP": ("Mean Average Precision", "MAP"),
    "DCG": ("Discounted Cumulative Gain", "DCG"),
    "nDCG": ("Normalized Discounted Cumulative Gain", "nDCG"),
    "ERR": ("Expected Reciprocal Rank", "ERR"),
    "RBP": ("Rank Biased Precision", "RBP"),
    "Purity": ("Purity", "Pur"),
    "InversePurity": ("Inverse Purity", "InPur"),
    "FMeasurePurityInversePurity": ("F Measure", "F(P, I)"),
    "FMeasureClustering": ("F Measure", "F(P, R)"),
    "RandStatistics": ("Rand Statistics", "RandS"),
    "Jaccard": ("Jaccard", "JACC"),
    "FolkesAndMallows": ("Folkes and Mallows", "Folk"),
    "NMI-SG": ("Normalized Mutual Information SG", "NMI-SG"),
    "ReliabilityBCubed": ("Reliability", "R"),
    "SensitivityBCubed": ("Sensitivity", "S"),
    "Entropy": ("Entropy", "E"),
    "ClassEntropy": ("Class Entropy", "CE"),
    "VariationOfInformation": ("Variation of Information", "VI"),
}
"""PyEvALL's metrics: the report's title and acronym."""

NAMES = {
    "accuracy": "Accuracy",
    "system_precision": "SystemPrecision",
    "kappa": "Kappa",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "FMeasure",
    "icm": "ICM",
    "icm_norm": "ICMNorm",
    "icm_soft": "ICMSoft",
    "icm_soft_norm": "ICMSoftNorm",
    "cross_entropy": "CrossEntropy",
    "mae": "MAE",
    "r_precision": "RPrecision",
    "reciprocal_rank": "MRR",
    "average_precision": "MAP",
    "dcg": "DCG",
    "ndcg": "nDCG",
    "err": "ERR",
    "rbp": "RBP",
}
"""karat's metrics that PyEvALL has too; any other keeps karat's name."""


def render(evaluation: Evaluation) -> str:
    """PyEvALL's report; several systems become EVALUATION_1, EVALUATION_2, …"""
    reports = [document(evaluation, system) for system in evaluation.systems]
    several = {f"EVALUATION_{number}": report for number, report in enumerate(reports, 1)}
    return pretty(reports[0] if len(reports) == 1 else several) + "\n"


def document(evaluation: Evaluation, system: SystemResult) -> dict[str, Any]:
    gold = [source for source in evaluation.provenance.get("inputs", []) if source.get("role") == "gold"]
    named = os.path.basename(str(gold[0].get("path") or "gold")) if gold else "gold"
    inputs = [source for source in evaluation.provenance.get("inputs", []) if source.get("system") == system.name]
    file = os.path.basename(str(inputs[0].get("path") or system.name)) if inputs else system.name
    key = f"{named}_duplicate_0" if named == file else named
    metrics = dict(_metric(score) for score in system)
    return {
        "metrics": metrics,
        "files": {file: _file(file, False, system.findings), key: _file(named, True, system.findings)},
    }


def _metric(score: Score) -> tuple[str, dict[str, Any]]:
    plain = str(score.metric) == score.metric.name
    key = NAMES.get(score.metric.name, str(score.metric)) if plain else str(score.metric)
    title, acronym = TITLES.get(key, (score.label, str(score.metric)))
    classes: dict[str, dict[str, float | None]] = {}
    for part in score.class_parts():
        classes.setdefault(part.test_case or "", {})[part.label or ""] = part.value
    cases = [
        {"name": name, **({"classes": classes[name]} if name in classes else {}), "average": part.value}
        for name, part in score.by_test_case.items()
    ]
    described = score.undefined or f"{score.label}; `karat metrics {score.metric.name}` has the definition."
    status = "OK" if score.undefined is None else "FAIL"
    results = {"test_cases": cases, "average_per_test_case": score.value}
    return key, {"name": title, "acronym": acronym, "description": described, "status": status, "results": results}


def _file(name: str, gold: bool, findings: list[Finding]) -> dict[str, Any]:
    """karat's findings under their own codes, each with its records."""
    errors: dict[str, dict[str, Any]] = {}
    for f in [f for f in findings if f.file and os.path.basename(f.file) == name]:
        entry = errors.setdefault(f.code, {"lines": [], "description": f.message, "status": "CONTINUE"})
        entry["lines"] += [f.line] if f.line else []
    status = "WARNING" if errors else "OK"
    described = f"{name}: {len(errors)} kinds of findings." if errors else f"{name} was read without a finding."
    return {"name": name, "status": status, "gold": gold, "description": described, "errors": errors}


def pretty(value: Any, indent: str = "") -> str:
    """JSON with two blanks of indent, objects of an array sharing its brackets' lines."""
    if isinstance(value, dict) and value:
        inner = ",\n".join(
            f"{indent}  {json.dumps(key, ensure_ascii=False)}: {pretty(item, indent + '  ')}"
            for key, item in value.items()
        )
        return f"{{\n{inner}\n{indent}}}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(pretty(item, indent) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)

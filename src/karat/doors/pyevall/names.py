# SPDX-License-Identifier: Apache-2.0
"""PyEvALL's words: parameters, options, and its 33 metrics with their titles and contexts."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class PyEvALLUtils:
    """Names of the parameters of an evaluation and of their options."""

    PARAM_REPORT = "report"
    PARAM_OPTION_REPORT_SIMPLE = "simple"
    PARAM_OPTION_REPORT_EMBEDDED = "embedded"
    PARAM_OPTION_REPORT_DATAFRAME = "dataframe"
    PARAM_LOG_LEVEL = "log_level"
    PARAM_OPTION_LOG_LEVEL_DEBUG = "debug"
    PARAM_OPTION_LOG_LEVEL_INFO = "info"
    PARAM_OPTION_LOG_LEVEL_NONE = "none"
    PARAM_HIERARCHY = "hierarchy"
    PARAM_FORMAT = "format"
    PARAM_OPTION_FORMAT_JSON = "json"
    PARAM_OPTION_FORMAT_TSV = "tsv"
    PARAM_OPTION_FORMAT_CSV = "csv"


class MetricFactory(Enum):
    """The metrics by name; a member is accepted wherever its ``value`` is."""

    Accuracy = "Accuracy"
    SystemPrecision = "SystemPrecision"
    Kappa = "Kappa"
    Precision = "Precision"
    Recall = "Recall"
    FMeasure = "FMeasure"
    ICM = "ICM"
    ICMNorm = "ICMNorm"
    ICMSoft = "ICMSoft"
    ICMSoftNorm = "ICMSoftNorm"
    CrossEntropy = "CrossEntropy"
    MAE = "MAE"
    PrecisionAtK = "PrecisionAtK"
    RPrecision = "RPrecision"
    MRR = "MRR"
    MAP = "MAP"
    DCG = "DCG"
    nDCG = "nDCG"
    ERR = "ERR"
    RBP = "RBP"
    Purity = "Purity"
    InversePurity = "InversePurity"
    FMeasurePurityInversePurity = "FMeasurePurityInversePurity"
    FMeasureClustering = "FMeasureClustering"
    RandStatistics = "RandStatistics"
    Jaccard = "Jaccard"
    FolkesAndMallows = "FolkesAndMallows"
    NMISG = "NMI-SG"
    ReliabilityBCubed = "ReliabilityBCubed"
    SensitivityBCubed = "SensitivityBCubed"
    Entropy = "Entropy"
    ClassEntropy = "ClassEntropy"
    VariationOfInformation = "VariationOfInformation"

    @classmethod
    def get_lst_all_metrics(cls) -> list[MetricFactory]:
        """Every metric, in the order above."""
        return list(cls)


class Facts(NamedTuple):
    """How the report names a metric, and which kinds of value it takes."""

    title: str
    acronym: str
    kinds: tuple[str, ...]


MONO, SETS, SOFT, RANKING = ("mono",), ("mono", "multi"), ("soft",), ("ranking",)
CLUSTERS = ("multi",)

METRICS: dict[str, Facts] = {
    "Accuracy": Facts("Accuracy", "Acc", MONO),
    "SystemPrecision": Facts("System Precision", "SP", MONO),
    "Kappa": Facts("Cohen's Kappa", "Kappa", MONO),
    "Precision": Facts("Precision", "Pr", SETS),
    "Recall": Facts("Recall", "Re", SETS),
    "FMeasure": Facts("F-Measure", "F1", SETS),
    "ICM": Facts("Information Contrast model", "ICM", SETS),
    "ICMNorm": Facts("Normalized Information Contrast Model", "ICM-Norm", SETS),
    "ICMSoft": Facts("Information Contrast Model Soft", "ICM-Soft", SOFT),
    "ICMSoftNorm": Facts("Normalized Information Contrast Model Soft", "ICM-Soft-Norm", SOFT),
    "CrossEntropy": Facts("Cross Entropy", "CE", SOFT),
    "MAE": Facts("Mean Absolute Error", "MAE", SOFT),
    "PrecisionAtK": Facts("Precision at k", "P@k", RANKING),
    "RPrecision": Facts("R Precision", "RPre", RANKING),
    "MRR": Facts("Mean Reciprocal Rank", "MRR", RANKING),
    "MAP": Facts("Mean Average Precision", "MAP", RANKING),
    "DCG": Facts("Discounted Cumulative Gain", "DCG", RANKING),
    "nDCG": Facts("Normalized Discounted Cumulative Gain", "nDCG", RANKING),
    "ERR": Facts("Expected Reciprocal Rank", "ERR", RANKING),
    "RBP": Facts("Rank Biased Precision", "RBP", RANKING),
    "Purity": Facts("Purity", "Pur", CLUSTERS),
    "InversePurity": Facts("Inverse Purity", "InPur", CLUSTERS),
    "FMeasurePurityInversePurity": Facts("F Measure", "F(P, I)", CLUSTERS),
    "FMeasureClustering": Facts("F Measure", "F(P, R)", CLUSTERS),
    "RandStatistics": Facts("Rand Statistics", "RandS", CLUSTERS),
    "Jaccard": Facts("Jaccard", "JACC", CLUSTERS),
    "FolkesAndMallows": Facts("Folkes and Mallows", "Folk", CLUSTERS),
    "NMI-SG": Facts("Normalized Mutual Information SG", "NMI-SG", CLUSTERS),
    "ReliabilityBCubed": Facts("Reliability", "R", CLUSTERS),
    "SensitivityBCubed": Facts("Sensitivity", "S", CLUSTERS),
    "Entropy": Facts("Entropy", "E", CLUSTERS),
    "ClassEntropy": Facts("Class Entropy", "CE", CLUSTERS),
    "VariationOfInformation": Facts("Variation of Information", "VI", CLUSTERS),
}


def canonical(name: object) -> str:
    """The report's key for a metric given as text or as a member; PyEvALL takes NMISG for NMI-SG."""
    text = str(name.value if isinstance(name, MetricFactory) else name)
    return "NMI-SG" if text == "NMISG" else text

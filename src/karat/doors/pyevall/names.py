# SPDX-License-Identifier: Apache-2.0
"""PyEvALL's words: parameters, options, and its 33 metrics with their titles and contexts."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from karat.report.pyevall import TITLES


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


MONO, SETS, SOFT, RANKING, CLUSTERS = ("mono",), ("mono", "multi"), ("soft",), ("ranking",), ("multi",)
KINDS = [MONO] * 3 + [SETS] * 5 + [SOFT] * 4 + [RANKING] * 8 + [CLUSTERS] * 13
"""Kinds of value of each metric, in the order of the titles."""
METRICS = {key: Facts(*titles, kinds) for (key, titles), kinds in zip(TITLES.items(), KINDS, strict=True)}


def canonical(name: object) -> str:
    """The report's key for a metric given as text or as a member; PyEvALL takes NMISG for NMI-SG."""
    text = str(name.value if isinstance(name, MetricFactory) else name)
    return "NMI-SG" if text == "NMISG" else text


_ARGUMENTS = "{}.__init__() missing 3 required positional arguments: {}"
NOT_METRICS: dict[str, Exception] = {
    **dict.fromkeys(("math", "np", "pd"), TypeError("'module' object is not callable")),
    **dict.fromkeys(("__name__", "__file__", "__package__", "__cached__"), TypeError("'str' object is not callable")),
    "__doc__": TypeError("'NoneType' object is not callable"),
    "__builtins__": TypeError("'dict' object is not callable"),
    "__loader__": TypeError("'SourceFileLoader' object is not callable"),
    "__spec__": TypeError("'ModuleSpec' object is not callable"),
    "NormalDist": ValueError("could not convert string to float: 'NormalDist'"),
    "MetricFactory": ValueError("'MetricFactory' is not a valid MetricFactory"),
    "PyEvALLUtils": TypeError("PyEvALLUtils() takes no arguments"),
    "PyEvALLReport": TypeError("PyEvALLReport.__init__() takes 1 positional argument but 2 were given"),
    "PyEvALLMetric": TypeError(_ARGUMENTS.format("PyEvALLMetric", "'name', 'acronym', and 'evaluation_id'")),
    "PyEvALLComparator": TypeError(_ARGUMENTS.format("PyEvALLComparator", "'g_df', 'tc', and 'evaluation_id'")),
    "PyEvALLFormat": TypeError(_ARGUMENTS.format("PyEvALLFormat", "'pred_file', 'gold_file', and 'evaluation_id'")),
}
"""What PyEvALL raises for names that its module of metrics holds beside the metrics; a random id stands in two texts."""

# SPDX-License-Identifier: Apache-2.0
"""Every code a report can hold, and what it says to the reader."""

from __future__ import annotations

TSV = "FORMAT_TSV_FORMAT_IDENTIFIED_WARNING"
CSV = "FORMAT_CSV_FORMAT_IDENTIFIED_WARNING"
NOT_THERE = "FORMAT_FILE_NOT_EXIST_ERROR"
EMPTY = "FORMAT_EMPTY_FILE_ERROR"
UNREADABLE = "FORMAT_INCORRECT_JSON_ERROR"
SCHEMA = "FORMAT_INCORRECT_SCHEMA_JSON_ERROR"
REPEATED_ID = "FORMAT_IDS_REPEATED_ROW_ERROR"
EMPTY_TAG = "FORMAT_CLUSTER_EMPTY_TAG_IN_VALUE_ROW_ERROR"
REPEATED_TAG = "FORMAT_CLUSTER_DUPLICATED_TAG_IN_VALUE_ROW_ERROR"
EMPTY_VALUE = "FORMAT_EMPTY_VALUE_ROW_WARNING"
MIXED = "FORMAT_DIFFERENTE_TYPES_IN_VALUE_FIELD_ERROR"
UNLIKE = "FORMAT_DIFFERENT_TYPES_IN_VALUE_GOLD_AND_PRED"

UNKNOWN_METRIC = "METRIC_UNKONW_METRIC_ERROR"
NO_TEST_CASE = "METRIC_NOT_TEST_CASE_IN_COMMON_ERROR"

WRONG_CONTEXT = "METRIC_PRECONDITION_NOT_VALID_FORMAT_FOR_CONTEXT_EVALUATION"
NEEDS_HIERARCHY = "METRIC_PRECONDITION_NOT_IMPLEMENTED_EVALUATION_CONTEXT"
NO_PREDICTIONS = "METRIC_PRECONDITION_EMPTY_PREDICTIONS_ERROR"
ONE_CLASS = "METRIC_PRECONDITION_1_CLASS_GOLDANDPRED_AND_SAME_INSTANCES_ERROR"
HIERARCHY_UNUSED = "METRIC_PRECONDITION_HIERARCHY_NOT_VALID_FOR_METRIC"
TIED_RELEVANCE = "METRIC_PRECONDITION_DUPLICATED_VALUES_RANKING"
GOLD_ITEMS_MISSING = "METRIC_PRECONDITION_CLUSTERING_PREDICTION_MISSING_GOLD_ITEMS"
OVERLAP = "METRIC_PRECONDITION_NO_ITEMS_REPEATED_FOR_THE_SAME_CLUSTER"
NO_PAIRS = "METRIC_PRECONDITION_CLUSTERING_NO_POSITIVE_PAIRS"

PARAMS_NOT_DICT = "METRIC_PARAMS_NOT_DICT_WARNING"
PARAMS_OF_METRIC_NOT_DICT = "METRIC_PARAMS_FOR_METRIC_NOT_DICT_WARNING"

FAILING = {WRONG_CONTEXT, NEEDS_HIERARCHY, NO_PREDICTIONS, ONE_CLASS, GOLD_ITEMS_MISSING, OVERLAP, NO_PAIRS}


def bad_param(name: str) -> str:
    """The warning for a parameter whose value cannot be used; k_param is called K in it."""
    return f"METRIC_PARAM_{name.removesuffix('_param').upper()}_NOT_VALID_WARNING"


TEXTS: dict[str, str] = {
    TSV: "The content is tab-separated; it was read as such.",
    CSV: "The content is comma-separated; it was read as such.",
    NOT_THERE: "There is no file at this path.",
    EMPTY: "The file holds nothing to evaluate.",
    UNREADABLE: "The content is neither JSON nor a table separated by tabs or commas.",
    SCHEMA: "A record does not have exactly test_case (text), id (text) and value (label, labels, rank or weights).",
    REPEATED_ID: "An id stands more than once in a test case; its first record counts.",
    EMPTY_TAG: "A list of labels holds an empty label; it was taken out.",
    REPEATED_TAG: "A list of labels holds a label twice; it counts once.",
    EMPTY_VALUE: "The value is empty; the record was left out.",
    MIXED: "One test case holds values of different kinds; it was left out.",
    UNLIKE: "Gold and predictions of a test case hold values of different kinds; it was left out.",
    UNKNOWN_METRIC: "No metric has this name.",
    NO_TEST_CASE: "No test case of gold could be evaluated against the predictions.",
    WRONG_CONTEXT: "The metric is not defined for values of this kind.",
    NEEDS_HIERARCHY: "The metric needs a hierarchy when items have several labels.",
    NO_PREDICTIONS: "The metric needs at least one prediction.",
    ONE_CLASS: "Gold and predictions use one and the same class for the same items: chance agreement is complete.",
    HIERARCHY_UNUSED: "The metric takes no notice of the hierarchy.",
    TIED_RELEVANCE: "Several documents have the same relevance in gold.",
    GOLD_ITEMS_MISSING: "The metric needs a predicted cluster for every gold item.",
    OVERLAP: "The metric needs every item to be in one cluster only.",
    NO_PAIRS: "No two items share a cluster, so the metric has nothing to divide by.",
    PARAMS_NOT_DICT: "metric_params is not a dictionary; defaults were used.",
    PARAMS_OF_METRIC_NOT_DICT: "The parameters given for this metric are not a dictionary; defaults were used.",
    **{
        bad_param(name): f"{name} cannot take this value; its default was used."
        for name in ("alfa_param", "alpha_1", "alpha_2", "beta", "k_param", "r_param", "p_param")
    },
}

UNUSED = (
    "FORMAT_NO_HEADERS_ROW_ERROR", "FORMAT_NUMBER_COLUMNS_ROW_ERROR", "FORMAT_EMPTY_VALUE_ROW_ERROR",
    "METRIC_PRECONDITION_CLUSTERING_PREDICTION_ITEMS_WITHOUT_CLUSTER",
)  # fmt: skip
"""Codes that PyEvALL names and never gives."""


class PyEvALLReport:
    """The words of a report, as PyEvALL's scripts name them.

    >>> PyEvALLReport.AVERAGE_PER_TC_TAG, PyEvALLReport.FORMAT_EMPTY_FILE_ERROR
    ('average_per_test_case', 'FORMAT_EMPTY_FILE_ERROR')
    """

    OK, FAIL, WARNING, STOP, CONTINUE, UNKNOWN = "OK", "FAIL", "WARNING", "STOP", "CONTINUE", "UNKNOWN"
    METRIC_TAG, FILES_TAG, NAME_TAG, ACRONYM_TAG = "metrics", "files", "name", "acronym"
    DESCRIPTION_TAG, STATUS_TAG, GOLD_TAG, ERRORS_TAG = "description", "status", "gold", "errors"
    WARNINGS_TAG, LINES_TAG, EXCEPTION_TAG, CLASSES_TAG = "warnings", "lines", "exception", "classes"
    RESULTS_TAG, TEST_CASES_TAG, AVERAGE_TAG = "results", "test_cases", "average"
    AVERAGE_PER_TC_TAG, PRECONDITIONS_TAG = "average_per_test_case", "preconditions"


for _code in (*TEXTS, *UNUSED):
    setattr(PyEvALLReport, _code, _code)

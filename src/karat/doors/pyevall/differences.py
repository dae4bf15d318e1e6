# SPDX-License-Identifier: Apache-2.0
"""Where the default and PyEvALL part, and why: the page's table, and findings for the data that it can happen with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.doors.kit.differences import Difference
from karat.doors.pyevall.rows import TestCase

Cases = Sequence[TestCase]


def always(case: TestCase, cases: Cases) -> bool:
    return True


def several(case: TestCase, cases: Cases) -> bool:
    return len(cases) > 1


def tied(case: TestCase, cases: Cases) -> bool:
    return len(set(case.pred.values())) < len(case.pred) > 16


def equal_grades(case: TestCase, cases: Cases) -> bool:
    return len(set(case.gold.values())) < len(case.gold)


def by_key(case: TestCase, cases: Cases) -> bool:
    return case.key != "id"


def negative(case: TestCase, cases: Cases) -> bool:
    return any(grade < 0 for grade in case.gold.values())


def graded(case: TestCase, cases: Cases) -> bool:
    return any(grade > 1 or grade < 0 for grade in case.gold.values())


def one_cluster(case: TestCase, cases: Cases) -> bool:
    return any(len({tuple(labels) for labels in side.values()}) == 1 for side in (case.gold, case.pred))


def no_pair(case: TestCase, cases: Cases) -> bool:
    return len(case.gold) < 2


def overlapping(case: TestCase, cases: Cases) -> bool:
    return any(len(labels) > 1 for labels in case.pred.values())


def column_names(case: TestCase, cases: Cases) -> bool:
    return any({"test_case", "id", "value"} & weights.keys() for weights in case.gold.values())


BINARY, GRADED = ("PrecisionAtK", "RPrecision", "MRR", "MAP"), ("DCG", "nDCG", "ERR", "RBP")
SCORES = [
    Difference("ICM with several test cases", "class probabilities outlive their test case", "each test case by itself", ("ICM",), several),
    Difference("ICMSoft with several test cases", "fails, or mixes their classes", "each test case by itself", ("ICMSoft",), several),
    Difference("ICMNorm, gold of one class or one item", "the whole report is lost", "undefined"),
    Difference("ICMSoft, ICMSoftNorm", "mean absolute deviation; rare weights lose their information", "standard deviation, as in the paper", ("ICMSoft", "ICMSoftNorm"), always),
    Difference("CrossEntropy", "a missing prediction costs nothing, weights of 0 become 0.001", "what is missing costs", ("CrossEntropy",), always),
    Difference("MAE with several test cases", "classes of earlier test cases count", "each test case by itself", ("MAE",), several),
    Difference("classes called `id`, `value`, `test_case`", "lost or overwritten", "classes like any other", ("ICMSoft", "MAE"), column_names),
    Difference("P@k, R-Precision, MRR, MAP with `id` before `test_case` in the records", "0", "the field's name counts, not its place", BINARY, by_key),
    Difference("equal ranks in more than 16 rows", "order of an unstable sort, which depends on the processor", "order of the file", BINARY + GRADED, tied),
    Difference("warning of equal values", "looks at gold's grades", "looks at the ranks", BINARY + GRADED, equal_grades),
    Difference("negative grades in DCG, nDCG, ERR", "subtracted, so that nDCG can pass 1", "gain 0", ("DCG", "nDCG", "ERR"), negative),
    Difference("grades in RBP", "raw, so that scores pass 1", "shares of the highest grade", ("RBP",), graded),
    Difference("Entropy, ClassEntropy", "joint shares: perfect clusters do not score 0", "conditional entropy", ("Entropy", "ClassEntropy"), always),
    Difference("VariationOfInformation", "a sum over items, those outside gold included", "bits per gold item; undefined where clusters overlap", ("VariationOfInformation",), always),
    Difference("NMI-SG, a side of one cluster", "undefined", "1 if both are, else 0", ("NMI-SG",), one_cluster),
    Difference("RandStatistics without a pair", "0", "undefined", ("RandStatistics",), no_pair),
    Difference("ReliabilityBCubed, overlapping clusters", "an item can be left out of its own mates", "it never is", ("ReliabilityBCubed",), overlapping),
    Difference("mean over test cases", "undefined counts as 0", "undefined is left out, and said"),
    Difference("a gold id once empty and once not", "accepted, its prediction dropped", "repeated-id error"),
]  # fmt: skip

READING = {
    "same-name": Difference("gold and prediction tables of the same file name", "gold is scored against gold", "read apart"),
    "bom": Difference("TSV and CSV with a byte-order mark", "the header behind it is a record", "the mark is skipped"),
    "header-case": Difference("TSV and CSV, a header in other case or with blanks", "a record, or refused", "the header"),
    "missing-words": Difference("TSV and CSV, `NA`, `None`, `null` and the like", "their records are dropped", "labels"),
    "number-labels": Difference("TSV and CSV, labels that are numbers", "ranks", "labels, as in JSON"),
    "blank-lines": Difference("TSV and CSV with blank lines", "refused", "blank lines are skipped"),
    "table": Difference("TSV and CSV: quotes that do not close, short lines, numbers behind the tenth decimal", "swallow lines, are filled, are cut", "a line is a record, as it stands"),
    "whole-floats": Difference("whole numbers written as `1.0`", "no metric knows them", "ranks"),
    "json-lines": Difference("JSON Lines", "taken for comma-separated text", "read"),
}  # fmt: skip
"""By the name of what a reader noticed."""

CALLS = [
    Difference("`{\"FMeasure\": {\"alfa_param\": 0.9}}`", "without effect", "as the manual shows"),
    Difference("parameters that are NaN or infinite; NumPy's numbers", "taken; refused", "refused with the code of a bad parameter; taken"),
    Difference("an unknown `report`", "`None`", "`ValueError`"),
]  # fmt: skip

DIFFERENCES = [*SCORES, *READING.values(), *CALLS]


def remarks(metric: str, case: TestCase, cases: Cases) -> Iterator[str]:
    """Sentences for one metric on one test case."""
    for difference in SCORES:
        if metric in difference.metrics and difference.applies(case, cases):
            yield f"{metric}: {difference.sentence('PyEvALL')}"

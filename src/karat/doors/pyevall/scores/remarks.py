# SPDX-License-Identifier: Apache-2.0
"""Where the default score and PyEvALL's part, and why: said for the data that it can happen with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from karat.doors.pyevall.rows import TestCase

Applies = Callable[[TestCase, Sequence[TestCase]], bool]


def several(case: TestCase, cases: Sequence[TestCase]) -> bool:
    return len(cases) > 1


def always(case: TestCase, cases: Sequence[TestCase]) -> bool:
    return True


def tied(case: TestCase, cases: Sequence[TestCase]) -> bool:
    return len(set(case.pred.values())) < len(case.pred) > 16


def equal_grades(case: TestCase, cases: Sequence[TestCase]) -> bool:
    return len(set(case.gold.values())) < len(case.gold)


def by_key(case: TestCase, cases: Sequence[TestCase]) -> bool:
    return case.key != "id"


def negative(case: TestCase, cases: Sequence[TestCase]) -> bool:
    return any(grade < 0 for grade in case.gold.values())


def graded(case: TestCase, cases: Sequence[TestCase]) -> bool:
    return any(grade > 1 or grade < 0 for grade in case.gold.values())


def one_cluster(case: TestCase, cases: Sequence[TestCase]) -> bool:
    return any(len({tuple(labels) for labels in side.values()}) == 1 for side in (case.gold, case.pred))


def overlapping(case: TestCase, cases: Sequence[TestCase]) -> bool:
    return any(len(labels) > 1 for labels in case.pred.values())


def column_names(case: TestCase, cases: Sequence[TestCase]) -> bool:
    return any({"test_case", "id", "value"} & weights.keys() for weights in case.gold.values())


BY_KEY = "the id is read by name; PyEvALL takes the records' second field for it, and scores 0"
EQUAL = "equal values are warned about where ranks are equal; PyEvALL looks at gold's grades instead"
TIES = "equal ranks keep the file's order; PyEvALL's order is that of an unstable sort"
COLUMNS = "a class is called like a column (test_case, id, value); PyEvALL loses it"
RULES: dict[str, list[tuple[Applies, str]]] = {
    "ICM": [(several, "each test case has its own class probabilities; PyEvALL's outlive their test case")],
    "ICMSoft": [
        (always, "the deviation is the standard one, and rare weights keep their information; PyEvALL takes the mean "
                 "absolute deviation and gives log2 n where it underflows"),
        (several, "each test case is scored by itself; PyEvALL fails or mixes classes with several"),
        (column_names, COLUMNS),
    ],
    "ICMSoftNorm": [(always, "the deviation is the standard one; PyEvALL takes the mean absolute deviation")],
    "CrossEntropy": [
        (always, "weights are taken as they are and what is not predicted costs; PyEvALL raises weights of 0 to 0.001 "
                 "and lets a missing prediction cost nothing")
    ],
    "MAE": [
        (several, "each test case has its own classes; PyEvALL adds those of earlier ones"),
        (column_names, COLUMNS),
    ],
    **{name: [(by_key, BY_KEY), (tied, TIES), (equal_grades, EQUAL)] for name in ("PrecisionAtK", "RPrecision", "MRR", "MAP")},
    "DCG": [(tied, TIES), (equal_grades, EQUAL), (negative, "negative grades gain 0; PyEvALL subtracts for them")],
    "nDCG": [(tied, TIES), (equal_grades, EQUAL), (negative, "negative grades gain 0; PyEvALL subtracts for them, and can pass 1")],
    "ERR": [(tied, TIES), (equal_grades, EQUAL), (negative, "negative grades gain 0; PyEvALL subtracts for them")],
    "RBP": [(tied, TIES), (equal_grades, EQUAL), (graded, "grades are shares of the highest; PyEvALL takes them raw, and can pass 1")],
    "Entropy": [(always, "the entropy is of gold clusters within each predicted one; PyEvALL's uses joint shares")],
    "ClassEntropy": [(always, "the entropy is of predicted clusters within each gold one; PyEvALL's uses joint shares")],
    "VariationOfInformation": [(always, "bits per gold item; PyEvALL sums over items, those that gold lacks included")],
    "NMI-SG": [(one_cluster, "a side of one cluster shares all (1) or nothing (0) with the other; PyEvALL leaves it undefined")],
    "RandStatistics": [(lambda case, cases: len(case.gold) < 2, "undefined without a pair; PyEvALL gives 0")],
    "ReliabilityBCubed": [(overlapping, "an item counts among its mates; PyEvALL leaves it out where all overlap")],
}  # fmt: skip


def remarks(metric: str, case: TestCase, cases: Sequence[TestCase]) -> Iterator[str]:
    """Sentences for one metric on one test case."""
    for applies, what in RULES.get(metric, ()):
        if applies(case, cases):
            yield f"{metric}: {what}"

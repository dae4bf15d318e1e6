"""How each recorded answer of PyEvALL 0.2.11 that karat's defaults do not repeat comes about.

Four groups; a record in none of them is repeated as it stands. Only two are differences, and each of those is named
after a bug: PyEvALL's number (or crash) is the bug, and the right value comes from `plain`, which knows neither tool.
"""

from __future__ import annotations

from typing import NamedTuple

PROVEN = {
    "Q2": "gold and predictions of one file name are converted into one temporary file",
    "Q5": "class probabilities of one test case stay for the next",
    "Q9": "a header that is not byte for byte test_case, id, value becomes a record",
    "Q12": "the normalised ICM divides by gold's own ICM where that is 0, and crashes",
    "Q16": "a gold class that the hierarchy lacks is written into the caller's hierarchy; into a list that crashes",
    "Q21": "a table does not score as the same JSON: types are guessed, blank lines refused, open quotes and short rows taken",
    "Q23": "of a gold id given twice, once without a value, the prediction is dropped and the valid gold stays",
    "Q29": "one test case where kappa is undefined takes the value of all others away",
    "Q31": "an unknown report gives None, without a word",
    "Q33": "null for a hierarchy's children crashes",
    "header blanks": "blanks are stripped to recognise the header and not to read it: no column is found by its name",
}
"""The bugs, by their number in the list of those proved by running it. The last one has no number; it is proved by
`test_blanks_in_a_header_are_the_only_cause`."""


class Bug(NamedTuple):
    """Why PyEvALL's numbers are wrong, and which (all of the record's, if none is named)."""

    name: str
    why: str
    metrics: tuple[str, ...] = ()


WRONG: dict[str, Bug] = {
    "mono_multi_tc_2": Bug("Q5", "t2 predicts a class with the probability that it had in t0", ("ICM",)),
    "mono_icm_tc_leak_ab": Bug("Q5", "A of t1 is predicted in t2", ("ICM",)),
    "mono_icm_unseen_cached_across_tc": Bug("Q5", "U, which gold lacks, keeps the 1/4 of t1 in t2, where it is 1/2", ("ICM",)),
    "mono_single_class_icmnorm": Bug("Q12", "one class"),
    "multi_single_class_icmnorm": Bug("Q12", "one class"),
    "mono_same_id_other_tc": Bug("Q12", "one class in t2; every other metric is lost with it"),
    "mono_param_icm_06": Bug("Q12", "α1 + α2 = β"),
    "mono_kappa_fails_second_tc": Bug("Q29", "t2 has one class", ("Kappa",)),
    "mono_hier_none_child": Bug("Q33", '{"A": null, "B": null}'),
    "multi_hier_list_missing_class": Bug("Q16", 'the hierarchy is ["A"], and gold has B'),
    "mono_same_name_tsv": Bug("Q2", "both are data.tsv, so gold is scored against gold"),
    "mono_tsv_bom": Bug("Q9", "a byte-order mark stands before it"),
    "mono_csv_header_order": Bug("Q9", "it is id, test_case, value: 1 and 2 are read as test cases"),
    "mono_report_invalid": Bug("Q31", "report=xml"),
    "mono_csv_na_labels": Bug("Q21", "NA, None, null, n/a, nan, NaN and NULL are dropped as empty"),
    "mono_csv_numeric_labels": Bug("Q21", "labels 0 and 1 make the table a ranking", ("Accuracy",)),
    "mono_tsv_mixed_numeric_labels": Bug("Q21", "labels 1 and A are of two types"),
    "mono_tsv_blank_line_end": Bug("Q21", "a blank line at the end"),
    "mono_csv_blank_line_mid": Bug("Q21", "a blank line between"),
    "mono_tsv_header_spaces": Bug("header blanks", "the header is 'test_case ', 'id', ' value'"),
}  # fmt: skip
"""PyEvALL gives a wrong number or none; karat gives the right one."""

WRONGLY_SCORED: dict[str, tuple[Bug, str]] = {
    "mono_gold_id_valid_and_empty": (Bug("Q23", "id 1 is A, and is empty"), "empty-value repeated-id"),
    "mono_tsv_open_quote": (Bug("Q21", "four rows are merged into two"), "bad-quote"),
    "mono_csv_open_quote": (Bug("Q21", "four rows are merged into two"), "bad-quote"),
    "mono_tsv_short_row": (Bug("Q21", "a row without a value; schema_missing_value is its JSON, which is refused"), "bad-row"),
}  # fmt: skip
"""PyEvALL gives a number where none can be given; karat refuses with these findings."""

OPTIONS: dict[str, dict[str, str]] = {
    "mono_missing_tc_in_pred": {"missing": "skip"},
    "mono_empty_gold_value": {"faulty": "drop"},
    "mono_all_pred_empty": {"faulty": "drop"},
    "mono_csv_empty_value": {"faulty": "drop"},
    "mono_tsv_dup_pred": {"faulty": "drop"},
    "mono_csv_dup_pred": {"faulty": "drop"},
    "multi_empty_gold_list": {"faulty": "drop"},
    "multi_empty_label_pred": {"faulty": "drop"},
}
"""PyEvALL's numbers are repeated under an option of karat."""

OPTIONS_OF_METRIC = {("mono_all_pred_empty", "Kappa"): {"faulty": "drop", "missing": "skip"}}
"""A metric that takes another option than the rest of its record: PyEvALL counts missing predictions as wrong, but
refuses kappa where all are missing."""

REFUSED: dict[str, str] = {
    "mono_no_common_tc": "no-common-cases",
    "mono_all_gold_empty": "empty-value",
    "mono_mixed_types_gold": "wrong-type",
    "mono_mixed_types_pred": "wrong-type",
    "mono_csv_dup_gold": "repeated-id",
    "mono_same_name_json_gold_error": "repeated-id",
    "mono_tsv_first_line_long": "missing-column",
    "mono_csv_first_line_long": "missing-column",
    "mono_csv_long_row": "bad-row",
    "mono_csv_two_columns": "no-common-cases",
    "multi_empty_label_gold": "empty-value",
    "multi_dup_label_gold": "repeated-gold-label",
    "multi_csv_unquoted": "missing-column",
    "multi_tsv_list_of_ints": "wrong-type",
    "multi_tsv_bad_list": "wrong-values",
    "multi_tsv_one_bad_list": "wrong-values",
}
"""PyEvALL gives no number and says that the input is at fault; karat refuses with these findings."""

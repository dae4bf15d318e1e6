# SPDX-License-Identifier: Apache-2.0
"""Everything karat can say about an input: code, severity, message and the way out."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]


class Kind(NamedTuple):
    """A sort of finding: the texts are `str.format` templates."""

    severity: Severity
    message: str
    hint: str


KINDS: dict[str, Kind] = {
    # files
    "file-missing": Kind("error", "there is no such file", "check the path: {path}"),
    "file-is-directory": Kind("error", "this is a directory, not a file", "name a file inside it"),
    "file-unreadable": Kind("error", "the file cannot be read: {reason}", "check that the file is whole and permitted"),
    "out-of-memory": Kind(
        "error",
        "the data do not fit into the memory that karat may use: {reason}",
        "allow more with --memory (memory= in Python), or write Parquet in gold's order, which needs hardly any",
    ),
    "disk-full": Kind(
        "error",
        "the disk has no room for what does not fit into memory: {reason}",
        "name a folder on a larger disk with --temp (temp= in Python), or allow more memory with --memory",
    ),
    "data-unreadable": Kind(
        "error",
        "the data cannot be read: {reason}",
        "give one value per item as text, number, list or dict; texts must be valid Unicode, bytes UTF-8",
    ),
    "spark-unavailable": Kind(
        "error",
        "Spark does not start: {reason}",
        "install Java 17 or newer, see that --master names a cluster that runs, and that /etc/hosts knows this machine by its name",
    ),
    "file-foreign": Kind(
        "error", "this is {found}, not a data file", "unpack or export it; `karat formats` lists what can be read"
    ),
    "unpacked-too-large": Kind(
        "error",
        "{packed:,} bytes that unpack to more than {most:,}",
        "pass --max-unpacked SIZE if the file is meant to be that large",
    ),
    "file-empty": Kind("error", "the file is empty", "write at least one record"),
    "no-records": Kind("error", "the file holds no record", "write at least one record"),
    "unknown-format": Kind(
        "error",
        "the format cannot be told from the content",
        "name it with --input-format (csv where every line is one label); `karat formats` lists them",
    ),
    "bad-option": Kind("error", "{message}", "{way_out}"),
    "encoding-utf16": Kind("warning", "read as {encoding}", "save the file as UTF-8 to silence this"),
    "not-utf8": Kind(
        "error",
        "byte 0x{byte:02x} is not UTF-8; the file looks like Latin-1 (or Windows-1252)",
        "save it as UTF-8, or pass --encoding latin-1",
    ),
    "nul-byte": Kind(
        "error",
        "a NUL byte: this is not a text file",
        "export the data as text, or name its format with --input-format",
    ),
    "looks-utf16": Kind(
        "error",
        "the file looks like {kind} without a byte-order mark",
        "save it as UTF-8, or pass --encoding {encoding}",
    ),
    "bad-json": Kind("error", "not valid JSON: {reason}", "mend the syntax here; every record before it is read"),
    "repeated-key": Kind(
        "error",
        "the key {key!r} is there twice in one object",
        "keep each query once, each document once per query, each label or annotator once per item",
    ),
    "not-records": Kind(
        "error", "expected an array of objects, found {found}", 'write [{{"id": …, "value": …}}, …] or JSON Lines'
    ),
    "bad-row": Kind("error", "{reason}", "give every row the same number of fields ({expected})"),
    "bad-quote": Kind("error", "{reason}", 'close the quote, and double every quote that belongs to the text ("")'),
    # fields
    "missing-column": Kind("error", "no column for the {role} ({expected}); the columns are: {found}", "{way_out}"),
    "header-unclear": Kind(
        "error",
        "the first line ({names}) reads like a header of names that are not known, and not like the records behind it",
        "name the columns, as in --id {id}{option}; if the line is a record, say --id id --value value",
    ),
    "header-doubted": Kind(
        "warning",
        "the first line ({names}) was counted as a record; no other has {value!r}",
        "if it is a header, name the columns: --id {id}{option}",
    ),
    "value-column-unclear": Kind(
        "error", "{what}; the columns are: {columns}", "say which one is meant: --{side}-value COLUMN"
    ),
    "value-column-of-other-side": Kind(
        "warning",
        "the {wanted} are read from {chosen!r}, which is a name of {of}",
        "see that the files are not exchanged; --{side}-value {chosen} says that it is meant",
    ),
    "value-column-chosen": Kind(
        "warning",
        "the {wanted} are read from {chosen!r}; {others} could hold them too",
        "say which one is meant: --{side}-value COLUMN",
    ),
    "same-column": Kind(
        "error",
        "gold and predictions are both read from {column} of this one {what}, so that gold would be scored against itself",
        "{way_out}",
    ),
    "same-file": Kind(
        "error",
        "gold and predictions are the same file, which would be scored against itself",
        "name the file with the predictions, or say that it is meant: --allow-same",
    ),
    "votes-alone": Kind(
        "error",
        "the votes of this file are gold and predictions at once, so that gold would be scored against itself",
        "give the file of the predictions, or ask for what needs none: -m krippendorff_alpha (there is {metrics})",
    ),
    "paired-by-position": Kind(
        "warning",
        "no column is known to hold ids, so that rows are paired as they stand; {column} is in both files",
        "--id {column} pairs rows by it, if it tells them apart",
    ),
    "rows-differ": Kind(
        "warning",
        "{count} {count:row has|rows have} another text in the prediction than in gold (first: row {first}),"
        " and without ids a row meets the one at its place",
        "give both sides ids, or the same rows in the same order",
    ),
    "paired-by-index": Kind(
        "warning",
        "gold and {what} have the same index in another order, and are paired by it",
        "give arrays (`.to_numpy()`) to pair by position",
    ),
    "index-differs": Kind(
        "warning",
        "{common} of {total} labels of gold's index are in that of {what}: paired by position",
        "give both the same index to pair by it, or arrays (`.to_numpy()`) to silence this",
    ),
    "separator-found": Kind(
        "note",
        "{mark!r} parts the labels of a cell, as in {label!r}",
        "nothing to do; --separator names another mark",
    ),
    "several-labels": Kind(
        "warning",
        "labels such as {label!r} look like several in one cell, and are compared as one",
        "read them as sets with --separator '{mark}', or say that each is one label: -c monolabel",
    ),
    "separator-absent": Kind(
        "warning",
        "no cell holds the separator {mark!r}",
        "check the mark; every cell is read as one label",
    ),
    "indicator-rows": Kind(
        "note",
        "rows of {width} zeros and ones are read as a matrix: a column for each label",
        "nothing to do; write labels as texts if 0 and 1 are labels",
    ),
    "indicator-rows-unclear": Kind(
        "error",
        "rows of 0 and 1 may be a matrix with a column for each label, or lists of the labels 0 and 1",
        "give a matrix as numpy.array(…), lists of labels with their labels as texts",
    ),
    "indicator-widths": Kind(
        "error",
        "gold is a matrix of {gold} columns, the prediction one of {pred}: which of them are the same label is a guess",
        "give both the same columns in the same order, those of labels that nothing has too, or lists of labels",
    ),
    "scores-as-labels": Kind(
        "error",
        "{role} must be labels, not numbers such as {example} ({count} of {total} differ)",
        "give labels: set a threshold, take the class with the largest score, or name the column of the labels; "
        "scores of classes are --context probabilities, measured values --context numbers",
    ),
    "units-differ": Kind(
        "error",
        "the tags of {tokens} count tokens, the spans of {letters} count characters of a text",
        "give both sides as tags of the same tokens, or both as spans of characters",
    ),
    "equal-to-gold": Kind(
        "warning",
        "every prediction is equal to gold, and both are read from {column!r}; {others} {count:is|are} not read",
        "if the predictions are in another column, name it: --pred-value COLUMN",
    ),
    "repeated-column": Kind("error", "the column {name!r} is there more than once", "rename or delete one of them"),
    "extra-fields": Kind(
        "note",
        "ignored: {fields}",
        "nothing to do, if the values are in {chosen}; --value COLUMN reads another column",
    ),
    "missing-field": Kind("error", "the {field} is missing or null", "give every record its {field}"),
    "some-without": Kind(
        "error", "the {field} is missing here, and other records have one", "give every record its {field}, or none"
    ),
    "empty-value": Kind(
        "error", "the {field} is empty", "write the {field}, or delete the record to count it as missing"
    ),
    "wrong-type": Kind(
        "error", "the value is {found}, but most of this file's values are {expected}", "use one kind of value per file"
    ),
    "nested-id": Kind("error", "the {field} is a list or an object", "write the {field} as text or as a number"),
    "wrong-values": Kind("error", "the value cannot be read as {expected}", "write {example}"),
    "mixed-contexts": Kind(
        "error", "gold values are {gold} but predicted values are {pred}", "name the context with -c, or fix the file"
    ),
    "unknown-context": Kind(
        "error", "no context fits values that are {found}", "name the context with -c; `karat formats` shows examples"
    ),
    "repeated-id": Kind(
        "error",
        "id {id!r}{where} is repeated (first on line {first})",
        "keep one record per id; for several labels per id use lists, or name the context: -c multilabel",
    ),
    "repeated-label": Kind(
        "warning",
        "{count} {count:record gives|records give} a label more than once (the first is shown)",
        "list each label once; it counts once",
    ),
    "repeated-vote": Kind(
        "warning",
        "{count} {count:record gives|records give} an annotator a second vote on an item (the first is shown)",
        "keep one vote of each annotator; the first counts",
    ),
    "repeated-gold-label": Kind(
        "error",
        "{count} gold {count:record gives|records give} a label more than once (the first is shown)",
        "list each label once, or choose --faulty drop: then it counts once",
    ),
    "left-out": Kind(
        "warning",
        "{count} {what} {count:is|are} left out (the first is shown)",
        "mend or delete {count:it|them}, or choose --faulty error to stop at {count:it|them}",
    ),
    # coverage
    "gold-only-ids": Kind(
        "warning",
        "{count} of {total} gold ids {count:has|have} no prediction (first: {examples}); {count:it counts|they count} as {policy}",
        "predict every gold id, or choose --missing error|wrong|skip",
    ),
    "missing-predictions": Kind(
        "error",
        "{count} of {total} gold ids {count:has|have} no prediction (first: {examples})",
        "predict every gold id",
    ),
    "pred-only-ids": Kind(
        "warning",
        "{count} predicted {count:id is|ids are} not in gold (first: {examples}) and {count:is|are} {policy}",
        "check that both files are of the same data set and that ids are spelt alike",
    ),
    "no-common-ids": Kind(
        "error",
        "no predicted id is in gold (gold: {gold}; predicted: {pred})",
        "check that both files are of the same data set and that ids are spelt alike",
    ),
    "annotator-columns": Kind(
        "note",
        "each of these columns is read as the votes of an annotator: {columns}",
        "name the one column that holds gold, if that is wrong: --gold-value COLUMN",
    ),
    "test-case-found": Kind(
        "warning",
        "the column {column!r} is taken for the test case: each score is a mean over its {count} {count:value|values}",
        "--test-case '' scores all rows together, --test-case {column} says that it is meant",
    ),
    "no-common-cases": Kind(
        "error",
        "gold and predictions have no test case in common (gold: {gold}; predicted: {pred}); {count} {count:id is|ids are} "
        "in both under different ones",
        "write the test cases of both files alike, or leave them out of both; --test-case '' reads none",
    ),
    "ids-alike": Kind(
        "warning",
        "gold has the id {gold!r} and the prediction {pred!r}: {count} {count:id differs|ids differ} in leading zeros, a final .0, case or blanks alone",
        "write the ids of both files alike, as text",
    ),
    "test-cases-differ": Kind(
        "warning",
        "{count} {count:id is|ids are} in both files under different test cases (id {id!r}: gold {gold!r}, predicted {pred!r})",
        "write the test cases of both files alike, or leave them out of both; --test-case '' reads none",
    ),
    "test-case-missing": Kind(
        "warning", "test case {name!r} of gold has no prediction at all", "predict it, or take it out of gold"
    ),
    "length-differs": Kind(
        "error", "gold has {gold} items and the prediction {pred}", "give one prediction per gold item, or use ids"
    ),
    "ids-on-one-side": Kind(
        "error",
        "{named} has ids ({ids}) and {other} has none, so that nothing says which rows belong together",
        "give both sides ids, or neither, and then the same rows in the same order",
    ),
    "no-common-labels": Kind(
        "warning",
        "no predicted label is in gold (gold: {gold}; predicted: {pred})",
        "{suggestion}",
    ),
    "label-not-in-gold": Kind(
        "warning", "label {label!r} never occurs in gold ({count} {count:prediction|predictions})", "{suggestion}"
    ),
    # intervals and comparisons
    "few-units": Kind(
        "warning",
        "{count} {counted} {count:is|are} too few for intervals that hold their level",
        "read the intervals as rough; score more {units}",
    ),
    "rare-classes": Kind(
        "warning",
        "{count} {count:class has|classes have} fewer than 10 gold members{where}: {examples}; intervals of scores that weigh "
        "classes alike (macro averages, balanced accuracy, ICM) cover too little",
        "read averages over classes with care, or use the micro or weighted average",
    ),
    "interval-degenerate": Kind(
        "warning",
        "the spread of {metric} cannot be estimated: every resample gives the same score",
        "the data are too few or too uniform to show it; do not read the interval as certainty",
    ),
    "interval-undefined": Kind(
        "warning",
        "{share} of the resamples give no {metric}; its interval speaks only for the others",
        "score more data, or say what an undefined score is with --undefined",
    ),
    "few-clusters": Kind(
        "warning",
        "{count} {count:cluster is|clusters are} few: intervals use Student's t with {count} − 1 degrees of freedom",
        "gather data from more clusters; more units per cluster help little",
    ),
    "stratified": Kind(
        "note",
        "{count} {count:stratum|strata} by {column!r}: each keeps its number of units in every resample",
        "leave --stratify-by out if the numbers of units are chance, not design",
    ),
    "single-strata": Kind(
        "warning",
        "{count} {count:stratum has|strata have} one unit and {count:shows|show} no spread, which makes intervals too narrow",
        "join small strata, or label two units of each at least",
    ),
    "single-run": Kind(
        "warning",
        "{names} {count:has|have} one run: how much runs differ is not known, and what is said holds for this run",
        "train or prompt again with other seeds and give all runs: NAME=RUN1,RUN2",
    ),
    "few-runs": Kind(
        "warning",
        "{count} runs ({names}) say little of how much runs differ: intervals use Student's t with few degrees of freedom",
        "give five runs or more of each method",
    ),
    "judge-overlap": Kind(
        "error",
        "the judge labels {judge} {judge:unit|units}, {both} of them among the {gold} with gold: it must label some of these, "
        "to see how far it is off, and others, to be of use",
        "give the judge's labels for all units of the predictions, those with gold included, under the same ids",
    ),
    "judge-lacks-gold": Kind(
        "warning",
        "the judge does not label {count} {count:unit|units} with gold, which {count:is|are} left out of the joint estimate",
        "label all units with the judge",
    ),
    "few-labels": Kind(
        "warning",
        "{count} {count:unit|units} with gold {count:is|are} few: how far the judge is off, and every interval, is known roughly",
        "label at least 30 units that are drawn at random",
    ),
    "no-cluster": Kind(
        "warning",
        "{count} {count:unit has|units have} no cluster in gold; each is a cluster of its own",
        "fill the column that is clustered by for every gold record",
    ),
    "cluster-column-missing": Kind(
        "error", "there is no column {column!r} for clusters or strata; there is: {found}", "name a column of this file"
    ),
    "slice-column-missing": Kind(
        "error",
        "gold has no column {column!r} to slice or weigh by; it has: {found}",
        "name a column of the gold file",
    ),
    "slices-not-numbers": Kind(
        "error",
        "column {column!r} holds {found!r}, which is no number, so it has no bins",
        "leave the bins out: every value is a slice of its own",
    ),
    "too-many-slices": Kind(
        "error",
        "column {column!r} has {count} values: more than {most} are names of units, not slices of the data",
        "name a column of groups, or bins of a column of numbers: --by COLUMN:4",
    ),
    "small-slices": Kind(
        "note",
        "{count} {count:slice|slices} by {column!r} {count:has|have} fewer than {least} units: look at the intervals",
        "gather more units of these slices before they are judged",
    ),
    "weight-bad": Kind(
        "error",
        "{count} {count:weight is|weights are} no number from 0 on (first: {text!r} of unit {unit})",
        "give every unit of gold a weight of 0 or more",
    ),
    "weight-missing": Kind(
        "error",
        "{count} of {units} units {count:has|have} no weight in column {column!r} (first: {unit})",
        "give every unit of gold a weight; 1 where it counts as usual",
    ),
    "weights-zero": Kind("error", "all weights in column {column!r} are 0", "give units that count a weight above 0"),
    "weights-beyond": Kind(
        "error",
        "the weights in column {column!r} sum to {total:g}, and products of such sums are beyond what numbers hold",
        "multiply all weights by one number, which changes no score, so that they sum to 1e-60 to 1e60",
    ),
    "weights-unused": Kind(
        "error",
        "{context} has no weighted scores: {reason}",
        "leave --weight out; --by COLUMN shows how scores differ over the data",
    ),
    "weighted": Kind(
        "note",
        "units count by {column!r}: {units} units weigh {total}, as much as {effective} of equal weight",
        "nothing to do; thresholds, calibration and curves weigh units too, other counts and tables, as the confusion matrix, count them",
    ),
    "clustered": Kind(
        "note",
        "{units} {units:unit|units} in {count} {count:cluster|clusters} by {column}, each drawn and swapped whole",
        "nothing to do; name another column with --cluster-by",
    ),
    "common-units": Kind(
        "warning",
        "scored and compared on the {count} of {total} units that every system has ({shown})",
        "predict every gold id, and the same others, with every system to compare on all of them",
    ),
    "no-common-units": Kind(
        "error", "there is no unit that every system has ({shown})", "predict the same ids with every system"
    ),
    "common-cases": Kind(
        "warning",
        "queries or test cases for which a system has no score are left out of its differences, and of leaderboards: {metrics}",
        "say what an undefined score is with --undefined (of queries that a run lacks: --missing-queries zero), to compare on all",
    ),
    "too-few-draws": Kind(
        "warning",
        "{count} {count:difference|differences} beyond all {draws} draws: too few to decide {family} tests",
        "ask for more --draws, fewer metrics, or another correction",
    ),
    "difference-constant": Kind(
        "warning",
        "{count} {count:difference is|differences are} the same on all {units} units: no spread is known, "
        "and the interval says what unseen units could change",
        "compare on more units; do not read equality on a few as equality",
    ),
    "test-needs-units": Kind(
        "warning",
        "{tests} not computed for {metrics}: single units have no score whose mean it is",
        "ask for it on a mean of unit scores, such as accuracy",
    ),
    "information-fixed": Kind(
        "warning",
        "the interval of {metric} takes the information in gold's weights as known: it covers about 93 % where it says 95 %",
        "read the interval as a little too narrow, or report ICM-Soft itself",
    ),
    "score-biased": Kind(
        "warning",
        "{metric} is expected to be off by {bias} on so few units; its interval does not correct that",
        "score more units, or read the score as one of samples of this size",
    ),
    "bias-corrected": Kind(
        "note",
        "{metric} is expected to be off by {bias} on so few units; its interval corrects that, so that the score may lie outside it",
        "read the interval, or score more units",
    ),
    "heavy-tails": Kind(
        "warning",
        "a few units make up the spread of {metric}: others like them may not be among the data, and its interval be too narrow",
        "look at the largest errors, score more units, or report mae or spearman, which no single unit decides",
    ),
    "score-extreme": Kind(
        "warning",
        "{metric} is the largest of many numbers (of bins, thresholds or units), and chance chooses which: its interval may be too narrow",
        "read the interval as a rough one; ece, roc_auc, average_precision and mae are sums over all units",
    ),
    "cases-of-few-units": Kind(
        "warning",
        "{count} of {total} test cases {count:has|have} 30 {units} or fewer: an interval of such a case by itself is rough",
        "read the overall interval; score more {units} in each test case",
    ),
    # weights
    "weight-not-number": Kind(
        "error", "the weight of {label!r} is not a number", "give every label a number from 0 to 1, without quotes"
    ),
    "weight-outside": Kind(
        "error",
        "the weight {weight:g} of {label!r} is outside [0, 1]",
        'give probabilities or shares of votes (a softmax of scores); votes are {{"annotator": "label"}}',
    ),
    "weights-sum": Kind(
        "warning", "the weights sum to {total:.4g}, {off:+.4g} off 1", "rescale them if the labels exclude each other"
    ),
    "weights-independent": Kind(
        "note",
        "the weights of {count} of {total} items do not sum to 1 (here {sum:.4g}, {off:+.4g} off): independent labels",
        "rescale them if the labels exclude each other",
    ),
    "weights-empty": Kind(
        "warning", "no label has a weight or a vote here; the item is {policy}", "give its labels their weights"
    ),
    "no-gold-labels": Kind(
        "note",
        "{count} of {total} gold items {count:has|have} no label; top-k scores leave {count:it|them} out",
        "use f1, subset_accuracy or icm where predicting no label must be right",
    ),
    "tied-labels": Kind(
        "note",
        "{count} of {total} items {count:has|have} labels of equal score; top-k scores take them in label order",
        "give scores that differ, or an ordered list of labels",
    ),
    "tied-majority": Kind(
        "note",
        "{count} of {total} gold items {count:has|have} several labels with the largest weight; the first label wins",
        "use soft metrics, or harden=threshold, where ties matter",
    ),
    # clusters
    "cluster-overlap": Kind(
        "note",
        "{count} {count:item is|items are} in several clusters; scores of partitions are undefined",
        "use purity, larsen_f or B-cubed, which allow it",
    ),
    "noise-items": Kind(
        "note",
        "{count} {count:item is|items are} noise ({name}) and {count:counts|count} as {policy}",
        "choose with --noise-as",
    ),
    "noise-unsaid": Kind(
        "note",
        "{count} {count:item is|items are} in a cluster called {name}, which counts as a cluster",
        "if it means noise, pass --noise={name}",
    ),
    # hierarchy
    "hierarchy-bad": Kind(
        "error", "the hierarchy cannot be read: {reason}", "write a nested JSON object or parent/child rows"
    ),
    "hierarchy-two-parents": Kind(
        "error", "class {label!r} stands under {first!r} and under {second!r}", "give every class one parent"
    ),
    "hierarchy-cycle": Kind("error", "the classes {labels} form a cycle", "make the hierarchy a tree"),
    "label-not-in-hierarchy": Kind(
        "warning", "label {label!r} is not in the hierarchy; it counts as a root", "add it to the hierarchy{suggestion}"
    ),
    # page streams
    "page-number-bad": Kind("error", "a page of document {id!r} has no whole number", "number pages 1, 2, 3, …"),
    "page-flag-null": Kind(
        "error",
        "the first-page flag of {number} of document {id!r} is missing, null or neither true nor false",
        "give every page is_first_page true or false, or predict from confidences with --threshold",
    ),
    "repeated-page": Kind(
        "error", "page {number} of document {id!r} is repeated (first on line {first})", "keep one record per page"
    ),
    "page-list-bad": Kind("error", "the pages cannot be read: expected {expected}", "`karat formats` shows examples"),
    "range-bad": Kind(
        "error", "the page range has no first or last page, or ends before it begins", "write first ≤ last"
    ),
    "confidence-range": Kind(
        "error", "the confidence of {number} of document {id!r} is {value}, not between 0 and 1", "give probabilities"
    ),
    "bundles-left-out": Kind(
        "note",
        "{count} of {total} bundles {count:has|have} no value of {metrics}, and {count:is|are} left out of the mean",
        "nothing to do, or take the windows of all bundles together, or their borders: see karat metrics pk",
    ),
    "confidence-missing": Kind(
        "warning",
        "{count} of {total} pages {count:has|have} no confidence; metrics of confidence leave {count:it|them} out",
        "give every page one",
    ),
    "confidence-of-flag": Kind(
        "warning",
        "pages predicted not first have confidences up to {high:g}, pages predicted first down to {low:g}",
        "if a confidence is that of the flag, not of being first, say --confidence-of flag",
    ),
    "category-missing": Kind(
        "warning",
        "{count} of {total} pages {count:has|have} no predicted category and {count:counts|count} as wrong",
        "predict a category for each",
    ),
    "pages-from-zero": Kind(
        "error",
        "the pages are counted from 0 here and from 1 in {other}",
        "count the pages of both sides from 1",
    ),
    "pages-on-one-side": Kind(
        "error",
        "{pages} of document {id!r} {count:is|are} not in {other}",
        "give both sides the same pages, or choose --missing-pages not-first|truncate",
    ),
    "pages-as-not-first": Kind(
        "warning",
        "{pages} of document {id!r} {count:is|are} not in {other}; {count:it begins|they begin} no file there",
        "give both sides the same pages",
    ),
    "pages-left-out": Kind(
        "warning",
        "{pages} of document {id!r} {count:is|are} not in {other} and {count:is|are} left out",
        "give both sides the same pages",
    ),
    # spans
    "span-empty": Kind(
        "error",
        "the span {label!r} of {id!r} ends at {end}, not after its start {start}",
        "give spans an end behind their start; if ends name the last position, say --ends inclusive",
    ),
    "span-negative": Kind("error", "the span {label!r} of {id!r} starts at {start}", "count positions from 0"),
    "span-outside": Kind(
        "warning",
        "the span {label!r} of {id!r} ends at {end}, but the text has {size} characters",
        "check that offsets count characters (not bytes) of this text; if ends name the last position, say --ends inclusive",
    ),
    "span-text-differs": Kind(
        "warning",
        "the span {label!r} [{start}, {end}) of {id!r} says its text is {quote!r}, but there is {found!r}",
        "check that offsets count characters of this text, and whether ends are inclusive (--ends)",
    ),
    "span-repeated": Kind(
        "warning",
        "the span {label!r} [{start}, {end}) of {id!r} is given twice",
        "give each span once; each copy needs a match of its own",
    ),
    "span-overlaps": Kind(
        "warning",
        "the gold span {label!r} [{start}, {end}) of {id!r} overlaps another of its label",
        "merge them, unless both are meant; each needs a match of its own",
    ),
    "span-unreadable": Kind("error", "{reason}", 'write spans as {{"start": 0, "end": 4, "label": "PER"}}'),
    "columns-uneven": Kind(
        "error",
        "the columns are not of one length: {lengths}",
        "give each column a value for every row, None where it has none",
    ),
    "span-rows": Kind(
        "error",
        "a row for each span (columns {columns}): a record is a document with all its spans",
        'group them by document, [] where it has none: {{"id": "1", "spans": [{{"start": 0, "end": 4, "label": "PER"}}]}}',
    ),
    "spans-null": Kind("error", "{field} is null", "write [] for a document without spans"),
    "tags-unreadable": Kind("error", "{reason}", 'write a tag for each token: "tags": ["B-PER", "O"]'),
    "documents-left-out": Kind(
        "warning",
        "{count} {count:document was|documents were} rejected, ignored or skipped by the annotator and {count:is|are} left out",
        "nothing to do, if that is meant",
    ),
    "texts-differ": Kind(
        "warning",
        "{count} {count:document has|documents have} another text in the prediction than in gold (first: {examples})",
        "give both sides the same documents under the same ids, or in the same order",
    ),
    "span-count-differs": Kind(
        "warning",
        "{field} is {said}, but {found} {found:span is|spans are} listed",
        "mend the count; the list is what is scored",
    ),
    "span-discontinuous": Kind(
        "warning",
        "{id!r} has {count} {count:span|spans} in pieces; each counts from its first to its last character",
        "write the pieces as spans of their own if what lies between them must not count",
    ),
    "tag-unknown": Kind(
        "error",
        "the tag {tag!r} has no meaning in {scheme}",
        "write O, or a prefix of the scheme, a dash and a label, as in B-PER; or choose another --scheme, "
        "or the column of the tags with --value N",
    ),
    "scheme-of-gold": Kind(
        "note",
        "strict reading: the tags of both sides are read as {scheme}, which gold's tags show",
        "nothing to do; name the scheme with --scheme if it is another",
    ),
    "tag-malformed": Kind(
        "warning",
        "the tag {tag!r} in sentence {sentence!r} continues a span that is not there",
        "begin spans with B- (S-, U-); lenient reading starts a span here, strict reading drops it",
    ),
    "sentence-length-differs": Kind(
        "error",
        "sentence {id!r} has {gold} tags in gold and {pred} in the prediction",
        "tag the same tokens; do not cut long sentences",
    ),
    # rankings
    "run-as-judgements": Kind(
        "error", "this is a run, but gold needs judgements", "name the judgements first, then the run"
    ),
    "judgements-as-run": Kind(
        "error", "these are judgements, but a run is needed here", "name the judgements first, then the run"
    ),
    "short-line": Kind(
        "error",
        "{found} fields where {expected} are needed",
        "write {layout}, separated by white space",
    ),
    "spare-fields": Kind(
        "warning",
        "{count} {count:line has|lines have} more than {expected} fields (this is the first); what follows is not read",
        "write {layout}, separated by white space",
    ),
    "not-a-number": Kind(
        "error", "the {field} {text!r} is not a number", "write a decimal number with a point, as in 1234.5"
    ),
    "nan-score": Kind("error", "the value is NaN: it has no place in an order", "give the document a number"),
    "infinite-grade": Kind(
        "error", "the grade is infinite: no gain follows from it", "give the document a finite number"
    ),
    "repeated-document": Kind(
        "error",
        "document {document!r} is retrieved again for query {query!r}",
        "keep each document once per query, with its best score",
    ),
    "repeated-judgement": Kind(
        "error",
        "document {document!r} of query {query!r} is judged again (first on line {first})",
        "keep one judgement per query and document",
    ),
    "rank-not-whole": Kind("error", "a rank must be a whole number", "if higher values are better, say --order score"),
    "stated-rank-not-whole": Kind(
        "warning",
        "{count} {count:rank is not a whole number|ranks are not whole numbers} (this is the first); scores decide the order",
        "write ranks as 1, 2, 3, …",
    ),
    "rank-score-disagree": Kind(
        "warning",
        "{count} {count:rank contradicts|ranks contradict} the scores (this is the first); scores decide the order",
        "say --order rank to rank by the rank column",
    ),
    "tied-documents": Kind(
        "note",
        "{count} of {total} documents {count:shares its|share their} score with another of the same query; {rule}",
        "--ties average gives the expectation over their orders",
    ),
    "negative-grades": Kind(
        "note",
        "{count} {count:judgement has|judgements have} a grade below 0 (pooled but not judged): no gain, and bpref passes over",
        "give judged documents that are not relevant the grade 0",
    ),
    "queries-not-in-run": Kind(
        "warning",
        "{count} of {total} gold queries {count:is|are} not in the run (first: {examples}) and {count:is|are} {policy}",
        "rank documents for every query, or choose --missing-queries zero|skip|undefined|error",
    ),
    "missing-queries": Kind(
        "error",
        "{count} of {total} gold queries {count:is|are} not in the run (first: {examples})",
        "rank documents for every query, or choose --missing-queries zero|skip|undefined",
    ),
    "queries-not-in-gold": Kind(
        "warning",
        "{count} {count:query|queries} of the run {count:has|have} no judgements (first: {examples}) and {count:is|are} left out",
        "check that both files are of the same topics",
    ),
    "no-common-queries": Kind(
        "error",
        "no query of the run has judgements (gold: {gold}; run: {pred})",
        "check that both files are of the same topics and that query ids are spelt alike",
    ),
    "no-relevant-documents": Kind(
        "note",
        "{count} of {total} queries {count:has|have} no relevant document (first: {examples}) and {count:is|are} {policy}",
        "choose --no-relevant zero|undefined",
    ),
    # doors
    "page-missing": Kind(
        "warning",
        "{count} reference {count:page is|pages are} not in this file and {count:counts|count} as "
        "{count:an empty answer|empty answers} (first: {examples})",
        "write a line for every page",
    ),
    "bad-page": Kind("error", "the line is not a page: {reason}", "write page_id, the number of spans, and the spans"),
    "bad-test-data": Kind(
        "error",
        "the test data cannot be scored: {reason}",
        "give every example LabeledData and PredictedData, each with Classification and Entities, or two files",
    ),
    "entity-misplaced": Kind(
        "warning",
        "example {number}, {side}: the entity {name!r} from {start} to {end} {problem}",
        "give offsets of which the first is 0 or more and the last not before it; check whether ends are exclusive",
    ),
    "excerpt-cut": Kind(
        "warning",
        "on {count} {count:page|pages} references that overlap chose one span, which cannot be cut between them "
        "(first: {examples})",
        "give references that do not overlap; the pages are scored all the same",
    ),
    "door-differs": Kind("note", "{what}", "{switch} gives {tool}'s own number"),
    # the server
    "file-too-large": Kind(
        "error", "the file has more than {most} bytes once it is unpacked", "send a smaller file, or ask the organiser"
    ),
    "too-many-rows": Kind(
        "error", "the file has more than {most} lines", "send fewer records, or ask the organiser to raise the limit"
    ),
    "packed-twice": Kind("error", "the file is packed more than once", "pack it once, or send it as it is"),
    "over-limit": Kind(
        "error",
        "scoring needs more {what} than the server gives to one file",
        "send a smaller file, or ask the organiser",
    ),
    "not-scored": Kind(
        "error",
        "the file is well formed, but cannot be scored against the gold standard of this benchmark",
        "see that its ids, test cases and kind of value are those of the benchmark's data",
    ),
    "positive-class-guessed": Kind(
        "warning",
        "nothing says whether the scores are those of {label!r} or of {other!r}: {label!r} is taken, which comes last",
        "name the class that high scores speak for: --pos-label {label}",
    ),
    "positive-class": Kind("note", "the positive class is {label!r}", "name another with --pos-label"),
    "labels-not-scores": Kind(
        "error",
        "these are labels, and scores are asked for",
        "give a number for each class, or score labels with --context monolabel or multilabel",
    ),
    "score-not-finite": Kind(
        "error", "the score is no finite number", "give every item a finite score, or leave it out"
    ),
    "value-not-finite": Kind(
        "error", "the value is no finite number", "give every item a finite number, or leave it out"
    ),
    "one-score-many-classes": Kind(
        "error",
        "one score to an item, and gold has {count} classes ({labels}, …)",
        'give a score for every class: a column for each, or an object as {{"A": 0.7, "B": 0.3}}',
    ),
    "no-probabilities": Kind(
        "warning",
        "{reason}; log_loss, brier and calibration are undefined",
        "give probabilities (a softmax or a calibrated model's) for these; orderings as roc_auc need none",
    ),
    "class-without-scores": Kind(
        "warning",
        "no item has a score for {labels}, which gold has: its probability is taken for 0",
        "give a score for every class of gold: a column or a key for each",
    ),
    "no-class-has-scores": Kind(
        "error",
        "the scores are those of {pred}, and gold's classes are {gold}: no item has a score for any of them",
        "name the columns or keys of the scores as gold's classes are, alone or as prob_CLASS",
    ),
    "classes-in-order": Kind(
        "note",
        "the columns of scores are taken as gold's labels in order: {labels}",
        "name them with --classes A,B,C if their order is another",
    ),
    "threshold-tuned": Kind(
        "warning",
        "{metric} is the best over all thresholds of these very data: on others it will be lower",
        "choose the threshold on other data, then score with --threshold",
    ),
    "numbers-or-ranking": Kind(
        "error",
        "numbers on both sides: measured values to be met, or relevances with the scores of a ranking?",
        "say which with --context numbers or --context ranking",
    ),
    "too-many-units": Kind(
        "error",
        "there are more than {limit:,} records, too many to bring each of them here from the cluster",
        "ask for scores and --intervals without single units (--interval-method groups), or take a sample",
    ),
    "more": Kind("note", "{count} more {count:finding|findings} of kind {kind}", "mend the ones shown first"),
}

# SPDX-License-Identifier: Apache-2.0
"""Where the default and Konfuzio's SDK 0.3.27 part; `strict=True`, for extraction `compat="konfuzio"`, does as there."""

from __future__ import annotations

from karat.doors.kit.differences import Difference

FILES = [
    Difference("", "a page that only one side has is dropped in silence: 2 of 5 pages predicted can give F1 1.0", 'it begins no file on the side that lacks it; `findings` and a warning name it. `missing_pages="truncate"` is the original, `"error"` refuses'),
    Difference("", "a prediction page without a confidence raises TypeError; so does a document evaluated against itself", "confidences are not needed"),
    Difference("", "one line printed for every page, twice", "nothing is printed"),
    Difference("", "order of categories changes from run to run", "order of appearance"),
    Difference("", '`zero_division="warn"` gives 0 and says nothing', "gives 0 and warns"),
    Difference("", "a category without documents: KeyError that claims that it is not in the project", "KeyError that lists the evaluated categories"),
    Difference("", "`gt()` is always 0", "number of true first pages"),
    Difference("", "pairs: `allow_zero=True` raises TypeError where precision or recall is undefined", "None"),
    Difference("", 'pairs: F1 is "undefined" if nothing is hit', "0.0, and `findings` says so"),
    Difference("", 'pairs: a missing flag counts as "not first"', "ValueError, as with two lists"),
    Difference("", "categorisation: a pair with a category that was not given, or none, is dropped from the matrix and the counts", "it is a false negative or a false positive of the other's category, in the last row or column of `confusion_matrix()`; `findings` says how many"),
    Difference("", "categorisation: category 0 among the given ones finds no documents", "it counts like the others; `findings` says so"),
    Difference("", "categorisation: counts of a category that was not given are 0, `gt()` is always 0", "KeyError that lists the given ones; number of true documents"),
    Difference("", "a true document without a category raises AttributeError (in both evaluations)", "it has no category (0)"),
]  # fmt: skip

EXTRACTION = [
    Difference("", "a wrong label, label set or annotation set at the right place is a false positive only, so that recall is too high or undefined", "it is missed as well"),
    Difference("", "that row counts for both labels", "the false positive is the predicted label's, the false negative the true one's; so for label sets"),
    Difference("", "not strict: a prediction far from every annotation is no false positive if an annotation of its label is missed", "it is one"),
    Difference("", "not strict: a missed annotation whose label may occur once in its set is lost", "it is a false negative, once for each annotation set"),
    Difference("", "an annotation or annotation set without an id is never right", "it is compared like the others"),
    Difference("", "a prediction without a confidence counts for nothing", "its confidence is 1"),
    Difference("", "`gt()` counts a placeholder where nothing is expected; not strict, it counts predictions too", "`tp() + fn()`"),
    Difference("", "`tn()` and `get_evaluation_data()` raise AssertionError as soon as a document has no annotations on one side", "predictions below their threshold where nothing is expected"),
    Difference("", "`tokenizer_*`: not strict, a missed place is never a false negative, and another label is another place", "places alone, in both ways to compare"),
    Difference("", "`clf_*`: another label is a false positive only, also below its threshold", "above it, a false positive; and a false negative"),
    Difference("", "spans on one place count once for each pair of them", "strict, they pair one to one"),
    Difference("", "not strict: counts depend on the order of rows, which changes with the version of pandas", "the order changes nothing"),
    Difference("", '`zero_division="error"` raises as soon as one label of the project is undefined at one threshold', "`label_thresholds` leaves undefined values out"),
    Difference("", "searching for a document misses predictions that have another id", "both documents of the pair find all of it"),
]  # fmt: skip

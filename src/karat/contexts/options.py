# SPDX-License-Identifier: Apache-2.0
"""The options of every context: the command line shows them without importing the contexts themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from karat.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of a context, shown by the CLI and checked by the API."""

    name: str
    choices: tuple[str, ...] | Callable[[Any], Any]
    default: Any
    help: str

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")


def names(value: Any) -> str:
    """Several names as one text, as the command line gives them."""
    return value if isinstance(value, str) else ",".join(map(str, value))


MISSING = Option(
    "missing",
    ("wrong", "error", "skip"),
    "wrong",
    "what a gold id without a prediction is: wrong, an error, or left out",
)
EXTRA = Option(
    "extra",
    ("ignore", "wrong"),
    "ignore",
    "what a prediction for an id that gold lacks is: left out, or a wrong prediction",
)
FAULTY = Option(
    "faulty",
    ("error", "drop"),
    "error",
    "what a record without a value and a second prediction for an id are: errors, or left out (gold with its predictions)",
)
HIERARCHY = Option(
    "hierarchy", Hierarchy, None, "label tree for hierarchical metrics: nested JSON, or child/parent rows"
)
LABEL_FROM = Option("threshold", float, 0.5, "score from which a label of a scored prediction is in the predicted set")
MISSING_PAGES = Option(
    "missing_pages",
    ("error", "not-first", "truncate"),
    "error",
    "what a page that only one side has is: an error, a page that begins no file on the other side, or left out",
)
COUNT_FIRST_PAGE = Option(
    "count_first_page",
    ("yes", "no"),
    "yes",
    "whether page-level scores count the first page of a bundle, which always begins a file",
)
CONFIDENCE_OF = Option(
    "confidence_of",
    ("first", "flag"),
    "first",
    "what a confidence is of: that the page begins a file, or that its flag is right",
)
SPLIT_FROM = Option(
    "threshold", float, None, "predict a first page where the confidence is at least this, whatever the flags say"
)
POLICIES = ("strict", "exact", "type", "partial")
MATCH = Option(
    "match",
    POLICIES,
    "strict",
    "when a prediction matches: strict place and label, exact place, type (overlap and label), partial overlap",
)
OVERLAP = Option("overlap", float, 0.0, "least share that overlapping spans must have in common (0 to 1)")
OVERLAP_OF = Option("overlap_of", ("gold", "pred", "longer", "iou"), "gold", "of what --overlap is a share")
MATCHING = Option(
    "matching",
    ("optimal", "greedy"),
    "optimal",
    "one-to-one matching: the best, or predictions in file order as nervaluate",
)
ENDS = Option(
    "ends",
    ("auto", "exclusive", "inclusive"),
    "auto",
    "whether ends name the last position (inclusive); auto is the format's own",
)
SCHEME = Option(
    "scheme", ("lenient", "strict", "seqeval", "IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"), "lenient",
    "how tags are read: lenient as conlleval, strict by the scheme that gold's tags show, or by a named scheme",
)  # fmt: skip
TIES = Option(
    "ties",
    ("auto", "trec", "order", "average"),
    "auto",
    "how documents of equal score are ordered: by falling id as trec_eval does (for scores), in file order (for ranks), "
    "or averaged over all orders",
)
MISSING_QUERIES = Option(
    "missing_queries",
    ("zero", "skip", "undefined", "error"),
    "zero",
    "what a gold query that the run lacks is: scored 0 (trec_eval -c), not there (trec_eval), undefined, or an error",
)
NO_RELEVANT = Option(
    "no_relevant",
    ("zero", "undefined"),
    "zero",
    "what a query without relevant documents scores: 0 as in trec_eval, or undefined and left out of means",
)
SCORE_TYPE = Option(
    "score_type", ("double", "single"), "double", "precision of scores; trec_eval 9 and pytrec_eval compare single ones"
)
RANKED_BY = Option(
    "order",
    ("auto", "rank", "score"),
    "auto",
    "what predicted values are: ranks (1 is best) or scores (highest is best); auto goes by the column's name",
)
DEPTH = Option("depth", int, None, "how many documents of each query are looked at (trec_eval -M)")
UNJUDGED = Option(
    "unjudged",
    ("keep", "drop"),
    "keep",
    "whether documents without a judgement stay in the ranking (drop: trec_eval -J)",
)
HARDEN = Option("harden", ("majority", "threshold"), "majority", "how weights become labels for accuracy, f1, …")
WEIGHT_FROM = Option("threshold", float, 0.5, "weight from which a label holds, with harden=threshold")
LABEL_ORDER = Option("order", str, None, "labels from low to high, separated by commas (numbers have their own order)")
MISSING_CLUSTERED = Option(
    "missing", ("wrong", "error", "skip", "singletons"), "wrong",
    "what a gold item in no predicted cluster is: wrong, an error, left out, or a cluster of its own",
)  # fmt: skip
NOISE = Option("noise", str, None, "cluster name that means noise (such as -1), not a cluster")
NOISE_AS = Option(
    "noise_as", ("singletons", "missing"), "singletons", "what a noise item is: a cluster of its own, or in none"
)

POS_LABEL = Option("pos_label", str, None, "the positive class of two, for average=binary and for single scores")
SCORE_FROM = Option(
    "threshold", float, None, "score from which a class is predicted: by default the highest wins, of two classes 0.5"
)
CLASSES = Option("classes", names, None, "the classes of the columns of an array, separated by commas")

MISSING_NUMBERS = Option(
    "missing", ("error", "skip"), "error", "what a gold id without a prediction is: an error, or left out"
)

OPTIONS: dict[str, tuple[Option, ...]] = {
    "monolabel": (MISSING, EXTRA, FAULTY, HIERARCHY, POS_LABEL),
    "multilabel": (MISSING, EXTRA, FAULTY, HIERARCHY, LABEL_FROM),
    "splitting": (MISSING_PAGES, COUNT_FIRST_PAGE, CONFIDENCE_OF, SPLIT_FROM),
    "spans": (MISSING, EXTRA, MATCH, OVERLAP, OVERLAP_OF, MATCHING, ENDS, SCHEME),
    "ranking": (TIES, MISSING_QUERIES, NO_RELEVANT, SCORE_TYPE, RANKED_BY, DEPTH, UNJUDGED),
    "soft": (MISSING, HIERARCHY, HARDEN, WEIGHT_FROM, LABEL_ORDER),
    "probabilities": (MISSING, FAULTY, SCORE_FROM, POS_LABEL, CLASSES),
    "numbers": (MISSING_NUMBERS,),
    "clustering": (MISSING_CLUSTERED, NOISE, NOISE_AS),
}
"""The options of each context by its name."""

# SPDX-License-Identifier: Apache-2.0
"""What columns are called: the usual names of each role, which of them mean gold and which a prediction, and which are meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from karat.findings import Finding, InputError, finding

GOLD = (
    "gold", "gold_label", "y_true", "true_label", "ground_truth", "groundtruth", "actual", "expected",
    "truth", "label_true", "gold label", "true label", "ground truth",
)  # fmt: skip
"""Names that nobody gives to predictions."""
PRED = (
    "prediction", "predictions", "predicted", "pred", "preds", "y_pred", "y_hat", "yhat",
    "predicted_label", "pred_label", "predicted_class", "output", "label_pred", "model_output", "model_prediction",
    "system_output", "predicted label", "predicted class",
)  # fmt: skip
"""Names that nobody gives to gold."""
_PLAIN = ("value", "label", "labels")
_RARER = ("class", "category")
_TARGETS = ("target", "targets", "y")
_GRADES = ("relevance", "rel", "grade")
_PLACES = ("score", "rank")
_SCORES = ("probability", "prob", "proba", "y_score", "y_prob", "y_proba")
_CLUSTERS = ("cluster", "cluster_id")

VALUES = {
    "gold": (GOLD, _PLAIN, _RARER, _TARGETS, _GRADES, _PLACES, _CLUSTERS, PRED),
    "pred": (PRED, _PLAIN, _RARER, _TARGETS, _PLACES, _SCORES, _GRADES, _CLUSTERS, GOLD),
}
"""Names of the column of values by side, surest first: a table with both columns is read rightly on either side."""

QUERIES = ("query", "query_id", "query-id", "qid", "q_id", "topic")
"""Names of test cases in rankings; elsewhere they may as well be facts about an item."""
INDEX = ("unnamed: 0", "__index_level_0__")
"""What pandas calls the index of a table that it wrote: row numbers, unless somebody gave names."""

NAMES: dict[str, tuple[str, ...]] = {
    "test_case": ("test_case", "testcase", *QUERIES),
    "id": (
        "id", "item", "item_id", "uid", "uuid", "doc_id", "docid", "docno", "doc", "document", "document_id",
        "corpus-id", "paperid", "index", *INDEX,
    ),
    "value": (*_PLAIN, *_RARER, *PRED, *GOLD, *_TARGETS, *_PLACES, *_SCORES, *_GRADES, *_CLUSTERS),
}  # fmt: skip
"""Column names that are taken for what they say when no name is given."""

NUMBERS = (*_GRADES, *_PLACES, *_SCORES)
"""Column names that say that the values are numbers."""

TEXTS = ("text", "sentence", "tweet", "content", "body", "title", "question")
"""Names of columns that hold the text of an item."""

SIDES = ("gold", "pred")


class Read(Protocol):
    """What is known of an input whose columns are looked for."""

    name: str
    columns: Mapping[str, str]

    @property
    def side(self) -> str: ...


def columns_of(columns: Mapping[str, str], side: str) -> dict[str, str]:
    """The user's names for one side: ``gold_value`` is gold's, ``value`` is that of both."""
    common = {role: name for role, name in columns.items() if not role.startswith(("gold_", "pred_"))}
    of_side = {role.removeprefix(f"{side}_"): name for role, name in columns.items() if role.startswith(f"{side}_")}
    return common | of_side


def match_columns(
    columns: Mapping[str, str] | list[str],
    named: Mapping[str, str],
    names: Mapping[str, tuple[str, ...]] = NAMES,
    side: str = "",
) -> dict[str, str]:
    """Which of the found columns plays which role: as the user said, else by its usual names (any case) on that side."""
    folded = {str(c).strip().lower(): c for c in columns}
    meant = {folded.get(name.lower()) for role, name in named.items() if role in names}  # whatever else it could be
    out: dict[str, str] = {}
    for role, usual in names.items():
        if role == "value" and side in VALUES and names is NAMES:
            usual = tuple(name for tier in VALUES[side] for name in tier)
        if named.get(role) == "":  # who names nothing wants none
            continue
        wanted = (named[role],) if role in named else usual
        other = () if role in named else meant
        column = next(
            (found for w in wanted if (found := folded.get(w.lower())) is not None and found not in other), None
        )
        if column is not None and column not in out.values():
            out[role] = column
    return out


def span_columns(columns: Iterable[str]) -> str:
    """The columns, if they are those of a table with a row for each span: a record of spans is a document."""
    names = [name.strip() for name in columns]
    return ", ".join(names) if {"start", "end"} <= {*map(str.lower, names)} else ""


def rank_beside(columns: Iterable[str], value: str) -> str | None:
    """The column of ranks that stands beside one of scores."""
    return next((c for c in columns if c.lower() == "rank" and value.lower() == "score"), None)


def check_value_column(
    file: str, side: str, columns: Iterable[str], roles: Mapping[str, str], clusters: bool = False
) -> list[Finding]:
    """Is it clear which column holds this side's values? A warning where another could be meant, an error where it must be said."""
    if side not in VALUES:
        return []
    chosen, names = _folded(roles["value"]), {_folded(name): name for name in columns}
    tiers = [tier for tier in VALUES[side] if chosen in tier]
    if not tiers:
        return []
    (tier,) = tiers
    alike = [names[name] for name in tier if name in names and name not in map(_folded, roles.values())]
    facts: dict[str, Any] = {"chosen": roles["value"], "columns": ", ".join(names.values()), "side": side}
    if tier is VALUES[side][0] and alike:
        both = ", ".join([roles["value"], *alike])
        raise InputError(
            [finding("value-column-unclear", file, **facts, what=f"{both} could all hold the {_noun(side)}")]
        )
    free = [name for key, name in names.items() if key not in TEXTS and name not in roles.values()]
    if tier is VALUES[side][-1]:
        if free:
            what = f"{roles['value']!r} is a name of {_noun(other(side))}, and no other column is known to hold the {_noun(side)}"
            raise InputError([finding("value-column-unclear", file, **facts, what=what)])
        return [finding("value-column-of-other-side", file, **facts, wanted=_noun(side), of=_noun(other(side)))]
    if tier is _CLUSTERS and not clusters:  # clusters of items may stand beside their labels
        alike += [name for name in free if name not in alike]
    if tier in (_PLAIN, _CLUSTERS) and alike:
        return [finding("value-column-chosen", file, **facts, wanted=_noun(side), others=", ".join(alike))]
    return []


def other(side: str) -> str:
    return "pred" if side == "gold" else "gold"


def _noun(side: str) -> str:
    return "gold values" if side == "gold" else "predictions"


def _folded(name: str) -> str:
    return str(name).strip().lower()


def missing_column(read: Read, role: str, columns: Iterable[str], line: int | None = None) -> Finding:
    """The finding for a column that is not there: which one was wanted, and which there are."""
    named = read.columns.get(role)
    usual = (*_PLAIN[:2], *VALUES[read.side][0]) if role == "value" and read.side in VALUES else NAMES[role]
    wanted = repr(named) if named else f"one of {', '.join(usual[:5])}, …"
    option = role.replace("_", "-") if role == "test_case" or not read.side else f"{read.side}-{role}"
    near = difflib.get_close_matches(str(named), list(map(str, columns)), 1) if named else []
    way_out = f"{near[0]!r} may be meant: --{option} {near[0]}" if near else f"name it: --{option} COLUMN"
    if role == "value" and read.side == "gold" and not named and len(list(columns)) > 2:
        way_out += ", or -c soft where each annotator has a column"
    shown = ", ".join(map(str, columns)) or "none"
    return finding(
        "missing-column", read.name, line, role=role.replace("_", " "), expected=wanted, found=shown, way_out=way_out
    )

# SPDX-License-Identifier: Apache-2.0
"""seqeval's scores of tag sequences on karat's spans context.

    from karat.doors.seqeval import IOB2, accuracy_score, classification_report, f1_score

``sample_weight`` is taken and has no effect, as there.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from karat.api import evaluate
from karat.doors.class_report import averaged, known, metrics, report, undefined
from karat.evaluation import SystemResult
from karat.metric import MetricError

SHOWN = {
    **dict.fromkeys(("B", "BI"), "IOB2"),
    **dict.fromkeys(("E", "EI"), "IOE2"),
    **dict.fromkeys(("BE", "BEI", "BES", "BEIS", "S"), "IOBES"),
    **dict.fromkeys(("BL", "BIL", "BLU", "BILU", "U"), "BILOU"),
}
"""The scheme that prefixes show, O aside."""
AVERAGES = ["micro", "macro", "weighted"]
Tags = list[list[str]]

__all__ = [
    "BILOU", "IOB1", "IOB2", "IOBES", "IOE1", "IOE2", "accuracy_score", "classification_report", "f1_score",
    "performance_measure", "precision_score", "recall_score",
]  # fmt: skip


class Scheme:
    """A way to write entities as tags; its name is what counts."""


class IOB1(Scheme):
    """I-, and B- only between neighbours of one type."""


class IOB2(Scheme):
    """B- begins every entity."""


class IOE1(Scheme):
    """I-, and E- only between neighbours of one type."""


class IOE2(Scheme):
    """E- ends every entity."""


class IOBES(Scheme):
    """B-, I-, E-, and S- for an entity of one token."""


class BILOU(Scheme):
    """B-, I-, L-, and U- for an entity of one token."""


def classification_report(
    y_true: Tags,
    y_pred: Tags,
    digits: int = 2,
    suffix: bool = False,
    output_dict: bool = False,
    mode: str | None = None,
    sample_weight: Any = None,
    zero_division: Any = "warn",
    scheme: Any = None,
) -> Any:
    """Precision, recall, F1 and support of each entity type, as text or as a dictionary.

    >>> tags = [["B-PER", "I-PER", "O"], ["B-LOC"]]
    >>> classification_report(tags, tags, output_dict=True)["PER"]["f1-score"]
    1.0
    """
    if mode == "strict" and not scheme:
        sentences(y_true, "y_true")
        scheme = shown_by(y_true, suffix)
    table = report(scored(y_true, y_pred, suffix, mode, zero_division, scheme), AVERAGES)
    return table.rows() if output_dict else table.text(digits)


def shown_by(side: Tags, suffix: bool) -> str:
    """The scheme that gold's prefixes show; both sides are read by it."""
    used = {tag[-1:] if suffix else tag[:1] for sentence in side for tag in sentence} - {"O"}
    if (prefixes := "".join(sorted(used))) not in SHOWN:
        raise ValueError(f"no scheme has the prefixes {', '.join(sorted(used)) or 'O'}; name one: scheme=IOB2")
    return SHOWN[prefixes]


def scored(y_true: Tags, y_pred: Tags, suffix: bool, mode: str | None, zero_division: Any, scheme: Any) -> SystemResult:
    """Entities matched by the scheme where the mode is strict and there is one, as conlleval does otherwise."""
    sentences(y_true, "y_true")
    same_lengths(y_true, y_pred)
    sentences(y_pred, "y_pred")
    strict = mode == "strict" and scheme is not None
    gold, pred = (respelt(side, suffix, strict) for side in (y_true, y_pred))
    return evaluate(
        gold, pred, context="spans", scheme=getattr(scheme, "__name__", scheme) if strict else "seqeval",
        metrics=metrics(AVERAGES), undefined=undefined(zero_division),
    ).systems[0]  # fmt: skip


def respelt(side: Tags, suffix: bool, strict: bool) -> Tags:
    """Tags in the form B-PER, with the type that seqeval sees in them."""
    tags = set[str]().union(*side)
    spelling = {tag: spelt(tag, suffix, strict) for tag in tags}
    if all(tag == other for tag, other in spelling.items()):
        return side
    return [[spelling[tag] for tag in sentence] for sentence in side]


def spelt(tag: str, suffix: bool, strict: bool) -> str:
    """One tag. The lenient reading takes what it does not know for tags of a type, which U is to it.

    >>> spelt("PER-B", True, False), spelt("B-A-B", False, False), spelt("BPER", False, False), spelt("o", False, False)
    ('B-PER', 'B-A-B', 'B-PER', 'U-')
    """
    prefix, rest = (tag[-1:], tag[:-1]) if suffix else (tag[:1], tag[1:])
    if strict:
        label = rest.strip("-")
    else:
        label = rest.rsplit("-", 1)[0] if suffix else rest.split("-", 1)[-1]
        if prefix not in "OBIES":
            warnings.warn(f"{tag!r} is no tag of an entity", stacklevel=7)
            prefix = "O" if prefix == "." else "U"
    return f"{prefix}-{label}" if prefix != "O" else prefix


def sentences(side: Any, name: str) -> None:
    """A TypeError unless it is a list of sentences, as there; karat would guess what else it may be."""
    if not len(side) or any(isinstance(tags, str) or not hasattr(tags, "__len__") for tags in side):
        raise TypeError(f"{name} must be a list of sentences, each a list of tags")
    for tag in set[Any]().union(*side):
        if not isinstance(tag, str):
            raise TypeError(f"{name} has a tag that is no text: {tag!r}")


def same_lengths(y_true: Any, y_pred: Any) -> None:
    """Sentences, or tags where there is one sentence, must pair up."""
    gold, pred = ([1 if isinstance(sentence, str) else len(sentence) for sentence in side] for side in (y_true, y_pred))
    if len(gold) != len(pred):
        raise ValueError(f"{len(gold)} true and {len(pred)} predicted sequences")
    for number, (expected, predicted) in enumerate(zip(gold, pred, strict=True), 1):
        if expected != predicted:
            raise ValueError(f"sentence {number} has {expected} true and {predicted} predicted tags")


def score(
    name: str, y_true: Tags, y_pred: Tags, average: str | None = "micro", suffix: bool = False,
    mode: str | None = None, sample_weight: Any = None, zero_division: Any = "warn", scheme: Any = None,
) -> Any:  # fmt: skip
    """One metric: averaged, or of each type in alphabetical order."""
    if average not in (None, *AVERAGES):
        raise MetricError(f"unknown average {average!r}; there are micro, macro, weighted and None")
    result = scored(y_true, y_pred, suffix, mode, zero_division, scheme)
    if average:
        return averaged(result, name, average)
    return np.array([known(part.value) for part in result[f"{name}(average=macro)"].by_class.values()])


def precision_score(y_true: Tags, y_pred: Tags, **options: Any) -> Any:
    """Share of the predicted entities that are right."""
    return score("precision", y_true, y_pred, **options)


def recall_score(y_true: Tags, y_pred: Tags, **options: Any) -> Any:
    """Share of the true entities that were found."""
    return score("recall", y_true, y_pred, **options)


def f1_score(y_true: Tags, y_pred: Tags, **options: Any) -> Any:
    """Harmonic mean of precision and recall.

    >>> f1_score([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "O"]])
    0.6666666666666666
    """
    return score("f1", y_true, y_pred, **options)


def accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Share of the tags that are right."""
    pairs = list(tag_pairs(y_true, y_pred))
    return sum(gold == pred for gold, pred in pairs) / len(pairs)


def performance_measure(y_true: Any, y_pred: Any) -> dict[str, int]:
    """Tags counted: TP right and not O, FP not O where they should be another, FN O where they should not, TN right O."""
    pairs = list(tag_pairs(y_true, y_pred))
    return {
        "TP": sum(gold == pred != "O" for gold, pred in pairs),
        "FP": sum(gold != pred != "O" for gold, pred in pairs),
        "FN": sum(gold != "O" == pred for gold, pred in pairs),
        "TN": sum(gold == pred == "O" for gold, pred in pairs),
    }


def tag_pairs(y_true: Any, y_pred: Any) -> Iterable[tuple[str, str]]:
    """Tags side by side, out of one sequence or of several."""
    same_lengths(y_true, y_pred)
    gold, pred = (
        [tag for tags in side for tag in ([tags] if isinstance(tags, str) else tags)] for side in (y_true, y_pred)
    )
    return zip(gold, pred, strict=True)

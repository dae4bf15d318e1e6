# SPDX-License-Identifier: Apache-2.0
"""Light annotations for the door `karat.doors.konfuzio.extraction`, and which of a document's annotations it evaluates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Label:
    """What an annotation says of its text; predictions below ``threshold`` are not given."""

    id_: Any
    name: str | None = None
    threshold: float = 0.1
    has_multiple_top_candidates: bool = True
    optimized_thresholds: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(eq=False)
class LabelSet:
    """Labels that belong together, such as those of an invoice's line."""

    id_: Any
    name: str | None = None


@dataclass(eq=False)
class AnnotationSet:
    """One occurrence of a label set in a document."""

    id_: Any = None
    label_set: LabelSet = field(default_factory=lambda: LabelSet(1))


@dataclass(frozen=True)
class Span:
    """Characters from ``start_offset`` up to, not including, ``end_offset``."""

    start_offset: int
    end_offset: int


_ONE_SET = AnnotationSet(1)


@dataclass(eq=False)
class Annotation:
    """A label at one span or several; what people annotate is correct, what a model predicts has a confidence.

    >>> Annotation(Label(11, "date"), [(0, 10)], confidence=0.9).spans
    [Span(start_offset=0, end_offset=10)]
    """

    label: Label
    spans: Any
    confidence: float | None = None
    annotation_set: AnnotationSet = _ONE_SET
    id_: Any = None
    is_correct: bool | None = None
    revised: bool = False

    def __post_init__(self) -> None:
        self.spans = [one if hasattr(one, "start_offset") else Span(*one) for one in self.spans]
        self.is_correct = self.confidence is None if self.is_correct is None else self.is_correct

    @property
    def label_set(self) -> LabelSet:
        return self.annotation_set.label_set


def expected(document: Any) -> list[Any]:
    """The annotations of a true document."""
    return [one for one in document.annotations(use_correct=False) if one.is_correct]


def predicted(document: Any, *, view: bool, ignore_below_threshold: bool) -> list[Any]:
    """The annotations of a prediction: those that a reader would be shown, or all (that reach their threshold)."""
    found = document.annotations(use_correct=False)
    if view:
        return _shown(found, getattr(getattr(document, "project", None), "no_label", None))
    return [one for one in found if not ignore_below_threshold or one.is_correct or _reaches(one)]


def _reaches(one: Any) -> bool:
    return one.confidence is not None and one.confidence >= one.label.threshold


def _shown(found: list[Any], no_label: Any) -> list[Any]:
    """The best annotations that do not overlap, and one per annotation set of a label that may occur once."""
    taken, once, shown = set[int](), set[Any](), list[Any]()
    for one in sorted(filter(lambda one: _may_be_shown(one, no_label), found), key=_rank):
        single = not one.label.has_multiple_top_candidates
        place = (one.label.id_, one.annotation_set.id_)
        own = set(_characters(one))
        if own & taken or (single and place in once and one.is_correct is False):
            continue
        shown.append(one)
        taken |= own
        once |= {place} if single else set()
    order = {id(one): i for i, one in enumerate(found)}
    return sorted(shown, key=lambda one: order[id(one)])


def _may_be_shown(one: Any, no_label: Any) -> bool:
    below = one.confidence is not None and one.confidence < one.label.threshold
    refused = not one.is_correct and getattr(one, "revised", False)
    return not below and not refused and (no_label is None or one.label is not no_label)


def _rank(one: Any) -> tuple[Any, ...]:
    return not one.is_correct, -(one.confidence or 0), min(span.start_offset for span in one.spans)


def _characters(one: Any) -> Iterable[int]:
    return (i for span in one.spans for i in range(span.start_offset, span.end_offset))

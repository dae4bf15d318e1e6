# SPDX-License-Identifier: Apache-2.0
"""Light annotations for the door `karat.doors.konfuzio.extraction`, and which of a document's annotations it evaluates."""

from __future__ import annotations

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
        self.spans = [span if hasattr(span, "start_offset") else Span(*span) for span in self.spans]
        self.is_correct = self.confidence is None if self.is_correct is None else self.is_correct

    @property
    def label_set(self) -> LabelSet:
        return self.annotation_set.label_set


def expected(document: Any) -> list[Any]:
    """The annotations of a true document."""
    return [annotation for annotation in document.annotations(use_correct=False) if annotation.is_correct]


def predicted(document: Any, *, view: bool, ignore_below_threshold: bool) -> list[Any]:
    """The annotations of a prediction: those that a reader would be shown, or all (that reach their threshold)."""
    annotations = document.annotations(use_correct=False)
    if view:
        return _shown(annotations, getattr(getattr(document, "project", None), "no_label", None))
    return [a for a in annotations if not ignore_below_threshold or a.is_correct or _reaches(a)]


def _reaches(annotation: Any) -> bool:
    return annotation.confidence is not None and annotation.confidence >= annotation.label.threshold


def _shown(annotations: list[Any], no_label: Any) -> list[Any]:
    """The best annotations that do not overlap, and one per annotation set of a label that may occur once."""
    taken, once, shown = set[int](), set[Any](), list[Any]()
    for annotation in sorted(filter(lambda annotation: _may_be_shown(annotation, no_label), annotations), key=_rank):
        single = not annotation.label.has_multiple_top_candidates
        place = (annotation.label.id_, annotation.annotation_set.id_)
        characters = {i for span in annotation.spans for i in range(span.start_offset, span.end_offset)}
        if characters & taken or (single and place in once and annotation.is_correct is False):
            continue
        shown.append(annotation)
        taken |= characters
        once |= {place} if single else set()
    order = {id(annotation): i for i, annotation in enumerate(annotations)}
    return sorted(shown, key=lambda annotation: order[id(annotation)])


def _may_be_shown(annotation: Any, no_label: Any) -> bool:
    below = annotation.confidence is not None and annotation.confidence < annotation.label.threshold
    refused = not annotation.is_correct and getattr(annotation, "revised", False)
    return not below and not refused and (no_label is None or annotation.label is not no_label)


def _rank(annotation: Any) -> tuple[Any, ...]:
    return not annotation.is_correct, -(annotation.confidence or 0), min(span.start_offset for span in annotation.spans)

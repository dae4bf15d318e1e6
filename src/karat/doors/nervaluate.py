# SPDX-License-Identifier: Apache-2.0
"""nervaluate's Evaluator on karat's spans kernels: its table of four readings, its matching."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.contexts.spans.semeval import OUTCOMES, READINGS, greedy_table, precision_recall_f1
from karat.contexts.spans.span import Spans
from karat.contexts.spans.tag_codes import encode
from karat.contexts.spans.tags import decode
from karat.metric import MetricError

THEIRS = {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}
ORDER = ("ent_type", "exact", "partial", "strict")


@dataclass
class EvaluationResult:
    """Counts and scores of one reading; ``actual`` counts predictions, ``possible`` gold entities."""

    correct: int
    incorrect: int
    partial: int
    missed: int
    spurious: int
    precision: float
    recall: float
    f1: float
    actual: int
    possible: int


Table = dict[str, EvaluationResult]


class Evaluator:
    """Entities as tag lists (``loader="list"``), CoNLL text (``"conll"``) or dictionaries with label, start, end.

    >>> tags = [["B-PER", "I-PER", "O"]]
    >>> Evaluator(tags, [["B-PER", "O", "O"]], ["PER"], loader="list").evaluate()["overall"]["partial"].f1
    0.5
    """

    def __init__(
        self, true: Any, pred: Any, tags: Sequence[str], loader: str = "default", min_overlap_percentage: float = 1.0
    ) -> None:
        if not 1 <= min_overlap_percentage <= 100:
            raise ValueError("Minimum overlap percentage must be between 1 and 100")
        self.tags, self.threshold = list(dict.fromkeys(tags)), min_overlap_percentage / 100
        self.true, self.pred = (loaded(side, self.tags, loader) for side in (true, pred))

    def evaluate(self) -> dict[str, Any]:
        """``overall`` by reading, and ``entities`` by label and reading."""
        overall, by_label = greedy_table(self.true, self.pred, len(self.tags), threshold=self.threshold)
        return {
            "overall": results(overall),
            "entities": {
                tag: results(by_label[:, code]) for code, tag in enumerate(self.tags) if by_label[:, code].any()
            },
        }

    def summary_report(self, mode: str = "overall", scenario: str = "strict", digits: int = 2) -> str:
        """The table as text: the four readings overall, or the labels in one of them."""
        found = self.evaluate()
        by_tag = {tag: found["entities"][tag][scenario] for tag in sorted(found["entities"])}
        rows = found["overall"] if mode == "overall" else by_tag
        head = [*OUTCOMES, "precision", "recall", "f1-score"]
        width = max(len("overall"), *map(len, rows)) + 1
        lines = [" " * width + "".join(f"{name:>12}" for name in head), ""]
        lines += [f"{name:>{width - 1}} " + "".join(cells(one, digits)) for name, one in rows.items()]
        return f"Scenario: {'all' if mode == 'overall' else scenario}\n\n" + "\n".join(lines) + "\n"


def cells(result: EvaluationResult, digits: int) -> Iterator[str]:
    yield from (f"{getattr(result, name):>12}" for name in OUTCOMES)
    yield from (f"{value:>12.{digits}f}" for value in (result.precision, result.recall, result.f1))


def results(counts: Any) -> Table:
    """One result a reading, in nervaluate's order and under its names."""
    out: Table = {}
    for nth, reading in enumerate(READINGS):
        row = counts[nth]
        half = reading in ("partial", "type")
        precision, recall, f1 = (float(value) for value in precision_recall_f1(row, half=half))
        correct, incorrect, partial, missed, spurious = row.tolist()
        actual, possible = correct + incorrect + partial + spurious, correct + incorrect + partial + missed
        out[THEIRS[reading]] = EvaluationResult(
            correct, incorrect, partial, missed, spurious, precision, recall, f1, actual, possible
        )
    return {name: out[name] for name in ORDER}


def loaded(side: Any, tags: list[str], loader: str) -> Spans:
    """Spans of the wanted labels; nervaluate's ends are inclusive."""
    loaders: dict[str, Callable[[Any, list[str]], Spans]] = {
        "list": from_tags,
        "conll": from_conll,
        "dict": from_dicts,
        "default": from_dicts,
    }
    if loader not in loaders:
        raise MetricError(f"unknown loader {loader!r}; there are {', '.join(loaders)}")
    return loaders[loader](side, tags)


def from_tags(side: Sequence[Sequence[str]], tags: list[str]) -> Spans:
    (tagged,) = encode([side])
    present = sorted({tag.partition("-")[2] for sentence in side for tag in sentence if tag != "O"})
    spans = decode(tagged, present)
    code = np.array([tags.index(label) if label in tags else -1 for label in present] or [-1])
    spans = spans.take(code[spans.label] >= 0)
    return Spans(spans.unit, spans.start, spans.end, code[spans.label])


def from_conll(side: str, tags: list[str]) -> Spans:
    sentences: list[list[str]] = [[]]
    for line in side.splitlines():
        if line.strip():
            sentences[-1].append(line.split("\t")[1].strip() if "\t" in line else line.split()[-1])
        elif sentences[-1]:
            sentences.append([])
    return from_tags([sentence for sentence in sentences if sentence], tags)


def from_dicts(side: Sequence[Sequence[dict[str, Any]]], tags: list[str]) -> Spans:
    rows = [
        (unit, one["start"], one["end"] + 1, tags.index(one["label"]))
        for unit, document in enumerate(side)
        for one in document
        if one["label"] in tags
    ]
    return Spans.of(*(zip(*rows, strict=True) if rows else ([], [], [], [])))

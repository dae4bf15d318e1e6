# SPDX-License-Identifier: Apache-2.0
"""nervaluate's Evaluator on karat's spans kernels: its table of four readings, its matching."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from karat.contexts.spans.marked import tagged as tagged_of
from karat.contexts.spans.semeval import OUTCOMES, READINGS, Greedy, Outcomes, precision_recall_f1, tally
from karat.contexts.spans.span import Spans
from karat.contexts.spans.tags import decode
from karat.metric import MetricError
from karat.read.documents import tag_entries

THEIRS = {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}
ORDER = ("strict", "partial", "ent_type", "exact")
CSV_SCORES = ("Precision", "Recall", "F1-Score")


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


@dataclass
class EvaluationIndices:
    """(document, entity) of one reading by outcome: predictions, but gold entities where they were missed."""

    correct_indices: list[tuple[int, int]]
    incorrect_indices: list[tuple[int, int]]
    partial_indices: list[tuple[int, int]]
    missed_indices: list[tuple[int, int]]
    spurious_indices: list[tuple[int, int]]


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
            raise ValueError("min_overlap_percentage must be between 1.0 and 100.0")
        self.tags, self.threshold = list(dict.fromkeys(tags)), min_overlap_percentage / 100
        loader = inferred(true) if loader == "default" else loader
        if loader == "conll":
            true, pred = from_conll(true), from_conll(pred)
        checked_lengths(true, pred, tokens=loader == "list")
        self.true, self.pred = (loaded(side, self.tags, loader) for side in (true, pred))

    def evaluate(self) -> dict[str, Any]:
        """``overall`` by reading and ``entities`` by label and reading, with the ``…_indices`` behind the counts."""
        whole = Greedy.of(self.true, self.pred, self.threshold)
        outcomes = {reading: whole.outcomes(reading) for reading in READINGS}
        within = whole.inside_labels()
        inside = {reading: within.outcomes(reading) for reading in READINGS}
        size = len(self.tags)
        overall = np.array([tally(outcomes[reading], self.true, self.pred, size).sum(0) for reading in READINGS])
        by_label = np.array([tally(inside[reading], self.true, self.pred, size) for reading in READINGS])
        used = {tag: code for code, tag in enumerate(self.tags) if by_label[:, code].any()}
        return {
            "overall": results(overall),
            "entities": {tag: results(by_label[:, code]) for tag, code in used.items()},
            "overall_indices": {THEIRS[reading]: self.indices(outcomes[reading]) for reading in in_order(READINGS)},
            "entity_indices": {
                tag: {THEIRS[reading]: self.indices(inside[reading], code) for reading in in_order(READINGS)}
                for tag, code in used.items()
            },
        }

    def indices(self, kinds: Outcomes, label: int | None = None) -> EvaluationIndices:
        """Where each outcome stands; entities of one label are counted among themselves."""
        gold, pred = (places(side, label) for side in (self.true, self.pred))
        parts = {
            OUTCOMES[code]: [at[row] for row in np.flatnonzero(codes == code).tolist() if row in at]
            for code, (codes, at) in enumerate([(kinds.pred, pred)] * 3 + [(kinds.gold, gold), (kinds.pred, pred)])
        }
        return EvaluationIndices(**{f"{name}_indices": part for name, part in parts.items()})

    def results_to_csv(
        self, mode: str = "overall", scenario: str = "strict", file_path: str | None = None
    ) -> str | None:
        """The table as CSV, returned or written to a file."""
        rows = self._rows(mode, scenario)
        heads = ["Strategy" if mode == "overall" else "Entity", *map(str.capitalize, OUTCOMES), *CSV_SCORES]
        out = io.StringIO(newline="")
        csv.writer(out).writerows([heads, *([name, *numbers(row)] for name, row in rows.items())])
        if file_path is None:
            return out.getvalue()
        Path(file_path).write_text(out.getvalue(), encoding="utf-8", newline="")
        return None

    def _rows(self, mode: str, scenario: str) -> Table:
        if mode not in ("overall", "entities"):
            raise ValueError("Invalid mode: must be one of overall, entities")
        if mode == "entities" and scenario not in ORDER:
            raise ValueError(f"Invalid scenario: must be one of {', '.join(ORDER)}")
        report = self.evaluate()
        overall: Table = report["overall"]
        return overall if mode == "overall" else {tag: by[scenario] for tag, by in report["entities"].items()}

    def summary_report(self, mode: str = "overall", scenario: str = "strict", digits: int = 2) -> str:
        """The table as text: the four readings overall, or the labels in one of them."""
        rows = dict(sorted(self._rows(mode, scenario).items()))
        head = [*OUTCOMES, "precision", "recall", "f1-score"]
        width = max([len("overall"), *map(len, rows)]) + 1
        lines = [" " * width + "".join(f"{name:>12}" for name in head), ""]
        lines += [f"{name:>{width - 1}} " + "".join(cells(row, digits)) for name, row in rows.items()]
        return f"Scenario: {'all' if mode == 'overall' else scenario}\n\n" + "\n".join(lines) + "\n"


def numbers(result: EvaluationResult) -> list[float]:
    return [*(getattr(result, name) for name in OUTCOMES), result.precision, result.recall, result.f1]


def in_order(readings: Sequence[str]) -> list[str]:
    return sorted(readings, key=lambda reading: ORDER.index(THEIRS[reading]))


def places(side: Spans, label: int | None) -> dict[int, tuple[int, int]]:
    """Document and number in the document of each row, of all labels or of one."""
    seen: dict[int, int] = {}
    out = {}
    for row, (unit, code) in enumerate(zip(side.unit.tolist(), side.label.tolist(), strict=True)):
        if label is None or code == label:
            seen[unit] = seen.get(unit, -1) + 1
            out[row] = (unit, seen[unit])
    return out


def inferred(side: Any) -> str:
    """What kind of input it is."""
    if isinstance(side, str):
        return "conll"
    first: Any = next((entity for document in side for entity in document), {}) if isinstance(side, list) else None
    if first is None:
        raise ValueError("Could not infer loader from input type")
    return "dict" if isinstance(first, dict) else "list"


def checked_lengths(true: Any, pred: Any, *, tokens: bool) -> None:
    """As many documents on both sides, and for tags as many tokens."""
    if len(true) != len(pred):
        raise ValueError("Number of predicted documents does not equal true")
    for number, (gold, predicted) in enumerate(zip(true, pred, strict=True) if tokens else ()):
        if len(gold) != len(predicted):
            raise ValueError(f"Document {number} has different lengths: true={len(gold)}, pred={len(predicted)}")


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
        "conll": from_tags,
        "dict": from_dicts,
    }
    if loader not in loaders:
        raise MetricError(f"unknown loader {loader!r}; there are {', '.join(loaders)}")
    return loaders[loader](side, tags)


def from_tags(side: Sequence[Sequence[str]], tags: list[str]) -> Spans:
    """The label is what follows the first two signs; only B- and I- open an entity, anything of its label goes on."""
    try:
        entries, names, length = tag_entries(side)
    except TypeError as error:
        raise ValueError(f"Invalid tag type: {error}") from error
    if wrong_type := [tag for tag in names if not isinstance(tag, str)]:
        raise ValueError(f"Invalid tag type: {type(wrong_type[0])}")
    tagged = tagged_of(entries, length, names)
    label = [tag[2:] for tag in tagged.tags]
    opens = np.array([tag[:2] in ("B-", "I-") for tag in tagged.tags])
    goes_on = np.array(
        [
            [tag[:1] != "B" and before > 0 and label[before] == tag[2:] for tag in tagged.tags]
            for before in range(len(label))
        ]
    )
    wrong = ~opens[tagged.code] & ~goes_on[tagged.neighbours[0], tagged.code]
    if wrong.any():
        raise ValueError(f"Invalid tag format: {tagged.tags[tagged.code[wrong][0]]}")
    present = sorted(set(label))
    plain = ["O", *(f"{'B' if tag[0] == 'B' else 'I'}-{present.index(tag[2:])}" for tag in tagged.tags[1:])]
    spans = decode(replace(tagged, tags=plain), list(map(str, range(len(present)))))
    code = np.array([tags.index(name) if name in tags else -1 for name in present])
    spans = spans.take(code[spans.label] >= 0)
    return Spans(spans.unit, spans.start, spans.end, code[spans.label])


def from_conll(side: str) -> list[list[str]]:
    """The tags of each block of lines, behind the tab; a blank line within a block takes up a place, as there."""
    blocks = side.rstrip().split("\n\n") if side else []
    return [conll_tags(block.split("\n")) for block in blocks]


def conll_tags(lines: Sequence[str]) -> list[str]:
    tags: list[str] = []
    for line in lines:
        if not line.strip():
            before = tags[-1] if tags else "O"
            tags.append("O" if before == "O" else f"I-{before[2:]}")
        elif "\t" in line:
            tags.append(line.split("\t")[1])
        else:
            raise ValueError(f"Invalid CoNLL format: line {line!r} does not contain a tab separator")
    return tags


def from_dicts(side: Sequence[Sequence[dict[str, Any]]], tags: list[str]) -> Spans:
    for document in side:
        for entity in document:
            checked_entity(entity)
    rows = [
        (unit, entity["start"], entity["end"] + 1, tags.index(entity["label"]))
        for unit, document in enumerate(side)
        for entity in document
        if entity["label"] in tags
    ]
    return Spans.of(*(zip(*rows, strict=True) if rows else ([], [], [], [])))


def checked_entity(entity: Any) -> None:
    """A ValueError unless it is a label with whole numbers for its place; the words begin as nervaluate's do."""
    if not isinstance(entity, dict):
        raise ValueError(f"Invalid entity type: {type(entity)}")
    if not entity.keys() >= {"label", "start", "end"}:
        raise ValueError(f"Entity missing required keys: label, start and end, not {', '.join(map(str, entity))}")
    if not isinstance(entity["label"], str):
        raise ValueError(f"Entity label must be a string: {entity}")
    if not (isinstance(entity["start"], int) and isinstance(entity["end"], int)):
        raise ValueError(f"Entity start and end must be integers: {entity}")

"""Spans: seqeval and nervaluate on tag lists in memory, the poetry evaluation's algorithm on files, growth by spans a page."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.case import Case, Data, Side

LABELS = ("PER", "LOC", "ORG", "MISC")


def tag_lists(sentences: int, tokens: int = 30) -> Data:
    """One token in six is inside an entity; three predicted tags in a hundred are drawn at random."""

    def make(folder: Path) -> None:
        draw = random.Random(sentences)
        for role in ("gold", "pred"):
            (folder / f"{role}.txt").unlink(missing_ok=True)
        with (folder / "gold.txt").open("w") as gold, (folder / "pred.txt").open("w") as pred:
            for _ in range(sentences):
                row = list(sentence(draw, tokens))
                gold.write(" ".join(row) + "\n")
                pred.write(" ".join(noisy(draw, row)) + "\n")

    return Data(f"tags-{sentences}", make)


def sentence(draw: random.Random, tokens: int) -> Iterator[str]:
    left = tokens
    while left:
        size = min(left, draw.choice((1, 1, 2, 3))) if draw.random() < 0.09 else 0
        label = draw.choice(LABELS)
        yield from (["B-" + label] + ["I-" + label] * (size - 1)) if size else ["O"]
        left -= size or 1


def noisy(draw: random.Random, row: list[str]) -> list[str]:
    return [draw.choice(("O", "B-PER", "I-PER", "B-LOC", "I-LOC")) if draw.random() < 0.03 else tag for tag in row]


def lists(folder: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Lists of lists of strings, each tag one shared object, as a tokenizer's label map gives them."""
    known: dict[str, str] = {}
    gold, pred = (
        [[known.setdefault(tag, tag) for tag in line.split()] for line in (folder / f"{role}.txt").open()]
        for role in ("gold", "pred")
    )
    return gold, pred


def seqeval(pair: Any) -> float:
    from seqeval.metrics import classification_report

    return float(classification_report(*pair, output_dict=True, zero_division=0)["micro avg"]["f1-score"])


def karat_report(pair: Any) -> float:
    import karat

    result = karat.evaluate(*pair, metrics=["precision", "recall", "f1"])
    rows = {row[0]: row for row in result.systems[0].detail("report").rows}
    return float(rows["micro avg"][3])


def nervaluate(pair: Any) -> float:
    from nervaluate.evaluator import Evaluator

    return float(Evaluator(*pair, tags=list(LABELS), loader="list").evaluate()["overall"]["partial"].f1)


def karat_semeval(pair: Any) -> float:
    """All four readings, overall and by label, with nervaluate's own matching."""
    import karat

    result = karat.evaluate(*pair, metrics=["muc_f1(reading=partial)"], matching="greedy", overlap=0.01)
    tables = [result.systems[0].detail(name).rows for name in ("semeval", "semeval-labels")]
    return float(tables[0][2][-1])


def pages(number: int, spans: int) -> Data:
    """References that do not overlap; a system that moves most of them a little, drops some and mislabels some."""

    def make(folder: Path) -> None:
        draw = random.Random(number + spans)
        with (folder / "ref.jsonl").open("w") as ref, (folder / "sys.jsonl").open("w") as system:
            for index in range(number):
                name = f"work.{index // 300:05d}_{index:08d}"
                gold, pred = page(draw, spans)
                ref.write(json.dumps({"page_id": name, "n_excerpts": len(gold), "excerpts": gold}) + "\n")
                system.write(json.dumps({"page_id": name, "n_spans": len(pred), "poem_spans": pred}) + "\n")

    return Data(f"pages-{number}x{spans}", make)


def page(draw: random.Random, spans: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    gold, pred, at = [], [], 0
    for _ in range(spans):
        start = at + draw.randint(0, 60)
        end = start + draw.randint(50, 400)
        at = end + draw.randint(1, 50)
        poem = f"poem_{draw.randint(0, 3000):05d}"
        gold.append({"start": start, "end": end, "poem_id": poem})
        if draw.random() < 0.85:
            moved = {"page_start": max(0, start + draw.randint(-20, 20)), "page_end": end + draw.randint(-20, 20)}
            pred.append({**moved, "ref_id": poem if draw.random() < 0.9 else "poem_other"})
    return gold, pred


def karat_pages(folder: Path) -> float:
    import karat

    names = ["excerpt_precision", "excerpt_recall"]
    result = karat.evaluate(str(folder / "ref.jsonl"), str(folder / "sys.jsonl"), metrics=names)
    result.systems[0].detail("excerpts").rows  # noqa: B018  (the counts are part of the script's output)
    return float(result["excerpt_precision"].value or 0)


def transcribed(folder: Path) -> float:
    """The poetry evaluation's documented steps in plain Python, written by us: the script itself is not needed here.

    As documented: spans are objects that compare themselves, and each reference scans all system spans of its page.
    """
    system = {}
    with (folder / "sys.jsonl").open() as lines:
        for line in lines:
            record = json.loads(line)
            found = [Span(s["page_start"], s["page_end"], s["ref_id"]) for s in record["poem_spans"]]
            system[record["page_id"]] = sorted(found, key=lambda span: (span.start, span.end))
    total, number = 0.0, 0
    with (folder / "ref.jsonl").open() as lines:
        for line in lines:
            record = json.loads(line)
            gold = [Span(s["start"], s["end"], s["poem_id"]) for s in record["excerpts"]]
            gold.sort(key=lambda span: (span.start, span.end))
            total += plain_page(gold, system[record["page_id"]])[0]
            number += 1
    return total / number


@dataclass
class Span:
    """A labelled stretch of a page that can be compared with another."""

    start: int
    end: int
    label: str

    def __len__(self) -> int:
        return self.end - self.start

    def has_overlap(self, other: Span) -> bool:
        return self.label == other.label and self.start < other.end and other.start < self.end

    def overlap_length(self, other: Span) -> int:
        return min(self.end, other.end) - max(self.start, other.start) if self.has_overlap(other) else 0

    def overlap_factor(self, other: Span) -> float:
        common = self.overlap_length(other)
        return common / max(len(self), len(other)) if common else 0.0

    def is_exact_match(self, other: Span) -> bool:
        return self.start == other.start and self.end == other.end and self.label == other.label


def plain_page(gold: list[Span], pred: list[Span]) -> tuple[float, float]:
    """Precision and recall of a page."""
    takers: dict[int, list[int]] = {}
    for i, reference in enumerate(gold):
        best, most = None, 0.0
        for j, span in enumerate(pred):
            found = reference.overlap_factor(span)
            if found > most:
                best, most = j, found
        if best is not None:
            takers.setdefault(best, []).append(i)
    relevance = 0.0
    for j in sorted(takers):
        relevance += sum_of_pieces(gold, pred[j], takers[j])
    retrieved = sum(max(1, len(takers.get(j, ()))) for j in range(len(pred)))
    precision = relevance / retrieved if retrieved else float(not gold)
    return precision, relevance / len(gold) if gold else float(not pred)


def sum_of_pieces(gold: list[Span], span: Span, takers: list[int]) -> float:
    total = 0.0
    for k, i in enumerate(takers):
        start = span.start if k == 0 else gold[i].start
        end = span.end if k == len(takers) - 1 else gold[takers[k + 1]].start
        piece = Span(start, end, span.label)
        total += 1 if gold[i].is_exact_match(piece) else gold[i].overlap_factor(piece)
    return total


def warm(folder: Path) -> Path:
    import karat  # noqa: F401  (start-up is not what is measured)

    return folder


OURS = "transcription"

CASES = [
    Case("seqeval", tag_lists(100_000), Side("karat", karat_report, lists), (Side("seqeval", seqeval, lists, repeat=1),),
         50, "classification report of 100,000 sentences of 30 tags in memory"),
    Case("nervaluate", tag_lists(100_000), Side("karat", karat_semeval, lists),
         (Side("nervaluate", nervaluate, lists, repeat=1),), 50,
         "the four readings, overall and by label, of 100,000 sentences of 30 tags in memory"),
    Case("poetry-100000x5", pages(100_000, 5), Side("karat", karat_pages, warm),
         (Side(OURS, transcribed, repeat=1),), 15,
         "100,000 pages of 5 excerpts from JSON Lines; the peer is our plain transcription of the script's documented steps"),
    *(Case(f"poetry-{number}x{spans}", pages(number, spans), Side("karat", karat_pages, warm),
           (Side(OURS, transcribed, repeat=1),), None, "growth by excerpts a page, 50,000 excerpts in all")
      for number, spans in ((10_000, 5), (1_000, 50), (100, 500), (25, 2_000))),
]  # fmt: skip

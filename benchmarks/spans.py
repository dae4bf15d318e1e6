"""Spans: seqeval and nervaluate on tag lists in memory, the poetry evaluation's algorithm on files, growth by spans a page."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
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

    As documented: all system pages are held as labelled spans and as spans merged without their labels, spans are
    objects that compare themselves, each reference scans all system spans of its page, precision and recall add up
    the relevance of the pairs, spans and poems are counted. Lines are decoded by msgspec, and no CSV is written.
    """
    import msgspec

    with (folder / "sys.jsonl").open("rb") as lines:
        pages = map(msgspec.json.decode, lines)
        system = {page["page_id"]: SystemPage(page["poem_spans"]) for page in pages if page["n_spans"] >= 0}
    results = []
    with (folder / "ref.jsonl").open("rb") as lines:
        for page in map(msgspec.json.decode, lines):
            gold = [Span(s["start"], s["end"], s["poem_id"]) for s in page["excerpts"]]
            gold.sort(key=lambda span: (span.start, span.end))
            results.append(PlainPage(gold, system[page["page_id"]].labeled).evaluated())
    return sum(r["precision"] for r in results) / len(results)


class Span:
    """A labelled stretch of a page that can be compared with another."""

    def __init__(self, start: int, end: int, label: str) -> None:
        if end <= start:
            raise ValueError("a span ends before it starts")
        self.start, self.end, self.label = start, end, label

    def __len__(self) -> int:
        return self.end - self.start

    def has_overlap(self, other: Span, ignore_label: bool = False) -> bool:
        return (ignore_label or self.label == other.label) and self.start < other.end and other.start < self.end

    def overlap_length(self, other: Span, ignore_label: bool = False) -> int:
        if not self.has_overlap(other, ignore_label):
            return 0
        return min(self.end, other.end) - max(self.start, other.start)

    def overlap_factor(self, other: Span, ignore_label: bool = False) -> float:
        common = self.overlap_length(other, ignore_label)
        return common / max(len(self), len(other)) if common else 0.0

    def is_exact_match(self, other: Span, ignore_label: bool = False) -> bool:
        return self.start == other.start and self.end == other.end and (ignore_label or self.label == other.label)


class SystemPage:
    """The spans of a page, and those that are left when labels are ignored and overlapping ones merged."""

    def __init__(self, found: list[dict[str, Any]]) -> None:
        self.labeled = [Span(s["page_start"], s["page_end"], s["ref_id"]) for s in found]
        self.labeled.sort(key=lambda span: (span.start, span.end))
        self.unlabeled: list[Span] = []
        for span in self.labeled:
            bare = Span(span.start, span.end, "")
            if self.unlabeled and self.unlabeled[-1].has_overlap(bare):
                self.unlabeled[-1].end = max(self.unlabeled[-1].end, bare.end)
            else:
                self.unlabeled.append(bare)


class PlainPage:
    """A page's pairs, scores and counts."""

    def __init__(self, gold: list[Span], pred: list[Span]) -> None:
        self.gold, self.pred = gold, pred
        self.taken: list[int | None] = [None] * len(gold)
        self.takers: list[list[int]] = [[] for _ in pred]
        for i, reference in enumerate(gold):
            most = 0.0
            for j, span in enumerate(pred):
                factor = reference.overlap_factor(span)
                if factor > most:
                    self.taken[i], most = j, factor
            if (best := self.taken[i]) is not None:
                self.takers[best].append(i)
        self.pairs = [pair for j, takers in enumerate(self.takers) for pair in self._pieces(pred[j], takers)]

    def _pieces(self, span: Span, takers: list[int]) -> Iterator[tuple[Span, Span]]:
        if len(takers) == 1:
            yield self.gold[takers[0]], span
            return
        starts = [span.start, *(self.gold[i].start for i in takers[1:])]
        for i, start, end in zip(takers, starts, [*starts[1:], span.end], strict=False):
            yield self.gold[i], Span(start, end, span.label)

    def relevance(self) -> float:
        return sum(1 if gold.is_exact_match(span) else gold.overlap_factor(span) for gold, span in self.pairs)

    def precision(self) -> float:
        if not self.pred:
            return float(not self.gold)
        return self.relevance() / sum(max(1, len(takers)) for takers in self.takers)

    def recall(self) -> float:
        return self.relevance() / len(self.gold) if self.gold else float(not self.pred)

    def evaluated(self) -> dict[str, Any]:
        hit = {span.label for span, j in zip(self.gold, self.taken, strict=True) if j is not None}
        missed = {span.label for span, j in zip(self.gold, self.taken, strict=True) if j is None}
        lone = [span.label for span, takers in zip(self.pred, self.takers, strict=True) if not takers]
        matches = sum(j is not None for j in self.taken)
        return {
            "precision": self.precision(),
            "recall": self.recall(),
            "n_span_matches": matches,
            "n_span_misses": len(self.gold) - matches,
            "n_span_spurious": len(lone),
            "n_poem_matches": len(hit),
            "n_poem_misses": len(missed),
            "n_poem_spurious": len(set(lone) - {span.label for span in self.gold}),
        }


def warm(folder: Path) -> Path:
    import karat  # noqa: F401  (start-up is not what is measured)

    return folder


OURS = "transcription"

CASES = [
    Case("seqeval", tag_lists(100_000), Side("karat", karat_report, lists), (Side("seqeval", seqeval, lists, repeat=1),),
         50, "classification report of 100,000 sentences of 30 tags in memory"),
    Case("nervaluate", tag_lists(100_000), Side("karat", karat_semeval, lists),
         (Side("nervaluate", nervaluate, lists, repeat=2),), 50,
         "the four readings, overall and by label, of 100,000 sentences of 30 tags in memory"),
    Case("poetry-100000x5", pages(100_000, 5), Side("karat", karat_pages, warm),
         (Side(OURS, transcribed, repeat=2),), 10,
         "100,000 pages of 5 excerpts from JSON Lines; the peer is our plain transcription of the script's documented steps"),
    *(Case(f"poetry-{number}x{spans}", pages(number, spans), Side("karat", karat_pages, warm),
           (Side(OURS, transcribed, repeat=1),), None, "growth by excerpts a page, 50,000 excerpts in all")
      for number, spans in ((10_000, 5), (1_000, 50), (100, 500), (25, 2_000))),
]  # fmt: skip

"""Random inputs for every context, and the same inputs changed in ways that must not matter (or that must)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from karat.contexts import context

Record = dict[str, Any]
LABELS = ("A", "B", "C", "D")
TREE = {"X": ["A", "B"], "Y": {"C": [], "Z": ["D"]}}


@dataclass(frozen=True)
class Sample:
    """Gold and predictions as records, with the options that go with them."""

    gold: list[Record]
    pred: list[Record]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Maker:
    """How to make and change samples of one context."""

    value: Callable[[random.Random], Any]
    """A random gold value."""
    guess: Callable[[random.Random, Any], Any]
    """A prediction for a gold value, often right."""
    relabel: Callable[[Any, Mapping[str, str]], Any] | None = None
    """A value with its labels renamed; None where there are no labels."""
    perfect: Callable[[Record], Record | None] = dict
    """The prediction of a system that knows gold."""
    limited: bool = False
    """Does gold limit what even a perfect system can score?"""
    unit: str = "id"
    """The field that names the unit that is resampled."""
    key: str = "value"
    """The field that holds what is compared."""
    swappable: bool = True
    """Can predictions stand as gold?"""
    hierarchical: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    items: Callable[[random.Random, str], list[Record]] | None = None
    """The gold records of a test case, where they are not one random value per id."""

    def sample(self, seed: int, complete: bool = False) -> Sample:
        """Two test cases; unless ``complete``, some gold ids lack a prediction and some predictions a gold id."""
        rng = random.Random(seed)
        gold = [r for t in ("T1", "T2") for r in (self.items or self._items)(rng, t)]
        pred = [r | {self.key: self.guess(rng, r[self.key])} for r in gold]
        if not complete:
            pred = [r for r in pred if rng.random() < 0.9] or pred
            pred += (
                [r | {"id": r["id"] + "-only"} for r in pred[:2]] if self.unit == "id" and self.key == "value" else []
            )
        tree = {"hierarchy": TREE} if self.hierarchical and seed % 2 else {}
        return Sample(gold, pred, {**self.options, **tree})

    def _items(self, rng: random.Random, test_case: str) -> list[Record]:
        return [
            {"test_case": test_case, "id": f"{test_case}-{i}", self.key: self.value(rng)}
            for i in range(rng.randint(5, 25))
        ]


def renamed_label(old: str, names: Mapping[str, str]) -> str:
    return names.get(old, old)


def guess_label(rng: random.Random, gold: str) -> str:
    return gold if rng.random() < 0.6 else rng.choice((*LABELS, "new"))


def label_set(rng: random.Random) -> list[str]:
    return rng.sample(LABELS, rng.randint(1, 3))


def guess_set(rng: random.Random, gold: list[str]) -> list[str]:
    return gold if rng.random() < 0.4 else rng.sample((*LABELS, "new"), rng.randint(1, 3))


def weights(rng: random.Random) -> dict[str, float]:
    """Shares of ten annotators; one label has the most, because a tie is broken by the order of labels."""
    votes = [rng.choice(LABELS) for _ in range(10)]
    shares = {label: votes.count(label) / 10 for label in LABELS}
    return shares if [*shares.values()].count(max(shares.values())) == 1 else weights(rng)


def guess_weights(rng: random.Random, gold: dict[str, float]) -> dict[str, float]:
    return gold if rng.random() < 0.3 else weights(rng)


def ranked_item(gold: Record) -> Record | None:
    """Relevant documents alone, the most relevant first."""
    return gold | {"value": 100 - gold["value"]} if gold["value"] > 0 else None


def pages(rng: random.Random, test_case: str) -> list[Record]:
    return [
        {
            "test_case": test_case,
            "document_id": f"{test_case}-{i}",
            "category": rng.choice(("letter", "bill")),
            "pages": [
                {"number": n + 1, "is_first_page": n == 0 or rng.random() < 0.4} for n in range(rng.randint(1, 9))
            ],
        }
        for i in range(rng.randint(3, 9))
    ]


def guess_pages(rng: random.Random, gold: list[Record]) -> list[Record]:
    """Flags that are often right, and a confidence that is 1, 0 or something between."""
    flags = [p["is_first_page"] if p["number"] == 1 or rng.random() < 0.7 else rng.random() < 0.5 for p in gold]
    sure = [rng.choice((0.0, 0.25, 0.5, 0.75, 1.0)) for _ in gold]
    return [p | {"is_first_page": f, "confidence": c} for p, f, c in zip(gold, flags, sure, strict=True)]


def perfect_pages(gold: Record) -> Record:
    return gold | {"pages": [p | {"confidence": float(p["is_first_page"])} for p in gold["pages"]]}


def spans(rng: random.Random) -> list[Record]:
    """Spans that do not overlap."""
    cuts = sorted(rng.sample(range(60), 2 * rng.randint(0, 4)))
    ends = zip(cuts[::2], cuts[1::2], strict=True)
    return [{"start": start, "end": end, "label": rng.choice(LABELS)} for start, end in ends]


def guess_spans(rng: random.Random, gold: list[Record]) -> list[Record]:
    """Some spans lost, some with another label, some a little longer, some in two pieces."""
    return [piece for span in gold if rng.random() < 0.8 for piece in guess_span(rng, span)]


def guess_span(rng: random.Random, span: Record) -> list[Record]:
    middle = (span["start"] + span["end"]) // 2
    pieces = [span | {"end": middle}, span | {"start": middle}]
    wrong = [span | {"label": rng.choice((*LABELS, "new"))}]
    return rng.choice(
        ([span], [span], wrong, [span | {"end": span["end"] + 1}], pieces if middle > span["start"] else [span])
    )


def guess_probabilities(rng: random.Random, gold: str) -> dict[str, float]:
    """Probabilities of all labels, gold's often the highest; no two are equal, because then names would break the tie."""
    raw = {label: rng.randint(1, 1000) for label in (*LABELS, "new")}
    if rng.random() < 0.5:
        raw[gold] += 1000
    if len({*raw.values()}) < len(raw):
        return guess_probabilities(rng, gold)
    return {label: value / sum(raw.values()) for label, value in raw.items()}


def certain(gold: Record) -> Record:
    """All the probability on gold's label."""
    return gold | {"value": {label: float(label == gold["value"]) for label in LABELS}}


def renamed_scores(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {renamed_label(k, names): v for k, v in value.items()}
    return renamed_label(value, names)


KINDS: dict[str, Maker] = {
    "numbers": Maker(
        lambda rng: rng.choice((rng.randint(0, 5), rng.uniform(-3, 9))),
        lambda rng, gold: rng.choice((gold, gold + rng.uniform(-2, 2), rng.randint(0, 5))),
        options={"missing": "skip"},
    ),
    "probabilities": Maker(
        lambda rng: rng.choice(LABELS), guess_probabilities, renamed_scores, perfect=certain, swappable=False
    ),
    "spans": Maker(
        spans,
        guess_spans,
        lambda value, names: [s | {"label": renamed_label(s["label"], names)} for s in value],
        key="spans",
    ),
    "label": Maker(lambda rng: rng.choice(LABELS), guess_label, renamed_label, hierarchical=True),
    "labels": Maker(
        label_set, guess_set, lambda value, names: [renamed_label(v, names) for v in value], hierarchical=True
    ),
    "weights": Maker(
        weights,
        guess_weights,
        lambda value, names: {renamed_label(k, names): v for k, v in value.items()},
        limited=True,
        hierarchical=True,
    ),
    "number": Maker(
        lambda rng: rng.randint(0, 3),
        lambda rng, gold: rng.randint(1, 1000),
        perfect=ranked_item,
        limited=True,
        unit="test_case",
        swappable=False,
    ),
    "clusters": Maker(lambda rng: rng.choice(LABELS), guess_label, renamed_label, unit="test_case"),
    "pages": Maker(
        lambda rng: None,
        guess_pages,
        perfect=perfect_pages,
        unit="document_id",
        key="pages",
        items=pages,
        options={"missing_pages": "not-first"},
    ),
}
"""Makers by what a context's values are; a context whose values are of a known kind needs nothing here."""


def maker(name: str) -> Maker:
    kind = context(name).kinds[0]
    assert kind in KINDS, f"context {name}: write a Maker of {kind!r} in {__name__}.KINDS, so that the laws hold it too"
    options = {o.name for o in context(name).options}
    return replace(KINDS[kind], hierarchical="hierarchy" in options and KINDS[kind].hierarchical)


def shuffled(sample: Sample, rng: random.Random) -> Sample:
    return replace(
        sample, gold=rng.sample(sample.gold, len(sample.gold)), pred=rng.sample(sample.pred, len(sample.pred))
    )


def copied(sample: Sample, unit: str, times: int) -> Sample:
    """Every unit so many times, each copy under a name of its own."""
    rows = lambda side: [r | {unit: f"{r[unit]}~{i}"} for i in range(times) for r in side]
    return replace(sample, gold=rows(sample.gold), pred=rows(sample.pred))


def relabelled(sample: Sample, made: Maker, names: Mapping[str, str]) -> Sample:
    assert made.relabel
    change = lambda side: [r | {made.key: made.relabel(r[made.key], names)} for r in side]  # type: ignore[misc]
    tree = sample.options.get("hierarchy")
    options = dict(sample.options) | ({"hierarchy": renamed_tree(tree, names)} if tree else {})
    return Sample(change(sample.gold), change(sample.pred), options)


def renamed_tree(tree: Any, names: Mapping[str, str]) -> Any:
    if isinstance(tree, str):
        return names.get(tree, tree)
    if isinstance(tree, list):
        return [renamed_tree(t, names) for t in tree]
    return {names.get(k, k): renamed_tree(v, names) for k, v in tree.items()}


def without_test_cases(sample: Sample) -> Sample:
    strip = lambda side: [{k: v for k, v in r.items() if k != "test_case"} for r in side]
    return replace(sample, gold=strip(sample.gold), pred=strip(sample.pred))


def only(sample: Sample, test_case: str) -> Sample:
    keep = lambda side: [r for r in side if r["test_case"] == test_case]
    return replace(sample, gold=keep(sample.gold), pred=keep(sample.pred))

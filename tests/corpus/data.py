"""Small inputs of every context: random ones, and odd ones written by hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Record = dict[str, Any]
LABELS = ("A", "B", "C", "D")
TREE = {"X": ["A", "B"], "Y": {"C": [], "Z": ["D"]}}


@dataclass(frozen=True)
class Text:
    """A file's name and what stands in it."""

    name: str
    content: str


@dataclass(frozen=True)
class Data:
    """Gold and predictions, with the options that go with them."""

    gold: Any
    pred: Any
    options: dict[str, Any] = field(default_factory=dict)


class Dice:
    """Random choices by numbers between 0 and 1 alone, which are the same in every version of Python."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def below(self, n: int) -> int:
        return int(self.random() * n)

    def pick(self, options: Sequence[Any]) -> Any:
        return options[self.below(len(options))]

    def some(self, options: Sequence[Any], share: float) -> list[Any]:
        return [option for option in options if self.random() < share]

    def shuffled(self, options: Sequence[Any]) -> list[Any]:
        keys = [self.random() for _ in options]
        return [options[n] for n in sorted(range(len(keys)), key=keys.__getitem__)]


Value = Callable[[Dice], Any]
Guess = Callable[[Dice, Any], Any]


def records(seed: int, value: Value, guess: Guess, cases: Sequence[int] = (9, 6), whole: bool = False) -> Data:
    """Test cases of so many units each, with a weight and a slice; unless whole, some lack a prediction and some gold."""
    dice = Dice(seed)
    gold = [
        {"test_case": f"T{t}", "id": f"{t}-{i}", "value": value(dice), "weight": 1 + dice.below(3), "part": dice.pick("xyz")}
        for t, size in enumerate(cases, 1)
        for i in range(size)
    ]  # fmt: skip
    pred = [{k: r[k] for k in ("test_case", "id")} | {"value": guess(dice, r["value"])} for r in gold]
    if not whole:
        extra = [r | {"id": r["id"] + "-more"} for r in pred[:2]]
        pred = [r for n, r in enumerate(pred) if n % 7 != 3] + extra
    return Data(gold, dice.shuffled(pred))


def single(data: Data) -> Data:
    """Without test cases."""
    bare = [[{k: v for k, v in r.items() if k != "test_case"} for r in side] for side in (data.gold, data.pred)]
    return Data(*bare, data.options)


def having(data: Data, **options: Any) -> Data:
    return Data(data.gold, data.pred, data.options | options)


def often(data: Data, times: int = 3) -> Data:
    """Every unit several times, the last without a prediction, so that cells stand for many."""
    copies = lambda side, most: [r | {"id": f"{r['id']}~{n}"} for r in side for n in range(most)]
    return Data(copies(data.gold, times), copies(data.pred, times - 1), data.options)


# Labels


def a_label(dice: Dice) -> str:
    return str(dice.pick(LABELS))


def guess_label(dice: Dice, gold: str) -> str:
    return gold if dice.random() < 0.5 else str(dice.pick((*LABELS, "new")))


def grade(dice: Dice) -> int:
    return 1 + dice.below(5)


def guess_grade(dice: Dice, gold: int) -> int:
    return gold if dice.random() < 0.4 else 1 + dice.below(5)


def monolabel() -> Iterator[tuple[str, Data]]:
    mixed = records(1, a_label, guess_label)
    yield "mixed", mixed
    yield "tree", having(records(2, a_label, guess_label), hierarchy=TREE)
    yield "whole", single(records(3, a_label, guess_label, (20,), whole=True))
    two = records(4, lambda dice: dice.pick(("no", "yes")), lambda dice, gold: dice.pick((gold, "no", "yes")), (7, 6))
    yield "two", two
    yield "two-positive", having(two, pos_label="no")
    yield "grades", records(5, grade, guess_grade, (12, 12), whole=True)
    yield (
        "deeper",
        having(records(6, a_label, guess_label), hierarchy={"R": {"X": {"A": []}, "B": [], "Y": {"C": {"D": []}}}}),
    )
    yield "often", having(often(records(7, a_label, guess_label, (5, 4))), hierarchy=TREE)
    yield "several-parents", having(mixed, hierarchy={"X": ["A", "B"], "Y": ["B", "C", "D"]})
    yield "extra-alone", Data({"1": "A", "2": "B"}, {"2": "B", "3": "A", "1": "B"})
    yield "missing-alone", Data({"1": "A", "2": "B", "3": "B"}, {"2": "B"})
    yield "one-class", Data(["A"] * 4, ["A"] * 4)
    yield "one-class-missed", Data(["A"] * 4, ["B"] * 4)
    yield "one-unit", Data({"7": "A"}, {"7": "B"})
    yield "exchanged", Data(["A", "B", "A", "B"], ["B", "A", "B", "A"])
    yield "one-column", Data(["A", "B", "A", "B"], ["A", "A", "A", "A"])
    yield "no-overlap", Data({"1": "A", "2": "B"}, {"3": "A", "4": "B"})
    yield "empty-pred", Data([{"id": "1", "value": "A"}], [])
    yield "empty-gold", Data([], [{"id": "1", "value": "A"}])
    twice = [{"id": "1", "value": "A"}, {"id": "2", "value": "B"}, {"id": "1", "value": "B"}]
    yield "twice-pred", Data([{"id": "1", "value": "A"}, {"id": "2", "value": "B"}], twice)
    yield "twice-gold", Data(twice, [{"id": "1", "value": "A"}, {"id": "2", "value": "B"}])
    yield (
        "nothing",
        Data(
            [{"id": "1", "value": None}, {"id": "2", "value": "B"}],
            [{"id": "1", "value": "A"}, {"id": "2", "value": ""}],
        ),
    )
    yield "spelling", Data(["Cat", "cat", "dog", "Dog "], ["cat", "cat", "dogs", "dog"])
    yield "truths", Data([True, False, True], [True, True, "false"])
    yield "decimals", Data([1, 2, 3, 2], [1.0, "2", 2, 2.0])
    yield (
        "other-case",
        Data([{"test_case": "T1", "id": "1", "value": "A"}], [{"test_case": "T2", "id": "1", "value": "A"}]),
    )
    yield "half-cases", Data(mixed.gold, [r for r in mixed.pred if r["test_case"] == "T1"])
    yield "outside-tree", Data(["A", "Q", "B", "X"], ["Q", "Q", "A", "Y"], {"hierarchy": TREE})
    yield "many-labels", Data([f"g{i}" for i in range(30)], [f"p{i}" for i in range(30)])


def a_set(dice: Dice) -> list[str]:
    return dice.shuffled(dice.some(LABELS, 0.4))


def guess_set(dice: Dice, gold: list[str]) -> list[str]:
    return gold if dice.random() < 0.3 else dice.shuffled(dice.some((*LABELS, "new"), 0.5))


def scores(dice: Dice, _: Any) -> dict[str, float]:
    """Scores of some labels, often tied."""
    return {label: dice.below(5) / 4 for label in dice.some(LABELS, 0.7)}


def multilabel() -> Iterator[tuple[str, Data]]:
    mixed = records(11, a_set, guess_set)
    yield "mixed", mixed
    yield "tree", having(records(12, a_set, guess_set), hierarchy=TREE)
    yield "whole", single(records(13, a_set, guess_set, (18,), whole=True))
    yield "scored", records(14, a_set, scores)
    yield "scored-tree", having(records(15, a_set, scores), hierarchy=TREE, threshold=0.75)
    yield "scored-both", records(16, lambda dice: scores(dice, 0), scores, (7, 5), whole=True)
    yield (
        "deeper",
        having(records(17, a_set, guess_set), hierarchy={"R": {"X": {"A": []}, "B": [], "Y": {"C": {"D": []}}}}),
    )
    yield "often", having(often(records(18, a_set, guess_set, (5, 4))), hierarchy=TREE)
    shuffled = lambda dice, gold: {label: dice.below(5) / 4 for label in dice.shuffled(LABELS)}
    yield "scored-anyhow", records(10, a_set, shuffled, (6, 5))
    yield "scored-often", often(records(19, a_set, scores, (5, 4)))
    yield "several-parents", having(mixed, hierarchy={"X": ["A", "B"], "Y": ["B", "C", "D"]})
    yield "empty", Data([[], ["A"], [], ["B"]], [[], [], ["A"], ["B"]])
    yield "all-empty", Data([[], []], [[], []])
    yield "nothing-predicted", Data([["A"], ["B", "C"]], [[], []])
    yield "nothing-true", Data([[], []], [["A"], ["B", "C"]])
    yield "long", Data([["A"], ["B", "D"]], [["D", "C", "B", "A", "new", "E", "F"], ["A", "B", "C", "D"]])
    yield "repeated", Data([["A", "B"], ["B"]], [["A", "A", "B"], ["B", "C", "B", "C"]])
    yield "repeated-gold", Data([["A", "A"], ["B"]], [["A"], ["B"]])
    rows = [("1", "A"), ("2", "B"), ("1", "C"), ("3", "A"), ("2", "B")]
    yield "rows", Data([{"id": i, "value": v} for i, v in rows[:4]], [{"id": i, "value": v} for i, v in rows[1:]])
    yield "single-label", Data(["A", "B", "C"], [["A"], ["B", "C"], []])
    yield "blank", Data([["A"], ["B", ""]], [["A", None], ["B"]])
    yield "one-unit", Data({"7": ["A", "B"]}, {"7": ["B", "C"]})
    yield "tied", Data([["A"], ["B"]], [{"A": 0.5, "B": 0.5, "C": 0.5}, {"A": 0.2, "B": 0.2}])


# Clusters


def several(dice: Dice) -> list[str]:
    return dice.some(LABELS, 0.35) or [a_label(dice)]


def clustering() -> Iterator[tuple[str, Data]]:
    yield "mixed", records(21, a_label, guess_label, (12, 8))
    yield "overlapping", records(22, several, lambda dice, gold: gold if dice.random() < 0.3 else several(dice))
    yield "whole", single(records(23, a_label, guess_label, (20,), whole=True))
    noisy = records(24, lambda dice: dice.pick(("A", "B", "-1")), lambda dice, gold: dice.pick((gold, "x", "y", "-1")))
    yield "noise", having(noisy, noise="-1")
    yield "noise-unsaid", noisy
    lists = records(
        25,
        lambda dice: dice.some(("A", "B", "-1"), 0.5) or ["-1"],
        lambda dice, gold: dice.some(("x", "y", "-1"), 0.5) or ["x"],
    )
    yield "noise-lists", having(lists, noise="-1")
    yield "often", often(records(26, a_label, guess_label, (5, 4), True), 4)
    yield "overlapping-often", often(records(27, several, lambda dice, gold: several(dice), (5, 4), True))
    yield "one", Data(["A"] * 5, ["x"] * 5)
    yield "one-unit", Data({"1": "A"}, {"1": "x"})
    yield "singletons", Data(list("ABCDE"), list("vwxyz"))
    yield "one-gold", Data(["A"] * 4, list("xxyz"))
    yield "one-pred", Data(list("AABC"), ["x"] * 4)
    yield "renamed", Data(list("AABBC"), list("yyxxz"))
    yield (
        "twice",
        Data(
            [{"id": "1", "value": "A"}, {"id": "2", "value": "B"}],
            [{"id": "1", "value": "x"}, {"id": "1", "value": "y"}],
        ),
    )
    yield "repeated", Data([["A", "A"], ["B"]], [["x"], ["x", "y", "x"]])
    yield "empty", Data([["A"], [], ["B"]], [["x"], ["x"], []])
    yield "independent", Data(list("AABB"), list("xyxy"))


# Numbers


def numbers() -> Iterator[tuple[str, Data]]:
    yield (
        "mixed",
        records(
            31,
            lambda dice: dice.below(6),
            lambda dice, gold: dice.pick((gold, dice.below(6), gold + dice.random())),
            (9, 7),
            True,
        ),
    )
    lacking = records(
        32, lambda dice: round(10 * dice.random(), 3) - 3, lambda dice, gold: round(gold + dice.random() - 0.5, 3)
    )
    yield "lacking", lacking
    yield "skipped", having(lacking, missing="skip")
    yield (
        "often",
        having(
            often(records(33, lambda dice: dice.below(4), lambda dice, gold: dice.below(4), (6, 5))), missing="skip"
        ),
    )
    yield "constant", Data([2, 2, 2], [1, 2, 3])
    yield "constant-pred", Data([1, 2, 3], [2, 2, 2])
    yield "both-constant", Data([2, 2, 2], [2, 2, 2])
    yield "constant-apart", Data([2, 2, 2], [3, 3, 3])
    yield "two", Data([1, 2], [2, 1])
    yield "one", Data([1], [3])
    yield "negative", Data([-1, -2.5, 0, 4], [1, -2, 0.5, -4])
    yield "ties", Data([1, 1, 2, 2, 3, 3], [1, 2, 1, 2, 3, 3])
    yield "exact", Data([1, 2, 4], [1, 2, 4])
    yield "reversed", Data([1, 2, 4, 8], [8, 4, 2, 1])
    yield "far", Data([1e9 + 1, 1e9 + 2, 1e9 + 4], [1e9 + 1, 1e9 + 3, 1e9 + 3])
    yield "texts", Data(["1", "two", "3"], ["1", "2", "3"])
    yield "not-finite", Data([1, 2, 3], [1, float("nan"), float("inf")])
    yield (
        "twice",
        Data(
            [{"id": "1", "value": 1}, {"id": "2", "value": 2}],
            [{"id": "1", "value": 1}, {"id": "1", "value": 2}, {"id": "2", "value": 2}],
        ),
    )


# Soft labels


def shares(dice: Dice) -> dict[str, float]:
    votes = [a_label(dice) for _ in range(4)]
    return {label: votes.count(label) / 4 for label in LABELS}


def sparse_shares(dice: Dice) -> dict[str, float]:
    return {label: share for label, share in shares(dice).items() if share}


def guess_shares(dice: Dice, gold: dict[str, float]) -> dict[str, float]:
    return gold if dice.random() < 0.25 else sparse_shares(dice)


def answers(labels: Sequence[Any]) -> Value:
    """Votes of annotators by their names; not all vote on each item."""
    return lambda dice: (
        {name: str(dice.pick(labels)) for name in dice.some(("ann", "bob", "cy", "di"), 0.8)} or {"ann": str(labels[0])}
    )


def soft() -> Iterator[tuple[str, Data]]:
    yield "mixed", records(41, shares, guess_shares)
    yield "tree", having(records(42, sparse_shares, guess_shares), hierarchy=TREE)
    yield "whole", single(records(43, sparse_shares, guess_shares, (12,), True))
    labels, stars = answers(LABELS), answers((1, 2, 3, 5))
    yield "votes", records(44, labels, lambda dice, gold: gold if dice.random() < 0.3 else labels(dice), whole=True)
    yield "stars", records(45, stars, lambda dice, gold: stars(dice))
    yield (
        "stars-weights",
        records(46, stars, lambda dice, gold: {str(n): w / 4 for n, w in zip((1, 2, 3, 5), (1, 2, 0, 1), strict=True)}),
    )
    yield "votes-labels", records(47, labels, lambda dice, gold: a_label(dice))
    yield "ordered", having(records(48, labels, lambda dice, gold: labels(dice), whole=True), order="D, B,A,C")
    yield "ordered-badly", having(records(48, labels, lambda dice, gold: labels(dice), whole=True), order="D,B,A")
    yield "threshold", having(records(49, sparse_shares, guess_shares), harden="threshold", threshold=0.5)
    yield (
        "threshold-tree",
        having(records(50, sparse_shares, guess_shares), harden="threshold", threshold=0.25, hierarchy=TREE),
    )
    yield (
        "binary",
        records(51, lambda dice: {"1": dice.below(5) / 4}, lambda dice, gold: {"1": dice.below(5) / 4}, whole=True),
    )
    yield "often", having(often(records(52, shares, guess_shares, (5, 4))), hierarchy=TREE)
    yield "votes-often", often(records(53, stars, lambda dice, gold: stars(dice), (5, 4)))
    yield "tied", Data([{"A": 0.5, "B": 0.5}, {"A": 1.0}], [{"B": 0.5, "A": 0.5}, {"B": 0.5, "C": 0.5}])
    yield "certain", Data([{"A": 1.0}, {"B": 1.0}], [{"A": 1.0}, {"B": 1.0}])
    yield "certainly-wrong", Data([{"A": 1.0}, {"B": 1.0}], [{"B": 1.0}, {"A": 1.0}])
    yield "not-one", Data([{"A": 0.7, "B": 0.7}, {"A": 1.0}], [{"A": 0.2}, {"B": 0.9, "A": 0.4}])
    yield "negative", Data([{"A": 0.7, "B": 0.3}], [{"A": 1.2, "B": -0.2}])
    yield "zero", Data([{"A": 0.0, "B": 0.0}, {"A": 1.0}], [{"A": 0.0}, {"A": 1.0}])
    yield "empty", Data([{"A": 1.0}, {"B": 1.0}], [{}, {"B": 1.0}])
    yield "one-unit", Data({"7": {"A": 0.75, "B": 0.25}}, {"7": {"A": 0.25, "C": 0.75}})
    yield "one-vote", Data([{"x": "A"}, {"x": "B"}], [{"x": "A"}, {"y": "B"}])
    yield "all-agree", Data([{"x": "A", "y": "A"}, {"x": "A", "y": "A"}], [{"x": "A", "y": "A"}, {"x": "A", "y": "A"}])
    yield (
        "twice",
        Data(
            [{"id": "1", "value": {"A": 1.0}}, {"id": "2", "value": {"B": 1.0}}],
            [{"id": "1", "value": {"A": 1.0}}, {"id": "1", "value": {"B": 1.0}}],
        ),
    )


# Probabilities


def chances(dice: Dice, gold: str) -> dict[str, float]:
    """Eighths, often tied, gold's often the highest."""
    parts = dict.fromkeys((*LABELS, "new"), 0)
    for _ in range(8):
        parts[gold if dice.random() < 0.3 else dice.pick(tuple(parts))] += 1
    return {label: n / 8 for label, n in parts.items() if n or label != "new"}


def chance_of_yes(dice: Dice, gold: str) -> float:
    return min(7, dice.below(6) + 2 * (gold == "yes")) / 7


def probabilities() -> Iterator[tuple[str, Data]]:
    yield "mixed", records(61, a_label, chances, (10, 8))
    yield "whole", single(records(62, a_label, chances, (20,), True))
    yes = records(63, lambda dice: dice.pick(("no", "yes")), chance_of_yes, (11, 9))
    yield "two", yes
    yield (
        "two-whole",
        having(single(records(64, lambda dice: dice.pick(("no", "yes")), chance_of_yes, (24,), True)), pos_label="yes"),
    )
    yield "two-other", having(yes, pos_label="no")
    yield "two-threshold", having(yes, threshold=3 / 7)
    yield (
        "two-weights",
        records(
            65,
            lambda dice: dice.pick(("no", "yes")),
            lambda dice, gold: (lambda p: {"no": 1 - p, "yes": p})(dice.below(9) / 8),
        ),
    )
    yield "threshold", having(records(66, a_label, chances), threshold=0.25)
    yield "sets", records(67, a_set, lambda dice, gold: {label: dice.below(9) / 8 for label in LABELS})
    yield (
        "sets-threshold",
        having(records(67, a_set, lambda dice, gold: {label: dice.below(9) / 8 for label in LABELS}), threshold=0.25),
    )
    yield "raw", records(68, lambda dice: dice.pick(("no", "yes")), lambda dice, gold: dice.below(9) - 4, (10,), True)
    yield (
        "raw-classes",
        records(69, a_label, lambda dice, gold: {label: dice.below(9) - 4 for label in LABELS}, (10,), True),
    )
    yield "often", often(records(70, a_label, chances, (6, 5)))
    yield "two-often", often(records(70, lambda dice: dice.pick(("no", "yes")), chance_of_yes, (6, 5)))
    some = lambda dice, gold: {label: dice.below(3) / 2 for label in LABELS}
    yield "sets-often", often(records(70, a_set, some, (5, 4)))
    yield "one-score", Data([f"c{n}" for n in range(7)], [n / 8 for n in range(7)])
    yield "one-label", Data(["c", "c", "c"], [0.25, 0.75, 0.5])
    yield "one-label-positive", Data(["c", "c", "c"], [0.25, 0.75, 0.5], {"pos_label": "d"})
    few = {"1": {"A": 0.5, "B": 0.25}, "3": {"A": 0.75, "B": 0.25}}
    yield "half", Data({"1": ["A"], "2": ["B"], "3": [], "4": ["A", "B"]}, few)
    yield "half-labels", Data({"1": "A", "2": "B", "3": "B", "4": "A"}, few)
    yield (
        "array",
        Data(
            ["a", "b", "c", "a"],
            [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]],
            {"classes": "a,b,c"},
        ),
    )
    yield "array-names", Data(["a", "b", "a"], [[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]], {"classes": ["a", "b"]})
    yield (
        "array-unnamed",
        Data(["a", "b", "c", "a"], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]),
    )
    yield "one-class", Data(["yes", "yes", "yes"], [0.5, 0.25, 1.0], {"pos_label": "yes"})
    yield "no-positive", Data(["no", "no"], [0.5, 0.25], {"pos_label": "yes"})
    yield "all-tied", Data(["yes", "no", "yes", "no"], [0.5] * 4)
    yield "perfect", Data(["yes", "no", "yes", "no"], [1.0, 0.0, 1.0, 0.0])
    yield "reversed", Data(["yes", "no", "yes", "no"], [0.0, 1.0, 0.0, 1.0])
    yield "numbered", Data([1, 0, 1, 0, 1], [0.9, 0.2, 0.4, 0.6, 0.7])
    yield "one-unit", Data({"7": "yes"}, {"7": {"yes": 0.75, "no": 0.25}})
    yield "not-one", Data(["A", "B", "B"], [{"A": 0.5, "B": 0.25}, {"A": 0.5, "B": 0.75}, {"A": 0.1, "B": 0.9}])
    yield "negative", Data(["A", "B"], [{"A": 1.5, "B": -0.5}, {"A": 0.5, "B": 0.5}])
    yield "not-known", Data(["A", "Z"], [{"A": 0.5, "B": 0.5}, {"A": 0.5, "B": 0.5}])
    yield "nan", Data(["yes", "no", "yes"], [0.5, float("nan"), 1.0])
    yield "empty", Data(["A", "B"], [{}, {"B": 1.0}])


# Rankings


def ranked(seed: int, queries: int = 4, value: Value = lambda dice: dice.below(8) / 4, low: int = 0) -> Data:
    """Grades of some documents, scores of some."""
    dice, gold, pred = Dice(seed), list[Record](), list[Record]()
    for q in range(1, queries + 1):
        documents = [f"d{n}" for n in range(14)]
        gold += [
            {"query": f"q{q}", "doc": d, "rel": dice.pick((low, 0, 0, 1, 1, 2, 3))} for d in dice.some(documents, 0.7)
        ]
        pred += [{"query": f"q{q}", "doc": d, "score": value(dice)} for d in dice.shuffled(dice.some(documents, 0.7))]
    return Data(gold, pred)


def trec(seed: int, queries: int = 3, topics: int = 3) -> Data:
    """Files of a diversity task."""
    dice, gold, pred = Dice(seed), list[str](), list[str]()
    for q in range(1, queries + 1):
        documents = [f"d{n}" for n in range(10)]
        for topic in range(1, topics + 1):
            gold += [f"{q} {topic} {d} {dice.pick((-2, 0, 0, 1, 1, 2))}" for d in dice.some(documents, 0.6)]
        for rank, d in enumerate(dice.shuffled(dice.some(documents, 0.8)), 1):
            pred.append(f"{q} Q0 {d} {rank} {dice.below(12) / 4} tag")
    return Data(Text("gold.qrels", "\n".join(gold) + "\n"), Text("system.run", "\n".join(pred) + "\n"))


def graded(*queries: tuple[dict[str, float], dict[str, float]]) -> Data:
    """Grades and scores of each query."""
    both = [{f"q{n}": side[which] for n, side in enumerate(queries, 1)} for which in (0, 1)]
    rows = lambda side, name: [
        {"query": q, "doc": d, name: v} for q, documents in side.items() for d, v in documents.items()
    ]
    return Data(rows(both[0], "rel"), rows(both[1], "score"))


def ranking() -> Iterator[tuple[str, Data]]:
    yield "tied", ranked(71)
    yield "untied", ranked(72, value=lambda dice: dice.random())
    yield "negative", ranked(73, low=-1)
    yield (
        "ranks",
        Data(
            ranked(74).gold,
            [{"query": r["query"], "doc": r["doc"], "rank": n} for n, r in enumerate(ranked(74).pred, 1)],
        ),
    )
    yield (
        "tied-ranks",
        Data(
            ranked(75).gold,
            [{"query": r["query"], "doc": r["doc"], "rank": 1 + n // 2} for n, r in enumerate(ranked(75).pred)],
        ),
    )
    yield "subtopics", trec(76)
    yield "subtopics-few", trec(77, 2, 1)
    yield "many", ranked(78, 9)
    lacking = ranked(79, 5)
    yield (
        "queries-lacking",
        Data(
            [r for r in lacking.gold if r["query"] != "q2"], [r for r in lacking.pred if r["query"] not in ("q1", "q4")]
        ),
    )
    yield "none-relevant", graded(({"a": 0, "b": 0}, {"a": 2, "b": 1}), ({"a": 1, "b": 0}, {"b": 2, "a": 1}))
    yield "none-judged", graded(({"a": 1}, {"x": 2, "y": 1}), ({"a": 2, "b": 1}, {"a": 2, "b": 1}))
    yield "perfect", graded(({"a": 3, "b": 2, "c": 0}, {"a": 3, "b": 2, "c": 1}))
    yield "worst", graded(({"a": 3, "b": 0, "c": 0}, {"a": 1, "b": 2, "c": 3}))
    yield "one-document", graded(({"a": 1}, {"a": 1}))
    yield "all-tied", graded(({"a": 1, "b": 0, "c": 2, "d": 0}, {"a": 1, "b": 1, "c": 1, "d": 1}))
    yield "single-precision", graded(({"a": 1, "b": 0}, {"a": 1.00000001, "b": 1.0}))
    yield "high-grades", graded(({"a": 4, "b": 3, "c": 1}, {"a": 3, "b": 2, "c": 1}))
    yield "fractions", graded(({"a": 0.5, "b": 1.5, "c": 0}, {"a": 3, "b": 2, "c": 1}))
    yield "deep", graded(({f"d{n}": n % 3 for n in range(40)}, {f"d{n}": 100 - (n * 7) % 40 for n in range(40)}))
    yield (
        "twice-pred",
        Data(
            [{"query": "q", "doc": "a", "rel": 1}],
            [{"query": "q", "doc": "a", "score": 1}, {"query": "q", "doc": "a", "score": 2}],
        ),
    )
    yield (
        "twice-gold",
        Data(
            [{"query": "q", "doc": "a", "rel": 1}, {"query": "q", "doc": "a", "rel": 0}],
            [{"query": "q", "doc": "a", "score": 1}],
        ),
    )
    yield (
        "bad-numbers",
        Data(
            [{"query": "q", "doc": "a", "rel": "x"}, {"query": "q", "doc": "b", "rel": 1}],
            [{"query": "q", "doc": "a", "score": None}, {"query": "q", "doc": "b", "score": 1}],
        ),
    )
    yield (
        "bad-ranks",
        Data(
            [{"query": "q", "doc": "a", "rel": 1}, {"query": "q", "doc": "b", "rel": 0}],
            [{"query": "q", "doc": "a", "rank": 0}, {"query": "q", "doc": "b", "rank": 3}],
        ),
    )
    yield "no-query-shared", Data([{"query": "q", "doc": "a", "rel": 1}], [{"query": "r", "doc": "a", "score": 1}])


# Pages


def bundles(
    seed: int, count: int, sure: bool = True, kinds: Sequence[str | None] = ("bill", "letter"), whole: bool = True
) -> Data:
    dice, gold, pred = Dice(seed), list[Record](), list[Record]()
    for i in range(count):
        size, about = 1 + dice.below(9), {"test_case": dice.pick(("T1", "T2")), "document_id": f"b{i}"}
        flags = [n == 0 or dice.random() < 0.4 for n in range(size)]
        kind = dice.pick(kinds)
        gold.append(about | {"category": kind, "weight": 1 + dice.below(3), "part": dice.pick("xy"),
                             "pages": [{"number": n + 1, "is_first_page": f} for n, f in enumerate(flags)]})  # fmt: skip
        guesses = [f if n == 0 or dice.random() < 0.7 else not f for n, f in enumerate(flags)]
        pages = [
            {"number": n + 1, "is_first_page": f} | ({"confidence": dice.below(5) / 4} if sure else {})
            for n, f in enumerate(guesses)
        ]
        if not whole:
            pages = [p for p in pages if dice.random() < 0.8] + [{"number": size + 1, "is_first_page": True}] * (
                i % 3 == 0
            )
        if pages and (whole or i % 4 != 3):
            pred.append(
                about | {"category": kind if dice.random() < 0.6 else dice.pick((*kinds, "other")), "pages": pages}
            )
    return Data(gold, pred)


def streams(*pairs: tuple[str, str]) -> Data:
    """Bundles by their flags: 1 for a first page."""
    side = lambda flags, n: {
        "document_id": f"b{n}",
        "pages": [{"number": i, "is_first_page": f == "1"} for i, f in enumerate(flags, 1)],
    }
    return Data(
        [side(gold, n) for n, (gold, _) in enumerate(pairs)], [side(pred, n) for n, (_, pred) in enumerate(pairs)]
    )


def long_pages(data: Data) -> Data:
    """A row for each page."""
    rows = lambda side: [{"document": r["document_id"], "page": p["number"], "category": r.get("category")} | {k: v for k, v in p.items() if k != "number"}
                         for r in side for p in r["pages"]]  # fmt: skip
    return Data(rows(data.gold), rows(data.pred), data.options)


def splitting() -> Iterator[tuple[str, Data]]:
    yield "mixed", bundles(81, 9)
    yield "flags", bundles(82, 8, sure=False)
    yield "no-category", bundles(83, 6, kinds=(None, "bill"))
    lacking = bundles(84, 8, whole=False)
    yield "lacking", lacking
    yield "lacking-not-first", having(lacking, missing_pages="not-first")
    yield "lacking-truncated", having(lacking, missing_pages="truncate")
    yield "rows", long_pages(bundles(85, 5))
    yield "threshold", having(bundles(86, 6), threshold=0.5)
    yield "of-flag", having(bundles(87, 6), confidence_of="flag")
    yield "not-counted", having(bundles(88, 6), count_first_page="no")
    yield "large", bundles(89, 25)
    yield "perfect", streams(("10100", "10100"), ("1", "1"))
    yield "one-file", streams(("10000", "10000"))
    yield "all-merged", streams(("11111", "10000"))
    yield "all-split", streams(("10000", "11111"))
    yield "shifted", streams(("1001000", "1000100"), ("100100", "101000"))
    yield (
        "near",
        streams(("1000100010001000", "1001000100001010"), ("10101010", "11001100"), ("100010001", "100100010")),
    )
    yield "one-page", streams(("1", "1"), ("1", "1"))
    yield "begins-badly", streams(("0100", "1100"), ("100", "010"))
    yield "halves", streams(("1010", "1000"), ("1000", "1010"), ("100100", "100010"))
    page = {"number": 1, "is_first_page": True}
    yield "page-twice", Data([{"document_id": "b", "pages": [page, page]}], [{"document_id": "b", "pages": [page]}])
    yield (
        "bad-confidence",
        Data([{"document_id": "b", "pages": [page]}], [{"document_id": "b", "pages": [page | {"confidence": 1.5}]}]),
    )
    yield (
        "bad-number",
        Data(
            [{"document_id": "b", "pages": [page, {"number": 0, "is_first_page": False}]}],
            [{"document_id": "b", "pages": [page]}],
        ),
    )
    yield (
        "no-flag",
        Data(
            [{"document_id": "b", "pages": [page, {"number": 2}]}],
            [{"document_id": "b", "pages": [page, {"number": 2, "is_first_page": None}]}],
        ),
    )
    yield "bundle-twice", Data([{"document_id": "b", "pages": [page]}], [{"document_id": "b", "pages": [page]}] * 2)
    yield (
        "no-pages",
        Data(
            [{"document_id": "b", "pages": [page]}, {"document_id": "c", "pages": []}],
            [{"document_id": "b", "pages": [page]}],
        ),
    )


# Spans


def some_spans(dice: Dice, labels: Sequence[str] = LABELS[:3], most: int = 5, room: int = 30) -> list[Record]:
    """Spans that may overlap, lie in each other or be equal."""
    out = []
    for _ in range(dice.below(most + 1)):
        start = dice.below(room - 1)
        out.append({"start": start, "end": start + 1 + dice.below(min(9, room - start)), "label": dice.pick(labels)})
    return out


def apart(spans: list[Record]) -> list[Record]:
    """Those that do not overlap one before."""
    out: list[Record] = []
    for span in sorted(spans, key=lambda s: s["start"]):
        if not out or span["start"] >= out[-1]["end"]:
            out.append(span)
    return out


def guess_spans(dice: Dice, gold: list[Record]) -> list[Record]:
    out = []
    for span in gold:
        start, end, way = span["start"], span["end"], dice.below(8)
        middle = (start + end) // 2
        if way == 1 and middle > start:
            out += [span | {"end": middle}, span | {"start": middle}]
        elif way > 1:
            out.append(
                span
                | [
                    {},
                    {},
                    {"label": dice.pick((*LABELS, "new"))},
                    {"end": end + 1},
                    {"start": max(0, start - 1)},
                    {"start": middle},
                ][way - 2]
            )
    return out + some_spans(dice, most=1)


def documents(seed: int, count: int, room: int = 30, whole: bool = False, flat: bool = False, most: int = 5) -> Data:
    dice, gold, pred = Dice(seed), list[Record](), list[Record]()
    for i in range(count):
        about = {"test_case": dice.pick(("T1", "T2")), "id": f"n{i}"}
        spans = some_spans(dice, most=most, room=room)
        spans = apart(spans) if flat else spans
        guesses = guess_spans(dice, spans)
        gold.append(about | {"weight": 1 + dice.below(3), "part": dice.pick("xy"), "spans": spans})
        if whole or i % 5 != 2:
            pred.append(about | {"spans": apart(guesses) if flat else guesses})
    return Data(
        gold, dice.shuffled(pred) + ([] if whole else [{"test_case": "T1", "id": "more", "spans": some_spans(dice)}])
    )


def nested(seed: int, count: int) -> Data:
    """Spans with children."""
    dice, gold, pred = Dice(seed), list[Record](), list[Record]()

    def family(deep: int, low: int, high: int) -> list[Record]:
        out = []
        for _ in range(dice.below(3) + (deep == 0)):
            start = low + dice.below(max(1, high - low - 1))
            end = start + 1 + dice.below(max(1, high - start))
            children = family(deep + 1, start, end) if deep < 2 else []
            out.append(
                {"start": start, "end": end, "label": dice.pick("PQR")} | ({"children": children} if children else {})
            )
        return out

    def guess(spans: list[Record]) -> list[Record]:
        out = []
        for span in spans:
            if dice.random() < 0.8:
                other = dice.pick(({}, {}, {}, {"label": "R"}, {"end": span["end"] + 1}))
                out.append(
                    {k: v for k, v in span.items() if k != "children"}
                    | other
                    | ({"children": guess(span["children"])} if "children" in span else {})
                )
        return out

    for i in range(count):
        spans = family(0, 0, 20)
        gold.append({"id": f"n{i}", "spans": spans})
        pred.append({"id": f"n{i}", "spans": guess(spans)})
    return Data(gold, pred)


def conll(seed: int, tags: Sequence[str], sentences: int = 6, off: float = 0.3) -> Data:
    dice, gold, pred = Dice(seed), list[str](), list[str]()
    for _ in range(sentences):
        for n in range(1 + dice.below(8)):
            tag = dice.pick(tags)
            gold.append(f"w{n} {tag}")
            pred.append(f"w{n} {dice.pick(tags) if dice.random() < off else tag}")
        gold.append("")
        pred.append("")
    return Data(Text("gold.conll", "\n".join(gold)), Text("system.conll", "\n".join(pred)))


def placed(*documents: tuple[str, str]) -> Data:
    """Spans as `0-4A 6-9B`."""

    def of(text: str) -> list[Record]:
        parts = [(part[:-1].split("-"), part[-1]) for part in text.split()]
        return [{"start": int(start), "end": int(end), "label": label} for (start, end), label in parts]

    sides = [[{"id": f"n{n}", "spans": of(both[which])} for n, both in enumerate(documents)] for which in (0, 1)]
    return Data(*sides)


def excerpts(seed: int, count: int) -> Data:
    dice, gold, pred = Dice(seed), list[Record](), list[Record]()
    for i in range(count):
        spans = some_spans(dice, ("ode", "lay", "rune"), 4, 60)
        guesses = [
            s | {"label": s["label"] if s["label"] in ("ode", "lay", "rune") else "saga"}
            for s in guess_spans(dice, spans)
        ]
        page = f"{dice.pick(('book', 'tome'))}.{i % 2}_{i:03}"
        gold.append(
            {
                "page_id": page,
                "n_excerpts": len(spans),
                "excerpts": [{"start": s["start"], "end": s["end"], "poem_id": s["label"]} for s in spans],
            }
        )
        pred.append(
            {
                "page_id": page,
                "n_spans": len(guesses),
                "poem_spans": [{"page_start": s["start"], "page_end": s["end"], "ref_id": s["label"]} for s in guesses],
            }
        )
    return Data(gold, pred)


def written(data: Data, every: tuple[int, int]) -> Data:
    """With a text for each so many documents of either side (0: none)."""
    text = "In the beginning was the word, and then there were many more of them."
    sides = [[r | ({"text": text} if nth and not n % nth else {}) for n, r in enumerate(sorted(side, key=lambda r: r["id"]))]
             for side, nth in zip((data.gold, data.pred), every, strict=True)]  # fmt: skip
    return Data(*sides, data.options)


def spans() -> Iterator[tuple[str, Data]]:
    yield "mixed", documents(91, 8)
    yield "whole", documents(92, 8, whole=True)
    yield "flat", documents(93, 8, flat=True)
    yield "crowded", documents(94, 4, room=14, most=9, whole=True)
    yield "nested", nested(95, 5)
    yield "excerpts", excerpts(96, 6)
    yield "tags", conll(97, ("O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC"))
    yield "tags-iobes", conll(98, ("O", "B-X", "I-X", "E-X", "S-X", "E-Y"))
    yield "tags-iob1", conll(99, ("O", "I-X", "I-Y", "B-X"))
    yield "same", placed(("0-4A 6-9B", "0-4A 6-9B"), ("", ""))
    yield "overlap", placed(("0-10A", "0-5A"), ("0-10A", "5-15A"), ("0-4A", "4-8A"), ("2-4A", "0-9B"))
    yield "halves", placed(("0-10A", "0-5A 5-10A"), ("0-5A 5-10A", "0-10A"), ("0-9A", "0-3A 3-6A 6-9A"))
    yield "twins", placed(("0-4A 0-4A", "0-4A"), ("0-4A", "0-4A 0-4A"), ("0-4A 0-4B", "0-4B 0-4A"))
    yield "chain", placed(("0-4A 3-8A 7-12A", "2-5A 6-9A 10-14A"), ("0-6A 4-10A", "3-7A"))
    yield "wrong-label", placed(("0-4A 6-9B", "0-4B 6-9A"), ("0-4A", "0-4C"))
    yield "nothing-predicted", placed(("0-4A 6-9B", ""), ("", ""))
    yield "nothing-true", placed(("", "0-4A 6-9B"), ("", ""))
    yield "all-empty", placed(("", ""), ("", ""))
    yield "bad-ends", placed(("4-4A 6-2B", "0-4A"))
    yield "one-unit", placed(("0-4A", "0-4A 5-6A"))
    yield "texts", Data([{"id": "1", "text": "Anna met Bob", "spans": [{"start": 0, "end": 4, "label": "PER"}]}],
                        [{"id": "1", "text": "Anna saw Bob", "spans": [{"start": 9, "end": 20, "label": "PRE"}]}])  # fmt: skip
    yield "texts-of-gold", written(documents(88, 4, whole=True), (1, 0))
    yield "texts-of-pred", written(documents(88, 4, whole=True), (0, 1))
    yield "texts-of-some", written(documents(89, 5, whole=True), (2, 3))
    told = documents(90, 3, whole=True)
    words = [
        [{"id": r["id"], "tokens": [f"w{n}" for n in range(40)], "spans": r["spans"]} for r in side]
        for side in (told.gold, told.pred)
    ]
    yield "tokens", Data(*words)
    yield (
        "twice",
        Data(
            [{"id": "1", "spans": []}, {"id": "2", "spans": []}], [{"id": "1", "spans": []}, {"id": "1", "spans": []}]
        ),
    )


CONTEXTS: dict[str, Callable[[], Iterator[tuple[str, Data]]]] = {
    function.__name__: function
    for function in (monolabel, multilabel, splitting, spans, ranking, soft, clustering, probabilities, numbers)
}

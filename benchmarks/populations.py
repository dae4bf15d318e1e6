"""Populations of `benchmarks.experiments`: units that karat has counted once, of which data sets are drawn.

Each has gold, a system, and a rival that is as good by its making, so that what the two say of a unit may be exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from karat.cells import Cells
from karat.pipeline import scored
from karat.plan import Plan
from karat.request import Asked
from karat.stats.doubts import reads_classes
from karat.stats.estimate import sample_of
from karat.stats.statistic import Statistic

POOL = 1_500
NEAR = 150
"""Units of a document are this near to each other, of all units in the order of their scores."""
Records = list[dict[str, Any]]


@dataclass(frozen=True)
class Population:
    """Units that were counted once; data sets are drawn from them."""

    plan: Plan
    cells: Cells

    @property
    def statistic(self) -> Statistic:
        return Statistic(self.plan.catalogue, self.plan.metrics, self.plan.fill)

    @cached_property
    def reads_classes(self) -> list[bool]:
        """By metric: whether a rare class weighs much in it."""
        every = self.statistic
        return [
            bool(self.cells.classes) and reads_classes(self.cells, replace(every, metrics=[m])) for m in every.metrics
        ]

    @cached_property
    def unit(self) -> Any:
        """The cell of each unit."""
        assert self.cells.unit is not None or self.cells.are_test_cases
        return np.arange(len(self.cells)) if self.cells.unit is None else self.cells.unit

    def drawn(self, index: Any, n: Any = None) -> Cells:
        """These cells as a data set of their own."""
        out = self.cells.take(index, n)
        if self.cells.are_test_cases:
            out.test_case, out.test_cases = np.arange(len(index)), [str(i) for i in range(len(index))]
        return out.as_whole()

    def unit_scores(self, metric: str) -> Any:
        """The score of each unit by itself, in the middle where it has none."""
        cells = self.drawn(self.unit, np.ones(len(self.unit)))
        column = [str(m) for m in self.plan.metrics].index(metric)
        score = sample_of(cells, self.statistic, False).strata[0].unit_scores.value[:, column]
        return np.nan_to_num(score, nan=float(np.nanmedian(score)))


def population(context: str, metrics: Sequence[str], gold: Any, pred: Any, **options: Any) -> Population:
    asked = Asked(context, list(metrics), None, None, {}, "report", 0, True, None, options)
    found = scored(gold, [("system", pred)], asked, None)
    return Population(found.plan, found.evaluation.systems[0].cells)


@dataclass(frozen=True)
class Pool:
    """What a population is made of."""

    context: str
    metrics: tuple[str, ...]
    guide: str
    """A metric that single units have: those of one document are near to each other in it."""
    records: Callable[[], tuple[Records, Records, Records]]
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def one(self) -> Population:
        gold, pred, _ = self.records()
        return population(self.context, self.metrics, gold, pred, **self.options)

    @cached_property
    def both(self) -> Population:
        """Every unit twice: as the system has it, and, under another name, as the rival has it."""
        gold, pred, rival = self.records()
        again = [[_renamed(r) for r in side] for side in (gold, rival)]
        return population(self.context, self.metrics, gold + again[0], pred + again[1], **self.options)

    @cached_property
    def ease(self) -> Any:
        """The score of each unit of `one`."""
        return self.one.unit_scores(self.guide)

    @cached_property
    def gain(self) -> Any:
        """By how much the system is ahead of the rival on each unit."""
        score, (here, there) = self.both.unit_scores(self.guide), self.rivals
        return score[here] - score[there]

    @cached_property
    def rivals(self) -> Any:
        """2 × units: where the units of `both` are, of the system and of the rival."""
        cells = self.both.cells
        names = cells.test_cases if cells.unit_ids is None else cells.unit_ids
        place = {name: i for i, name in enumerate(names)}
        own = [name for name in names if not name.startswith(AGAIN)]
        return np.array([[place[name] for name in own], [place[AGAIN + name] for name in own]])


AGAIN = "again "


def _renamed(record: dict[str, Any]) -> dict[str, Any]:
    key = next(k for k in ("test_case", "document_id", "id") if k in record)
    return record | {key: AGAIN + record[key]}


# Records of gold, system and rival


def _objects(values: Any, names: Sequence[str] = "ABC") -> Records:
    return [{"id": str(i), "value": dict(zip(names, v, strict=True))} for i, v in enumerate(values.tolist())]


def weights() -> tuple[Records, Records, Records]:
    rng = np.random.default_rng(7)
    gold = rng.dirichlet([1.0, 0.6, 0.3], POOL).round(4)
    pred, rival = ((0.7 * gold + 0.3 * rng.dirichlet([1.0, 1.0, 1.0], POOL)).round(4) for _ in range(2))
    return _objects(gold), _objects(pred), _objects(rival)


def label_sets() -> tuple[Records, Records, Records]:
    """Sets of six labels, the rarest in one of fifteen items."""
    rng, share = np.random.default_rng(8), np.array([0.5, 0.35, 0.25, 0.15, 0.1, 0.07])
    gold = rng.random((POOL, 6)) < share
    gold[np.arange(POOL), rng.integers(0, 2, POOL)] = True
    pred, rival = (gold ^ (rng.random((POOL, 6)) < 0.1) for _ in range(2))
    rows = lambda sets: [
        {"id": str(i), "value": [x for x, on in zip("ABCDEF", s, strict=True) if on]} for i, s in enumerate(sets)
    ]
    return rows(gold), rows(pred), rows(rival)


def queries(found_in: float) -> tuple[Records, Records, Records]:
    """Queries of ten documents; a share of them finds what is relevant, the others nothing of it."""
    rng, more = np.random.default_rng(9), np.random.default_rng(90)
    gold, pred, rival = Records(), Records(), Records()
    for q in range(POOL):
        grade = rng.integers(0, 3, 10) * (rng.random(10) < 0.3)
        grade[rng.integers(10)] = 2
        for side, random in ((pred, rng), (rival, more)):
            score = random.beta(1, 2) * grade + random.random(10)
            found = random.random() < found_in
            side += [
                {"test_case": f"q{q}", "id": f"d{d}", "value": float(score[d])}
                for d in range(10)
                if found or not grade[d]
            ]
        gold += [{"test_case": f"q{q}", "id": f"d{d}", "value": int(grade[d])} for d in range(10)]
    return gold, pred, rival


def spans() -> tuple[Records, Records, Records]:
    """Documents of twelve tokens with one to six names of three kinds, some documents harder than others."""
    rng, more = np.random.default_rng(10), np.random.default_rng(100)
    sides: tuple[Records, Records, Records] = ([], [], [])
    for i in range(POOL):
        easy, one, other, third = rng.beta(4, 1), Records(), Records(), Records()
        for start in range(0, 12, 2):
            if rng.random() < 0.4:
                label = str(rng.choice(["PER", "LOC", "ORG"], p=[0.6, 0.3, 0.1]))
                one.append({"start": 10 * start, "end": 10 * start + 9, "label": label})
                for side, random in ((other, rng), (third, more)):
                    if random.random() < easy:
                        side.append(one[-1])
                    elif random.random() < 0.5:
                        side.append(one[-1] | {"end": 10 * start + 5})
        for side, found in zip(sides, (one, other, third), strict=True):
            side.append({"id": str(i), "spans": found})
    return sides


def bundles() -> tuple[Records, Records, Records]:
    rng, more = np.random.default_rng(11), np.random.default_rng(110)
    sides: tuple[Records, Records, Records] = ([], [], [])
    for i in range(POOL):
        pages, easy = int(rng.integers(3, 12)), rng.beta(9, 1)
        first = [j == 0 or rng.random() < 0.3 for j in range(pages)]
        said = [[f if random.random() < easy else not f for f in first] for random in (rng, more)]
        for side, flags in zip(sides, (first, *said), strict=True):
            numbered = [{"number": j + 1, "is_first_page": bool(f)} for j, f in enumerate(flags)]
            side.append({"document_id": str(i), "pages": numbered})
    return sides


def probabilities(positive: float) -> tuple[Records, Records, Records]:
    """Two classes, one of this share; the systems are a little too sure of what they see through noise."""
    rng = np.random.default_rng(12)
    yes = rng.random(POOL) < positive
    gold = [{"id": str(i), "value": "yes" if y else "no"} for i, y in enumerate(yes)]
    seen = [1.5 * (2.0 * yes - 1) + 1.5 * rng.normal(size=POOL) + np.log(positive / (1 - positive)) for _ in range(2)]
    sure = [(1 / (1 + np.exp(-x))).round(4) for x in seen]
    pred, rival = (_objects(np.stack([p, 1 - p], 1).round(4), ("yes", "no")) for p in sure)
    return gold, pred, rival


def numbers() -> tuple[Records, Records, Records]:
    """Numbers with a long tail, and errors that grow with them."""
    rng = np.random.default_rng(13)
    gold = rng.lognormal(0.0, 0.6, POOL)
    pred, rival = (gold * rng.lognormal(0.0, 0.3, POOL) for _ in range(2))
    rows = lambda x: [{"id": str(i), "value": float(v)} for i, v in enumerate(x.round(4))]
    return rows(gold), rows(pred), rows(rival)


_RANKED, _BINARY = {"order": "score"}, {"pos_label": "yes"}
_QUERIES = ("ndcg", "average_precision", "reciprocal_rank", "precision@5")
_SURE = ("log_loss", "brier", "roc_auc", "average_precision", "ece", "accuracy", "f1")
POOLS: dict[str, Pool] = {
    "label sets, six labels": Pool(
        "multilabel", ("f1", "f1(average=micro)", "jaccard", "subset_accuracy"), "jaccard", label_sets
    ),
    "queries": Pool("ranking", _QUERIES, "ndcg", lambda: queries(1.0), _RANKED),
    "queries, 70 % without a hit": Pool("ranking", _QUERIES, "ndcg", lambda: queries(0.3), _RANKED),
    "weights": Pool(
        "soft", ("cross_entropy", "js_divergence", "icm_soft", "icm_soft_norm", "soft_f1", "ece"), "cross_entropy", weights
    ),
    "probabilities, half positive": Pool("probabilities", _SURE, "log_loss", lambda: probabilities(0.5), _BINARY),
    "probabilities, a tenth positive": Pool("probabilities", _SURE, "log_loss", lambda: probabilities(0.1), _BINARY),
    "numbers": Pool("numbers", ("mae", "rmse", "r2", "pearson", "spearman"), "mae", numbers),
    "spans in documents of their own difficulty": Pool(
        "spans", ("f1", "f1(average=macro)", "precision", "token_f1"), "token_f1", spans
    ),
    "bundles of their own difficulty": Pool(
        "splitting", ("f1", "pk", "windowdiff", "file_f1", "straight_through"), "f1", bundles
    ),
}  # fmt: skip

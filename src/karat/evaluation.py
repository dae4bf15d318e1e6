# SPDX-License-Identifier: Apache-2.0
"""What an evaluation is once it is computed: the one thing that every exit consumes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.cells import Cells
from karat.findings import Finding
from karat.metric import Better, Definition, Metric, MetricError, Result, parse, resolved, unknown_metric
from karat.rendered import Rendered
from karat.score import Floats, Mask, mean_defined
from karat.state import UNSTORED, stored


class ByLabel(dict[str, "Part"]):
    """By label, which is a text: 1 and True are looked up as they are spelt."""

    def __missing__(self, label: object) -> Part:
        spelt = str(label).lower() if isinstance(label, bool) else str(label)
        if isinstance(label, str) or spelt not in self:
            raise KeyError(label)
        return self[spelt]


@stored("interval")
@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval and how it was made."""

    level: float
    """Confidence, as 0.95."""
    low: float
    high: float
    method: str
    """How it was made: bca, wilson, hall-t, …"""
    resamples: int | None = None
    se: float | None = None
    """Standard error."""
    undefined: float = 0.0
    """Share of the resamples that gave no score, and were left out."""
    bias: float = 0.0
    """What the score is expected to be off by on so few units; the interval does not correct it."""


@dataclass(frozen=True, slots=True)
class Part:
    """The score of one test case or class: a number, or why there is none."""

    value: float | None
    undefined: str | None = None
    """Why there is no value."""
    interval: Interval | None = None
    test_case: str | None = None
    label: str | None = None
    """The class, where it is the score of one."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Values of test cases in brief."""

    total: int
    defined: int
    median: float | None


@stored("slice")
@dataclass(frozen=True, slots=True)
class Slice:
    """The score of the units of one slice, and how far it is from that of all others."""

    name: str
    units: int
    value: float | None
    undefined: str | None
    interval: Interval | None
    difference: float | None
    """Score minus the score of all other units."""
    apart: Interval | None
    """Of the difference, such that all slices of the column hold at once."""

    def verdict(self, better: Better) -> str:
        """Whether the slice is surely worse or better than the rest."""
        if self.apart is None or better == "neither" or self.apart.low <= 0 <= self.apart.high:
            return ""
        return "better" if (self.apart.low > 0) == (better == "higher") else "worse"


@stored("gap")
@dataclass(frozen=True, slots=True)
class Gap:
    """How far the best slice is from the worst."""

    best: str
    worst: str
    value: float
    """Score of the best minus that of the worst."""
    interval: Interval | None
    """Holds for all pairs of slices at once, so that it holds for the widest."""
    pairs: int


@stored("slicing")
@dataclass(frozen=True, slots=True)
class Slicing:
    """A score by the values of one column of gold, worst first."""

    column: str
    better: Better
    slices: list[Slice]
    gap: Gap | None

    def __getitem__(self, name: str) -> Slice:
        for part in self.slices:
            if part.name == str(name):
                return part
        raise KeyError(f"{self.column} has no slice {name!r}; it has {', '.join(s.name for s in self.slices)}")

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)


@stored("sliced_units")
@dataclass(frozen=True, eq=False)
class SlicedUnits:
    """Which units each slice of a column holds: the place of a unit's slice among the names, in the order of the cells' units."""

    names: list[str]
    place: NDArray[np.int64]

    def check_state(self) -> None:
        """Every place has a name."""
        if len(self.place) and not 0 <= self.place.min() <= self.place.max() < len(self.names):
            raise ValueError("units of slices that are not there")


@stored("score")
@dataclass(frozen=True)
class Score:
    """One metric of one system: overall, by test case and by class."""

    metric: Metric
    label: str
    """The name that reports show."""
    better: Better
    """Which scores are better: higher, lower or neither."""
    params: dict[str, Any]
    """Every parameter with its value, defaults too."""
    value: float | None
    """The score; None where it is undefined."""
    undefined: str | None
    """Why there is no value."""
    test_cases: list[str]
    classes: list[str]
    result: Result
    """The numbers behind `by_test_case` and `by_class`, as arrays."""
    interval: Interval | None = None
    """Where intervals were asked for."""
    test_case_intervals: dict[str, Interval] = field(default_factory=dict)
    class_intervals: dict[tuple[str, str], Interval] = field(default_factory=dict)
    """By test case and class."""
    slices: dict[str, Slicing] = field(default_factory=dict)
    """By column of gold, where slices were asked for."""

    def __repr__(self) -> str:
        shown = f"{self.value:.6g}" if self.value is not None else f"undefined ({self.undefined})"
        interval = f" [{self.interval.low:.4g}, {self.interval.high:.4g}]" if self.interval else ""
        return f"<Score {self.metric}: {shown}{interval}>"

    @property
    def n_undefined(self) -> int:
        """How many test cases have no value (and are left out of the mean)."""
        return int(np.isnan(self.result.value).sum())

    @property
    def spread(self) -> Spread:
        """How many test cases have a value, and the median of these."""
        known = self.result.value[~np.isnan(self.result.value)]
        return Spread(len(self.test_cases), len(known), float(np.median(known)) if len(known) else None)

    @cached_property
    def by_test_case(self) -> dict[str, Part]:
        """The score of each test case."""
        return dict(zip(self.test_cases, self.parts(), strict=True))

    def parts(self) -> Iterator[Part]:
        """The scores of test cases one after the other, for who wants them once: of 100,000 queries they take 20 MB a metric."""
        for name, value in zip(self.test_cases, self.result.value.tolist(), strict=True):
            yield _part(value, self.result.reason, self.test_case_intervals.get(name), name)

    @cached_property
    def by_class(self) -> dict[str, Part]:
        """The score of each class, averaged over the test cases that have it."""
        if self.result.by_class is None or self.result.scope is None:
            return {}
        inside = np.asarray(self.result.scope.any(0))
        value = mean_defined(self.result.by_class.T, self.result.scope.T)
        single = self.test_cases[0] if len(self.test_cases) == 1 else None
        return ByLabel(
            (
                name,
                _part(value[i], self.result.class_reason, self.class_intervals.get((single or "", name)), None, name),
            )
            for i, name in enumerate(self.classes)
            if inside[i]
        )

    def class_parts(self) -> Iterator[Part]:
        """The score of each class in each test case."""
        by_class, scope = self.result.by_class, self.result.scope
        if by_class is None or scope is None:
            return
        for t, i in np.argwhere(scope).tolist():
            name, label = self.test_cases[t], self.classes[i]
            interval = self.class_intervals.get((name, label))
            yield _part(by_class[t, i], self.result.class_reason, interval, name, label)


def _part(
    value: float, reason: str, interval: Interval | None, test_case: str | None, label: str | None = None
) -> Part:
    if np.isnan(value):
        return Part(None, reason, None, test_case, label)
    return Part(float(value), None, interval, test_case, label)


def make_score(definition: Definition, metric: Metric, cells: Cells, result: Result) -> Score:
    """The only maker of scores: metric and value never travel apart."""
    mean = mean_defined(result.value)
    if definition.pooled:
        mean = definition.compute(cells.pooled(), cells, metric).value[0]
    undefined = bool(np.isnan(mean))
    return Score(
        metric=metric,
        label=definition.label(metric, type(cells)),
        better=definition.better,
        params=definition.settings(metric, type(cells)),
        value=None if undefined else float(mean),
        undefined=result.reason if undefined else None,
        test_cases=cells.test_cases,
        classes=cells.classes,
        result=result,
    )


@stored("detail")
@dataclass(frozen=True, slots=True)
class Detail:
    """A table that belongs to a result but is no score: a confusion matrix, an error list."""

    name: str
    title: str
    columns: list[str]
    rows: list[list[Any]]
    kind: str = "table"


def _spelt(params: Iterable[tuple[str, Any]]) -> set[tuple[str, str]]:
    """Parameters as they are written: true may be the truth value or a word, and 2 is 2.0."""
    return {
        (name, str(float(v) if isinstance(v, int) and not isinstance(v, bool) else v).lower()) for name, v in params
    }


@stored("system")
@dataclass
class SystemResult:
    """One system's scores, what was counted, and what was found in its file."""

    name: str
    scores: dict[Metric, Score]
    """Found by name too: ``system["f1"]``."""
    counts: dict[str, int]
    """How many units there are, on either side and on both."""
    findings: list[Finding]
    """What was found in gold and in its file."""
    cells: Cells = field(metadata=UNSTORED)
    """What was counted, for new metrics."""
    details: list[Detail] = field(default_factory=list)
    """Confusion matrices, error lists and other tables."""
    sliced: dict[str, SlicedUnits] = field(default_factory=dict, compare=False)
    """By column of gold, where slices were asked for."""

    def __getitem__(self, metric: str | Metric) -> Score:
        wanted = resolved(parse(metric) if isinstance(metric, str) else metric, {m.name for m in self.scores})
        if wanted in self.scores:
            return self.scores[wanted]
        spelt = _spelt(wanted.params)
        alike = [(m, s) for m, s in self.scores.items() if m.name == wanted.name and spelt <= _spelt(s.params.items())]
        # With a default spelt out, the metric that leaves it out is the one that is meant.
        alike = alike if len(alike) == 1 else [(m, s) for m, s in alike if _spelt(m.params) <= spelt]
        if len(alike) != 1:
            known = [str(m) for m in self.scores]
            raise MetricError(unknown_metric(str(wanted), known, f"this evaluation has {', '.join(known)}"))
        return alike[0][1]

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores.values())

    def __repr__(self) -> str:
        return f"<SystemResult {self.name!r}: {_shortly(self.scores.values())}>"

    def detail(self, name: str) -> Detail:
        """The detail called ``name``."""
        return next(d for d in self.details if d.name == name)


def _shortly(scores: Iterable[Score]) -> str:
    listed = list(scores)
    shown = [f"{s.metric}={'undefined' if s.value is None else format(s.value, '.4g')}" for s in listed[:4]]
    return ", ".join(shown) + (", …" if len(listed) > 4 else "")


@dataclass(frozen=True)
class MethodScore:
    """One metric of a method over its runs."""

    method: str
    metric: Metric
    label: str
    better: Better
    runs: int
    value: float | None
    """Mean over the runs."""
    deviation: float | None
    """Standard deviation of the runs' scores."""
    interval: Interval | None
    """Of the mean, as if runs and units were drawn anew."""
    runs_share: float | None
    """Share of the variance of the mean that is due to the runs."""


@dataclass(frozen=True)
class JudgedScore:
    """One metric of a system from gold for a sample and a judge's labels for all units."""

    system: str
    metric: Metric
    label: str
    better: Better
    value: float | None
    """From both together: right whatever the judge is worth."""
    interval: Interval | None
    gold_value: float | None
    """From the units with gold alone."""
    gold_interval: Interval | None
    judge_value: float | None
    """From the judge alone, on all units: off by nobody knows how much."""
    weight: float
    """How much of the judge is used, 0 to 1."""
    labelled: int
    unlabelled: int
    effective: float | None
    """How many gold labels alone would give the same error."""


@dataclass(frozen=True)
class Rejected:
    """A system that could not be scored, and why."""

    name: str
    findings: list[Finding]


class Systems(list[SystemResult]):
    """The systems of an evaluation in their order, which are also found by name.

    >>> karat.evaluate(["A"], {"x": ["A"], "y": ["B"]}, metrics=["accuracy"]).systems["y"]["accuracy"].value
    0.0
    """

    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, str):
            return super().__getitem__(which)
        alike = [system for system in self if system.name == which]
        alike = alike or [s for s in self if which.rpartition(".")[0] == s.name or s.name.rpartition(".")[0] == which]
        if len(alike) != 1:
            raise MetricError(f"there is no system {which!r}; there are: {', '.join(s.name for s in self)}")
        return alike[0]


@dataclass
class Evaluation(Rendered):
    """One or more systems scored against one gold standard.

    ``e["f1"]`` is a score of the only system; of several it is ``e.systems["name"]["f1"]``.
    """

    kind = "evaluation"

    context: str
    """Its name, as ``monolabel``."""
    systems: Systems | list[SystemResult]
    """In the order given, found by place or by name."""
    plan: dict[str, Any]
    """Context, metrics and options by which the scores can be had again."""
    provenance: dict[str, Any]
    """Version, inputs with their hashes, and time."""
    texts: dict[str, str] | None = None
    """Texts of gold's units by test case and id (joined by U+001F), where gold has them and units were asked for."""
    methods: list[MethodScore] = field(default_factory=list)
    """Means over runs, where methods were given with several; ``systems`` are the single runs."""
    judged: list[JudgedScore] = field(default_factory=list)
    """Scores from gold and a judge together, where a judge was given."""
    rejected: list[Rejected] = field(default_factory=list)
    """Systems that could not be scored, where the others were to be scored all the same."""

    def __post_init__(self) -> None:
        self.systems = Systems(self.systems)

    def __repr__(self) -> str:
        if len(self.systems) == 1:
            return f"<Evaluation {self.context}: {_shortly(self.systems[0])}>"
        names = ", ".join(system.name for system in self.systems[:4]) + (", …" if len(self.systems) > 4 else "")
        return f"<Evaluation {self.context}: {len(self.systems)} systems ({names}), {len(self.metrics)} metrics>"

    @property
    def only(self) -> SystemResult:
        """The only system; with several, index ``systems``."""
        if len(self.systems) > 1:
            raise MetricError(
                f"this evaluation has {len(self.systems)} systems; index evaluation.systems by name: "
                + ", ".join(repr(system.name) for system in self.systems)
            )
        return self.systems[0]

    def __getitem__(self, metric: str | Metric) -> Score:
        return self.only[metric]

    def __iter__(self) -> Iterator[Score]:
        return iter(self.only)

    @property
    def metrics(self) -> list[Metric]:
        """What was computed, in order."""
        return list(self.systems[0].scores)

    @property
    def findings(self) -> list[Finding]:
        """What was found in any input, each once."""
        every = [*self.systems, *self.rejected]
        return list(dict.fromkeys(f for system in every for f in system.findings))

    def plot(self, name: str = "", **options: Any) -> Any:
        """A picture: roc, pr, calibration, thresholds, confusion, classes, balance, cutoff. Notebooks show it; `save` writes it.

        >>> karat.evaluate(["yes", "no", "yes"], [0.8, 0.6, 0.7]).plot("roc")
        <karat picture 'roc': .save('roc.svg')>
        """
        return self.render("picture", name=name, **options)

    def _repr_html_(self) -> str:
        return str(self.render("notebook"))


__all__ = [
    "Detail",
    "Evaluation",
    "Floats",
    "Gap",
    "Interval",
    "Mask",
    "MethodScore",
    "Part",
    "Score",
    "Slice",
    "Slicing",
    "SystemResult",
    "make_score",
]

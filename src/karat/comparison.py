# SPDX-License-Identifier: Apache-2.0
"""What a comparison of systems is once it is computed: pairs, tests, verdicts, ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from karat.evaluation import Evaluation, Interval
from karat.findings import Finding
from karat.metric import Better, Metric, MetricError, parse, unknown_metric
from karat.rendered import Rendered

Verdict = Literal["better", "worse", "inconclusive", "undefined"]


@dataclass(frozen=True)
class Test:
    """A p-value with how it was found; ``p`` is NaN where the test does not apply, and ``note`` says why."""

    __test__ = False

    name: str
    p: float
    statistic: float = float("nan")
    draws: int = 0
    exact: bool = False
    note: str = ""
    one_sided: bool = False
    """Whether p is that of "the first is better"."""

    @property
    def at_floor(self) -> bool:
        """Whether no draw was as extreme as the data: p is valid and to be read as "at most", however far below the draws."""
        return bool(self.draws) and not self.exact and self.p <= 1 / (self.draws + 1) + 1e-15


@dataclass(frozen=True)
class Effect:
    """Effect sizes over units; None where a size is undefined (no spread, or no differences)."""

    units: int
    win: int
    tie: int
    loss: int
    d_z: float | None
    hedges_g: float | None
    rank_biserial: float | None
    superiority: float | None


@dataclass(frozen=True)
class Posterior:
    """Probabilities of the three states; they sum to 1."""

    worse: float
    equal: float
    better: float


@dataclass(frozen=True)
class RunPlan:
    """Runs behind a comparison of methods, and how many would decide it."""

    a: int
    b: int
    share: float
    """Share of the variance of the difference that is due to the runs."""
    needed: int | None = None
    """Runs of each method that would show the difference on these units, if any number does."""
    gap: Any = None
    """The variance components, for designs."""


@dataclass(frozen=True)
class Pair:
    """A against B on one metric; the difference is A − B whatever the metric's direction."""

    a: str
    b: str
    metric: Metric
    label: str
    better: Better
    units: int
    a_value: float | None
    b_value: float | None
    difference: float | None
    interval: Interval | None
    """Of the difference, by itself."""
    tests: list[Test]
    """The first decides."""
    p: float | None
    p_corrected: float | None
    verdict: Verdict
    """Whether A is better, worse, or the data cannot tell."""
    mde: float | None
    """Smallest true difference that the corrected test shows on this data with 80 % power."""
    needed: int | None = None
    """Units that a difference of the asked size would need to be shown with 80 % power."""
    effect: Effect | None = None
    test_cases: tuple[int, int, int] | None = None
    """Test cases that A wins, ties and loses."""
    equivalence: Test | None = None
    posterior: Posterior | None = None
    sentence: str = ""
    """The verdict in words."""
    runs: RunPlan | None = None
    """Only where methods have several runs."""
    simultaneous: Interval | None = None
    """Interval of the difference that holds for all pairs and metrics at once, as the corrected p does."""
    p_is_bound: bool = False
    """Whether the corrected p is to be read as "at most", because no draw was as extreme."""
    clusters: int | None = None
    """Clusters that the units come in, where they were named."""
    non_inferiority: Test | None = None
    """Whether the first is worse by less than the margin, where that was asked; p is corrected like the others."""

    @property
    def undecided(self) -> bool:
        """Whether no draw was as extreme, yet the draws are too few for so many tests."""
        return self.verdict == "inconclusive" and self.p_is_bound

    @property
    def test(self) -> Test | None:
        """The test that decides."""
        return self.tests[0] if self.tests else None

    @property
    def gain(self) -> float | None:
        """The difference turned so that positive means that A is better."""
        if self.difference is None:
            return None
        return -self.difference if self.better == "lower" else self.difference

    @property
    def gain_bounds(self) -> tuple[float, float] | None:
        """Ends of the interval of `gain`."""
        return None if self.interval is None else _turned(self.interval, self.better)

    @property
    def simultaneous_gain(self) -> tuple[float, float] | None:
        """Ends of the interval of `gain` that holds for all pairs and metrics at once."""
        return None if self.simultaneous is None else _turned(self.simultaneous, self.better)


def _turned(interval: Interval, better: Better) -> tuple[float, float]:
    return (-interval.high, -interval.low) if better == "lower" else (interval.low, interval.high)


@dataclass(frozen=True)
class Place:
    """A line of a leaderboard."""

    rank: int
    system: str
    value: float | None
    interval: Interval | None
    low: int
    """Best rank that the data do not rule out."""
    high: int
    """Worst rank that the data do not rule out."""
    groups: str
    """Letters of groups: two systems share one exactly if the tests do not tell them apart."""
    best: float | None = None
    """Probability that no other system has a better true score."""


@dataclass(frozen=True)
class Ranks:
    """Systems ranked over test cases: Friedman's test and Nemenyi's critical difference."""

    metric: Metric
    label: str
    systems: list[str]
    mean_ranks: list[float]
    test_cases: int
    p: float
    chi2: float
    f: float
    kendall_w: float
    critical_difference: float
    alpha: float
    groups: list[list[int]]


@dataclass(frozen=True)
class ComparedSlice:
    """The systems on the units of one slice; verdicts are corrected for all slices that were looked at."""

    name: str
    units: int
    pairs: list[Pair]
    boards: dict[Metric, list[Place]]


@dataclass
class Comparison(Rendered):
    """Systems scored against one gold standard, and every pair of them compared."""

    kind = "comparison"

    evaluation: Evaluation
    """The scores of the systems."""
    pairs: list[Pair]
    """Every two systems on every metric."""
    correction: str
    """How p-values are corrected: holm, …"""
    family: int
    """Over how many tests they are corrected."""
    alpha: float
    """Corrected p-values up to it make a verdict."""
    baseline: str | None
    """The system with which alone the others are compared."""
    plan: dict[str, Any]
    """Settings by which the comparison can be had again."""
    leaderboards: dict[Metric, list[Place]]
    """By metric, the systems from best to worst."""
    ranks: list[Ranks] = field(default_factory=list)
    """Friedman's test, where there are three systems and test cases enough."""
    own_findings: list[Finding] = field(default_factory=list)
    """What speaks against intervals or verdicts."""
    units: dict[str, Any] = field(default_factory=dict, repr=False)
    """Unit scores by metric, for `disagreements`."""
    methods: list[str] = field(default_factory=list)
    """Methods whose runs are the systems of ``evaluation``; none where every system is one run."""
    slices: dict[str, list[ComparedSlice]] = field(default_factory=dict)
    """By column of gold, the slice on which the leader does worst first."""

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the unit scores, which belong to the process that computed them."""
        return {**self.__dict__, "units": {}}

    @property
    def systems(self) -> list[str]:
        """Names of what is compared."""
        return self.methods or [s.name for s in self.evaluation.systems]

    @property
    def findings(self) -> list[Finding]:
        """What was found in the inputs, and what speaks against verdicts."""
        return [*self.evaluation.findings, *self.own_findings]

    @property
    def unsaid(self) -> list[Finding]:
        """The findings of the inputs; what speaks against the verdicts stands beside them."""
        return self.evaluation.findings

    @property
    def metrics(self) -> list[Metric]:
        """What the systems are compared on."""
        return list(dict.fromkeys(p.metric for p in self.pairs))

    def of(self, metric: str | Metric) -> list[Pair]:
        """The pairs of one metric."""
        wanted = parse(metric) if isinstance(metric, str) else metric
        known = {m for m in self.metrics if m == wanted or m.name == wanted.name}
        if not known:
            names = [str(m) for m in self.metrics]
            raise MetricError(unknown_metric(str(wanted), names, f"this comparison has {', '.join(names)}"))
        exact = wanted if wanted in known else sorted(known, key=str)[0]
        return [p for p in self.pairs if p.metric == exact]

    def pair(self, a: str, b: str, metric: str | Metric) -> Pair:
        """A against B on one metric, in whichever order they were compared."""
        for pair in self.of(metric):
            if {pair.a, pair.b} == {a, b}:
                return pair if pair.a == a else flipped(pair)
        raise MetricError(f"{a!r} and {b!r} were not compared; there are: {', '.join(self.systems)}")

    def sentences(self) -> Iterator[str]:
        """The verdict of each pair in words."""
        return (p.sentence for p in self.pairs)

    def disagreements(self, a: str, b: str, metric: str | Metric | None = None) -> list[dict[str, Any]]:
        """Units on which the two systems score differently, those that ``a`` wins first."""
        if "table" not in self.units:
            raise MetricError("the unit scores were not kept with this comparison: compare again")
        rows: list[dict[str, Any]] = self.units["table"](a, b, metric)
        return rows

    def charts(self) -> list[str]:
        """Forest plots, p-value matrices, groups and critical-difference diagrams as SVG, metric by metric."""
        drawn: list[str] = self.render("charts")
        return drawn

    def __repr__(self) -> str:
        named = ", ".join(self.systems[:4]) + (", …" if len(self.systems) > 4 else "")
        return f"<Comparison of {len(self.systems)} systems ({named}) on {len(self.metrics)} metrics, {len(self.pairs)} pairs>"

    def _repr_html_(self) -> str:
        return str(self.render("notebook"))


_TURNED: dict[Verdict, Verdict] = {
    "better": "worse",
    "worse": "better",
    "inconclusive": "inconclusive",
    "undefined": "undefined",
}


def flipped(pair: Pair) -> Pair:
    """B against A: the same comparison seen from the other side."""
    from dataclasses import replace

    alone, all_at_once = (i and replace(i, low=-i.high, high=-i.low) for i in (pair.interval, pair.simultaneous))
    effect = pair.effect and replace(
        pair.effect, win=pair.effect.loss, loss=pair.effect.win, d_z=_minus(pair.effect.d_z),
        hedges_g=_minus(pair.effect.hedges_g), rank_biserial=_minus(pair.effect.rank_biserial),
        superiority=None if pair.effect.superiority is None else 1 - pair.effect.superiority,
    )  # fmt: skip
    return replace(
        pair, a=pair.b, b=pair.a, a_value=pair.b_value, b_value=pair.a_value, difference=_minus(pair.difference),
        interval=alone, simultaneous=all_at_once, effect=effect, verdict=_TURNED[pair.verdict],
        test_cases=pair.test_cases and pair.test_cases[::-1],
        posterior=pair.posterior and Posterior(pair.posterior.better, pair.posterior.equal, pair.posterior.worse),
    )  # fmt: skip


def _minus(value: float | None) -> float | None:
    return None if value is None else -value

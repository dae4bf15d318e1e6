# SPDX-License-Identifier: Apache-2.0
"""A kept run: what was recorded, and new questions to its cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from karat.api import wanted_intervals
from karat.comparison import Comparison
from karat.evaluation import Evaluation, SystemResult
from karat.hierarchy import Hierarchy
from karat.inputs import distinct
from karat.metric import Metric
from karat.plan import Plan, make_plan
from karat.stats.settings import RESAMPLES, ComparisonSettings, IntervalSettings
from karat.store.location import StoreError


@dataclass(frozen=True)
class Run:
    """A run as it was saved; it never changes."""

    id: str
    tags: list[str]
    digest: str
    evaluation: Evaluation
    """The evaluation with the numbers that were computed when it was saved."""
    whole: bool = True
    """Whether plan, provenance and parts still match the hash that was taken of them."""

    def plan(self, metrics: Iterable[str | Metric] | None = None) -> Plan:
        """The plan of the run, with its own metrics or others."""
        recorded = self.evaluation.plan
        wanted = list(recorded["metrics"]) if metrics is None else metrics
        return make_plan(recorded["context"], wanted, options_of(recorded), recorded["undefined"], recorded["seed"])

    def evaluate(
        self,
        metrics: Iterable[str | Metric] | None = None,
        *,
        intervals: float | bool | None = None,
        interval_method: str = "auto",
        resamples: int = RESAMPLES,
        seed: int | None = None,
    ) -> Evaluation:
        """Metrics and intervals that were not asked for before, from the cells that were kept."""
        plan = self.plan(metrics)
        seed = plan.seed if seed is None else seed
        wanted = wanted_intervals(intervals, interval_method, resamples, seed)
        systems = [rescored(system, plan, wanted) for system in self.evaluation.systems]
        record = {k: v for k, v in self.evaluation.plan.items() if k not in ("intervals", "slices")} | plan.to_dict()
        record |= {"intervals": wanted.to_dict() | {"cluster_by": None}} if wanted else {}
        return replace(self.evaluation, systems=systems, plan=record)

    def compare(
        self,
        metrics: Iterable[str | Metric] | None = None,
        *,
        systems: Sequence[str] = (),
        level: float = 0.95,
        **settings: Any,
    ) -> Comparison:
        """The systems of this run (or those named) against one another."""
        return compare_runs([self], metrics, systems=systems, level=level, **settings)


def options_of(plan: dict[str, Any]) -> dict[str, Any]:
    """The context's options as `make_plan` takes them; a label tree stands in a plan as nested data."""
    return {k: Hierarchy.of(v) if k == "hierarchy" and v is not None else v for k, v in plan["options"].items()}


def rescored(system: SystemResult, plan: Plan, wanted: IntervalSettings | None) -> SystemResult:
    """The system with the plan's metrics computed anew from its cells."""
    result = SystemResult(
        system.name, plan.score(system.cells), system.counts, system.findings, system.cells, system.details
    )
    if not wanted:
        return result
    from karat.stats.estimate import add_intervals  # SciPy takes longer to import than a list of runs takes

    return add_intervals(result, plan, wanted)


def compare_runs(
    runs: Sequence[Run],
    metrics: Iterable[str | Metric] | None = None,
    *,
    systems: Sequence[str] = (),
    level: float = 0.95,
    **settings: Any,
) -> Comparison:
    """Systems of one or more runs on the same gold against one another, pair by pair."""
    from karat.stats.comparing import compare_systems

    plan = runs[0].plan(metrics)
    chosen = _chosen(runs, systems)
    scored = [rescored(s, plan, None) for s in chosen]
    evaluation = Evaluation(plan.context.name, scored, plan.to_dict(), runs[0].evaluation.provenance)
    asked = ComparisonSettings(alpha=round(1 - level, 12), seed=plan.seed, **settings)
    return compare_systems(evaluation, plan, asked, IntervalSettings(level, seed=plan.seed))


def _chosen(runs: Sequence[Run], names: Sequence[str]) -> list[SystemResult]:
    """The systems of all runs, or those named, if all runs have counted the same gold in the same way."""
    if len({gold_hash(run.evaluation) for run in runs}) > 1:
        raise StoreError("the runs have different gold standards, so their systems cannot be compared")
    for name in ("context", "options"):
        if any(run.evaluation.plan[name] != runs[0].evaluation.plan[name] for run in runs):
            raise StoreError(
                f"the runs differ in their {name}, so their systems cannot be compared; evaluate them alike"
            )
    every = [system for run in runs for system in run.evaluation.systems]
    named = distinct([system.name for system in every])
    by_name = {name: replace(system, name=name) for name, system in zip(named, every, strict=True)}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise StoreError(f"there is no system {unknown[0]!r}; there are: {', '.join(by_name)}")
    chosen = [by_name[name] for name in names or by_name]
    if len(chosen) < 2:
        raise StoreError("a comparison needs two systems or more; name a second run")
    return chosen


def gold_hash(evaluation: Evaluation) -> str | None:
    """What tells one gold standard from another."""
    inputs: list[dict[str, Any]] = evaluation.provenance["inputs"]
    gold: dict[str, Any] = next((i for i in inputs if i["role"] == "gold"), {})
    return gold.get("canonical") or gold.get("sha256")

# SPDX-License-Identifier: Apache-2.0
"""The pipeline: read, check, align, count, score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from karat.agree import agree, check_labels, suspect, without_common_labels
from karat.beside import beside_said, named_columns, not_ignored, said_of_slices, sliced_by, weighed_by
from karat.check import leave_out
from karat.columns import Codes
from karat.contexts import CONTEXT_OF, context
from karat.contexts.base import Counted
from karat.engines.duckdb import Engine
from karat.engines.memory import count
from karat.evaluation import Evaluation, Rejected, SystemResult
from karat.findings import Finding, InputError, finding, stop_on_errors
from karat.inputs import Column, Columns, Given, by_index, check_tables, on_cluster, read_side, systems_of, to_read
from karat.methods import Methods, methods_of
from karat.metric import Metric, MetricError
from karat.numeric import are_labels, name_columns, of_numbers
from karat.plan import Plan, make_plan
from karat.progress import told
from karat.provenance import input_record, provenance
from karat.read import Unread, Waiting
from karat.read.roles import as_labels
from karat.side import Side
from karat.stats.settings import RESAMPLES, ComparisonSettings, IntervalSettings
from karat.values import SAID

if TYPE_CHECKING:
    from karat.comparison import Comparison
    from karat.engines.spark import Frame
    from karat.stats.clusters import ClusterKeys, UnitGroups
    from karat.stats.slices import SliceKeys

T = TypeVar("T")


def evaluate(
    gold: Any,
    pred: Any = None,
    *,
    context: str | None = None,
    metrics: Iterable[str | Metric] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    columns: Columns | None = None,
    separator: str | None = None,
    undefined: str = "report",
    seed: int = 0,
    names: Sequence[str] | None = None,
    units: bool = False,
    intervals: float | bool | None = None,
    interval_method: str = "auto",
    resamples: int = RESAMPLES,
    cluster_by: str | None = None,
    stratify_by: str | None = None,
    slices: Any = None,
    weight: Any = None,
    run: str | None = None,
    judge: Any = None,
    judge_strata: str | None = None,
    hashes: bool | None = None,
    max_unpacked: int | None = None,
    memory: int | None = None,
    temp: str | None = None,
    engine: str | None = None,
    master: str | None = None,
    keep_going: bool = False,
    **options: Any,
) -> Evaluation:
    """Score predictions against gold.

    ``intervals`` adds confidence intervals at that level (True: 0.95); ``cluster_by`` names the gold
    column whose values are drawn whole (documents, users, …) when units are not independent; ``stratify_by``
    one whose values keep their numbers of units in every resample. ``slices`` names gold columns by whose values
    scores are broken down (``"country"``, ``["country", "length:5"]`` with five bins of a number), or gives the
    values beside gold (``{"country": [...]}``); ``weight`` names a column (or gives values) of what each unit counts.
    ``hashes`` asks for the canonical hash of every input (None: of those that are read in a moment; False: of none).
    ``max_unpacked`` is how many bytes a packed file may unpack to (by default 256 MiB, or 200 times its size);
    ``memory`` how many bytes joins and sorts of tables may take before they go to files in the folder ``temp``.
    ``keep_going`` scores the systems that can be scored; those that cannot are in ``rejected``, with why.

    Both are paths, ``-``, frames, lists of records, dicts of id → value, or plain sequences paired
    by position, or DataFrames of Spark; a list of paths, a list with as many ``names``, or a dict of name → sequence scores
    several systems. `karat.Runs` in place of predictions, or ``run`` (a column of the predictions), gives a
    method of several runs: its means and intervals are in ``methods``. ``judge`` labels all units where gold
    labels a random sample: estimates from both are in ``judged``; ``judge_strata`` names a column of the judge.
    ``engine="spark"`` lets a cluster read and count paths, that of the session in use or at ``master``.

    >>> karat.evaluate(["A", "B", "B"], ["A", "B", "A"], metrics=["accuracy"])["accuracy"].value
    0.6666666666666666
    """
    handed = systems_of(gold, pred, names, columns)
    methods = methods_of(handed.named, run, encoding)
    without_runs(methods, keep_going)
    if cluster_by and stratify_by:
        raise MetricError("units are drawn by cluster or by stratum: give cluster_by or stratify_by")
    asked = Asked(
        context, metrics, format, encoding, handed.columns, undefined, seed,
        units or methods.repeated or judge is not None, cluster_by or stratify_by, options, hashes, max_unpacked,
        separator, handed.shared, memory, temp, slices, weight, engine, master, keep_going,
    )  # fmt: skip
    wanted = wanted_intervals(intervals, interval_method, resamples, seed, stratify_by)
    level = wanted.level if wanted else 0.95
    found = over_runs(scored(gold, methods.systems, asked, wanted), methods, level)
    if judge is None:
        return found.evaluation
    return with_judge(found, judge, methods.systems, replace(asked, cluster_by=judge_strata), level)


def without_runs(methods: Methods, keep_going: bool) -> None:
    """A method that loses a run is another method."""
    if methods.repeated and keep_going:
        raise MetricError("keep_going leaves out whole systems, not runs of a method: mend or leave out the run")


def with_judge(
    found: Scored, judge: Any, systems: Sequence[tuple[str, Any]], asked: Asked, level: float
) -> Evaluation:  # fmt: skip
    """The evaluation with what gold and the judge say together."""
    from karat.stats.judging import judged_scores

    if found.plan.options.get("extra") == "wrong":
        raise MetricError("with a judge, predictions without gold are not wrong: leave extra=wrong out")
    by_judge = scored(judge, systems, replace(asked, context=found.plan.context.name), None)
    scores, more = judged_scores(
        found.evaluation.systems,
        by_judge.evaluation.systems,
        found.plan,
        level,
        by_judge.clusters if asked.cluster_by else None,
    )
    kept = [replace(s, findings=[f for f in s.findings if f.code != "pred-only-ids"]) for s in found.evaluation.systems]
    kept[0] = replace(kept[0], findings=[*kept[0].findings, *more])
    said = {"judge": by_judge.evaluation.provenance["inputs"][0] | {"role": "judge", "strata": asked.cluster_by}}
    provenance = found.evaluation.provenance | said
    return replace(found.evaluation, systems=kept, judged=scores, provenance=provenance)


def over_runs(found: Scored, methods: Methods, level: float) -> Scored:
    """The evaluation with the means of methods, where some have several runs."""
    if not methods.repeated:
        return found
    from karat.stats.methods import method_scores

    evaluation = found.evaluation
    clusters = None if found.stratified else found.clusters
    scores, more = method_scores(evaluation.systems, methods.groups, found.plan, level, clusters)
    first, *rest = evaluation.systems
    systems = [replace(first, findings=[*first.findings, *more]), *rest]
    return found._replace(evaluation=replace(evaluation, systems=systems, methods=scores))


@dataclass(frozen=True)
class Asked:
    """What the user said about inputs and scores."""

    context: str | None
    metrics: Iterable[str | Metric] | None
    format: str | None
    encoding: str | None
    columns: Mapping[str, str]
    undefined: str
    seed: int
    units: bool
    cluster_by: str | None
    options: Mapping[str, Any]
    hashes: bool | None = None
    max_unpacked: int | None = None
    separator: str | None = None
    shared: bool = False
    memory: int | None = None
    temp: str | None = None
    slices: Any = None
    weight: Any = None
    engine: str | None = None
    master: str | None = None
    keep_going: bool = False
    compared: bool = False
    """Whether slices are those of a comparison, which scores them itself."""

    @property
    def beside(self) -> list[str]:
        """Columns of gold by which units are sliced and weighed."""
        return named_columns(self.slices, self.weight)

    @property
    def carried(self) -> str | None:
        """The column that rides along when gold is read: that of clusters, else the first of those beside."""
        return self.cluster_by or next(iter(self.beside), None)

    @property
    def given(self) -> Given:
        clustered = {"cluster": self.carried} if self.carried else {}
        columns = {**self.columns, **clustered}
        return Given(
            self.format, self.encoding, columns, self.context, self.options, self.max_unpacked, self.separator,
            self.shared,
        )  # fmt: skip

    @property
    def reading(self) -> dict[str, Any]:
        """What must be known to read the inputs again."""
        said = {"format": self.format, "encoding": self.encoding, "columns": dict(self.columns)}
        return said | ({"separator": self.separator} if self.separator else {})


class Scored(NamedTuple):
    """An evaluation with the plan behind it and, where they were named, the clusters of its units."""

    evaluation: Evaluation
    plan: Plan
    clusters: ClusterKeys | None
    stratified: bool = False
    slices: Sequence[SliceKeys] = ()


def scored(gold: Any, systems: Sequence[tuple[str, Any]], asked: Asked, wanted: IntervalSettings | None) -> Scored:
    """The whole pipeline; where some systems cannot be scored, the others, or what is wrong with all of them at once."""
    try:
        return _scored(gold, systems, asked, wanted)
    except InputError as error:
        if len(systems) < 2 or "-" in [one for one in (gold, *(s for _, s in systems)) if isinstance(one, str)]:
            raise said_of_slices(error, asked.beside) from error
        good, rejected = sifted(gold, systems, asked)
        if not rejected:
            raise said_of_slices(error, asked.beside) from error
        if not asked.keep_going or not good:
            every = dict.fromkeys(f for one in rejected for f in one.findings)
            raise said_of_slices(InputError(every), asked.beside) from error
        found = _scored(gold, good, asked, wanted)
        return found._replace(evaluation=replace(found.evaluation, rejected=rejected))


def sifted(gold: Any, systems: Sequence[tuple[str, Any]], asked: Asked) -> tuple[list[tuple[str, Any]], list[Rejected]]:
    """The systems that can be scored, each tried by itself, and those that cannot."""
    good, rejected = list[tuple[str, Any]](), list[Rejected]()
    for name, one in systems:
        try:
            _scored(gold, [(name, one)], replace(asked, hashes=False), None)
            good.append((name, one))
        except InputError as error:
            rejected.append(Rejected(name, error.findings))
    return good, rejected


def _scored(gold: Any, systems: Sequence[tuple[str, Any]], asked: Asked, wanted: IntervalSettings | None) -> Scored:
    keep_freed_memory()
    if asked.engine == "spark" or on_cluster(gold):
        return scored_on_cluster(gold, systems, asked, wanted)
    broken_down = asked.slices is not None or asked.weight is not None
    units = asked.units or broken_down or bool(asked.cluster_by) or bool(wanted and wanted.method == "groups")
    systems, paired = by_index(gold, systems)
    with Engine(memory=asked.memory, temp=asked.temp) as engine, ExitStack() as stack:
        sides = [("gold", None, gold), *(("pred", name, one) for name, one in systems)]
        read = [partial(read_side, engine, stack, one, role, asked.given, name) for role, name, one in sides]
        found = gathered(read)
        meet = partial(meeting, gold, systems, paired, asked)
        counted = None if units else counted_in_place(engine, found, asked, meet)
        counted = counted or (None if units else counted_in_batches(engine, found, asked, meet))
        if counted is None:
            in_memory = gathered(
                [side.side if isinstance(side, (Waiting, Unread)) else partial(_itself, side) for side in found]
            )
            counted = counted_sides(engine, in_memory, asked, meet, units, bool(wanted))
        plan, results, clusters, inputs, texts, ready = counted
        read_column = partial(gold_column, engine, stack, gold, ready, asked, plan)
        weights = None if asked.weight is None else weighed_by(asked.weight, read_column, ready)
        slices = sliced_by(asked.slices, read_column, ready)
    if weights is not None:
        from karat.stats.weighting import weighted

        results = [weighted(result, plan, weights) for result in results]
    if wanted:
        from karat.stats.estimate import add_intervals  # SciPy takes longer to import than most evaluations take

        results = [add_intervals(r, plan, wanted, clusters) for r in told(results, "systems with intervals")]
    if slices and not asked.compared:
        from karat.stats.slices import add_slices

        how = wanted or IntervalSettings(seed=plan.seed)
        results = [add_slices(r, plan, slices, how, clusters) for r in told(results, "systems sliced")]
    said = plan.to_dict() | {"reading": asked.reading} | beside_said(asked.slices, asked.weight)
    strata = bool(wanted and wanted.stratify_by)
    said |= {"intervals": wanted.to_dict() | {"cluster_by": None if strata else asked.cluster_by}} if wanted else {}
    evaluation = Evaluation(plan.context.name, results, said, provenance(inputs, plan.seed), texts)
    return Scored(evaluation, plan, clusters, strata, slices)


class CountedSides(NamedTuple):
    """What counting all systems gives."""

    plan: Plan
    results: list[SystemResult]
    clusters: ClusterKeys | None
    inputs: list[dict[str, Any]]
    texts: dict[str, str] | None
    gold: Side


Meet = Callable[[Sequence[Any]], tuple[Any, list[Any]]]
"""How sides are made ready to meet."""


def meeting(
    gold: Any, systems: Sequence[tuple[str, Any]], paired: Mapping[str, Finding], asked: Asked, sides: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """Gold and systems that mean the same by what they say; where they cannot, the findings that say why."""
    golds, *preds = sides
    stop_on_errors(same := check_tables(gold, [one for _, one in systems], sides, asked.columns))
    golds.findings += same
    for side, (name, _) in zip(preds, systems, strict=True):
        side.findings += [paired[name]] if name in paired else []
    return agree(golds, preds, asked.context)


def counted_sides(
    engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet, units: bool, intervals: bool
) -> CountedSides:
    """Gold and systems checked, aligned, counted and scored."""
    golds, preds = meet(sides)
    suspects = [(suspect(golds, side), without_common_labels(golds, side)) for side in preds]
    name = asked.context or detect_context(golds, preds)
    defaults = context(name).defaults(golds)
    plan = make_plan(name, asked.metrics, asked.options, asked.undefined, asked.seed, defaults)
    if name in ("monolabel", "multilabel"):
        as_they_count = [as_labels(s) if s.kind == "number" and "label" not in s.names else s for s in (golds, *preds)]
        stop_on_errors(check_labels(as_they_count[0], as_they_count[1:]))
    name_columns(golds, preds)
    golds, *preds = gathered([partial(prepared, side, plan) for side in (golds, *preds)])
    golds, preds = without_faulty(golds, preds, plan)
    gathered([partial(check_side, side, plan) for side in (golds, *preds)])
    golds.findings = not_ignored(golds.findings, asked.beside)
    sentences = not asked.carried and in_documents(golds) and (intervals or asked.units)
    column = asked.cluster_by or ("document" if sentences else None)
    units = units or column is not None
    results = [
        doubted(evaluate_system(engine, golds, side, plan, units), plan, *found)
        for side, found in told(list(zip(preds, suspects, strict=True)), "systems scored")
    ]
    clusters = cluster_keys(golds, column) if column else None
    inputs = [input_record(side, asked.hashes) for side in (golds, *preds)]
    return CountedSides(plan, results, clusters, inputs, texts_of(golds) if units else None, golds)


def counted_in_place(engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet) -> CountedSides | None:
    """The same of large tables of labels without their rows; None where the rows have to be looked at."""
    if not all(isinstance(side, Waiting) for side in sides) or asked.hashes or asked.options.get("faulty") == "drop":
        return None
    from karat.in_place import ON, NotInPlace, summary

    try:
        return (
            counted_sides(engine, [summary(engine, side) for side in sides], asked, meet, False, False) if ON else None
        )
    except (NotInPlace, InputError):  # read row by row, what is wrong gets its line
        return None


def counted_in_batches(engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet) -> CountedSides | None:
    """The same of files larger than memory, batch by batch; None where they fit, or have to be looked at as a whole."""
    from karat import batches

    if not batches.ON or not any(batches.is_large(engine, side) for side in sides):
        return None
    if asked.hashes or asked.options.get("faulty") == "drop":
        return None
    for way in (ranked_in_batches, merged_in_batches):
        try:
            parts = [way(engine, (sides[0], pred), asked, meet) for pred in sides[1:]]
        except batches.NotInBatches:
            continue
        inputs = [parts[0].inputs[0], *(part.inputs[1] for part in parts)]
        return parts[0]._replace(results=[part.results[0] for part in parts], inputs=inputs)
    return None


def ranked_in_batches(engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet) -> CountedSides:
    """A run and judgements in batches of whole queries."""
    from karat import batches

    if asked.context not in (None, "ranking") or not batches.are_rankings(sides):
        raise batches.NotInBatches
    plan = make_plan("ranking", asked.metrics, asked.options, asked.undefined, asked.seed)
    found, (gold, pred) = batches.ranked(engine, sides[0], sides[1], plan.options)
    result = doubted(system_result(plan, gold, pred, found, pred.origin.system), plan, suspect(gold, pred), None)
    return CountedSides(plan, [result], None, [input_record(side, False) for side in (gold, pred)], None, gold)


def merged_in_batches(engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet) -> CountedSides:
    """Labels, label sets and weights, whose equal units are one; what would need a line is looked at in the whole."""
    from karat import batches

    if asked.context not in (None, "monolabel", "multilabel", "soft"):
        raise batches.NotInBatches
    gold, pred = batches.distinct_outcomes(engine, sides[0], sides[1])
    try:
        counted = counted_sides(engine, (gold, pred), replace(asked, hashes=False), meet, False, False)
    except InputError as error:
        raise batches.NotInBatches from error
    lined = any(found.line is not None for found in counted.results[0].findings)
    if lined or counted.plan.context.name not in ("monolabel", "multilabel", "soft"):
        raise batches.NotInBatches
    return counted


def _itself(side: T) -> T:
    return side


def scored_on_cluster(
    gold: Any, systems: Sequence[tuple[str, Any]], asked: Asked, wanted: IntervalSettings | None
) -> Scored:
    """The pipeline where a cluster reads, joins and groups, and what comes here is small."""
    from karat import distributed

    sides = [
        to_read(one, role, asked.given, name)
        for role, name, one in (("gold", None, gold), *(("pred", *s) for s in systems))
    ]
    golds, *preds = gathered(
        [partial(distributed.framed, one, read, asked.format, asked.master) for one, _, read in sides]
    )
    preds = [replace(pred, data=golds.data) if asked.shared else pred for pred in preds]
    name = distributed.context_of(golds, preds)
    single = asked.units or asked.cluster_by or asked.slices is not None or asked.weight is not None
    if single or name in distributed.SINGLE:
        tables = gathered([partial(distributed.collected, one) for one in (golds, *preds)])
        named = [
            (pred.name, one._replace(table=tables[0]) if isinstance(one, Column) else table)
            for pred, table, (_, one) in zip(preds, tables[1:], systems, strict=True)
        ]
        return scored(tables[0], named, replace(asked, context=name, engine=None, format=None), wanted)
    groups = bool(wanted and wanted.method == "groups")
    parts = [counted_on_cluster(golds, pred, name, asked, groups) for pred in preds]
    plan, inputs = parts[0][0].plan, [parts[0][0].inputs[0], *(part.inputs[1] for part, _ in parts)]
    results = [part.results[0] for part, _ in parts]
    if wanted:
        results = [estimated(result, plan, wanted, of) for result, (_, of) in zip(results, parts, strict=True)]
    said = plan.to_dict() | {"reading": asked.reading}
    said |= {"intervals": wanted.to_dict() | {"cluster_by": None}} if wanted else {}
    return Scored(Evaluation(plan.context.name, results, said, provenance(inputs, plan.seed)), plan, None)


def counted_on_cluster(
    gold: Frame, pred: Frame, name: str | None, asked: Asked, groups: bool
) -> tuple[CountedSides, UnitGroups | None]:
    """One system, and the random groups of its units where they were asked for."""
    from karat.distributed import WHOLE, Pair

    if name is not None and name in WHOLE:
        options = make_plan(name, asked.metrics, asked.options).options
        found, sides = WHOLE[name](gold, pred).count(options)
        plan = make_plan(
            name, asked.metrics, asked.options, asked.undefined, asked.seed, context(name).defaults(sides[0])
        )
        result = system_result(plan, sides[0], sides[1], found, pred.name)
        return CountedSides(plan, [result], None, [input_record(side, False) for side in sides], None, sides[0]), None
    pair = Pair(gold, pred, name, dict(asked.options), groups)
    asked = replace(asked, context=name, hashes=False)
    meet: Meet = lambda sides: agree(sides[0], sides[1:], asked.context)
    try:
        with Engine() as engine:
            counted = counted_sides(engine, pair.sides(), asked, meet, groups, False)
        result = counted.results[0]
        findings = pair.located([*result.findings, *pair.alike()])
    except InputError as error:
        near = pair.alike() if any(f.code == "no-common-ids" for f in error.findings) else []
        raise InputError([*pair.located(error.findings), *near]) from error
    return counted._replace(results=[replace(result, findings=findings)]), pair.unit_groups


def estimated(result: SystemResult, plan: Plan, wanted: IntervalSettings, groups: UnitGroups | None) -> SystemResult:
    """The result with intervals; what its cells know of merged units was needed for them alone."""
    from karat.stats.estimate import add_intervals

    out = add_intervals(result, plan, wanted, groups)
    if groups is not None:
        out.cells.unit, out.cells.unit_ids = None, None
    return out


def compare(
    gold: Any,
    systems: Any = None,
    *,
    context: str | None = None,
    metrics: Iterable[str | Metric] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    columns: Columns | None = None,
    separator: str | None = None,
    undefined: str = "report",
    seed: int = 0,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    correction: str = "holm",
    baseline: str | None = None,
    tests: Sequence[str] = (),
    draws: int | None = None,
    margin: float | None = None,
    rope: float | None = None,
    detect: float | None = None,
    interval_method: str = "auto",
    resamples: int = RESAMPLES,
    cluster_by: str | None = None,
    slices: Any = None,
    weight: Any = None,
    run: str | None = None,
    paired_runs: bool = False,
    one_sided: bool = False,
    sequential: bool = False,
    max_unpacked: int | None = None,
    keep_going: bool = False,
    **options: Any,
) -> Comparison:
    """Compare systems on the same gold, pair by pair, with paired tests corrected over all of them.

    ``systems`` is a dict of name → predictions or a list of paths; with a ``baseline`` each system is
    compared with it alone. With `karat.Runs` in place of predictions, or ``run`` (the column that tells runs
    apart), methods are compared as if their runs were drawn anew; ``paired_runs`` says that run r of each
    belong together. ``one_sided`` tests only whether the first of each pair is better; ``sequential`` gives tests
    and intervals that hold however often one looks while the data grow. ``slices`` (columns of gold) compares on the
    units of each of their values too, corrected for looking at many.

    >>> gold, better = ["A", "B"] * 30, ["A", "B"] * 30
    >>> worse = ["A", "A"] * 15 + ["A", "B"] * 15
    >>> karat.compare(gold, {"new": better, "old": worse}, metrics=["accuracy"]).pairs[0].sentence
    'new is better than old on Accuracy by 0.250 [0.137, 0.363], Holm-corrected p = 3.1e-05.'
    """
    handed = systems_of(gold, systems, names, columns, by_name=True)
    if len(handed.named) < 2:
        raise MetricError("a comparison needs two systems or more: a dict of name → predictions, or a list of paths")
    from karat.stats.comparing import compare_systems

    settings = ComparisonSettings(
        round(1 - level, 12), correction, baseline, tuple(tests), draws, margin, rope, seed, detect, paired_runs,
        one_sided, sequential,
    )  # fmt: skip
    methods = methods_of(handed.named, run, encoding)
    without_runs(methods, keep_going)
    asked = Asked(
        context, metrics, format, encoding, handed.columns, undefined, seed, True, cluster_by, options,
        max_unpacked=max_unpacked, separator=separator, shared=handed.shared, slices=slices, weight=weight,
        keep_going=keep_going, compared=True,
    )  # fmt: skip
    if methods.repeated and slices:
        raise MetricError("slices are those of systems: give each method as one run, or leave slices out")
    found = scored(gold, methods.systems, asked, None)
    if len(found.evaluation.systems) < 2:
        raise InputError(found.evaluation.findings)
    intervals = IntervalSettings(level, interval_method, resamples, seed)
    evaluation = replace(
        found.evaluation, plan=found.evaluation.plan | {"intervals": intervals.to_dict() | {"cluster_by": cluster_by}}
    )
    if methods.repeated:
        from karat.stats.methods import compare_methods

        return compare_methods(evaluation, methods.groups, found.plan, settings, intervals, found.clusters)
    compared = compare_systems(evaluation, found.plan, settings, intervals, found.clusters)
    if not found.slices:
        return compared
    from karat.stats.compared_slices import add_slices

    return add_slices(compared, evaluation, found.plan, found.slices, settings, intervals, found.clusters)


def wanted_intervals(
    level: float | bool | None, method: str, resamples: int, seed: int, stratify_by: str | None = None
) -> IntervalSettings | None:
    """What was asked of intervals; None where none are wanted."""
    if level is None or level is False:
        return None
    return IntervalSettings(0.95 if level is True else float(level), method, resamples, seed, stratify_by)


@cache
def keep_freed_memory() -> None:
    """Let the columns of one step take the place of those of the step before.

    glibc gives freed arrays back to the system at once, and every new one costs a fault per page (a tenth of an
    evaluation), until a program has freed a large block: then it keeps some. This block is never touched.
    """
    np.empty(31 << 20, np.uint8)


def texts_of(gold: Side) -> dict[str, str] | None:
    """The texts of gold's units, where it has them."""
    texts = gold.units.get("text")
    if texts is None or gold.kind not in SAID or gold.context == "spans":  # whose cells have their texts
        return None
    pairs = zip(gold.keys.pairs(), texts, strict=True)
    return {f"{case}\x1f{id}": text for (case, id), text in pairs if text is not None}


def cluster_keys(gold: Side, column: str) -> ClusterKeys:
    """The cluster of each unit of gold."""
    from karat.stats.clusters import ClusterKeys

    if not in_documents(gold):
        raise InputError([finding("cluster-column-missing", gold.name, column=column, found="values only")])
    rows = sorted(
        (case if gold.context == "ranking" else f"{case}\x1f{id}", cluster)
        for (case, id), cluster in zip(gold.keys.pairs(), gold.units["cluster"].texts(), strict=True)
        if cluster is not None
    )
    return ClusterKeys(
        np.array([unit for unit, _ in rows], str), np.array([cluster for _, cluster in rows], str), column
    )


def gold_column(
    engine: Engine, stack: ExitStack, gold: Any, ready: Side, asked: Asked, plan: Plan, column: str
) -> ClusterKeys:  # fmt: skip
    """The values of a column of gold by unit: the one that rode along, or another reading of gold."""
    if column == asked.carried:
        return cluster_keys(ready, column)
    if gold == "-":
        raise MetricError("gold from stdin is read once and carries one column: give it as a file")
    again = read_side(engine, stack, gold, "gold", replace(asked, cluster_by=column).given)
    return cluster_keys(prepared(again.side() if isinstance(again, (Waiting, Unread)) else again, plan), column)


def in_documents(gold: Side) -> bool:
    """Does the file itself say which document its units are of?"""
    return isinstance(gold.units.get("cluster"), Codes)


def gathered(steps: Iterable[Callable[[], T]]) -> list[T]:
    """What every step gives; where some find errors, the errors of all of them at once."""
    out, bad = [], list[Finding]()
    for step in steps:
        try:
            out.append(step())
        except InputError as error:
            bad += error.findings
    if bad:
        others = [f for one in out for f in getattr(one, "findings", ()) if f.severity == "error"]
        raise InputError([*others, *bad])
    return out


def detect_context(gold: Side, systems: Sequence[Side]) -> str:
    """The context that gold's format or values mean."""
    if gold.context:
        return gold.context
    if meant := of_numbers(gold, systems):
        return meant
    if gold.facts.get("unsure") and are_labels(gold, systems):
        return "monolabel"
    if gold.kind not in CONTEXT_OF:
        raise InputError([finding("unknown-context", gold.name, found=SAID.get(gold.kind, gold.kind))])
    return CONTEXT_OF[gold.kind]


def prepared(side: Side, plan: Plan) -> Side:
    """A side as its context wants it."""
    kinds = plan.context.kinds
    labels = "label" in kinds and side.role not in plan.context.numbers
    if side.kind == "number" and labels and ("number" in kinds or side.facts.get("unsure")):
        side = as_labels(side)
    if side.kind not in kinds:
        expected = " or ".join(SAID.get(k, k) for k in kinds)
        raise InputError([finding("mixed-contexts", side.name, gold=expected, pred=SAID.get(side.kind, side.kind))])
    return plan.context.prepare(side, plan.options)


def without_faulty(gold: Side, systems: Sequence[Side], plan: Plan) -> tuple[Side, list[Side]]:
    """Where the user wants it, go on without the records that cannot be scored."""
    if plan.options.get("faulty") == "drop":
        return leave_out(gold, systems, sets="labels" in plan.context.kinds)
    return gold, list(systems)


def check_side(side: Side, plan: Plan) -> None:
    """Stop at what is wrong with one file by itself."""
    side.findings += side_findings(side, plan)
    stop_on_errors(side.findings)


def side_findings(side: Side, plan: Plan) -> list[Finding]:
    """The context's own findings; it may stumble over records that are already reported."""
    try:
        return plan.context.check_side(side, plan.options)
    except InputError:
        raise
    except Exception:
        if any(f.severity == "error" for f in side.findings):
            return []
        raise


def evaluate_system(engine: Engine, gold: Side, pred: Side, plan: Plan, units: bool) -> SystemResult:
    """One system: aligned, counted and scored."""
    if hasattr(gold, "table") and hasattr(pred, "table"):  # only distinct values of them are here
        from karat.in_place import count as count_in_place

        counted = count_in_place(engine, plan.context, gold, pred, plan.options)  # type: ignore[arg-type]
    else:
        counted = count(plan.context, gold, pred, plan.options, units=units)
    return system_result(plan, gold, pred, counted, pred.origin.system)


def system_result(plan: Plan, gold: Side, pred: Side, counted: Counted, system: str) -> SystemResult:
    """A system that was counted, with its scores and all that was found."""
    findings = [*gold.findings, *pred.findings, *counted.findings, *plan.context.doubts(plan.metrics, pred)]
    stop_on_errors(findings)
    scores, details = plan.score(counted.cells), list(plan.context.details(counted.cells))
    return SystemResult(system, scores, counted.counts, findings, counted.cells, details)


def doubted(result: SystemResult, plan: Plan, suspected: Finding | None, strangers: Finding | None) -> SystemResult:
    """The result, with what is suspected if the system is perfect, and one finding if its labels are all unknown."""
    if strangers is not None and any(f.code == "label-not-in-gold" for f in result.findings):
        kept = [f for f in result.findings if f.code != "label-not-in-gold" and "label-not-in-gold" not in f.message]
        return replace(result, findings=[*kept, strangers])
    best = {m: plan.catalogue[m.name].best for m in result.scores}
    told = [score.value == best[m] for m, score in result.scores.items() if best[m] is not None]
    if suspected is None or not told or not all(told):
        return result
    return replace(result, findings=[*result.findings, suspected])


def validate(
    given: Any,
    *,
    context: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    columns: Columns | None = None,
    separator: str | None = None,
    max_unpacked: int | None = None,
    role: str | None = None,
    gold: Any = None,
    **options: Any,
) -> list[Finding]:
    """Everything that can be said against one file, without scoring it; ``role`` is gold or pred, if that is known.

    With ``gold``, also what is said when it meets gold: ids, labels and coverage.
    """
    if gold is not None:
        return against(gold, given, context=context, format=format, encoding=encoding, columns=columns,
                       separator=separator, max_unpacked=max_unpacked, **options)  # fmt: skip
    how = Given(format, encoding, columns or {}, context, options, max_unpacked, separator)  # type: ignore[arg-type]
    with Engine() as engine, ExitStack() as stack:
        try:
            read = read_side(engine, stack, given, role or "gold", how, either=role is None)
            side = read.side() if isinstance(read, (Waiting, Unread)) else read
            plan = make_plan(context or detect_context(side, []), None, options)
            side, _ = without_faulty(prepared(side, plan), [], plan)
            return [*side_findings(side, plan), *side.findings]
        except InputError as error:
            return error.findings


def against(gold: Any, given: Any, **how: Any) -> list[Finding]:
    """What is found when a file meets gold; what is wrong with gold itself is said as well."""
    try:
        found = evaluate(gold, given, hashes=False, **how)
    except InputError as error:
        return error.findings
    return found.findings

# SPDX-License-Identifier: Apache-2.0
"""What karat is asked for: evaluate, compare, validate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from karat.counting import detect_context, prepared, without_faulty
from karat.engines.duckdb import Engine
from karat.evaluation import Evaluation
from karat.findings import Finding, InputError
from karat.inputs import Columns, Given, read_side, systems_of
from karat.methods import Methods, methods_of
from karat.metric import Metric, MetricError
from karat.pipeline import Scored, scored
from karat.plan import make_plan
from karat.read import whole
from karat.request import Asked
from karat.stats.settings import METHODS, RESAMPLES, ComparisonSettings, IntervalSettings

if TYPE_CHECKING:
    from karat.comparison import Comparison


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
    allow_same: bool = False,
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
    ``keep_going`` scores the systems that can be scored; those that cannot are in ``rejected``, with why;
    ``allow_same`` lets one column of one file be scored against itself.

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
        separator, handed.shared, memory, temp, slices, weight, engine, master, keep_going, allow_same,
    )  # fmt: skip
    wanted = wanted_intervals(intervals, interval_method, resamples, seed, stratify_by)
    level = wanted.level if wanted else 0.95
    result = over_runs(scored(gold, methods.systems, asked, wanted), methods, level)
    if judge is None:
        return result.evaluation
    return with_judge(result, judge, methods.systems, replace(asked, cluster_by=judge_strata), level)


def without_runs(methods: Methods, keep_going: bool) -> None:
    """A method that loses a run is another method."""
    if methods.repeated and keep_going:
        raise MetricError("keep_going leaves out whole systems, not runs of a method: mend or leave out the run")


def with_judge(
    result: Scored, judge: Any, systems: Sequence[tuple[str, Any]], asked: Asked, level: float
) -> Evaluation:  # fmt: skip
    """The evaluation with what gold and the judge say together."""
    from karat.stats.judging import judged_scores

    if result.plan.options.get("extra") == "wrong":
        raise MetricError("with a judge, predictions without gold are not wrong: leave extra=wrong out")
    by_judge = scored(judge, systems, replace(asked, context=result.plan.context.name), None)
    scores, more = judged_scores(
        result.evaluation.systems,
        by_judge.evaluation.systems,
        result.plan,
        level,
        by_judge.clusters if asked.cluster_by else None,
    )
    kept = [
        replace(s, findings=[f for f in s.findings if f.code != "pred-only-ids"]) for s in result.evaluation.systems
    ]
    kept[0] = replace(kept[0], findings=[*kept[0].findings, *more])
    of_judge = {"judge": by_judge.evaluation.provenance["inputs"][0] | {"role": "judge", "strata": asked.cluster_by}}
    provenance = result.evaluation.provenance | of_judge
    return replace(result.evaluation, systems=kept, judged=scores, provenance=provenance)


def over_runs(result: Scored, methods: Methods, level: float) -> Scored:
    """The evaluation with the means of methods, where some have several runs."""
    if not methods.repeated:
        return result
    from karat.stats.methods import method_scores

    evaluation = result.evaluation
    clusters = None if result.stratified else result.clusters
    scores, more = method_scores(evaluation.systems, methods.groups, result.plan, level, clusters)
    first, *rest = evaluation.systems
    systems = [replace(first, findings=[*first.findings, *more]), *rest]
    return result._replace(evaluation=replace(evaluation, systems=systems, methods=scores))


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
    allow_same: bool = False,
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
        raise MetricError(
            "a comparison needs two systems or more: two files of predictions, in Python also a dict of name → predictions"
        )
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
        keep_going=keep_going, allow_same=allow_same, compared=True,
    )  # fmt: skip
    if methods.repeated and slices:
        raise MetricError("slices are those of systems: give each method as one run, or leave slices out")
    result = scored(gold, methods.systems, asked, None)
    if len(result.evaluation.systems) < 2:
        raise InputError(result.evaluation.findings)
    intervals = IntervalSettings(level, interval_method, resamples, seed)
    evaluation = replace(
        result.evaluation, plan=result.evaluation.plan | {"intervals": intervals.to_dict() | {"cluster_by": cluster_by}}
    )
    if methods.repeated:
        from karat.stats.methods import compare_methods

        return compare_methods(evaluation, methods.groups, result.plan, settings, intervals, result.clusters)
    compared = compare_systems(evaluation, result.plan, settings, intervals, result.clusters)
    if not result.slices:
        return compared
    from karat.stats.compared_slices import add_slices

    return add_slices(compared, evaluation, result.plan, result.slices, settings, intervals, result.clusters)


def wanted_intervals(
    level: float | bool | str | None, method: str, resamples: int, seed: int, stratify_by: str | None = None
) -> IntervalSettings | None:
    """What was asked of intervals; None where none are wanted."""
    if level is None or level is False:
        return None
    if isinstance(level, str):
        raise MetricError(
            f"intervals={level!r} is no level: take True for 0.95 or a number between 0 and 1"
            + (f", and interval_method={level!r}" if level in METHODS else "")
        )
    return IntervalSettings(0.95 if level is True else float(level), method, resamples, seed, stratify_by)


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

    With ``gold``, also what is said when it meets gold: ids, labels and coverage. Returns a list of `karat.Finding`, errors among
    them and not raised; where none has the severity ``error``, the file can be scored.

    >>> [f.code for f in karat.validate([{"id": "1", "value": "A"}, {"id": "1", "value": "B"}])]
    ['repeated-id']
    """
    if gold is not None:
        return against(gold, given, context=context, format=format, encoding=encoding, columns=columns,
                       separator=separator, max_unpacked=max_unpacked, **options)  # fmt: skip
    how = Given(format, encoding, columns or {}, context, options, max_unpacked, separator)  # type: ignore[arg-type]
    with Engine() as engine, ExitStack() as stack:
        try:
            side = whole(read_side(engine, stack, given, role or "gold", how, either=role is None))
            plan = make_plan(context or detect_context(side, []), None, options)
            side, _ = without_faulty(prepared(side, plan), [], plan)
            return [*plan.context.faults(side, plan.options), *side.findings]
        except InputError as error:
            return error.findings


def against(gold: Any, given: Any, **how: Any) -> list[Finding]:
    """What is found when a file meets gold; what is wrong with gold itself is said as well."""
    try:
        evaluation = evaluate(gold, given, hashes=False, **how)
    except InputError as error:
        return error.findings
    return evaluation.findings

# SPDX-License-Identifier: Apache-2.0
"""Small evaluations, comparisons and designs of every kind, and all numbers and words of their results."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import product
from random import Random
from typing import Any

import msgspec
import numpy as np

import karat
from karat.evaluation import Score, SystemResult
from karat.metric import Metric, MetricError

Cases = Iterator[tuple[str, Callable[[], Any]]]
LEFT_OUT = {"cells", "plan", "provenance", "inputs", "units", "result", "by_unit", "gap", "slice_units"}
"""What is no result of statistics."""


def results(cases: Cases) -> dict[str, Any]:
    out = {}
    for name, make in cases:
        assert name not in out, name
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                out[name] = plain(make())
        except (karat.InputError, MetricError) as error:
            out[name] = str(error)
    return out


def plain(value: Any) -> Any:
    """As JSON holds it, numbers by ten digits."""
    if isinstance(value, Metric):
        return str(value)
    if isinstance(value, msgspec.Struct):
        return [plain(getattr(value, name)) for name in ("code", "file", "line", "message")]
    if is_dataclass(value) and not isinstance(value, type):
        left_out = LEFT_OUT - {"units"} if not isinstance(value, (karat.Comparison, SystemResult, Score)) else LEFT_OUT
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.name not in left_out and f.name[0] != "_"}  # fmt: skip
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key) if not isinstance(key, tuple) else " / ".join(key): plain(inner) for key, inner in value.items()}  # fmt: skip
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, (bool, np.bool_)) or value is None or isinstance(value, str):
        return bool(value) if isinstance(value, np.bool_) else value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.10g}") if math.isfinite(value) else repr(float(value))
    return repr(value)


def same(a: Any, b: Any) -> bool:
    """Whether two results are the same up to the rounding of processors."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-10)
    return type(a) is type(b) and a == b


# ---- data


def labels(n: int, seed: int = 1, classes: str = "ABC") -> list[str]:
    return Random(seed).choices(classes, [5, 3, 2, 1][: len(classes)], k=n)


def noisy(gold: list[str], right: float, seed: int = 2, classes: str = "ABC") -> list[str]:
    rng = Random(seed)
    return [label if rng.random() < right else rng.choice(classes) for label in gold]


def records(values: list[Any], cases: int = 1, groups: int = 0, **more: list[Any]) -> list[dict[str, Any]]:
    out = []
    for i, value in enumerate(values):
        record = {"id": f"u{i}", "value": value} | {name: column[i] for name, column in more.items()}
        out.append(record | ({"test_case": f"t{i % cases}"} if cases > 1 else {}) | ({"doc": f"g{i % groups}"} if groups else {}))  # fmt: skip
    return out


def sets(n: int, seed: int) -> list[list[str]]:
    rng = Random(seed)
    return [sorted(label for label in "ABC" if rng.random() < 0.5) for _ in range(n)]


def weights(n: int, seed: int) -> list[dict[str, float]]:
    rng = Random(seed)
    return [dict(zip("AB", (x, round(1 - x, 2)), strict=True)) for x in (round(rng.random(), 2) for _ in range(n))]


def numbers(n: int, seed: int) -> list[float]:
    rng = Random(seed)
    return [round(rng.gauss(0, 2), 2) for _ in range(n)]


def tags(n: int, seed: int) -> list[list[str]]:
    rng = Random(seed)
    return [[rng.choice(["O", "O", "B-PER", "B-LOC"]) for _ in range(6)] for _ in range(n)]


def ranking(n: int, seed: int, grades: bool = False) -> dict[str, dict[str, float]]:
    rng = Random(seed)
    return {f"q{i}": {f"d{j}": float(rng.randrange(3) if grades else round(rng.random(), 3)) for j in range(5)} for i in range(n)}  # fmt: skip


def pages(n: int, seed: int) -> list[dict[str, Any]]:
    rng = Random(seed)
    return [{"document_id": f"b{i}", "pages": [{"number": j + 1, "is_first_page": j == 0 or rng.random() < 0.4} for j in range(4)]} for i in range(n)]  # fmt: skip


def mixed(a: list[Any], b: list[Any], share: float, seed: int) -> list[Any]:
    rng = Random(seed)
    return [x if rng.random() < share else y for x, y in zip(a, b, strict=True)]


METHODS = ("auto", "bca", "percentile", "basic", "poisson", "jackknife-t", "hall-t", "delta", "groups", "student-t", "wilson", "clopper-pearson", "anytime")  # fmt: skip
METRICS = ["accuracy", "f1", "kappa", "hamming_loss", "f1(average=micro)", "mcc"]


def _data(context: str, n: int) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Gold, three systems and what must be said of a context."""
    if context == "monolabel":
        gold = labels(n)
        return records(gold), {name: records(noisy(gold, right, seed)) for name, right, seed in (("a", 0.9, 3), ("b", 0.6, 4), ("c", 0.6, 5))}, {"metrics": METRICS}  # fmt: skip
    make: Callable[[int, int], Any] = {"multilabel": sets, "soft": weights, "numbers": numbers, "spans": tags}.get(context, sets)  # fmt: skip
    if context in ("multilabel", "soft", "numbers", "spans"):
        gold = make(n, 1)
        systems = {name: mixed(gold, make(n, seed), share, seed) for name, share, seed in (("a", 0.8, 3), ("b", 0.5, 4), ("c", 0.5, 5))}  # fmt: skip
        if context != "spans":
            return records(gold), {name: records(values) for name, values in systems.items()}, {"context": context}
        return gold, systems, {"context": context}
    if context == "ranking":
        return ranking(n, 1, True), {name: ranking(n, seed) for name, seed in (("a", 3), ("b", 4), ("c", 5))}, {"context": context, "metrics": ["ndcg", "average_precision", "bpref", "err"]}  # fmt: skip
    if context == "probabilities":
        gold = labels(n, classes="AB")
        systems = {name: records([{"A": x, "B": 1 - x} for x in (round(Random(seed + i).random(), 3) for i in range(n))]) for name, seed in (("a", 3), ("b", 40), ("c", 500))}  # fmt: skip
        return records(gold), systems, {"context": context}
    if context == "clustering":
        gold = labels(n)
        return records(gold), {name: records(noisy(gold, right, seed)) for name, right, seed in (("a", 0.9, 3), ("b", 0.6, 4), ("c", 0.6, 5))}, {"context": context}  # fmt: skip
    return pages(n, 1), {name: pages(n, seed) for name, seed in (("a", 3), ("b", 4), ("c", 5))}, {"context": "splitting"}  # fmt: skip


CONTEXTS = ("monolabel", "multilabel", "soft", "numbers", "spans", "ranking", "probabilities", "clustering", "splitting")  # fmt: skip


# ---- intervals


def interval_methods() -> Cases:
    for method, n, level in product(METHODS, (1, 2, 3, 8, 25), (0.95, 0.8)):
        gold = labels(n)
        for title, pred in {"good": noisy(gold, 0.8), "right": gold, "wrong": ["Z"] * n}.items():
            if level == 0.95 or (title == "good" and n in (3, 25)):
                yield f"{method} {n} {level} {title}", _evaluating(records(gold), records(pred), metrics=METRICS[:4], intervals=level, interval_method=method, resamples=100)  # fmt: skip


def interval_designs() -> Cases:
    n = 24
    gold = labels(n)
    for method, cases, groups, weighed in product(METHODS, (1, 3), (0, 2, 6), (False, True)):
        rng = Random(7)
        more = {"weight": [rng.choice([1, 2, 3]) for _ in gold]} if weighed else {}
        given, pred = records(gold, cases, groups, **more), records(noisy(gold, 0.7), cases)
        how = {"weight": "weight"} if weighed else {}
        for title, by in (("cluster_by", {"cluster_by": "doc"}), ("stratify_by", {"stratify_by": "doc"})) if groups else (("alone", {}),):  # fmt: skip
            yield f"{method} {cases} {groups} {weighed} {title}", _evaluating(given, pred, metrics=METRICS[:3], intervals=True, interval_method=method, resamples=100, **by, **how)  # fmt: skip


def interval_contexts() -> Cases:
    for context, n, method in product(CONTEXTS, (2, 5, 12), ("auto", "bca", "jackknife-t", "hall-t", "delta", "anytime")):  # fmt: skip
        gold, systems, how = _data(context, n)
        yield f"{context} {n} {method}", _evaluating(gold, systems["a"], intervals=0.9, interval_method=method, resamples=100, **how)  # fmt: skip


def slices() -> Cases:
    n = 24
    gold = labels(n)
    rng = Random(9)
    columns = {"kind": [rng.choice("xyz") for _ in gold], "size": [rng.randrange(50) for _ in gold], "half": [rng.choice(["x", None]) for _ in gold], "alone": [str(i) for i in range(n)], "same": ["s"] * n}  # fmt: skip
    for column, method, cases, intervals in product([*columns, "size:3", "kind size:2"], ("auto", "bca", "jackknife-t"), (1, 2), (None, 0.95, 0.8)):  # fmt: skip
        given, pred = records(gold, cases, **columns), records(noisy(gold, 0.6), cases)
        yield f"{column} {method} {cases} {intervals}", _evaluating(given, pred, metrics=["accuracy", "f1", "hamming_loss"], slices=column.split(), intervals=intervals, interval_method=method, resamples=100)  # fmt: skip
    for context in CONTEXTS[1:4]:
        given, systems, how = _data(context, 12)
        given = [record | {"kind": "xyz"[i % 3]} for i, record in enumerate(given)]
        yield f"{context} kind", _evaluating(given, systems["b"], slices=["kind"], intervals=True, resamples=100, **how)


def _evaluating(gold: Any, pred: Any, **how: Any) -> Callable[[], Any]:
    return lambda: karat.evaluate(gold, pred, **how)


# ---- comparisons


def _comparing(gold: Any, systems: Any, **how: Any) -> Callable[[], Any]:
    return lambda: karat.compare(gold, systems, **{"resamples": 100, "draws": 99, **how})


def _three(n: int, cases: int = 1, groups: int = 0, **more: list[Any]) -> tuple[Any, dict[str, Any]]:
    gold = labels(n)
    systems = {"a": noisy(gold, 0.95, 3), "b": noisy(gold, 0.5, 4), "c": noisy(gold, 0.5, 5)}
    return records(gold, cases, groups, **more), {name: records(pred, cases) for name, pred in systems.items()}


def comparison_sizes() -> Cases:
    for n, cases in product((1, 2, 3, 4, 7, 12, 20, 45), (1, 2)):
        gold, systems = _three(n, cases)
        yield f"{n} {cases}", _comparing(gold, systems, metrics=METRICS)
        yield f"{n} {cases} same", _comparing(gold, {"a": systems["a"], "b": systems["a"], "gold": gold}, metrics=METRICS[:4])  # fmt: skip
        yield f"{n} {cases} against wrong", _comparing(gold, {"a": gold, "b": [r | {"value": "Z"} for r in gold]}, metrics=METRICS[:4], margin=0.1, rope=0.1)  # fmt: skip


def comparison_settings() -> Cases:
    gold, systems = _three(18, 1, 6)
    for correction, baseline in product(("holm", "hochberg", "bonferroni", "bh", "by", "none", "tukey", "maxt"), (None, "b")):  # fmt: skip
        for level in (0.95, 0.8):
            yield f"{correction} {baseline} {level}", _comparing(gold, systems, metrics=METRICS[:3], correction=correction, baseline=baseline, level=level)  # fmt: skip
        yield f"{correction} {baseline} clusters", _comparing(gold, systems, metrics=METRICS[:2], correction=correction, baseline=baseline, cluster_by="doc")  # fmt: skip
        yield f"{correction} {baseline} cases", _comparing(*_three(24, 3), metrics=METRICS[:2], correction=correction, baseline=baseline)  # fmt: skip
    every: dict[str, Any] = {"wilcoxon": {"tests": ["wilcoxon"]}, "sign": {"tests": ["sign"]}, "bootstrap": {"tests": ["bootstrap"]}, "aso": {"tests": ["aso"]}, "all": {"tests": ["wilcoxon", "sign", "bootstrap", "aso"]}, "one-sided": {"one_sided": True}, "sequential": {"sequential": True}, "margin": {"margin": 0.1}, "wide margin": {"margin": 0.9}, "non-inferiority": {"margin": 0.3, "tests": ["non-inferiority"]}, "rope": {"rope": 0.05}, "wide rope": {"rope": 0.6}, "detect": {"detect": 0.1}, "detect little": {"detect": 0.001}, "seed": {"seed": 5}}  # fmt: skip
    for (name, how), by, n in product(every.items(), (None, "doc"), (9, 30)):
        for direction in (METRICS[:2], ["hamming_loss"]):
            yield f"{name} by {by} of {n} {direction[0]}", _comparing(*_three(n, 1, 5), metrics=direction, cluster_by=by, **how)  # fmt: skip
    for (name, how), context in product(every.items(), ("soft", "numbers", "ranking", "spans")):
        given, several, said = _data(context, 8)
        yield f"{name} in {context}", _comparing(given, {k: several[k] for k in "ab"}, **said, **how)


def comparison_contexts() -> Cases:
    for context, n in product(CONTEXTS, (2, 5, 11)):
        gold, systems, how = _data(context, n)
        yield f"{context} {n}", _comparing(gold, systems, **how)
        yield f"{context} {n} baseline", _comparing(gold, systems, baseline="c", correction="none", **how)


def comparison_slices() -> Cases:
    n = 24
    rng = Random(9)
    columns = {"kind": [rng.choice("xyz") for _ in range(n)], "half": [rng.choice(["x", None]) for _ in range(n)]}
    for column, correction, baseline, cases in product(columns, ("holm", "bh", "none"), (None, "b"), (1, 2)):
        yield f"{column} {correction} {baseline} {cases}", _comparing(*_three(n, cases, **columns), metrics=METRICS[:2], slices=[column], correction=correction, baseline=baseline)  # fmt: skip
    for how in ({"one_sided": True}, {"sequential": True}, {"margin": 0.2}, {"detect": 0.1}, {"cluster_by": "doc"}):
        yield f"kind {how}", _comparing(*_three(n, 1, 6, **columns), metrics=METRICS[:1], slices=["kind"], **how)


def cases_of_many() -> Cases:
    """Leaderboards and ranks over test cases."""
    for systems, cases in product((2, 3, 5), (2, 4, 7)):
        gold = labels(6 * cases)
        several = {f"s{k}": records(noisy(gold, 0.3 + 0.15 * k, 10 + k), cases) for k in range(systems)}
        for metric in ("accuracy", "hamming_loss", "kappa"):
            yield f"{systems} {cases} {metric}", _comparing(records(gold, cases), several, metrics=[metric])


def runs() -> Cases:
    for n, many, paired in product((6, 20), ((2, 2), (3, 3), (1, 3), (5, 5)), (False, True)):
        gold = labels(n)
        methods = {name: karat.Runs([records(noisy(gold, right, 100 * (k + 1) + r)) for r in range(many[k])]) for k, (name, right) in enumerate((("x", 0.8), ("y", 0.6)))}  # fmt: skip
        given = records(gold, 1, 4)
        yield f"{n} {many} {paired}", _comparing(given, methods, metrics=METRICS[:4], paired_runs=paired)
        if not paired:
            yield f"{n} {many} evaluated", _evaluating(given, methods, metrics=METRICS[:4], intervals=0.9, resamples=100)  # fmt: skip
            for name, how in {"margin": {"margin": 0.2, "tests": ["non-inferiority"]}, "rope": {"rope": 0.1}, "detect": {"detect": 0.1}, "one-sided": {"one_sided": True}, "aso": {"tests": ["aso"]}, "baseline": {"baseline": "y", "correction": "bh"}, "clusters": {"cluster_by": "doc"}, "sequential": {"sequential": True}, "maxt": {"baseline": "y", "correction": "maxt"}, "no baseline": {"baseline": "z"}}.items():  # fmt: skip
                yield f"{n} {many} {name}", _comparing(given, methods, metrics=METRICS[:2], **how)
        same = {name: karat.Runs([records(gold)] * 3) for name in "xy"}
        yield f"{n} {many} {paired} without spread", _comparing(given, same, metrics=METRICS[:2], paired_runs=paired, margin=0.1, rope=0.1)  # fmt: skip


def designs() -> Cases:
    aims: dict[str, Any] = {"difference": {"difference": 0.05}, "large": {"difference": 0.5}, "little": {"difference": 1e-6}, "width": {"width": 0.05}, "margin": {"margin": 0.1}, "both": {"margin": 0.1, "difference": 0.02}, "loss": {"margin": 0.1, "difference": -0.05}, "too large a loss": {"margin": 0.1, "difference": -0.2}, "one-sided": {"difference": 0.1, "one_sided": True}, "power": {"difference": 0.1, "power": 0.9}, "level": {"width": 0.1, "level": 0.8}, "tests": {"difference": 0.1, "tests": 5}, "nothing": {}, "zero": {"difference": 0.0}, "no margin": {"margin": 0.0}, "no width": {"width": -1.0}}  # fmt: skip
    for (name, aim), n, by in product(aims.items(), (3, 20), (None, "doc")):
        gold, systems = _three(n, 1, 5)
        yield f"{name} {n} {by}", _designing(gold, {k: systems[k] for k in "ab"}, metrics=METRICS[:2], cluster_by=by, **aim)  # fmt: skip
        yield f"{name} {n} {by} one", _designing(gold, {"a": systems["b"]}, metrics=METRICS[:2], cluster_by=by, **aim)
        if by is None:
            truth = labels(n)
            methods = {k: karat.Runs([records(noisy(truth, 0.8 - 0.2 * (k == "y"), 50 + r)) for r in range(3)]) for k in "xy"}  # fmt: skip
            yield f"{name} {n} runs", _designing(gold, methods, metrics=METRICS[:2], **aim)
            views = {f"ann{k}": records(noisy(truth, 0.9, 70 + k)) for k in range(3)}
            yield f"{name} {n} annotators", _designing(None, {k: systems[k] for k in "ab"}, metrics=METRICS[:2], annotators=views, **aim)  # fmt: skip
    yield "same", _designing(gold, {"a": list(gold), "b": [*gold]}, metrics=METRICS[:2], difference=0.1)


def _designing(gold: Any, systems: Any, **how: Any) -> Callable[[], Any]:
    return lambda: karat.design(gold, systems, **how).needs


def judges() -> Cases:
    n = 40
    gold, rng = labels(n), Random(3)
    judge = noisy(gold, 0.85, 6)
    language = [rng.choice(["de", "en"]) for _ in gold]
    for labelled, right, strata, metrics, level in product((3, 10, 30), (0.5, 0.95), (None, "language"), (METRICS[:2], METRICS[2:4]), (True, 0.8)):  # fmt: skip
        pred = records(noisy(gold, right, 8))
        yield f"{labelled} {right} {strata} {metrics[0]} {level}", _evaluating(records(gold[:labelled]), [pred, records(noisy(gold, 0.6, 9))], names=["s", "t"], judge=records(judge, language=language), judge_strata=strata, metrics=metrics, intervals=level, resamples=100)  # fmt: skip
    for title, by in {"perfect": gold, "useless": ["A"] * n}.items():
        yield title, _evaluating(records(gold[:10]), records(noisy(gold, 0.7, 8)), judge=records(by), metrics=METRICS[:2])  # fmt: skip


def many_classes() -> Cases:
    for n, method in product((40, 90), ("auto", "jackknife-t", "hall-t", "bca", "delta")):
        rng = Random(1)
        gold = [f"c{min(int(rng.expovariate(0.1)), 40)}" for _ in range(n)]
        pred = [g if rng.random() < 0.7 else f"c{rng.randrange(40)}" for g in gold]
        yield f"{n} {method}", _evaluating(records(gold), records(pred), metrics=["accuracy", "f1", "kappa"], intervals=True, interval_method=method, resamples=100)  # fmt: skip


def weighed() -> Cases:
    gold, rng = labels(12), Random(4)
    for name, column in {"whole": [rng.choice([1, 2]) for _ in gold], "fractions": [rng.choice([0.5, 1.25]) for _ in gold], "zeros": [rng.choice([0, 1]) for _ in gold], "all zero": [0] * 12, "negative": [-1, *[1] * 11], "words": ["x", *[1] * 11], "none": [None, *[1] * 11], "large": [1e9, *[1] * 11], "same": [2] * 12, "infinite": ["inf", *[1] * 11], "many words": ["x"] * 12}.items():  # fmt: skip
        for method, cases in product((None, "auto", "bca", "student-t", "wilson"), (1, 2)):
            how = {} if method is None else {"intervals": True, "interval_method": method, "resamples": 100}
            yield f"{name} {method} {cases}", _evaluating(records(gold, cases, weight=column), records(noisy(gold, 0.7), cases), weight="weight", metrics=METRICS[:3], **how)  # fmt: skip
        yield f"{name} compared", _comparing(records(gold, weight=column), {"a": records(noisy(gold, 0.7)), "b": records(noisy(gold, 0.6, 5))}, weight="weight", metrics=METRICS[:2])  # fmt: skip


ALL: dict[str, Callable[[], Cases]] = {
    "interval methods": interval_methods, "interval designs": interval_designs, "interval contexts": interval_contexts, "slices": slices, "comparison sizes": comparison_sizes, "comparison settings": comparison_settings, "comparison contexts": comparison_contexts,
    "comparison slices": comparison_slices, "cases of many": cases_of_many, "runs": runs, "designs": designs, "judges": judges, "many classes": many_classes, "weighed": weighed,
}  # fmt: skip

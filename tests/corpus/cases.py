"""Every context's small inputs with every metric, parameter and option, and what comes out of them."""

from __future__ import annotations

import gzip
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import karat
from karat.contexts import catalogue, context
from karat.findings import Finding, InputError
from karat.metric import Metric, MetricError, Parameter
from karat.mistakes import worst
from tests.corpus.data import CONTEXTS, Data, Dice, Text

FOLDER = Path(__file__).parents[1] / "data" / "corpus"

OTHERS: dict[str, tuple[Any, ...]] = {
    "k": (1, 2, 3, 7), "rel": (2, 0.5), "beta": (0.5, 2, 0), "alpha": (0.25, 0, 1), "p": (0.5,), "base": (10,), "smoothing": (0.01,),
    "bins": (1, 2, 3), "level": (1, 2), "recall": (0.5, 1), "precision": (0.5, 1), "fpr": (0.2, 1), "top": (0.3, 1), "q": (0.1,), "T": (2,),
    "min_grade": (1,), "max_grade": (4,), "multiple": (0.5, 2), "found": (2,), "wrong": (-0.5,), "missed": (-1,), "divisor": (4,),
    "alpha_1": (1.25,), "alpha_2": (1.5,), "weight": (0.5, 0), "max_fpr": (0.5, 1),
}  # fmt: skip
"""Values of numbers that a metric can be given."""
OUTSIDE: dict[str, tuple[Any, ...]] = {
    "k": (0,), "beta": (-1, 1), "alpha": (-0.5, 1.5), "p": (-0.5, 0, 1, 1.5), "base": (0, 1, -2), "smoothing": (0, -1, 1), "bins": (0, -1), "level": (-1, 0),
    "recall": (-0.5, 0, 1.5), "precision": (-0.5, 0, 1.5), "fpr": (-0.5, 0, 1.5), "top": (0, -1, 1.5), "q": (0, 1, -1, 2), "T": (0, -1), "min_grade": (-1, 3),
    "max_grade": (0, 1, 3), "multiple": (0, -1), "divisor": (0, -1), "weight": (-0.5, 1.5, 2), "max_fpr": (0, -1, 1.5), "rel": (0, -1), "alpha_1": (0, -1),
}  # fmt: skip
"""Values at and beyond the borders of what numbers may be, which are asked for one by one."""
OPTION_VALUES: dict[str, tuple[Any, ...]] = {
    "threshold": (0.25, 0.5, 1), "overlap": (0.5, 1), "depth": (1, 3), "noise": ("-1", "A"), "hierarchy": (), "classes": (), "order": (), "pos_label": ("A",),
}  # fmt: skip
"""Values of options that have no choices."""


REFUSED = re.compile(
    r"fbeta\(.*beta=0\b[,)]|n?nrbp\(beta=2|(tp|fp|fn|tn|kappa|mcc)\(classes=gold\)"
    r"|(best|brier_\w+|ks|precision_at_recall|recall_at_\w+)\(average=micro|(gain|lift|pr_auc)\(average=micro,classes=gold"
)
"""Metrics with parameters that they do not take, which are asked for one by one."""


class Case(NamedTuple):
    """An evaluation of one of the inputs."""

    context: str
    data: Data
    metrics: tuple[str, ...] | None
    options: dict[str, Any]


def values(parameter: Parameter) -> tuple[Any, ...]:
    if parameter.kind is bool:
        return (not parameter.default,)
    known = parameter.choices or OTHERS[parameter.name]
    return tuple(value for value in known if value != parameter.default)


def variants(name: str) -> tuple[str, ...]:
    """Every metric of a context, at its defaults, with each value of each parameter, and with all parameters at once."""
    out, kinds, dice = list[Metric](), context(name).cells, Dice(0)
    for definition in catalogue(name):
        plain = Metric(definition.name)
        known = definition.parameters(kinds).values()
        out += [plain, *(plain(**{p.name: value}) for p in known for value in values(p))]
        if len(known) > 1:
            out += [plain(**{p.name: dice.pick(values(p)) for p in known if dice.random() < 0.7}) for _ in range(3)]
    return tuple(dict.fromkeys(str(metric) for metric in out))


def outside(name: str) -> list[str]:
    """Every metric of a context with numbers at and beyond their borders."""
    known = [(d.name, d.parameters(context(name).cells)) for d in catalogue(name)]
    some = [(metric, p, value) for metric, parameters in known for p in parameters for value in OUTSIDE.get(p, ())]
    return [str(Metric(metric)(**{parameter: value})) for metric, parameter, value in some]


def choices(name: str) -> Iterator[dict[str, Any]]:
    """Every option of a context with every value."""
    for option in context(name).options:
        if option.name == "order":
            known: tuple[Any, ...] = ("rank", "score") if name == "ranking" else ()
        else:
            known = OPTION_VALUES[option.name] if callable(option.choices) else option.choices
        yield from ({option.name: value} for value in known if value != option.default)


def cases(name: str) -> dict[str, Case]:
    """The cases of a context by their names."""
    out: dict[str, Case] = {}
    known = variants(name)
    every = tuple(metric for metric in known if not REFUSED.match(metric))
    few = tuple(metric for metric in every if metric in catalogue(name).definitions)
    inputs = dict(CONTEXTS[name]())
    first = next(iter(inputs.values()))
    out |= {metric: Case(name, first, (metric,), {}) for metric in (*known, *outside(name)) if metric not in every}
    for title, data in inputs.items():
        out[title] = Case(name, data, every, {})
        out[f"{title}, defaults"] = Case(name, data, None, {})
        out[f"{title}, units"] = Case(name, data, few, {"units": True})
        for options in choices(name):
            if not options.keys() & data.options.keys():
                asked = every if data is first else few
                out[", ".join([title, *(f"{k}={v}" for k, v in options.items())])] = Case(name, data, asked, options)
        columns = data.gold[0] if isinstance(data.gold, list) and data.gold and isinstance(data.gold[0], dict) else {}
        if "weight" in columns:
            out[f"{title}, weighted"] = Case(name, data, every, {"weight": "weight"})
        if "part" in columns and data is first:
            out[f"{title}, sliced"] = Case(name, data, None, {"slices": "part", "resamples": 50})
        out[f"{title}, intervals"] = Case(name, data, few, {"intervals": 0.9, "interval_method": "jackknife-t"})
    return out


def outcome(case: Case, folder: Path) -> dict[str, Any]:
    """Scores, counts, tables and findings, or why there are none."""
    gold, pred = (_given(side, folder) for side in (case.data.gold, case.data.pred))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = karat.evaluate(
                gold, pred, context=case.context, metrics=case.metrics, **(case.data.options | case.options)
            )
    except InputError as error:
        return {"errors": [_shown(f, folder) for f in error.findings]}
    except MetricError as error:
        return {"refused": str(error)}
    system = result.systems[0]
    return {
        "scores": {str(metric): _score(score) for metric, score in system.scores.items()},
        "counts": system.counts,
        "findings": [_shown(f, folder) for f in system.findings],
        "details": {detail.name: [detail.title, detail.columns, *detail.rows] for detail in system.details},
        "units": _units(result) if case.options.get("units") else {},
    }


def _units(result: Any) -> dict[str, Any]:
    """The worst units by each metric, with what both sides say of them."""
    out: dict[str, Any] = {}
    for metric in result.metrics:
        try:
            found = worst(result, result.systems[0], metric, 9)
        except MetricError as error:
            out[str(metric)] = str(error)
        else:
            units = [[u.test_case, u.id, u.score, u.gold, u.pred, *([u.text] if u.text else [])] for u in found.units]
            out[str(metric)] = [found.total, *units]
    return out


def _given(side: Any, folder: Path) -> Any:
    if not isinstance(side, Text):
        return side
    (folder / side.name).write_text(side.content, "utf-8")
    return folder / side.name


def _shown(finding: Finding, folder: Path) -> str:
    return str(finding).replace(f"{folder}/", "")


def _score(score: Any) -> Any:
    """The value or why there is none, those of test cases where there are several, of classes in each, and intervals."""
    out = [score.undefined if score.value is None else score.value]
    if len(score.test_cases) > 1:
        out.append([part.value for part in score.by_test_case.values()])
    if parts := list(score.class_parts()):
        out.append([[part.label, part.undefined if part.value is None else part.value] for part in parts])
    if score.interval:
        out.append([score.interval.low, score.interval.high, score.interval.se])
    for slicing in score.slices.values():
        out.append([[part.name, part.units, part.value, part.difference] for part in slicing.slices])
    return out if len(out) > 1 else out[0]


def rounded(value: Any) -> Any:
    """As JSON says it, numbers to twelve digits."""
    if isinstance(value, dict):
        return {str(k): rounded(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(v) for v in value]
    if hasattr(value, "item"):
        return rounded(value.item())
    return float(f"{value:.12g}") if isinstance(value, float) else value


def expected(name: str) -> dict[str, Any]:
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
        return dict(map(json.loads, stream))


def write(name: str, outcomes: dict[str, Any]) -> None:
    FOLDER.mkdir(exist_ok=True)
    lines = [json.dumps([case, found], ensure_ascii=False, separators=(",", ":")) for case, found in outcomes.items()]
    (FOLDER / f"{name}.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))

# SPDX-License-Identifier: Apache-2.0
"""The parameters of one metric: where they may stand, what values they take, what is warned about."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

from karat.doors.pyevall import codes

ICM_PARAMS = ("alpha_1", "alpha_2", "beta")
TAKES: dict[str, tuple[str, ...]] = {
    "FMeasure": ("alfa_param",),
    "FMeasurePurityInversePurity": ("alfa_param",),
    "ICM": ICM_PARAMS,
    "ICMNorm": ICM_PARAMS,
    "ICMSoft": ICM_PARAMS,
    "ICMSoftNorm": ICM_PARAMS,
    "PrecisionAtK": ("k_param",),
    "MAP": ("r_param",),
    "RBP": ("p_param",),
}
DEFAULTS: dict[str, float] = {
    "alfa_param": 0.5,
    "alpha_1": 2,
    "alpha_2": 2,
    "beta": 3,
    "k_param": 10,
    "r_param": 1000,
    "p_param": 0.8,
}
HIDES_WARNINGS = ("ICMNorm", "ICMSoftNorm")
"""PyEvALL checks their parameters in an inner metric, whose warnings nobody sees."""


@dataclass(frozen=True)
class Params:
    """The values to use, the codes of what was refused (the form of metric_params, and single values), and what
    PyEvALL does otherwise.
    """

    values: Mapping[str, Any]
    form: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def resolve(metric: str, asked: str, given: Mapping[str, Any], strict: bool) -> Params:
    """This metric's parameters out of everything given; ``asked`` is the name as the caller wrote it."""
    form: list[str] = []
    own_values = per_metric(asked, given, form, strict)
    values = {name: own_values.get(name, given.get(name, DEFAULTS[name])) for name in TAKES.get(metric, ())}
    refused = [name for name, value in values.items() if not acceptable(name, value, strict)]
    shown = [] if strict and metric in HIDES_WARNINGS else map(codes.bad_param, refused)
    unlike = [] if strict else list(differences(asked, given, values))
    return Params(values | {name: DEFAULTS[name] for name in refused}, form, list(shown), unlike)


def differences(asked: str, given: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[str]:
    """What PyEvALL takes no notice of, and values that only one of both modes can use."""
    if isinstance(given.get(asked), Mapping) and values.keys() & given[asked].keys():
        yield "parameters under the metric's name count; PyEvALL takes no notice of them"
    for name, value in values.items():
        if acceptable(name, value, True) != acceptable(name, value, False):
            yield f"{name}: NumPy's numbers are taken, NaN and infinity are not; PyEvALL does the reverse"


def per_metric(asked: str, given: Mapping[str, Any], warnings: list[str], strict: bool) -> Mapping[str, Any]:
    """What ``metric_params`` says for this metric; PyEvALL's manual also shows {"FMeasure": {...}} at top level."""
    params: dict[str, Any] = {}
    if not strict and isinstance(given.get(asked), Mapping):
        params |= given[asked]
    groups = given.get("metric_params", {})
    if not isinstance(groups, Mapping):
        warnings.append(codes.PARAMS_NOT_DICT)
    elif not isinstance(groups.get(asked, {}), Mapping):
        warnings.append(codes.PARAMS_OF_METRIC_NOT_DICT)
    else:
        params |= groups.get(asked, {})
    return params


def acceptable(name: str, value: Any, strict: bool) -> bool:
    """Whether the value can be used; strict refuses NumPy's integers and lets NaN and infinity pass, as PyEvALL does."""
    whole, number = ((int,), (int, float)) if strict else ((Integral,), (Real,))
    kind: Any = whole if name in ("k_param", "r_param") else number
    if isinstance(value, bool) or not isinstance(value, kind):
        return False
    return DOMAINS[name](value) or (strict and (math.isnan(value) or name in ICM_PARAMS))


def finite(value: Any) -> bool:
    return math.isfinite(value)


def share(value: Any) -> bool:
    return bool(0 <= value <= 1)


def count(value: Any) -> bool:
    return bool(value >= 0)


DOMAINS: dict[str, Callable[[Any], bool]] = {
    "alfa_param": share,
    "alpha_1": finite,
    "alpha_2": finite,
    "beta": finite,
    "k_param": count,
    "r_param": count,
    "p_param": share,
}

# SPDX-License-Identifier: Apache-2.0
"""The contexts of evaluation, and the metrics found in their modules."""

from __future__ import annotations

import difflib
import os
import sys
from functools import cache, lru_cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING

from karat.contexts.base import Context
from karat.metric import Catalogue, Definition, Metric, MetricError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

MODULES = {
    "monolabel": "karat.contexts.monolabel",
    "multilabel": "karat.contexts.multilabel",
    "splitting": "karat.contexts.splitting",
    "spans": "karat.contexts.spans",
    "ranking": "karat.contexts.ranking",
    "soft": "karat.contexts.soft",
    "clustering": "karat.contexts.clustering",
    "probabilities": "karat.contexts.probabilities",
    "numbers": "karat.contexts.numbers",
}
"""Where each context lives; imported when it is asked for."""

CONTEXT_OF = {
    "label": "monolabel",
    "labels": "multilabel",
    "pages": "splitting",
    "spans": "spans",
    "number": "ranking",
    "weights": "soft",
    "votes": "soft",
}
"""The context that each kind of value means where none is named."""

SHARED = ("karat.contexts.by_class", "karat.contexts.tree")
"""Metrics that hold for several contexts."""


@cache
def context(name: str) -> Context:
    """The context called ``name``."""
    if name not in MODULES:
        near = difflib.get_close_matches(name, MODULES, 1)
        raise MetricError(
            f"unknown context {name!r}; there are {', '.join(MODULES)}"
            + (f" (did you mean {near[0]}?)" if near else "")
        )
    chosen = import_module(MODULES[name]).context
    assert isinstance(chosen, Context)
    return chosen


def catalogue(name: str) -> Catalogue:
    """Every metric of a context: its own, the shared ones and those of installed plug-ins."""
    return Catalogue(context(name).cells, [*_built_in(context(name).name), *plugins()])


def homes(metric: str | Metric) -> list[str]:
    """The contexts that have a metric."""
    return [name for name in MODULES if catalogue(name).names(metric)]


@cache
def _built_in(name: str) -> tuple[Definition, ...]:
    """The metrics that karat itself has for a context: a page of the web asks for them a hundred times a second."""
    return tuple(d for module in (MODULES[name], *SHARED) for d in _defined_in(module))


def _defined_in(name: str) -> list[Definition]:
    """The metrics of a module, or of a package's modules."""
    module = import_module(name)
    inner = [f"{name}.{m.name}" for m in iter_modules(getattr(module, "__path__", []))]
    here = [v for v in vars(module).values() if isinstance(v, Definition)]
    return list({id(d): d for d in (*here, *(d for m in inner for d in _defined_in(m)))}.values())


def plugins() -> list[Definition]:
    """Metrics that other installed packages offer under the entry-point group ``karat.metrics``."""
    return [definition for point in _points(tuple(sys.path)) for definition in _offered(point)]


def _offered(point: EntryPoint) -> list[Definition]:
    """The metric that an entry point names, or the metrics of its module."""
    whose = f"the plug-in {point.value}" + (f" of {point.dist.name}" if point.dist else "")
    try:
        asset = point.load()
    except Exception as error:
        raise MetricError(f"{whose} cannot be loaded: {type(error).__name__}: {error}") from error
    offered = (
        [asset] if isinstance(asset, Definition) else _defined_in(point.value) if isinstance(asset, ModuleType) else []
    )
    if not offered:
        raise MetricError(f"{whose} offers no metric: decorate its functions with karat.metric.metric")
    return offered


@lru_cache(maxsize=8)
def _points(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Entry points found on ``path``; remembered, because asking every installed package takes longer than scoring."""
    if not any(_may_offer(folder) for folder in path):
        return ()
    from importlib.metadata import entry_points  # and all of email, which most evaluations can do without

    return tuple(entry_points(group=PLUGINS))


def _may_offer(folder: str) -> bool:
    """May a package in this folder of the path offer metrics? What is no plain folder may."""
    try:
        names = os.listdir(folder or ".")
    except NotADirectoryError:
        return True
    except OSError:
        return False
    return any(name.endswith(".egg") or _mentioned(os.path.join(folder, name)) for name in names if "." in name)


def _mentioned(package: str) -> bool:
    if not package.endswith((".dist-info", ".egg-info")):
        return False
    try:
        with open(os.path.join(package, "entry_points.txt"), "rb") as stream:
            return PLUGINS.encode() in stream.read()
    except OSError:
        return False


PLUGINS = "karat.metrics"
"""The group of entry points by which other packages offer metrics."""

# SPDX-License-Identifier: Apache-2.0
"""Reports of designs: how many units, clusters, runs or annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import msgspec

import karat
from karat.metric import MetricError
from karat.needs import Design, Need
from karat.report import latex, markdown
from karat.report.delimited import delimited
from karat.report.rows import Grid, number
from karat.report.terminal import plain


def render(design: Design, report: str, **options: Any) -> Any:
    """The design as the report called ``report``."""
    if report not in REPORTS:
        raise MetricError(f"unknown report {report!r}; designs have {', '.join(REPORTS)}")
    return REPORTS[report](design, **options)


def header(design: Design) -> str:
    """What is aimed at."""
    aim = design.aim
    sides = "one-sided" if aim["one_sided"] or aim["margin"] is not None else "two-sided"
    level = f"α = {aim['alpha']:g}" + (f" shared by {aim['tests']} tests" if aim["tests"] > 1 else "")
    if aim["width"] is not None:
        return f"Aim: intervals of ± {aim['width']:g} ({level})"
    what = f"a difference of {aim['difference'] or 0:g}"
    if aim["margin"] is not None:
        what = f"no worse than by {aim['margin']:g}, if the true difference is {aim['difference'] or 0:g}"
    return f"Aim: {what}, with power {aim['power']:g} ({sides}, {level})"


def grids(design: Design, digits: int = 4) -> Iterator[Grid]:
    """Needs, then power at several sizes, then runs or annotators."""
    yield _needs(design.needs, digits)
    yield _curves(design, digits)
    if any(n.by_repeats for n in design.needs):
        yield _repeats(design.needs)


def _count(need: Need, value: int | None) -> str:
    """A number, or why there is none: a pilot without a score or without spread says nothing of how many units are needed."""
    if value is not None:
        return f"{value:,}"
    return "no score" if need.se is None else "out of reach" if need.se > 0 else "no spread"


def _needs(needs: list[Need], digits: int) -> Grid:
    clustered = any(n.clusters for n in needs)
    head = ["pilot", "metric", "value", "standard error", "units", "units needed"]
    head += ["design effect", "clusters", "clusters needed"] if clustered else []
    rows = [
        [
            n.what, n.label, number(n.value, digits), number(n.se, digits), f"{n.units:,}", _count(n, n.needed),
            *(_clusters(n) if clustered else []),
        ]
        for n in needs
    ]  # fmt: skip
    return Grid("Units needed", head, rows)


def _clusters(need: Need) -> list[str]:
    facet = need.clusters
    return ["–"] * 3 if facet is None else [f"{facet.effect:.2f}", f"{facet.pilot:,}", _count(need, facet.needed)]


def _curves(design: Design, digits: int) -> Grid:
    sizes = [f"{n:,}" for n, _ in max((n.curve for n in design.needs), key=len)]
    title = "Half of the interval's width by units" if design.aim["width"] is not None else "Power by units"
    shown = [[number(v, min(digits, 3)) for _, v in n.curve] for n in design.needs]
    # Clusters may be too few for the smallest sizes.
    rows = [
        [n.what, n.label, *["–"] * (len(sizes) - len(known)), *known]
        for n, known in zip(design.needs, shown, strict=True)
    ]
    return Grid(title, ["pilot", "metric", *sizes], rows)


def _repeats(needs: list[Need]) -> Grid:
    name = next(n.repeated for n in needs if n.repeated)
    counts = [f"{r} {name}" for r, _ in next(n.by_repeats for n in needs if n.by_repeats)]
    rows = [[n.what, n.label, f"{n.repeats_share or 0:.0%}", *(_count(n, u) for _, u in n.by_repeats)] for n in needs]
    return Grid(f"Units needed by {name}", ["pilot", "metric", f"variance due to {name}", *counts], rows)


def render_text(design: Design, digits: int = 4) -> str:
    return "\n\n".join([header(design), *(plain(g) for g in grids(design, digits))]) + "\n"


def render_markdown(design: Design, digits: int = 4) -> str:
    return (
        "\n\n".join([markdown.escape(header(design)) + ".", *(markdown.table(g) for g in grids(design, digits))]) + "\n"
    )


def render_latex(design: Design, digits: int = 4) -> str:
    return "\n".join(["% needs \\usepackage{booktabs}", *(latex.table(g) for g in grids(design, digits))]) + "\n"


def render_json(design: Design) -> str:
    data = {"schema": 1, "karat": karat.__version__, "aim": design.aim, "needs": [asdict(n) for n in design.needs]}
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"


def dicts(design: Design) -> list[dict[str, Any]]:
    """One flat record per pair and metric."""
    keep = ("what", "metric", "label", "value", "units", "se", "spread", "needed", "repeated", "repeats_share")
    return [{name: getattr(n, name) for name in keep} for n in design.needs]


REPORTS: dict[str, Callable[..., Any]] = {
    "table": render_text, "json": render_json, "markdown": render_markdown, "latex": render_latex, "dicts": dicts,
    "tsv": lambda design: delimited(dicts(design), "\t"), "csv": lambda design: delimited(dicts(design), ","),
}  # fmt: skip
TEXT = ("table", "json", "markdown", "latex", "tsv", "csv")

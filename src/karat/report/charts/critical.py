# SPDX-License-Identifier: Apache-2.0
"""Critical-difference diagram: mean ranks on one axis, a bar over systems that cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from karat.report.charts import svg

SIDE, AXIS, ROW, BAR = 250, 380, 20, 9
EDGE = 20


def critical_difference(
    names: Sequence[str],
    mean_ranks: NDArray[np.float64],
    difference: float,
    groups: Sequence[Sequence[int]],
    *,
    title: str,
) -> str:
    """An SVG diagram after Demšar (2006); the better half is labelled on the left, the rest on the right.

    Each label has a line of its own, and bars that would touch lie on different levels, so that
    nothing overlaps however close the ranks are.
    """
    order = [int(i) for i in np.argsort(mean_ranks, kind="stable")]
    left, right = order[: (len(order) + 1) // 2], order[(len(order) + 1) // 2 :]
    side = svg.side([f"{name}  {rank:.2f}" for name, rank in zip(names, mean_ranks, strict=True)], SIDE - 10) + 10
    scale = svg.Scale(1, max(len(names), 2), side + EDGE, side + EDGE + AXIS)
    levels = bar_levels([_ends(g, mean_ranks) for g in groups])
    axis = 74
    under = axis + 14 + BAR * (max(levels, default=-1) + 1) + 12
    parts = [svg.text(0, 14, svg.fitted(title, 2 * side + AXIS), css="title", title=title)]
    parts += _ruler(scale, difference) + _axis(scale, len(names), axis)
    for group, level in zip(groups, levels, strict=True):
        low, high = _ends(group, mean_ranks)
        y = axis + 12 + BAR * level
        parts.append(svg.line(scale(low) - 4, y, scale(high) + 4, y, css="accent", width=4))
    parts += _labels(left, names, mean_ranks, scale, axis, under, side + EDGE - 8, "end")
    parts += _labels(right[::-1], names, mean_ranks, scale, axis, under, side + EDGE + AXIS + 8, "start")
    return svg.document(2 * (side + EDGE) + AXIS, under + ROW * len(left) + 10, parts, title)


def score_groups(
    names: Sequence[str], scores: NDArray[np.float64], groups: Sequence[Sequence[int]], *, lower: bool, title: str
) -> str:  # fmt: skip
    """Scores on one axis, the best to the left; a bar joins systems that the tests do not tell apart.

    A bar has a dot at each of its systems: one that it only passes may differ from them.
    """
    ends = (float(scores.min()), float(scores.max()))
    ends = ends if ends[1] - ends[0] > svg.ALIKE else (ends[0] - 0.5, ends[0] + 0.5)
    order = [int(i) for i in np.argsort(scores if lower else -scores, kind="stable")]
    left, right = order[: (len(order) + 1) // 2], order[(len(order) + 1) // 2 :]
    side = svg.side([f"{name}  {score:.3f}" for name, score in zip(names, scores, strict=True)], SIDE - 10) + 10
    scale = svg.Scale(*(ends if lower else ends[::-1]), side + EDGE, side + EDGE + AXIS)
    at = np.array([scale(float(s)) for s in scores])
    levels = bar_levels([_ends(g, at / 20) for g in groups])  # bars closer than a pixel touch
    axis = 54
    under = axis + 14 + BAR * (max(levels, default=-1) + 1) + 12
    parts = [svg.text(0, 14, svg.fitted(title, 2 * side + AXIS), css="title", title=title)]
    parts += [svg.line(scale.start, axis, scale.end, axis)]
    for tick in svg.nice_ticks(*ends, 6):
        if ends[0] <= tick <= ends[1]:
            parts += [svg.line(scale(tick), axis - 5, scale(tick), axis)]
            parts += [svg.text(scale(tick), axis - 9, f"{tick:g}", anchor="middle", css="muted tick", size=11)]
    for group, level in zip(groups, levels, strict=True):
        low, high = _ends(group, at)
        y = axis + 12 + BAR * level
        parts.append(svg.line(low, y, high, y, css="accent", width=3))
        parts += [svg.dot(float(at[i]), y, radius=3.5) for i in group]
    parts += _labels(left, names, scores, scale, axis, under, side + EDGE - 8, "end", 3)
    parts += _labels(right[::-1], names, scores, scale, axis, under, side + EDGE + AXIS + 8, "start", 3)
    return svg.document(2 * (side + EDGE) + AXIS, under + ROW * len(left) + 10, parts, title)


def _ends(group: Sequence[int], mean_ranks: NDArray[np.float64]) -> tuple[float, float]:
    ranks = [float(mean_ranks[i]) for i in group]
    return min(ranks), max(ranks)


def bar_levels(spans: Sequence[tuple[float, float]]) -> list[int]:
    """A level for each bar such that bars on one level do not touch.

    >>> bar_levels([(1, 2), (1.5, 3), (2.5, 4)])
    [0, 1, 0]
    """
    reached: list[float] = []
    out = []
    for low, high in spans:
        level = next((i for i, end in enumerate(reached) if end + 0.05 < low), len(reached))
        reached[level : level + 1] = [high]
        out.append(level)
    return out


def _ruler(scale: svg.Scale, difference: float) -> list[str]:
    """The critical difference as a length, above the axis."""
    start, end = scale(1), scale(min(1 + difference, scale.high))
    label = f"critical difference {difference:.3g}"
    ends = [svg.line(x, 36, x, 44) for x in (start, end)]
    return [svg.line(start, 40, end, 40, width=2), *ends, svg.text(start, 32, label, css="muted", size=11)]


def _axis(scale: svg.Scale, systems: int, y: float) -> list[str]:
    ticks = svg.nice_ticks(1, max(systems, 2), 10) if systems > 12 else list(range(1, max(systems, 2) + 1))
    parts = [svg.line(scale.start, y, scale.end, y)]
    for tick in (t for t in ticks if 1 <= t <= scale.high):
        at = scale(tick)
        parts += [
            svg.line(at, y - 5, at, y),
            svg.text(at, y - 9, f"{tick:g}", anchor="middle", css="muted tick", size=11),
        ]
    return parts


def _labels(
    systems: Sequence[int], names: Sequence[str], ranks: NDArray[np.float64], scale: svg.Scale,
    axis: float, under: float, x: float, anchor: str, digits: int = 2,
) -> list[str]:  # fmt: skip
    parts = []
    for i, system in enumerate(systems):
        y, at = under + ROW * i, scale(float(ranks[system]))
        label = f"{names[system]}  {ranks[system]:.{digits}f}"
        lead = f"M{svg.number(at)} {svg.number(axis)}V{svg.number(y)}H{svg.number(x)}"
        parts.append(f'<path class="plain" fill="none" d="{lead}"/>')
        edge = x - 6 if anchor == "end" else x + 6
        shown = svg.fitted(label, SIDE - 10)
        parts.append(svg.text(edge, y + 4, shown, anchor=anchor, title=label if shown != label else ""))
    return parts

# SPDX-License-Identifier: Apache-2.0
"""Charts are well-formed XML, escape what they are given, and no two texts share a place."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.report.charts import critical, forest, matrix, svg
from karat.report.charts.heat import heat_map
from karat.report.charts.slices import Point, slices_chart
from karat.stats.ranks import cd_groups

SVG = "{http://www.w3.org/2000/svg}"
names = st.lists(st.text(min_size=1, max_size=60), min_size=2, max_size=14)


def boxes(chart: str):
    """Text boxes (left, top, right, bottom), the width being that of layout."""
    root = ElementTree.fromstring(chart)
    for node in root.iter(f"{SVG}text"):
        size = int(node.get("font-size", svg.FONT))
        width = float(node.get("textLength", 0)) or svg.text_width(node.text or "", size)
        x, y = float(node.get("x")), float(node.get("y"))
        left = x - {"start": 0, "middle": width / 2, "end": width}[node.get("text-anchor", "start")]
        yield left, y - 0.8 * size, left + width, y + 0.2 * size, node.text


def overlapping(chart: str):
    """Pairs of texts that share a place (a pixel of slack for rounding)."""
    return [
        (a[4], b[4])
        for a, b in combinations(boxes(chart), 2)
        if a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 1 and b[1] < a[3] - 1
    ]


def inside(chart: str) -> bool:
    root = ElementTree.fromstring(chart)
    width, height = float(root.get("width")), float(root.get("height"))
    return all(b[0] >= -1 and b[2] <= width + 1 and b[1] >= -1 and b[3] <= height + 1 for b in boxes(chart))


@settings(max_examples=40, deadline=None)
@given(names, st.randoms())
def test_critical_difference_never_overlaps(names, random):
    ranks = np.array([random.uniform(1, len(names)) for _ in names])
    cd = random.uniform(0.1, len(names))
    chart = critical.critical_difference(names, ranks, cd, cd_groups(ranks, cd), title="Mean ranks")
    assert overlapping(chart) == []
    assert inside(chart)


def test_critical_difference_of_equal_ranks():
    ranks = np.full(9, 5.0)
    chart = critical.critical_difference(list("abcdefghi"), ranks, 2.0, cd_groups(ranks, 2.0), title="Ties")
    assert overlapping(chart) == []


@settings(max_examples=40, deadline=None)
@given(names, st.randoms(), st.booleans())
def test_groups_of_scores_never_overlap(names, random, lower):
    scores = np.array([random.choice([0.5, random.uniform(-1, 1)]) for _ in names])
    groups = [sorted(random.sample(range(len(names)), min(2, len(names)))) for _ in range(3)]
    chart = critical.score_groups(names, scores, groups, lower=lower, title="Groups")
    assert overlapping(chart) == []
    assert inside(chart)


@pytest.mark.parametrize("gap", [5e-324, 1e-300, 1e-14, 1e-10, 1e-8])
@pytest.mark.parametrize("score", [0.0, 0.5])
def test_scores_that_are_nearly_alike_have_an_axis(score, gap):
    chart = critical.score_groups(["a", "b"], np.array([score, score + gap]), [[0, 1]], lower=False, title="Groups")
    assert overlapping(chart) == []
    assert inside(chart)


@settings(max_examples=40, deadline=None)
@given(names, st.text(max_size=90))
def test_forest_never_overlaps(names, note):
    rows = [forest.Estimate(name, 0.1 * i, 0.1 * i - 0.3, 0.1 * i + 0.2, note) for i, name in enumerate(names)]
    chart = forest.forest(rows, title="Differences")
    assert overlapping(chart) == []
    assert inside(chart)


def test_forest_leaves_out_what_is_undefined():
    chart = forest.forest([forest.Estimate("A", np.nan, np.nan, np.nan, "undefined")], title="F1")
    assert "nan" not in chart
    assert "undefined" in chart


@settings(max_examples=40, deadline=None)
@given(names)
def test_matrix_never_overlaps(names):
    p = np.linspace(0, 1, len(names) ** 2).reshape(len(names), -1)
    chart = matrix.p_matrix(names, p, np.sign(p - 0.5), title="p-values")
    assert overlapping(chart) == []
    assert inside(chart)


def test_names_are_escaped():
    name = "<script>alert('&\"')</script>\x00"
    chart = matrix.p_matrix([name, "B"], np.full((2, 2), 0.2), np.zeros((2, 2)), title=name)
    assert "<script" not in chart
    ElementTree.fromstring(chart)


def test_charts_are_deterministic_and_themed():
    rows = [forest.Estimate("A", 0.1, 0.0, 0.2)]
    chart = forest.forest(rows, title="F1")
    assert chart == forest.forest(rows, title="F1")
    assert "prefers-color-scheme:dark" in chart
    assert "--karat-ink" in chart


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-0.03, 0.002), (5, 5), (0, 0), (1e-9, 3e-9), (-4, 900)])
def test_ticks_span_the_range(low, high):
    ticks = svg.nice_ticks(low, high)
    assert ticks[0] <= low + 1e-12
    assert ticks[-1] >= high - 1e-12
    assert 2 <= len(ticks) <= 8
    assert len(set(svg.tick_labels(ticks))) == len(ticks)


def test_fitted_keeps_both_ends():
    short = svg.fitted("a-very-long-system-name-v2", 100)
    assert short.startswith("a-v")
    assert short.endswith("v2")
    assert svg.text_width(short) <= 100
    assert svg.fitted("W", 1) == "…"


def test_a_matrix_with_long_names_fits_a_phone():
    """Names of columns that would make it wider are slanted; short ones stand as they are."""
    names = ["irrelevant", "mixed", "negative", "neutral", "not applicable", "positive"]
    drawn = heat_map(names, names, np.eye(6, dtype=np.int64) * 205, title="Confusion")
    assert float(re.search(r"--w:([0-9.]+)px", drawn)[1]) <= 400
    assert drawn.count("rotate(-40)") == 6
    short = heat_map(["a", "b"], ["a", "b"], np.eye(2, dtype=np.int64), title="Confusion")
    assert "rotate" not in short


def test_no_line_crosses_what_is_said_of_a_row():
    """Lines of the axis and at the score of all units are drawn in tracks alone: the first begins under the heading."""
    drawn = slices_chart([Point("es", 0.9, 0.8, 0.95, "0.9 [0.8, 0.95]", "accent")] * 3, overall=0.85, title="F1")
    grid = re.search(r'class="grid" stroke-dasharray="21 15" d="M[0-9.]+ ([0-9.]+)V', drawn)
    said = [float(y) for y in re.findall(r'y="([0-9.]+)"[^>]* class="muted said"', drawn)]
    assert float(grid[1]) > said[0]
    assert [y - said[0] for y in said] == [0, 36, 72]
    assert 'stroke-dasharray="4 3 4 3 4 18"' in drawn

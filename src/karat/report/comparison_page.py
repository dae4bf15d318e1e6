# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison: self-contained HTML with forest plots, p-value matrices and critical differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from markupsafe import Markup

from karat.comparison import Comparison, Pair, Place, Ranks, flipped
from karat.report.board import Tables, letters_of
from karat.report.charts.critical import critical_difference, score_groups
from karat.report.charts.forest import Estimate, forest
from karat.report.charts.matrix import p_matrix
from karat.report.charts.svg import label_of, nice_ticks, or_nan
from karat.report.html import fragment, render
from karat.report.html.view import Section, strip
from karat.report.rows import Grid, p_text

LIKELY = 30
"""Most pairs that one forest shows; of more, those of the leader."""


def page(comparison: Comparison, header: str, lines: Sequence[str], tables: Tables, digits: int = 4) -> str:
    """The report of the systems with the leaderboard in front, what it means, and charts and tables folded."""
    names = comparison.systems
    title = "Comparison of " + (", ".join(names) if len(names) <= 3 else f"{len(names)} systems")
    section = _section(comparison, header, lines, tables)
    return render(comparison.evaluation, digits=digits, title=title, section=section)


def card(comparison: Comparison, header: str, lines: Sequence[str], tables: Tables, digits: int = 4) -> str:
    """The leaderboard and what it means, as a notebook shows it."""
    return fragment(comparison.evaluation, digits, section=_section(comparison, header, lines, tables))


def _section(comparison: Comparison, header: str, lines: Sequence[str], tables: Tables) -> Section:
    drawn = [(label_of(chart), chart) for chart in charts(comparison)]
    summary, *rest = lines
    detail = [_of_leaders(grid, comparison) for grid in tables.detail]
    return Section(
        "Leaderboard",
        f"{header}.",
        rest,
        drawn,
        detail,
        tables.first,
        tables.boards,
        summary,
        _strips(next(iter(comparison.leaderboards.values()))),
    )


def _strips(places: Sequence[Place]) -> list[Markup]:
    """Scores and intervals on one scale, so that rows can be compared at a glance."""
    ends = [v for p in places if p.value is not None for v in (p.value, *_span(p))]
    ticks = nice_ticks(min(ends, default=0.0), max(ends, default=1.0))
    return [strip(p.value, p.interval, (ticks[0], ticks[-1])) for p in places]


def _span(place: Place) -> tuple[float, ...]:
    return (place.interval.low, place.interval.high) if place.interval else ()


def _of_leaders(grid: Grid, comparison: Comparison) -> Grid:
    """Of a table of very many pairs, those with a leader: a page is read, and the matrix has the p of all."""
    if len(grid.rows) <= LIKELY or grid.head[0] != "pair":
        return grid
    leaders = {places[0].system for places in comparison.leaderboards.values()}
    shown = {f"{p.a} − {p.b}" for p in comparison.pairs if leaders & {p.a, p.b}}
    note = "Only pairs with a leader are shown; the TSV and JSON reports have all of them."
    return Grid(grid.title, grid.head, [row for row in grid.rows if row[0] in shown], [note])


Link = Callable[[str, str], str]
"""Where a pair of systems leads."""


def charts(comparison: Comparison, link: Link | None = None) -> Iterator[str]:
    """All charts of a comparison, metric by metric."""
    for metric in comparison.metrics:
        pairs = comparison.of(metric)
        yield forest_of(pairs, comparison, link)
        if len(comparison.systems) > 2 and comparison.baseline is None:
            yield matrix_of(pairs, comparison, link)
            yield from groups_of(comparison.leaderboards[metric], pairs, comparison)
    for ranks in comparison.ranks:
        yield critical_of(ranks)


def forest_of(pairs: Sequence[Pair], comparison: Comparison, link: Link | None = None) -> str:
    """Differences of one metric with their intervals; of very many, those of the leader."""
    if len(pairs) > LIKELY and comparison.baseline is None:
        leader = comparison.leaderboards[pairs[0].metric][0].system
        pairs = [p if p.a == leader else flipped(p) for p in pairs if leader in (p.a, p.b)]
    tone = {"better": "good", "worse": "bad"}
    rows = [
        Estimate(
            f"{p.a} − {p.b}", or_nan(p.difference), p.simultaneous.low if p.simultaneous else np.nan,
            p.simultaneous.high if p.simultaneous else np.nan, f"p {p_text(p.p_corrected, p.p_is_bound)}, {p.verdict}",
            tone.get(p.verdict, "plain"),
        )
        for p in pairs
    ]  # fmt: skip
    return forest(
        rows,
        title=f"Difference of {pairs[0].label} with intervals that hold for all pairs at {1 - comparison.alpha:.0%}",
        link=(lambda i: link(pairs[i].a, pairs[i].b)) if link else None,
    )


def matrix_of(pairs: Sequence[Pair], comparison: Comparison, link: Link | None = None) -> str:
    """Corrected p-values of all pairs of one metric."""
    names = comparison.systems
    p, better = np.full((len(names), len(names)), np.nan), np.zeros((len(names), len(names)))
    for pair in pairs:
        i, j = names.index(pair.a), names.index(pair.b)
        p[i, j] = p[j, i] = or_nan(pair.p_corrected)
        better[i, j] = np.sign(pair.gain or 0.0)
        better[j, i] = -better[i, j]
    title = f"{pairs[0].label}: p-values ({comparison.correction}, {comparison.family} tests)"
    return p_matrix(names, p, better, alpha=comparison.alpha, title=title, link=link)


def groups_of(places: Sequence[Place], pairs: Sequence[Pair], comparison: Comparison) -> Iterator[str]:
    """Scores with bars over the systems that share a letter."""
    known = [p for p in places if p.value is not None and p.groups]
    names = list(dict.fromkeys(letter for p in known for letter in letters_of(p.groups)))
    groups = [[i for i, p in enumerate(known) if letter in letters_of(p.groups)] for letter in names]
    if len(known) > 2:
        title = f"{pairs[0].label}: systems that the tests do not tell apart ({comparison.correction})"
        scores = np.array([or_nan(p.value) for p in known])
        several = [g for g in groups if len(g) > 1]
        lower = pairs[0].better == "lower"
        yield score_groups([p.system for p in known], scores, several, lower=lower, title=title)


def critical_of(ranks: Ranks) -> str:
    """Mean ranks over test cases; groups are those of the table."""
    title = f"{ranks.label}: mean ranks over {ranks.test_cases} test cases (Nemenyi at {ranks.alpha:g})"
    mean = np.array(ranks.mean_ranks)
    return critical_difference(ranks.systems, mean, ranks.critical_difference, ranks.groups, title=title)

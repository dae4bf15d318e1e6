# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison: self-contained HTML with forest plots, p-value matrices and critical differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.comparison import Comparison, Pair, Ranks
from karat.report.charts.critical import critical_difference
from karat.report.charts.forest import Estimate, forest
from karat.report.charts.matrix import p_matrix
from karat.report.charts.svg import escape
from karat.report.rows import Grid

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1f2430;background:#fff}"
    "table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}caption{text-align:left;font-weight:600;"
    "padding:.3rem 0}th,td{padding:.25rem .7rem;border-bottom:1px solid #e3e6eb;text-align:right}th:first-child,"
    "td:first-child{text-align:left}div{overflow-x:auto}"
    "@media(prefers-color-scheme:dark){body{color:#e7e9ee;background:#14171d}th,td{border-color:#343a46}}"
)


def page(comparison: Comparison, header: str, grids: Sequence[Grid]) -> str:
    """Verdicts, charts, then every table of the text report."""
    verdicts = "".join(f"<li>{escape(s)}</li>" for s in comparison.sentences())
    shown = "".join(f"<div>{chart}</div>" for chart in charts(comparison))
    tables = "".join(_table(g) for g in grids)
    title = "Comparison of " + ", ".join(comparison.systems)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f"</head><body><h1>Comparison</h1><p>{escape(header)}</p><ul>{verdicts}</ul>{shown}{tables}</body></html>\n"
    )


def _table(grid: Grid) -> str:
    head = "".join(f"<th>{escape(h)}</th>" for h in grid.head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in grid.rows)
    return f"<div><table><caption>{escape(grid.title)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"


def charts(comparison: Comparison) -> Iterator[str]:
    """All charts of a comparison, metric by metric."""
    for metric in comparison.metrics:
        pairs = comparison.of(metric)
        yield forest_of(pairs, comparison)
        if len(comparison.systems) > 2 and comparison.baseline is None:
            yield matrix_of(pairs, comparison)
    for ranks in comparison.ranks:
        yield critical_of(ranks)


def forest_of(pairs: Sequence[Pair], comparison: Comparison) -> str:
    """Differences of one metric with their intervals."""
    from karat.report.comparison import p_text

    tone = {"better": "good", "worse": "bad"}
    rows = [
        Estimate(
            f"{p.a} − {p.b}", _nan(p.difference), p.interval.low if p.interval else np.nan,
            p.interval.high if p.interval else np.nan, f"p {p_text(p.p_corrected, p.test)}, {p.verdict}",
            tone.get(p.verdict, "plain"),
        )
        for p in pairs
    ]  # fmt: skip
    return forest(rows, title=f"Difference of {pairs[0].label} with {1 - comparison.alpha:.0%} intervals")


def matrix_of(pairs: Sequence[Pair], comparison: Comparison) -> str:
    """Corrected p-values of all pairs of one metric."""
    names = comparison.systems
    p, better = np.full((len(names), len(names)), np.nan), np.zeros((len(names), len(names)))
    for pair in pairs:
        i, j = names.index(pair.a), names.index(pair.b)
        p[i, j] = p[j, i] = _nan(pair.p_corrected)
        better[i, j] = np.sign(pair.gain or 0.0)
        better[j, i] = -better[i, j]
    title = f"{pairs[0].label}: p-values ({comparison.correction}, {comparison.family} tests)"
    return p_matrix(names, p, better, alpha=comparison.alpha, title=title)


def critical_of(ranks: Ranks) -> str:
    """Mean ranks over test cases; groups are those of the table."""
    title = f"{ranks.label}: mean ranks over {ranks.test_cases} test cases (Nemenyi at {ranks.alpha:g})"
    mean = np.array(ranks.mean_ranks)
    return critical_difference(ranks.systems, mean, ranks.critical_difference, ranks.groups, title=title)


def _nan(value: float | None) -> float:
    return np.nan if value is None else value

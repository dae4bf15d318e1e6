# SPDX-License-Identifier: Apache-2.0
"""Reports of comparisons: verdicts in words, leaderboards, pairs, ranks; charts in the page."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

import msgspec

import karat
from karat.comparison import Comparison, Pair, Ranks, Test
from karat.metric import Metric, MetricError
from karat.report import board, compared_slices, latex, markdown
from karat.report.board import Tables, leaderboard, summary
from karat.report.delimited import delimited
from karat.report.json import document
from karat.report.published import published_comparison
from karat.report.rows import Grid, cell, number, p_text
from karat.report.tables import methods
from karat.report.terminal import fitted, wrapped

SCHEMA = 1
FOLDED = 20
"""Rows from which on a table of detail is not shown unasked."""
WIDTH = 80


def render(comparison: Comparison, report: str, **options: Any) -> Any:
    """The comparison as the report called ``report``."""
    if report not in REPORTS:
        near = difflib.get_close_matches(report, REPORTS, 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise MetricError(f"unknown report {report!r}; comparisons have {', '.join(REPORTS)}{hint}")
    return REPORTS[report](published_comparison(comparison), **options)


def dicts(comparison: Comparison) -> list[dict[str, Any]]:
    """One flat record per pair and metric."""
    if not comparison.slices:
        return [_record(p) for p in comparison.pairs]
    whole = [_record(p) | {"column": None, "slice": None} for p in comparison.pairs]
    return whole + [
        _record(p) | {"column": column, "slice": part.name}
        for column, slices in comparison.slices.items()
        for part in slices
        for p in part.pairs
    ]


def _record(pair: Pair) -> dict[str, Any]:
    test, interval, effect, all_at_once = pair.test, pair.interval, pair.effect, pair.simultaneous
    return {
        "a": pair.a, "b": pair.b, "metric": str(pair.metric), "name": pair.label, "better": pair.better,
        "units": pair.units, "a_value": pair.a_value, "b_value": pair.b_value, "difference": pair.difference,
        "low": interval.low if interval else None, "high": interval.high if interval else None,
        "level": interval.level if interval else None, "se": interval.se if interval else None,
        "simultaneous_low": all_at_once.low if all_at_once else None,
        "simultaneous_high": all_at_once.high if all_at_once else None, "clusters": pair.clusters,
        "test": test.name if test else None, "p": pair.p, "draws": test.draws if test else None,
        "p_corrected": pair.p_corrected, "verdict": pair.verdict, "mde": pair.mde, "needed": pair.needed,
        "d_z": effect.d_z if effect else None, "rank_biserial": effect.rank_biserial if effect else None,
        "superiority": effect.superiority if effect else None, "win": effect.win if effect else None,
        "tie": effect.tie if effect else None, "loss": effect.loss if effect else None, "sentence": pair.sentence,
    }  # fmt: skip


def render_json(comparison: Comparison) -> str:
    """The whole comparison, evaluation included, as one JSON object."""
    return msgspec.json.format(msgspec.json.encode(_document(comparison)), indent=2).decode() + "\n"


def _document(comparison: Comparison) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "karat": karat.__version__,
        "family": {"correction": comparison.correction, "size": comparison.family, "alpha": comparison.alpha},
        "baseline": comparison.baseline,
        "plan": comparison.plan,
        "summary": summary(comparison),
        "pairs": [_pair(p) for p in comparison.pairs],
        "leaderboards": {str(m): [asdict(p) for p in places] for m, places in comparison.leaderboards.items()},
        "ranks": [asdict(r) | {"metric": str(r.metric)} for r in comparison.ranks],
        **compared_slices.document(comparison, _record),
        "findings": [msgspec.structs.asdict(f) for f in comparison.findings],
        "evaluation": document(comparison.evaluation),
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return _record(pair) | {
        "tests": [_test(t) for t in pair.tests],
        "interval": asdict(pair.interval) if pair.interval else None,
        "simultaneous": asdict(pair.simultaneous) if pair.simultaneous else None,
        "p_is_bound": pair.p_is_bound,
        "effect": asdict(pair.effect) if pair.effect else None,
        "test_cases": pair.test_cases,
        "equivalence": _test(pair.equivalence) if pair.equivalence else None,
        "non_inferiority": _test(pair.non_inferiority) if pair.non_inferiority else None,
        "posterior": asdict(pair.posterior) if pair.posterior else None,
        **_runs(pair),
    }


def _runs(pair: Pair) -> dict[str, Any]:
    runs = pair.runs
    if runs is None:
        return {}
    parts = {name: getattr(runs.gap, name) for name in ("of_runs", "of_units", "rest", "df")}
    return {"runs": {"a": runs.a, "b": runs.b, "share": runs.share, "needed": runs.needed} | parts}


def _test(test: Test) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and v != v else v for k, v in asdict(test).items()}


def tables(comparison: Comparison, digits: int = 4) -> Tables:
    boards = [leaderboard(_label(comparison, m), places, digits) for m, places in comparison.leaderboards.items()]
    return Tables(boards[0], boards[1:], list(_detail(comparison, digits)))


def grids(comparison: Comparison, digits: int = 4) -> Iterator[Grid]:
    """All tables of a report in order."""
    parts = tables(comparison, digits)
    yield from (parts.first, *parts.boards, *parts.detail)


def _detail(comparison: Comparison, digits: int) -> Iterator[Grid]:
    """Methods, pairs by metric, other tests, ranks over test cases."""
    yield from methods(comparison.evaluation, digits)
    for metric in comparison.leaderboards:
        label = _label(comparison, metric)
        yield _pairs(label, comparison.of(metric), comparison, digits)
        yield from _beside(label, comparison.of(metric))
    yield from compared_slices.grids(comparison, digits)
    for ranks in comparison.ranks:
        yield _ranks(ranks)


def _label(comparison: Comparison, metric: Metric) -> str:
    return comparison.of(metric)[0].label if comparison.pairs else str(metric)


def _pairs(label: str, pairs: list[Pair], comparison: Comparison, digits: int) -> Grid:
    head = ["pair", "difference", "p", f"p ({comparison.correction})", "verdict", "d_z", "win/tie/loss", "detectable"]
    extra = _extra_columns(pairs)
    rows = [
        [
            f"{p.a} − {p.b}", cell(p.difference, p.simultaneous, digits), p_text(p.p, bool(p.test and p.test.at_floor)),
            p_text(p.p_corrected, p.p_is_bound),
            p.verdict, _effect(p.effect.d_z if p.effect else None), _wins(p), _effect(p.mde), *(f(p) for _, f in extra),
        ]
        for p in pairs
    ]  # fmt: skip
    return Grid(f"Pairs: {label} ({_method(pairs, comparison)})", [*head, *(name for name, _ in extra)], rows)


def _extra_columns(pairs: list[Pair]) -> list[tuple[str, Callable[[Pair], str]]]:
    known: list[tuple[str, Callable[[Pair], str]]] = []
    if any(p.test_cases for p in pairs):
        known.append(("test cases", lambda p: "/".join(map(str, p.test_cases or ()))))
    if any(p.needed for p in pairs):
        known.append(("units needed", lambda p: f"{p.needed:,}" if p.needed else "–"))
    if any(p.runs for p in pairs):
        known.append(("variance due to runs", lambda p: f"{p.runs.share:.0%}" if p.runs else "–"))
        known.append(("runs needed", lambda p: f"{p.runs.needed:,}" if p.runs and p.runs.needed else "–"))
    if any(p.equivalence for p in pairs):
        known.append(("p (equivalence)", lambda p: p_text(p.equivalence.p if p.equivalence else None)))
    if any(p.non_inferiority for p in pairs):
        known.append(("p (non-inferiority)", lambda p: p_text(p.non_inferiority.p if p.non_inferiority else None)))
    if any(t.name.startswith("e-value") for p in pairs for t in p.tests[:1]):
        known.append(("e-value", lambda p: f"{p.tests[0].statistic:.3g}" if p.tests else "–"))
    if any(p.posterior for p in pairs):
        known.append(("P(worse/equal/better)", _posterior))
    return known


def _posterior(pair: Pair) -> str:
    posterior = pair.posterior
    return f"{posterior.worse:.3f}/{posterior.equal:.3f}/{posterior.better:.3f}" if posterior else ""


def _method(pairs: list[Pair], comparison: Comparison) -> str:
    """How p was found, and the family it is corrected over."""
    tests = sorted({_test_name(p.test) for p in pairs if p.test})
    return f"{', or '.join(tests) or 'no test'}; {_family(comparison)}"


def _family(comparison: Comparison) -> str:
    return f"{comparison.correction} over {comparison.family} test{'s' * (comparison.family != 1)}"


def _test_name(test: Test) -> str:
    how = "exact" if test.exact else f"{test.draws:,} draws" if test.draws else ""
    return test.name + (f", {how}" if how else "")


def _beside(label: str, pairs: list[Pair]) -> Iterator[Grid]:
    """Tests beside the deciding one."""
    rows = [
        [
            f"{p.a} − {p.b}",
            t.name,
            p_text(t.p, t.at_floor),
            "exact" if t.exact else f"{t.draws:,}" if t.draws else "",
            t.note,
        ]
        for p in pairs
        for t in p.tests[1:]
    ]
    if rows:
        yield Grid(f"Other tests: {label} (not corrected)", ["pair", "test", "p", "draws", "note"], rows)


def _ranks(ranks: Ranks) -> Grid:
    title = (
        f"Mean ranks: {ranks.label} over {ranks.test_cases} test cases (Friedman, Iman–Davenport F = {ranks.f:.3g}, "
        f"p {p_sign(ranks.p)}; critical difference {ranks.critical_difference:.3g} at {ranks.alpha:g})"
    )
    order = sorted(range(len(ranks.systems)), key=lambda i: ranks.mean_ranks[i])
    letters = {i: "".join(chr(97 + g) for g, group in enumerate(ranks.groups) if i in group) for i in order}
    rows = [[ranks.systems[i], f"{ranks.mean_ranks[i]:.3f}", letters[i] or "–"] for i in order]
    return Grid(title, ["system", "mean rank", "group"], rows)


def p_sign(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"= {p:.2g}"


def _effect(value: float | None) -> str:
    return "–" if value is None else number(value, 3)


def _wins(pair: Pair) -> str:
    effect = pair.effect
    return f"{effect.win}/{effect.tie}/{effect.loss}" if effect else "–"


def header(comparison: Comparison) -> str:
    """What was compared and how."""
    against = f"against {comparison.baseline}" if comparison.baseline else "all pairs"
    units = max((p.units for p in comparison.pairs), default=0)
    clusters = max((p.clusters or 0 for p in comparison.pairs), default=0)
    many = f"{units:,} units in {clusters:,} clusters" if clusters else f"{units:,} units"
    seed = comparison.evaluation.provenance["seed"]
    runs = len(comparison.evaluation.systems)
    what = f"methods ({runs} runs)" if comparison.methods else "systems"
    return (
        f"{len(comparison.systems)} {what}, {against}, on {many}; differences are first minus second, "
        f"intervals {_level(comparison)}; {_family(comparison)}; seed {seed}"
    )


def _level(comparison: Comparison) -> str:
    """For what the intervals of differences hold."""
    settings = comparison.plan.get("comparison", {})
    level = f"{1 - comparison.alpha * (2 if settings.get('one_sided') else 1):.0%}"
    level += " that hold at every look" if settings.get("sequential") else ""
    if comparison.correction in ("bh", "by"):
        return f"that miss in at most {comparison.alpha:.0%} of what is called different"
    return f"at {level}" if comparison.family < 2 or comparison.correction == "none" else f"simultaneous at {level}"


def notes(comparison: Comparison) -> list[str]:
    """What a reader of the verdicts must know."""
    return [f"{f.severity}: {f.message}" for f in comparison.own_findings]


def lines(comparison: Comparison, digits: int) -> list[str]:
    """What is said in words, ten sentences at most: leaders, verdicts, and what speaks against them."""
    doubts = notes(comparison)
    return [*board.lines(comparison, digits, len(doubts)), *doubts]


def render_text(
    comparison: Comparison, digits: int = 4, show: Sequence[str] = (), width: int = WIDTH
) -> str:  # fmt: skip
    """The leaderboard, what it means, and the detail that is not too long, as plain text of so many columns."""
    grouped = tables(comparison, digits)
    folded = [g for g in grouped.detail if len(g.rows) > FOLDED and "all" not in show]
    text = "\n".join(wrapped(s, width, "  ") for s in lines(comparison, digits))
    shown = [g for g in (*grouped.boards, *grouped.detail) if g not in folded]
    parts = [fitted(grouped.first, width), text, wrapped(header(comparison) + ".", width)]
    parts += [fitted(g, width) for g in shown]
    if folded:
        rows = sum(len(g.rows) for g in folded)
        note = f"Left out: {len(folded)} tables of {rows:,} rows ({folded[0].title.partition(' (')[0]}, …)"
        parts.append(wrapped(f"{note}; --show all prints them, --report html folds them, tsv lists them.", width))
    return "\n\n".join(parts) + "\n"


def render_markdown(comparison: Comparison, digits: int = 4) -> str:
    """The leaderboard, what it means, and the detail, long tables folded."""
    grouped = tables(comparison, digits)
    text = "\n".join(f"- {markdown.escape(s)}" for s in lines(comparison, digits))
    detail = [_folded(g) if len(g.rows) > FOLDED else markdown.table(g) for g in grouped.detail]
    boards = [markdown.table(g) for g in grouped.boards]
    seen = markdown.findings(comparison.evaluation.findings)
    ending = markdown.escape(header(comparison)) + "."
    return "\n\n".join([markdown.table(grouped.first), text, *boards, *detail, ending, *seen]) + "\n"


def _folded(grid: Grid) -> str:
    """A table that the reader of a Markdown page opens."""
    body = markdown.table(grid).partition("\n\n")[2]
    return f"<details><summary>{escape(grid.title)}</summary>\n\n{body}\n\n</details>"


def render_latex(comparison: Comparison, digits: int = 4) -> str:
    every = [latex.table(g) for g in grids(comparison, digits)]
    comments = [f"% {line}" for line in (header(comparison), *notes(comparison))]
    comments += latex.comments(comparison.evaluation.findings)
    return "\n".join(["% needs \\usepackage{booktabs}", *comments, *every]) + "\n"


def render_tsv(comparison: Comparison, escape_formulas: bool | None = None) -> str:
    return delimited(dicts(comparison), "\t", escape_formulas)


def render_csv(comparison: Comparison, escape_formulas: bool | None = None) -> str:
    return delimited(dicts(comparison), ",", escape_formulas)


def pandas(comparison: Comparison) -> Any:
    import pandas as pd

    return pd.DataFrame(dicts(comparison))


def polars(comparison: Comparison) -> Any:
    import polars as pl

    return pl.DataFrame(dicts(comparison), infer_schema_length=None)


def render_html(comparison: Comparison, digits: int = 4) -> str:
    """A page that needs nothing but itself: leaderboard, verdicts, and charts and tables folded."""
    from karat.report.comparison_page import page

    return page(comparison, header(comparison), lines(comparison, digits), tables(comparison, digits), digits)


def render_card(comparison: Comparison, digits: int = 4) -> str:
    """The leaderboard, its sentences and the findings, for a notebook."""
    from karat.report.comparison_page import card

    return card(comparison, header(comparison), lines(comparison, digits), tables(comparison, digits), digits)


def charts(comparison: Comparison) -> list[str]:
    """Every chart of the page as SVG."""
    from karat.report.comparison_page import charts as drawn

    return list(drawn(comparison))


REPORTS: dict[str, Callable[..., Any]] = {
    "charts": charts,
    "table": render_text, "json": render_json, "markdown": render_markdown, "latex": render_latex, "tsv": render_tsv,
    "csv": render_csv, "html": render_html, "notebook": render_card, "dicts": dicts, "pandas": pandas, "polars": polars,
}  # fmt: skip
TEXT = ("table", "json", "markdown", "latex", "tsv", "csv", "html")
"""Reports that are text, which the command line offers."""

__all__ = ["REPORTS", "TEXT", "dicts", "grids", "header", "p_text", "render"]

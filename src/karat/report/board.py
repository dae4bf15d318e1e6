# SPDX-License-Identifier: Apache-2.0
"""What a comparison begins with: the leaderboard, and the few sentences that say what it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.comparison import Comparison, Pair, Place
from karat.metric import Metric
from karat.report.rows import Grid, cell, number
from karat.report.text import joined


class Tables(NamedTuple):
    """The tables of a report: the first leaderboard, which leads it, those of the other metrics, and the detail."""

    first: Grid
    boards: list[Grid]
    detail: list[Grid]


SENTENCES = 10
"""Most sentences that a report says unasked."""


def leaderboard(label: str, places: Sequence[Place], digits: int) -> Grid:
    """Systems from best to worst, each with what the data leave open."""
    groups, best = any(p.groups for p in places), any(p.best is not None for p in places)
    head = ["rank", "system", "score", "range", *(["group"] if groups else []), *(["P(best)"] if best else [])]
    rows = [
        [
            str(p.rank), p.system, cell(p.value, p.interval, digits), _range(p), *([p.groups] if groups else []),
            *([number(p.best, 3)] if best else []),
        ]
        for p in places
    ]  # fmt: skip
    return Grid(f"Leaderboard: {label}", head, rows)


def _range(place: Place) -> str:
    return str(place.low) if place.low == place.high else f"{place.low}–{place.high}"


def letters_of(groups: str) -> list[str]:
    """The letters of a system one by one; past z they are numbers in brackets.

    >>> letters_of("bz(27)")
    ['b', 'z', '(27)']
    """
    return re.findall(r"[a-z]|\(\d+\)", groups)


def main_metric(comparison: Comparison) -> Metric:
    """The metric that was asked for first."""
    return comparison.metrics[0] if comparison.pairs else next(iter(comparison.leaderboards))


def summary(comparison: Comparison, digits: int = 4) -> list[str]:
    """A sentence for each metric: who leads, and who cannot be told from the leader."""
    return [_standing(comparison, metric, digits) for metric in comparison.metrics]


def _standing(comparison: Comparison, metric: Metric, digits: int) -> str:
    pairs = comparison.of(metric)
    places = [p for p in comparison.leaderboards[metric] if p.value is not None]
    if not places:
        return f"No system has a value on {pairs[0].label}."
    first = [p for p in places if p.rank == 1]
    leads, span = ("leads", first[0].interval) if len(first) == 1 else ("lead", None)  # each has an interval of its own
    lead = f"On {pairs[0].label} {joined([p.system for p in first])} {leads} with {cell(first[0].value, span, digits)}"
    if comparison.baseline:
        return f"{lead}; {_against(comparison.baseline, pairs)}."
    return f"{lead}; {_leader(places, pairs)}."


def _leader(places: Sequence[Place], pairs: Sequence[Pair]) -> str:
    """How those who lead stand against the others, who are worse if they are worse than each of them."""
    leaders, others = [p.system for p in places if p.rank == 1], [p.system for p in places if p.rank > 1]
    if not others:
        return "no score tells them apart"
    won = {(p.a, p.b) for p in pairs if p.verdict == "better"} | {(p.b, p.a) for p in pairs if p.verdict == "worse"}
    alike = [name for name in others if not all((leader, name) in won for leader in leaders)]
    it, they = ("it", "it is") if len(leaders) == 1 else ("them", "they are")
    if not alike:
        return f"{they} better than {others[0] if len(others) == 1 else f'all {len(others)} others'}"
    worse = len(others) - len(alike)
    rest = f", and {_count(worse, 'is', 'are')} worse" if worse else ""
    return f"the tests do not tell {it} from {joined(alike)}{rest}"


def _against(baseline: str, pairs: Sequence[Pair]) -> str:
    """How many are better or worse than the baseline."""
    gain = [p.verdict if p.b == baseline else {"better": "worse", "worse": "better"}.get(p.verdict, "") for p in pairs]
    better, worse = gain.count("better"), gain.count("worse")
    rest = len(pairs) - better - worse
    if len(pairs) == 1:
        other = next(name for name in (pairs[0].a, pairs[0].b) if name != baseline)
        return f"the tests do not tell {other} from {baseline}" if rest else f"{other} is {gain[0]} than {baseline}"
    counts = [f"{_count(better, 'is', 'are')} better than {baseline}", f"{worse} worse"]
    return ", ".join([*counts, *([f"{rest} not told apart"] if rest else [])])


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"


def lines(comparison: Comparison, digits: int = 4, beside: int = 0) -> list[str]:
    """Who leads on each metric, and the verdicts; of very many those of the leader, or of the baseline, on the first.

    ``beside`` is how many sentences are said by others.
    """
    leaders, every = summary(comparison, digits), list(comparison.sentences())
    room = SENTENCES - beside
    verdicts = every if len(leaders) + len(every) <= room else _leading(comparison)
    return [*leaders, *verdicts][: max(room, 1)]


def _leading(comparison: Comparison) -> Iterator[str]:
    metric = main_metric(comparison)
    place = {p.system: i for i, p in enumerate(comparison.leaderboards[metric])}
    against = comparison.baseline or comparison.leaderboards[metric][0].system
    pairs = [p for p in comparison.of(metric) if against in (p.a, p.b)]
    return (p.sentence for p in sorted(pairs, key=lambda p: place[p.b if p.a == against else p.a]))

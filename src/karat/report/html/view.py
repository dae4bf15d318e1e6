# SPDX-License-Identifier: Apache-2.0
"""What the page shows, worked out before the template sees it: numbers as text, charts as SVG."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from markupsafe import Markup

from karat.contexts import catalogue, context
from karat.evaluation import Detail, Evaluation, Interval, Part, Score, SystemResult
from karat.findings import Finding, folded
from karat.metric import Metric
from karat.provenance import signature
from karat.report import sliced
from karat.report.charts import svg
from karat.report.charts.bars import Bar, bars
from karat.report.charts.distribution import distribution
from karat.report.charts.forest import Estimate, forest
from karat.report.charts.heat import heat_map
from karat.report.charts.timeline import timeline
from karat.report.mistakes import (
    confusion_grid,
    disputed_table,
    disputed_units,
    main_metric,
    worst_table,
    worst_units,
)
from karat.report.pictures import fits, picture
from karat.report.rows import Grid, number
from karat.report.summary import summary
from karat.report.terminal import worded

FOLDED = 10
"""Longest table that is not folded away."""
LARGEST = 40
"""Most classes of a confusion matrix that is drawn."""
CLASSES = 1000
"""Most classes of a table, where the chart shows the worst."""
OPEN = 6
"""Most systems whose parts of the page are not folded away."""
TITLE = 50
"""Characters of the names of systems from which on the title counts them."""
LONG = 32
"""Characters of a cell from which on its column is given room, and its text lines."""


class Figure(NamedTuple):
    """A score as text, with its interval and the exact number."""

    text: str
    span: str
    exact: str
    best: bool = False


class Term(NamedTuple):
    """A line of the glossary."""

    name: str
    meaning: str
    scale: str
    reference: str


class Card(NamedTuple):
    """One metric of one system."""

    label: str
    meaning: str
    metric: str
    figure: Figure
    note: str
    meter: Markup


class Table(NamedTuple):
    """A table of text whose first column names the rows."""

    title: str
    head: list[str]
    rows: list[list[str]]
    more: int = 0
    """Rows that were left out."""
    css: str = ""
    notes: Sequence[str] = ()
    """Sentences that belong under it."""

    @property
    def folded(self) -> bool:
        return len(self.rows) > FOLDED

    @property
    def classes(self) -> str:
        """The table's own class, one for each column of words, which stand to the left, and one for each of long texts."""
        words = [f"w{i + 1}" for i in range(1, len(self.head)) if worded(self.rows, i)]
        long = [f"l{i + 1}" for i in range(len(self.head)) if any(len(row[i]) > LONG for row in self.rows)]
        return " ".join([*([self.css] if self.css else []), *words, *(long if any(words) or "l1" in long else [])])


class Chart(NamedTuple):
    """A chart, what it shows, and the table that says the same."""

    title: str
    image: Markup
    table: Table | None = None
    note: str = ""

    @property
    def wide(self) -> bool:
        """Is it too wide for one of three columns?"""
        width = re.search(r"--w:([0-9.]+)px", self.image)
        return width is not None and float(width[1]) > 460


class Section(NamedTuple):
    """A part of the page that another report adds: a lead, sentences, charts (title and SVG) and tables.

    A leaderboard leads it, where there is one; those of other metrics, charts and tables are then folded away.
    """

    title: str
    lead: str
    sentences: Sequence[str]
    drawn: Sequence[tuple[str, str]]
    grids: Sequence[Grid]
    board: Grid | None = None
    boards: Sequence[Grid] = ()
    summary: str = ""
    """One sentence for the top of the page."""
    strips: Sequence[Markup] = ()
    """For each row of the leaderboard, its score and interval on a line."""

    @property
    def charts(self) -> list[Chart]:
        return [drawn(title, image) for title, image in self.drawn]

    @property
    def tables(self) -> list[Table]:
        return [Table(g.title, g.head, g.rows, notes=g.notes) for g in self.grids]


def drawn(title: str, image: str, table: Table | None = None) -> Chart:
    return Chart(title, Markup(svg.bare(image)), table)


class Links(Protocol):
    """Where the marks of charts lead: to the units that each of them stands for."""

    def pair(self, system: str, gold: str, pred: str) -> str: ...
    def label(self, system: str, gold: str) -> str: ...
    def system(self, system: str) -> str: ...
    def scores(self, system: str, low: float, high: float) -> str: ...
    def unit(self, system: str, unit: str) -> str: ...
    def slice(self, system: str, column: str, name: str) -> str: ...


class View:
    """The parts of a page about one evaluation."""

    def __init__(
        self,
        evaluation: Evaluation,
        digits: int,
        rows: int,
        section: Section | None = None,
        links: Links | None = None,
    ) -> None:
        self.evaluation, self.digits, self.rows, self.section = evaluation, digits, rows, section
        self.links = links
        self.systems = sorted((SystemView(self, s) for s in evaluation.systems), key=self._standing)

    def _standing(self, system: SystemView) -> tuple[bool, float]:
        """Best first; systems without a score last."""
        score = system.result.scores[self.main]
        if score.value is None or score.better == "neither":
            return score.value is None, 0.0
        return False, score.value if score.better == "lower" else -score.value

    @property
    def title(self) -> str:
        names = [s.name for s in self.evaluation.systems]
        every = ", ".join(names)
        return every if len(names) == 1 or (len(names) <= 3 and len(every) <= TITLE) else f"{len(names)} systems"

    @property
    def context(self) -> str:
        return context(self.evaluation.context).title

    @property
    def created(self) -> str:
        """When it was evaluated, to the minute."""
        moment = str(self.evaluation.provenance.get("created", ""))
        return f"{moment[:10]} {moment[11:16]} UTC" if moment.endswith("+00:00") else moment

    @property
    def folded(self) -> bool:
        """Whether each system's part is opened by the reader."""
        return len(self.systems) > OPEN

    @cached_property
    def findings(self) -> list[tuple[Finding, str]]:
        """What was found, many of one kind in a file as one."""
        return folded(self.evaluation.findings)

    @property
    def warned(self) -> bool:
        return any(found.severity != "note" for found, _ in self.findings)

    @property
    def more_findings(self) -> str:
        """How many findings of which kind are left out."""
        rest = Counter(found.code for found, _ in self.findings[self.rows :])
        return ", ".join(f"{n:,} {code}" for code, n in rest.most_common())

    @property
    def gold(self) -> str:
        return str(next((i["path"] for i in self.inputs if i["role"] == "gold"), ""))

    @property
    def inputs(self) -> list[dict[str, Any]]:
        inputs: list[dict[str, Any]] = self.evaluation.provenance.get("inputs", [])
        return inputs

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Plan, versions and seed, one line each."""
        plan, provenance = self.evaluation.plan, self.evaluation.provenance
        options = ", ".join(f"{k} = {_spelt(v)}" for k, v in plan.get("options", {}).items())
        versions = ", ".join(f"{k} {v}" for k, v in provenance.get("versions", {}).items())
        facts = [
            ("Context", plan.get("context", "")),
            ("Options", options),
            ("Undefined scores", plan.get("undefined", "")),
        ]
        facts += [("Seed", plan.get("seed", 0)), ("Versions", versions), ("Created", provenance.get("created", ""))]
        return [(name, str(value)) for name, value in facts if str(value)]

    @property
    def metrics(self) -> list[tuple[str, str]]:
        """Each metric with its parameters, defaults written out."""
        metrics = self.evaluation.plan.get("metrics", {})
        return [(m, ", ".join(f"{k} = {_spelt(v)}" for k, v in settings.items())) for m, settings in metrics.items()]

    @property
    def glossary(self) -> list[Term]:
        """What each metric means, each once."""
        known = catalogue(self.evaluation.context)
        first: dict[str, str] = {}
        for head in self.heads:
            first.setdefault(head.metric.name, head.label)
        return [
            Term(label.split(" (")[0], meaning(d.doc), _scale(d.bounds, d.better), d.reference or "")
            for label, d in ((label, known[name]) for name, label in first.items() if name in known.definitions)
        ]

    def hint(self, metric: Metric) -> str:
        """What a reader sees on hovering over a metric's name."""
        known = catalogue(self.evaluation.context)
        return meaning(known[metric.name].doc) if metric.name in known.definitions else ""

    @property
    def summary(self) -> str:
        """The one sentence that a reader who reads no further takes along."""
        if self.section and self.section.summary:
            return self.section.summary
        return summary(self.evaluation, self.main, self.digits)

    @property
    def signatures(self) -> list[str]:
        return [signature(self.evaluation, score) for score in self.heads]

    def figure(self, score: Score | Part, best: bool = False) -> Figure:
        return Figure(number(score.value, self.digits), self.span(score.interval), exact(score.value), best)

    def span(self, interval: Interval | None) -> str:
        if interval is None:
            return ""
        return f"[{number(interval.low, self.digits)}, {number(interval.high, self.digits)}]"

    @cached_property
    def board(self) -> list[tuple[str, str, list[Figure]]]:
        """Systems down, metrics across, the best of each column marked."""
        scores = [list(s.result) for s in self.systems]
        best = [_best([row[j] for row in scores]) for j in range(len(scores[0]))]
        return [
            (s.result.name, s.anchor, [self.figure(x, x.value is not None and x.value == best[j]) for j, x in row])
            for s, row in ((view, list(enumerate(row))) for view, row in zip(self.systems, scores, strict=True))
        ]

    @property
    def heads(self) -> list[Score]:
        return list(self.evaluation.systems[0])

    @property
    def widest(self) -> int:
        """Letters of the longest name, up to a width that leaves room for the scores."""
        return min(max(len(s.name) for s in self.evaluation.systems), 26)

    @property
    def undefined(self) -> list[tuple[str, str]]:
        """Metrics that have no score for some system, and why."""
        every = (score for system in self.evaluation.systems for score in system if score.value is None)
        return list(dict.fromkeys((score.label, score.undefined or "") for score in every))

    @property
    def forest(self) -> Chart | None:
        """The main metric of all systems with their intervals."""
        if len(self.systems) < 2:
            return None
        scores = [(s.name, s.result.scores[self.main]) for s in self.systems]
        if all(s.interval is None for _, s in scores):
            return None
        rows = [_estimate(name, s, self.digits) for name, s in scores]
        label = scores[0][1].label
        links = self.links
        link = (lambda i: links.system(scores[i][0])) if links else None
        return drawn(f"{label} with intervals", forest(rows, title=label, reference=None, link=link))

    @cached_property
    def main(self) -> Any:
        return main_metric(self.evaluation)

    @property
    def distributions(self) -> Chart | None:
        """How the main metric spreads over test cases, a row per system."""
        scores = [(s.name, s.result.scores[self.main]) for s in self.systems]
        if len(scores[0][1].test_cases) < 2:
            return None
        label = scores[0][1].label
        rows = [(name, np.asarray(s.result.value, float)) for name, s in scores]
        link = self.links.scores if self.links else None
        chart = distribution(rows, title=f"{label}: scores of test cases, a histogram per system", link=link)
        return drawn(f"{label} by test case", chart, self._test_cases(scores))

    @property
    def disagreements(self) -> Table | None:
        """The units on which the two best systems differ most."""
        disputed = disputed_units(self.evaluation)
        return None if disputed is None else _units(disputed_table(disputed, self.digits))

    def _test_cases(self, scores: Sequence[tuple[str, Score]]) -> Table:
        names = scores[0][1].test_cases
        parts = [s.by_test_case for _, s in scores]
        order = sorted(names, key=lambda n: _worst_first(parts[0][n], scores[0][1]))
        rows = [[n or "(all)", *(_cell(self, p.get(n)) for p in parts)] for n in order[: self.rows]]
        return Table(
            "Scores by test case, worst first",
            ["test case", *(n for n, _ in scores)],
            rows,
            len(order) - len(rows),
            "numbers",
        )


def meaning(doc: str) -> str:
    """The first sentence of a metric's description, without the marks of code.

    >>> meaning("Share of the first ``k`` that are right. More of it.")
    'Share of the first k that are right.'
    """
    return re.split(r"(?<=[.:]) (?=[A-Z])|\n\n", " ".join(doc.split("\n\n")[0].split()))[0].replace("``", "")


def _scale(bounds: tuple[float, float], better: str) -> str:
    """From where to where it goes, and which end is good."""
    low, high = (f"{b:g}".replace("inf", "∞").replace("-", "−") for b in bounds)
    best = {"higher": "more is better", "lower": "less is better"}.get(better, "neither end is better")
    return f"from {low} to {high}, {best}"


def _worst_first(part: Part, score: Score) -> float:
    if part.value is None:
        return float("inf")
    return part.value if score.better != "lower" else -part.value


def _estimate(name: str, score: Score, digits: int) -> Estimate:
    low, high = (score.interval.low, score.interval.high) if score.interval else (np.nan, np.nan)
    note = number(score.value, digits)
    if score.interval:
        note += f" [{number(low, digits)}, {number(high, digits)}]"
    return Estimate(name, svg.or_nan(score.value), low, high, note, "accent")


def _best(scores: Sequence[Score]) -> float | None:
    known = [s.value for s in scores if s.value is not None]
    if len(known) < 2 or scores[0].better not in ("higher", "lower"):
        return None
    return min(known) if scores[0].better == "lower" else max(known)


def exact(value: float | None) -> str:
    return "" if value is None else repr(float(value))


def _spelt(value: Any) -> str:
    if isinstance(value, dict):
        return f"{len(value)} roots"
    return (
        str(value).lower()
        if value is None or isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _cell(view: View, part: Part | None) -> str:
    if part is None:
        return ""
    span = view.span(part.interval)
    return number(part.value, view.digits) + (f" {span}" if span else "")


class SystemView:
    """One system's part of the page."""

    def __init__(self, view: View, result: SystemResult) -> None:
        self.view, self.result = view, result

    @property
    def anchor(self) -> str:
        return f"system-{self.view.evaluation.systems.index(self.result) + 1}"

    @property
    def name(self) -> str:
        return self.result.name

    @property
    def coverage(self) -> list[tuple[str, str]]:
        names = {"gold": "in gold", "pred": "predicted", "aligned": "in both", "gold_only": "gold only", "pred_only": "predicted only"}  # fmt: skip
        return [(names.get(k, k.replace("_", " ")), f"{n:,}") for k, n in self.result.counts.items()]

    @property
    def covered(self) -> float | None:
        """Share of gold that was predicted."""
        gold = self.result.counts.get("gold")
        return self.result.counts.get("aligned", 0) / gold if gold else None

    @property
    def cards(self) -> list[Card]:
        return [self._card(s) for s in self.result]

    def _card(self, score: Score) -> Card:
        note = score.undefined or ""
        if not note and score.n_undefined:
            note = f"undefined in {score.n_undefined} of {len(score.test_cases)} test cases"
        if not note and score.better == "lower":
            note = "lower is better"
        bounds = catalogue(self.view.evaluation.context)[score.metric.name].bounds
        hint = self.view.hint(score.metric)
        return Card(score.label, hint, str(score.metric), self.view.figure(score), note, _meter(score, bounds))

    @property
    def by_class(self) -> Chart | None:
        """The main metric by class as bars, and every metric by class as a table."""
        scores = _with_classes(self.result)
        if not scores or not scores[0].by_class:
            return None
        main = self.result.scores.get(self.view.main, scores[0])
        main = main if main.by_class else scores[0]
        parts = [s.by_class for s in scores]
        labels = self._classes(main)
        listed = labels if len(labels) == len(main.by_class) else list(main.by_class)[:CLASSES]
        rows = [[label, *(_cell(self.view, p.get(label)) for p in parts)] for label in listed]
        heads = ["class", *_class_heads(scores)]
        table = Table("All metrics by class", heads, rows, len(main.by_class) - len(listed), "numbers")
        shown = [_bar(label, main.by_class[label], self.view) for label in labels]
        title = f"{_class_heads([main])[0]} by class"
        title += f" (the {len(labels)} worst of {len(main.by_class):,})" if len(labels) < len(main.by_class) else ""
        links = self.view.links
        link = partial(links.label, self.name) if links else None
        return drawn(title, bars(shown, title=f"{title}: {self.name}", link=link), table)

    def _classes(self, main: Score) -> list[str]:
        """All classes, or the worst if there are too many."""
        labels = list(main.by_class)
        if len(labels) <= self.view.rows:
            return labels
        return sorted(labels, key=lambda label: _worst_first(main.by_class[label], main))[: self.view.rows]

    @property
    def slices(self) -> Iterator[Chart]:
        """The main metric by the values of each column that was asked for, and every metric as a table."""
        score = self.result.scores[self.view.main]
        for column in score.slices:
            link = partial(self.view.links.slice, self.name, column) if self.view.links else None
            title, image = sliced.chart(self.result, score.metric, column, self.view.digits, link)
            grid = sliced.grid(self.result, column, self.view.digits)
            table = Table(f"All metrics by {column}", grid.head, grid.rows, css="numbers")
            gap = sliced.gap_text(score, score.slices[column], self.view.digits)
            yield drawn(title, image, table)._replace(note=gap)

    @property
    def worst(self) -> Table | None:
        """The units with the worst scores, where units were kept."""
        worst = worst_units(self.view.evaluation, self.result)
        return None if worst is None else _units(worst_table(self.name, worst, self.view.digits))

    @property
    def details(self) -> Iterator[Chart | Table]:
        """Curves of scores, confusion matrices and timelines drawn, other details as tables."""
        if self.view.evaluation.context == "probabilities" and not self.view.folded:
            yield from _curves(self.view.evaluation, self.result)
        for detail in self.result.details:
            if detail.kind == "matrix" and len(detail.rows) <= LARGEST:
                yield _matrix(detail, self.name, self.view.links)
            elif detail.kind == "timeline":
                link = partial(self.view.links.unit, self.name) if self.view.links else None
                yield drawn(detail.title, timeline(detail, link), _plain(detail, self.view))
            else:
                yield _plain(detail, self.view)
            if detail.kind == "matrix" and not self.view.folded:  # of many systems the matrix says it
                grid = confusion_grid("Most confused", detail)
                if grid.rows:
                    yield Table(grid.title, grid.head, grid.rows)


def _curves(evaluation: Evaluation, result: SystemResult) -> Iterator[Chart]:
    """ROC, precision and recall, and calibration where scores are probabilities."""
    alone = replace(evaluation, systems=[result])
    names = {"roc": "ROC curve", "pr": "Precision and recall", "calibration": "Calibration"}
    for name in (name for name in names if fits(alone, name)):
        yield drawn(names[name], picture(alone, name).svg)


def _with_classes(result: SystemResult) -> list[Score]:
    """Scores by class; those that differ in their average alone are the same by class."""
    by_metric: dict[Any, Score] = {}
    for score in result:
        key = score.metric.name, *(p for p in score.metric.params if p[0] != "average")
        if score.result.by_class is not None:
            by_metric.setdefault(key, score)
    return list(by_metric.values())


def _class_heads(scores: Sequence[Score]) -> list[str]:
    """Titles without the average, unless two would be alike."""
    short = [s.label.split(" (")[0] for s in scores]
    return [a if short.count(a) == 1 else s.label for a, s in zip(short, scores, strict=True)]


def _bar(label: str, part: Part, view: View) -> Bar:
    interval = part.interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Bar(label, part.value, low, high, _cell(view, part))


def _meter(score: Score, bounds: tuple[float, float]) -> Markup:
    """A thin line from the worst to the best possible score with value and interval on it."""
    if score.value is None or not np.isfinite(bounds).all():
        return Markup("")
    return strip(score.value, score.interval, bounds)


def strip(value: float | None, interval: Interval | None, bounds: tuple[float, float]) -> Markup:
    """A score and its interval on a line between two ends."""
    scale = svg.Scale(*bounds, 0, 100)
    parts = [svg.rect(0, 3, 100, 2, css="plain", opacity=0.3)]
    if interval:
        low, high = scale(interval.low), scale(interval.high)
        parts.append(svg.rect(low, 1, max(high - low, 1), 6, opacity=0.35))
    if value is not None:
        parts.append(svg.rect(min(max(scale(value) - 0.4, 0), 99.2), 0, 0.8, 8))
    head = '<svg class="karat-chart meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
    return Markup(f"{head}{''.join(parts)}</svg>")


def _matrix(detail: Detail, system: str, links: Links | None = None) -> Chart:
    counts = np.array([row[1:] for row in detail.rows], np.int64).reshape(len(detail.rows), -1)
    names = [str(row[0]) for row in detail.rows]
    link = partial(links.pair, system) if links else None
    image = heat_map(names, detail.columns[1:], counts, title=f"{detail.title}: {system}", link=link)
    title = detail.title.partition(" (gold down")[0]  # the chart says which way is which
    table = Table(title, detail.columns, [[str(v) for v in row] for row in detail.rows])
    return drawn(title, image, table)


def _plain(detail: Detail, view: View) -> Table:
    rows = [[_value(v, view.digits) for v in row] for row in detail.rows[: view.rows]]
    kept = [i for i in range(len(detail.columns)) if not rows or any(row[i] for row in rows)]
    head, body = [detail.columns[i] for i in kept], [[row[i] for i in kept] for row in rows]
    return Table(detail.title, head, body, len(detail.rows) - len(rows))


def _value(value: Any, digits: int) -> str:
    if isinstance(value, float):
        return number(value, digits)
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _units(grid: Grid) -> Table:
    return Table(grid.title, grid.head, grid.rows, css="texts")

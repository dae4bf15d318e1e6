# SPDX-License-Identifier: Apache-2.0
"""Pictures of an evaluation, each by its name: `e.plot("roc")`."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from karat.contexts import catalogue
from karat.contexts.curve import Curve, Steps, first_best, steps
from karat.contexts.probabilities.calibration import ece
from karat.contexts.probabilities.cells import ProbabilityCells
from karat.contexts.probabilities.tables import judged, reliability
from karat.contexts.probabilities.thresholds import f1_at, precision_at, recall_at
from karat.evaluation import Evaluation, Score, SystemResult
from karat.metric import MetricError
from karat.report.charts import svg
from karat.report.charts.groups import groups
from karat.report.charts.heat import heat_map
from karat.report.charts.lines import Axes, Line, lines

MOST_ROWS = 40
"""Classes that are drawn; of more, those with the most gold items."""
CUTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
"""Cut-offs of rankings that are drawn."""


class Picture:
    """A drawn chart: notebooks show it, `save` writes it as SVG or PNG."""

    def __init__(self, name: str, image: str) -> None:
        self.name, self.svg = name, image

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<karat picture {self.name!r}: .save('{self.name}.svg')>"

    def save(self, path: str | Path) -> Path:
        """Write the picture; the ending of the name says as what: .svg, .png or .html."""
        path = Path(path)
        kind = path.suffix.lower()
        if kind in (".svg", ".html"):
            path.write_text(self.svg, encoding="utf-8")
        elif kind == ".png":
            path.write_bytes(as_png(self.svg))
        else:
            raise MetricError(f"{path.name}: a picture is saved as .svg, .png or .html")
        return path


def as_png(image: str) -> bytes:
    """The picture as pixels, in its light colours, by whichever library for it is installed."""
    plain = svg.flattened(image)
    for module, draw in PAINTERS.items():
        try:
            painter = import_module(module)
        except (ImportError, OSError):  # a library of Python without the one in C that it stands on
            continue
        return bytes(draw(painter, plain))
    raise MetricError("PNG needs a library that draws SVG: pip install 'karat[png]', or save the picture as .svg")


PAINTERS: dict[str, Callable[[Any, str], Any]] = {
    "resvg_py": lambda painter, image: painter.svg_to_bytes(svg_string=image, zoom=2, background="#ffffff"),
    "cairosvg": lambda painter, image: painter.svg2png(bytestring=image.encode(), scale=2, background_color="#ffffff"),
}
"""Libraries that draw SVG, and how each is called; the extra `png` is the first, which stands on no other."""


def picture(evaluation: Evaluation, name: str = "", **options: Any) -> Picture:
    """The picture called ``name``; without a name, the first that fits."""
    known = [key for key, make in PICTURES.items() if fits(evaluation, key)]
    chosen = name or next(iter(known), "")
    if chosen not in PICTURES:
        near = difflib.get_close_matches(chosen, PICTURES, 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise MetricError(f"unknown picture {name!r}; this evaluation has {', '.join(known) or 'none'}{hint}")
    if chosen not in known:
        raise MetricError(
            f"{chosen!r} is no picture of context {evaluation.context}; it has {', '.join(known) or 'none'}"
        )
    return Picture(chosen, PICTURES[chosen](evaluation, **options))


def fits(evaluation: Evaluation, name: str) -> bool:
    """Has this evaluation what the picture shows?"""
    if name in ("roc", "pr", "thresholds"):
        return evaluation.context == "probabilities"
    if name == "calibration":
        return evaluation.context == "probabilities" and any(map(_calibrated, evaluation.systems))
    if name == "confusion":
        return any(detail.kind == "matrix" for system in evaluation.systems for detail in system.details)
    if name == "cutoff":
        return evaluation.context == "ranking"
    by_class = [score for score in evaluation.systems[0] if score.result.by_class is not None]
    return bool(by_class) and (name != "balance" or hasattr(evaluation.systems[0].cells, "gold_of"))


def _calibrated(system: SystemResult) -> bool:
    return any(detail.name == "calibration" for detail in system.details)


def _scored(evaluation: Evaluation) -> list[tuple[str, ProbabilityCells]]:
    return [(s.name, s.cells) for s in evaluation.systems if isinstance(s.cells, ProbabilityCells)]


def _curves(evaluation: Evaluation, label: str | None) -> list[tuple[str, Curve, Steps]]:
    """The curve of each system for the positive class (or the one that is named); of one system, that of every class."""
    out, every = [], _scored(evaluation)
    for name, cells in every:
        wanted = cells.positive if cells.binary else None
        if label is not None:
            if label not in cells.classes:
                raise MetricError(f"there is no class {label!r}; there are {', '.join(cells.classes[:10])}")
            wanted = cells.classes.index(label)
        if wanted is not None:
            chosen = [(name, cells.curves[wanted])]
        elif len(every) == 1:
            chosen = list(zip(cells.classes, cells.curves, strict=True))[:12]
        else:
            chosen = [(name, cells.pooled_curve)]
        out += [(title, curve, steps(cells.all_items(), curve)) for title, curve in chosen]
    return [(title, curve, points) for title, curve, points in out if points.positives[0, 0] and points.negatives[0, 0]]


def _of_whom(evaluation: Evaluation, label: str | None) -> str:
    cells = _scored(evaluation)[0][1]
    if label is not None or (cells.binary and cells.positive is not None):
        return f" of {label if label is not None else cells.classes[cells.positive or 0]}"
    return "" if len(evaluation.systems) == 1 else ", all classes pooled"


def roc(evaluation: Evaluation, *, label: str | None = None) -> str:
    """True over false positive rate, the area beside each name."""
    curves = []
    for name, _, at in _curves(evaluation, label):
        x, y = np.append(0.0, at.fp[0] / at.negatives[0]), np.append(0.0, at.tp[0] / at.positives[0])
        area = float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
        curves.append(Line(name, x, y, f"AUC {area:.3f}"))
    axes = Axes("false positive rate", "true positive rate")
    return lines(curves, axes, title="ROC curve" + _of_whom(evaluation, label), diagonal=True)


def pr(evaluation: Evaluation, *, label: str | None = None) -> str:
    """Precision over recall, average precision beside each name; the dashes are the share of positives."""
    curves, share = [], None
    for name, _, at in _curves(evaluation, label):
        precision, recall = precision_at(at)[0], recall_at(at)[0]
        gain = np.diff(np.append(0.0, recall))
        first = precision[:1]
        curves.append(
            Line(name, np.append(0.0, recall), np.concatenate([first, precision]), f"AP {float(gain @ precision):.3f}")
        )
        share = float(at.positives[0, 0] / (at.positives[0, 0] + at.negatives[0, 0])) if share is None else share
    axes = Axes("recall", "precision")
    return lines(curves, axes, title="Precision and recall" + _of_whom(evaluation, label), level=share)


def calibration(evaluation: Evaluation, *, bins: int = 10) -> str:
    """Share that came true over mean probability, by bins; the larger a dot, the more items are in its bin."""
    curves, what = [], ""
    for system in filter(_calibrated, evaluation.systems):
        cells = system.cells
        assert isinstance(cells, ProbabilityCells)
        rows, what = reliability(cells, bins), judged(cells)
        size = np.array([row[1] for row in rows], float)
        sure, true = (np.array([row[i] for row in rows], float) for i in (2, 3))
        error = float(
            ece.function(cells.all_items(), cells, bins=bins).value[0]
        )  # items without a prediction have no bin
        curves.append(Line(system.name, sure, true, f"ECE {error:.3f}", dots=True, sizes=(size / size.sum()).tolist()))
    axes = Axes(f"mean {what}", "share that came true")
    note = f"{bins} bins of equal width; on the dashes, they come true"
    return lines(curves, axes, title="Calibration", diagonal=True, note=note)


def thresholds(evaluation: Evaluation, *, label: str | None = None, system: str | None = None) -> str:
    """Precision, recall and F1 of one system over the threshold."""
    names = [s.name for s in evaluation.systems]
    if system is not None and system not in names:
        raise MetricError(f"there is no system {system!r}; there are {', '.join(names)}")
    chosen = evaluation.systems[names.index(system) if system is not None else 0]
    cells = chosen.cells
    assert isinstance(cells, ProbabilityCells)
    index = cells.classes.index(label) if label in cells.classes else cells.positive
    index = int(np.argmax((cells.pooled() @ cells.gold_of)[0])) if index is None else index
    curve = cells.curves[index]
    at = steps(cells.all_items(), curve)
    kinds = (("precision", precision_at(at)[0]), ("recall", recall_at(at)[0]), ("F1", f1_at(at)[0]))
    curves = [
        Line(
            name,
            curve.value,
            y,
            f"best {y.max():.3f} at {curve.value[int(first_best(y))]:.3g}" if name == "F1" else "",
        )
        for name, y in kinds
    ]
    axes = Axes(f"threshold of {cells.classes[index]}", "score", None if cells.trusted else (0.0, 1.0))
    note = "the best threshold is tuned on these data: expect less on others"
    return lines(curves, axes, title=f"Thresholds: {chosen.name}", note=note)


def _rows(score: Score, evaluation: Evaluation) -> list[str]:
    labels = list(score.by_class)
    cells: Any = evaluation.systems[0].cells
    if len(labels) <= MOST_ROWS or not hasattr(cells, "gold_of"):
        return labels[:MOST_ROWS]
    support = dict(zip(cells.classes, (cells.pooled() @ cells.gold_of)[0].tolist(), strict=True))
    return sorted(labels, key=lambda label: -support.get(label, 0))[:MOST_ROWS]


def by_class(evaluation: Evaluation, *, metric: str | None = None) -> str:
    """The score of each class, systems side by side."""
    has = [score for score in evaluation.systems[0] if score.result.by_class is not None]
    chosen = evaluation.systems[0][metric] if metric else next((s for s in has if s.metric.name == "f1"), has[0])
    if chosen.result.by_class is None:
        raise MetricError(f"{chosen.label} has no scores by class")
    labels = _rows(chosen, evaluation)
    series = {
        system.name: [_value_of(system[chosen.metric], label) for label in labels] for system in evaluation.systems
    }
    return groups(labels, series, title=f"{chosen.label.split(' (')[0]} by class")


def _value_of(score: Score, label: str) -> float | None:
    part = score.by_class.get(label)
    return None if part is None else part.value


def balance(evaluation: Evaluation) -> str:
    """How often each class is gold, and how often each system predicts it."""
    first: Any = evaluation.systems[0].cells
    gold = dict(zip(first.classes, (first.pooled() @ first.gold_of)[0].tolist(), strict=True))
    labels = sorted(gold, key=lambda label: -gold[label])[:MOST_ROWS]
    series: dict[str, Sequence[float | None]] = {"gold": [gold[label] for label in labels]}
    for system in evaluation.systems:
        cells: Any = system.cells
        count = dict(zip(cells.classes, (cells.pooled() @ cells.pred_of)[0].tolist(), strict=True))
        series[system.name] = [count.get(label, 0.0) for label in labels]
    return groups(labels, series, title="Class balance: how many items have each class", whole=False)


def confusion(evaluation: Evaluation, *, system: str | None = None) -> str:
    """The confusion matrix of a system, coloured by the share of each row."""
    names = [s.name for s in evaluation.systems]
    chosen = evaluation.systems[names.index(system) if system in names else 0]
    detail = next(d for d in chosen.details if d.kind == "matrix")
    counts = np.array([row[1:] for row in detail.rows], np.int64).reshape(len(detail.rows), -1)
    return heat_map([str(row[0]) for row in detail.rows], detail.columns[1:], counts, title=f"Confusion: {chosen.name}")


def cutoff(evaluation: Evaluation, *, metric: str = "ndcg", upto: int = 100) -> str:
    """A metric over the number of documents that are looked at."""
    known, curves = catalogue(evaluation.context), []
    ks = [k for k in CUTS if k <= upto] or [1]
    wanted = [known.resolve(f"{metric}@{k}") for k in ks]
    for system in evaluation.systems:
        W = system.cells.by_test_case()
        values = [np.nanmean(known[m.name].compute(W, system.cells, m).value) for m in wanted]
        curves.append(Line(system.name, np.array(ks, float), np.array(values, float), dots=True))
    title = f"{known[wanted[0].name].title} over cut-off"
    return lines(curves, Axes("documents looked at", f"{metric}@k", None), title=title)


PICTURES: dict[str, Callable[..., str]] = {
    "roc": roc,
    "pr": pr,
    "calibration": calibration,
    "thresholds": thresholds,
    "confusion": confusion,
    "classes": by_class,
    "balance": balance,
    "cutoff": cutoff,
}
"""Pictures by name, in the order in which they are looked for."""

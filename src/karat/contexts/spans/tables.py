# SPDX-License-Identifier: Apache-2.0
"""Tables beside the scores: SemEval counts, classification report, errors, confusion, nested names, poems, intents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.cells import Sparse
from karat.contexts.lazy_table import LISTED, SCORES, LaterDetail
from karat.contexts.multilabel.cells import MultiLabelCells
from karat.contexts.spans.cells import SpansCells
from karat.contexts.spans.data import SpanData, quote
from karat.contexts.spans.errors import KINDS, confusion
from karat.contexts.spans.excerpt_tables import excerpt_tables
from karat.contexts.spans.semeval import OUTCOMES, READINGS, precision_recall_f1
from karat.contexts.spans.span import Ints, counts
from karat.evaluation import Detail


def tables(cells: SpansCells) -> list[Detail]:
    """All tables that the data can fill."""
    makers: list[Callable[[SpansCells], Detail | None]] = [
        semeval, semeval_by_label, report, error_counts, confusion_matrix, error_list, entities, intents, queries,
    ]  # fmt: skip
    return [detail for detail in (make(cells) for make in makers) if detail is not None] + excerpt_tables(cells)


def _scores(counted: Ints, reading: str) -> list[float]:
    return [float(x) for x in precision_recall_f1(counted, half=reading in ("partial", "type"))]


def semeval(cells: SpansCells) -> Detail:
    """The four readings, all labels together."""

    def rows() -> list[list[Any]]:
        whole = cells.data.semeval.sum(1)
        return [[r, *c.tolist(), *_scores(c, r)] for r, c in zip(READINGS, whole, strict=True)]

    return LaterDetail("semeval", "MUC / SemEval-2013 readings", ["reading", *OUTCOMES, *SCORES], rows)


def semeval_by_label(cells: SpansCells) -> Detail:
    """The four readings of each label; aligned spans count under their gold label."""

    def rows() -> list[list[Any]]:
        by_label = cells.data.semeval
        return [
            [label, reading, *by_label[i, k].tolist(), *_scores(by_label[i, k], reading)]
            for k, label in enumerate(cells.data.labels)
            for i, reading in enumerate(READINGS)
        ]

    head = ["label", "reading", *OUTCOMES, *SCORES]
    return LaterDetail("semeval-labels", "MUC / SemEval-2013 readings by label", head, rows)


def report(cells: SpansCells) -> Detail:
    """Precision, recall, F1 and support by label under the match policy, with the three averages."""
    title = f"Classification report ({cells.data.matching.policy})"
    return LaterDetail("report", title, ["label", *SCORES, "support"], lambda: _report(cells))


def _report(cells: SpansCells) -> list[list[Any]]:
    """0 where nothing can be divided, as classification reports print it."""
    W = cells.pooled()
    hit, gold, pred = ((W @ x)[0] for x in (cells.hit_of, cells.gold_of, cells.pred_of))
    p, r = _divided(hit, pred), _divided(hit, gold)
    scores = np.stack([p, r, _divided(2 * p * r, p + r)])
    total = _divided(hit.sum(), pred.sum()), _divided(hit.sum(), gold.sum())
    micro: list[Any] = [*total, _divided(2 * total[0] * total[1], total[0] + total[1])]
    rows = [[label, *scores[:, i].tolist(), int(gold[i])] for i, label in enumerate(cells.classes)]
    averages: dict[str, list[Any]] = {
        "micro avg": micro,
        "macro avg": _mean(scores, None),
        "weighted avg": _mean(scores, gold),
    }
    return rows + [[name, *map(float, values), int(gold.sum())] for name, values in averages.items()]


def _divided(above: Any, below: Any) -> NDArray[np.float64]:
    above, below = np.asarray(above, float), np.asarray(below, float)
    return np.divide(above, below, out=np.zeros_like(below), where=below > 0)


def _mean(scores: NDArray[np.float64], weight: NDArray[np.float64] | None) -> list[float]:
    if not scores.shape[1] or (weight is not None and not weight.sum()):
        return [0.0, 0.0, 0.0]
    return [float(x) for x in np.average(scores, axis=1, weights=weight)]


def error_counts(cells: SpansCells) -> Detail:
    """How many spans have which error."""
    return LaterDetail("errors", "Errors, each counted once", ["kind", "spans"], lambda: _error_counts(cells))


def _error_counts(cells: SpansCells) -> list[list[Any]]:
    errors, (cut, joined) = cells.data.errors, cells.data.cut_and_joined
    number = counts(
        np.concatenate((errors.gold, errors.pred[errors.pred == len(KINDS) - 1])).astype(np.int64), len(KINDS)
    )
    rows: list[list[Any]] = [[kind, int(n)] for kind, n in zip(KINDS, number, strict=True)]
    return [
        *rows,
        ["gold spans in fragments", int(cut.sum())],
        ["predictions over several gold spans", int(joined.sum())],
    ]


def confusion_matrix(cells: SpansCells) -> Detail | None:
    """Labels of aligned spans, with a column for the missed and a row for the spurious."""
    data = cells.data
    if len(data.labels) > 200:
        return None

    def rows() -> list[list[Any]]:
        matrix = confusion(data.gold, data.pred, data.aligned, len(data.labels)).tolist()
        return [[name, *row] for name, row in zip([*data.labels, "(spurious)"], matrix, strict=True)]

    title = "Labels of aligned spans (gold down, predicted across)"
    return LaterDetail("confusion", title, ["gold", *data.labels, "(missed)"], rows, "matrix")


def error_list(cells: SpansCells) -> Detail:
    """The first errors in document order: what gold has, what was predicted, and the text."""
    head = ["document", "kind", "gold", "start", "end", "predicted", "start", "end", "text"]
    rows = lambda: [row for _, row in sorted(_errors(cells.data), key=lambda pair: pair[0])][:LISTED]
    return LaterDetail("error-list", f"Errors by document (first {LISTED:,})", head, rows)


def _errors(data: SpanData) -> Iterator[tuple[tuple[int, int], list[Any]]]:
    errors = data.errors
    for row in _first(data.gold.unit, errors.gold > 0):
        partner = int(errors.gold_partner[row])
        yield _place(data, row, -1), _line(data, KINDS[errors.gold[row]], row, partner)
    for row in _first(data.pred.unit, errors.pred == len(KINDS) - 1):
        yield _place(data, -1, row), _line(data, KINDS[-1], -1, row)


def _first(unit: Ints, wrong: NDArray[np.bool_]) -> list[int]:
    rows = np.flatnonzero(wrong)
    return rows[np.argsort(unit[rows], kind="stable")][:LISTED].tolist()


def _place(data: SpanData, gold: int, pred: int) -> tuple[int, int]:
    side, row = (data.gold, gold) if gold >= 0 else (data.pred, pred)
    return int(side.unit[row]), int(side.start[row])


def _line(data: SpanData, kind: str, gold: int, pred: int) -> list[Any]:
    unit, start = _place(data, gold, pred)
    text = None if data.texts is None else data.texts[unit]
    side, row = (data.gold, gold) if gold >= 0 else (data.pred, pred)
    words = (quote(text, start, int(side.end[row])) or "")[:80] or None
    return [data.ids[unit], kind, *_span(data, data.gold, gold), *_span(data, data.pred, pred), words]


def _span(data: SpanData, side: Any, row: int) -> list[Any]:
    return [data.labels[side.label[row]], int(side.start[row]), int(side.end[row])] if row >= 0 else [None, None, None]


def entities(cells: SpansCells) -> Detail | None:
    """Text and type credits by full name, and by level, of nested entities."""
    data = cells.data
    if data.gold_parent is None and data.pred_parent is None:
        return None
    head = ["name", "gold", "predicted", "text", "type", *SCORES, "text f1", "type f1"]
    return LaterDetail("entities", "Entities by full name and level", head, lambda: _entities(data))


def _entities(data: SpanData) -> list[list[Any]]:
    text, type_ = data.credits()
    size, depth = len(data.labels), [tree.depth for tree in data.trees]
    by_name = [
        counts(c, size)
        for c in (data.gold.label, data.pred.label, data.gold.label[text.gold], data.gold.label[type_.gold])
    ]
    levels = int(max((d.max(initial=0) for d in depth), default=0)) + 1
    by_level = [counts(c, levels) for c in (depth[0], depth[1], depth[0][text.gold], depth[0][type_.gold])]
    rows = [_entity_row(label, *(c[i] for c in by_name)) for i, label in enumerate(data.labels)]
    return rows + [_entity_row(f"level {i + 1}", *(c[i] for c in by_level)) for i in range(levels)]


def _entity_row(name: str, gold: Any, pred: Any, text: Any, type_: Any) -> list[Any]:
    scores = [(text + type_, 2 * pred), (text + type_, 2 * gold), (text + type_, gold + pred)]
    scores += [(2 * text, gold + pred), (2 * type_, gold + pred)]
    values = [float(above / below) if below else None for above, below in scores]
    return [name, int(gold), int(pred), int(text), int(type_), *values]


def intents(cells: SpansCells) -> Detail | None:
    """Classes of the documents, scored as the multi-label context scores them."""
    classes = intent_cells(cells)
    if classes is None:
        return None
    W = classes.pooled()
    hit, gold, pred = ((W @ x)[0] for x in (classes.hit_of, classes.gold_of, classes.pred_of))
    rows = [_class_row(name, hit[i], gold[i], pred[i]) for i, name in enumerate(classes.classes)]
    rows.append(_class_row("all (micro)", hit.sum(), gold.sum(), pred.sum()))
    return Detail("intents", "Classes of the documents", ["class", "gold", "predicted", "hits", *SCORES], rows)


def _class_row(name: str, hit: Any, gold: Any, pred: Any) -> list[Any]:
    values = [
        float(above / below) if below else None for above, below in ((hit, pred), (hit, gold), (2 * hit, gold + pred))
    ]
    return [name, int(gold), int(pred), int(hit), *values]


def intent_cells(cells: SpansCells) -> MultiLabelCells | None:
    """The documents' classes as cells of the multi-label context, for its metrics."""
    data = cells.data
    if data.gold_classes is None or data.pred_classes is None:
        return None
    names = sorted({c for side in (data.gold_classes, data.pred_classes) for row in side for c in row})
    gold, pred = (_one_hot(side, names) for side in (data.gold_classes, data.pred_classes))
    ones = np.ones(data.units)
    whole = MultiLabelCells(gold, pred, ones, ones, ones.astype(np.int64), np.zeros(data.units, np.int64), [""], names)
    return whole.take(cells.document, cells.n)


def _one_hot(side: Any, names: list[str]) -> Sparse:
    place = {name: i for i, name in enumerate(names)}
    pairs = [(row, place[name]) for row, classes in enumerate(side) for name in sorted(set(classes))]
    at = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Sparse.of(at[:, 0], at[:, 1], 1.0, (len(side), len(names)))


def queries(cells: SpansCells) -> Detail | None:
    """Each document with its classes and the entities that are wrong: only where there are classes or nesting."""
    data = cells.data
    if data.gold_classes is None and data.gold_parent is None:
        return None
    head = ["document", "gold classes", "predicted classes", "spurious entities", "missed entities"]
    return LaterDetail("queries", f"Documents (first {LISTED:,})", head, lambda: _queries(data))


def _queries(data: SpanData) -> list[list[Any]]:
    free = [
        np.setdiff1d(np.arange(len(s)), p) for s, p in ((data.pred, data.nested.pred), (data.gold, data.nested.gold))
    ]
    wrong, missed = (_named(data, side, rows) for side, rows in zip((data.pred, data.gold), free, strict=True))
    return [
        [data.ids[u], _joined(data.gold_classes, u), _joined(data.pred_classes, u), wrong.get(u, ""), missed.get(u, "")]
        for u in range(min(data.units, LISTED))
    ]


def _named(data: SpanData, side: Any, rows: Ints) -> dict[int, str]:
    out: dict[int, str] = {}
    for row in rows.tolist():
        unit, text = int(side.unit[row]), f"{data.labels[side.label[row]]}[{side.start[row]},{side.end[row]})"
        out[unit] = f"{out[unit]}, {text}" if unit in out else text
    return out


def _joined(classes: Any, unit: int) -> str:
    return "" if classes is None else ", ".join(classes[unit])

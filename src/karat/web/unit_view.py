# SPDX-License-Identifier: Apache-2.0
"""One unit as a page shows it: marked texts, labels, distributions, rankings side by side, page streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from markupsafe import Markup

from karat.cells import ClassCells
from karat.evaluation import Detail
from karat.report.charts.timeline import timeline
from karat.report.page import Mark, marks
from karat.web.units import Units

MOST_BARS = 40
"""Classes of a distribution that is drawn."""
DEEPEST = 30
"""Ranks that are shown."""


class Piece(NamedTuple):
    """A stretch of text, the spans that cover it, longest first, and those of them that end with it."""

    text: str
    marks: Sequence[Mark] = ()
    ends: Sequence[Mark] = ()


class Chip(NamedTuple):
    """A label that one side gives: in both, in gold alone, or in the prediction alone."""

    label: str
    kind: str


class Part(NamedTuple):
    """What one side says of the unit, in words and in one form that is seen at a glance."""

    words: str
    pieces: Sequence[Piece] = ()
    chips: Sequence[Chip] = ()
    bars: dict[str, float] = {}  # noqa: RUF012 (never changed)
    grades: dict[int, float] = {}  # noqa: RUF012
    """Grades by rank."""
    unseen: int = 0
    """Relevant documents that are not among the ranks."""
    image: Markup | None = None
    """Gold and prediction in one picture."""


class Side(NamedTuple):
    """A system on the unit."""

    name: str
    score: float
    wrong: bool
    gold: Part
    pred: Part


def side(units: Units, i: int) -> Side:
    """Gold and one system on a unit."""
    cell = int(units.cell[i])
    gold, pred = (Part(words) for words in units.cells.answers(cell))
    show = SHOWN.get(units.evaluation.context, _labels)
    try:
        seen = [*show(units, cell)]
    except (AttributeError, IndexError, TypeError):  # cells of an older form are said in words
        seen = []
    if len(seen) == 2:
        gold, pred = seen[0]._replace(words=gold.words), seen[1]._replace(words=pred.words)
    return Side(units.system.name, float(units.score[i]), float(units.short[i]) < 0, gold, pred)


def _labels(units: Units, cell: int) -> Iterator[Part]:
    cells = units.cells
    if not isinstance(cells, ClassCells) or units.evaluation.context == "clustering":
        return
    gold, pred = ([cells.classes[c] for c in of.col[of.row == cell].tolist()] for of in (cells.gold_of, cells.pred_of))
    for labels, other, alone in ((gold, pred, "missed"), (pred, gold, "spurious")):
        yield Part("", chips=[Chip(label, "correct" if label in other else alone) for label in labels])


def _spans(units: Units, cell: int) -> Iterator[Part]:
    cells: Any = units.cells
    unit = int(cells.document[cell])
    text, places = cells.data.text(unit), _token_places(cells.data, unit)
    if text:
        for name in ("gold", "pred"):
            yield Part("", [*pieces(text, marks(cells.data, unit, name, places))])


def _token_places(data: Any, unit: int) -> list[int] | None:
    """Where each token begins, if positions count tokens."""
    text = None if data.texts is None else data.texts[unit]
    if not isinstance(text, list):
        return None
    places = [0]
    for token in text:
        places.append(places[-1] + len(token) + 1)
    return places


def pieces(text: str, spans: Sequence[Mark]) -> Iterator[Piece]:
    """The text cut wherever a span begins or ends; spans may lie inside one another or cross.

    >>> [(p.text, [m.label for m in p.marks]) for p in pieces("abcd", [Mark(0, 3, "A", ""), Mark(1, 2, "B", "")])]
    [('a', ['A']), ('b', ['A', 'B']), ('c', ['A']), ('d', [])]
    """
    size = len(text)
    cuts = sorted({0, size, *(min(max(at, 0), size) for span in spans for at in (span.start, span.end))})
    for low, high in pairwise(cuts):
        over = sorted((s for s in spans if s.start <= low and s.end >= high), key=lambda s: s.start - s.end)
        yield Piece(text[low:high], over, [s for s in over if s.end == high])


def _ranking(units: Units, cell: int) -> Iterator[Part]:
    cells: Any = units.cells
    mine = slice(*cells.judged.start[cell : cell + 2].tolist())
    rank, grade = cells.judged.rank[mine].tolist(), cells.judged.grade[mine].tolist()
    ideal = sorted((g for g in grade if g > 0), reverse=True)
    yield Part("", grades=dict(enumerate(ideal[:DEEPEST], 1)), unseen=max(len(ideal) - DEEPEST, 0))
    shown = {int(r): g for r, g in zip(rank, grade, strict=True) if 0 < r <= DEEPEST}
    yield Part("", grades=shown, unseen=len(ideal) - sum(g > 0 for g in shown.values()))


def _splitting(units: Units, cell: int) -> Iterator[Part]:
    cells: Any = units.cells
    pages, bundle = cells.stream.pages, int(cells.at[cell])
    start = int(pages.start[bundle])
    stop = start + int(pages.size[bundle])
    rows = []
    for low in range(start, stop, 60):
        for name, cut in (("gold", pages.gold_cut), ("pred", pages.pred_cut)):
            files = "".join("|" if c else "-" for c in cut[low : min(low + 60, stop)].tolist())
            rows.append(["pages", int(cells.stream.number[low]), name, files])
    image = timeline(Detail("timeline", "Gold files above predicted files", ["bundle", "page", "side", "files"], rows))
    yield Part("")
    yield Part("", image=Markup(image))


def _soft(units: Units, cell: int) -> Iterator[Part]:
    cells: Any = units.cells
    for weights in (cells.gold_weight, cells.pred_weight):
        at = weights.row == cell
        pairs = zip(weights.col[at].tolist(), weights.data[at].tolist(), strict=True)
        yield Part("", bars={cells.classes[c]: w for c, w in sorted(pairs)})


def _probabilities(units: Units, cell: int) -> Iterator[Part]:
    cells: Any = units.cells
    if len(cells.classes) > MOST_BARS or not cells.answered[cell] or cells.score.min() < 0 or cells.score.max() > 1:
        return
    gold = cells.gold_of.col[cells.gold_of.row == cell].tolist()
    yield Part("", bars={name: float(c in gold) for c, name in enumerate(cells.classes)})
    yield Part("", bars=dict(zip(cells.classes, cells.score[cell].tolist(), strict=True)))


SHOWN: dict[str, Callable[[Units, int], Iterator[Part]]] = {
    "spans": _spans, "ranking": _ranking, "splitting": _splitting, "soft": _soft,
    "probabilities": _probabilities,
}  # fmt: skip

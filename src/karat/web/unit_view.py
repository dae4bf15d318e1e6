# SPDX-License-Identifier: Apache-2.0
"""One unit as a page shows it: marked texts, rankings, page streams, distributions, or what is said in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from karat.evaluation import Detail
from karat.report.charts.timeline import timeline
from karat.report.page import Mark, marks
from karat.web.units import Units


class Piece(NamedTuple):
    """A stretch of text, and the span that it belongs to."""

    text: str
    label: str = ""
    kind: str = ""


class Part(NamedTuple):
    """What one side says of the unit: a name and one of marked text, bars, ranks or a picture."""

    name: str
    pieces: Sequence[Piece] = ()
    bars: Sequence[tuple[str, float]] = ()
    ranks: Sequence[tuple[int, float]] = ()
    image: Markup | None = None
    words: str = ""


def parts(found: Units, i: int) -> list[Part]:
    """Gold and one system on a unit."""
    show: Callable[[Units, int], Iterator[Part]] | None = SHOWN.get(found.evaluation.context)
    try:
        drawn = list(show(found, int(found.cell[i]))) if show else []
    except (AttributeError, IndexError, TypeError):  # cells of an older form are said in words
        drawn = []
    if drawn:
        return drawn
    gold, pred = found.cells.said(int(found.cell[i]))
    return [Part("gold", words=gold), Part(found.system.name, words=pred)]


def _spans(found: Units, cell: int) -> Iterator[Part]:
    data: Any = found.cells
    unit = int(data.document[cell])
    text = data.data.text(unit)
    places = _token_places(data.data, unit)
    if text:
        for side, name in (("gold", "gold"), ("pred", found.system.name)):
            yield Part(name, [*_pieces(text, marks(data.data, unit, side, places))])


def _token_places(data: Any, unit: int) -> list[int] | None:
    """Where each token begins, if positions count tokens."""
    text = None if data.texts is None else data.texts[unit]
    if not isinstance(text, list):
        return None
    places = [0]
    for token in text:
        places.append(places[-1] + len(token) + 1)
    return places


def _pieces(text: str, spans: Sequence[Mark]) -> Iterator[Piece]:
    """The text cut at its spans; one that begins inside another is left to the list of spans."""
    at = 0
    for span in spans:
        if span.start < at:
            continue
        if span.start > at:
            yield Piece(text[at : span.start])
        yield Piece(text[span.start : span.end], span.label, span.kind)
        at = span.end
    if at < len(text):
        yield Piece(text[at:])


def _ranking(found: Units, cell: int) -> Iterator[Part]:
    cells: Any = found.cells
    mine = slice(*cells.judged.start[cell : cell + 2].tolist())
    rank, grade = cells.judged.rank[mine].tolist(), cells.judged.grade[mine].tolist()
    ideal = sorted((g for g in grade if g > 0), reverse=True)
    yield Part("gold, best order", ranks=[(i + 1, g) for i, g in enumerate(ideal[:30])])
    shown = sorted((r, g) for r, g in zip(rank, grade, strict=True) if 0 < r <= 30)
    yield Part(found.system.name, ranks=shown)


def _splitting(found: Units, cell: int) -> Iterator[Part]:
    cells: Any = found.cells
    pages, bundle = cells.stream.pages, int(cells.at[cell])
    start = int(pages.start[bundle])
    stop = start + int(pages.size[bundle])
    rows = []
    for low in range(start, stop, 60):
        for side, cut in (("gold", pages.gold_cut), ("pred", pages.pred_cut)):
            files = "".join("|" if c else "-" for c in cut[low : min(low + 60, stop)].tolist())
            rows.append(["pages", int(cells.stream.number[low]), side, files])
    image = timeline(Detail("timeline", "Gold files above predicted files", ["bundle", "page", "side", "files"], rows))
    yield Part(f"gold above {found.system.name}", image=Markup(image))


def _soft(found: Units, cell: int) -> Iterator[Part]:
    cells: Any = found.cells
    for name, weights in (("gold", cells.gold_weight), (found.system.name, cells.pred_weight)):
        at = weights.row == cell
        pairs = zip(weights.col[at].tolist(), weights.data[at].tolist(), strict=True)
        yield Part(name, bars=sorted((cells.classes[c], w) for c, w in pairs))


SHOWN: dict[str, Callable[[Units, int], Iterator[Part]]] = {
    "spans": _spans, "ranking": _ranking, "splitting": _splitting, "soft": _soft,
}  # fmt: skip

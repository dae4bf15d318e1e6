# SPDX-License-Identifier: Apache-2.0
"""A document with its gold and predicted spans marked under the text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from karat.contexts.spans.data import SpanData
from karat.contexts.spans.errors import KINDS

WIDTH = 88
MARKS = {"correct": "=", "missed": "-", "spurious": "+"}
"""Under the text: = right, - missed, + spurious, ~ wrong label or place."""

COLOURS = {"correct": "green", "missed": "red", "spurious": "yellow"}


class Mark(NamedTuple):
    """A span on a page: places in characters, its label and what became of it."""

    start: int
    end: int
    label: str
    kind: str


class Line(NamedTuple):
    """A line of output: a name in front, the text, and the marks that colour it."""

    name: str
    text: str
    marks: Sequence[Mark] = ()


def page(data: SpanData, unit: int) -> Iterator[Line]:
    """The document's text in lines, its gold and predicted spans below each, then every span that is not right."""
    text, places = _text(data, unit)
    gold, pred = (marks(data, unit, side, places) for side in ("gold", "pred"))
    yield Line("", f"{data.ids[unit]}")
    for begin, line in _wrapped(text):
        yield Line("text", line)
        for name, side in (("gold", gold), ("pred", pred)):
            yield from _tracks(name, side, begin, len(line))
    for name, side in (("gold", gold), ("pred", pred)):
        for mark in side:
            if mark.kind != "correct":
                yield Line(
                    name,
                    f"{mark.kind}: {mark.label} [{mark.start}, {mark.end}) {text[mark.start : mark.end]!r}",
                    [mark],
                )


def _text(data: SpanData, unit: int) -> tuple[str, list[int] | None]:
    """The text, and where each token begins and ends in it if positions count tokens."""
    text = None if data.texts is None else data.texts[unit]
    if isinstance(text, list):
        sizes = [len(token) + 1 for token in text]
        return " ".join(text), np.cumsum([0, *sizes]).tolist()
    return text or "", None


def marks(data: SpanData, unit: int, side: str, places: list[int] | None) -> list[Mark]:
    """The spans of one side of a document, by place."""
    spans, kinds = (data.gold, data.errors.gold) if side == "gold" else (data.pred, data.errors.pred)
    rows = np.flatnonzero(spans.unit == unit)
    marked = [
        Mark(*_place(int(spans.start[r]), int(spans.end[r]), places), data.labels[spans.label[r]], KINDS[kinds[r]])
        for r in rows.tolist()
    ]
    return sorted(marked)


def _place(start: int, end: int, places: list[int] | None) -> tuple[int, int]:
    return (start, end) if places is None else (places[start], places[end] - 1)


def _wrapped(text: str) -> Iterator[tuple[int, str]]:
    """Lines of at most WIDTH characters, cut at blanks where there are any, with the place where each begins."""
    begin = 0
    for paragraph in text.split("\n") if text else []:
        rest = paragraph
        while len(rest) > WIDTH:
            cut = rest.rfind(" ", 1, WIDTH) + 1 or WIDTH
            yield begin, rest[:cut]
            begin, rest = begin + cut, rest[cut:]
        yield begin, rest
        begin += len(rest) + 1


def _tracks(name: str, side: Sequence[Mark], begin: int, width: int) -> Iterator[Line]:
    """Marks below a line of text; spans that overlap go to a track of their own."""
    here = [m for m in side if m.start < begin + max(width, 1) and m.end > begin]
    tracks: list[list[Mark]] = []
    for mark in here:
        free = next((track for track in tracks if track[-1].end <= mark.start), None)
        tracks.append([mark]) if free is None else free.append(mark)
    for track in tracks:
        yield Line(name, _drawn(track, begin, width), track)


def _drawn(track: Sequence[Mark], begin: int, width: int) -> str:
    """A line of marks with each span's label written into it as far as it fits."""
    letters = [" "] * width
    for mark in track:
        low, high = max(mark.start - begin, 0), min(mark.end - begin, width)
        sign = MARKS.get(mark.kind, "~")
        shown = f"{sign}{mark.label}" if len(mark.label) + 2 <= high - low else ""
        letters[low:high] = list(shown.ljust(high - low, sign))
    return "".join(letters).rstrip()


def plain(lines: Iterator[Line]) -> str:
    """The page as plain text."""
    return "".join(f"{line.name:5}{line.text}\n" if line.name else f"{line.text}\n" for line in lines)

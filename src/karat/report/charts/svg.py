# SPDX-License-Identifier: Apache-2.0
"""The primitives of every chart: escaped text, lines, boxes, axes, and a theme made of CSS variables.

Colours are CSS variables with a light and a dark value. A page that embeds a chart can set
``--karat-ink``, ``--karat-muted``, ``--karat-grid``, ``--karat-accent``, ``--karat-good``,
``--karat-bad`` and ``--karat-paper`` to follow its own theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape as _escape
from html import unescape

import numpy as np

from karat.report.text import brief

FONT = 12
WIDTH, EDGE = 360, 16
"""Width of a chart of rows, which fits a phone and grows with the page; and room for the halves of the outermost labels."""
_LIGHT = {
    "ink": "#1f2430", "muted": "#667085", "grid": "#e3e6eb", "accent": "#2f5bd0",
    "good": "#1a7f4b", "bad": "#b3352b", "paper": "#ffffff",
}  # fmt: skip
_DARK = {
    "ink": "#e7e9ee", "muted": "#9aa3b2", "grid": "#343a46", "accent": "#86a5ff",
    "good": "#5ec490", "bad": "#f08a80", "paper": "#14171d",
}  # fmt: skip


SERIES = 6
"""Systems that have a colour of their own; more begin again with dashes."""
_LIGHT |= {f"s{i}": c for i, c in enumerate(("#2f5bd0", "#c2410c", "#0f766e", "#9333a8", "#8a6d00", "#475569"))}
_DARK |= {f"s{i}": c for i, c in enumerate(("#86a5ff", "#fb9a5b", "#4fd1c0", "#d79bf0", "#e0c24a", "#b4c0d0"))}

_JOINERS = frozenset("\u00ad\u200c\u200d\u200e\u200f")
"""Characters that are not seen and yet belong to words: Persian, emoji of several people, marks of direction."""


def printable(label: object) -> str:
    """Text with a sign for every character that XML forbids or a reader cannot see.

    >>> printable("a\\tb\\x00c"), printable("10\\u202f000") == "10\\u202f000"
    ('a␉b␀c', True)
    """
    return "".join(c if c.isprintable() else _sign(c) for c in brief(str(label)))


def _sign(c: str) -> str:
    if (c.isspace() and ord(c) >= 0xA0 and c not in "\u2028\u2029") or c in _JOINERS:
        return c
    return chr(0x2400 + ord(c)) if ord(c) < 0x20 else "\ufffd"


def escape(label: object) -> str:
    """Text that is safe inside an element or an attribute."""
    return _escape(printable(label), quote=True)


def _theme(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:var(--karat-{name},{value});" for name, value in colours.items())


STYLE = (
    f".karat-chart{{{_theme(_LIGHT)}font:{FONT}px system-ui,sans-serif;max-width:100%;height:auto}}"
    f"@media (prefers-color-scheme:dark){{.karat-chart{{{_theme(_DARK)}}}}}"
    ".karat-chart text{fill:var(--ink)}.karat-chart .muted{fill:var(--muted)}"
    ".karat-chart .line{stroke:var(--ink)}.karat-chart .grid{stroke:var(--grid)}"
    ".karat-chart .accent{stroke:var(--accent);fill:var(--accent)}"
    ".karat-chart .good{stroke:var(--good);fill:var(--good)}.karat-chart .bad{stroke:var(--bad);fill:var(--bad)}"
    ".karat-chart .plain{stroke:var(--muted);fill:var(--muted)}.karat-chart [fill=none]{fill:none}.karat-chart .box{stroke:none}"
    ".karat-chart .tick{font-size:11px}"
    ".karat-chart :is(.count,.figures){font:10px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}"
    ".karat-chart :is(.side,.said){paint-order:stroke;stroke:var(--paper);stroke-width:3px}"
    ".karat-chart .on{fill:var(--paper)}"
    + "".join(
        f".karat-chart .s{i}{{stroke:var(--s{i});fill:none}}.karat-chart .s{i}.dot{{fill:var(--s{i})}}"
        for i in range(SERIES)
    )
)


def number(value: float) -> str:
    """A coordinate with two decimals at most, the same text on every machine."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def text(
    x: float, y: float, label: object, *, anchor: str = "start", css: str = "", title: str = "", size: int = FONT
) -> str:
    """One line of text; ``title`` is what a reader sees on hovering (the full text of a shortened label)."""
    hover = f"<title>{escape(title)}</title>" if title else ""
    kind = f' class="{css}"' if css else ""
    sized = f' font-size="{size}"' if size != FONT else ""
    placed = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{number(x)}" y="{number(y)}"{placed}{kind}{sized}>{escape(label)}{hover}</text>'


def line(x1: float, y1: float, x2: float, y2: float, *, css: str = "line", width: float = 1, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return f'<line {ends} class="{css}" stroke-width="{number(width)}"{dashed}/>'


def rect(
    x: float, y: float, width: float, height: float, *, css: str = "accent", opacity: float = 1, title: str = ""
) -> str:
    hover = f"<title>{escape(title)}</title>" if title else ""
    size = f'x="{number(x)}" y="{number(y)}" width="{number(max(width, 0))}" height="{number(max(height, 0))}"'
    return f'<rect {size} class="{css} box" fill-opacity="{number(opacity)}">{hover}</rect>'


def dot(x: float, y: float, *, css: str = "accent", radius: float = 4, title: str = "") -> str:
    hover = f"<title>{escape(title)}</title>" if title else ""
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" class="{css}">{hover}</circle>'


def heading(label: str, note: str, y: float, *, width: float = WIDTH) -> list[str]:
    """The line above a row of a chart: its name to the left, what is said of it to the right."""
    remark = fitted(note, width * 0.6, 11)
    room = width - text_width(remark, 11) - 10
    shown = fitted(label, room)
    name = text(0, y, shown, css="side", title=label if shown != label else "")
    return [name, text(width, y, remark, anchor="end", css="muted said", size=11, title=note if remark != note else "")]


def linked(target: str, label: str, part: str) -> str:
    """A part of a chart that leads somewhere."""
    return f'<a href="{escape(target)}" aria-label="{escape(label)}"><title>{escape(label)}</title>{part}</a>'


def document(width: float, height: float, parts: Iterable[str], label: str) -> str:
    """A whole chart with its theme; ``label`` is read out by screen readers."""
    size = f'viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}" height="{number(height)}" style="--w:{number(width)}px"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="karat-chart" {size} role="img" aria-label="{escape(label)}">'
    )
    return f"{head}<style>{STYLE}</style>{''.join(parts)}</svg>"


def or_nan(value: float | None) -> float:
    """A value as a chart takes it, which leaves out what is undefined."""
    return np.nan if value is None else value


def label_of(chart: str) -> str:
    """What a chart says of itself to a screen reader."""
    return unescape(chart.split('aria-label="', 1)[1].split('"', 1)[0])


def flattened(chart: str) -> str:
    """The chart with its light colours written out, for programs that know no CSS variables."""
    style = STYLE[: STYLE.index("@media")] + STYLE[STYLE.index(".karat-chart text") :]
    for name, colour in sorted(_LIGHT.items(), key=lambda pair: -len(pair[0])):
        style = style.replace(f"--{name}:var(--karat-{name},{colour});", "").replace(f"var(--{name})", colour)
    paper = f'<rect width="100%" height="100%" fill="{_LIGHT["paper"]}"/>'
    return chart.replace(f"<style>{STYLE}</style>", f"<style>{style}</style>{paper}")


def bare(chart: str) -> str:
    """The chart without its own theme, for a page that has `STYLE` once."""
    chart = chart.replace(f"<style>{STYLE}</style>", "").replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    return chart.replace(_BLANKS, "")


_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[] "), frozenset("mwMW@%—…")
_BROAD = frozenset("<>=+~^#&")


def text_width(label: str, size: int = FONT) -> float:
    """Width of a text, a little generous: layout must hold in any sans-serif font."""
    return size * sum(_advance(c) for c in printable(label))


def _advance(c: str) -> float:
    if c in _NARROW:
        return 0.36
    if c in _WIDE or ord(c) > 0x2E80:
        return 1.0
    if c in _JOINERS:
        return 0.0
    return 0.74 if c.isupper() else 0.84 if c in _BROAD else 0.62


def fitted(label: str, width: float, size: int = FONT) -> str:
    """The label, shortened with … in the middle if it is wider than ``width``."""
    label = brief(label)
    if text_width(label, size) <= width:
        return label
    for keep in range(len(label) - 1, 1, -1):
        short = label[: (keep + 1) // 2] + "…" + label[len(label) - keep // 2 :]
        if text_width(short, size) <= width:
            return short
    return "…"


def side(labels: Iterable[str], most: float, size: int = FONT) -> float:
    """Room for the labels beside a chart: what the longest needs, up to ``most``."""
    return min(max((text_width(label, size) for label in labels), default=0.0) + 6, most)


@dataclass(frozen=True)
class Scale:
    """Data to pixels along one axis."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        share = (value - self.low) / span if span else 0.5
        return self.start + share * (self.end - self.start)


ALIKE = 1e-9
"""Numbers that differ by no more stand at one place of an axis: their ticks would be the same number."""


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers that span the range: steps of 1, 2 or 5 times a power of ten.

    >>> nice_ticks(0, 1, 6)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    span = next(size for size in (high - low, abs(high), 1.0) if size > ALIKE)
    raw = span / max(most - 1, 1)
    magnitude = 10.0 ** np.floor(np.log10(raw))
    step = magnitude * next(m for m in (1, 2, 5, 10) if m * magnitude >= raw * (1 - 1e-9))
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    last += first == last
    return [float(round(i * step, 12)) for i in np.arange(first, last + 1)]


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """Ticks with the decimals that tell them apart."""
    gap = min(np.diff(ticks), default=1.0)
    decimals = max(0, int(-np.floor(np.log10(gap) + 1e-9))) if gap > 0 else 0
    return [f"{t:.{decimals}f}" for t in ticks]


HEADING = 15
"""Height of the line above a row, which no other line crosses."""


def dashes(row: float, dash: Sequence[int] = ()) -> str:
    """The pattern of a line from the first row's track down, which leaves out the headings of rows of this height.

    >>> dashes(36), dashes(36, (4, 3))
    ('21 15', '4 3 4 3 4 18')
    """
    seen = row - HEADING
    if not dash:
        return f"{number(seen)} {HEADING}"
    whole = [*dash] * int((seen + dash[1]) // sum(dash))
    return " ".join(number(length) for length in (*whole[:-1], row - sum(whole[:-1])))


def x_axis(scale: Scale, ticks: Sequence[float], y: float, *, top: float, row: float | None = None) -> list[str]:
    """A horizontal axis with labelled ticks, and grid lines up to ``top``; with ``row`` they leave its headings out."""
    at = [number(scale(tick)) for tick in ticks]
    marks = f"M{number(scale.start)} {number(y)}H{number(scale.end)}" + "".join(f"M{x} {number(y)}v4" for x in at)
    grid = "".join(f"M{x} {number(top)}V{number(y)}" for x in at)
    gaps = f' stroke-dasharray="{dashes(row)}"' if row else ""
    parts = [f'<path class="grid"{gaps} d="{grid}"/>'] if grid else []
    parts.append(f'<path class="line" d="{marks}"/>')
    labels = zip(ticks, tick_labels(ticks), strict=True)
    return [*parts, *(text(scale(t), y + 17, label, anchor="middle", css="muted tick") for t, label in labels)]


_BLANKS = ' xml:space="preserve"'
"""For programs that do not know the style by which browsers keep blanks."""


def cells_line(cells: Sequence[str], x: float, step: int, y: float, css: str) -> str:
    """Short texts in the middle of their cells as one line: as many characters to a cell, stretched to its width."""
    if not any(cells):
        return ""
    wide = step // 6 | 1
    place = f'x="{number(x)}" y="{number(y)}" textLength="{step * len(cells) - 2}"{_BLANKS}'
    return f'<text class="{css}" {place}>{escape("".join(c.center(wide) for c in cells))}</text>'

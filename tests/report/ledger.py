# SPDX-License-Identifier: Apache-2.0
"""Every number that a page shows, and which of them the JSON report does not account for.

A number stands in a part of the page (a system, the comparison, the provenance) and, in a table or chart, in
a row and a column. It is accounted for if, rounded as it is shown, it is found in the part of the JSON report
that row and column name; names, dates and hashes are strings of the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

WALK = """() => {
  const out = [], clean = s => s.replace(/\\s+/g, ' ').trim();
  const said = n => [...n.childNodes].filter(c => c.nodeName !== 'title').map(c => c.textContent).join('');
  const part = n => n.closest('section')?.getAttribute('aria-labelledby') ?? '';
  const rowhead = row => row.querySelector('th[scope=row]') ?? row.cells[0];
  const head = th => clean((th.querySelector('button') ?? th).childNodes[0]?.textContent ?? '');
  const sides = svg => [...svg.querySelectorAll('text.side,text[text-anchor=end]:not(.said,.tick)')];
  const nearest = n => {
    const away = t => Math.abs(t.getAttribute('y') - n.getAttribute('y'));
    return sides(n.ownerSVGElement).filter(t => away(t) < 18).sort((a, b) => away(a) - away(b))[0];
  };
  const full = t => t ? t.querySelector('title')?.textContent ?? said(t).replace(/^\\d+  /, '') : '';
  const put = (raw, n, more) => { const text = raw.replaceAll('\\u00a0', ' '); return /\\d/.test(text) && out.push({text, part: part(n), row: '', column: '', tick: false,
    heading: !!n.closest('h1,h2,h3,summary,.note,.summary'), chart: '', cell: [], nth: 0, ...more}); };
  // What keeps numbers from being broken parts no sentence.
  for (const n of document.querySelectorAll('.verdicts i,.summary i')) { const p = n.parentNode; n.replaceWith(n.textContent); p.normalize(); }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, n = text.parentElement, svg = n.closest('svg'), cell = n.closest('td,th');
    if (n.closest('script,style,.glossary,.search')) continue;
    if (svg) {
      const owner = n.closest('text');
      const chart = svg.getAttribute('aria-label');
      if (n.nodeName === 'title' || !owner) { put(text.data, svg, {chart, row: n.nodeName === 'title' ? '' : full(nearest(n))}); continue; }
      const tick = owner.classList.contains('tick');
      if (owner.classList.contains('count') && !tick) {
        const row = sides(svg).map(t => +t.getAttribute('y')).findIndex(y => Math.abs(y - owner.getAttribute('y')) < 1);
        put(text.data, svg, {chart, cell: [row, -1]});
      } else put(text.data, svg, {chart, tick, row: full(sides(svg).includes(owner) ? owner : nearest(owner))});
    } else if (cell) {
      const row = cell.parentElement, table = cell.closest('table');
      const column = head(table.tHead.rows[0].cells[cell.cellIndex]);
      put(text.data, n, {row: cell.closest('thead') ? '' : head(rowhead(row)), column, chart: table.parentElement.getAttribute('aria-label'),
        nth: [...table.tHead.rows[0].cells].slice(0, cell.cellIndex).filter(h => head(h) === column).length});
    } else {
      const shown = n.classList.contains('note') ? n.previousElementSibling?.querySelectorAll?.('tbody tr').length ?? 0 : 0;
      const card = n.closest('.cards li')?.querySelector('h3')?.textContent ?? (n.nodeName === 'DD' ? clean(n.previousElementSibling.textContent) : '');
      put(text.data, n, {cell: shown ? [shown] : [], column: card, chart: n.closest('.verdicts') || (n.closest('.summary') && document.querySelector('.board')) ? 'verdicts' : ''});
    }
  }
  for (const n of document.querySelectorAll('[aria-label],[title]:not(abbr),data'))
    for (const name of ['aria-label', 'title', 'value'])
      if (n.getAttribute(name)) {
        const cell = n.closest('td'), row = cell ? head(rowhead(cell.parentElement)) : '';
        const column = cell ? head(cell.closest('table').tHead.rows[0].cells[cell.cellIndex]) : n.closest('.cards li')?.querySelector('h3')?.textContent ?? '';
        put(n.getAttribute(name), n, {row, column, heading: true});
      }
  return out;
}"""

NUMBER = re.compile(r"(?<![\w.])([<≤]?\s?)([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:e[-+]\d+)?)(\s?%)?(?![\w])")
OURS = ("SHA-256", "SemEval-2013", "10 bins of equal width")
"""Words of the page itself."""
DRAWN = " file: page"
"""What a bar of a timeline says of itself; the bars are checked in their order."""
COVERAGE = {
    "in gold": "gold",
    "predicted": "pred",
    "in both": "aligned",
    "gold only": "gold_only",
    "predicted only": "pred_only",
}


CURVES = {"AUC": "roc_auc", "AP": "average_precision", "ECE": "ece"}
"""What the legends of curves say."""


@dataclass(frozen=True)
class Shown:
    """A text with a digit in it, and where it stands on the page."""

    text: str
    part: str
    row: str
    column: str
    tick: bool
    heading: bool
    chart: str
    cell: list[int]
    nth: int
    """How many columns before this one have its name."""


def shown(page: Any) -> list[Shown]:
    """Everything on the page that holds a digit, seen or read out."""
    return [Shown(**found) for found in page.evaluate(WALK)]


def unaccounted(found: list[Shown], document: dict[str, Any]) -> list[str]:
    """What the page says and the JSON report does not."""
    ledger = Ledger(document)
    out = [f"{n} in {s.text!r} ({s.part}, {s.chart}, {s.row}, {s.column})" for s in found for n in ledger.strangers(s)]
    drawn = [s.text for s in found if DRAWN in s.text]
    said = [t for s in ledger.evaluation["systems"] for d in s["details"] if d["kind"] == "timeline" for t in _files(d)]
    return out + ([] if drawn == said else ["the timeline"])


class Ledger:
    """The numbers of a JSON report by where they belong."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.evaluation = document.get("evaluation", document)
        self._cache: dict[Any, Any] = {}

    def _areas(self, part: str, metric: str) -> set[str]:
        """A system's scores by a metric, overall and by class, as the legend of a curve shows them."""
        scores = [m for s in self._systems(part) for m in s["metrics"] if m["metric"].startswith(metric)]
        values = [v for m in scores for v in (m, *m.get("by_test_case", ()), *m.get("by_class", ()))]
        return {f"{v['value']:.3f}" for v in values if v["value"] is not None}

    def strangers(self, found: Shown) -> list[str]:
        """The numbers of a text that the report does not have where they stand."""
        if found.tick:
            return []
        if curve := re.fullmatch(r"(AUC|AP|ECE) ([01]\.\d{3})", found.text.strip()):
            return [] if curve[2] in self._areas(found.part, CURVES[curve[1]]) else [found.text]
        if len(found.cell) == 2:
            return [] if self._counted(found) else [found.text.strip()]
        if found.chart == "verdicts":
            known = {*(p["sentence"] for p in self.document["pairs"]), *self.document["summary"]}
            known |= {f"{f['severity']}: {f['message']}" for f in self.document["findings"]}
            return [] if found.text in known else [found.text]
        if found.part != "section" and (exact := self._listed(found)) is not None:
            return [] if found.text in exact else [found.text]
        key = (found.part, found.row, found.column, found.chart, found.heading, found.text[:11])
        if key not in self._cache:
            nodes = self._nodes(found)
            counted = (list,) if found.heading else (dict,) if found.part == "provenance" else ()
            self._cache[key] = _strings(nodes), [v for n in nodes for v in _numbers(n, counted)]
        strings, values = self._cache[key]
        if len(found.cell) == 1:  # “3 more are left out”: what is shown and what is not make the whole
            values = [v - found.cell[0] for v in values]
        rest = _without(found.text, strings)
        return [m[0].strip() for m in NUMBER.finditer(rest) if any(c.isdigit() for c in m[2]) and not _known(m, values)]

    def _counted(self, found: Shown) -> bool:
        """Are the numbers of a heat map's row those of the matrix?"""
        for system in self._systems(found.part):
            for detail in system["details"]:
                if detail["kind"] == "matrix" and found.chart == f"{detail['title']}: {system['name']}":
                    return _line(found.text, detail["rows"][found.cell[0]][1:])
        return False

    def _listed(self, found: Shown) -> list[str] | None:
        """What a cell whose place is known may say; None where the report must be searched."""
        if found.column and not found.row and not found.chart and found.part != "provenance":
            key = COVERAGE.get(found.column, found.column.replace(" ", "_"))
            counts = [s["counts"].get(key) for s in self._systems(found.part)]
            return [f"{n:,}" for n in counts if n is not None] or None
        if found.chart.startswith(("Worst units", "Where ")) and found.row:
            return self._unit(found)
        if found.chart == "Most confused":
            pairs = [p for s in self._systems(found.part) for d in s["details"] for p in d.get("confused", ())]
            of = [p for p in pairs if p["gold"] == found.row]
            return [f"{p['units']:,}" if found.column == "units" else f"{100 * p['share']:.1f} %" for p in of] or None
        if DRAWN in found.text:
            return [found.text]
        details = [d for s in self._systems(found.part) for d in s["details"] if found.chart in _titles(d)]
        cells = [
            row[[i for i, column in enumerate(d["columns"]) if column == found.column][found.nth]]
            for d in details
            if found.column in d["columns"]
            for row in d["rows"]
            if str(row[0]) == found.row
        ]
        return [
            text
            for v in cells
            for text in (f"{v:.4f}" if isinstance(v, float) else str(v), f"{v:,}" if isinstance(v, int) else "")
        ] or None

    def _unit(self, found: Shown) -> list[str]:
        """What a cell of a list of units may say."""
        disputed = self.evaluation.get("disagreements", {})
        units = (
            disputed["units"]
            if found.chart.startswith("Where ")
            else [u for s in self._systems(found.part) for u in s["worst"]["units"]]
        )
        out = []
        for unit in (u for u in units if u["id"] == found.row):
            said = {
                "unit": unit["id"],
                "test case": unit["test_case"],
                "gold": unit["gold"],
                "predicted": unit.get("pred"),
                "text": unit["text"],
            }
            if "scores" in unit:
                for name, score, pred in zip(
                    (disputed["a"], disputed["b"]), unit["scores"], unit["preds"], strict=True
                ):
                    said |= {f"score {name}": f"{score:.4f}", name: pred}
            out.append(said[found.column] if found.column in said else f"{unit['score']:.4f}")
        return out

    def _systems(self, part: str) -> list[Any]:
        return self._part(part) if part.startswith("system-") else self.evaluation["systems"]

    def _nodes(self, found: Shown) -> list[Any]:
        """The parts of the report that row and column name: both of them, else the row, else the column, else all."""
        scope = self._part(found.part)
        if found.text.startswith("Where ") and "disagreements" in self.evaluation:
            return [self.evaluation["disagreements"]]
        if found.text.startswith("Worst units"):
            return [s["worst"] for s in scope]
        if found.part == "section" and found.chart:
            scope = self._compared(found.chart)
        if found.part == "provenance" and found.column and not found.chart:
            scope = [child for top in scope for child in _under(top, found.column)] or scope
        part = f"{found.part} {found.chart}" if found.part == "section" else found.part
        rows, columns = (
            self._holding(part, scope, label) for label in (found.row, found.column or _metric(found.chart))
        )
        if found.part == "section":
            return [*rows.values()] or scope
        inner = [rows[r] for r in rows if any(r[: len(c)] == c for c in columns)]
        inner += [columns[c] for c in columns if any(c[: len(r)] == r for r in rows)]
        return inner or [*rows.values()] or [*columns.values()] or scope

    def _compared(self, chart: str) -> list[Any]:
        """What a comparison says of the metric that a chart or table is about."""
        known = {p["name"]: p["metric"] for p in self.document["pairs"] if p["name"] in chart}
        name = max(known, key=len, default="")
        pairs = [p for p in self.document["pairs"] if p["name"] == name]
        ranks = [r for r in self.document["ranks"] if r["metric"] == known.get(name)]
        return (
            [pairs, self.document["leaderboards"].get(known.get(name), []), ranks, self.document["family"]]
            if name
            else [self.document]
        )

    def _holding(self, part: str, scope: list[Any], label: str) -> dict[tuple[Any, ...], Any]:
        """What names the label in a part of the report, by path."""
        if (part, label) not in self._cache:
            self._cache[part, label] = {
                (i, *path): n for i, top in enumerate(scope) for path, n in _holders(top, label)
            }
        found: dict[tuple[Any, ...], Any] = self._cache[part, label]
        return found

    def _part(self, name: str) -> list[Any]:
        if name.startswith("system-"):
            return [self.evaluation["systems"][int(name[7:]) - 1]]
        if name == "section":
            return [self.document]
        if name == "findings":
            return [s["findings"] for s in self.evaluation["systems"]] + [self.document.get("findings", [])]
        if name == "provenance":
            return [
                self.evaluation["provenance"],
                [m["signature"] for s in self.evaluation["systems"] for m in s["metrics"]],
            ]
        return [self.evaluation]


def _titles(detail: dict[str, Any]) -> tuple[str, str]:
    """What a detail is called; the page leaves to a chart to say which way is which."""
    return detail["title"], detail["title"].partition(" (gold down")[0]


def _line(text: str, counts: list[int]) -> bool:
    """Is every number in a line of a heat map, as many characters to a cell, the count of its cell?"""
    wide = len(text) // len(counts)
    cells = [text[i * wide : (i + 1) * wide].strip() for i in range(len(counts))]
    return all(cell in ("", str(n)) for cell, n in zip(cells, counts, strict=True))


def _metric(chart: str) -> str:
    """The metric that a chart's title begins with."""
    return chart.split(" by class")[0].split(" with intervals")[0].split(": scores of")[0] if chart else ""


def _holders(node: Any, label: str, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The objects and lists that name ``label`` themselves, with their paths."""
    if not label or not isinstance(node, (dict, list)):
        return
    inner = node.items() if isinstance(node, dict) else list(enumerate(node))
    if any(_names(v, label) for _, v in inner if not isinstance(v, (dict, list))) or _pair(node, label):
        yield path, node
    for key, child in inner:
        if isinstance(child, (dict, list)):
            yield from _holders(child, label, (*path, key))


def _under(node: Any, label: str) -> Iterator[Any]:
    """What stands under the key ``label``."""
    if isinstance(node, dict):
        yield from (value for key, value in node.items() if key.lower() == label.lower())
    for child in (node.values() if isinstance(node, dict) else node) if isinstance(node, (dict, list)) else ():
        yield from _under(child, label)


def _files(detail: dict[str, Any]) -> Iterator[str]:
    """The files of a timeline in words, from its marks: | where a file begins, - where it goes on."""
    for _, page, side, marks in detail["rows"]:
        begins = [i for i, mark in enumerate(marks.rstrip()) if mark == "|" or i == 0]
        for first, after in zip(begins, [*begins[1:], len(marks.rstrip())], strict=True):
            ends = f"s {page + first}-{page + after - 1}" if after - first > 1 else f" {page + first}"
            yield f"{'gold' if side == 'gold' else 'predicted'} file: page{ends}"


def _names(value: Any, label: str) -> bool:
    return str(value) == label or (isinstance(value, str) and value.split(" (")[0] == label)


def _pair(node: Any, label: str) -> bool:
    return isinstance(node, dict) and "a" in node and f"{node['a']} − {node.get('b')}" == label


def _numbers(node: Any, counted: tuple[type, ...]) -> Iterator[float]:
    """All numbers below a node; headings also say how long a list is, options how many roots a tree has."""
    if isinstance(node, (int, float)) and not isinstance(node, bool):
        yield node
    elif isinstance(node, (dict, list)):
        if isinstance(node, counted):
            yield len(node)
        for child in node.values() if isinstance(node, dict) else node:
            yield from _numbers(child, counted)


def _strings(node: Any) -> list[str]:
    found: set[str] = set()
    todo = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            todo += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            todo += one
        elif isinstance(one, str) and any(c.isdigit() for c in one):
            found |= {one, one.split(" (")[0], " ".join(one.split())}
            found |= {f"{one[:10]} {one[11:16]} UTC"} if one.endswith("+00:00") else set()  # to the minute
    return sorted(found, key=len, reverse=True)


def _without(text: str, strings: list[str]) -> str:
    for known in (*OURS, *strings):
        if known in text:
            text = re.sub(rf"(?<![\w.,-]){re.escape(known)}(?![\w])", " ", text)
    return text


def _known(found: re.Match[str], values: list[float]) -> bool:
    sign, text, percent = found[1].strip(), found[2].replace(",", ""), found[3]
    values = [100 * v for v in values] if percent else values
    if sign:
        return any(v <= float(text) for v in values)
    plain = text.lstrip("+")
    plain = "0" + plain if plain.startswith(".") else plain
    return any(_rounds(v, plain) for v in values)


def _rounds(value: float, text: str) -> bool:
    if text == repr(float(value)) or text in (f"{value:.2g}", f"{value:.3g}", f"{value:.4g}"):
        return True
    decimals = len(text.partition(".")[2])
    if not decimals:
        return value == int(value) and int(value) == float(text)
    return (
        abs(value - float(text)) < 1
        and f"{value:.{decimals}f}".replace("-0." + "0" * decimals, "0." + "0" * decimals) == text
    )


def planted(found: Shown) -> Shown | None:
    """The same text with the last digit of its last number changed; None where it has none."""
    at = [m for m in NUMBER.finditer(found.text) if any(c.isdigit() for c in m[2])]
    if not at or found.tick or at[-1][1].strip() or found.text.strip() == found.row or DRAWN in found.text:
        return None
    end = at[-1].end(2) - 1
    return replace(found, text=found.text[:end] + str((int(found.text[end]) + 1) % 10) + found.text[end + 1 :])

# SPDX-License-Identifier: Apache-2.0
"""Gold and prediction over the same units: the one place where they meet, and what either side lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import islice
from operator import lt
from typing import Any, Self

import numpy as np

from karat.columns import Codes, Ints, Mask, distinct, groups, matches, paired, ranked, recode, starts, vocabulary
from karat.findings import Finding, finding
from karat.side import Entries, Keys, Positions, Side

EXAMPLES = 3
"""Ids that a finding shows."""


@dataclass(frozen=True, eq=False)
class Meeting:
    """Which unit of gold meets which of the prediction; −1 where one side lacks the unit.

    Gold's units come first, in gold's order, then those that only the prediction has.
    """

    gold: Ints
    pred: Ints
    same: bool = False
    """Whether both sides have the same units in the same order."""
    n: Ints | None = None
    """How many units each row stands for; None: one."""

    @property
    def both(self) -> int:
        return self._units((self.gold >= 0) & (self.pred >= 0))

    def _units(self, there: Mask) -> int:
        return int(there.sum() if self.n is None else self.n[there].sum())

    def counts(self) -> dict[str, int]:
        """Coverage, in units."""
        gold, pred = (
            len(rows) if self.same and self.n is None else self._units(rows >= 0) for rows in (self.gold, self.pred)
        )
        both = gold if self.same else self.both
        return {"gold": gold, "pred": pred, "aligned": both, "gold_only": gold - both, "pred_only": pred - both}

    def kept(self, missing: str, extra: str) -> Meeting:
        """The rows that are scored: not what is missing where that is skipped, nor what is extra unless it is wrong."""
        if self.same:
            return self
        keep = np.ones(len(self.gold), bool)
        if missing == "skip":
            keep &= self.pred >= 0
        if extra != "wrong":
            keep &= self.gold >= 0
        n = None if self.n is None else self.n[keep]
        return self if keep.all() else Meeting(self.gold[keep], self.pred[keep], n=n)


def met(gold: Side, pred: Side) -> Meeting:
    """Both sides' units; where they stand for many, so do the rows."""
    both = meet(gold.keys, pred.keys)
    if gold.n is None or pred.n is None:
        return both
    return replace(both, n=np.where(both.gold >= 0, np.append(gold.n, 0)[both.gold], np.append(pred.n, 0)[both.pred]))


def meet(gold: Keys, pred: Keys) -> Meeting:
    """Units that have the same test case and id. Most prediction files keep gold's order: then nothing is looked up."""
    if gold.same(pred):
        both = np.arange(len(gold))
        return Meeting(both, both, same=True)
    alone = {*gold.case.names} == {*pred.case.names} and len(gold.case.names) == 1
    at = {key: row for row, key in enumerate(gold.comparable(alone))}
    place = matches(at, pred.comparable(alone), len(pred))
    lone = np.flatnonzero(place < 0)
    other = np.full(len(gold), -1)
    other[place[place >= 0]] = np.flatnonzero(place >= 0)
    nothing = np.full(len(lone), -1)
    return Meeting(np.concatenate([np.arange(len(gold)), nothing]), np.concatenate([other, lone]))


def coverage_findings(gold: Side, pred: Side, both: Meeting, options: Mapping[str, Any]) -> list[Finding]:
    """What the two sides do not share, said once each with examples."""
    counts = both.counts()
    if not counts["gold_only"] and not counts["pred_only"]:
        return []
    if gold.apart is not None and pred.apart is not None:
        return lacking(
            pred.name, counts, (gold.apart.lone, pred.apart.lone), (gold.apart.first, pred.apart.first), options
        )
    lone = gold.keys.known(both.gold[both.pred < 0]), pred.keys.known(both.pred[both.gold < 0])
    if gold.keys.shown is not None:  # whose ids have stayed in the engine, which looks for other spellings itself
        return lacking(pred.name, counts, lone, (lone[0].id, lone[1].id), options, alike=False)
    return lacking(pred.name, counts, lone, (gold.keys.id[:EXAMPLES], pred.keys.id[:EXAMPLES]), options)


def lacking(
    name: str,
    counts: Mapping[str, int],
    lone: tuple[Keys, Keys],
    first: tuple[Sequence[str], Sequence[str]],
    options: Mapping[str, Any],
    alike: bool = True,
) -> list[Finding]:
    """What is said of the units that only gold has and that only the prediction has; ``first`` are ids of each side."""
    out, near = [], _look_alikes(name, *lone) if alike and all(map(len, lone)) else []
    if counts["gold"] and counts["pred"] and not counts["aligned"]:
        if (moved := len({*lone[0].id} & {*lone[1].id})) and (cases := _apart(*lone)):
            return [finding("no-common-cases", name, gold=cases[0], pred=cases[1], count=moved)]
        shown = [", ".join(map(repr, ids)) for ids in first]
        return [finding("no-common-ids", name, gold=shown[0], pred=shown[1]), *near]
    if counts["gold_only"]:
        missing = options.get("missing", "wrong")
        code = "missing-predictions" if missing == "error" else "gold-only-ids"
        policy = {"skip": "not there at all"}.get(missing, "wrong")
        facts: dict[str, Any] = {"count": counts["gold_only"], "total": counts["gold"], "policy": policy}
        out.append(finding(code, name, examples=_examples(lone[0]), **facts))
    if counts["pred_only"]:
        policy = "counted as wrong" if options.get("extra") == "wrong" else "left out"
        facts = {"count": counts["pred_only"], "policy": policy}
        out.append(finding("pred-only-ids", name, examples=_examples(lone[1]), **facts))
    return out + near


def _apart(*lone: Keys) -> list[str]:
    """The first test cases of each side, where they share none."""
    used = [{*keys.case.used()} for keys in lone]
    return [] if used[0] & used[1] else [", ".join(map(repr, sorted(cases)[:EXAMPLES])) for cases in used]


def _examples(keys: Keys) -> str:
    return ", ".join(sorted(keys.id)[:EXAMPLES])


def _look_alikes(name: str, gold: Keys, pred: Keys) -> list[Finding]:
    """Ids of either side that would meet if they were spelt alike, or if the test cases were."""
    here, there = ([(id, case) for case, id in keys.pairs()] for keys in (gold, pred))
    near, same = {_folded(id): id for id, _ in there}, dict(there)
    spelt = sorted({(id, near[_folded(id)]) for id, _ in here if near.get(_folded(id), id) != id})
    moved = sorted({(id, case, same[id]) for id, case in here if id in same})
    out = []
    if spelt:
        out.append(finding("ids-alike", name, count=len(spelt), gold=spelt[0][0], pred=spelt[0][1]))
    if moved:
        id, of_gold, of_pred = moved[0]
        out.append(
            finding("test-cases-differ", name, count=len({m[0] for m in moved}), id=id, gold=of_gold, pred=of_pred)
        )
    return out


_FRACTION = re.compile(r"\.0+$")


def _folded(id: str) -> str:
    """An id in small letters, without blanks, leading zeros or a final .0 (as ids get on their way through a sheet)."""
    return _FRACTION.sub("", id.strip().lower()).lstrip("0")


@dataclass(frozen=True, eq=False)
class Aligned:
    """Both sides over the same rows; a row stands for ``n`` units.

    Nothing in it refers to a row or an entry by its absolute number (a parent is the n-th entry *of its unit*), so
    that taking, collapsing and merging never have to know what a column means.
    """

    case: Codes
    """Test case of each row; its names are sorted, and all in use."""
    n: Ints
    in_gold: Mask
    in_pred: Mask
    gold: Entries
    pred: Entries
    names: dict[str, list[str]]
    rows: dict[str, Any] = field(default_factory=dict)
    """Columns of the rows that ride along, and those that a context's ``reduce`` adds."""
    unit: Ints | None = None
    """Row of each single unit, where units were asked for."""
    ids: Sequence[str] | None = None
    """Ids of the single units."""
    facts: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.n)

    @classmethod
    def of(cls, gold: Side, pred: Side, both: Meeting, *, units: bool = True) -> Self:
        """The units of a meeting as rows, gold's vocabulary and the prediction's as one."""
        names = {
            name: vocabulary(name, [gold.names.get(name, ()), pred.names.get(name, ())])
            for name in {**gold.names, **pred.names}
        }
        of_gold, of_pred = _under_rows(gold, both, both.gold, names), _under_rows(pred, both, both.pred, names)
        case = _cases(gold.keys.case, pred.keys.case, both)
        ids = _ids(gold.keys, pred.keys, both) if units else None
        size = len(case.code)
        unit = np.arange(size) if units else None
        rows = {name: _carried(column, both.gold) for name, column in gold.units.items()}
        rows |= {f"pred {name}": _carried(column, both.pred) for name, column in pred.units.items()}
        facts = {"gold": gold.facts, "pred": pred.facts}
        n = np.broadcast_to(np.int64(1), size) if both.n is None else both.n
        in_gold, in_pred = (np.ones(size, bool) if both.same else of >= 0 for of in (both.gold, both.pred))
        return cls(case, n, in_gold, in_pred, of_gold, of_pred, names, rows, unit, ids, facts)

    def take(self, index: Ints, n: Ints | None = None) -> Self:
        """Rows in another order, or some of them (single units follow), which may stand for ``n`` units now."""
        unit, ids = self.unit, self.ids
        if unit is not None and ids is not None:
            to = np.full(len(self), -1)
            to[index] = np.arange(len(index))
            inside = np.flatnonzero(to[unit] >= 0)
            unit, ids = to[unit[inside]], [ids[i] for i in inside.tolist()]
        rows = {name: _carried(column, index) for name, column in self.rows.items()}
        return replace(
            self, case=_taken(self.case, index), n=self.n[index] if n is None else n, in_gold=self.in_gold[index], in_pred=self.in_pred[index],
            gold=self.gold.taken(index, len(self)), pred=self.pred.taken(index, len(self)), rows=rows, unit=unit, ids=ids,
        )  # fmt: skip

    def in_order(self) -> Self:
        """Rows by test case and id (by size where all ids are numbers): the order of a file changes nothing."""
        if self.ids is None or self.unit is None:
            return self
        if not np.array_equal(self.unit, np.arange(len(self))):
            of_row = [self.ids[unit] for unit in np.argsort(self.unit, kind="stable").tolist()]
            return replace(self, unit=np.arange(len(self)), ids=of_row).in_order()
        ids, place = self.ids, _places(self.ids)
        if len(self.case.names) < 2 and (isinstance(place, range) or all(map(lt, place, islice(place, 1, None)))):
            return self
        case = self.case.code.tolist()
        order = sorted(range(len(self)), key=lambda row: (case[row], place[row]))
        if order == list(range(len(self))):
            return self
        out = replace(self, unit=None).take(np.array(order, np.int64))
        return replace(out, unit=np.arange(len(self)), ids=[ids[i] for i in order])

    def collapsed(self) -> Self:
        """Equal rows as one, ``n`` raised: exact, and in an order that depends on what the rows say alone."""
        everywhere = self.in_gold.all() and self.in_pred.all()
        absent = [] if everywhere else [~self.in_gold * 2 + ~self.in_pred]
        key, size = self.case.code, len(self.case.names)
        for part in (_contents(self.gold, len(self)), _contents(self.pred, len(self)), *absent):
            wide = int(part.max(initial=0)) + 1
            if size * wide > LARGEST_KEY >> len(key).bit_length():
                key = distinct(key)[1]
                size = int(key.max(initial=0)) + 1
            if size == 1:
                key = part
            else:
                key = np.multiply(key, wide, dtype=np.int64)
                np.add(key, part, out=key, casting="unsafe")
            size *= wide
        last, n, group = groups(key, size, self.n)
        unit = None if self.unit is None else group()[self.unit]
        return replace(replace(self, unit=None, rows={}).take(last, n), unit=unit, ids=self.ids)

    @classmethod
    def merge(cls, parts: Sequence[Self]) -> Self:
        """Batches of whole units as one table: exact, whatever their number and order."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        names = {name: vocabulary(name, [part.names[name] for part in parts]) for name in first.names}
        start = starts(np.array(list(map(len, parts)))).tolist()
        gold, pred = (
            Entries.joined(
                [_shifted(getattr(part, side), at, part.names, names) for part, at in zip(parts, start, strict=True)]
            )
            for side in ("gold", "pred")
        )
        n, in_gold, in_pred = (
            np.concatenate([getattr(p, name) for p in parts]) for name in ("n", "in_gold", "in_pred")
        )
        case = Codes.joined([part.case for part in parts])
        rows = {name: _put([part.rows[name] for part in parts]) for name in first.rows}
        unit, ids = None, None
        if all(part.unit is not None for part in parts):
            unit = np.concatenate(
                [part.unit + at for part, at in zip(parts, start, strict=True) if part.unit is not None]
            )
            ids = [id for part in parts for id in part.ids or ()]
        return cls(case, n, in_gold, in_pred, gold, pred, names, rows, unit, ids, first.facts)

    def partners(self, key: str) -> Ints:
        """The predicted entry that has the unit and text of each gold entry, −1 where none has: by a hash, every hit compared."""
        index, salt = self.gold.index(key)
        at, code = index.find(part.hashes(key, salt) for _, part in self.pred.blocks())
        same = self.pred.alike(key, at, self.gold, index.row[code])
        entry = np.full(len(index.row), -1)
        entry[code[same]] = at[same]
        return entry[index.code]

    def met(self, key: str) -> tuple[Ints, Ints, Ints]:
        """Entries of either side by (row, number), in order: the row, gold's entry, the prediction's (−1: none)."""
        number = [side[key] for side in (self.gold, self.pred)]
        low, high = min(n.min(initial=0) for n in number), max(n.max(initial=0) for n in number)
        gold, pred = (
            side.unit * (high - low + 1) + n - low for side, n in zip((self.gold, self.pred), number, strict=True)
        )
        if np.array_equal(gold, pred) and (gold[1:] > gold[:-1]).all():  # most often: nothing is looked up
            every = np.arange(len(gold))
            return self.gold.unit, every, every
        both, place = distinct(np.concatenate([gold, pred]))
        out = np.full((2, len(both)), -1)
        out[0, place[: len(gold)]], out[1, place[len(gold) :]] = np.arange(len(gold)), np.arange(len(pred))
        row = np.zeros(len(both), np.int64)
        row[place] = np.concatenate([self.gold.unit, self.pred.unit])
        return row, out[0], out[1]


def _under_rows(side: Side, both: Meeting, units: Ints, names: Mapping[str, Sequence[str]]) -> Entries:
    """A side's entries under the numbers of the rows that hold its units."""
    if both.same:
        return side.entries.recoded(side.names, names)
    to = np.full(len(side), -1)
    to[units[units >= 0]] = np.flatnonzero(units >= 0)
    return side.entries.recoded(side.names, names).moved(to)


def _shifted(side: Entries, at: int, old: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]]) -> Entries:
    return Entries(side.unit + at, side.columns).recoded(old, new)


LARGEST_KEY = 1 << 63
"""Keys below this are whole numbers of 64 bits; they are sorted together with their rows where these have room beside them."""


def _contents(side: Entries, rows: int) -> Ints:
    """A code for what each row's entries say, as sets: rising with the contents, whatever the order of the file."""
    columns = [side.columns[name] for name in sorted(side.columns)]
    if side.one_each(rows):
        return reduce(paired, map(ranked, columns)) if columns else np.zeros(rows, np.int64)
    columns = _rising(side, rows, columns)
    code, known = np.zeros(rows, np.int64), 1
    for part in _by_depth(side, columns, rows):
        wide = int(part.max()) + 1
        if known * wide > PACKED:
            code = distinct(code)[1]
            known = int(code.max()) + 1
            if known == rows:  # no two are alike: what follows cannot change their order
                return code
        code *= wide
        code += part
        known *= wide
    return code


def _by_depth(side: Entries, columns: Sequence[Any], rows: int) -> Iterator[Ints]:
    """What the first entry of each row says, column by column, then the second, …; a row without one comes last."""
    if wide := side.wide(rows):
        yield from (ranked(column[depth::wide]) for depth in range(wide) for column in columns)
        return
    size = side.sizes(rows)
    start, nothing = starts(size), int(columns[0].max(initial=-1)) + 1
    for depth in range(int(size.max(initial=0))):
        has = np.flatnonzero(size > depth)
        for nth, column in enumerate(columns):
            every = np.full(rows, 0 if nth else nothing)
            every[has] = ranked(column[start[has] + depth])
            yield every


PACKED = 1 << 40
"""Codes of contents stay below this, or below rows times the codes of an entry."""


def _rising(side: Entries, rows: int, columns: Sequence[Any]) -> list[Any]:
    """What entries say, in its order within their units: column by column where the first tells them apart, else as one.

    A column that says the same in all rows, as the places of labels that stand in their order, does not tell them apart.
    """
    first = ranked(columns[0])
    if side.of({"first": first}).rises("first", rows):
        columns = [first, *columns[1:]]
        return [column for column in columns if side.of({"same": column}).pattern("same", rows) is None]
    what = reduce(paired, map(ranked, columns))
    wide = int(what.max(initial=0)) + 1
    key = side.unit * wide + what
    if (key[1:] < key[:-1]).any():
        key.sort()
        what = key % wide
    return [what]


def _cases(gold: Codes, pred: Codes, both: Meeting) -> Codes:
    if both.same:
        names = sorted(gold.names)
        return _used(Codes(gold.inside(names), names))
    names = sorted({*gold.names, *pred.names})
    of_gold, of_pred = np.append(gold.inside(names), -1)[both.gold], np.append(pred.inside(names), -1)[both.pred]
    return _used(Codes(np.where(both.gold >= 0, of_gold, of_pred), names))


def _taken(case: Codes, index: Ints) -> Codes:
    """The cases of other rows."""
    if len(case.names) == 1 and len(index):
        return Codes(np.zeros(len(index), np.int64), case.names)
    return _used(case.take(index))


def _used(case: Codes) -> Codes:
    """Only the names in use, in their order."""
    if len(case.names) == 1 and len(case.code):
        return case
    code, place = distinct(case.code)
    return case if len(code) == len(case.names) else Codes(place, [case.names[c] for c in code.tolist()])


def _ids(gold: Keys, pred: Keys, both: Meeting) -> Sequence[str]:
    if len(both.gold) == len(gold) and (both.gold >= 0).all():
        return gold.id
    of_gold, of_pred = gold.id, pred.id
    return [of_gold[g] if g >= 0 else of_pred[p] for g, p in zip(both.gold.tolist(), both.pred.tolist(), strict=True)]


def _places(ids: Sequence[str]) -> Sequence[Any]:
    """What ids are ordered by: numbers by their size, other texts by their signs."""
    if isinstance(ids, Positions):
        return ids.number
    if all(map(str.isdecimal, ids)):
        return [(len(digits), digits, id) for id in ids for digits in (id.lstrip("0"),)]
    return ids


def _carried(column: Any, index: Ints) -> Any:
    """A column that rides along, for other rows; nothing where gold has no such unit."""
    if isinstance(column, list):
        return [column[i] if i >= 0 else None for i in index.tolist()]
    if isinstance(column, Codes):
        return Codes(np.append(column.code, -1)[index], column.names)
    return column[index]


def _put(columns: Sequence[Any]) -> Any:
    if isinstance(columns[0], list):
        return [value for column in columns for value in column]
    if isinstance(columns[0], Codes):
        names = sorted({name for column in columns for name in column.names})
        return Codes(np.concatenate([recode(c.code, c.names, names) for c in columns]), names)
    return np.concatenate(columns)

# SPDX-License-Identifier: Apache-2.0
"""Gold and predicted pages read from the engine as flat arrays, and put side by side by document and page number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.base import Columns, Run, Table
from karat.contexts.splitting.pages import Bools, Floats, Ints

Name = tuple[str, str]
"""Test case and document id of a bundle."""


@dataclass(frozen=True)
class Side:
    """The pages of one side, a bundle's pages together; `category` holds one text per page, or one per bundle."""

    names: list[Name]
    size: Ints
    number: Ints
    first: Bools
    confidence: Floats | None
    category: NDArray[Any]
    open_ended: Bools
    """Bundles whose last page is not said: whatever pages follow begin no file."""

    @cached_property
    def bundle(self) -> Ints:
        return np.repeat(np.arange(len(self.names)), self.size)

    @cached_property
    def page_category(self) -> NDArray[Any]:
        """Category of each page; None where there is none."""
        return self.category if len(self.category) == len(self.number) else self.category[self.bundle]


def read_side(run: Run, table: Table) -> Side:
    """One side's pages; only pages of bundles that are scattered over the file are sorted."""
    bundles = _bundles(run, table)
    together = bool((bundles["last"] - bundles["first"] + 1 == bundles["size"]).all())
    order = "" if together else " ORDER BY test_case, id"
    if not together:
        at = np.lexsort((bundles["id"].astype(str), bundles["test_case"].astype(str)))
        bundles = {name: column[at] for name, column in bundles.items()}
    wanted = ["number", "first"] + [c for c in ("confidence",) if c in table.columns]
    uniform = _uniform(bundles)
    pages = run(f"SELECT {', '.join(wanted + ['category'] * (not uniform))} FROM {table.sql}{order}")
    return Side(
        list(zip(bundles["test_case"].tolist(), bundles["id"].tolist(), strict=True)),
        bundles["size"].astype(np.int64),
        pages["number"].astype(np.int64),
        _flags(pages["first"]),
        pages["confidence"].astype(float) if "confidence" in pages else None,
        bundles["low"] if uniform else pages["category"],
        bundles["open_ended"].astype(bool),
    )


def _flags(column: NDArray[Any]) -> Bools:
    """A null flag, which only a threshold allows, arrives as NaN or None."""
    return column if column.dtype == bool else column == 1


def _bundles(run: Run, table: Table) -> Columns:
    """Documents in order of appearance: where they stand, how many pages, and the range of their categories."""
    category = "category" if "category" in table.columns else "CAST(NULL AS VARCHAR)"
    open_ended = "open_ended" if "open_ended" in table.columns else "false"
    return run(
        "SELECT test_case, id, min(nth) AS first, max(nth) AS last, count(*) AS size, min(category) AS low,"
        " max(category) AS high, count(category) AS given, bool_or(open_ended) AS open_ended"
        f" FROM (SELECT test_case, id, {category} AS category, {open_ended} AS open_ended, row_number() OVER () - 1 AS nth FROM {table.sql})"
        " GROUP BY test_case, id ORDER BY first"
    )


def _uniform(bundles: Columns) -> bool:
    """Has every document one category, or none? Then the texts of its pages need not be read."""
    whole = (bundles["given"] == bundles["size"]) & (bundles["low"] == bundles["high"])
    return bool((whole | (bundles["given"] == 0)).all())


@dataclass(frozen=True)
class Paired:
    """Both sides on the same pages: which page of each side stands where, -1 for none."""

    names: list[Name]
    bundle: Ints
    number: Ints
    gold_at: Ints
    pred_at: Ints
    in_gold: Bools
    """The page is in gold, or follows the last one of an open-ended bundle."""
    in_pred: Bools

    def kept(self, keep: Bools) -> Paired:
        """Only these pages; bundles stay, even without pages."""
        return replace(self, **{n: getattr(self, n)[keep] for n in self.__dataclass_fields__ if n != "names"})


def paired(gold: Side, pred: Side) -> Paired:
    """Pages by document id and number; documents in gold's order, then those of the prediction alone."""
    names, gold_bundle, pred_bundle = _common_names(gold, pred)
    low = min((int(s.number.min()) for s in (gold, pred) if len(s.number)), default=0)
    span = max((int(s.number.max()) for s in (gold, pred) if len(s.number)), default=0) - low + 1
    gold_key, gold_order = _sorted(gold_bundle[gold.bundle] * span + gold.number - low)
    pred_key, pred_order = _sorted(pred_bundle[pred.bundle] * span + pred.number - low)
    same = len(gold_key) == len(pred_key) and bool((gold_key == pred_key).all())
    key = gold_key if same else np.union1d(gold_key, pred_key)
    gold_at, pred_at = _positions(key, gold_key, gold_order), _positions(key, pred_key, pred_order)
    bundle, number = key // span, key % span + low
    inside = [
        (at >= 0) | _after_the_end(bundle, at, code[side.open_ended])
        for at, code, side in ((gold_at, gold_bundle, gold), (pred_at, pred_bundle, pred))
    ]
    return Paired(names, bundle, number, gold_at, pred_at, *inside)


def _after_the_end(bundle: Ints, at: Ints, open_ended: Ints) -> Bools:
    """Pages after the last one that an open-ended bundle names."""
    if not len(open_ended) or (at >= 0).all():
        return np.zeros(len(at), bool)
    last = np.full(int(bundle.max()) + 1, len(bundle))
    last[open_ended] = -1
    known = np.flatnonzero((at >= 0) & (last[bundle] < len(bundle)))
    np.maximum.at(last, bundle[known], known)
    return np.arange(len(bundle)) > last[bundle]


def _common_names(gold: Side, pred: Side) -> tuple[list[Name], Ints, Ints]:
    if gold.names == pred.names:
        every = np.arange(len(gold.names))
        return gold.names, every, every
    code = {name: i for i, name in enumerate(dict.fromkeys([*gold.names, *pred.names]))}
    gold_code, pred_code = (np.array([code[n] for n in side.names], np.int64) for side in (gold, pred))
    return list(code), gold_code, pred_code


def _sorted(key: Ints) -> tuple[Ints, Ints]:
    if (key[1:] > key[:-1]).all():
        return key, np.arange(len(key))
    order = np.argsort(key, kind="stable")
    return key[order], order


def _positions(wanted: Ints, key: Ints, order: Ints) -> Ints:
    """Page of a side for each wanted key."""
    if len(wanted) == len(key):
        return order
    at = np.full(len(wanted), -1)
    at[np.searchsorted(wanted, key)] = order
    return at


def taken(values: NDArray[Any], at: Ints, missing: Any) -> NDArray[Any]:
    """The values at these positions, and ``missing`` where there is none."""
    if len(at) == len(values) and (at[:1] >= 0).all() and (at[1:] > at[:-1]).all():
        return values
    out = np.full(len(at), missing, values.dtype)
    out[at >= 0] = values[at[at >= 0]]
    return out


def category_codes(gold: NDArray[Any], pred: NDArray[Any] | None, none: str) -> tuple[list[str], list[Ints]]:
    """Categories in order of first appearance, gold's first, and each side's codes; ``none`` comes last if needed."""
    sides: Sequence[NDArray[Any]] = [gold] if pred is None else [gold, pred]
    known = dict.fromkeys(v for side in sides for v in side.tolist())
    lacking = known.pop(None, ...) is None or not known
    classes = [*known, none] if lacking else list(known)
    code: dict[Any, int] = {name: i for i, name in enumerate(classes)} | {None: len(classes) - 1}
    return classes, [np.fromiter((code[v] for v in side.tolist()), np.int64, len(side)) for side in sides]

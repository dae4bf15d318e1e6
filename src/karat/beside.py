# SPDX-License-Identifier: Apache-2.0
"""Columns of gold that no metric reads: what units are sliced and weighed by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from karat.findings import Finding, InputError, finding
from karat.metric import MetricError
from karat.side import Side
from karat.values import name_of, plain, text

if TYPE_CHECKING:
    from karat.stats.clusters import ClusterKeys
    from karat.stats.slices import SliceKeys

Reader = Callable[[str], "ClusterKeys"]
"""The values of a column of gold, by unit."""
Given = str | Mapping[str, Any] | Iterable[Any] | None


def named_columns(slices: Given, weight: Any) -> list[str]:
    """The columns of gold that must be read, in the order in which they were named."""
    names = []
    if listed := as_list(slices):
        from karat.stats.slices import spec  # SciPy takes longer to import than most evaluations take

        names = [spec(text)[0] for text in listed]
    return list(dict.fromkeys([*names, *([weight] if isinstance(weight, str) else [])]))


def as_list(slices: Given) -> list[str]:
    """Columns as they were named: one, or several."""
    return (
        [] if slices is None or isinstance(slices, Mapping) else [slices] if isinstance(slices, str) else list(slices)
    )


def sliced_by(slices: Given, read: Reader, gold: Any, handed: Side | None) -> list[SliceKeys]:
    """The slices of every column that was asked for."""
    if not slices:
        return []
    from karat.stats.slices import slice_keys, spec

    if isinstance(slices, Mapping):
        return [slice_keys(in_memory(str(name), values, gold, handed)) for name, values in slices.items()]
    return [slice_keys(read(column), bins) for column, bins in (spec(text) for text in as_list(slices))]


def weighed_by(weight: Any, read: Reader, gold: Any, handed: Side | None) -> ClusterKeys:
    """What each unit weighs, as gold or the user says it."""
    return read(weight) if isinstance(weight, str) else in_memory("weight", weight, gold, handed)


def in_memory(name: str, values: Any, gold: Any, handed: Side | None = None) -> ClusterKeys:
    """Values that stand beside gold in memory: one for each unit that was handed in, in order, or by id."""
    from karat.stats.clusters import ClusterKeys

    if not isinstance(gold, Side):
        raise MetricError(f"{name}: values beside gold need gold in memory; name a column of the file instead")
    if gold.keys.by_position and has_index(values):
        values = values.to_numpy()
    rows = sorted(_paired(name, values, list((handed or gold).keys.pairs()), gold.context == "ranking"))
    if handed is not None and len(handed) > len(gold):
        kept = {f"{case}\x1f{id}" for case, id in gold.keys.pairs()}
        rows = [row for row in rows if row[0] in kept]
    return ClusterKeys(np.array([u for u, _ in rows], str), np.array([v for _, v in rows], str), name)


def _paired(
    name: str, values: Any, units: Sequence[tuple[str, str]], queries: bool
) -> Iterator[tuple[str, str]]:  # fmt: skip
    named = values if isinstance(values, Mapping) else by_id(values, {u[0] if queries else u[1] for u in units})
    if named is not None:
        of = {spelt(k): v for k, v in named.items()}
        pairs = [(u, of.get(u[0] if queries else u[1])) for u in units]
    else:
        listed = _listed(name, values)
        if len(listed) != len(units):
            raise MetricError(f"{name}: {len(listed)} values for {len(units)} units of gold")
        pairs = list(zip(units, listed, strict=True))
    for (case, id), value in pairs:
        if _is_there(value):
            yield case if queries else f"{case}\x1f{id}", spelt(value)


def by_id(values: Any, ids: set[str]) -> Mapping[Any, Any] | None:
    """A series of pandas whose index names units of gold, by them; rows that are only counted from 0 name none."""
    if not has_index(values) or values.ndim != 1 or not values.index.is_unique:
        return None
    labels = [text(label) for label in plain(values.index.tolist())]
    counted = labels == [str(row) for row in range(len(labels))]
    if len({*labels}) < len(labels) or not (ids <= {*labels} if counted else ids & {*labels}):
        return None
    return dict(zip(labels, values.tolist(), strict=True))


def has_index(given: Any) -> bool:
    """Is this a series or frame of pandas?"""
    return type(given).__module__.partition(".")[0] == "pandas" and hasattr(given, "loc")


def _listed(name: str, values: Any) -> list[Any]:
    try:
        if not isinstance(values, (set, frozenset)):
            return list(values.to_pylist() if hasattr(values, "to_pylist") else values)
        fault = f"{name}: a set has no order by which units could be weighed or sliced"
    except TypeError:
        fault = f"{name}: {values!r} is one value for all units of gold"
    way_out = "name a column of gold, or give a value for each unit, in order or by id"
    raise InputError([finding("bad-option", None, message=fault, way_out=way_out)])


def _is_there(value: Any) -> bool:
    """NaN and NaT differ from themselves; pandas.NA will not say, and neither will an array, which is something."""
    try:
        return value is not None and bool(value == value)
    except (TypeError, ValueError) as error:
        return isinstance(error, ValueError)


def spelt(value: Any) -> str:
    """A value as a column of gold would spell it: 1.0 is 1.

    >>> spelt(2.0), spelt(True), spelt(0.25), spelt("es")
    ('2', 'true', '0.25', 'es')
    """
    return name_of(value) or ""


def beside_record(slices: Given, weight: Any) -> dict[str, Any]:
    """What a plan says of slices and weights."""
    columns = list(slices) if isinstance(slices, Mapping) else as_list(slices)
    record: dict[str, Any] = {"slices": [str(c) for c in columns]} if columns else {}
    return record | ({} if weight is None else {"weight": weight if isinstance(weight, str) else "given"})


def not_ignored(findings: Iterable[Finding], columns: Iterable[str]) -> list[Finding]:
    """Findings without the word that columns which are used are ignored."""
    used, out = {*columns}, list[Finding]()
    for f in findings:
        if f.code == "extra-fields" and used:
            rest = [c for c in f.message.removeprefix("ignored: ").split(", ") if c not in used]
            f = msgspec.structs.replace(f, message="ignored: " + ", ".join(rest))
            if not rest:
                continue
        out.append(f)
    return out


def slice_error(error: InputError, columns: Sequence[str]) -> InputError:
    """The same error in the words of slices, where a column that is missing was to be sliced by."""
    return InputError([_reworded(f, columns) for f in error.findings])


def _reworded(old: Finding, columns: Sequence[str]) -> Finding:
    column = next((c for c in columns if f"column {c!r}" in old.message), None)
    if old.code != "cluster-column-missing" or column is None:
        return old
    there = old.message.rpartition(": ")[2]
    return finding("slice-column-missing", old.file, old.line, column=column, found=there)

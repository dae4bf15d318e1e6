# SPDX-License-Identifier: Apache-2.0
"""Columns of one name: which of them is meant cannot be told, in files, frames and dicts alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from karat.findings import InputError, finding
from karat.read.names import match_columns
from karat.read.pages import shape
from karat.read.table import Read


def must_differ(names: Sequence[str], read: Read, line: int | None = None, classes: bool = True) -> None:
    """Refuse a column that is needed and there twice, in whatever letters; without one of values, each may be one of scores.

    ``classes``: whether those of a and A are one, as they are to the engine.
    """
    roles = match_columns(list(names), read.columns, side=read.side)
    used = {name.strip().lower() for name in (*roles.values(), *read.columns.values())}
    every = classes and not {"value"} & (roles.keys() | read.columns.keys()) and not shape(names, read)
    twice = [name for name, times in Counter(name.strip().lower() for name in names).items() if times > 1]
    if bad := sorted(name for name in twice if every or name in used):
        raise InputError([finding("repeated-column", read.name, line, name=name) for name in bad])

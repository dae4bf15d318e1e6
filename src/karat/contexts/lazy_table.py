# SPDX-License-Identifier: Apache-2.0
"""Tables that are made when they are read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from karat.evaluation import Detail

LISTED = 1000
"""Longest list of errors; the counts are of all of them."""

SCORES = ["precision", "recall", "f1"]


class LaterDetail(Detail):
    """A table whose rows are computed when they are first read: reports that do not show it cost nothing."""

    def __init__(
        self, name: str, title: str, columns: list[str], make: Callable[[], list[list[Any]]], kind: str = "table"
    ) -> None:
        for key, value in (("name", name), ("title", title), ("columns", columns), ("kind", kind), ("_make", make)):
            object.__setattr__(self, key, value)

    @cached_property
    def rows(self) -> list[list[Any]]:  # type: ignore[override]
        make: Callable[[], list[list[Any]]] = self._make  # type: ignore[attr-defined]
        return make()

    def stored_as(self) -> Detail:
        return Detail(self.name, self.title, self.columns, self.rows, self.kind)

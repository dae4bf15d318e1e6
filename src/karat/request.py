# SPDX-License-Identifier: Apache-2.0
"""What the user said about inputs and scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from karat.beside import named_columns
from karat.findings import Finding
from karat.inputs import Given, beside_by_index
from karat.metric import Metric, MetricError


@dataclass(frozen=True)
class Asked:
    """What the user said about inputs and scores."""

    context: str | None
    metrics: Iterable[str | Metric] | None
    format: str | None
    encoding: str | None
    columns: Mapping[str, str]
    undefined: str
    seed: int
    units: bool
    cluster_by: str | None
    options: Mapping[str, Any]
    hashes: bool | None = None
    max_unpacked: int | None = None
    separator: str | None = None
    shared: bool = False
    memory: int | None = None
    temp: str | None = None
    slices: Any = None
    weight: Any = None
    engine: str | None = None
    master: str | None = None
    keep_going: bool = False
    allow_same: bool = False
    """Whether gold may be scored against itself."""
    compared: bool = False
    """Whether slices are those of a comparison, which scores them itself."""

    def __post_init__(self) -> None:
        for name, size in (("memory", self.memory), ("max_unpacked", self.max_unpacked)):
            if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
                raise MetricError(f"{name}={size!r} is no number of bytes: write 500_000_000 for 500 MB")

    @cached_property
    def beside(self) -> list[str]:
        """Columns of gold by which units are sliced and weighed."""
        nothing = self.slices is None and self.weight is None
        return [] if nothing else named_columns(self.slices, self.weight)

    def in_order(self, gold: Any) -> tuple[Asked, list[Finding]]:
        """What stands beside gold in the order of its index, and what is to be said about it."""
        sliced = self.slices if isinstance(self.slices, Mapping) else {}
        weighed = {} if self.weight is None else {"weight": self.weight}
        slices, of_slices = beside_by_index(gold, sliced)
        weight, of_weight = beside_by_index(gold, weighed)
        asked = replace(self, slices=slices if sliced else self.slices, weight=weight.get("weight"))
        return asked, of_slices + of_weight

    @cached_property
    def carried(self) -> str | None:
        """The column that rides along when gold is read: that of clusters, else the first of those beside."""
        return self.cluster_by or next(iter(self.beside), None)

    @cached_property
    def given(self) -> Given:
        clustered = {"cluster": self.carried} if self.carried else {}
        columns = {**self.columns, **clustered}
        return Given(
            self.format, self.encoding, columns, self.context, self.options, self.max_unpacked, self.separator,
            self.shared,
        )  # fmt: skip

    @property
    def reading(self) -> dict[str, Any]:
        """What must be known to read the inputs again."""
        settings = {"format": self.format, "encoding": self.encoding, "columns": dict(self.columns)}
        settings |= {"separator": self.separator} if self.separator else {}
        return settings | ({"allow_same": True} if self.allow_same else {})

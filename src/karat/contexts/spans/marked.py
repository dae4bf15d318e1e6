# SPDX-License-Identifier: Apache-2.0
"""The entries of a side as spans: half open, under full names, tags decoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.columns import Ints, distinct, starts
from karat.contexts.spans.nested import SEPARATOR, depths
from karat.contexts.spans.span import Spans
from karat.contexts.spans.tags import Tagged, decode, detect_scheme, labels_of
from karat.side import Entries

Text = str | list[str] | None
"""A document's characters, or its tokens where positions count tokens."""


@dataclass(frozen=True, eq=False)
class Marked:
    """Half-open spans with their labels' names and, for nested entities, the row of each one's parent."""

    spans: Spans
    labels: list[str]
    parent: Ints | None = None

    @staticmethod
    def of_entries(
        entries: Entries, labels: list[str], units: int, facts: Mapping[str, Any], options: Mapping[str, Any]
    ) -> Marked:
        """Entries with places; ends are inclusive if the user or the file says so."""
        inclusive = facts.get("inclusive", False) if options["ends"] == "auto" else options["ends"] == "inclusive"
        end = entries["end"] + 1 if inclusive else entries["end"]
        spans = Spans(entries.unit, entries["start"], end, entries["label"])
        if "parent" not in entries:
            return Marked(spans, labels)
        first = starts(entries.sizes(units))[entries.unit]
        return Marked(spans, labels, np.where(entries["parent"] >= 0, entries["parent"] + first, -1))

    @staticmethod
    def of_tags(tagged: Tagged, scheme: str) -> Marked:
        labels = labels_of([tagged])
        return Marked(decode(tagged, labels, scheme), labels)

    @property
    def used(self) -> list[str]:
        """Labels that a span has; a tag that begins no span leaves its label out."""
        number = np.bincount(self.spans.label, minlength=len(self.labels))
        return [label for label, n in zip(self.labels, number.tolist(), strict=True) if n]

    def full_names(self) -> Marked:
        """Labels with their parents' names in front, joined by `::`."""
        if self.parent is None or not (self.parent >= 0).any():
            return self
        depth = depths(self.parent)
        code, names = self.spans.label.copy(), list(self.labels)
        for level in range(1, int(depth.max()) + 1):
            rows = np.flatnonzero(depth == level)
            above = code[self.parent[rows]]
            pairs, place = distinct(above * len(self.labels) + self.spans.label[rows])
            code[rows] = len(names) + place
            names += [
                f"{names[pair // len(self.labels)]}{SEPARATOR}{self.labels[pair % len(self.labels)]}"
                for pair in pairs.tolist()
            ]
        return Marked(self.spans.labelled(code), names, self.parent)

    def under(self, labels: Sequence[str]) -> Spans:
        """The spans with codes into another list of labels, which has all that are used."""
        place = {label: i for i, label in enumerate(labels)}
        code = np.array([place.get(label, -1) for label in self.labels], np.int64)
        return self.spans.labelled(code[self.spans.label])


def tagged(entries: Entries, lengths: Ints, tags: Sequence[str]) -> Tagged:
    """Entries with a place and a tag as tag sequences; O, which has no entries, is the first tag."""
    at = starts(lengths)[entries.unit] + entries["place"]
    return Tagged(at, entries["tag"] + 1, lengths, ["O", *tags], unit=entries.unit)


def scheme_of(wanted: str, *sides: Tagged | None) -> str:
    """The tag scheme that an option means: `strict` is the one that the tags of the first side that has some show."""
    first = next((side for side in sides if side is not None), None)
    return detect_scheme(first.used) if wanted == "strict" and first is not None else wanted

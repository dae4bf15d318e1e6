# SPDX-License-Identifier: Apache-2.0
"""One side as it was read: documents with spans or tags, before gold and prediction meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.spans.nested import SEPARATOR
from karat.contexts.spans.span import Ints, Spans
from karat.contexts.spans.tags import Tagged, decode, detect_scheme, labels_of
from karat.state import restored


class Numbered(Sequence[str]):
    """The ids "1", "2", … of documents that are known by their place, made when they are asked for."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: Any) -> Any:
        found = range(1, self._size + 1)[place]
        return [str(n) for n in found] if isinstance(place, slice) else str(found)

    def __eq__(self, other: object) -> bool:
        return self._size == other._size if isinstance(other, Numbered) else list(self) == other

    __hash__ = None  # type: ignore[assignment]

    def stored_as(self) -> list[str]:
        return list(self)


@restored("spans-numbered-ids")
def _numbered(fields: dict[str, Any]) -> list[str]:
    return list(Numbered(fields["_size"]))


class Encoded(Sequence[str]):
    """Texts as bytes of one width with zeros in front, decoded when they are asked for."""

    def __init__(self, texts: NDArray[np.bytes_]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, place: Any) -> Any:
        found = self._texts[place]
        return list(map(_decoded, found.tolist())) if isinstance(place, slice) else _decoded(found)

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Encoded) and self._texts.dtype == other._texts.dtype
        return np.array_equal(self._texts, other._texts) if same else list(self) == list(other)  # type: ignore

    __hash__ = None  # type: ignore[assignment]

    def stored_as(self) -> list[str]:
        return list(self)

    @property
    def ascending(self) -> bool:
        """Does each text come after the one before it, shorter ones first? Then none is there twice."""
        return bool(np.all(self._texts[1:] > self._texts[:-1]))


@restored("spans-encoded-ids")
def _encoded(fields: dict[str, Any]) -> list[str]:
    return list(Encoded(fields["_texts"]))


def _decoded(text: bytes) -> str:
    return text.lstrip(b"\0").decode()


Text = str | list[str] | None
"""A document's characters, or its tokens where positions count tokens."""


@dataclass(eq=False)
class Annotated:
    """Documents and their spans; what a format does not have is None."""

    ids: Sequence[str]
    spans: Spans | None = None
    labels: Sequence[str] = ()
    tagged: Tagged | None = None
    test_case: Sequence[str] | None = None
    inclusive: bool = False
    """Do the ends in the file name the last position of a span (and not the one behind it)?"""
    parent: Ints | None = None
    texts: Sequence[Text] | None = None
    quotes: Sequence[str | None] | None = None
    """What the file says each span's text is."""
    lines: Ints | None = None
    """Physical line of each document."""
    span_lines: Ints | None = None
    token_lines: Ints | None = None
    excerpts: bool = False
    """Are the documents pages with excerpts, as the file's own names say?"""
    classes: Sequence[Sequence[str]] | None = None
    """Intents or other classes of each document."""
    prepared: dict[str, Side] = field(default_factory=dict)

    @property
    def keys(self) -> list[Any]:
        """What documents are found by: the id, with the test case where there are test cases."""
        return list(self.ids) if self.test_case is None else list(zip(self.test_case, self.ids, strict=True))

    def records(self) -> dict[str, Any]:
        """What the file says, a row for each document and each span or marked token, for its hash."""
        unit, start, end, label = self._marks()
        every, none = np.arange(len(self.ids)), np.full(len(self.ids), -1)
        length = none if self.tagged is None else self.tagged.lengths
        said = ["\x1f".join(c) for c in self.classes] if self.classes is not None else [""] * len(every)
        at = np.concatenate([every, unit])
        case = np.full(len(every), "", object) if self.test_case is None else np.array(list(self.test_case), object)
        return {
            "test_case": case[at], "id": np.array(list(self.ids), object)[at],
            "start": np.concatenate([none, start]), "end": np.concatenate([length, end]),
            "label": np.concatenate([np.array(said, object), label]),
        }  # fmt: skip

    def _marks(self) -> tuple[Ints, Ints, Ints, Any]:
        """Document, place and label (with its parents' in front) of each span, or the tag of each marked token."""
        if self.tagged is not None:
            tagged = self.tagged
            begin = np.cumsum(tagged.lengths) - tagged.lengths
            place = tagged.at - begin[tagged.sentence]
            return tagged.sentence, place, place + 1, np.array([*tagged.tags, None], object)[tagged.code]
        side = self._from_spans({"ends": "auto"}).paths
        s = side.spans
        return s.unit, s.start, s.end, np.array([*side.labels, None], object)[s.label]

    def scheme(self, wanted: str) -> str:
        """The tag scheme that an option means: `strict` is the one that the tags show."""
        assert self.tagged is not None
        used = self.tagged.used
        return detect_scheme(used, suffix=self.tagged.suffix) if wanted == "strict" else wanted

    def side(self, options: Mapping[str, Any]) -> Side:
        """Half-open spans under the options for ends and tags; computed once for each choice."""
        choice = f"{options['ends']} {options['scheme']}"
        if choice not in self.prepared:
            self.prepared[choice] = self._from_tags(options) if self.spans is None else self._from_spans(options)
        return self.prepared[choice]

    def _from_tags(self, options: Mapping[str, Any]) -> Side:
        assert self.tagged is not None
        labels = labels_of([self.tagged])
        return Side(decode(self.tagged, labels, self.scheme(options["scheme"])), labels, None)

    def _from_spans(self, options: Mapping[str, Any]) -> Side:
        assert self.spans is not None
        inclusive = self.inclusive if options["ends"] == "auto" else options["ends"] == "inclusive"
        s = self.spans
        spans = Spans(s.unit, s.start, s.end + 1, s.label) if inclusive else s
        return Side(spans, list(self.labels), self.parent)


@dataclass(frozen=True, eq=False)
class Side:
    """Half-open spans with their labels' names and, for nested entities, the row of each one's parent."""

    spans: Spans
    labels: list[str]
    parent: Ints | None

    @property
    def used(self) -> list[str]:
        """Labels that a span has; a tag that begins no span leaves its label out."""
        number = np.bincount(self.spans.label, minlength=len(self.labels))
        return [label for label, n in zip(self.labels, number.tolist(), strict=True) if n]

    @property
    def paths(self) -> Side:
        """Labels as full names: parents' names in front, joined by `::`."""
        nested = self.parent is not None and bool(np.any(self.parent >= 0))
        return self._paths if nested else self  # kept by itself, it would outlive its use until garbage is collected

    @cached_property
    def _paths(self) -> Side:
        assert self.parent is not None
        names: dict[str, int] = {}
        paths: list[str] = []
        for label, parent in zip(self.spans.label.tolist(), self.parent.tolist(), strict=True):
            name = self.labels[label]
            paths.append(f"{paths[parent]}{SEPARATOR}{name}" if parent >= 0 else name)
            names.setdefault(paths[-1], len(names))
        s = self.spans
        code = np.array([names[path] for path in paths], dtype=np.int64)
        return Side(Spans(s.unit, s.start, s.end, code), list(names), self.parent)

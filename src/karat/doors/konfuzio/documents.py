# SPDX-License-Identifier: Apache-2.0
"""Light documents, pages and categories for the doors of Konfuzio's evaluations; any objects with these names do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Project:
    """What documents belong to, and the labels that their annotations may have."""

    id_: Any = None
    labels: list[Any] = field(default_factory=list, repr=False)

    def __str__(self) -> str:
        return f"Project {self.id_}"


@dataclass(eq=False)
class Category:
    """What a document is: an invoice, a letter, …"""

    id_: Any
    name: str | None = None
    project: Project | None = None

    def __str__(self) -> str:
        return f"Category: {self.name} ({self.id_})"


NO_CATEGORY = Category(0, "NO_CATEGORY")
"""The category of documents that have none."""


@dataclass(eq=False)
class Document:
    """A bundle of pages; predictions say by ``copy_of_id`` which document they are of."""

    id_: Any = None
    project: Project | None = None
    category: Category | None = None
    text: str | None = field(default=None, repr=False)
    name: str | None = None
    copy_of_id: Any = None
    dataset_status: int = 0
    own_pages: list[Page] = field(default_factory=list, repr=False)
    own_annotations: list[Any] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self.category = self.category or NO_CATEGORY

    @classmethod
    def of(cls, flags: Iterable[bool | None], confidences: Iterable[float | None] = (), **fields: Any) -> Document:
        """A document whose pages have these first-page flags (and confidences).

        >>> [page.is_first_page for page in Document.of([True, False, True], id_=7).pages()]
        [True, False, True]
        """
        document, given = cls(**fields), list(confidences)
        for number, flag in enumerate(flags, 1):
            page = Page(document=document, number=number)
            page.is_first_page = flag
            page.is_first_page_confidence = given[number - 1] if given else None
        return document

    def pages(self) -> list[Page]:
        """Its pages by number."""
        return sorted(self.own_pages, key=lambda page: page.number)

    def annotations(self, use_correct: bool = True) -> list[Any]:
        """Its annotations by place; by default those that are correct."""
        kept = [a for a in self.own_annotations if a.is_correct or not use_correct]
        return sorted(kept, key=lambda a: min((span.start_offset, span.end_offset) for span in a.spans))

    def __str__(self) -> str:
        return f"Document {self.name} ({self.id_})"


@dataclass(eq=False)
class Page:
    """A page of a document; until something else is set, page 1 is first and no other page is."""

    id_: Any = None
    document: Document | None = field(default=None, repr=False)
    start_offset: int = 0
    end_offset: int = 0
    number: int = 1
    original_size: Any = None
    image_size: Any = None
    category: Category | None = None
    copy_of_id: Any = None
    is_first_page: bool | None = field(init=False)
    is_first_page_confidence: float | None = field(init=False)

    def __post_init__(self) -> None:
        self.is_first_page = self.number == 1
        self.is_first_page_confidence = 1 if self.number == 1 else None
        if self.document is not None:
            self.document.own_pages.append(self)

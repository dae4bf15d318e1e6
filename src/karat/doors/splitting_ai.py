# SPDX-License-Identifier: Apache-2.0
"""Konfuzio's driver of a splitting model, for any model with ``predict(page)``; karat trains none."""

from __future__ import annotations

from copy import copy
from typing import Any

from karat.doors.documents import Document, Page
from karat.doors.file_splitting import FileSplittingEvaluation


class SplittingAI:
    """Asks a model about every page but the first of a document, and evaluates its answers.

    The model's ``predict`` is given a page and gives it back with ``is_first_page`` set, and
    ``is_first_page_confidence`` if it has one; `evaluate_full` also wants its ``test_documents`` or ``documents``.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.full_evaluation: FileSplittingEvaluation | None = None

    def propose_split_documents(self, document: Any, return_pages: bool = False, inplace: bool = False) -> list[Any]:
        """The document with flags on its pages, or the documents that it falls into."""
        marked = self._marked(document, inplace)
        return [marked] if return_pages else parts(marked)

    def evaluate_full(self, use_training_docs: bool = False, zero_division: Any = "warn") -> FileSplittingEvaluation:
        """Evaluate the model on its test (or training) documents."""
        gold = list(self.model.documents if use_training_docs else self.model.test_documents)
        pred = [self.propose_split_documents(one, return_pages=True)[0] for one in gold]
        self.full_evaluation = FileSplittingEvaluation(gold, pred, zero_division)
        return self.full_evaluation

    def _marked(self, document: Any, inplace: bool) -> Any:
        marked = document if inplace else copied(document)
        for page in marked.pages():
            if page.number == 1:
                page.is_first_page, page.is_first_page_confidence = True, 1
            else:
                found = self.model.predict(page)
                page.is_first_page = bool(found.is_first_page)
                page.is_first_page_confidence = getattr(found, "is_first_page_confidence", None)
        return marked


def copied(document: Any) -> Document:
    """A document of this module with the same pages, flags unset, that says what it is a copy of."""
    out = Document(
        project=getattr(document, "project", None), category=getattr(document, "category", None),
        text=getattr(document, "text", None), copy_of_id=document.id_,
    )  # fmt: skip
    for page in document.pages():
        own = copy(page)
        own.document, own.is_first_page, own.is_first_page_confidence = out, False, None
        out.own_pages.append(own)
    return out


def parts(document: Any) -> list[Document]:
    """One document from each first page up to the next."""
    found: list[Document] = []
    for page in document.pages():
        if page.is_first_page or not found:
            found.append(Document(project=document.project, category=document.category, copy_of_id=document.copy_of_id))
        number = len(found[-1].own_pages) + 1
        Page(document=found[-1], start_offset=page.start_offset, end_offset=page.end_offset, number=number)
    return found

# SPDX-License-Identifier: Apache-2.0
"""Konfuzio's driver of a splitting model, for any model with ``predict(page)``; karat trains none."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any

from karat.doors.konfuzio.documents import Document, Page
from karat.doors.konfuzio.file_splitting import FileSplittingEvaluation


class SplittingAI:
    """Asks a model about every page but the first of a document, and evaluates its answers.

    The model's ``predict`` is given a page and gives it back with ``is_first_page`` set, and
    ``is_first_page_confidence`` if it has one; `evaluate_full` also wants its ``test_documents`` or ``documents``.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.full_evaluation: FileSplittingEvaluation | None = None

    def propose_split_documents(
        self,
        document: Any,
        return_pages: bool = False,
        inplace: bool = False,
        split_on_blank_pages: bool = False,
        device: str = "cpu",
    ) -> list[Any]:
        """The document with flags on its pages, or the documents that it falls into.

        With ``split_on_blank_pages`` a page with text behind one without is a first page; ``device`` is for models
        that say ``supports_gpu``.
        """
        if getattr(self.model, "requires_images", False):
            document.get_images()
        marked = document if inplace else self._copied(document)
        options = {"device": device} if getattr(self.model, "supports_gpu", False) else {}
        before = None
        for page in marked.pages():
            self._mark(page, options)
            if split_on_blank_pages and before is not None and page.text.strip() and not before.text.strip():
                page.is_first_page, page.is_first_page_confidence = True, 1
            before = page
        return [marked] if return_pages else parts(marked)

    def _copied(self, document: Any) -> Any:
        """A copy as the document makes it, by the model's tokenizer if there is one; else one of this module."""
        if not hasattr(type(document), "__deepcopy__"):
            return copied(document)
        tokenizer = None if getattr(self.model, "requires_images", False) else getattr(self.model, "tokenizer", None)
        return tokenizer.tokenize(deepcopy(document)) if tokenizer else deepcopy(document)

    def _mark(self, page: Any, options: dict[str, Any]) -> None:
        if page.number == 1:
            page.is_first_page, page.is_first_page_confidence = True, 1
            return
        answer = self.model.predict(page, **options)
        answer = page if answer is None else answer
        page.is_first_page = bool(answer.is_first_page)
        page.is_first_page_confidence = getattr(answer, "is_first_page_confidence", None)

    def evaluate_full(self, use_training_docs: bool = False, zero_division: Any = "warn") -> FileSplittingEvaluation:
        """Evaluate the model on its test (or training) documents."""
        gold = list(self.model.documents if use_training_docs else self.model.test_documents)
        pred = [self.propose_split_documents(document, return_pages=True)[0] for document in gold]
        self.full_evaluation = FileSplittingEvaluation(gold, pred, zero_division)
        return self.full_evaluation


def copied(document: Any) -> Document:
    """A document of this module with the same pages, flags unset, that says what it is a copy of."""
    out = Document(
        project=getattr(document, "project", None), category=getattr(document, "category", None),
        text=getattr(document, "text", None), copy_of_id=document.id_,
    )  # fmt: skip
    for page in document.pages():
        page_copy = copy(page)
        page_copy.document, page_copy.is_first_page, page_copy.is_first_page_confidence = out, False, None
        out.own_pages.append(page_copy)
    return out


def parts(document: Any) -> list[Any]:
    """One document from each first page up to the next, made by the document itself if it can."""
    pages = document.pages()
    firsts = [nth for nth, page in enumerate(pages) if page.is_first_page or not nth]
    ranges = [pages[low:high] for low, high in zip(firsts, [*firsts[1:], len(pages)], strict=True)]
    cut = getattr(document, "create_subdocument_from_page_range", None)
    return [cut(part[0], part[-1], include=True) if cut else subdocument(document, part) for part in ranges]


def subdocument(document: Any, pages: list[Any]) -> Document:
    out = Document(project=document.project, category=document.category, copy_of_id=document.copy_of_id)
    for number, page in enumerate(pages, 1):
        Page(document=out, start_offset=page.start_offset, end_offset=page.end_offset, number=number)
    return out

# SPDX-License-Identifier: Apache-2.0
"""Konfuzio's tutorial on the evaluation of a splitting AI: its objects, its calls, its table."""

import logging
from importlib import import_module
from types import SimpleNamespace

import pytest

from karat.doors.konfuzio import (
    CategorizationEvaluation,
    Category,
    Document,
    EvaluationCalculator,
    FileSplittingEvaluation,
    Page,
    Project,
    SplittingAI,
)

PROJECT = Project(46)
ONE, TWO = Category(3, "one", PROJECT), Category(4, "two", PROJECT)


def documents():
    """A bundle of one file, and one of three files of 2, 2 and 1 pages, built as the tutorial builds them."""
    first = Document(id_=20, project=PROJECT, category=ONE, text="a" * 30, dataset_status=3)
    second = Document(id_=21, project=PROJECT, category=TWO, text="b" * 50, dataset_status=3)
    for document, size in ((first, 3), (second, 5)):
        for number in range(1, size + 1):
            page = Page(
                id_=None, original_size=(320, 240), document=document, start_offset=10 * (number - 1),
                end_offset=10 * number, number=number, copy_of_id=28 + number,
            )  # fmt: skip
            if document is second and number in (3, 5):
                page.is_first_page = True
    return first, second


class Misses:
    """A model that misses the last file."""

    def __init__(self, found):
        self.found = found
        self.test_documents = self.documents = list(documents())

    def predict(self, page):
        page.is_first_page = page.document.copy_of_id == 21 and page.number in self.found
        page.is_first_page_confidence = 0.8
        return page


def test_the_tutorial():
    first, second = documents()
    splitting_ai = SplittingAI(Misses({3}))
    predicted = [splitting_ai.propose_split_documents(one, return_pages=True)[0] for one in (first, second)]
    evaluation = FileSplittingEvaluation(ground_truth_documents=[first, second], prediction_documents=predicted)
    assert (evaluation.tp(), evaluation.tn(), evaluation.fp(), evaluation.fn()) == (3, 4, 0, 1)
    assert (evaluation.precision(), evaluation.recall(), evaluation.f1()) == (1.0, 0.75, pytest.approx(6 / 7))
    table = {
        category: [getattr(evaluation, name)(search=category) for name in ("tp", "tn", "fp", "fn", "precision", "recall", "f1")]
        for category in (ONE, TWO)
    }  # fmt: skip
    assert table == {ONE: [1, 2, 0, 0, 1, 1, 1], TWO: [2, 2, 0, 1, 1, pytest.approx(2 / 3), pytest.approx(0.8)]}
    assert [page.is_first_page for page in second.pages()] == [True, False, True, False, True]  # not changed


def test_the_driver_evaluates_its_documents():
    splitting_ai = SplittingAI(Misses({3, 5}))
    assert splitting_ai.evaluate_full(use_training_docs=True, zero_division=0).f1() == 1.0
    assert splitting_ai.full_evaluation.evaluation_results["true_positives"] == 4
    parts = splitting_ai.propose_split_documents(documents()[1])
    assert [len(part.pages()) for part in parts] == [2, 2, 1]


class SdkPage(SimpleNamespace):
    """A page that refuses to be copied by itself, as the SDK's do."""

    def __copy__(self):
        raise NotImplementedError

    def __deepcopy__(self, memo):
        raise NotImplementedError


class SdkDocument(SimpleNamespace):
    """A document that copies and cuts itself, as the SDK's do."""

    def __init__(self, texts, id_=None, copy_of_id=None):
        super().__init__(id_=id_, copy_of_id=copy_of_id, project=None, category=ONE, texts=texts)
        self.own = [
            SdkPage(number=n, text=text, document=self, is_first_page=n == 1, is_first_page_confidence=None)
            for n, text in enumerate(texts, 1)
        ]

    def pages(self):
        return self.own

    def __deepcopy__(self, memo):
        return SdkDocument(self.texts, copy_of_id=self.id_)

    def create_subdocument_from_page_range(self, start_page, end_page, include=False):
        return SdkDocument(self.texts[start_page.number - 1 : end_page.number - (not include)])


class ByText:
    """A model of the SDK's kind: it marks the page and may want a tokenizer and a device."""

    supports_gpu = True
    tokenizer = SimpleNamespace(tokenize=lambda document: setattr(document, "tokenized", True) or document)

    def __init__(self, documents):
        self.test_documents = documents

    def predict(self, page, device):
        assert page.document.tokenized
        assert device == "cpu"
        page.is_first_page, page.is_first_page_confidence = page.text == "Dear", 0.9


def test_the_driver_takes_the_sdks_documents():
    given = SdkDocument(["Dear", "end", "Dear", "", "more"], id_=5)
    given.own[2].is_first_page = given.own[4].is_first_page = True
    splitting_ai = SplittingAI(ByText([given]))
    parts = splitting_ai.propose_split_documents(given)
    assert [part.texts for part in parts] == [["Dear", "end"], ["Dear", "", "more"]]
    (marked,) = splitting_ai.propose_split_documents(given, return_pages=True, split_on_blank_pages=True)
    assert [page.is_first_page for page in marked.pages()] == [True, False, True, False, True]
    assert isinstance(marked, SdkDocument)
    evaluation = splitting_ai.evaluate_full()
    assert (evaluation.tp(), evaluation.fn(), evaluation.tn(), evaluation.fp()) == (2, 1, 2, 0)


def test_metrics_logging(caplog):
    with caplog.at_level(logging.INFO):
        EvaluationCalculator(tp=3, fp=0, fn=1, tn=4).metrics_logging()
    said = [record.message for record in caplog.records]
    assert said[:4] == ["true positives: 3", "false negatives: 1", "true negatives: 4", "false positives: 0"]
    assert said[4:] == ["precision: 1.0", "recall: 0.75", "F1: 0.8571428571428571"]


def test_anything_with_the_attributes_will_do():
    def stranger(flags, **named):
        pages = [SimpleNamespace(number=n, is_first_page=flag) for n, flag in enumerate(flags, 1)]
        return SimpleNamespace(project=None, category=SimpleNamespace(id_=7), pages=lambda: pages, **named)

    evaluation = FileSplittingEvaluation(
        [stranger([True, True], id_=1)], [stranger([True, False], id_=9, copy_of_id=1)]
    )
    assert evaluation.evaluation_results_by_category[7]["false_negatives"] == 1
    pair = (SimpleNamespace(category=ONE), SimpleNamespace(category=TWO))
    assert CategorizationEvaluation(categories=[ONE, TWO], documents=[pair]).f1(ONE) == 0.0


@pytest.mark.parametrize("address", ["file_splitting", "extraction", "splitting_ai"])
def test_earlier_addresses_lead_to_the_same_objects(address):
    earlier, konfuzio = import_module(f"karat.doors.{address}"), import_module("karat.doors.konfuzio")
    assert all(getattr(earlier, name) is getattr(konfuzio, name) for name in konfuzio.__all__)

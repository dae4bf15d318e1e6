# SPDX-License-Identifier: Apache-2.0
"""Konfuzio's evaluations on karat's engine: files, categories, extracted annotations.

from karat.doors.konfuzio import CategorizationEvaluation, ExtractionEvaluation, FileSplittingEvaluation, SplittingAI
"""

from karat.doors.konfuzio.annotations import Annotation, AnnotationSet, Label, LabelSet, Span
from karat.doors.konfuzio.calculator import EvaluationCalculator
from karat.doors.konfuzio.categorization import CategorizationEvaluation
from karat.doors.konfuzio.documents import NO_CATEGORY, Category, Document, Page, Project
from karat.doors.konfuzio.extraction import ExtractionEvaluation
from karat.doors.konfuzio.file_splitting import FileSplittingEvaluation
from karat.doors.konfuzio.splitting_ai import SplittingAI

__all__ = [
    "NO_CATEGORY", "Annotation", "AnnotationSet", "CategorizationEvaluation", "Category", "Document", "EvaluationCalculator",
    "ExtractionEvaluation", "FileSplittingEvaluation", "Label", "LabelSet", "Page", "Project", "Span", "SplittingAI",
]  # fmt: skip

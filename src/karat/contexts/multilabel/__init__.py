# SPDX-License-Identifier: Apache-2.0
"""Multi-label classification: a set of labels per item, with or without an order or a hierarchy."""

from karat.contexts.multilabel.cells import MultiLabelCells
from karat.contexts.multilabel.context import context

__all__ = ["MultiLabelCells", "context"]

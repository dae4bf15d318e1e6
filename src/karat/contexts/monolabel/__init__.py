# SPDX-License-Identifier: Apache-2.0
"""Mono-label classification: one label per item."""

from karat.contexts.monolabel.cells import MonoLabelCells
from karat.contexts.monolabel.context import context

__all__ = ["MonoLabelCells", "context"]

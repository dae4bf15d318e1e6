# SPDX-License-Identifier: Apache-2.0
"""Learning with disagreement: gold and prediction give weights to labels, or gold is the annotators' votes."""

from karat.contexts.soft.cells import SoftCells
from karat.contexts.soft.context import context

__all__ = ["SoftCells", "context"]

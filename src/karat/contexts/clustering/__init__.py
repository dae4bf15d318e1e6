# SPDX-License-Identifier: Apache-2.0
"""Clusters against gold clusters: names do not matter, only who is with whom."""

from karat.contexts.clustering.cells import ClusteringCells
from karat.contexts.clustering.context import context

__all__ = ["ClusteringCells", "context"]

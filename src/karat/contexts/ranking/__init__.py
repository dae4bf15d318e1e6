# SPDX-License-Identifier: Apache-2.0
"""Rankings of documents for queries: the cells are the queries."""

from karat.contexts.ranking.cells import RankingCells
from karat.contexts.ranking.context import context

__all__ = ["RankingCells", "context"]

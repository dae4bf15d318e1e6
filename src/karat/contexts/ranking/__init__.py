# SPDX-License-Identifier: Apache-2.0
"""Rankings of documents for queries: the cells are the queries."""

from karat.contexts.ranking.context import Ranking, context

__all__ = ["Ranking", "context"]

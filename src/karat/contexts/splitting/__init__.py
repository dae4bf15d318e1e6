# SPDX-License-Identifier: Apache-2.0
"""Splitting bundles of pages into files: the unit is the bundle, its pages are flags, its cells are sums over pages."""

from karat.contexts.splitting.cells import SplittingCells
from karat.contexts.splitting.context import context

__all__ = ["SplittingCells", "context"]

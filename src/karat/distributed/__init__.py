# SPDX-License-Identifier: Apache-2.0
"""Data on a cluster: the engine counts where they are, and what comes here is small."""

from typing import Any

from karat.distributed.documents import Documents
from karat.distributed.frames import collected, context_of, framed
from karat.distributed.pair import Pair
from karat.distributed.rankings import Rankings

__all__ = ["SINGLE", "WHOLE", "Documents", "Pair", "Rankings", "collected", "context_of", "framed"]

SINGLE = ("probabilities", "numbers")
"""Contexts that need every unit here: no two of their outcomes are equal."""
WHOLE: dict[str | None, Any] = {"ranking": Rankings, "spans": Documents, "splitting": Documents}
"""Contexts whose units are counted whole; those of the others are merged where they are equal."""

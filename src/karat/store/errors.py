# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a store."""

from __future__ import annotations

from karat.metric import MetricError


class StoreError(MetricError):
    """The store cannot do what was asked; the message says why and what to do."""

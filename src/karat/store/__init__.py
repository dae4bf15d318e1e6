# SPDX-License-Identifier: Apache-2.0
"""Evaluations that are kept: found again, extended, compared and shown, without the data.

>>> import tempfile, karat.store
>>> store = karat.store.open_store(tempfile.mkdtemp() + "/runs.db")
>>> run = store.save(karat.evaluate(["A", "B"], ["A", "A"], metrics=["accuracy"], units=True), tags=["first"])
>>> store["first"].evaluate(metrics=["kappa"])["kappa"].value
0.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.store.listing import Summary
    from karat.store.location import StoreError
    from karat.store.run import Run, compare_runs
    from karat.store.runs import Store, open_store
    from karat.store.verification import Check, Recorded, verify

_WHERE = {
    "Check": "verification", "Recorded": "verification", "Run": "run", "Store": "runs", "StoreError": "location", "Summary": "listing", "compare_runs": "run",
    "open_store": "runs",
    "verify": "verification",
}  # fmt: skip

__all__ = ["Check", "Recorded", "Run", "Store", "StoreError", "Summary", "compare_runs", "open_store", "verify"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'karat.store' has no attribute {name!r}")
    return getattr(import_module(f"karat.store.{_WHERE[name]}"), name)

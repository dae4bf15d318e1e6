# SPDX-License-Identifier: Apache-2.0
"""scipy.special, imported when a function of it is first used: most evaluations need none."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import special

    return getattr(special, name)

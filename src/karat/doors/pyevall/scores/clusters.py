# SPDX-License-Identifier: Apache-2.0
"""Scores of this kind come from PyEvALL's own arithmetic until karat's context is here."""

from typing import Any

SCORES: dict[str, Any] = {}

# SPDX-License-Identifier: Apache-2.0
"""Measured or rated values against predicted ones."""

from karat.contexts.numbers.context import context

__all__ = ["context"]

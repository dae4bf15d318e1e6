# SPDX-License-Identifier: Apache-2.0
"""Gold labels against the scores that a system gives to the classes."""

from karat.contexts.probabilities.context import context

__all__ = ["context"]

# SPDX-License-Identifier: Apache-2.0
"""Intervals, tests and comparisons: every one a function of ``f(W)``, a score of weighted cells."""

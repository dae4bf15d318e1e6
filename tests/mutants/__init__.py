# SPDX-License-Identifier: Apache-2.0
"""Planted faults by the hundred: what the tests would not notice (``make mutants``)."""

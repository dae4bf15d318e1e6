# SPDX-License-Identifier: Apache-2.0
"""Engines read, check, join and count; what they return is small."""

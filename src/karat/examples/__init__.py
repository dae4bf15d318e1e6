# SPDX-License-Identifier: Apache-2.0
"""Bundled example data: made-up review sentiments by three readers."""

# SPDX-License-Identifier: Apache-2.0
"""Charts as pure functions from data to SVG text: no scripts, no fonts to load, light and dark."""

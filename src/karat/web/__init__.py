# SPDX-License-Identifier: Apache-2.0
"""The web application: pages, benchmarks with hidden gold, background work and REST, over one store (`karat serve`)."""

# SPDX-License-Identifier: Apache-2.0
"""The pages, a module for each part of the site."""

# SPDX-License-Identifier: Apache-2.0
"""What makes the pages and pictures of the documentation."""

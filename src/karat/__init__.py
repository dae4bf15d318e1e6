"""karat scores a system's output against a gold standard."""
# SPDX-License-Identifier: Apache-2.0

# SPDX-License-Identifier: Apache-2.0
"""The records of a TREC file by columns, as every reader of it gives them."""

from __future__ import annotations

from typing import NamedTuple

from karat.columns import Floats, Ints, Text


class Rows(NamedTuple):
    """Records with the texts and numbers that were asked for."""

    query: Text
    """Query of each stretch of records that have the same one."""
    size: Ints
    """Records of each stretch."""
    texts: list[Text]
    numbers: list[Floats]
    line: Ints
    """Physical line of each record."""

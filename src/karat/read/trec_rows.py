# SPDX-License-Identifier: Apache-2.0
"""The records of a TREC file by columns, as every reader of it gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

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

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        texts, numbers = (
            zip(*(part.texts for part in parts), strict=True),
            zip(*(p.numbers for p in parts), strict=True),
        )
        return Rows(
            Text.joined([part.query for part in parts]), np.concatenate([part.size for part in parts]),
            list(map(Text.joined, texts)), list(map(np.concatenate, numbers)), np.concatenate([p.line for p in parts]),
        )  # fmt: skip

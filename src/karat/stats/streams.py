# SPDX-License-Identifier: Apache-2.0
"""Random numbers keyed by what they are for, so that neither order nor threads change a result."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

_WORD = 2**64


def digest(*content: object) -> int:
    """A 64-bit hash of the content's text, the same on every machine and in every version."""
    text = "\x1f".join(str(part) for part in content)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def stream(seed: int, *content: object) -> np.random.Generator:
    """The generator of one purpose: same seed and content, same numbers.

    >>> float(stream(0, "f1").random()) == float(stream(0, "f1").random())
    True
    """
    key = np.array([seed % _WORD, digest(*content)], np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


def hash_group(ids: NDArray[np.str_] | list[str], groups: int) -> NDArray[np.int64]:
    """The group of each id: a hash of its text, so that any split or order gives the same groups."""
    return np.array([digest(text) % groups for text in ids], np.int64)

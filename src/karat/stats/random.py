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
    return (hash_texts(np.asarray(ids, str)) % np.uint64(groups)).astype(np.int64)


def hash_texts(texts: NDArray[np.str_]) -> NDArray[np.uint64]:
    """64-bit hashes of texts (splitmix64 over their letters), whatever the array's padding."""
    width = texts.dtype.itemsize // 4
    letters = np.ascontiguousarray(texts).view(np.uint32).reshape(len(texts), width)
    mixed = np.zeros(len(texts), np.uint64)
    for column in letters.T:
        mixed = np.where(column > 0, _mix(mixed ^ column.astype(np.uint64)), mixed)
    return mixed


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))

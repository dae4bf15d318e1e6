# SPDX-License-Identifier: Apache-2.0
"""Users' texts as reports for people show them: not too long, and nothing that drives a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

LONGEST = 400
"""Characters of a name that reports for people show."""


def brief(text: str) -> str:
    """A text that is no longer than a reader will read: a label may be a whole file by mistake.

    >>> brief("a" * 1_000_000)[-24:]
    'aaa… (1,000,000 letters)'
    """
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} letters)"


NAMED = 3
"""Most names that a sentence lists."""


def joined(names: Sequence[str]) -> str:
    """Names in a row, the last ones as a number where they are many.

    >>> joined(["a", "b", "c"]), joined(list("abcdef"))
    ('a, b and c', 'a, b, c and 3 others')
    """
    if len(names) > NAMED + 1:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} others"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def clear(text: str) -> str:
    """Text that a terminal shows as it is: no control characters, line ends or marks that turn the direction."""
    return "".join(ascii(c)[1:-1] if unicodedata.category(c) in _HIDDEN and c not in _JOINERS else c for c in text)


_HIDDEN = ("Cc", "Cf", "Zl", "Zp", "Cs")
_JOINERS = "\u200c\u200d"
"""Scripts and pictures need them, and they take no room."""


def width(text: str) -> int:
    """Columns that a text takes: wide signs take two, those that combine none."""
    wide = (unicodedata.east_asian_width(c) in "WF" for c in text)
    return sum(0 if unicodedata.combining(c) or c in _JOINERS else 1 + w for c, w in zip(text, wide, strict=True))

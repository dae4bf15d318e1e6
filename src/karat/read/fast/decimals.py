# SPDX-License-Identifier: Apache-2.0
"""Decimal numbers in text, many at a time, rounded as ``float()`` rounds.

A million scores of four decimals are read in 0.06 s of processor time, by ``float()`` in 0.28 s.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from karat.columns import Text

Floats = NDArray[np.float64]

_BLOCK = 1 << 15
"""Numbers that are read together: few enough to stay in the processor's cache."""
_ZEROS = np.uint64(0x3030303030303030)
_POWERS = 10.0 ** np.arange(17)
_UP = np.array([8 * (8 - i) % 64 for i in range(9)], np.uint64)
"""How far digits are moved to the end of a word, by their number."""
_FILL = np.array([0x3030303030303030 & ((1 << 8 * (8 - i)) - 1) for i in range(9)], np.uint64)
"""The zeros in front of them."""


def decimals(text: Text) -> Floats:
    """The numbers that the strings spell; NaN where one spells none (or is NaN)."""
    if len(text) > _BLOCK:
        parts = (text[at : at + _BLOCK] for at in range(0, len(text), _BLOCK))
        return np.concatenate([decimals(part) for part in parts])
    out = np.full(len(text), np.nan)
    if not len(text):
        return out
    first = text.buffer[text.start]
    if first.min() >= ord("0") and (alike := _alike(text)) is not None:
        return alike
    sign = (first == ord("-")) | (first == ord("+"))
    start, length = text.start + sign, text.length - sign
    left = np.arange(len(text))
    for point in _points(text):
        left = _with_point(out, text, start, length, left, point)
        if not len(left):
            break
    np.negative(out, out=out, where=first == ord("-"))
    out[left] = _slowly(text[left])
    return out


def _alike(text: Text) -> Floats | None:
    """Numbers without sign and with as many decimals as the first of them; None where one is otherwise."""
    shown = text[:1].tolist()[0].partition(b".")
    point = len(shown[2])
    whole = text.length - (point + len(shown[1]))
    if whole.min() < 1 or whole.max() > 8 or whole.max() + point > 15:
        return None
    value, ok = _digits(Text(text.buffer, text.start, whole))
    if point:
        fraction, fine = _long_digits(text.buffer, text.start + whole + 1, point)
        value, ok = (value * _POWERS[point] + fraction) / _POWERS[point], ok & fine
    pointed = not shown[1] or (text.buffer[text.start + whole] == ord(".")).all()
    return value if pointed and ok.all() else None


def _points(text: Text) -> list[int]:
    """Numbers of decimals to try, that of the first string leading; −1 for no decimal point."""
    shown = text[:1].tolist()[0].partition(b".")
    lead = min(len(shown[2]), 14) if shown[1] else -1
    return [lead, *(p for p in (-1, *range(9)) if p != lead)]


def _with_point(
    out: Floats, text: Text, start: NDArray[np.int64], length: NDArray[np.int64], left: NDArray[np.int64], point: int
) -> NDArray[np.int64]:
    """Read those of ``left`` that have ``point`` decimals; return the others.

    At most 8 digits stand before the point and at most 15 in all, so that both the digits
    and the power of ten are exact and one division rounds correctly.
    """
    s, n = start[left], length[left]
    whole = n - 1 - point if point >= 0 else n
    fits = (whole >= 1) & (whole <= 8) & (whole + max(point, 0) <= 15)
    if point >= 0:
        fits &= text.buffer[np.where(fits, s + whole, 0)] == ord(".")
    chosen = np.flatnonzero(fits)
    if len(chosen) < len(left):
        s, whole = s[chosen], whole[chosen]
    value, ok = _digits(Text(text.buffer, s, whole))
    if point > 0:
        fraction, fine = _long_digits(text.buffer, s + whole + 1, point)
        value, ok = value * _POWERS[point] + fraction, ok & fine
        value /= _POWERS[point]
    out[left[chosen[ok]]] = value[ok]
    fits[chosen[~ok]] = False
    return left[~fits]


def _long_digits(buffer: NDArray[np.uint8], start: NDArray[np.int64], count: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Text of ``count`` ≤ 15 digits as numbers, and whether each holds digits only."""
    tail, fine = _digits(Text(buffer, start + max(count - 8, 0), np.broadcast_to(min(count, 8), len(start))))
    if count <= 8:
        return tail, fine
    head, ok = _digits(Text(buffer, start, np.broadcast_to(count - 8, len(start))))
    return head * 1e8 + tail, ok & fine


def _digits(text: Text) -> tuple[Floats, NDArray[np.bool_]]:
    """Text of 1 to 8 digits as numbers, and whether each holds digits only.

    The digits are moved to the end of a word that zeros fill; three multiplications then add up
    neighbours: digits to pairs, pairs to fours, fours to eight.
    """
    size = text.length if text.vary else text.longest
    word = (text.window(0) << _UP[size]) | _FILL[size]
    value = word - _ZEROS
    ok = ((value | (word + np.uint64(0x4646464646464646))) & np.uint64(0x8080808080808080)) == 0
    value = (value * np.uint64(10)) + (value >> np.uint64(8))
    low = (value & np.uint64(0x000000FF000000FF)) * np.uint64(0x000F424000000064)
    top = ((value >> np.uint64(16)) & np.uint64(0x000000FF000000FF)) * np.uint64(0x0000271000000001)
    return ((low + top) >> np.uint64(32)).astype(float), ok


def _slowly(text: Text) -> Floats:
    """Any spelling that ``float()`` takes."""
    width = int(text.length.max(initial=0))
    if 0 < width <= 32:
        place = np.arange(width)
        inside = place < text.length[:, None]
        letters = np.where(inside, text.buffer[np.where(inside, text.start[:, None] + place, 0)], 0).astype(np.uint8)
        if not np.any(letters == ord("_")):
            with suppress(ValueError):
                return letters.view(f"S{width}").ravel().astype(float)
    return np.array([_number(t) for t in text.tolist()], float)


def _number(text: bytes) -> float:
    try:
        return float(text) if b"_" not in text else float("nan")
    except ValueError:
        return float("nan")

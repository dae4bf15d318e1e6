# SPDX-License-Identifier: Apache-2.0
"""The paired randomisation test on cells: which system produced which outcome is a coin toss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from karat.stats.random import stream
from karat.stats.settings import DRAWS
from karat.stats.statistic import Mask
from karat.stats.tests import log_choose, monte_carlo
from karat.weights import Floats, Ints, cuts

ENUMERATE = 2**15
"""Up to this many distinct outcomes, all are visited and the p-value is exact."""
CONVOLVE = 2**20
"""Longest null distribution of integer differences that is computed instead of sampled."""

NUMBERS = 64 * 2**20 // 8
"""Numbers of a block of draws. What is drawn depends on it: p-values move with it."""

Difference = Callable[[Floats], Floats]
"""Score of A minus score of B when ``s[r, j]`` of the units of joint cell ``j`` are swapped."""


@dataclass(frozen=True)
class Randomised:
    """p-values (one per statistic), the number of draws, and whether they are exact."""

    p: Floats
    draws: int
    exact: bool

    @property
    def unreached(self) -> Mask:
        """Of which statistics no draw is as extreme as what was observed."""
        return np.asarray(self.p * (self.draws + 1) < 1.5) & (not self.exact)


def randomisation(
    difference: Difference, n: Floats, observed: Floats, coins: Coins,
    draws: int = DRAWS, alternative: str = "two-sided",
) -> Randomised:  # fmt: skip
    """p of ``observed`` when every unit's two outcomes are swapped with probability one half.

    ``n[j]`` units share joint cell ``j``, so the number swapped is Binomial(n, ½): the exact
    law of tossing a coin for each unit. With few outcomes all are enumerated. Where no draw is as extreme,
    `karat.stats.beyond` says more.
    """
    if np.log2(n + 1).sum() <= np.log2(ENUMERATE):
        return _enumerated(difference, n, observed, alternative)
    step = 2 ** int(np.log2(max(NUMBERS // _breadth(n), 1)))  # alike for most pairs, so that they share their words
    blocks = enumerate(b - a for a, b in cuts(draws, step))
    drawn = np.concatenate([difference(coins.heads(n, rows, block)) for block, rows in blocks])
    extremes, at = extreme(drawn, alternative), extreme(observed, alternative)
    return Randomised(monte_carlo(extremes, at), draws, exact=False)


def root_mean_square(drawn: Floats, axis: int | tuple[int, ...] = 0) -> Floats:
    """Of the values that are defined; 0 where none is."""
    known = ~np.isnan(drawn)
    squares = np.where(known, drawn, 0.0) ** 2
    return np.asarray(np.sqrt(squares.sum(axis) / np.maximum(known.sum(axis), 1)), float)


def _breadth(n: Floats) -> int:
    """Numbers that one row of swaps needs."""
    return int(2 * len(n) + np.minimum(n, LARGE).sum() // WORD) + 64


WORD, LARGE = 64, 1280
"""Bits in a random word; above ``LARGE`` coins one binomial number is cheaper than counting bits."""
POOL = 2**24
"""Most words that are kept for the next pair of systems: 128 MB."""


class Coins:
    """Fair coins for every pair of systems: all read the same random words from the first on.

    So neither the order nor the names of systems change a p-value, and words are made once.
    """

    def __init__(self, *key: Any) -> None:
        self.key = key
        self._pool: dict[tuple[int, int], tuple[np.random.Generator, NDArray[np.uint64]]] = {}

    def heads(self, n: Floats, rows: int, block: int = 0) -> Floats:
        """Heads among ``n[j]`` coins for each ``j``, row by row (a view of columns in one piece)."""
        coins = n.astype(np.int64)
        single, few = coins == 1, (coins > 1) & (coins <= 8)
        many, large = (coins > 8) & (coins <= LARGE), coins > LARGE
        words = -(-coins[many] // WORD)
        used = [-(-int(single.sum()) // WORD), -(-int(few.sum()) // 8), int(words.sum())]
        bits, small, whole = np.split(self._words(sum(used), rows, block), np.cumsum(used)[:2])
        out = np.zeros((len(n), rows), np.float32 if coins.max(initial=0) < 2**24 else np.float64)
        out[single] = np.unpackbits(bits.view(np.uint8).reshape(-1, rows), axis=0, count=int(single.sum()))
        out[few] = ones(
            small.view(np.uint8).reshape(-1, rows)[: few.sum()] & (2 ** coins[few] - 1)[:, None].astype(np.uint8)
        )
        out[many] = _counted(whole, coins[many], words)
        if large.any():
            rng = stream(*self.key, "large", block)
            out[large] = rng.binomial(coins[large], 0.5, (rows, int(large.sum()))).T
        return out.T

    def _words(self, count: int, rows: int, block: int) -> NDArray[np.uint64]:
        rng, words = self._pool.pop((block, rows), (None, np.empty((0, rows), np.uint64)))
        rng = rng or stream(*self.key, "words", block)
        if len(words) < count:
            more = rng.integers(0, 2**WORD - 1, (count - len(words), rows), np.uint64, endpoint=True)
            words = np.concatenate([words, more])
        if words.size + sum(kept.size for _, kept in self._pool.values()) <= POOL:
            self._pool[block, rows] = rng, words
        return words[:count]


def _counted(drawn: NDArray[np.uint64], coins: Ints, words: Ints) -> NDArray[Any]:
    """Set bits among as many bits of the words as there are coins."""
    if len(coins) == 0:
        return np.zeros((0, drawn.shape[1]))
    start = np.cumsum(words) - words
    mask = np.full(len(drawn), 2**WORD - 1, np.uint64)
    left = (coins - WORD * (words - 1)).astype(np.uint64)
    mask[start + words - 1] = np.where(left < WORD, (np.uint64(1) << (left % np.uint64(WORD))) - np.uint64(1), mask[0])
    heads = ones(drawn & mask[:, None])
    if len(mask) == len(coins):
        return heads
    out = heads[start].astype(np.uint16)
    for nth in range(1, int(words.max())):
        more = words > nth
        out[more] += heads[start[more] + nth]
    return out


def ones(words: NDArray[Any]) -> NDArray[np.uint8]:
    """Number of set bits of each word or byte."""
    if hasattr(np, "bitwise_count"):
        return np.asarray(np.bitwise_count(words), np.uint8)
    size = words.dtype.itemsize
    return np.unpackbits(words.view(np.uint8).reshape(*words.shape, size), axis=-1).sum(-1, dtype=np.uint8)


def extreme(difference: Floats, alternative: str) -> Floats:
    """The difference turned so that larger is more extreme."""
    if alternative == "two-sided":
        return np.abs(difference)
    return np.asarray(difference if alternative == "greater" else -np.asarray(difference), float)


def _enumerated(difference: Difference, n: Floats, observed: Floats, alternative: str) -> Randomised:
    """Every number of swaps in every cell, each with its chance: a product of binomial ones."""
    sizes = [int(k) + 1 for k in n]
    every, chance = np.zeros((1, 0)), np.ones(1)
    for size in sizes:
        swaps = np.arange(size, dtype=float)
        every = np.column_stack([np.repeat(every, size, 0), np.tile(swaps, len(every))])
        chance = np.outer(chance, np.exp(log_choose(size - 1.0, swaps) - (size - 1) * np.log(2))).ravel()
    extremes, at = extreme(difference(every), alternative), extreme(observed, alternative)
    near = 1e-10 * np.nanmax(np.abs(extremes), axis=0, initial=0.0)
    with np.errstate(invalid="ignore"):
        p = np.tensordot(chance, (extremes >= at - near).astype(float), 1)
    return Randomised(np.minimum(p, 1.0), len(every), exact=True)


def sign_flip(d: Floats, n: Floats, alternative: str = "two-sided") -> float | None:
    """Exact p of a sum of differences with random signs, or None where they lie on no small grid.

    The law of Σ ± d is the inverse Fourier transform of Π cos(t·d)ⁿ. For differences of
    ±1 it is McNemar's exact test.

    >>> round(sign_flip(np.array([1.0, -1.0]), np.array([5.0, 1.0])), 9)
    0.21875
    """
    steps = _on_grid(d[(d != 0) & (n > 0)])
    count = n[(d != 0) & (n > 0)]
    if steps is None or np.abs(steps) @ count > CONVOLVE:
        return None
    if len(steps) == 0:
        return 1.0
    size, group = np.unique(np.abs(steps), return_inverse=True)
    if len(size) == 1:
        return _coin_tail(int(count[steps > 0].sum()), int(count[steps < 0].sum()), alternative)
    return _flip_tail(_flip_law(size, np.bincount(group, count).astype(float)), int(steps @ count), alternative)


def _coin_tail(heads: int, tails: int, alternative: str) -> float:
    """The binomial law: all differences have the same size."""
    m = heads + tails
    greater, less = float(special.bdtr(tails, m, 0.5)), float(special.bdtr(heads, m, 0.5))
    return {"greater": greater, "less": less, "two-sided": min(1.0, 2 * min(greater, less))}[alternative]


def _on_grid(d: Floats) -> Floats | None:
    """Differences as integers of a common step, or None."""
    if len(d) == 0:
        return d
    for parts in (1, 2, 3, 4, 6, 8, 12, 60, 2520):
        step = np.abs(d).min() / parts
        whole = np.round(d / step)
        if np.allclose(whole, d / step, rtol=0, atol=1e-9 * np.abs(whole).max()):
            return np.asarray(whole, float)
    return None


def _flip_law(steps: Floats, count: Floats) -> Floats:
    """Chances of the sums −reach, −reach + 2, …, reach."""
    if count.sum() <= WAVES * len(steps):
        return _step_by_step(np.repeat(steps, count.astype(np.int64)).astype(np.int64))
    reach = int(steps @ count)
    size = 1 << int(reach + 1).bit_length()
    angle = np.pi * np.arange(size) / size
    log_abs, sign = np.zeros(size), np.ones(size)
    for step, times in zip(steps, count, strict=True):
        wave = np.cos(angle * step)
        with np.errstate(divide="ignore"):
            log_abs += times * np.log(np.abs(wave))
        sign *= np.where((wave < 0) & (times % 2 == 1), -1.0, 1.0)
    # Sums have the parity of their largest value, so half a turn of the circle holds the whole law.
    spectrum = sign * np.exp(log_abs) * np.exp(1j * angle * reach)
    mass = np.fft.fft(spectrum).real / size
    return np.clip(mass[: reach + 1], 0.0, None)


WAVES = 64
"""Coins of one size from which on its wave costs less than tossing them one after the other."""


def _step_by_step(steps: Ints) -> Floats:
    """The law of a sum of coins of these sizes, coin by coin, the small ones first."""
    law, reach = np.zeros(int(steps.sum()) + 1), 0
    law[0] = 1.0
    for step in steps:
        law[: reach + 1] *= 0.5
        law[step : step + reach + 1] += law[: reach + 1].copy()
        reach += int(step)
    return law


def _flip_tail(mass: Floats, total: int, alternative: str) -> float:
    reach = len(mass) - 1
    value = 2 * np.arange(reach + 1) - reach
    beyond = {"two-sided": np.abs(value) >= abs(total), "greater": value >= total, "less": value <= total}
    return float(np.clip(mass[beyond[alternative]].sum(), 1e-15, 1.0))

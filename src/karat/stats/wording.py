# SPDX-License-Identifier: Apache-2.0
"""Verdicts in words."""

from __future__ import annotations

from math import inf

from karat.comparison import Pair

CORRECTED = {
    "holm": "Holm-corrected p", "bonferroni": "Bonferroni-corrected p", "bh": "Benjamini–Hochberg-corrected p",
    "hochberg": "Hochberg-corrected p", "by": "Benjamini–Yekutieli-corrected p",
    "none": "uncorrected p", "tukey": "p by randomised Tukey HSD", "maxt": "p by MaxT",
}  # fmt: skip


def p_words(p: float, at_floor: bool = False) -> str:
    """``= 0.003``, or ``≤ 0.0001`` where no draw was as extreme.

    >>> p_words(0.0034), p_words(0.0001, True), p_words(3e-12)
    ('= 0.0034', '≤ 0.0001', '= 3e-12')
    """
    return ("≤ " if at_floor else "= ") + (f"{p:.2g}" if p < 0.995 else "1")


def amount(value: float) -> str:
    """A difference with three decimals, or more where it is small."""
    return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0 else f"{value:.2g}"


def sentence(pair: Pair, correction: str, widest: float = inf) -> str:
    """The verdict of a pair as one sentence; scores can differ by no more than the ``widest``."""
    if pair.difference is None or pair.p_corrected is None:
        return f"{pair.a} and {pair.b} cannot be compared on {pair.label}: one of them has no score."
    sided = "one-sided, " if pair.test and pair.test.one_sided else ""
    p = f"{sided}{CORRECTED[correction]} {p_words(pair.p_corrected, pair.p_is_bound)}"
    span = _span(pair)
    if pair.undecided:
        return (
            f"{pair.a} and {pair.b} differ on {pair.label} by {amount(pair.difference)}, more than in any draw, "
            f"but the draws are too few for so many tests ({p}): take more."
        )
    if pair.verdict == "inconclusive":
        unclear = f"{pair.a} and {pair.b} cannot be told apart on {pair.label}: difference {amount(pair.difference)}{span}, {p}"
        if not pair.mde:
            return f"{unclear}."
        shows = f"shows differences from {amount(pair.mde)} on" if pair.mde < widest else "is too small to show any"
        return f"{unclear}; this data {shows}."
    first, second = (pair.a, pair.b) if pair.verdict == "better" else (pair.b, pair.a)
    return f"{first} is better than {second} on {pair.label} by {amount(abs(pair.difference))}{span}, {p}."


def _span(pair: Pair) -> str:
    """The interval of what the sentence says: of the difference, or of the gain of the better one."""
    if pair.simultaneous_gain is None:
        return ""
    low, high = pair.simultaneous_gain
    turned = pair.better == "lower" if pair.verdict == "inconclusive" else pair.verdict == "worse"
    return f" [{amount(-high)}, {amount(-low)}]" if turned else f" [{amount(low)}, {amount(high)}]"


def loss_words(pair: Pair, margin: float, alpha: float) -> str:
    """What the test of non-inferiority says, as the end of a sentence."""
    test = pair.non_inferiority
    if test is None or test.p != test.p:
        return ""
    claim = f"{pair.a} is at most {amount(margin)} worse than {pair.b}, if at all"
    verdict = claim if test.p <= alpha else f"It is not shown that {claim}"
    return f" {verdict} (one-sided p {p_words(test.p)})."

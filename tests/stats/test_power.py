# SPDX-License-Identifier: Apache-2.0
"""Power by the noncentral t, against integrals that another rule takes, and what is solved from it."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import integrate, special, stats

import karat
from karat.stats.power import mde, power_of, rejected, units_needed


def integral(shift: float, df: float, critical: float, *, sided: bool) -> float:
    """The normal tails given S, over the density of S."""

    def tails(s: float) -> float:
        tail = special.ndtr(shift - critical * s) + (0 if sided else special.ndtr(-shift - critical * s))
        return float(tail * stats.chi.pdf(s * np.sqrt(df), df) * np.sqrt(df))

    edges = [0, *np.clip([shift / critical - 8 / critical, shift / critical, shift / critical + 8 / critical], 0, 60)]
    edges = sorted({*edges, *np.clip(1 + np.array([-8, 0, 8]) / np.sqrt(2 * df), 0, 60), 60})
    return sum(integrate.quad(tails, a, b, epsabs=1e-13, epsrel=1e-12, limit=400)[0] for a, b in pairwise(edges))


@pytest.mark.parametrize(("df", "shift", "sided"), [*product((1.0, 1.25, 2.9, 9.0, 99.0, 700.0), (-2.0, 0.0, 0.5, 3.0, 11.0, 49.0, 51.0), (True, False))])  # fmt: skip
def test_power_is_the_mean_of_normal_tails(df: float, shift: float, sided: bool) -> None:
    for alpha in (0.2, 1e-3):
        critical = float(special.stdtrit(df, 1 - alpha / (1 if sided else 2)))
        expected = integral(shift, df, critical, sided=sided)
        assert rejected(shift, df, critical, sided=sided) == pytest.approx(expected, abs=1e-10)


def test_power_without_a_difference_is_the_level() -> None:
    for df, alpha in product((1.0, 3.5, 40.0, 1e6), (0.2, 0.05, 1e-6)):
        critical = float(special.stdtrit(df, 1 - alpha / 2))
        assert rejected(0.0, df, critical) == pytest.approx(alpha, rel=1e-9)
        assert rejected(0.0, df, critical, sided=True) == pytest.approx(alpha / 2, rel=1e-9)


def test_power_grows_with_the_difference_and_is_a_number() -> None:
    """A library's noncentral t is NaN for a shift of 11.18 and 99 degrees of freedom, and for some hundred others here."""
    for df in (1.0, 2.9, 19.0, 99.0, 199.0):
        found = np.array([rejected(shift, df, float(special.stdtrit(df, 0.975))) for shift in np.linspace(0, 120, 601)])
        assert (np.diff(found) >= -1e-14).all()
        assert found[-1] == pytest.approx(1, abs=0.06)


def test_a_planned_curve_has_no_gaps() -> None:
    gold = {str(i): "ABC"[i % 3] for i in range(20)}
    a = {i: label if int(i) % 10 else "A" for i, label in gold.items()}
    b = {i: label if int(i) % 4 else "B" for i, label in gold.items()}
    for need in karat.design(gold, {"a": a, "b": b}, difference=0.5, metrics=["accuracy", "f1"]).needs:
        powers = [power for _, power in need.curve]
        assert powers == sorted(powers)
        assert powers[-1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("alpha", "power", "df"), [(0.05, 0.8, 4), (0.05 / 400, 0.8, 1), (0.01, 0.9, 2.5), (0.05, 0.8, 999), (0.2, 0.5, 30)]
)
def test_detectable_differences_have_their_power(alpha: float, power: float, df: float) -> None:
    """Those of two units at corrected levels are beyond a hundred standard errors."""
    found = mde(0.5, alpha=alpha, power=power, df=df)
    assert rejected(found / 0.5, df, float(special.stdtrit(df, 1 - alpha / 2))) == pytest.approx(power, abs=1e-10)


def test_the_detectable_difference_of_two_units_is_not_cut_off() -> None:
    """With one degree of freedom power is P(S < shift/critical) but for the normal part: 0.8 = erf(1.2816/√2)."""
    critical = float(special.stdtrit(1, 1 - 1e-4 / 2))
    assert mde(1.0, alpha=1e-4, df=1.0) == pytest.approx(special.ndtri(0.9) * critical, rel=1e-6)


@pytest.mark.parametrize(("d", "alpha"), [(0.3, 0.05), (1.0, 1e-4), (5.0, 1e-5), (50.0, 1e-6)])
def test_needed_units_have_their_power(d: float, alpha: float) -> None:
    found = units_needed(d, alpha=alpha)
    assert power_of(d, found, alpha) == pytest.approx(0.8, abs=1e-9)


def test_two_units_are_the_fewest() -> None:
    assert units_needed(1000.0) == 2

# SPDX-License-Identifier: Apache-2.0
"""Corrections of p-values against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest

from karat.stats.corrections import correct


@pytest.mark.parametrize(("name", "theirs"), [("hochberg", "simes-hochberg"), ("by", "fdr_by")])
@pytest.mark.parametrize("seed", range(5))
def test_corrected_p_is_that_of_statsmodels(name, theirs, seed):
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    p = np.random.default_rng(seed).beta(0.5, 2, 12)
    np.testing.assert_allclose(correct(p, name), multipletests(p, method=theirs)[1], rtol=1e-12)


def test_undefined_p_values_take_no_part():
    p = np.array([0.02, np.nan, 0.03])
    np.testing.assert_allclose(correct(p, "by"), [0.045, np.nan, 0.045])
    assert len(correct(np.array([]), "by")) == 0

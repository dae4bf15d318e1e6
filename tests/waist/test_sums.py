# SPDX-License-Identifier: Apache-2.0
"""Sums over few columns are NumPy's, to the last bit."""

import numpy as np
import pytest

from karat.score import across


@pytest.mark.parametrize("columns", range(1, 20))
def test_sums_of_rows_are_numpys(columns):
    rng = np.random.default_rng(columns)
    x = rng.normal(size=(200, columns)) * 10.0 ** rng.integers(-9, 9, (200, columns))
    for table in (x, x[:1], x[::2], x[:0], np.asfortranarray(x), np.broadcast_to(x[0], x.shape), x > 0):
        assert across(table).tolist() == table.sum(-1).tolist()
    assert across(np.zeros((3, 0))).tolist() == [0, 0, 0]

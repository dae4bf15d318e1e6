# SPDX-License-Identifier: Apache-2.0
"""Weights that are never written out equal the matrices they stand for; draws have the right law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.stats.random import hash_group, stream
from karat.stats.resampling import Clusters, Units, bootstrap, jackknife, multinomial
from karat.stats.statistic import Blocked
from karat.weights import BLOCK, Dense, Grouped, Memo, Tilt, block_sizes

counts = st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(lambda n: sum(n) > 1)


@given(counts, st.floats(-2, 2), st.floats(-2, 2))
def test_tilt_is_its_matrix(n, a, b):
    n = np.array(n, float)
    x = np.arange(2.0 * len(n)).reshape(len(n), 2) - 3
    np.testing.assert_allclose(Tilt(n, a, b) @ x, (a * n + b * np.eye(len(n))) @ x, atol=1e-9)
    assert Tilt(n, a, b).shape == (len(n), len(n))


@given(counts)
def test_jackknife_of_cells_is_the_jackknife_of_units(n):
    n = np.array(n, float)
    x = np.arange(len(n)) ** 2.0
    units = np.repeat(x, n.astype(int))
    left_out = np.array([np.delete(units, i).mean() for i in range(len(units))])
    size = len(units)
    want = np.sqrt((size - 1) / size * ((left_out - left_out.mean()) ** 2).sum())
    got = jackknife(lambda W: (W @ x) / (W @ np.ones(len(n))), Units(n))
    assert got.size == size
    assert float(got.se) == pytest.approx(want, abs=1e-9)
    assert float(got.se) == pytest.approx(units.std(ddof=1) / np.sqrt(size), abs=1e-9)


def test_memo_computes_a_product_once():
    x = np.array([1.0, 10.0])
    memo = Memo(Dense(np.array([[1.0, 2.0], [0.0, 1.0]])))
    assert (memo @ x).tolist() == [21.0, 10.0]
    assert memo @ x is memo @ x
    assert memo.shape == (2, 2)


def test_every_kind_of_weights_comes_in_blocks():
    """Blocks of rows give the rows; weights that hang together come whole."""
    x, rows = np.array([1.0, 10.0, 100.0]), np.arange(15.0).reshape(5, 3)
    tilt = Tilt(np.ones(3), 1.0, -1.0)
    for W in (Dense(rows), Memo(Dense(rows)), tilt):
        parts = list(W.blocks(2))
        assert max(p.shape[0] for p in parts) == 2
        assert np.concatenate([p @ x for p in parts]).tolist() == (W @ x).tolist()
        assert W.grouped is None
    by_case = Grouped(np.array([0, 1, 1]), np.ones(3), (2, 3))
    assert list(by_case.blocks(1)) == [by_case]
    assert Memo(by_case).grouped is by_case


@pytest.mark.parametrize("n", [[1, 1, 1, 1], [50, 3, 200], [0, 4, 0]])
def test_multinomial_has_the_right_moments(n):
    n = np.array(n, float)
    draws = multinomial(stream(1, "law"), n, 20_000)
    total, share = n.sum(), n / n.sum()
    assert (draws.sum(1) == total).all()
    np.testing.assert_allclose(draws.mean(0), n, atol=0.05 * np.sqrt(total))
    np.testing.assert_allclose(draws.var(0), total * share * (1 - share), rtol=0.06, atol=1e-9)


def test_clusters_keep_their_units_together():
    design = Clusters.of(np.array([7, 7, 9]), np.array([0, 1, 1]), 2)
    draws = design.draw(stream(0, "clusters"), 500)
    # Cluster 7 is (1, 1) and cluster 9 is (0, 1): two draws give one of three rows.
    assert {tuple(row) for row in draws} == {(0.0, 2.0), (1.0, 2.0), (2.0, 2.0)}
    assert design.size == 2
    np.testing.assert_allclose(design.n, [1, 2])
    poisson = design.poisson(stream(0, "clusters"), 5)
    assert poisson.shape == (5, 2)


def test_left_out_clusters():
    design = Clusters.of(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    rows = np.concatenate([w for _, w in design.left_out()])
    np.testing.assert_allclose(rows, [[0, 1], [1, 1]])


def test_blocks_bound_memory():
    assert sum(block_sizes(1000, BLOCK // 10)) == 1000
    assert max(block_sizes(1000, BLOCK // 10)) == 10
    assert list(block_sizes(3, 10 * BLOCK)) == [1, 1, 1]


def test_bootstrap_is_the_same_in_any_block_size(monkeypatch):
    design = Units(np.array([40.0, 10.0]))
    whole = bootstrap(lambda W: W[:, 0] / 50, design, stream(3, "x"), 100)
    monkeypatch.setattr("karat.stats.statistic.BLOCK", 20)
    np.testing.assert_array_equal(whole, bootstrap(lambda W: W[:, 0] / 50, design, stream(3, "x"), 100))


def test_streams_are_keyed_by_content():
    draw = lambda *key: stream(*key).integers(2**62)
    assert draw(0, "f1", "T1") == draw(0, "f1", "T1")
    assert len({draw(0, "f1", "T1"), draw(1, "f1", "T1"), draw(0, "f1", "T2"), draw(0, "f1T1", "")}) == 4


@settings(max_examples=20)
@given(st.permutations([f"u{i}" for i in range(20)]))
def test_hash_groups_do_not_depend_on_order(ids):
    groups = dict(zip(ids, hash_group(list(ids), 4).tolist(), strict=True))
    assert groups == {i: int(hash_group([i], 4)[0]) for i in ids}


def test_wide_products_are_taken_in_blocks(monkeypatch):
    """The same scores, whatever rows of weights a statistic is given at once."""
    monkeypatch.setattr("karat.stats.statistic.BLOCK", 200)
    n, matrix = np.array([2.0, 1.0, 3.0, 1.0]), np.arange(40.0).reshape(4, 10)
    sizes = []

    def statistic(W):
        weights = Dense(W) if isinstance(W, np.ndarray) else W
        sizes.append(weights.shape[0])
        return (weights @ matrix).max(1, keepdims=True)

    W = np.random.default_rng(0).integers(0, 4, (70, 4)).astype(float)
    blocked = Blocked(statistic, n)
    assert blocked.breadth == 10
    assert (blocked(W) == statistic(W)).all()
    assert max(sizes[1:-1]) == 20
    tilt = Tilt(n, 1.0, -1.0, np.tile(np.arange(4), 20))
    assert (blocked(tilt) == statistic(tilt)).all()

# SPDX-License-Identifier: Apache-2.0
"""Kernels of page stream segmentation against brute force, segeval, nltk and recorded values."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
import segeval
from nltk.metrics import segmentation as nltk_segmentation
from scipy.optimize import linear_sum_assignment

from karat.contexts.splitting.moves import moves
from karat.contexts.splitting.overlaps import Overlaps
from karat.contexts.splitting.pages import Pages
from karat.contexts.splitting.windows import BorderEdits, Windows

RECORDS = [json.loads(line) for line in Path(__file__).parent.joinpath("../data/segmentation.jsonl").open()]


def pages_of(gold: list[list[int]], pred: list[list[int]]) -> Pages:
    bundle = np.repeat(np.arange(len(gold)), [len(g) for g in gold])
    flat = [np.array([flag for bundle in side for flag in bundle], bool) for side in (gold, pred)]
    return Pages(bundle.astype(np.int64), *flat, len(gold))


def random_streams(seed: int, *, agree: float, count: int = 60) -> tuple[list[list[int]], list[list[int]]]:
    rng = np.random.default_rng(seed)
    gold = [[1, *rng.integers(0, 2, rng.integers(1, 25)).tolist()] for _ in range(count)]
    pred = [[1, *(g if rng.random() < agree else int(rng.integers(0, 2)) for g in flags[1:])] for flags in gold]
    return gold, pred


def masses(flags: list[int]) -> tuple[int, ...]:
    cuts = [i for i, flag in enumerate(flags) if flag or i == 0] + [len(flags)]
    return tuple(np.diff(cuts).tolist())


def dragged(gold: list[int], pred: list[int]) -> int:
    g, p = (np.cumsum([1, *flags[1:]]) - 1 for flags in (gold, pred))
    common = np.zeros((g[-1] + 1, p[-1] + 1))
    np.add.at(common, (g, p), 1)
    return len(gold) - int(common[linear_sum_assignment(-common)].sum())


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_recorded_segmentations(record):
    pages = pages_of(record["true"], record["pred"])
    pieces, windows = Overlaps(pages), Windows(pages)
    expected = record["peers"]["formula_all"]
    assert pieces.split_gold.sum() == expected["errors"]["split_gold"]
    assert pieces.merged_pred.sum() == expected["errors"]["merged_pred"]
    assert pieces.count(pieces.exact).sum() == expected["document"]["tp"]
    assert pieces.count(pieces.paired).sum() == expected["pq"]["tp"]
    assert pieces.count(pieces.mostly).sum() == expected["pq_star"]["tp"]
    assert moves(pieces).tolist() == expected["mndd"]["per_stream"]
    assert windows.width.tolist() == expected["pk"]["k"]
    for wrong, name in ((windows.parted, "pk"), (windows.unequal, "windowdiff")):
        rates = [w / c if c else None for w, c in zip(wrong.tolist(), windows.count.tolist(), strict=True)]
        assert rates == pytest.approx(expected[name]["per_stream"])


@pytest.mark.parametrize("agree", [0.0, 0.5, 0.9])
def test_moves_equal_the_best_assignment(agree):
    gold, pred = random_streams(1, agree=agree)
    assert moves(Overlaps(pages_of(gold, pred))).tolist() == [dragged(*pair) for pair in zip(gold, pred, strict=True)]


def test_moves_of_one_long_chain():
    # Every page is an overlap of its own (a chain of 8,000), and each of the 4,000 gold files keeps one page.
    gold, pred = [1, 0] * 4000, [1, *[1, 0] * 3999, 1]
    assert moves(Overlaps(pages_of([gold], [pred]))).tolist() == [8000 - 4000]


@pytest.mark.parametrize("agree", [0.0, 0.5, 0.9])
def test_windows_equal_segeval(agree):
    gold, pred = random_streams(2, agree=agree)
    windows = Windows(pages_of(gold, pred))
    for i, (g, p) in enumerate(zip(gold, pred, strict=True)):
        if windows.count[i]:
            assert windows.parted[i] / windows.count[i] == pytest.approx(float(segeval.pk(masses(p), masses(g))))
            difference = segeval.window_diff(masses(p), masses(g))
            assert windows.unequal[i] / windows.count[i] == pytest.approx(float(difference))


def test_windows_equal_nltk():
    gold, pred = random_streams(3, agree=0.6)
    windows = Windows(pages_of(gold, pred), k=3)
    for i, (g, p) in enumerate(zip(gold, pred, strict=True)):
        if windows.count[i]:
            gaps = ["".join(map(str, side[1:])) for side in (g, p)]
            assert windows.unequal[i] / windows.count[i] == pytest.approx(nltk_segmentation.windowdiff(*gaps, 3))
            assert windows.parted[i] / windows.count[i] == pytest.approx(nltk_segmentation.pk(*gaps, 3))


@pytest.mark.parametrize("agree", [0.0, 0.5, 0.9])
def test_border_edits_equal_segeval(agree):
    gold, pred = random_streams(4, agree=agree, count=200)
    edits = BorderEdits(pages_of(gold, pred))
    for i, (g, p) in enumerate(zip(gold, pred, strict=True)):
        if edits.total[i]:
            expected = float(segeval.boundary_similarity(masses(g), masses(p)))
            assert 1 - edits.weight[i] / edits.total[i] == pytest.approx(expected)
        else:  # No border on either side: segeval fails in max(), karat calls it undefined.
            assert masses(g) == masses(p) == (len(g),)


def test_overlaps_equal_brute_force():
    gold, pred = random_streams(5, agree=0.7)
    pieces = Overlaps(pages_of(gold, pred))
    for i, (g, p) in enumerate(zip(gold, pred, strict=True)):
        spans = [set(zip(np.cumsum([0, *masses(side)[:-1]]).tolist(), masses(side), strict=True)) for side in (g, p)]
        assert pieces.count(pieces.exact)[i] == len(spans[0] & spans[1])
        files = list(zip(np.cumsum(g).tolist(), np.cumsum(p).tolist(), strict=True))
        assert pieces.count(pieces.size > 0)[i] == len(list(groupby(files)))


def test_bundles_without_pages():
    pages = Pages(np.array([1, 1], np.int64), np.array([True, False]), np.array([True, True]), 3)
    pieces = Overlaps(pages)
    assert pages.size.tolist() == [0, 2, 0]
    assert moves(pieces).tolist() == [0, 1, 0]
    assert Windows(pages).parted.tolist() == [0, 0, 0]
    assert BorderEdits(pages).misses.tolist() == [0, 1, 0]


def test_nothing_at_all():
    pages = Pages(np.zeros(0, np.int64), np.zeros(0, bool), np.zeros(0, bool), 0)
    assert moves(Overlaps(pages)).tolist() == Windows(pages).unequal.tolist() == BorderEdits(pages).near.tolist() == []

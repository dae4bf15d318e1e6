"""Statistics: bootstrap intervals against SciPy and scikit-learn, and a comparison of ten systems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Case, Data, Side

ROWS, CLASSES, RESAMPLES = 100_000, 10, 10_000


def systems(count: int, classes: int = CLASSES) -> Data:
    """Gold and the answers of systems that share half of their errors."""

    def make(folder: Path) -> None:
        rng = np.random.default_rng(count)
        gold = rng.integers(0, classes, ROWS)
        wrong = rng.integers(0, classes, (count + 1, ROWS))
        shared = np.where(rng.random(ROWS) < 0.8, gold, wrong[-1])
        own = [np.where(rng.random(ROWS) < 0.78 + 0.004 * i, gold, wrong[i]) for i in range(count)]
        np.save(folder / "codes.npy", np.stack([gold, *(np.where(rng.random(ROWS) < 0.5, shared, o) for o in own)]))

    return Data(f"systems-{count}" if classes == CLASSES else f"systems-{count}-{classes}", make)


def load(folder: Path) -> Any:
    import karat

    codes = np.load(folder / "codes.npy")
    karat.evaluate(codes[0][:100], codes[1][:100], intervals=True, resamples=100)  # imports are not measured
    return codes


def load_plain(folder: Path) -> Any:
    import scipy.stats  # noqa: F401
    import sklearn.metrics  # noqa: F401

    return np.load(folder / "codes.npy")


def karat_interval(codes: Any) -> None:
    import karat

    karat.evaluate(codes[0], codes[1], metrics=["f1"], intervals=True, interval_method="bca", resamples=RESAMPLES)


def macro_f1(gold: Any, pred: Any, axis: int = -1) -> Any:
    """Vectorised over leading axes, as scipy.stats.bootstrap wants it."""
    hit, out = gold == pred, 0.0
    for c in range(CLASSES):
        out += 2 * (hit & (gold == c)).sum(axis) / ((gold == c).sum(axis) + (pred == c).sum(axis))
    return out / CLASSES


def scipy_interval(codes: Any) -> None:
    from scipy import stats

    stats.bootstrap(
        (codes[0].astype(np.int8), codes[1].astype(np.int8)), macro_f1, paired=True, vectorized=True, batch=50,
        n_resamples=100, method="percentile", rng=np.random.default_rng(0),
    )  # fmt: skip


def sklearn_interval(codes: Any) -> None:
    from sklearn.metrics import f1_score
    from sklearn.utils import resample

    for seed in range(20):
        gold, pred = resample(codes[0], codes[1], random_state=seed)
        f1_score(gold, pred, average="macro")


def karat_compare(codes: Any) -> None:
    import karat

    karat.compare(codes[0], {f"s{i}": s for i, s in enumerate(codes[1:])})


def karat_compare_f1(codes: Any) -> None:
    import karat

    karat.compare(codes[0], {f"s{i}": s for i, s in enumerate(codes[1:])}, metrics=["f1"])


CASES = [
    Case(
        "macro-f1 interval 100k", systems(1), Side("karat", karat_interval, load),
        (Side("scipy.stats.bootstrap (vectorised)", scipy_interval, load_plain, repeat=2, part=0.01),),
        target=100, note="BCa interval from 10,000 resamples of 100,000 items, ten classes, evaluation included",
    ),
    Case(
        "macro-f1 interval 100k loop", systems(1), Side("karat", karat_interval, load),
        (Side("scikit-learn loop", sklearn_interval, load_plain, repeat=2, part=0.002),),
        target=1000, note="the same against resample and f1_score in a loop",
    ),
    Case(
        "compare 10 systems", systems(10), Side("karat", karat_compare, load, repeat=1),
        note="45 pairs × 8 metrics on 100,000 items: intervals, randomisation tests, Holm; at most 6 CPU s",
    ),
    Case(
        "compare 5 systems, 10 classes", systems(5), Side("karat", karat_compare_f1, load, repeat=1),
        note="10 pairs, F1, 100,000 items",
    ),
    Case(
        "compare 5 systems, 100 classes", systems(5, 100), Side("karat", karat_compare_f1, load, repeat=1),
        note="the same with 100 classes: at most 4 times the CPU of 10",
    ),
]  # fmt: skip

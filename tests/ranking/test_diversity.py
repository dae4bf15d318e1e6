"""Subtopics, worked by hand and against slow definitions."""

from __future__ import annotations

import random
from itertools import permutations
from math import isnan, log2
from pathlib import Path

import pytest

import karat

METRICS = ["alpha_dcg@5", "alpha_ndcg@5", "err_ia@5", "subtopic_recall@2", "precision_ia@4", "AP_IA", "NRBP", "nNRBP"]


def scored(tmp_path: Path, qrels: str, ranking: list[str]) -> karat.Evaluation:
    (tmp_path / "qrels").write_text(qrels)
    (tmp_path / "run").write_text("".join(f"1 Q0 {d} {i} {-i} t\n" for i, d in enumerate(ranking, 1)))
    return karat.evaluate(tmp_path / "qrels", tmp_path / "run", metrics=METRICS)


def test_worked(tmp_path: Path) -> None:
    """Documents x {1}, y {1}, z {2}; ranking x y."""
    e = scored(tmp_path, "1 1 x 1\n1 1 y 1\n1 2 z 1\n1 2 x 0\n", ["x", "y"])
    dcg = 1 + 0.5 / log2(3)
    assert e["alpha_dcg@5"].value == pytest.approx(dcg)
    assert e["alpha_ndcg@5"].value == pytest.approx(dcg / (1 + 1 / log2(3) + 0.5 / log2(4)))
    assert e["err_ia@5"].value == pytest.approx((0.5 / 1 + 0.25 / 2) / 2)
    assert e["subtopic_recall@2"].value == 0.5
    assert e["precision_ia@4"].value == (2 / 4 + 0 / 4) / 2
    assert e["AP_IA"].value == pytest.approx(((1 / 1 + 2 / 2) / 2 + 0) / 2)
    assert e["NRBP"].value == pytest.approx((1 - 0.25) / 2 * (1 + 0.5 * 0.5))
    assert e["nNRBP"].value == pytest.approx((1 + 0.5 * 0.5) / (1 + 0.5 * 1 + 0.25 * 0.5))


def test_a_subtopic_judged_twice(tmp_path: Path) -> None:
    """The line that is repeated is that of the same subtopic."""
    with pytest.raises(karat.InputError, match=r"qrels:3: .*'x' of query '1' is judged again \(first on line 2\)"):
        scored(tmp_path, "1 1 x 1\n1 2 x 1\n1 2 x 0\n", ["x"])


@pytest.mark.parametrize("seed", range(8))
def test_slow_definition(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    documents = "abcde"
    topics = {d: {t for t in (1, 2, 3) if rng.random() < 0.5} for d in documents}
    qrels = "".join(f"1 {t} {d} {int(t in topics[d])}\n" for d in documents for t in (1, 2, 3))
    ranking = rng.sample([*documents, "u"], 5)

    def novelty(order: tuple[str, ...] | list[str]) -> float:
        seen: dict[int, int] = {}
        total = 0.0
        for i, d in enumerate(order, 1):
            total += sum(0.5 ** seen.get(t, 0) for t in topics.get(d, ())) / log2(i + 1)
            seen |= {t: seen.get(t, 0) + 1 for t in topics.get(d, ())}
        return total

    e = scored(tmp_path, qrels, ranking)
    assert (e["alpha_dcg@5"].value or 0) == pytest.approx(novelty(ranking))
    best = max(map(novelty, permutations(documents)))
    assert (e["alpha_ndcg@5"].value or 0) >= novelty(ranking) / best - 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_ndeval(seed: int, tmp_path: Path) -> None:
    """Against ndeval (the C program behind ir_measures' diversity measures), query by query."""
    pyndeval = pytest.importorskip("pyndeval")
    rng = random.Random(seed)
    documents, alpha = [f"d{i:02d}" for i in range(rng.choice((6, 40)))], rng.choice((0.3, 0.5))
    beta = rng.choice((0.5, 0.9))
    topics = [str(t) for t in range(1, 1 + rng.choice((1, 2, 5, 8)))]
    queries = [str(q) for q in range(1, rng.randint(2, 6))]
    pairs = [(q, t, d) for q in queries for d in documents for t in topics if rng.random() < 0.7]
    judged = [(*pair, int(rng.random() < 0.3)) for pair in rng.sample(pairs, len(pairs))]
    ranked = {q: rng.sample([*documents, "u1", "u2"], rng.randint(1, len(documents))) for q in queries}
    run = [(q, d, float(-i)) for q, found in ranked.items() for i, d in enumerate(found)]
    (tmp_path / "qrels").write_text("".join(f"{q} {t} {d} {g}\n" for q, t, d, g in judged))
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, d, s in run))
    names = {
        "alpha-DCG": f"alpha_dcg(alpha={alpha},normalize=true)",
        "alpha-nDCG": f"alpha_ndcg(alpha={alpha})",
        "ERR-IA": f"err_ia(alpha={alpha},normalize=true)",
        "nERR-IA": f"nerr_ia(alpha={alpha})",
        "strec": "subtopic_recall",
        "P-IA": "precision_ia",
    }
    names = {f"{there}@{k}": f"{here}@{k}" for there, here in names.items() for k in (5, 10)}
    names |= {there: f"{there.lower()}(alpha={alpha},beta={beta})" for there in ("NRBP", "nNRBP")}
    names["MAP-IA"] = "average_precision_ia"
    expected = pyndeval.ndeval(judged, run, measures=list(names), alpha=alpha, beta=beta)
    e = karat.evaluate(tmp_path / "qrels", tmp_path / "run", metrics=list(names.values()))
    for query, values in expected.items():
        found = {there: e[here].by_test_case[query].value or 0.0 for there, here in names.items()}
        assert found == pytest.approx({there: numbered(values[there]) for there in names}, abs=1e-9)


def numbered(value: float) -> float:
    """ndeval's nNRBP is 0/0 where nothing is relevant."""
    return 0.0 if isnan(value) else value

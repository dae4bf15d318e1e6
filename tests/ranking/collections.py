"""Random collections with everything that tells evaluators apart: ties, unjudged documents, missing queries."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Collection:
    """Judgements and a run as dicts of dicts."""

    qrels: dict[str, dict[str, int]]
    run: dict[str, dict[str, float]]

    def write(self, folder: Path) -> tuple[Path, Path]:
        """As TREC files, the rows of the run in random order of queries and documents."""
        qrels, run = folder / "qrels", folder / "run"
        qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in self.qrels.items() for d, g in docs.items()))
        rows = [f"{q} Q0 {d} {i} {s} tag\n" for q, docs in self.run.items() for i, (d, s) in enumerate(docs.items(), 1)]
        random.Random(len(rows)).shuffle(rows)
        run.write_text("".join(rows))
        return qrels, run


def collection(seed: int) -> Collection:
    """Up to 8 queries; scores from few values, so that most documents are tied."""
    rng = random.Random(seed)
    pool = [f"{rng.choice('aBd_9')}{i:0{rng.choice((1, 3, 12))}d}" for i in range(rng.choice((12, 60)))]
    pool = list(dict.fromkeys(pool))
    queries = [f"q{i}" for i in range(rng.randint(1, 8))]
    levels = rng.choice((2, 5, 1000))
    qrels = {q: _judged(rng, pool) for q in queries}
    asked = [queries[0], *(q for q in [*queries[1:], "extra"] if rng.random() < 0.85)]
    return Collection(qrels, {q: _ranked(rng, pool, levels) for q in asked})


def _judged(rng: random.Random, pool: list[str]) -> dict[str, int]:
    grades = rng.choice(((0, 1), (0, 0, 0, 1, 2, 3), (0, 1, 1, 4), (0,), (-1, 0, 1, 2)))
    return {d: rng.choice(grades) for d in rng.sample(pool, rng.randint(1, len(pool)))} | {pool[0]: 0}


def _ranked(rng: random.Random, pool: list[str], levels: int) -> dict[str, float]:
    return {d: rng.randint(0, levels) / 4 for d in rng.sample(pool, rng.randint(1, len(pool)))}

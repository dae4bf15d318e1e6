"""Rankings: TREC files with process start, and data in memory, against pytrec_eval, ir_measures and ranx."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Case, Data, Side

TREC = ("map", "ndcg_cut.10", "ndcg", "P.10", "recall.100", "recip_rank", "Rprec")
OURS = ("AP", "nDCG@10", "nDCG", "P@10", "R@100", "RR", "Rprec")
RANX = ("map", "ndcg@10", "ndcg", "precision@10", "recall@100", "mrr", "r-precision")


def trec_files(queries: int, documents: int, judged: int) -> Data:
    """A run with a few ties, and judgements of which half are retrieved."""

    def make(folder: Path) -> None:
        rng = np.random.default_rng(queries)
        with open(folder / "qrels", "w") as qrels, open(folder / "run", "w") as run:
            for query in range(1, queries + 1):
                drawn = rng.choice(9_000_000, documents + judged // 2, replace=False)
                scores = np.sort(rng.gamma(2, 5, documents))[::-1]
                ranked = zip(drawn[:documents].tolist(), scores.tolist(), strict=True)
                run.writelines(f"{query} Q0 D{d:08d} {i} {s:.4f} bm25\n" for i, (d, s) in enumerate(ranked, 1))
                known = [*rng.choice(drawn[:documents], judged // 2, replace=False), *drawn[documents:]]
                grades = rng.choice((0, 0, 0, 1, 1, 2, 3), len(known))
                qrels.writelines(f"{query} 0 D{d:08d} {g}\n" for d, g in zip(known, grades, strict=True))

    return Data(f"trec-{queries}x{documents}", make)


def process(name: str, code: str, repeat: int = 3) -> Side:
    """A program of its own, its start included; it prints the mean average precision."""

    def run(folder: Path) -> float:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        command = [sys.executable, "-c", code, str(folder / "qrels"), str(folder / "run")]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return float(done.stdout.split()[-1])

    return Side(name, run, repeat=repeat)


KARAT = f"""
import sys
from karat.cli.main import karat
args = ["evaluate", *sys.argv[1:], "--report", "trec", "-q"]
karat.main(args + [a for m in {OURS!r}[::-1] for a in ("-m", m)], standalone_mode=False)
"""
PYTREC = f"""
import sys, pytrec_eval
qrels, run = pytrec_eval.parse_qrel(open(sys.argv[1])), pytrec_eval.parse_run(open(sys.argv[2]))
found = pytrec_eval.RelevanceEvaluator(qrels, set({TREC!r})).evaluate(run)
mean = lambda m: pytrec_eval.compute_aggregated_measure(m, [q[m] for q in found.values()])
print([mean(m) for m in next(iter(found.values()))], mean("map"))
"""
IR_MEASURES = f"""
import sys, ir_measures
measures = [ir_measures.parse_measure(m) for m in {OURS!r}]
found = ir_measures.calc_aggregate(measures, ir_measures.read_trec_qrels(sys.argv[1]), ir_measures.read_trec_run(sys.argv[2]))
print(found[measures[0]])
"""
RANX_CODE = f"""
import sys, ranx
found = ranx.evaluate(ranx.Qrels.from_file(sys.argv[1], kind="trec"), ranx.Run.from_file(sys.argv[2], kind="trec"), list({RANX!r}))
print(found["map"])
"""


def dicts(folder: Path) -> Any:
    import pytrec_eval

    with open(folder / "qrels") as qrels, open(folder / "run") as run:
        return pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)


def frames(folder: Path) -> Any:
    import polars as pl

    qrels, run = dicts(folder)
    column = lambda data, name: pl.DataFrame(
        {
            "query_id": [q for q, docs in data.items() for _ in docs],
            "doc_id": [d for docs in data.values() for d in docs],
            name: [v for docs in data.values() for v in docs.values()],
        }
    )
    import karat.api  # noqa: F401

    return column(qrels, "relevance"), column(run, "score")


def karat_memory(loaded: Any) -> float:
    import karat

    return float(karat.evaluate(*loaded, context="ranking", metrics=OURS)["AP"].value)


def pytrec_memory(loaded: Any) -> float:
    import pytrec_eval

    qrels, run = loaded
    found = pytrec_eval.RelevanceEvaluator(qrels, set(TREC)).evaluate(run)
    return float(np.mean([q["map"] for q in found.values()]))


def cases(queries: int, documents: int, judged: int) -> list[Case]:
    data = trec_files(queries, documents, judged)
    size = f"{queries:,} queries × {documents:,} documents"
    files: Callable[[str, Side, float], Case] = lambda peer, side, target: Case(
        f"files-{queries}-{peer}",
        data,
        process("karat", KARAT),
        (side,),
        target,
        f"seven measures from TREC files, process start included: {size}",
    )
    memory = (Side("pytrec_eval", pytrec_memory, dicts),)
    note = f"seven measures in memory, a Polars frame against dicts: {size}"
    return [
        files("pytrec_eval", process("pytrec_eval", PYTREC), 2),
        files("ir_measures", process("ir_measures", IR_MEASURES), 3),
        files("ranx", process("ranx, warm cache", RANX_CODE, 2), 15),
        Case(f"frames-{queries}", data, Side("karat", karat_memory, frames), memory, 4, note),
    ]


CASES = [*cases(1_000, 1_000, 50), *cases(10_000, 100, 10)]

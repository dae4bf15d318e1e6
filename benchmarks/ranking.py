"""Rankings: TREC files with process start, and data in memory, against pytrec_eval, ir_measures, ranx and trec_eval."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Absent, Case, Data, Side

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


def process(name: str, command: Callable[[], list[str]], repeat: int = 3) -> Side:
    """A program of its own, its start included; it prints map, the queries and the value, or the value at the end."""

    def run(folder: Path) -> float:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        files = [str(folder / "qrels"), str(folder / "run")]
        done = subprocess.run([*command(), *files], capture_output=True, text=True, check=True, env=environment)
        words = done.stdout.split()
        return float(words[words.index("map") + 2 if "map" in words else -1])

    return Side(name, run, repeat=repeat)


def python(name: str, code: str, repeat: int = 3) -> Side:
    return process(name, lambda: [sys.executable, "-c", code], repeat)


def trec_eval() -> list[str]:
    """The C program with the measures."""
    found = os.environ.get("KARAT_TREC_EVAL") or shutil.which("trec_eval")
    if found is None:
        raise Absent("trec_eval is not on the path, nor named by KARAT_TREC_EVAL")
    return [found, *(a for m in TREC for a in ("-m", m))]


COMMAND = f"""
import sys
from karat.cli.main import karat
args = ["evaluate", *sys.argv[1:], "--report", "trec", "--quiet"]
karat.main(args + [a for m in {OURS!r} for a in ("-m", m)], standalone_mode=False)
"""
KARAT = f"""
import sys, karat
print(karat.evaluate(*sys.argv[1:], metrics={OURS!r})["AP"].value)
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
    note = f"seven measures from TREC files, process start included: {size}"

    def files(peer: str, side: Side, target: float | None, code: str = KARAT) -> Case:
        return Case(f"files-{queries}-{peer}", data, python("karat", code), (side,), target, note)

    memory = (Side("pytrec_eval", pytrec_memory, dicts),)
    in_memory = f"seven measures in memory, a Polars frame against dicts: {size}"
    return [
        files("pytrec_eval", python("pytrec_eval", PYTREC), 2),
        files("ir_measures", python("ir_measures", IR_MEASURES), 3),
        files("ranx", python("ranx, warm cache", RANX_CODE, 2), 15),
        files("trec_eval", process("trec_eval", trec_eval), 1, COMMAND),
        Case(f"frames-{queries}", data, Side("karat", karat_memory, frames, 7), memory, 4, in_memory),
    ]


CASES = [*cases(1_000, 1_000, 50), *cases(10_000, 100, 10)]

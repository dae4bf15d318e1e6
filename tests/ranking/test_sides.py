"""Rankings as sides: every container, both readers, any order and any batches give the same numbers and findings."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat
from karat.align import Aligned, meet
from karat.contexts.ranking import context
from karat.contexts.ranking.sides import by_documents
from karat.counting import cluster_keys
from karat.engines.duckdb import Engine
from karat.inputs import Given, read_side
from karat.metric import Metric
from karat.plan import make_plan
from karat.read import fast, trec
from karat.read.source import Source
from karat.side import Side

Records = list[tuple[str, str, float]]
METRICS = ("AP", "nDCG", "RR", "P@5", "err")


def collection(seed: int, queries: int = 12) -> tuple[Records, Records]:
    """Judgements and a run with ties, queries on one side only and ids that are not ASCII."""
    rng = random.Random(seed)
    pool = [f"d{i}é" if i % 9 == 0 else f"document-{i}" for i in range(60)]
    gold = [(f"q{q}", d, float(rng.randint(0, 3))) for q in range(queries) for d in rng.sample(pool, 9)]
    run = [(f"q{q}", d, float(rng.randint(0, 12))) for q in range(1, queries + 1) for d in rng.sample(pool, 20)]
    return gold, run


def columns(records: Records, value: str) -> dict[str, list[Any]]:
    return {name: [r[i] for r in records] for i, name in enumerate(("query_id", "doc_id", value))}


def nested(records: Records) -> dict[str, dict[str, float]]:
    out: dict[str, dict[str, float]] = {}
    for query, document, number in records:
        out.setdefault(query, {})[document] = number
    return out


def containers(records: Records, role: str, folder: Path) -> dict[str, Any]:
    """The same records in everything that can hold them."""
    polars, pandas, arrow = (pytest.importorskip(name) for name in ("polars", "pandas", "pyarrow"))
    data = columns(records, "relevance" if role == "gold" else "score")
    rows = [dict(zip(data, record, strict=True)) for record in records]
    trec = [f"{q} 0 {d} {x}" if role == "gold" else f"{q} Q0 {d} {n} {x} t" for n, (q, d, x) in enumerate(records, 1)]
    texts = {
        "trec": "\n".join(trec), "rankings": json.dumps(nested(records)), "json": json.dumps(rows),
        "jsonl": "\n".join(map(json.dumps, rows)), "csv": "\n".join(",".join(map(str, r)) for r in [tuple(data), *records]),
        "tsv": "\n".join("\t".join(map(str, r)) for r in [tuple(data), *records]),
    }  # fmt: skip
    out: dict[str, Any] = {"dict": nested(records), "records": rows, "columns": data}
    out |= {"polars": polars.DataFrame(data), "pandas": pandas.DataFrame(data), "arrow": arrow.table(data)}
    for name, text in texts.items():
        out[name] = folder / f"{role}.{name}"
        out[name].write_text(text + "\n", encoding="utf-8")
    out["parquet"] = folder / f"{role}.parquet"
    out["polars"].write_parquet(out["parquet"])
    return out


def outcome(gold: Any, run: Any, **options: Any) -> Any:
    """Scores with intervals, coverage and finding codes; or the errors with their lines."""
    try:
        e = karat.evaluate(gold, run, context="ranking", metrics=METRICS, intervals=0.95, resamples=200, **options)
    except karat.InputError as error:
        return [(f.code, f.line) for f in error.findings if f.severity == "error"]
    scores = [(e[m].value, e[m].interval.low, e[m].interval.high, list(e[m].by_test_case)) for m in METRICS]
    stated = {"rank-score-disagree"}  # only TREC states ranks beside scores here
    return scores, e.systems[0].counts, sorted({f.code for f in e.findings} - stated)


@pytest.mark.usefixtures("readers")
def test_the_container_changes_nothing(tmp_path: Path) -> None:
    """Scores, intervals, coverage and findings, of records in any order."""
    gold, run = collection(1)
    wanted = outcome(nested(gold), nested(run))
    random.Random(2).shuffle(gold), random.Random(3).shuffle(run)
    golds, runs = containers(gold, "gold", tmp_path), containers(run, "pred", tmp_path)
    assert {name: outcome(golds[name], runs[name]) == wanted for name in golds} == dict.fromkeys(golds, True)


@pytest.mark.usefixtures("readers")
@pytest.mark.parametrize("role", ["gold", "pred"])
def test_nan_has_one_code(role: str, tmp_path: Path) -> None:
    gold, run = collection(4, queries=2)
    broken = gold if role == "gold" else run
    broken[3] = (*broken[3][:2], float("nan"))
    golds, runs = containers(gold, "gold", tmp_path), containers(run, "pred", tmp_path)
    strict = ("json", "jsonl", "records", "columns")
    lines = {"csv": 5, "tsv": 5}
    for name in golds.keys() - {*strict}:
        assert outcome(golds[name], runs[name]) == [("nan-score", lines.get(name, 4))], name


def test_numbers_of_400_digits(tmp_path: Path) -> None:
    """A grade too large for a float is infinite; a score has its place in the order all the same."""
    huge = 10**400
    gold, run = {"q": {"a": huge, "b": 0}}, {"q": {"a": 1, "b": 2}}
    path = tmp_path / "gold.json"
    path.write_text(json.dumps(gold))
    assert outcome(gold, run) == outcome(path, run) == [("infinite-grade", 1)]
    (tmp_path / "gold.qrels").write_text(f"q 0 a {huge}\nq 0 b 0\n")
    assert outcome(tmp_path / "gold.qrels", run) == [("infinite-grade", 1)]
    first = karat.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"b": 5.0, "a": huge}}, context="ranking", metrics=["RR"])
    assert first["RR"].value == 1.0


RUN = "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\n"
ODD = {
    "NUL byte": ("q1 Q0 a\0 1 3 t\n", [("nul-byte", 1)]),
    "no UTF-8": (b"q1 Q0 a 1 3 t\nq1 Q0 \xff 2 2 t\n", [("not-utf8", 2)]),
    "lone CR": ("q1 Q0 a 1 3 t\rq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\n", [("short-line", 1)]),
    **{
        f"{mark!a} for a line feed": (f"q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t{mark}q1 Q0 c 3 1 t\nq2 Q0 c 1 1 t\n", [("short-line", 2)])
        for mark in "\f\v\x85\u2028\u2029"
    },
    "few and many": ("q1 Q0 a 1 3\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1\n", [("short-line", 1), ("short-line", 3)]),
    "words": ("q1 Q0 a 1 high t\nq1 Q0 b 2 1_0 t\nq2 Q0 c 1 1 t\n", [("not-a-number", 1), ("not-a-number", 2)]),
    "all at once": ("q1 Q0 a 1 nan t\nq1 Q0 b\nq2 Q0 c 1 x t\n", [("short-line", 2), ("not-a-number", 3), ("nan-score", 1)]),
}  # fmt: skip


@pytest.mark.usefixtures("readers")
@pytest.mark.parametrize("name", ODD)
def test_trec_faults(name: str, tmp_path: Path) -> None:
    text, wanted = ODD[name]
    (tmp_path / "run").write_bytes(text if isinstance(text, bytes) else text.encode())
    found = outcome({"q1": {"a": 1}, "q2": {"c": 1}}, tmp_path / "run", format="trec-run")
    assert sorted(found) == sorted(wanted)


@pytest.mark.usefixtures("readers")
def test_comments_with_as_many_fields_as_a_record(tmp_path: Path) -> None:
    """They are comments in judgements and runs, wherever they stand, also after blanks."""
    (tmp_path / "gold").write_text("# 0 b 1\nq1 0 a 1\n  # 0 z 1\nq2 0 c 1\n#q 0 d 1\n")
    (tmp_path / "run").write_text("# Q0 x 1 9 t\n" + RUN.replace("\n", "\n# Q0 y 1 9 t\n"))
    found = karat.evaluate(tmp_path / "gold", tmp_path / "run", metrics=["AP"])
    assert found["AP"].value == 1.0
    assert found.systems[0].counts["gold"] == found.systems[0].counts["pred"] == 2


LINES = [
    b"# Q0 a 1 2 t",
    b"q1 Q0 a 1 2 t",
    b"#q1 Q0 z",
    b"q1 Q0 b 2 1 t",
    b"",
    b"q2 Q0 c 1 9 t",
    b"\r",
    b"q1 Q0 d 3 0 t",
]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(("block", "stretches"), [(1 << 24, [2, 6, 8]), (1, [2, 4, 6, 8])])
def test_a_file_by_stretches_of_one_query(mark: bytes, block: int, stretches: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Comments and empty lines are no records; where a block of bytes ends, a stretch goes on as another."""
    monkeypatch.setattr(trec, "_BLOCK", block)
    (tmp_path / "run").write_bytes(mark + b"\n".join(LINES))
    with ExitStack() as stack:
        found = trec.query_lines(Source(tmp_path / "run", stack), most=len(stretches))
        assert trec.query_lines(Source(tmp_path / "run", stack), most=len(stretches) - 1) is None
    assert found is not None
    assert found.line.tolist() == stretches
    assert found.query == [LINES[line - 1].split()[0].decode() for line in stretches]
    assert found.start.tolist() == [len(b"\n".join([*LINES[: line - 1], b""])) for line in stretches]
    assert found.rows.tolist() == ([2, 1, 1] if block > 1 else [1, 1, 1, 1])


@pytest.mark.parametrize("line", [b" q1 Q0 a 1 2 t", b"\tq1 Q0 a 1 2 t", b"\rq1 Q0 a 1 2 t"])
def test_a_record_behind_blanks_belongs_to_no_stretch(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"q1 Q0 b 1 2 t\n" + line)
    with ExitStack() as stack:
        assert trec.query_lines(Source(tmp_path / "run", stack), most=9) is None


@pytest.mark.usefixtures("readers")
def test_spare_fields_are_said(tmp_path: Path) -> None:
    """trec_eval does not read them either; judgements have none."""
    (tmp_path / "run").write_text(RUN.replace("2 t", "2 t more of it"))
    gold = {"q1": {"b": 1}, "q2": {"c": 1}}
    found = karat.evaluate(gold, tmp_path / "run", context="ranking", metrics=["RR"])
    assert found["RR"].value == 0.75
    assert [(f.code, f.line) for f in found.findings] == [("spare-fields", 2)]
    (tmp_path / "gold").write_text("q1 0 a 1\nq1 0 b 1 x\n")
    assert outcome(tmp_path / "gold", tmp_path / "run")[0] == ("short-line", 2)


@pytest.mark.parametrize("gap", [" ", "\t", "  ", " \t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "\n\n"])
def test_both_readers_read_alike(gap: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers in every spelling, ids of every length, with and without a last line end."""
    rng = random.Random(5)
    spelt = ["%.4f", "%d", "%.9f", "%e", "%g", "%+.1f"]
    rows = [
        ("q" * (1 + i // 9), "Q0", "é" * (i % 20) + str(i), str(i % 9 + 1), rng.choice(spelt) % (1000 * rng.random()), "t")
        for i in range(300)
    ]  # fmt: skip
    path = tmp_path / "run"
    path.write_text(end.join(gap.join(row) for row in rows), encoding="utf-8", newline="")
    with ExitStack() as stack, Engine() as engine:
        sides = []
        for on in (True, False):
            monkeypatch.setattr(fast, "ON", on)
            table = read_side(engine, stack, path, "pred", Given("trec-run", None, {}, "ranking", {}))
            assert isinstance(table, Side)
            sides.append(table)
    assert plain(sides[0]) == plain(sides[1])


def plain(side: Side) -> Any:
    """Everything a side says, in Python."""
    texts = {name: c.texts() if hasattr(c, "texts") else c.tolist() for name, c in side.entries.columns.items()}
    lines = [side.entry_line(entry) for entry in range(len(side.entries))]
    return side.keys.case.texts(), side.entries.unit.tolist(), texts, lines, side.facts, side.record.tolist()


def sides(gold: Any, run: Any) -> Iterator[Side]:
    with ExitStack() as stack, Engine() as engine:
        for role, given in (("gold", gold), ("pred", run)):
            table = read_side(engine, stack, given, role, Given(None, None, {}, "ranking", {}))
            yield context.prepare(table, {})


@pytest.mark.parametrize("batches", [2, 3, 7])
@pytest.mark.parametrize("topics", [1, 3])
def test_batches_are_the_whole(batches: int, topics: int, tmp_path: Path) -> None:
    """Queries in any batches and order: the same cells, and the same scores of the whole catalogue, bit for bit."""
    gold, run = collection(batches)
    rng = random.Random(batches)
    judged = {(q, d, rng.randrange(topics)): x for q, d, x in gold for _ in range(topics)}
    (tmp_path / "gold").write_text("".join(f"{q} {t} {d} {x:g}\n" for (q, d, t), x in judged.items()))
    of_gold, of_run = sides(tmp_path / "gold", nested(run))
    plan = make_plan("ranking", None, {})

    def counted(parts: list[set[str]]) -> Any:
        reduced = []
        for part in parts:
            taken = [s.take(np.flatnonzero([c in part for c in s.keys.case.texts()])) for s in (of_gold, of_run)]
            both = meet(taken[0].keys, taken[1].keys).kept("wrong", "ignore")
            reduced.append(context.reduce(Aligned.of(*taken, both), plan.options))
        return context.cells_of(Aligned.merge(reduced), plan.options)

    queries = sorted({*of_gold.keys.case.names, *of_run.keys.case.names})
    whole = counted([{*queries}])
    rng.shuffle(queries)
    cells = counted([{*queries[i::batches]} for i in range(batches)])
    assert cells.test_cases == whole.test_cases == sorted(of_gold.keys.case.names)
    for metric in plan.catalogue:
        one, two = (metric.compute(c.by_test_case(), c, Metric(metric.name)).value for c in (whole, cells))
        np.testing.assert_array_equal(one, two, err_msg=metric.name)


def test_records_become_queries(tmp_path: Path) -> None:
    """Units that are single documents are put together by query, with their lines, ranks and clusters."""
    (tmp_path / "gold.csv").write_text("query_id,doc_id,relevance,topic\nq2,a,1,x\nq1,b,0,y\nq2,c,2,w\n")
    with ExitStack() as stack, Engine() as engine:
        given = Given(None, None, {"cluster": "topic", "test_case": "query_id"}, "ranking", {})
        table = read_side(engine, stack, tmp_path / "gold.csv", "gold", given)
        side = context.prepare(table, {})
    assert side.keys.case.texts() == ["q2", "q1"]
    assert side.entries["document"].texts() == ["a", "c", "b"]
    assert [side.entry_line(entry) for entry in range(3)] == [2, 4, 3]
    assert [side.line(unit) for unit in range(2)] == [2, 3]
    assert side.units["cluster"].texts() == ["w", "y"]
    assert by_documents(side) is side


def test_clusters_of_queries(tmp_path: Path) -> None:
    """A column of gold says which queries belong together; one in none stands alone."""
    (tmp_path / "gold.csv").write_text("query_id,doc_id,relevance,user\nq2,a,1,u\nq1,a,1,v\nq2,b,0,u\nq3,a,1,\n")
    given = Given(None, None, {"cluster": "user"}, "ranking", {})
    with ExitStack() as stack, Engine() as engine:
        table = read_side(engine, stack, tmp_path / "gold.csv", "gold", given)
        table = context.prepare(table, {})
        keys = cluster_keys(table, "user")
    assert [keys.unit.tolist(), keys.cluster.tolist()] == [["q1", "q2"], ["v", "u"]]
    with pytest.raises(karat.InputError, match="cluster-column-missing"):
        karat.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, context="ranking", cluster_by="user")


def test_intervals_of_clustered_queries(tmp_path: Path) -> None:
    """Queries of one user succeed or fail together: drawn by user, the interval is wider, and the score the same."""
    gold = "".join(f"q{q},a,1,{q // 10}\nq{q},b,0,{q // 10}\n" for q in range(60))
    (tmp_path / "gold.csv").write_text("query_id,doc_id,relevance,user\n" + gold)
    run = {f"q{q}": {"a": 1.0, "b": 2.0 * (q // 10 % 2)} for q in range(60)}
    options: Any = {"context": "ranking", "metrics": ["AP"], "intervals": 0.95}
    alone, drawn = (
        karat.evaluate(tmp_path / "gold.csv", run, **options, **by)["AP"] for by in ({}, {"cluster_by": "user"})
    )
    assert alone.value == drawn.value == 0.75
    assert drawn.interval.high - drawn.interval.low > 2 * (alone.interval.high - alone.interval.low)

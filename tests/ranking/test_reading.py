"""Inputs of rankings: formats, what is said about them, and what is never imported for them."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.align import Aligned
from karat.columns import Codes, Text
from karat.read.fast import trec as fast_trec
from karat.read.fast.decimals import decimals
from karat.read.source import Source
from karat.side import Entries

pytestmark = pytest.mark.usefixtures("readers")

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1, "d": 0}}
RUN = {"q1": {"b": 3.5, "a": 2.25, "x": 1.0}, "q2": {"d": 2.0, "a": 1.5}}
AP = (1 / 2 / 2 + 1 / 2) / 2
"""q1: a at rank 2 of two relevant: (1/2)/2; q2: a at rank 2: 1/2."""


def qrels_text(gap: str = " ", end: str = "\n") -> str:
    return "".join(gap.join((q, "0", d, str(g))) + end for q, docs in QRELS.items() for d, g in docs.items())


def run_text(gap: str = " ", end: str = "\n") -> str:
    rows = [(q, "Q0", d, str(i), str(s), "t") for q, docs in RUN.items() for i, (d, s) in enumerate(docs.items(), 1)]
    return "".join(gap.join(row) + end for row in rows)


def written(folder: Path, qrels: bytes | str, run: bytes | str) -> tuple[Path, Path]:
    paths = folder / "gold.qrels", folder / "system.run"
    for path, text in zip(paths, (qrels, run), strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths


def ap(gold: object, pred: object, **options: object) -> float | None:
    return karat.evaluate(gold, pred, metrics=["AP"], **options)["AP"].value


@pytest.mark.parametrize(
    ("gap", "end"),
    [(" ", "\n"), ("\t", "\n"), ("  \t ", "\n"), (" ", "\r\n"), (" ", " \n"), (" ", "\n\n"), (" ", "\n# note\n")],
)
def test_white_space(gap: str, end: str, tmp_path: Path) -> None:
    assert ap(*written(tmp_path, qrels_text(gap, end), run_text(gap, end))) == pytest.approx(AP)


def test_packed_and_marked(tmp_path: Path) -> None:
    packed = written(tmp_path, gzip.compress(qrels_text().encode()), gzip.compress(run_text().encode()))
    assert ap(*packed) == pytest.approx(AP)
    marked = written(tmp_path, "\ufeff" + qrels_text(), "\ufeff" + run_text().rstrip("\n"))
    assert ap(*marked) == pytest.approx(AP)


def rows(data: dict, value: str) -> dict[str, list]:
    return {
        "query_id": [q for q, docs in data.items() for _ in docs],
        "doc_id": [d for docs in data.values() for d in docs],
        value: [v for docs in data.values() for v in docs.values()],
    }


def test_frames(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    for frame in (pandas.DataFrame, polars.DataFrame, arrow.table):
        assert ap(frame(rows(QRELS, "relevance")), frame(rows(RUN, "score"))) == pytest.approx(AP)
    polars.DataFrame(rows(QRELS, "relevance")).write_parquet(tmp_path / "gold.parquet")
    polars.DataFrame(rows(RUN, "score")).write_parquet(tmp_path / "pred.parquet")
    assert ap(tmp_path / "gold.parquet", tmp_path / "pred.parquet") == pytest.approx(AP)
    polars.DataFrame(rows(QRELS, "relevance")).write_csv(tmp_path / "gold.csv")
    polars.DataFrame(rows(RUN, "score")).write_csv(tmp_path / "pred.csv")
    assert ap(tmp_path / "gold.csv", tmp_path / "pred.csv") == pytest.approx(AP)


def test_dicts_and_json(tmp_path: Path) -> None:
    assert ap(QRELS, RUN, context="ranking") == pytest.approx(AP)
    gold, pred = written(tmp_path, json.dumps(QRELS), json.dumps(RUN))
    assert ap(gold, pred) == pytest.approx(AP)
    qrels, _ = written(tmp_path, qrels_text(), "")
    assert ap(qrels, RUN, context="ranking") == pytest.approx(AP)


def test_ranks_by_name(tmp_path: Path) -> None:
    """A column called rank, or PyEvALL's value, rises; a column called score falls."""
    ranks = {q: {d: i for i, d in enumerate(docs, 1)} for q, docs in RUN.items()}
    polars = pytest.importorskip("polars")
    assert ap(polars.DataFrame(rows(QRELS, "relevance")), polars.DataFrame(rows(ranks, "rank"))) == pytest.approx(AP)
    records = lambda data: [{"test_case": q, "id": d, "value": v} for q, docs in data.items() for d, v in docs.items()]
    gold, pred = written(tmp_path, json.dumps(records(QRELS)), json.dumps(records(ranks)))
    assert ap(gold, pred) == pytest.approx(AP)
    scores = {q: {d: -i for d, i in docs.items()} for q, docs in ranks.items()}
    gold, pred = written(tmp_path, json.dumps(records(QRELS)), json.dumps(records(scores)))
    assert ap(gold, pred, order="score") == pytest.approx(AP)


def test_ranks_of_a_run(tmp_path: Path) -> None:
    """Scores decide, as in trec_eval, and a contradiction is said; --order rank turns to the rank column."""
    gold, pred = written(tmp_path, "q 0 a 1\nq 0 b 0\n", "q Q0 a 1 1.0 t\nq Q0 b 2 2.0 t\n")
    evaluation = karat.evaluate(gold, pred, metrics=["RR"])
    assert evaluation["RR"].value == 0.5
    assert [(f.code, f.line) for f in evaluation.findings] == [("rank-score-disagree", 2)]
    assert karat.evaluate(gold, pred, metrics=["RR"], order="rank")["RR"].value == 1.0


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("q1 Q0 b 4 0.5 t", "repeated-document"),
        ("q1 Q0 y 4 nan t", "nan-score"),
        ("q1 Q0 y 4 high t", "not-a-number"),
        ("q1 Q0 y", "short-line"),
    ],
)
def test_errors_with_lines(line: str, code: str, tmp_path: Path) -> None:
    lines = run_text().splitlines()
    lines.insert(3, line)
    with pytest.raises(karat.InputError) as caught:
        ap(*written(tmp_path, qrels_text(), "# a run\n" + "\n".join(lines) + "\n"))
    assert [(f.code, f.line) for f in caught.value.findings if f.severity == "error"] == [(code, 5)]


@pytest.mark.parametrize("byte", [b"\x80", b"\xbf", b"\xc3", b"\xff"])
def test_bytes_that_are_no_text(byte: bytes, tmp_path: Path) -> None:
    """0x80 is the first that is no ASCII, and no character begins with it."""
    with pytest.raises(karat.InputError) as caught:
        ap(*written(tmp_path, qrels_text(), run_text().encode() + b"q9 Q0 " + byte + b" 1 0.5 t\n"))
    assert [(f.code, f.line) for f in caught.value.findings] == [("not-utf8", 6)]


def test_all_errors_at_once(tmp_path: Path) -> None:
    run = run_text() + "q2 Q0 a 3 0 t\nq2 Q0 e 4 nan t\nq2 Q0 f 5 low t\nq2 Q0\n"
    with pytest.raises(karat.InputError) as caught:
        ap(*written(tmp_path, qrels_text(), run))
    found = {f.code for f in caught.value.findings if f.severity == "error"}
    assert found == {"repeated-document", "nan-score", "not-a-number", "short-line"}


def refused(gold: object, pred: object, **options: object) -> list[tuple[str, int | None]]:
    """Code and line of every error."""
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(gold, pred, metrics=["AP"], **options)
    return [(f.code, f.line) for f in caught.value.findings if f.severity == "error"]


def test_infinite_grades(tmp_path: Path) -> None:
    gold, pred = written(tmp_path, qrels_text() + "q2 0 z inf\n", run_text())
    assert refused(gold, pred) == [("infinite-grade", 6)]
    assert refused({"q1": {"a": float("-inf")}}, RUN, context="ranking") == [("infinite-grade", 1)]
    (tmp_path / "gold.csv").write_text("query_id,doc_id,relevance\nq1,a,1\nq1,b,inf\n")
    assert refused(tmp_path / "gold.csv", pred) == [("infinite-grade", 3)]


def test_broken_stated_ranks(tmp_path: Path) -> None:
    """They matter only where ranks decide; then text and fractions are errors with their lines."""
    gold, pred = written(tmp_path, qrels_text(), run_text() + "q2 Q0 e third 1 t\nq2 Q0 f 4.5 0.5 t\n")
    said = [(f.code, f.line) for f in karat.evaluate(gold, pred, metrics=["AP"]).findings]
    assert said == [("stated-rank-not-whole", 6)]
    assert refused(gold, pred, order="rank") == [("rank-not-whole", 6), ("rank-not-whole", 7)]
    gold, pred = written(tmp_path, qrels_text(), "q1 Q0 a 1.5 1 t\n")
    assert ("stated-rank-not-whole", 1) in [(f.code, f.line) for f in karat.evaluate(gold, pred).findings]


def test_broken_ranks_of_frames() -> None:
    polars = pytest.importorskip("polars")
    ranks = {q: {d: i / 2 for i, d in enumerate(docs, 1)} for q, docs in RUN.items()}
    frames = polars.DataFrame(rows(QRELS, "relevance")), polars.DataFrame(rows(ranks, "rank"))
    assert refused(*frames) == [("rank-not-whole", 1), ("rank-not-whole", 3), ("rank-not-whole", 4)]


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "polars", "pandas"])
def test_ranks_beside_scores(form: str, tmp_path: Path) -> None:
    """Whatever holds both: scores decide, a contradiction is said with its line, --order rank turns to the ranks."""
    polars = pytest.importorskip("polars")
    gold = polars.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [1, 0]})
    run = polars.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "rank": [1, 2], "score": [1.0, 2.0]})
    path, given = tmp_path / f"run.{form}", {"polars": run, "pandas": run.to_pandas()}
    if form not in given:
        getattr(run, f"write_{form}")(path)
    evaluation = karat.evaluate(gold, given.get(form, path), metrics=["RR"])
    assert evaluation["RR"].value == 0.5
    line = {"csv": 3, "json": 1}.get(form, 2)
    assert [(f.code, f.line) for f in evaluation.findings] == [("rank-score-disagree", line)]
    assert karat.evaluate(gold, given.get(form, path), metrics=["RR"], order="rank")["RR"].value == 1.0


def test_fields_that_were_forgotten(tmp_path: Path) -> None:
    """A run without tags and judgements without iteration are told to be that."""
    gold, pred = written(tmp_path, qrels_text(), run_text().replace(" t\n", "\n"))
    assert refused(gold, pred) == [("short-line", line) for line in range(1, 6)]
    gold, pred = written(tmp_path, qrels_text().replace(" 0 ", " ", 4), run_text())
    assert {code for code, _ in refused(gold, pred)} == {"short-line"}


def test_grades_in_words_and_fields_to_spare(tmp_path: Path) -> None:
    gold, pred = written(tmp_path, "q1 0 a high\nq1 0 b low\n", run_text())
    assert refused(gold, pred) == [("not-a-number", 1), ("not-a-number", 2)]
    gold, pred = written(tmp_path, "q1 0 a 1 x\nq1 0 b 0 y\n", run_text())
    assert refused(gold, pred) == [("short-line", 1), ("short-line", 2)]


def test_keys_twice(tmp_path: Path) -> None:
    """Readers of JSON keep the last; an id with a colon is no reason to complain."""
    gold, pred = written(tmp_path, json.dumps(QRELS), '{"q1": {"a": 1, "a": 0.5}, "q2": {"a": 1}}')
    assert refused(gold, pred) == [("repeated-key", None)]
    gold, pred = written(tmp_path, '{"q:1": {"a:b": 1}}', '{"q:1": {"a:b": 1, "c": 2}}')
    assert ap(gold, pred) == 0.5


@pytest.mark.parametrize("value", ["null", '"high"'])
def test_json_without_numbers(value: str, tmp_path: Path) -> None:
    gold, pred = written(tmp_path, json.dumps(QRELS), '{"q1": {"b": 1, "a": ' + value + "}}")
    assert refused(gold, pred) == [("bad-json", None)]
    assert refused(QRELS, {"q1": {"b": 1, "a": "high"}}, context="ranking") == [("not-a-number", None)]


def test_repeats_in_tables(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("query_id,doc_id,relevance\nq1,a,1\nq1,a,2\n")
    (tmp_path / "pred.csv").write_text("query_id,doc_id,score\nq1,a,1\nq1,b,2\nq1,b,1\n")
    said = refused(tmp_path / "gold.csv", tmp_path / "pred.csv")
    assert said == [("repeated-judgement", 3), ("repeated-document", 4)]


def test_tables_exchanged(tmp_path: Path) -> None:
    """Columns called score and relevance say which is which; gold that is called score may be gold."""
    gold, pred = tmp_path / "gold.csv", tmp_path / "pred.csv"
    gold.write_text("query_id,doc_id,relevance\nq1,a,1\n")
    pred.write_text("query_id,doc_id,score\nq1,a,1\n")
    assert refused(pred, gold) == [("run-as-judgements", None)]
    assert ap(gold, pred) == ap(pred, pred, allow_same=True) == 1.0


@pytest.mark.parametrize(
    "metric",
    ["rbp(p=2)", "compatibility(p=-1)", "alpha_ndcg(alpha=2)", "err_ia(alpha=-1)", "nrbp(beta=2)", "iprec_at_recall_2", "f(beta=-1)",
     "err(max_grade=1)", "precision(k=-1)", "r_precision(multiple=-1)", "bpm@0", "inst(T=0)", "sdcg(max_grade=0)"],
)  # fmt: skip
def test_parameters_out_of_range(metric: str) -> None:
    with pytest.raises(karat.MetricError):
        karat.evaluate(QRELS, RUN, context="ranking", metrics=[metric])


def test_options_out_of_range() -> None:
    with pytest.raises(karat.MetricError, match="at least 1"):
        karat.evaluate(QRELS, RUN, context="ranking", depth=0)


def test_grades_too_high_for_a_power() -> None:
    gold = {"q1": {"a": 2000.0}}
    assert karat.evaluate(gold, RUN, context="ranking", metrics=["nDCG"])["nDCG"].value
    for metric in ("nDCG(gain=exponential)", "err"):
        with pytest.raises(karat.MetricError, match="no exponential gain"):
            karat.evaluate(gold, RUN, context="ranking", metrics=[metric])


def test_sides_exchanged(tmp_path: Path) -> None:
    gold, pred = written(tmp_path, qrels_text(), run_text())
    with pytest.raises(karat.InputError, match="run-as-judgements"):
        ap(pred, pred, allow_same=True)
    with pytest.raises(karat.InputError, match="judgements-as-run"):
        ap(gold, gold, allow_same=True)


def test_validate(tmp_path: Path) -> None:
    """Both kinds of file can be checked alone."""
    twice = run_text() + "q2 Q0 a 3 0 t\nq2 Q0 e 4 nan t\nq2 Q0 f 5 low t\nq2 Q0\n"
    gold, pred = written(tmp_path, qrels_text() + "q1 0 a 1\n", twice)
    assert [(f.code, f.line) for f in karat.validate(gold)] == [("repeated-judgement", 6)]
    found = {(f.code, f.line) for f in karat.validate(pred)}
    assert found == {("repeated-document", 6), ("nan-score", 7), ("not-a-number", 8), ("short-line", 9)}
    clean = written(tmp_path, qrels_text(), run_text())
    assert [karat.validate(path) for path in clean] == [[], []]


def test_gold_errors(tmp_path: Path) -> None:
    with pytest.raises(karat.InputError) as caught:
        ap(*written(tmp_path, qrels_text() + "q1 0 a 2\nq1 0 z\n", run_text()))
    assert {f.code for f in caught.value.findings} & {"short-line", "repeated-judgement"}


def test_ranks_must_be_whole(tmp_path: Path) -> None:
    records = lambda value: json.dumps(
        [{"test_case": "q", "id": "a", "value": 1}, {"test_case": "q", "id": "b", "value": value}]
    )
    with pytest.raises(karat.InputError, match="whole number"):
        ap(*written(tmp_path, records(0), records(1.5)))


@pytest.mark.parametrize(("policy", "value"), [("zero", 0.25), ("skip", 0.5), ("undefined", 0.5)])
def test_missing_queries(policy: str, value: float, tmp_path: Path) -> None:
    gold, pred = written(tmp_path, "q1 0 a 1\nq2 0 a 1\n", "q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\nq3 Q0 a 1 1 t\n")
    evaluation = karat.evaluate(gold, pred, metrics=["AP"], missing_queries=policy)
    assert evaluation["AP"].value == value
    assert {"queries-not-in-run", "queries-not-in-gold"} <= {f.code for f in evaluation.findings}
    assert set(evaluation["AP"].by_test_case) == ({"q1"} if policy == "skip" else {"q1", "q2"})
    assert evaluation.systems[0].counts["gold_only"] == 1
    with pytest.raises(karat.InputError, match="missing-queries"):
        karat.evaluate(gold, pred, missing_queries="error")


@pytest.mark.parametrize(("policy", "value"), [("zero", 0.5), ("undefined", 1.0)])
def test_no_relevant(policy: str, value: float) -> None:
    gold, run = {"q1": {"a": 1}, "q2": {"a": 0}}, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    evaluation = karat.evaluate(gold, run, context="ranking", metrics=["AP"], no_relevant=policy)
    assert evaluation["AP"].value == value
    assert (evaluation["AP"].by_test_case["q2"].value is None) == (policy == "undefined")


def test_pieces_and_scattered_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the file is cut, and wherever a query's lines stand, the result is the same."""
    rng = random.Random(3)
    lines = [f"q{i % 7} Q0 d{i} {i} {rng.random()} t\n" for i in range(400)]
    qrels = "".join(f"q{q} 0 d{i} {i % 3}\n" for q in range(7) for i in range(0, 400, 5) if i % 7 == q)
    scattered = ap(*written(tmp_path, qrels, "".join(lines)))
    gold, pred = written(tmp_path, qrels, "".join(sorted(lines)))
    assert ap(gold, pred) == pytest.approx(scattered, abs=1e-15)
    with ExitStack() as stack:
        source = Source(pred, stack)
        whole = fast_trec.rows(source, 6, (2,), (4, 3))
        for size in (64, 200, 1000):
            monkeypatch.setattr(fast_trec, "CHUNK", size)
            cut = fast_trec.rows(source, 6, (2,), (4, 3))
            assert np.repeat(cut.query.tolist(), cut.size).tolist() == [
                line.split()[0].encode() for line in sorted(lines)
            ]
            assert cut.texts[0].tolist() == whole.texts[0].tolist()
            assert [c.tolist() for c in (*cut.numbers, cut.line)] == [c.tolist() for c in (*whole.numbers, whole.line)]


@pytest.mark.parametrize("form", ["%.4f", "%.6f", "%d", "%.10f", "%r", "%.3e", "%.0f", "%+.2f"])
def test_decimals(form: str) -> None:
    rng = random.Random(5)
    texts = [form % (rng.uniform(-1e4, 1e4) if form != "%d" else rng.randrange(-(10**9), 10**9)) for _ in range(2000)]
    assert decimals(Text.of(texts)).tolist() == [float(t) for t in texts]


def test_no_decimals() -> None:
    texts = ["abc", "1_0", "", "-", ".", "12a.5", "1/2", "1:2", "0x10", "1.2.3", "--1"]
    assert np.isnan(decimals(Text.of(texts))).all()
    assert np.isnan(decimals(Text.of(["1e"]))).all()  # not the digit and what stands before it
    assert decimals(Text.of(["1.", "+1.5", ".5", "123456789", "1e3", "-inf"])).tolist() == [
        1,
        1.5,
        0.5,
        123456789,
        1000,
        -np.inf,
    ]


def test_entries_tell_strangers_apart() -> None:
    """Ids that differ in one byte, in length alone, or in their query are different."""
    ids = [b"x" * n for n in range(1, 40)] + [b"x" * 20 + bytes([c]) for c in range(65, 90)]
    group, none = np.zeros(len(ids), np.int64), [-1] * len(ids)
    entries = lambda unit, texts: Entries(unit, {"document": Text.of(texts)})
    own, others = entries(group, ids), entries(group, [i + b"!" for i in ids])
    there = np.ones(2, bool)
    both = Aligned(Codes.of(["p", "q"]), there * 1, there, there, own, entries(group, ids[::-1]), {})
    assert both.partners("document").tolist() == list(range(len(ids)))[::-1]
    assert replace(both, pred=others).partners("document").tolist() == none
    assert replace(both, pred=entries(group + 1, ids)).partners("document").tolist() == none
    assert [x.tolist() for x in entries(group, [*ids[:-2], b"xx", b"x"]).repeated("document")] == [[62, 63], [1, 0]]


def test_nothing_heavy_is_imported(tmp_path: Path) -> None:
    """TREC files are scored without the engine, SciPy or a frame library."""
    gold, pred = written(tmp_path, qrels_text(), run_text())
    code = (
        "import sys; from karat.cli.main import karat; karat.main(sys.argv[1:], standalone_mode=False);"
        "heavy = [m for m in ('duckdb', 'scipy', 'rich', 'pandas', 'polars', 'pyarrow', 'jinja2') if m in sys.modules];"
        "sys.exit(' '.join(heavy) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", str(gold), str(pred), "-m", "AP"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert f"{AP:.4f}" in done.stdout


def test_interval_of_a_geometric_mean() -> None:
    """GMAP is no mean of the queries' values; its interval holds it and differs from MAP's."""
    rng = random.Random(8)
    gold = {f"q{i}": {f"d{j}": int(j == 0) for j in range(9)} for i in range(60)}
    run = {q: {d: rng.random() for d in docs} for q, docs in gold.items()}
    e = karat.evaluate(gold, run, context="ranking", metrics=["AP", "gm_map"], intervals=0.95, resamples=500)
    low, high = e["gm_map"].interval.low, e["gm_map"].interval.high
    assert low < e["gm_map"].value < high < e["AP"].interval.high


@pytest.mark.parametrize(
    "scores",
    [
        ["5.", "12"],
        ["12", "5."],
        ["1.12345678", "99999999.99999999"],
        ["0.00000001", "12345678.12345679"],
        ["1.5", "123"],
        ["12.", "7."],
    ],
)
def test_decimals_of_unlike_lengths_are_floats(scores: list[str]) -> None:
    joined = "".join(scores).encode()
    lengths = np.array([len(score) for score in scores])
    text = Text(np.frombuffer(joined + b"\n" * 16, np.uint8), np.cumsum(lengths) - lengths, lengths)
    assert decimals(text).tolist() == [float(score) for score in scores]

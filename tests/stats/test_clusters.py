# SPDX-License-Identifier: Apache-2.0
"""Units that belong together: named by a column in every context, and by the file where it says its documents."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stats.systems import GOLD, SYSTEMS, records

import karat


def spans():
    gold = [{"id": str(i), "by": f"a{i % 8}", "spans": [{"start": 0, "end": 4, "label": "X"}]} for i in range(40)]
    pred = [{"id": str(i), "spans": [{"start": 0, "end": 3 + (i % 8 > 2), "label": "X"}]} for i in range(40)]
    return "spans", gold, pred, "f1", {}


def bundles():
    page = lambda j, split: {"number": j + 1, "is_first_page": j in (0, split)}
    gold = [{"document_id": str(i), "by": f"c{i % 8}", "pages": [page(j, 3) for j in range(6)]} for i in range(40)]
    pred = [{"document_id": str(i), "pages": [page(j, 2 + (i % 8 > 2)) for j in range(6)]} for i in range(40)]
    return "splitting", gold, pred, "f1", {}


def queries():
    rng = np.random.default_rng(0)
    gold = [
        {"test_case": f"q{q}", "id": f"d{d}", "value": int(rng.integers(0, 3)), "by": f"t{q % 8}"}
        for q in range(40)
        for d in range(6)
    ]
    pred = [{"test_case": r["test_case"], "id": r["id"], "value": float(rng.random())} for r in gold]
    return "ranking", gold, pred, "ndcg", {"order": "score"}


def labels():
    return "monolabel", records(GOLD[:40], by=lambda i: f"d{i % 8}"), records(SYSTEMS["fair"][:40]), "f1", {}


@pytest.mark.parametrize("make", [labels, spans, bundles, queries])
def test_every_context_can_be_clustered(make):
    context, gold, pred, metric, options = make()
    e = karat.evaluate(
        gold, pred, context=context, metrics=[metric], intervals=True, cluster_by="by", resamples=199, **options
    )
    said = {f.code: f.message for f in e.findings}
    assert "40 units in 8 clusters by by" in said["clustered"]
    assert "no-cluster" not in said
    assert e[metric].interval.method in ("jackknife-t", "hall-t")


def test_units_without_a_cluster_are_counted():
    gold = records(GOLD, by=lambda i: f"d{i // 4}" if i >= 7 else None)
    e = karat.evaluate(gold, records(SYSTEMS["fair"]), metrics=["f1"], intervals=True, cluster_by="by", resamples=199)
    assert next(f for f in e.findings if f.code == "no-cluster").message.startswith("7 units have no cluster")


def test_documents_of_tagged_sentences_are_clusters(tmp_path):
    """-DOCSTART- says where a document begins: its sentences are drawn together without being asked for."""
    sentences = ["Anna B-PER\nsleeps O\n", "in O\nRome B-LOC\n"]
    lines = [x for d in range(6) for x in ("-DOCSTART- O\n", *(sentences[(d + s) % 2] for s in range(5)))]
    text = "\n".join(lines) + "\n"
    (tmp_path / "gold.conll").write_text(text)
    (tmp_path / "pred.conll").write_text(text.replace("in O", "in B-LOC"))
    e = karat.evaluate(tmp_path / "gold.conll", tmp_path / "pred.conll", metrics=["f1"], intervals=True)
    assert "30 units in 6 clusters by document" in {f.code: f.message for f in e.findings}["clustered"]
    plain = text.replace("-DOCSTART- O\n\n", "")
    (tmp_path / "plain.conll").write_text(plain)
    (tmp_path / "other.conll").write_text(plain.replace("in O", "in B-LOC"))
    alone = karat.evaluate(tmp_path / "plain.conll", tmp_path / "other.conll", metrics=["f1"], intervals=True)
    assert "clustered" not in {f.code for f in alone.findings}
    assert alone["f1"].value == e["f1"].value


def test_a_comparison_says_how_many_clusters_there_are():
    gold = records(GOLD, by=lambda i: f"d{i // 4}")
    given = {n: records(SYSTEMS[n]) for n in ("good", "poor")}
    c = karat.compare(gold, given, metrics=["f1"], cluster_by="by", resamples=199, draws=199)
    count = len({f"d{i // 4}" for i in range(len(GOLD))})
    assert c.pairs[0].clusters == count
    assert f"in {count} clusters" in c.render("table")

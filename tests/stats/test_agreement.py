# SPDX-License-Identifier: Apache-2.0
"""Verdicts, intervals and p-values say the same in every context, and neither order nor names of systems change them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stats.systems import bundles, label_sets, records, spans, weights

import karat


def labels(rng, accuracy, gold=None):
    if gold is None:
        return records(rng.choice(list("ABC"), 60, p=[0.6, 0.3, 0.1]))
    return [r if rng.random() < accuracy else r | {"value": str(rng.choice(list("ABC")))} for r in gold]


def queries(rng, accuracy, gold=None):
    if gold is None:
        rows = [(f"q{q:02}", f"d{d}") for q in range(30) for d in range(6)]
        return [{"test_case": q, "id": d, "value": int(rng.integers(0, 3))} for q, d in rows]
    return [r | {"value": accuracy * r["value"] + float(rng.random())} for r in gold]


def clusterings(rng, accuracy, gold=None):
    if gold is None:
        return records(rng.choice(list("ABCDE"), 60))
    return [r if rng.random() < accuracy else r | {"value": str(rng.choice(list("ABCDE")))} for r in gold]


CONTEXTS = {
    "monolabel": (labels, ["accuracy", "f1", "hamming_loss"], {}),
    "multilabel": (label_sets, ["f1", "jaccard"], {}),
    "soft": (weights, ["cross_entropy", "soft_f1"], {}),
    "ranking": (queries, ["ndcg", "reciprocal_rank"], {"order": "score"}),
    "spans": (spans, ["f1", "token_f1"], {}),
    "splitting": (bundles, ["f1", "pk"], {}),
    "clustering": (clusterings, ["bcubed_f1", "adjusted_rand"], {}),
}
CHOICES = [
    {}, {"correction": "none"}, {"correction": "bh"}, {"correction": "tukey"}, {"correction": "maxt", "baseline": "a"},
    {"sequential": True}, {"one_sided": True},
]  # fmt: skip


def fits(context, options):
    """Items of a clustering cannot change sides, which both corrections of the joint law need."""
    return context != "clustering" or options.get("correction") not in ("tukey", "maxt")


def compared(context, seed, **options):
    make, metrics, given = CONTEXTS[context]
    rng = np.random.default_rng(seed)
    gold = make(rng, 1.0)
    systems = {name: make(rng, accuracy, gold) for name, accuracy in (("a", 0.9), ("b", 0.85), ("c", 0.5), ("d", 0.85))}
    names = options.pop("names", None) or {}
    systems = {names.get(name, name): systems[name] for name in options.pop("order", systems)}
    return karat.compare(
        gold, systems, context=context, metrics=metrics, resamples=100, draws=199, **given, **options
    )  # fmt: skip


def leaves_zero(interval):
    """Whether 0 is possible: an end that was moved to 0 by a test that rules it out does not count."""
    return interval.low < 0 < interval.high or interval.low == interval.high == 0


@pytest.mark.parametrize(("context", "options"), [(c, o) for c in CONTEXTS for o in CHOICES if fits(c, o)])
def test_no_verdict_contradicts_its_interval(context, options):
    for seed in range(2):
        for pair in compared(context, seed, **options).pairs:
            found = pair.simultaneous
            assert found.low <= pair.difference <= found.high, pair.sentence
            decided = pair.verdict in ("better", "worse")
            assert decided == (pair.p_corrected <= 0.05 and pair.difference != 0)
            if options.get("one_sided"):  # a loss is never called one, whatever its interval
                assert not decided or not leaves_zero(found), pair.sentence
                continue
            assert decided != leaves_zero(found), pair.sentence
            gain = pair.difference if pair.better == "higher" else -pair.difference
            assert pair.verdict != "better" or gain > 0
            assert pair.verdict != "worse" or gain < 0
            assert (pair.tests[0].p <= 0.05) != leaves_zero(pair.interval), pair.sentence


@pytest.mark.parametrize(("context", "options"), [(c, o) for c in CONTEXTS for o in CHOICES[:4] if fits(c, o)])
def test_order_and_names_change_nothing(context, options):
    plain = compared(context, 5, **options)
    turned = compared(context, 5, order=["c", "d", "a", "b"], **options)
    named = {"a": "z", "b": "y", "c": "x", "d": "w"}
    renamed = compared(context, 5, names=named, **options)
    for pair in plain.pairs:
        for other in (
            turned.pair(pair.a, pair.b, pair.metric),
            renamed.pair(named[pair.a], named[pair.b], pair.metric),
        ):
            assert other.p_corrected == pytest.approx(pair.p_corrected, abs=1e-12)
            assert [t.p for t in other.tests] == pytest.approx([t.p for t in pair.tests], abs=1e-12)
            assert other.difference == pytest.approx(pair.difference, abs=1e-12)
            assert other.simultaneous.low == pytest.approx(pair.simultaneous.low, abs=1e-12)
            assert other.simultaneous.high == pytest.approx(pair.simultaneous.high, abs=1e-12)
            assert other.verdict == pair.verdict
            assert other.mde == pytest.approx(pair.mde)


@pytest.mark.parametrize("correction", ["tukey", "maxt"])
def test_corrections_that_swap_items_are_refused_for_clusterings(correction):
    with pytest.raises(karat.MetricError, match="holm"):
        compared("clustering", 0, correction=correction, baseline="a" if correction == "maxt" else None)

# SPDX-License-Identifier: Apache-2.0
"""The simulation behind the tables of docs/statistics.md: it counts what karat does, block by block, and resumes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from benchmarks import experiments, simulate

import karat
from karat.stats.comparing import all_tests, paired_systems
from karat.stats.estimate import estimate, sample_of
from karat.stats.maxt import joint_family
from karat.stats.pair import parts_of
from karat.stats.resampling import Clusters
from karat.stats.settings import ComparisonSettings, IntervalSettings
from karat.stats.units import Joint


def test_a_drawn_data_set_scores_as_its_records_do():
    """What is taken from the counted population has the score and interval that karat gives to the same records."""
    rng, source = np.random.default_rng(0), experiments.POOLS["weights"].one
    index = rng.integers(0, len(source.cells), 40)
    dense = lambda side: getattr(source.cells, side).toarray()[index]
    rows = lambda side: [
        {"id": str(i), "value": dict(zip("ABC", v, strict=True))} for i, v in enumerate(dense(side).tolist())
    ]
    metrics = [str(m) for m in source.plan.metrics]
    e = karat.evaluate(rows("gold_weight"), rows("pred_weight"), context="soft", metrics=metrics)
    drawn = source.plan.score(source.drawn(index, np.ones(40)))
    assert [s.value for s in drawn.values()] == pytest.approx([e[m].value for m in metrics])


def test_blocks_are_the_same_again_and_add_up():
    study = simulate.studies()[0]
    tally = study.block(0, 5)
    assert tally == study.block(0, 5)
    assert tally["accuracy sets"] == 5
    assert tally != study.block(1, 5)


def test_a_run_that_was_cut_off_goes_on(tmp_path, monkeypatch):
    """Block by block, and the same as in one go; what is forgotten is counted again."""
    first = simulate.studies()[:1]
    monkeypatch.setattr(simulate, "KEPT", tmp_path / "kept.json")
    monkeypatch.setattr(simulate, "BLOCK", 2)
    monkeypatch.setattr(simulate, "studies", lambda: first)
    simulate.count(simulate.Counted.read(), 2)
    assert simulate.Counted.read().blocks == {first[0].key: 1}
    simulate.count(simulate.Counted.read(), 4)
    done = simulate.Counted.read()
    assert done.of(first[0].key) == first[0].block(0, 2) + first[0].block(1, 2)
    assert done.of(first[0].key)["f1 sets"] == 4
    done.forget(["verdicts"])
    assert done.blocks == {first[0].key: 2}
    done.forget(["labels"])
    assert not done.blocks


def test_the_page_shows_what_was_counted():
    """No row, number or mark is written by hand."""
    page = simulate.PAGE.read_text().partition(simulate.START)[2].partition(simulate.END)[0]
    assert page.strip() == simulate.tables(simulate.Counted.read()).strip()


def test_every_cell_stands_on_two_thousand_data_sets():
    """Coverage and verdicts of every context, in every size, and families of every number of systems."""
    done = simulate.Counted.read()
    assert all(blocks * simulate.BLOCK >= 2_000 for blocks in done.blocks.values())
    assert {s.key for s in simulate.studies()} == set(done.blocks)


def test_what_is_not_counted_is_named():
    """Every cell of every study is in a table or in the list below them."""
    done = simulate.Counted.read()
    done.forget(["verdicts, weights"])
    lacking = {s.key for s in simulate.studies()} - set(done.blocks)
    said = simulate.uncounted(done)
    assert all(key.rpartition(", ")[0] in said for key in lacking)
    assert bool(lacking) == bool(said)
    whole = simulate.Counted({s.key: 20 for s in simulate.studies()})
    assert simulate.uncounted(whole) == ""


def test_no_default_fails_without_its_warning():
    """Coverage of at least .93 wherever no warning stands, false verdicts in at most 5 %, up to Monte Carlo error."""
    assert simulate.doubtful(simulate.Counted.read()) == []


def test_a_default_that_covers_too_little_is_found_unless_it_warns():
    """900 of 1,000: .90 ± .019; with a warning on all of them nothing is left to doubt."""
    tally = {"f1 sets": 1_000, "f1 covered": 900}
    assert simulate.doubtful(simulate.Counted({"a, 30": 10}, {"a, 30": Counter(tally)})) == [
        "f1, a, 30: 0.900 of 1000 data sets without a warning"
    ]
    warned = Counter(tally | {"f1 warned": 1_000, "f1 covered, warned": 900})
    assert simulate.doubtful(simulate.Counted({"a, 30": 10}, {"a, 30": warned})) == []
    assert simulate.marked(warned, "f1") == " ⚠"
    half = Counter(tally | {"f1 warned": 500, "f1 covered, warned": 430})
    assert simulate.marked(half, "f1") == " ⚠ 50%, else 0.940"


def test_false_verdicts_beyond_their_level_are_found():
    """70 of 1,000 is .05 + 2.9 Monte Carlo errors, 60 is .05 + 1.5."""
    often, seldom = (Counter({"holm sets": 1_000, "holm wrong": wrong}) for wrong in (70, 60))
    found = simulate.doubtful(simulate.Counted({}, {"families, 2, True": often, "families, 5, True": seldom}))
    assert found == ["holm, families, 2, True: 0.070 of 1000 data sets with a false verdict"]


def test_false_verdicts_beyond_their_error_are_counted_on(tmp_path, monkeypatch):
    """Up to three times as many blocks, or until they are within their error."""
    often = lambda rng, sets: Counter({"f1 sets": sets, "f1 wrong": sets})
    study = simulate.Study("verdicts, a, 30", often, ())
    monkeypatch.setattr(simulate, "KEPT", tmp_path / "kept.json")
    monkeypatch.setattr(simulate, "BLOCK", 2)
    monkeypatch.setattr(simulate, "studies", lambda: [study])
    done = simulate.Counted.read()
    simulate.count(done, 4)
    assert done.blocks == {study.key: 6}
    assert simulate.beyond(study.key, done.of(study.key)) == ["f1"]
    assert simulate.beyond("coverage", done.of(study.key)) == []


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(("n", "law"), [(30, "skewed"), (100, "even"), (1_000, "skewed")])
def test_bounds_of_a_block_are_those_of_karat(n, law, clustered):
    """Method by method the same; to the digit where nothing is drawn, else within the error of 999 resamples."""
    rng, source = np.random.default_rng(n), experiments.labels()
    drawn = [experiments.label_codes(rng, n, law, experiments.DOCUMENTS[n] if clustered else None) for _ in range(12)]
    count = np.stack([experiments.tabulated(code[0], doc) for code, doc in drawn])
    low, high, method, _ = experiments.label_bounds(count, rng)
    for i, (code, doc) in enumerate(drawn):
        at, cell, size = np.unique(code[0], return_inverse=True, return_counts=True)
        design = None if doc is None else {0: Clusters.of(doc, cell, len(at))}
        sample = sample_of(source.drawn(at, size), source.statistic, False, design)
        table = estimate(sample, IntervalSettings(resamples=999))[0]
        for k, metric in enumerate(source.plan.metrics):
            interval = table.interval(k, 0.95, source.statistic.limits(metric))
            assert interval.method.removeprefix("bootstrap-") == method[i, k]
            error = 0.8 * interval.se if method[i, k] == "bca" else 1e-9
            assert (low[i, k], high[i, k]) == pytest.approx((interval.low, interval.high), abs=error)


@pytest.mark.parametrize("clustered", [False, True])
def test_tests_of_a_block_are_those_of_karat(clustered):
    """McNemar's to the digit, those that are drawn within the error of 4,999 draws."""
    rng, settings = np.random.default_rng(3), ComparisonSettings(draws=4_999)
    drawn = [experiments.label_codes(rng, 100, "skewed", 20 if clustered else None, 2) for _ in range(6)]
    p, gap = experiments.swap_tests([(a, b, doc) for (a, b), doc in drawn], experiments.LABELS, 4_999, rng)
    for i, (code, doc) in enumerate(drawn):
        joint, statistic = joint_of(code), experiments.only(experiments.LABELS)
        duels = paired_systems(joint, statistic, settings, doc)
        assert gap[i] == pytest.approx(duels[0].difference)
        assert p[i] == pytest.approx([t[0].p for t in all_tests(duels, settings, True)[0]], abs=0.03)
        assert clustered or p[i, 0] == all_tests(duels, settings, True)[0][0][0].p


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("name", ["tukey", "maxt"])
def test_joint_corrections_of_a_block_are_those_of_karat(name, clustered):
    rng, base = np.random.default_rng(5), "s00" if name == "maxt" else None
    settings = ComparisonSettings(draws=3_999, correction=name, baseline=base)
    code, doc = experiments.label_codes(rng, 100, "even", 20 if clustered else None, 4)
    joint, statistic = joint_of(code), experiments.only(experiments.FAMILY)
    duels = paired_systems(joint, statistic, settings, doc)
    family = joint_family(duels, parts_of(joint, statistic, doc), [doc], settings, 1)
    assert experiments.joint_p(code, doc, rng, 3_999)[name] == pytest.approx(family.p.min(0), abs=0.035)


def joint_of(code):
    """Systems × items as karat's systems side by side."""
    source, n = experiments.labels(), code.shape[1]
    cells = [source.cells.take(np.arange(9), np.bincount(c, minlength=9)) for c in code]
    keys = np.array([f"{i:05}" for i in range(n)])
    return Joint([f"s{i:02}" for i in range(len(code))], cells, keys, code, [""], np.zeros(n, np.int64))


def test_families_are_counted_for_every_correction():
    tally = experiments.families(np.random.default_rng(0), 2, 5, True)
    assert experiments.metrics_of(tally) == list(experiments.CORRECTIONS)


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("law", ["even", "skewed"])
def test_no_default_covers_less_than_it_says_without_a_warning(law, clustered):
    """Of 600 data sets of 100 items, those without a warning: at least .93 less three Monte Carlo errors."""
    tally = experiments.of_labels(np.random.default_rng(1), 600, 100, law, clustered)
    for metric in experiments.LABELS:
        quiet = tally[f"{metric} sets"] - tally[f"{metric} warned"]
        held = tally[f"{metric} covered"] - tally[f"{metric} covered, warned"]
        assert not quiet or held / quiet >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / quiet)


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("systems", [2, 5])
def test_families_keep_their_level(systems, clustered):
    """Any false verdict in 400 data sets: at most .05 and three Monte Carlo errors, for every correction."""
    tally = experiments.families(np.random.default_rng(2), 400, systems, clustered)
    for name in experiments.CORRECTIONS:
        assert tally[f"{name} wrong"] / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400), name


@pytest.mark.slow
def test_maxt_keeps_its_level_with_many_systems():
    """30 systems in 20 documents, 1,000 data sets: it was .073 ± .011 when all swapped with the baseline by the same coins."""
    rng, wrong = np.random.default_rng(4), 0
    for _ in range(1_000):
        code, doc = experiments.label_codes(rng, 100, "even", 20, 30)
        wrong += bool((experiments.joint_p(code, doc, rng)["maxt"] <= 0.05).any())
    assert wrong / 1_000 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1_000)


@pytest.mark.slow
def test_clusterings_are_covered():
    """300 data sets of 100 items in twenty clusters: drawing items with repeats covered .43 (B-cubed) and .79 (ARI)."""
    tally = experiments.of_clusterings(np.random.default_rng(6), 300, 100)
    for metric in experiments.metrics_of(tally):
        assert tally[f"{metric} covered"] / 300 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 300)


@pytest.mark.slow
def test_equal_clusterings_are_told_apart_as_rarely_as_promised():
    """B-cubed F1 of 150 items in clusters of three, 300 data sets: it was .108 ± .025."""
    rng, wrong, gold = np.random.default_rng(8), 0, np.arange(150) // 3
    for _ in range(300):
        systems = {name: np.where(rng.random(150) < 0.8, gold, rng.integers(0, 50, 150)) for name in "ab"}
        c = karat.compare(gold, systems, context="clustering", metrics=["bcubed_f1"], resamples=100)
        wrong += c.pairs[0].verdict != "inconclusive"
    assert wrong / 300 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)

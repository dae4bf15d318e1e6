# SPDX-License-Identifier: Apache-2.0
"""The simulation behind the tables of docs/statistics.md: it counts what karat does, block by block, and resumes."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import experiments, simulate

import karat


def test_a_drawn_data_set_scores_as_its_records_do():
    """What is taken from the counted population has the score and interval that karat gives to the same records."""
    rng, source = np.random.default_rng(0), experiments.weights()
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
    monkeypatch.setattr(simulate, "KEPT", tmp_path / "kept.jsonl")
    monkeypatch.setattr(simulate, "BLOCK", 2)
    first = simulate.studies()[:1]
    monkeypatch.setattr(simulate, "studies", lambda: first)
    simulate.count(4)
    lines = (tmp_path / "kept.jsonl").read_text().splitlines()
    (tmp_path / "kept.jsonl").write_text(lines[0] + "\n")
    simulate.count(4)
    assert sorted((tmp_path / "kept.jsonl").read_text().splitlines()) == sorted(lines)
    assert simulate.total(simulate.kept()[first[0].key])["f1 sets"] == 4


def test_families_are_counted_for_every_correction():
    tally = experiments.families(np.random.default_rng(0), 1, 5, True)
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

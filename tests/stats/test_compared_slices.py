"""Comparisons by slice: each is the comparison of the units of that slice, its p-values those for all slices."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command

SHARE = {"es": 0.5, "en": 0.4, "pt": 0.1}
RIGHT = {
    "alpha": {"es": 0.95, "en": 0.9, "pt": 0.5},
    "beta": {"es": 0.8, "en": 0.85, "pt": 0.9},
    "gamma": {"es": 0.6, "en": 0.6, "pt": 0.6},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("slices"), np.random.default_rng(1)
    country, gold = rng.choice([*SHARE], 600, p=[*SHARE.values()]), rng.choice(["A", "B"], 600)
    write(
        folder / "gold.csv", ["id", "label", "country", "length"], range(600), gold, country, rng.integers(1, 300, 600)
    )
    for name, right in RIGHT.items():
        ok = rng.random(600) < [right[c] for c in country]
        write(
            folder / f"{name}.csv",
            ["id", "prediction"],
            range(600),
            np.where(ok, gold, np.where(gold == "A", "B", "A")),
        )
    return folder


def write(path, head, *columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *zip(*columns, strict=True)])


def compared(data, **more):
    systems = {name: data / f"{name}.csv" for name in RIGHT}
    return karat.compare(data / "gold.csv", systems, metrics=["accuracy"], draws=999, resamples=199, **more)


def only(path, country, gold):
    """The rows of a file whose units are of one country."""
    with gold.open(encoding="utf-8") as file:
        inside = {row["id"] for row in csv.DictReader(file) if row["country"] == country}
    with path.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["id"] in inside]


def test_a_slice_is_the_comparison_of_its_units(data):
    c = compared(data, slices="country")
    assert [one.name for one in c.slices["country"]] == ["pt", "en", "es"]  # the leader's worst first
    for one in c.slices["country"]:
        gold = [{"id": r["id"], "label": r["label"]} for r in only(data / "gold.csv", one.name, data / "gold.csv")]
        systems = {name: only(data / f"{name}.csv", one.name, data / "gold.csv") for name in RIGHT}
        alone = karat.compare(gold, systems, metrics=["accuracy"], draws=999, resamples=199)
        assert one.units == len(gold)
        for mine, theirs in zip(one.pairs, alone.pairs, strict=True):
            assert (mine.a, mine.b, mine.difference) == (theirs.a, theirs.b, theirs.difference)
            assert mine.p == pytest.approx(theirs.p)
            assert mine.p_corrected == pytest.approx(min(1.0, 3 * theirs.p_corrected))
            assert (mine.verdict != "inconclusive") == (mine.p_corrected <= 0.05)


def test_who_leads_overall_may_lose_in_a_slice(data):
    c = compared(data, slices=["country", "length:3"])
    first = next(p for p in c.slices["country"][0].pairs if (p.a, p.b) == ("alpha", "beta"))
    assert (c.pair("alpha", "beta", "accuracy").verdict, first.verdict) == ("better", "worse")
    assert [len(slices) for slices in c.slices.values()] == [3, 3]
    assert c.slices["country"][0].pairs[0].p_corrected == pytest.approx(
        6 * first.p * 3, rel=3
    )  # over six slices, Holm inside


def test_looking_at_many_slices_finds_no_more_than_is_there():
    """Systems that differ by chance alone: at most one comparison in twenty may say that a slice tells them apart."""
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        gold = rng.choice(["A", "B"], 240).tolist()
        systems = {n: np.where(rng.random(240) < 0.8, gold, "A").tolist() for n in "xy"}
        slices = {"part": rng.integers(0, 6, 240).astype(str).tolist()}
        c = karat.compare(gold, systems, metrics=["accuracy"], slices=slices, draws=199, resamples=100)
        found += any(p.verdict != "inconclusive" for one in c.slices["part"] for p in one.pairs)
    assert found <= 8  # Binomial(60, 0.05): more has probability 0.004


def run(data, *words):
    files = [str(data / f"{name}.csv") for name in ("gold", *RIGHT)]
    return CliRunner().invoke(
        command, ["compare", *files, "-m", "accuracy", "--draws", "999", "--resamples", "199", *words]
    )


def test_in_all_reports(data, tmp_path):
    shown = run(data, "--by", "country", "--by", "length:3")
    assert shown.exit_code == 0, shown.output
    assert "By country: Accuracy" in shown.stdout
    assert "beta > alpha" in shown.stdout
    assert "Corrected for looking at 6 slices." in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    kinds = {"json": "json", "markdown": "md", "html": "html", "tsv": "tsv", "latex": "tex"}
    options = [part for kind, end in kinds.items() for part in ("--report", kind, "-o", str(tmp_path / f"c.{end}"))]
    made = run(data, "--by", "country", *options)
    assert made.exit_code == 0, made.output
    record = json.loads((tmp_path / "c.json").read_text())["slices"]["country"][0]
    assert (record["slice"], record["units"], len(record["pairs"])) == ("pt", 59, 3)
    assert "**By country: Accuracy**" in (tmp_path / "c.md").read_text()
    assert "By country: Accuracy" in (tmp_path / "c.html").read_text()
    rows = [line.split("\t") for line in (tmp_path / "c.tsv").read_text().splitlines()]
    assert rows[0][-2:] == ["column", "slice"]
    assert {row[-1] for row in rows[1:]} == {"", "pt", "en", "es"}
    assert "By country" in (tmp_path / "c.tex").read_text()


def test_columns_that_are_not_there(data):
    shown = run(data, "--by", "planet")
    assert shown.exit_code == 2
    assert "planet" in shown.stderr
    assert "length" in shown.stderr


def test_methods_of_several_runs_have_no_slices(data):
    runs = karat.Runs([data / "alpha.csv", data / "beta.csv"])
    with pytest.raises(karat.MetricError, match="one run"):
        karat.compare(data / "gold.csv", {"a": runs, "b": data / "gamma.csv"}, metrics=["accuracy"], slices="country")


# ---- reports of comparisons


def test_a_job_summary_gets_one_report_after_the_other(data, tmp_path):
    """GitHub shows what a job adds to the file $GITHUB_STEP_SUMMARY, which earlier steps may have written to."""
    summary = tmp_path / "summary.md"
    summary.write_text("# Build\nall green\n")
    words = ["--report", "markdown", "-o", str(summary), "--append"]
    assert run(data, *words).exit_code == 0
    files = [str(data / "gold.csv"), str(data / "alpha.csv")]
    assert CliRunner().invoke(command, ["evaluate", *files, "-m", "accuracy", *words]).exit_code == 0
    text = summary.read_text()
    assert text.startswith("# Build\nall green\n\n**Leaderboard: Accuracy**\n")
    assert text.count("| Accuracy | 0.8983 |") == 1
    assert CliRunner().invoke(command, ["evaluate", *files, "--append"]).exit_code == 2


def test_a_comparison_says_its_doubts_once():
    gold, part = ["a", "b", "b", "a", "a", "b"], {"part": ["n", "s", "n", "s", "n", "s"]}
    c = karat.compare(gold, {"x": ["a", "b", "a", "a", "a", "b"], "y": ["b"] * 6}, metrics=["accuracy"], slices=part)
    assert [(f.code, f.facts["count"]) for f in c.own_findings] == [("small-slices", 2)]
    assert " ".join(str(c).split()).count(c.own_findings[0].message) == 1


def test_the_command_says_its_doubts_once(data):
    shown = run(data, "--by", "length:40")
    assert "small-slices" not in shown.stderr
    assert shown.stdout.count("fewer than 30 units") == 1
    assert "small-slices" in run(data, "--by", "length:40", "--report", "tsv").stderr


def test_a_slice_of_many_errors_comes_first_too(data):
    """The more of a loss, the worse."""
    systems = {name: data / f"{name}.csv" for name in RIGHT}
    c = karat.compare(data / "gold.csv", systems, metrics=["hamming_loss"], draws=99, resamples=100, slices="country")
    assert [one.name for one in c.slices["country"]] == ["pt", "en", "es"]


@pytest.mark.parametrize("correction", ["holm", "none"])
def test_the_sentence_of_a_slice_says_the_p_for_all_slices(correction):
    """In words it was that of the slice alone: "cannot be told apart" stood beside p = 0.031."""
    gold, part = ["a", "b"] * 20, {"part": ["n"] * 20 + ["s"] * 20}
    systems = {"right": gold, "worse": ["b"] * 10 + gold[10:]}
    more = {"margin": 0.9, "tests": ["non-inferiority"], "correction": correction}
    c = karat.compare(gold, systems, metrics=["accuracy"], slices=part, **more)
    pair = next(one for one in c.slices["part"] if one.name == "n").pairs[0]
    alone = karat.compare(gold[:20], {k: v[:20] for k, v in systems.items()}, metrics=["accuracy"], **more).pairs[0]
    assert (pair.p, pair.p_corrected) == (alone.p, 2 * alone.p)
    assert pair.verdict == "inconclusive"
    name = {"holm": "Holm-corrected", "none": "Bonferroni-corrected"}[correction]
    assert f"{name} p = {2 * alone.p:.2g};" in pair.sentence
    assert pair.non_inferiority.p == 2 * alone.non_inferiority.p
    assert f"(one-sided p = {pair.non_inferiority.p:.2g})" in pair.sentence

"""Coverage of default intervals, error rates of tests and of corrections, by simulation: the tables of docs/statistics.md.

``python -m benchmarks.simulate [DATA SETS]`` counts blocks of data sets and keeps the sums in benchmarks/simulated.json, so
that a run which is cut off goes on where it was, and the tables can always be made from what was counted: ``--tables``
writes them between the marks of the page. ``--fresh [STUDY…]`` forgets what was counted (after a change of the
statistics), of all studies or of those whose names begin so. Every rate is given with the half-width of its own 95 %
interval (Monte Carlo error).
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from benchmarks import experiments
from benchmarks.experiments import ALPHA, CORRECTIONS, DRAWS, FEWER_DRAWS, LABELS, LAWS, POOLS, RESAMPLES, Tally

ROOT = Path(__file__).parent.parent
PAGE, KEPT = ROOT / "docs" / "statistics.md", ROOT / "benchmarks" / "simulated.json"
START, END = "<!-- simulated: begin -->\n", "<!-- simulated: end -->\n"
SIZES, SYSTEMS = (30, 100, 1_000), (2, 5, 10, 30)
LEAST, BLOCK = 0.93, 100
JUDGED = ("verdicts", "families")
"""Studies of false verdicts; the others are of coverage."""


@dataclass(frozen=True)
class Study:
    """One kind of data set; ``key`` names it in the file of counts and, with the number of a block, seeds its random numbers."""

    key: str
    run: Callable[..., Tally]
    given: tuple[Any, ...]

    def block(self, number: int, sets: int) -> Tally:
        return self.run(np.random.default_rng([*self.key.encode(), number]), sets, *self.given)


APART = ", in 10/20/50 documents"


def label_rows() -> list[tuple[str, str, bool]]:
    return [(f"labels, {law} classes" + APART * c, law, c) for law in LAWS for c in (False, True)]


def pool_rows() -> list[tuple[str, str, bool]]:
    return [(name + APART * c, name, c) for name in POOLS for c in (False, True)]


def studies() -> list[Study]:
    """In the order in which they are counted: what is cheap first."""
    out = [Study(f"{row}, {n}", experiments.of_labels, (n, law, c)) for row, law, c in label_rows() for n in SIZES]
    out += [
        Study(f"verdicts, {row}, {n}", experiments.verdicts, (n, law, c)) for row, law, c in label_rows() for n in SIZES
    ]
    out += [Study(f"families, {k}, {c}", experiments.families, (k, c)) for k in SYSTEMS for c in (False, True)]
    out += [Study(f"clusterings, {n}", experiments.of_clusterings, (n,)) for n in SIZES]
    out += [Study(f"verdicts, clusterings, {n}", experiments.verdicts_of_clusterings, (n,)) for n in SIZES]
    out += [Study(f"{row}, {n}", experiments.of_pool, (n, name, c)) for row, name, c in pool_rows() for n in SIZES]
    return out + [
        Study(f"verdicts, {row}, {n}", experiments.verdicts_of_pool, (n, name, c))
        for row, name, c in pool_rows()
        for n in SIZES
    ]


@dataclass
class Counted:
    """What the first blocks of each study have shown, in sum."""

    blocks: dict[str, int] = field(default_factory=dict)
    tally: dict[str, Tally] = field(default_factory=dict)

    @staticmethod
    def read() -> Counted:
        said = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        return Counted({k: v["blocks"] for k, v in said.items()}, {k: Counter(v["tally"]) for k, v in said.items()})

    def of(self, key: str) -> Tally:
        return self.tally.get(key, Tally())

    def add(self, study: Study) -> None:
        """One more block."""
        number = self.blocks.get(study.key, 0)
        self.tally[study.key] = self.of(study.key) + study.block(number, BLOCK)
        self.blocks[study.key] = number + 1

    def forget(self, starts: Sequence[str]) -> None:
        for key in [k for k in self.blocks if k.startswith(tuple(starts) or "")]:
            del self.blocks[key], self.tally[key]

    def write(self) -> None:
        """Whole or not at all: a run may be cut off at any time."""
        said = {k: {"blocks": self.blocks[k], "tally": self.tally[k]} for k in sorted(self.blocks)}
        rows = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in said.items())
        part = KEPT.with_suffix(".part")
        part.write_text("{\n" + rows + "\n}\n")
        os.replace(part, KEPT)


def count(done: Counted, sets: int) -> None:
    """All studies up to a twentieth of the data sets, so that there is something to see, then one after the other.

    What has more false verdicts than its Monte Carlo error allows gets up to three times as many data sets.
    """
    blocks = -(-sets // BLOCK)
    for upto in (max(blocks // 20, 1), blocks):
        for study in studies():
            while done.blocks.get(study.key, 0) < upto:
                done.add(study)
                done.write()
    for study in studies():
        while beyond(study.key, done.of(study.key)) and done.blocks[study.key] < 3 * blocks:
            done.add(study)
            done.write()


def beyond(key: str, tally: Tally, reach: float = 1.96) -> list[str]:
    """Metrics (or corrections) with more false verdicts than 5 % and that many standard errors."""
    every = experiments.metrics_of(tally) if key.startswith(JUDGED) else []
    return [
        m for m in every if tally[f"{m} wrong"] / tally[f"{m} sets"] > ALPHA + _error(ALPHA, tally[f"{m} sets"], reach)
    ]


def shown(count: int, sets: int) -> str:
    """A rate with its Monte Carlo error."""
    if not sets:
        return "–"
    rate = count / sets
    return f"{rate:.3f} ± {1.96 * np.sqrt(max(rate * (1 - rate), 1 / sets) / sets):.3f}"


def quiet(tally: Tally, metric: str) -> tuple[int, int]:
    """Of the data sets without a warning: how many intervals hold the truth, and how many there are."""
    held, sets = tally[f"{metric} covered"] - tally[f"{metric} covered, warned"], tally[f"{metric} sets"]
    return held, sets - tally[f"{metric} warned"]


def marked(tally: Tally, metric: str) -> str:
    """⚠ where data sets carry a warning; where only some do, how many, and the coverage of the others."""
    warned, (held, others) = tally[f"{metric} warned"], quiet(tally, metric)
    if not warned or not others:
        return " ⚠" if warned else ""
    rest = f", else {held / others:.3f}" if others >= BLOCK else ""
    return f" ⚠ {max(warned / (warned + others), 0.01):.0%}{rest}"


def number_of(sets: Sequence[int]) -> str:
    """Data sets of a row: one number, or one for each cell."""
    return " / ".join(f"{s:,}" for s in (sets if len(set(sets)) > 1 else sets[:1]))


def coverage_row(metric: str, data: str, found: Sequence[Tally]) -> str:
    cells = [shown(t[f"{metric} covered"], t[f"{metric} sets"]) + marked(t, metric) for t in found]
    return f"| `{metric}` | {data} | {' | '.join(cells)} | {number_of([t[f'{metric} sets'] for t in found])} |"


def counted_rows(done: Counted, what: str = "") -> list[tuple[str, list[Tally]]]:
    """The kinds of data that were counted in some size, with what was found in each."""
    every = [*(row for row, _, _ in label_rows() + pool_rows()), "clusterings"]
    found = [(row, [done.of(f"{what}{row}, {n}") for n in SIZES]) for row in every]
    return [(row, tallies) for row, tallies in found if any(tallies)]


def metrics_of(tallies: Sequence[Tally]) -> list[str]:
    """Those of every size, in the order of the tables."""
    every = {m for t in tallies for m in experiments.metrics_of(t)}
    return [*(m for m in LABELS if m in every), *sorted(every - set(LABELS))]


def coverage(done: Counted) -> str:
    rows = [coverage_row(m, row, found) for row, found in counted_rows(done) for m in metrics_of(found)]
    return (
        f"Coverage of the default 95 % interval ({RESAMPLES} resamples). ⚠ marks cells whose data sets carry a warning; "
        "where not all of them do, the share that does, and the coverage of the others:\n\n"
        "| metric | data | n = 30 | n = 100 | n = 1,000 | data sets |\n|---|---|---|---|---|---|\n" + "\n".join(rows)
    )


def verdicts(done: Counted) -> str:
    rows = []
    for row, found in counted_rows(done, "verdicts, "):
        for m in metrics_of(found):
            cells = " | ".join(
                shown(t[f"{m} wrong"], t[f"{m} sets"]) + " ⚠" * experiments.is_few(n, row.endswith(APART))
                for n, t in zip(SIZES, found, strict=True)
            )
            rows.append(f"| `{m}` | {row} | {cells} | {number_of([t[f'{m} sets'] for t in found])} |")
    return (
        f"False verdicts at 5 % on two systems that are alike, uncorrected ({DRAWS} draws for labels, else {FEWER_DRAWS} or more). "
        "⚠ marks sizes that karat warns of, too few units or clusters:\n\n"
        "| metric | data | n = 30 | n = 100 | n = 1,000 | data sets |\n|---|---|---|---|---|---|\n" + "\n".join(rows)
    )


def families(done: Counted) -> str:
    rows = []
    for clustered in (False, True):
        for systems in SYSTEMS:
            found = done.of(f"families, {systems}, {clustered}")
            data = "100 items in 20 documents" if clustered else "100 items"
            cells = " | ".join(shown(found[f"{c} wrong"], found[f"{c} sets"]) for c in CORRECTIONS)
            rows.append(f"| {systems} | {data} | {cells} | {found['holm sets']:,} |")
    return (
        "Any false verdict among systems that are alike, accuracy and F1 as one family (of pairs that Student's t puts above "
        f"p = {experiments.FAR} only that p is taken, from 5 systems on):\n\n| systems | data | {' | '.join(CORRECTIONS)} | data sets |\n"
        "|---|---|" + "---|" * (len(CORRECTIONS) + 1) + "\n" + "\n".join(rows)
    )  # fmt: skip


def doubtful(done: Counted) -> list[str]:
    """Beyond Monte Carlo error and without a warning: coverage below .93, and false verdicts above .05.

    Tests that are exact make 5 % of false verdicts, so that of hundreds of cells some lie beyond their own error by
    chance: theirs is that of all cells together (Bonferroni).
    """
    out, cells = [], sum(len(experiments.metrics_of(t)) for k, t in done.tally.items() if k.startswith(JUDGED))
    many = float(special.ndtri(1 - 0.025 / max(cells, 1)))
    for key, tally in done.tally.items():
        out += [
            f"{m}, {key}: {tally[f'{m} wrong'] / tally[f'{m} sets']:.3f} of {tally[f'{m} sets']} data sets with a false verdict"
            for m in beyond(key, tally, many)
            if not _is_small(key)
        ]
        for m in () if key.startswith(JUDGED) else experiments.metrics_of(tally):
            held, others = quiet(tally, m)
            if _falls_short(tally[f"{m} covered"], tally[f"{m} sets"]) and _falls_short(held, others):
                out.append(f"{m}, {key}: {held / others:.3f} of {others} data sets without a warning")
    return out


def _is_small(key: str) -> bool:
    """Whether a study of verdicts is one of so few units or clusters that karat warns of them."""
    row, _, n = key.rpartition(", ")
    return row.startswith("verdicts") and experiments.is_few(int(n), row.endswith(APART))


def _falls_short(held: int, sets: int) -> bool:
    return sets >= BLOCK and held / sets + _error(LEAST, sets) < LEAST


def _error(rate: float, sets: int, reach: float = 1.96) -> float:
    return reach * float(np.sqrt(rate * (1 - rate) / sets))


def uncounted(done: Counted) -> str:
    """What the tables lack: no cell is left out in silence."""
    rows: dict[str, list[str]] = {}
    for study in studies():
        if study.key not in done.blocks:
            row, _, n = study.key.rpartition(", ")
            rows.setdefault(row, []).append(f"{int(n):,}")
    return (
        "Not counted yet (n): " + "; ".join(f"{row} ({', '.join(n)})" for row, n in rows.items()) + "." if rows else ""
    )


def tables(done: Counted) -> str:
    return "\n\n".join(filter(None, [coverage(done), verdicts(done), families(done), uncounted(done)]))


def write(done: Counted) -> None:
    before, _, rest = PAGE.read_text().partition(START)
    PAGE.write_text(before + START + "\n" + tables(done) + "\n\n" + END + rest.partition(END)[2])
    for line in doubtful(done):
        print(line)


def main() -> None:
    words = [a for a in sys.argv[1:] if not a.startswith("--")]
    sets = next((int(w) for w in words if w.isdigit()), 2_000)
    done = Counted.read()
    if "--fresh" in sys.argv:
        done.forget([w for w in words if not w.isdigit()])
    if "--tables" not in sys.argv:
        count(done, sets)
    write(done)


if __name__ == "__main__":
    main()

"""Coverage of default intervals, error rates of tests and of corrections, by simulation: the tables of docs/statistics.md.

``python -m benchmarks.simulate [DATA SETS]`` counts blocks of data sets and keeps each block in build/simulated.jsonl, so
that a run which is cut off goes on where it was; ``--tables`` writes what there is between the marks of the page,
``--fresh`` forgets what was counted (after a change of the statistics). Every rate is given with the half-width of its
own 95 % interval (Monte Carlo error).
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import experiments
from benchmarks.experiments import CORRECTIONS, DRAWS, LABELS, LAWS, POOLS, RESAMPLES, Tally

ROOT = Path(__file__).parent.parent
PAGE, KEPT = ROOT / "docs" / "statistics.md", ROOT / "build" / "simulated.jsonl"
START, END = "<!-- simulated: begin -->\n", "<!-- simulated: end -->\n"
SIZES, SYSTEMS = (30, 100, 1_000), (2, 5, 10, 30)
LEAST, BLOCK = 0.93, 100


@dataclass(frozen=True)
class Study:
    """One kind of data set; ``key`` names it in the file of counts and seeds its random numbers."""

    key: str
    run: Callable[..., Tally]
    given: tuple[Any, ...]

    @property
    def dear(self) -> bool:
        """Whether its data sets cost much: metrics of whole documents."""
        return self.run is experiments.of_pool and not self.key.startswith("queries")

    def block(self, number: int, sets: int) -> Tally:
        return self.run(np.random.default_rng([*self.key.encode(), number]), sets, *self.given)


def label_rows() -> list[tuple[str, str, bool]]:
    return [
        (f"labels, {law} classes" + (", in 10/20/50 documents" if clustered else ""), law, clustered)
        for law in LAWS
        for clustered in (False, True)
    ]


def studies() -> list[Study]:
    """In the order in which they are counted: what is cheap first."""
    out = [Study(f"{row}, {n}", experiments.of_labels, (n, law, c)) for row, law, c in label_rows() for n in SIZES]
    out += [
        Study(f"verdicts, {row}, {n}", experiments.verdicts, (n, law, c)) for row, law, c in label_rows() for n in SIZES
    ]
    family = lambda k: [Study(f"families, {k}, {c}", experiments.families, (k, c)) for c in (False, True)]
    out += [study for k in SYSTEMS[:3] for study in family(k)]
    out += [Study(f"clusterings, {n}", experiments.of_clusterings, (n,)) for n in SIZES[:2]]
    return out + family(30) + [Study(f"{name}, {n}", experiments.of_pool, (n, name)) for name in POOLS for n in SIZES]


def kept() -> dict[str, dict[int, Tally]]:
    """Counts of the blocks that are done, by study."""
    out: dict[str, dict[int, Tally]] = defaultdict(dict)
    for line in KEPT.read_text().splitlines() if KEPT.exists() else []:
        done = json.loads(line)
        out[done["study"]][done["block"]] = Counter(done["tally"])
    return out


def count(sets: int) -> None:
    """All studies up to a tenth of the data sets, then what is cheap to the end, then the others."""
    KEPT.parent.mkdir(exist_ok=True)
    done, blocks = kept(), -(-sets // BLOCK)
    every, cheap = studies(), [s for s in studies() if not s.dear]
    for chosen, upto in ((every, max(blocks // 20, 1)), (cheap, blocks), (every, blocks // 2), (every, blocks)):
        for study in chosen:
            for number in sorted(set(range(upto)) - set(done[study.key])):
                tally = done[study.key][number] = study.block(number, min(BLOCK, sets))
                line = {"study": study.key, "block": number, "tally": tally}
                with KEPT.open("a") as out:
                    out.write(json.dumps(line) + "\n")


def shown(count: int, sets: int) -> str:
    """A rate with its Monte Carlo error."""
    if not sets:
        return "–"
    rate = count / sets
    return f"{rate:.3f} ± {1.96 * np.sqrt(max(rate * (1 - rate), 1 / sets) / sets):.3f}"


def share(warned: int, sets: int) -> str:
    """How many data sets carried a warning, as a mark."""
    return "" if not warned else " ⚠" if warned == sets else f" ⚠ {max(warned / sets, 0.01):.0%}"


def number_of(sets: Sequence[int]) -> str:
    """Data sets of a row: one number, or one for each cell."""
    return " / ".join(f"{s:,}" for s in (sets if len(set(sets)) > 1 else sets[:1]))


def total(blocks: dict[int, Tally]) -> Tally:
    return sum(blocks.values(), Tally())


def coverage_row(metric: str, data: str, found: Sequence[Tally]) -> str:
    cells = [
        shown(t[f"{metric} covered"], t[f"{metric} sets"]) + share(t[f"{metric} warned"], t[f"{metric} sets"])
        for t in found
    ]
    cells += ["–"] * (len(SIZES) - len(found))
    return f"| `{metric}` | {data} | {' | '.join(cells)} | {number_of([t[f'{metric} sets'] for t in found])} |"


def coverage(done: dict[str, dict[int, Tally]]) -> str:
    rows = []
    for row in [*(r for r, _, _ in label_rows()), *POOLS, "clusterings"]:
        found = [total(done[f"{row}, {n}"]) for n in (SIZES[:2] if row == "clusterings" else SIZES)]
        metrics = LABELS if row.startswith("labels") else experiments.metrics_of(found[0])
        rows += [coverage_row(m, row, found) for m in metrics]
    return (
        f"Coverage of the default 95 % interval ({RESAMPLES} resamples). ⚠ marks cells whose data sets carry a warning, with "
        "the share that does where it is not all of them:\n\n"
        "| metric | data | n = 30 | n = 100 | n = 1,000 | data sets |\n|---|---|---|---|---|---|\n" + "\n".join(rows)
    )


def verdicts(done: dict[str, dict[int, Tally]]) -> str:
    rows = []
    for row, _, _ in label_rows():
        found = [total(done[f"verdicts, {row}, {n}"]) for n in SIZES]
        for m in LABELS:
            cells = " | ".join(shown(t[f"{m} wrong"], t[f"{m} sets"]) for t in found)
            rows.append(f"| `{m}` | {row} | {cells} | {number_of([t[f'{m} sets'] for t in found])} |")
    return (
        f"False verdicts at 5 % on two systems that are alike, uncorrected ({DRAWS} draws):\n\n"
        "| metric | data | n = 30 | n = 100 | n = 1,000 | data sets |\n|---|---|---|---|---|---|\n" + "\n".join(rows)
    )


def families(done: dict[str, dict[int, Tally]]) -> str:
    rows = []
    for clustered in (False, True):
        for systems in SYSTEMS:
            found = total(done[f"families, {systems}, {clustered}"])
            data = "100 items in 20 documents" if clustered else "100 items"
            cells = " | ".join(shown(found[f"{c} wrong"], found[f"{c} sets"]) for c in CORRECTIONS)
            fewer = f" (maxt {found['maxt sets']:,})" if found["maxt sets"] != found["holm sets"] else ""
            rows.append(f"| {systems} | {data} | {cells} | {found['holm sets']:,}{fewer} |")
    return (
        "Any false verdict among systems that are alike, accuracy and F1 as one family (of pairs that Student's t puts above "
        f"p = {experiments.FAR} only that p is taken, from 5 systems on):\n\n| systems | data | {' | '.join(CORRECTIONS)} | data sets |\n"
        "|---|---|" + "---|" * (len(CORRECTIONS) + 1) + "\n" + "\n".join(rows)
    )  # fmt: skip


def doubtful(done: dict[str, dict[int, Tally]]) -> list[str]:
    """Cells below .93 (beyond Monte Carlo error) among the data sets that carry no warning."""
    out = []
    for key, blocks in done.items():
        t = total(blocks)
        for m in experiments.metrics_of(t) if not key.startswith(("verdicts", "families")) else []:
            quiet = t[f"{m} sets"] - t[f"{m} warned"]
            held = t[f"{m} covered"] - t[f"{m} covered, warned"]
            if quiet >= BLOCK and held / quiet + 1.96 * np.sqrt(0.93 * 0.07 / quiet) < LEAST:
                out.append(f"{m}, {key}: {held / quiet:.3f} of {quiet} data sets without a warning")
    return out


def write() -> None:
    done = kept()
    before, _, rest = PAGE.read_text().partition(START)
    tables = "\n\n".join([coverage(done), verdicts(done), families(done)])
    PAGE.write_text(before + START + "\n" + tables + "\n\n" + END + rest.partition(END)[2])
    for line in doubtful(done):
        print(line)


def main() -> None:
    numbers = [int(a) for a in sys.argv[1:] if a.isdigit()]
    if "--fresh" in sys.argv:
        KEPT.unlink(missing_ok=True)
    if "--tables" not in sys.argv:
        count(numbers[0] if numbers else 2_000)
    write()


if __name__ == "__main__":
    main()

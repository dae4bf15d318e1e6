"""Page streams: a million pages from Parquet, and Pk and WindowDiff against segeval and nltk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Case, Data, Side


def streams(pages: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Bundle, page number, gold and predicted flags: bundles of 5 to 79 pages, 93 % of flags right."""
    rng = np.random.default_rng(pages)
    bundle = np.repeat(np.arange(pages // 5 + 1), rng.integers(5, 80, pages // 5 + 1))[:pages]
    number = np.arange(pages) - np.searchsorted(bundle, bundle) + 1
    gold = (rng.random(pages) < 0.3) | (number == 1)
    return bundle, number, gold, np.where(rng.random(pages) < 0.93, gold, ~gold) | (number == 1)


def page_files(pages: int) -> Data:
    """One page a row, with categories and confidences."""

    def make(folder: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        bundle, number, gold, pred = streams(pages)
        rng = np.random.default_rng(1)
        category = np.array(["invoice", "letter", "form", "contract"])[bundle % 4]
        common = {"document": np.char.add("bundle-", bundle.astype(str)), "page": number, "category": category}
        confidence = np.where(pred, 0.5, 0.0) + rng.random(pages) / 2
        pq.write_table(pa.table(common | {"is_first_page": gold}), folder / "gold.parquet")
        pq.write_table(pa.table(common | {"is_first_page": pred, "confidence": confidence}), folder / "pred.parquet")

    return Data(f"pages-{pages}", make)


def karat_files(metrics: list[str] | None, answer: str) -> Side:
    def run(folder: Path) -> float:
        import karat

        files = str(folder / "gold.parquet"), str(folder / "pred.parquet")
        return float(karat.evaluate(*files, metrics=metrics)[answer].value)

    return Side("karat", run)


def masses(folder: Path) -> Any:
    """File lengths of each bundle, as segeval takes them."""
    import pyarrow.parquet as pq

    sides = []
    for role in ("gold", "pred"):
        table = pq.read_table(folder / f"{role}.parquet", columns=["page", "is_first_page"])
        page, first = (column.to_numpy() for column in table.columns)
        starts = np.flatnonzero(page == 1)
        sides.append(
            [
                tuple(np.diff(np.append(np.flatnonzero(flags), len(flags))).tolist())
                for flags in np.split(first, starts[1:])
            ]
        )
    return list(zip(*sides, strict=True))


def segeval_windows(pairs: Any) -> float:
    import segeval
    from segeval.window import compute_window_size

    rates = [float(segeval.pk(p, g)) for g, p in pairs if sum(g) > compute_window_size(g)]
    for g, p in pairs:
        segeval.window_diff(p, g)
    return float(np.mean(rates))


CASES = [
    Case(
        "pages-1M",
        page_files(1_000_000),
        karat_files(None, "f1"),
        (),
        None,
        "1M pages from Parquet: all default metrics",
    ),
    Case(
        "windows-20k",
        page_files(20_000),
        karat_files(["pk", "windowdiff"], "pk"),
        (Side("segeval", segeval_windows, masses, repeat=1),),
        None,
        "the same of 20,000 pages, where reading the files is most of the work",
    ),
    Case(
        "windows-1M",
        page_files(1_000_000),
        karat_files(["pk", "windowdiff"], "pk"),
        (Side("segeval", segeval_windows, masses, repeat=1),),
        2,
        "Pk and WindowDiff of 1M pages: karat from Parquet, segeval from lengths in memory",
    ),
]

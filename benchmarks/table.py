"""RESULTS.md from the kept figures."""

from __future__ import annotations

from itertools import groupby
from math import floor, log10
from pathlib import Path
from typing import Any

HEAD = """# Benchmarks

Each row was measured in one run: karat and the peer on the same data, each in a process of its own, start-up and
imports not counted, the least CPU of a few repeats (of five seconds of them where one is short; what
takes very long runs once). The ratio is the peer's CPU seconds over karat's. Peak memory is the whole process, data and libraries included. `make bench` makes this page.

"""
COLUMNS = "| case | side | CPU s | wall s | peak MB | ratio | promised |\n|---|---|---:|---:|---:|---:|---:|\n"


def write(store: dict[str, Any], path: Path) -> None:
    """One table a family, in the order in which the cases were first run."""
    parts = [HEAD, f"Machine: {store['machine']}.\n"]
    for family, names in groupby(sorted(store["cases"], key=family_of), family_of):
        parts += [f"\n## {family}\n\n", COLUMNS]
        parts += [line for name in names for line in rows(name.split("/")[1], store["cases"][name])]
    parts += install(store["install"]) if "install" in store else []
    path.write_text("".join(parts))


def install(found: dict[str, Any]) -> list[str]:
    """Weight and start, made by `python -m benchmarks.install`."""
    peers = {f"{name} {peer['version']}": peer["megabytes"] for name, peer in found["peers"].items()}
    sizes = sorted({"karat": found["megabytes"], **peers}.items(), key=lambda pair: pair[1])
    alone = next(iter(found["start"].values()))
    return [
        "\n## install and start\n\nWhat a plain install adds to an empty environment (no extras), and the least CPU of "
        "many starts in it; `python -m benchmarks.install` measures both, `python -m benchmarks.install peers` the weights of others.\n\n| plain install | MB |\n|---|---:|\n",
        *(f"| {name} | {size:,.0f} |\n" for name, size in sizes),
        "\n| start | CPU s | ratio |\n|---|---:|---:|\n",
        *(f"| `{name}` | {cpu:.3f} | {cpu / alone:.2f}× |\n" for name, cpu in found["start"].items()),
    ]


def family_of(name: str) -> str:
    return name.split("/")[0]


def rows(name: str, case: dict[str, Any]) -> list[str]:
    karat = case["sides"][0]
    title = f"{name}: {case['note']}" if case["note"] else name
    return [row(title, side, karat, case["target"]) for side in case["sides"]]


def row(title: str, side: dict[str, Any], karat: dict[str, Any], target: float | None) -> str:
    """A failed side keeps its row, with the reason in place of the figures."""
    if "error" in side:
        return f"| {title} | {side['side']} | {side['error']} | | | | |\n"
    peer = side is not karat and "cpu" in karat
    ratio = f"{side['cpu'] / karat['cpu']:,.1f}×{differs(side, karat)}" if peer else ""
    promised = f"≥ {target:g}×" if peer and target else ""
    return (
        f"| {title} | {side['side']}{scaled(side)} | {side['cpu']:.4f} | {side['wall']:.4f} | {side['rss']:,.0f} "
        f"| {ratio} | {promised} |\n"
    )


def scaled(side: dict[str, Any]) -> str:
    """How much of the work was done where a side did not do all of it."""
    return f" ({side['part']:.1%} of the work, scaled)" if side.get("part", 1.0) < 1 else ""


def differs(side: dict[str, Any], karat: dict[str, Any]) -> str:
    """A ratio between different answers is worth nothing: say so beside it."""
    return f" (answers differ: {karat['answer']!r}, {side['answer']!r})" if differing_digit(side, karat) else ""


def differing_digit(side: dict[str, Any], karat: dict[str, Any]) -> int | None:
    """The first digit in which the answers differ, by how far they are apart; None where they agree.

    >>> differing_digit({"answer": 0.1234}, {"answer": 0.1235}), differing_digit({"answer": 1.0}, {"answer": 3.0})
    (4, 1)
    """
    ours, theirs = karat["answer"], side["answer"]
    if ours is None or theirs is None or abs(ours - theirs) <= 1e-9 * max(1.0, abs(theirs)):
        return None
    return max(1, 1 + floor(-log10(abs(ours - theirs) / max(abs(ours), abs(theirs)))))


def missed(cases: dict[str, Any]) -> list[str]:
    """Cases whose peer took less than the promised multiple of karat's CPU."""
    lines = []
    for name, case in cases.items():
        karat, *peers = case["sides"]
        measured = [peer for peer in peers if "cpu" in karat and "cpu" in peer and case["target"]]
        ratios = [(peer["side"], peer["cpu"] / karat["cpu"]) for peer in measured]
        lines += [
            f"{name}: {side} {ratio:.2f}× of {case['target']:g}×" for side, ratio in ratios if ratio < case["target"]
        ]
    return lines


def failed(cases: dict[str, Any]) -> list[str]:
    """Sides without figures, each with its reason."""
    sides = ((name, side) for name, case in cases.items() for side in case["sides"])
    return [f"{name}: {side['side']}: {side['error']}" for name, side in sides if "error" in side]

# SPDX-License-Identifier: Apache-2.0
"""What differs between two kept runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from karat.store.checks import flat
from karat.store.run import Run

Rows = list[list[str]]


def differences(first: Run, second: Run) -> tuple[Rows, Rows]:
    """Facts (plan, inputs, versions) that differ, and scores that differ, as rows of text."""
    a, b = (dict(_facts(run)) for run in (first, second))
    only = [_only(x, y) for x, y in ((first, second), (second, first))]
    facts = [["metrics only here", *only]] if any(only) else []
    facts += [[name, a.get(name, "–"), b.get(name, "–")] for name in dict.fromkeys([*a, *b]) if _differ(name, a, b)]
    return facts, _scores(first, second)


def _only(run: Run, other: Run) -> str:
    return ", ".join(m for m in run.evaluation.plan["metrics"] if m not in other.evaluation.plan["metrics"])


def _differ(name: str, a: dict[str, str], b: dict[str, str]) -> bool:
    """Metrics that one run lacks are said once, not parameter by parameter."""
    return a.get(name) != b.get(name) and not (name.startswith("plan metrics.") and (name not in a or name not in b))


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    for name, value in flat(run.evaluation.plan):
        yield f"plan {name}", str(value)
    for name, value in run.evaluation.provenance["versions"].items():
        yield f"version {name}", value
    for entry in run.evaluation.provenance["inputs"]:
        name = "gold" if entry["role"] == "gold" else f"system {entry.get('system') or entry['path']}"
        yield (
            name,
            f"{entry['path']}, {entry['rows']} records, {(entry.get('canonical') or entry['sha256'] or '–')[:12]}",
        )


def _scores(first: Run, second: Run) -> Rows:
    a, b = (_values(run) for run in (first, second))
    if len(first.evaluation.systems) == len(second.evaluation.systems) == 1:
        # Two runs of one system each are compared whatever the systems are called.
        a, b = ({(" → ".join(_names(first, second)), m): v for (_, m), v in x.items()} for x in (a, b))
    return [[*key, _text(a[key]), _text(b[key]), _gap(a[key], b[key])] for key in a if key in b and a[key] != b[key]]  # fmt: skip


def _names(*runs: Run) -> list[str]:
    return list(dict.fromkeys(run.evaluation.systems[0].name for run in runs))


def _values(run: Run) -> dict[tuple[str, str], float | None]:
    return {(s.name, str(score.metric)): score.value for s in run.evaluation.systems for score in s}


def _text(value: Any) -> str:
    return "–" if value is None else f"{value:.6f}"


def _gap(a: float | None, b: float | None) -> str:
    return "" if a is None or b is None else f"{b - a:+.6f}"

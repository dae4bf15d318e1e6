# SPDX-License-Identifier: Apache-2.0
"""Is a recorded evaluation still true, and what differs between two of them?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from karat.api import evaluate
from karat.evaluation import Evaluation
from karat.findings import InputError
from karat.inputs import Column
from karat.plan import make_plan
from karat.provenance import versions
from karat.store.record import SystemClaims, checked, report
from karat.store.run import Run, options_of

Status = Literal["equal", "close", "changed", "unknown"]
CLOSE = 1e-12
OTHER = "not the file that was evaluated"
MOST = 20
"""Differing numbers that are named one by one."""


@dataclass(frozen=True)
class Check:
    """One thing that was compared: ``equal``, ``close`` (the same but for rounding), ``changed`` or ``unknown``."""

    what: str
    status: Status
    message: str


@dataclass(frozen=True)
class Recorded:
    """What a record claims, wherever it was kept."""

    plan: dict[str, Any]
    provenance: dict[str, Any]
    numbers: dict[tuple[str, ...], float | None]
    whole: bool | None = None
    """Whether the record matches the hash that was taken of it; None where none was."""

    @staticmethod
    def of_run(run: Run) -> Recorded:
        return Recorded(run.evaluation.plan, run.evaluation.provenance, numbers(run.evaluation), run.whole)

    @staticmethod
    def of_report(document: Any) -> Recorded:
        """A JSON report."""
        claims = report(document)
        provenance = dict(claims.provenance)
        return Recorded(*checked(provenance.pop("plan", None), provenance), dict(_claimed(claims.systems)))


def numbers(evaluation: Evaluation) -> dict[tuple[str, ...], float | None]:
    """Every number of an evaluation under the path that leads to it."""
    return dict(_numbers(evaluation))


def _numbers(evaluation: Evaluation) -> Iterator[tuple[tuple[str, ...], float | None]]:
    for system in evaluation.systems:
        for score in system:
            at = (system.name, str(score.metric))
            yield at, score.value
            if score.interval:
                yield from (((*at, "low"), score.interval.low), ((*at, "high"), score.interval.high))
            for name, part in score.by_test_case.items():
                yield (*at, "test case", name), part.value
            for part in score.class_parts():
                yield (*at, "class", part.test_case or "", part.label or ""), part.value
            for column, slicing in score.slices.items():
                yield from (((*at, "slice", column, piece.name), piece.value) for piece in slicing)


def _claimed(systems: Sequence[SystemClaims]) -> Iterator[tuple[tuple[str, ...], float | None]]:
    for system in systems:
        for score in system.metrics:
            at = (system.name, score.metric)
            yield at, score.value
            if score.interval:
                yield from (((*at, "low"), score.interval.low), ((*at, "high"), score.interval.high))
            for part in score.by_test_case:
                yield (*at, "test case", part.test_case or ""), part.value
            for part in score.by_class:
                yield (*at, "class", part.test_case or "", part.label or ""), part.value
            for slicing in score.slices:
                yield from (((*at, "slice", slicing.column, piece.name), piece.value) for piece in slicing.slices)


def verify(
    recorded: Recorded, files: Mapping[str, str] | None = None, folder: str | os.PathLike[str] = ""
) -> list[Check]:
    """Every difference between the record and what the same files, plan and machine give now.

    ``files`` says where inputs are now, by role (``gold``) or system name; those that it does not name are
    looked for where they were, by their name, and in ``folder``.
    """
    inputs = recorded.provenance["inputs"]
    places = [_place(i, files or {}, folder) for i in inputs]
    checks = _whole(recorded)
    checks += _versions(recorded.provenance["versions"])
    checks += _plan(recorded.plan, recorded.provenance.get("seed", recorded.plan["seed"]))
    missing = [i["path"] for i, place in zip(inputs, places, strict=True) if place is None]
    if missing:
        return [
            *checks,
            *(Check(f"input {p}", "unknown", "there is no such file now; say where it is") for p in missing),
        ]
    try:
        again = _again(recorded, [str(p) for p in places])
    except InputError as error:
        checks += [_bytes(i, str(p)) for i, p in zip(inputs, places, strict=True) if i["sha256"]]
        return [*checks, Check("inputs", "changed", f"they cannot be evaluated any more: {error.findings[0]}")]
    checks += [_input(*x) for x in zip(inputs, again.provenance["inputs"], [str(p) for p in places], strict=True)]
    return [*checks, *_results(recorded.numbers, numbers(again))]


def _whole(recorded: Recorded) -> list[Check]:
    if recorded.whole is None:
        return []
    if recorded.whole:
        return [Check("record", "equal", "as it was written")]
    return [Check("record", "changed", "the record was altered: its contents do not match their hash")]


def _place(entry: Mapping[str, Any], files: Mapping[str, str], folder: str | os.PathLike[str]) -> str | None:
    path = entry["path"]
    names = ["gold"] if entry["role"] == "gold" else [entry.get("system") or "", path, os.path.basename(path)]
    given = next((files[name] for name in names if name in files), None)
    tries = [given] if given else [path, os.path.join(folder, path), os.path.basename(path)]
    return next((p for p in tries if Path(p).is_file()), None)


def _versions(recorded: Mapping[str, str]) -> list[Check]:
    now = versions()
    changes = [
        Check(f"version {name}", "changed", f"recorded {was}, now {now.get(name, 'absent')}")
        for name, was in recorded.items()
        if now.get(name) != was
    ]
    return changes or [Check("versions", "equal", ", ".join(f"{k} {v}" for k, v in recorded.items()))]


def _plan(recorded: Mapping[str, Any], seed: int) -> list[Check]:
    """The recorded plan against the one that the same words mean now, and with the seed of the provenance."""
    now = make_plan(
        recorded["context"],
        list(recorded["metrics"]),
        options_of(dict(recorded)),
        recorded["undefined"],
        seed,
    ).to_dict()
    was, fresh = (dict(flat(p)) for p in ({k: recorded[k] for k in now if k in recorded}, now))
    changes = [
        Check(f"parameter {name}", "changed", f"recorded {was.get(name, 'nothing')}, now {fresh.get(name, 'nothing')}")
        for name in dict.fromkeys([*was, *fresh])
        if was.get(name) != fresh.get(name)
    ]
    return changes or [Check("plan", "equal", "the same parameters, defaults included")]


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Nested data as (path, value) pairs."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _again(recorded: Recorded, places: list[str]) -> Evaluation:
    """The evaluation repeated."""
    plan, wanted = recorded.plan, recorded.plan.get("intervals") or {}
    inputs = [i for i in recorded.provenance["inputs"] if i["role"] != "gold"]
    names = [i.get("system") or i["path"] for i in inputs]
    systems = [Column(p, i["column"]) if i.get("column") else p for p, i in zip(places[1:], inputs, strict=True)]
    more = {} if not wanted else {
        "intervals": wanted["level"], "interval_method": wanted["method"], "resamples": wanted["resamples"],
        "cluster_by": wanted.get("cluster_by"), "stratify_by": wanted.get("stratify_by"),
    }  # fmt: skip
    more |= {"slices": plan["slices"]} if plan.get("slices") else {}
    more |= {"weight": plan["weight"]} if plan.get("weight") else {}
    return evaluate(
        places[0], systems, names=names, context=plan["context"], metrics=list(plan["metrics"]),
        undefined=plan["undefined"], seed=plan["seed"], hashes=True, **plan.get("reading", {}), **more, **options_of(plan),
    )  # fmt: skip


def _bytes(was: Mapping[str, Any], place: str) -> Check:
    """Which file changed, where it can no longer be read."""
    with open(place, "rb") as file:
        same = hashlib.file_digest(file, "sha256").hexdigest() == was["sha256"]
    what = f"input {was['path']}"
    return Check(what, "equal", "the same bytes") if same else Check(what, "changed", f"{place} is {OTHER}")


def _input(was: Mapping[str, Any], now: Mapping[str, Any], place: str) -> Check:
    what = f"input {was['path']}"
    if was["sha256"] == now["sha256"]:
        return Check(what, "equal", "the same bytes")
    if was.get("canonical") and was["canonical"] == now["canonical"]:
        return Check(what, "equal", "other bytes, the same records")
    size = f"{was['bytes']} bytes and {was['rows']} records, now {now['bytes']} and {now['rows']}"
    return Check(what, "changed", f"{place} is {OTHER} ({size})")


def _results(was: Mapping[tuple[str, ...], float | None], now: Mapping[tuple[str, ...], float | None]) -> list[Check]:
    differing = [
        (path, was.get(path), now.get(path)) for path in dict.fromkeys([*was, *now]) if was.get(path) != now.get(path)
    ]
    if not differing:
        return [Check("results", "equal", f"all {len(was)} numbers are the same to the last bit")]
    far = [d for d in differing if not _near(d[1], d[2])]
    if not far:
        return [
            Check("results", "close", f"{len(differing)} of {len(was)} numbers differ, none by more than {CLOSE:g}")
        ]
    # Scores first; test cases and classes only where no score as a whole tells.
    told = [d for d in far if len(d[0]) == 2] or far[:MOST]
    changes = [
        Check("result " + " / ".join(filter(None, path)), "changed", f"recorded {a}, now {b}") for path, a, b in told
    ]
    rest = [Check("results", "changed", f"{len(far)} of {len(was)} numbers differ, test cases and classes included")]
    return changes + (rest if len(far) > len(told) else [])


def _near(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and abs(a - b) <= CLOSE * max(1.0, abs(a))


Rows = list[list[str]]


def differences(first: Run, second: Run) -> tuple[Rows, Rows]:
    """Facts (plan, inputs, versions) that differ, and scores that differ, as rows of text."""
    a, b = (dict(_facts(run)) for run in (first, second))
    metrics = [run.evaluation.plan["metrics"] for run in (first, second)]
    only = [", ".join(m for m in here if m not in there) for here, there in (metrics, metrics[::-1])]
    facts = [["metrics only here", *only]] if any(only) else []
    facts += [[name, a.get(name, "–"), b.get(name, "–")] for name in dict.fromkeys([*a, *b]) if _differ(name, a, b)]
    return facts, _scores(first, second)


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

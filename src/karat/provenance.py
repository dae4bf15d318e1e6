# SPDX-License-Identifier: Apache-2.0
"""Where numbers come from: hashes of the inputs, versions, and a short signature to cite a score by."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec
import numpy as np

from karat.contexts import context
from karat.evaluation import Evaluation, Score
from karat.side import Side

CHEAP = 2_000
"""Records that are hashed without being asked: 2 ms of one core."""

_COST = {"weights": 5, "votes": 5, "pages": 10}
"""Records with many numbers or pages cost as much as several labels."""

_SHORT = {"average": "avg"}


def _digest(n: Any, *sums: Any) -> str:
    return hashlib.sha256("|".join(map(str, (n, *sums))).encode()).hexdigest()


def input_record(side: Side, hashes: bool | None = None) -> dict[str, Any]:
    """One input: what it is called, how large it is, and its hashes (of large ones only if asked for)."""
    origin = side.origin
    known = origin.format != "array" and not (origin.format == "list" and side.kind == "label")
    # A document is one record, and each of its spans is hashed.
    size = max(side.records * _COST.get(side.kind, 1), len(side.entries) if side.context in _ROWS else 0)
    wanted = hashes or (hashes is None and known and size <= CHEAP)
    return {
        "role": origin.role, "path": origin.name, "system": origin.system or None, "format": origin.format,
        "rows": side.records, "bytes": origin.bytes, "sha256": origin.sha256,
        "canonical": canonical(side) if wanted else None,
    } | ({"column": origin.column} if origin.column else {})  # fmt: skip


def canonical(side: Side) -> str:
    """SHA-256 of what the units say: alike for the same data in any container and order.

    Each unit is hashed as id, test case and value, texts in NFC and numbers in their shortest form; the sum of these
    hashes does not depend on the order.
    """
    rows = _ROWS[side.context](side) if side.context in _ROWS else zip(*_keys(side), _values(side), strict=True)
    texts = (unicodedata.normalize("NFC", chr(31).join(row)).encode(errors="surrogatepass") for row in rows)
    hashes = [hashlib.sha256(text).hexdigest() for text in texts]
    return _digest(len(hashes), *(sum(int(h[at : at + 15], 16) for h in hashes) for at in (0, 15)))


def _keys(side: Side) -> tuple[Sequence[str], list[str]]:
    return side.keys.id, [case for case, _ in side.keys.pairs()]


def _documents(side: Side) -> Iterable[Sequence[str]]:
    """The documents of rankings with their numbers; stated ranks only where they contradict the scores."""
    entries, names = side.entries, side.keys.case.names
    columns = [entries["document"].texts(), [names[case] for case in side.keys.case.code[entries.unit].tolist()]]
    columns += [list(map(repr, entries["number"].tolist()))]
    if "subtopic" in entries:
        columns += [[side.names["subtopic"][code] for code in entries["subtopic"].tolist()]]
    if "rank" in entries:
        order = np.lexsort((entries["rank"], -entries["number"], entries.unit))
        worse = (np.diff(entries["rank"][order]) < 0) & (np.diff(entries.unit[order]) == 0)
        columns += [list(map(repr, entries["rank"].tolist()))] if worse.any() else []
    return zip(*columns, strict=True)


def _spans(side: Side) -> Iterable[Sequence[str]]:
    """A row for each document and each span (or marked token), labels with their parents' in front."""
    entries, keys = side.entries, list(side.keys.pairs())
    name, places = ("tag", ("place",)) if "tag" in entries else ("label", ("start", "end"))
    label = [side.names[name][code] for code in entries[name].tolist()]
    if "parent" in entries:
        first = np.searchsorted(entries.unit, entries.unit).tolist()
        for row, parent in enumerate(entries["parent"].tolist()):  # parents come before their children
            label[row] = f"{label[first[row] + parent]}::{label[row]}" if parent >= 0 else label[row]
    size = [str(n) for n in side.units["length"].tolist()] if "tag" in entries else [""] * len(keys)
    classes = side.units.get("classes", [()] * len(keys))
    for (case, id), number, labels in zip(keys, size, classes, strict=True):
        yield case, id, number, *labels
    columns = (entries[column].tolist() for column in places)
    for unit, text, *place in zip(entries.unit.tolist(), label, *columns, strict=True):
        yield *keys[unit], text, *map(str, place)


def _pages(side: Side) -> Iterable[Sequence[str]]:
    """A row for each page; and for each bundle whose last page is not said."""
    entries, keys, categories = side.entries, list(side.keys.pairs()), [*side.names["category"], ""]
    confidence = entries["confidence"].tolist() if "confidence" in entries else [np.nan] * len(entries)
    columns = (entries[name].tolist() for name in ("page", "first", "category"))
    for unit, page, first, category, number in zip(entries.unit.tolist(), *columns, confidence, strict=True):
        yield *keys[unit], str(page), str(first), categories[category], "" if number != number else repr(number)
    for unit in np.flatnonzero(side.units["open_ended"]).tolist():
        yield *keys[unit], "…"


_ROWS: dict[str | None, Callable[[Side], Iterable[Sequence[str]]]] = {
    "ranking": _documents,
    "spans": _spans,
    "splitting": _pages,
}
"""How contexts whose units say more than a value are hashed."""


def _values(side: Side) -> list[str]:
    """What each unit says as text; gold's lists of labels are sets, a prediction's have an order."""
    of = side.entries
    if "label" not in of:
        return _numbers(side)
    names = [*side.names["label"], ""]
    words = [names[code] for code in of["label"].tolist()]
    if side.kind == "label" and len(words) == len(side) and (np.bincount(of.unit, minlength=len(words)) == 1).all():
        return words
    other = next(
        (name for name in ("annotator", "number", "score") if name in of and (name != "score" or side.role == "pred")),
        None,
    )
    if other == "annotator":
        words = [
            f"{side.names['annotator'][who]}: {label}"
            for who, label in zip(of["annotator"].tolist(), words, strict=True)
        ]
    elif other:
        words = [f"{label}: {number!r}" for label, number in zip(words, of[other].tolist(), strict=True)]
    units: list[list[str]] = [[] for _ in range(len(side))]
    for unit, text in zip(of.unit.tolist(), words, strict=True):
        units[unit].append(text)
    return ["[" + ", ".join(sorted(texts)) + "]" for texts in units]


def _numbers(side: Side) -> list[str]:
    """The number of each unit as text."""
    out = [""] * len(side)
    for unit, number in zip(side.entries.unit.tolist(), side.entries["number"].tolist(), strict=True):
        out[unit] = repr(number)
    return out


@cache
def versions() -> dict[str, str]:
    """What computed the numbers."""
    libraries = {name: _version(name) for name in ("karat", "numpy", "scipy", "duckdb")}
    return libraries | {"python": platform.python_version(), "platform": platform.system() + "-" + platform.machine()}


def _version(name: str) -> str:
    loaded = getattr(sys.modules.get(name), "__version__", None)
    if loaded or (loaded := _installed(name)):
        return str(loaded)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def _installed(name: str) -> str | None:
    """The version by the name of the folder that an installer leaves: importlib.metadata takes ten times as long."""
    for folder in sys.path:
        with suppress(OSError):
            for entry in os.listdir(folder or "."):
                if entry.startswith(f"{name}-") and entry.endswith(".dist-info"):
                    return entry.removeprefix(f"{name}-").removesuffix(".dist-info")
    return None


def provenance(inputs: Sequence[Mapping[str, Any]], seed: int) -> dict[str, Any]:
    """Everything about an evaluation that is neither plan nor result."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return {"inputs": list(inputs), "versions": dict(versions()), "seed": seed, "created": created}


def digest(value: Any) -> str:
    """Hash of plain data, whatever the order of its keys."""
    return hashlib.blake2b(msgspec.json.encode(value, order="sorted"), digest_size=16).hexdigest()


def question(evaluation: Evaluation) -> str:
    """What was asked: alike for the same plan on the same inputs, whenever and with whatever version."""
    inputs = [[i["role"], i.get("system"), i.get("canonical") or i["sha256"]] for i in _inputs(evaluation)]
    plan = {k: v for k, v in evaluation.plan.items() if k != "reading"}
    return digest([evaluation.context, plan, inputs])[:16]


def _inputs(evaluation: Evaluation) -> list[dict[str, Any]]:
    inputs: list[dict[str, Any]] = evaluation.provenance["inputs"]
    return inputs


def signature(evaluation: Evaluation, score: Score) -> str:
    """A line that tells a reader what a score is: metric, parameters, options, version and gold.

    >>> e = karat.evaluate({"1": "A", "2": "B"}, {"1": "A", "2": "A"}, metrics=["f1"])
    >>> signature(e, e["f1"])
    'f1|avg:macro|missing:wrong|karat:0.1|gold:80c6ba'
    """
    plan = evaluation.plan
    average = {k: v for k, v in score.params.items() if k == "average"}
    parts = [score.metric.name, *_pairs(average | dict(score.metric.params)), *_pairs(_telling(evaluation))]
    parts += [] if plan["undefined"] == "report" else [f"undefined:{plan['undefined']}"]
    parts += [f"weight:{plan['weight']}"] if plan.get("weight") else []
    parts += _interval(score, plan["seed"])
    return "|".join([*parts, f"karat:{'.'.join(versions()['karat'].split('.')[:2])}", _gold(evaluation)])


def _telling(evaluation: Evaluation) -> dict[str, Any]:
    """The options that a reader must know: how missing predictions count, and what is not at its default."""
    default = {option.name: option.default for option in context(evaluation.context).options}
    options: dict[str, Any] = evaluation.plan["options"]
    return {k: v for k, v in options.items() if k == "missing" or v != default.get(k)}


def _pairs(settings: Mapping[str, Any]) -> Iterable[str]:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield f"{_SHORT.get(name, name)}:{digest(value)[:6]}"
        elif value is not None:
            shown = {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value
            yield f"{_SHORT.get(name, name)}:{shown}"


def _interval(score: Score, seed: int) -> list[str]:
    if score.interval is None:
        return []
    drawn = f".{score.interval.resamples}.s{seed}" if score.interval.resamples else ""
    return [f"ci:{score.interval.level:g}.{score.interval.method}{drawn}"]


def _gold(evaluation: Evaluation) -> str:
    gold = next((i for i in _inputs(evaluation) if i["role"] == "gold"), {})
    if gold.get("canonical"):
        return f"gold:{gold['canonical'][:6]}"
    return f"gold-file:{gold['sha256'][:6]}" if gold.get("sha256") else "gold:unhashed"

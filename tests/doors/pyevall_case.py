# SPDX-License-Identifier: Apache-2.0
"""Run one recorded or random case through the door, and compare reports."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from karat.doors.pyevall import PyEvALLEvaluation


def files(case: dict[str, Any], folder: Path) -> dict[str, Path]:
    """The case's two files in two directories; a text of None is a file that is not there."""
    paths = {role: folder / role / case[f"{role}_file"] for role in ("pred", "gold")}
    for role, path in paths.items():
        path.parent.mkdir()
        if case[role] is not None:
            path.write_bytes(case[role].encode(case.get("encoding") or "utf-8"))
    return paths


def answer(case: dict[str, Any], strict: bool = True) -> dict[str, Any]:
    """The door's report, or what it raised or returned, as the records have it."""
    params = {"report": "embedded", **case["params"]}
    with tempfile.TemporaryDirectory() as folder:
        paths = files(case, Path(folder))
        try:
            report = PyEvALLEvaluation(strict=strict).evaluate(paths["pred"], paths["gold"], case["metrics"], **params)
        except Exception as error:  # what PyEvALL raises is part of its answer
            return {"exception": f"{type(error).__name__}: {error}"}
    return {"returned": None} if report is None else report.report


def differences(theirs: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Where two reports differ: keys and their order, statuses, codes, values to 1e-9; not the wording."""
    if path.endswith("/description") or (
        path.endswith("/exception") and isinstance(theirs, str) == isinstance(ours, str)
    ):
        return
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if list(theirs) != list(ours):
            yield f"{path}: {list(theirs)} != {list(ours)}"
        for key in theirs.keys() & ours.keys():
            yield from differences(theirs[key], ours[key], f"{path}/{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, pair in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(*pair, f"{path}/{index}")
    elif not alike(theirs, ours):
        yield f"{path}: {theirs!r} != {ours!r}"


def alike(theirs: Any, ours: Any) -> bool:
    if isinstance(ours, float) and not math.isfinite(ours):
        return theirs in ("NaN", "inf", "-inf")
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (theirs, ours))
    return math.isclose(theirs, ours, rel_tol=1e-9, abs_tol=1e-9) if numbers else theirs == ours

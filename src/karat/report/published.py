# SPDX-License-Identifier: Apache-2.0
"""Results as they may leave the machine that made them: files by their names, without its folders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from karat.evaluation import Evaluation
from karat.findings import Finding

if TYPE_CHECKING:
    from karat.comparison import Comparison

Names = dict[str, str]
"""What a page calls each file, by its path."""


def published(evaluation: Evaluation) -> Evaluation:
    """The evaluation with files in place of paths; the original keeps the paths, by which `verify` reads again."""
    provenance = evaluation.provenance
    inputs = [*provenance["inputs"], *([provenance["judge"]] if "judge" in provenance else [])]
    names = file_names(i["path"] for i in inputs if i["bytes"] is not None or i["format"] == "brat")
    shown = {"inputs": [i | {"path": names.get(i["path"], i["path"])} for i in provenance["inputs"]]}
    if "judge" in provenance:
        path = provenance["judge"]["path"]
        shown["judge"] = provenance["judge"] | {"path": names.get(path, path)}
    systems = [replace(s, findings=_renamed(s.findings, names)) for s in evaluation.systems]
    rejected = [replace(r, findings=[_file_only(f) for f in _renamed(r.findings, names)]) for r in evaluation.rejected]
    return replace(evaluation, systems=systems, rejected=rejected, provenance=provenance | shown)


def published_comparison(comparison: Comparison) -> Comparison:
    """The same for a comparison."""
    return replace(comparison, evaluation=published(comparison.evaluation))


def file_names(paths: Iterable[str]) -> Names:
    """The last part of each path, and as many folders before it as tell it from the others.

    >>> file_names(["/home/ann/gold.json", "/home/ann/new/run.json", "/home/ann/old/run.json"]).values()
    dict_values(['gold.json', 'new/run.json', 'old/run.json'])
    """
    parts = {path: PurePath(path).parts for path in paths}
    return {path: _shortest(steps, [p for p in parts.values() if p != steps]) for path, steps in parts.items()}


def _shortest(path: tuple[str, ...], others: list[tuple[str, ...]]) -> str:
    length = next((n for n in range(1, len(path)) if all(path[-n:] != other[-n:] for other in others)), len(path))
    return str(PurePath(*path[-length:]))


def _file_only(f: Finding) -> Finding:
    """A finding of an input that no record is kept of, by the last part of its path."""
    return with_fields(f, file=os.path.basename(f.file)) if f.file else f


def _renamed(findings: Iterable[Finding], names: Names) -> list[Finding]:
    return [with_fields(f, file=_named(f.file, names)) if f.file else f for f in findings]


def _named(file: str, names: Names) -> str:
    """A file by its name, or by its place in the folder that is the input."""
    folder = next((path for path in names if file.startswith(path + os.sep)), None)
    return names.get(file, file) if folder is None else names[folder] + file.removeprefix(folder)

# SPDX-License-Identifier: Apache-2.0
"""Results as they may leave the machine that made them: files by their names, without its folders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath

from msgspec.structs import replace as with_fields

from karat.comparison import Comparison
from karat.evaluation import Evaluation
from karat.findings import Finding

Names = dict[str, str]
"""What a page calls each file, by its path."""


def published(evaluation: Evaluation) -> Evaluation:
    """The evaluation with files in place of paths; the original keeps the paths, by which `verify` reads again."""
    names = file_names(i["path"] for i in evaluation.provenance["inputs"] if i["bytes"] is not None)
    inputs = [i | {"path": names.get(i["path"], i["path"])} for i in evaluation.provenance["inputs"]]
    systems = [replace(s, findings=_renamed(s.findings, names)) for s in evaluation.systems]
    return replace(evaluation, systems=systems, provenance=evaluation.provenance | {"inputs": inputs})


def published_comparison(comparison: Comparison) -> Comparison:
    """The same for a comparison."""
    return replace(comparison, evaluation=published(comparison.evaluation))


def file_names(paths: Iterable[str]) -> Names:
    """The last part of each path, and as many folders before it as tell it from the others.

    >>> file_names(["/home/ann/gold.json", "/home/ann/new/run.json", "/home/ann/old/run.json"]).values()
    dict_values(['gold.json', 'new/run.json', 'old/run.json'])
    """
    parts = {path: PurePath(path).parts for path in paths}
    return {path: _shortest(own, [p for p in parts.values() if p != own]) for path, own in parts.items()}


def _shortest(own: tuple[str, ...], others: list[tuple[str, ...]]) -> str:
    length = next((n for n in range(1, len(own)) if all(own[-n:] != other[-n:] for other in others)), len(own))
    return str(PurePath(*own[-length:]))


def _renamed(findings: Iterable[Finding], names: Names) -> list[Finding]:
    return [with_fields(f, file=names.get(f.file or "", f.file)) for f in findings]

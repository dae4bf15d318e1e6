# SPDX-License-Identifier: Apache-2.0
"""The report that continuous integration shows as tests: one for each system and metric, which fails below its limit."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape  # the escape of xml.sax loads urllib, http and ssl: a tenth of the time of a small evaluation

from karat.evaluation import Evaluation, Rejected, Score, SystemResult
from karat.report.text import clear


def render(evaluation: Evaluation, limits: Mapping[str, float] | None = None) -> str:
    """JUnit's XML; ``limits`` are the worst scores that pass, by metric."""
    wanted = {str(evaluation.systems[0][metric].metric): limit for metric, limit in (limits or {}).items()}
    cases = [_case(system, score, wanted.get(str(score.metric))) for system in evaluation.systems for score in system]
    cases += [_error(rejected) for rejected in evaluation.rejected]
    failed, errors = (sum(f"<{kind}" in case for case in cases) for kind in ("failure", "error"))
    head = f'<testsuite name="karat" tests="{len(cases)}" failures="{failed}" errors="{errors}" skipped="0">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", head, *cases, "</testsuite>", "</testsuites>", ""])  # fmt: skip


def missed(score: Score, limit: float) -> bool:
    """Is a score missing, or worse than the limit?"""
    return score.value is None or (score.value > limit if score.better == "lower" else score.value < limit)


def _case(system: SystemResult, score: Score, limit: float | None) -> str:
    head = f"  <testcase classname={_quoted(system.name)} name={_quoted(str(score.metric))}"
    value = score.undefined or f"{score.value:.6g}"
    if limit is not None and missed(score, limit):
        why = f"{score.metric} is {value}, limit {limit:g}"
        return f"{head}><failure message={_quoted(why)}>{escape(clear(why), quote=False)}</failure></testcase>"
    return f"{head}><system-out>{escape(clear(value), quote=False)}</system-out></testcase>"


def _error(rejected: Rejected) -> str:
    why = "\n".join(clear(str(f)) for f in rejected.findings if f.severity == "error")
    first = why.partition("\n")[0]
    name = _quoted(rejected.name)
    return f'  <testcase classname={name} name="input"><error message={_quoted(first)}>{escape(why, quote=False)}</error></testcase>'


def _quoted(text: str) -> str:
    """As an attribute; line ends and tabs as XML keeps them."""
    kept = escape(clear(text)).replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;")
    return f'"{kept}"'

# SPDX-License-Identifier: Apache-2.0
"""PyEvALL's two calls."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.doors.pyevall import codes
from karat.doors.pyevall.differences import READING
from karat.doors.pyevall.frames import FrameReport
from karat.doors.pyevall.journal import Journal
from karat.doors.pyevall.names import METRICS, NOT_METRICS, RANKING, canonical
from karat.doors.pyevall.params import Params, resolve
from karat.doors.pyevall.preconditions import unmet
from karat.doors.pyevall.report import MetaReport, Report, build
from karat.doors.pyevall.result import MetricResult, Outcome
from karat.doors.pyevall.rows import File, TestCase, clean, test_cases
from karat.doors.pyevall.schema import violation
from karat.doors.pyevall.scores import Scores, Setting, score
from karat.doors.pyevall.source import Source, read
from karat.findings import finding

FilePath = str | os.PathLike[str]


class PyEvALLEvaluation:
    """Evaluates prediction files against a gold file; ``strict=True`` gives PyEvALL's numbers, bugs included."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict

    def evaluate(
        self,
        predictions: FilePath | list[Any],
        goldstandard: FilePath | list[Any],
        lst_metrics: Iterable[Any],
        load_config: bool = True,
        **params: Any,
    ) -> Any:
        """The report of one prediction file: simple (default), embedded or dataframe."""
        kind = params.get("report", "simple")
        if not (known := kind in ("simple", "embedded", "dataframe")) and not self.strict:
            raise ValueError(f"report={kind!r} is not one of simple, embedded, dataframe")
        pred, gold = given(predictions, "predictions", self.strict), given(goldstandard, "gold", self.strict)
        run = Run(pred, gold, list(names(lst_metrics, self.strict)), params, self.strict)
        results = run.results()
        if not known:
            return None  # what PyEvALL gives for a report that it does not know, once everything is computed
        report = Report(build(run.journal, results, full=kind != "simple"), run.findings)
        return FrameReport([report], self.strict) if kind == "dataframe" else report

    def evaluate_lst(
        self,
        lst_pred: Sequence[FilePath | list[Any]],
        goldstandard: FilePath | list[Any],
        lst_metrics: Iterable[Any],
        **params: Any,
    ) -> Any:
        """The reports of several prediction files in one."""
        chosen = list(lst_metrics) if not isinstance(lst_metrics, str) else lst_metrics
        reports = [self.evaluate(pred, goldstandard, chosen, **params) for pred in lst_pred]
        if params.get("report") == "dataframe":
            return FrameReport([part for report in reports for part in report.reports], self.strict)
        return MetaReport.of(reports)


def names(metrics: Iterable[Any], strict: bool) -> Iterable[str]:
    """Names as asked; one name alone is a list of one, though PyEvALL takes its letters."""
    metrics = [metrics] if isinstance(metrics, str) and not strict else metrics
    return (str(getattr(metric, "value", metric)) for metric in metrics)


@dataclass(frozen=True)
class Memory:
    """Records, or labels by position, given as a list: PyEvALL's docstrings show that, its code takes files only."""

    name: str
    values: list[Any]

    def records(self) -> list[Any]:
        return [
            value if isinstance(value, dict) else {"test_case": "", "id": str(number), "value": label(value)}
            for number, value in enumerate(self.values, 1)
        ]


def label(value: Any) -> Any:
    return str(value) if isinstance(value, (int, float)) else value


def given(side: FilePath | list[Any], role: str, strict: bool) -> Path | Memory:
    return Memory(role, side) if isinstance(side, list) and not strict else Path(side)  # type: ignore[arg-type]


class Run:
    """One evaluation of one prediction file."""

    def __init__(
        self, pred: Path | Memory, gold: Path | Memory, metrics: list[str], params: dict[str, Any], strict: bool
    ) -> None:
        self.paths = {False: pred, True: gold}
        self.metrics, self.params, self.strict = metrics, params, strict
        self.journal = Journal(pred.name, gold.name, strict)
        self.scores = Scores(params.get("hierarchy"), strict)
        self.sources: dict[bool, Source] = {}

    @property
    def findings(self) -> list[Any]:
        return self.scores.findings

    def results(self) -> list[MetricResult]:
        """One result for each metric asked for, or none where a file stopped the evaluation."""
        cases = self.test_cases()
        if self.journal.stopped:
            return []
        return list({canonical(name): self.result(canonical(name), name, cases) for name in self.metrics}.values())

    def test_cases(self) -> list[TestCase]:
        for gold in (False, True):
            self.look(gold)
        if self.unusable(True):
            return []
        for gold in (False, True):
            self.parse(gold)
        files = {gold: self.clean(gold) for gold in (False, True)}
        if self.journal.stopped:
            return []
        self.remark(files[True], files[False])
        return test_cases(files[True], files[False], self.journal, self.strict)

    def remark(self, gold: File, pred: File) -> None:
        """Where reading differs from PyEvALL's, and test cases that no prediction is for."""
        if not self.strict:
            for is_gold, source in self.sources.items():
                for note in (*source.notes, *self.oddities(source.records)):
                    self.scores.note(
                        f"{self.paths[is_gold].name}: {READING[note].what}: {READING[note].sentence('PyEvALL')}"
                    )
            absent = [name for name in gold.values if name not in pred.values]
            self.scores.add(finding("test-case-missing", self.paths[False].name, name=name) for name in absent)

    def oddities(self, records: list[Any]) -> Iterator[str]:
        """What PyEvALL makes of otherwise good files."""
        if any(isinstance(record["value"], float) for record in records):
            yield "whole-floats"
        if self.paths[False].name == self.paths[True].name and all(source.format for source in self.sources.values()):
            yield "same-name"

    def unusable(self, gold: bool) -> bool:
        path = self.paths[gold]
        return not path.values if isinstance(path, Memory) else not path.exists() or path.stat().st_size == 0

    def look(self, gold: bool) -> None:
        """Whether the file is there, and not empty."""
        if self.unusable(gold):
            self.journal.fail(gold, codes.EMPTY if self.there(gold) else codes.NOT_THERE)

    def there(self, gold: bool) -> bool:
        path = self.paths[gold]
        return isinstance(path, Memory) or path.exists()

    def parse(self, gold: bool) -> None:
        """The file's records; both files are parsed before either is cleaned."""
        path = self.paths[gold]
        if isinstance(path, Memory):
            self.sources[gold] = Source(path.records())
        elif path.exists():
            ranking = any(METRICS[key].kinds == RANKING for key in map(canonical, self.metrics) if key in METRICS)
            self.sources[gold] = read(path, self.strict, ranking, self.params.get("format"))
        if gold:
            self.announce()

    def announce(self) -> None:
        """Recognised formats first, for both files, as PyEvALL reports them."""
        for gold, source in self.sources.items():
            if source.format:
                self.journal.note(gold, source.format)
        if (
            self.strict
            and self.paths[False].name == self.paths[True].name
            and all(s.format for s in self.sources.values())
        ):
            # PyEvALL converts tables to a file of the same name in one folder: gold's takes the place of the prediction's.
            self.sources = dict.fromkeys((False, True), self.sources[True])

    def clean(self, gold: bool) -> File:
        source = self.sources.get(gold)
        if source is None:
            return File()
        if source.failure is not None:
            self.journal.fail(gold, codes.UNREADABLE, source.failure)
            return File()
        if problem := violation(source.records):
            self.journal.fail(gold, codes.SCHEMA, problem)
            return File()
        if not gold and not source.records:
            self.journal.fail(gold, codes.EMPTY)
        return clean(source.records, gold, self.journal, self.strict)

    def result(self, key: str, asked: str, cases: list[TestCase]) -> MetricResult:
        """The metric on each test case until one cannot have it."""
        if self.strict and key in NOT_METRICS:
            raise type(NOT_METRICS[key])(*NOT_METRICS[key].args)
        if key not in METRICS:
            return MetricResult(key, self.strict, error=codes.UNKNOWN_METRIC)
        params = resolve(key, asked, self.params, self.strict)
        for what in params.differences:
            self.scores.note(f"{key}: {what}")
        result = MetricResult(key, self.strict, error=None if cases else codes.NO_TEST_CASE)
        self.scores.cases, setting = cases, Setting(self.scores)
        for case in cases:
            if not self.add(result, case, params, setting):
                break
        result.warn(params.form)
        if not self.strict and any(outcome.average is None for outcome in result.outcomes.values()):
            self.scores.note(f"{key}: undefined test cases are left out of the mean; PyEvALL counts them as 0")
        return result

    def add(self, result: MetricResult, case: TestCase, params: Params, setting: Setting) -> bool:
        """One test case's outcome; False when the metric ends there."""
        for code in unmet(result.key, case, self.params.get("hierarchy"), self.strict):
            result.note(code, case.name)
        outcome = None if result.failed else score(self.scores, result.key, case, params, setting)
        if isinstance(outcome, str):
            result.note(outcome, case.name)
        result.warn([] if outcome is None else params.refused)
        if isinstance(outcome, Outcome):
            result.outcomes[case.name] = outcome
        return isinstance(outcome, Outcome)

# SPDX-License-Identifier: Apache-2.0
"""What workers do: check files, evaluate them, score submissions, compute leaderboards and comparisons."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from karat.api import evaluate, validate
from karat.contexts import context
from karat.evaluation import Evaluation
from karat.findings import Finding, InputError, any_error, finding
from karat.inputs import distinct
from karat.metric import MetricError
from karat.store import Run, Store, StoreError, compare_runs
from karat.web import benchmarks, boards, comparing, files, jobs, people, submissions
from karat.web.jobs import Job
from karat.web.limits import Limits
from karat.web.people import LOCAL
from karat.web.tables import HIDDEN
from karat.web.unpack import unpack

LINES = 40
"""Offending lines that are shown beside the findings."""
MOST = 200
"""Findings that are kept of gold."""
WIDEST = 300
"""Characters of such a line."""


@dataclass(frozen=True)
class Work:
    """One job, done by one worker."""

    store: Store
    limits: Limits
    worker: str
    job: Job

    def do(self) -> None:
        """Do the job and keep what it gives; what is wrong with its input is its result."""
        try:
            KINDS[self.job.kind](self)
        except jobs.NotMine:
            return
        except InputError as error:
            _had_room(error)
            self._fail("The files cannot be evaluated", "", error.findings)
        except StoreError as error:
            if isinstance(error.__cause__, DBAPIError):
                raise  # the database's fault, not the job's: it is done again when the database is back
            self._fail("This cannot be computed", str(error))
        except MetricError as error:
            self._fail("This cannot be computed", str(error))
        except MemoryError:
            with self.store.transaction(write=True) as connection:
                give_up(connection, self.job, self.worker, "memory")

    def _fail(self, title: str, detail: str, findings: Iterable[Finding] = ()) -> None:
        problem = {"title": title, "detail": detail, "findings": list(findings)}
        with suppress(jobs.NotMine), self.store.transaction(write=True) as connection:
            jobs.finish(connection, self.job.id, self.worker, "failed", problem=problem)
            if self.job.kind == "submission":
                submissions.settle(connection, self.job.payload["submission"], "failed")

    def _step(self, step: str) -> None:
        with self.store.transaction(write=True) as connection:
            jobs.at_step(connection, self.job.id, step)

    def _done(self, connection: Connection, result: Any = None) -> None:
        jobs.finish(connection, self.job.id, self.worker, result=result)

    # files on disk

    def _laid_out(self, folder: Path, wanted: Mapping[str, str]) -> Inputs:
        """Kept files as plain files of a folder, and what their owners call them."""
        self._step("reading")
        paths: dict[str, Path] = {}
        names: dict[str, str] = {}
        faults: list[Finding] = []
        for role, id in wanted.items():
            with self.store.transaction() as connection:
                names[role] = files.find(connection, id).name
                packed = files.write(connection, id, folder / role)
            try:
                paths[role] = unpack(packed, names[role], self.limits)
            except InputError as error:
                faults += error.findings
            finally:
                packed.unlink()
        if faults:
            raise InputError(faults)
        return Inputs(folder, paths, names)

    # kinds of job

    def check(self) -> None:
        """Look at files before they are evaluated: context, coverage, findings with their lines."""
        asked = self.job.payload
        with tempfile.TemporaryDirectory(prefix="karat-") as folder:
            inputs = self._laid_out(Path(folder), asked["files"])
            self._step("checking")
            result = looked_at(inputs, asked)
        with self.store.transaction(write=True) as connection:
            self._done(connection, result)

    def evaluation(self) -> None:
        """Evaluate files and keep the run."""
        asked = self.job.payload
        with tempfile.TemporaryDirectory(prefix="karat-") as folder:
            inputs = self._laid_out(Path(folder), asked["files"])
            self._step("scoring")
            with inputs.named():
                result = inputs.renamed(evaluated(inputs, asked, intervals=asked.get("intervals")))
        self._step("saving")

        def within(connection: Connection, run: str) -> None:
            self._done(connection, {"run": run})

        self.store.save(result, asked.get("tags", ()), within)

    def gold(self) -> None:
        """Look at the gold of a benchmark, for its organisers."""
        with self.store.transaction() as connection:
            settings = benchmarks.find(connection, self.job.payload["benchmark"]).settings
        how = {"context": settings.context, "columns": settings.columns, **settings.options}
        with tempfile.TemporaryDirectory(prefix="karat-") as folder:
            try:
                inputs = self._laid_out(Path(folder), {"gold": self.job.payload["file"]})
                self._step("checking")
                findings = inputs.called(validate(inputs.paths["gold"], **how))
                lines = offending(inputs, findings)
            except InputError as error:
                findings, lines = error.findings, {}
        with self.store.transaction(write=True) as connection:
            self._done(connection, {"good": not any_error(findings), "findings": findings[:MOST], "lines": lines})

    def submission(self) -> None:
        """Check a submission by itself, then score it."""
        with self.store.transaction() as connection:
            sent = submissions.find(connection, self.job.payload["submission"])
            benchmark = benchmarks.find(connection, sent.benchmark)
        settings = benchmark.settings
        how = {"context": settings.context, "columns": settings.columns, **settings.options}
        with tempfile.TemporaryDirectory(prefix="karat-") as folder:
            try:
                inputs = self._laid_out(Path(folder), {"pred": sent.file})
            except InputError as error:
                return self._settle(sent, "refused", error.findings)
            self._step("checking")
            # The file alone is looked at here: nothing that is found can tell anything of gold.
            findings = inputs.called(validate(inputs.paths["pred"], role="pred", **how))
            _had_room(InputError(findings))
            if any_error(findings):
                return self._settle(sent, "refused", findings)
            gold = self._laid_out(Path(folder), {"gold": benchmark.gold})
            self._step("scoring")
            try:
                evaluation = evaluate(
                    gold.paths["gold"], [inputs.paths["pred"]], names=[sent.system], metrics=settings.metrics,
                    units=True, hashes=False, **how,
                )  # fmt: skip
            except (InputError, MetricError) as error:
                _had_room(error)
                if any_error(validate(gold.paths["gold"], **how)):  # no team pays for faults of gold
                    return self._settle(sent, "failed", findings)
                return self._settle(sent, "unscored", [*findings, finding("not-scored", inputs.names["pred"])])
        scores = {str(score.metric): score.value for score in evaluation.only}
        both = Inputs(inputs.folder, inputs.paths | gold.paths, inputs.names | gold.names)

        def within(connection: Connection, run: str) -> None:
            self._done(connection, {"submission": sent.id})
            submissions.settle(connection, sent.id, "scored", run=run, scores=scores, findings=findings)
            boards.ask(connection, benchmark, sent.phase, LOCAL)

        self._step("saving")
        self.store.save(both.renamed(evaluation), [HIDDEN], within)

    def _settle(self, sent: submissions.Submission, state: str, findings: Iterable[Finding]) -> None:
        with self.store.transaction(write=True) as connection:
            self._done(connection, {"submission": sent.id})
            submissions.settle(connection, sent.id, state, findings=list(findings))

    def board(self) -> None:
        """Ranges of ranks and groups of a leaderboard."""
        with self.store.transaction() as connection:
            benchmark = benchmarks.find(connection, self.job.payload["benchmark"])
        phase = self.job.payload["phase"]
        self._step("comparing")
        basis, places = boards.compute(self.store, benchmark, phase)
        with self.store.transaction(write=True) as connection:
            boards.keep(connection, benchmark.id, phase, basis, places)
            self._done(connection)

    def _named(self, run: Run) -> Run:
        """A run of a submission with the team before the system's name: teams call their systems alike."""
        with self.store.transaction() as connection:
            sent = submissions.of_run(connection, run.id)
            team = people.find(connection, sent.team) if sent else None
        return boards.named(run, f"{team.name}: {run.evaluation.only.name}") if team else run

    def comparison(self) -> None:
        """Compare the systems of runs, ready to be shown and downloaded."""
        asked = self.job.payload
        self._step("comparing")
        runs = [self._named(self.store[name]) for name in asked["runs"]]
        compared = compare_runs(
            runs, asked["metrics"] or None, systems=asked["systems"], baseline=asked["baseline"] or None
        )
        names = distinct([s.name for run in runs for s in run.evaluation.systems])
        places = [(id, s.name) for id in asked["runs"] for s in self.store[id].evaluation.systems]
        result = comparing.shown(compared) | {"places": dict(zip(names, places, strict=True))}
        with self.store.transaction(write=True) as connection:
            self._done(connection, result)


def _had_room(error: Exception) -> None:
    """What the server lacks is no fault of a file: with room on its disk again, the job is done again."""
    codes = {f.code for f in error.findings} if isinstance(error, InputError) else set()
    if "disk-full" in codes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
    if "out-of-memory" in codes:
        raise MemoryError from error


KINDS: dict[str, Callable[[Work], None]] = {
    "gold": Work.gold, "check": Work.check, "evaluation": Work.evaluation, "submission": Work.submission, "board": Work.board,
    "comparison": Work.comparison,
}  # fmt: skip


def give_up(connection: Connection, job: Job, worker: str, what: str) -> None:
    """End a job that needs more than the server gives."""
    over = finding("over-limit", None, what=what)
    with suppress(jobs.NotMine):
        problem = {"title": "This is more than the server does", "detail": over.message, "findings": [over]}
        jobs.finish(connection, job.id, worker, "failed", problem=problem)
        if job.kind == "submission":
            submissions.settle(connection, job.payload["submission"], "unscored", findings=[over])


def abandon(connection: Connection, job: Job, worker: str) -> None:
    """End a job over which too many workers died."""
    with suppress(jobs.NotMine):
        problem = {"title": "The server failed at this", "detail": "Nothing is lost; tell whoever runs the server."}
        jobs.finish(connection, job.id, worker, "failed", problem=problem | {"findings": []})
        if job.kind == "submission":
            submissions.settle(connection, job.payload["submission"], "failed")


@dataclass(frozen=True)
class Inputs:
    """Files on disk by role, and what their owners call them."""

    folder: Path
    paths: dict[str, Path]
    names: dict[str, str]

    @property
    def systems(self) -> list[str]:
        return [role for role in self.paths if role != "gold"]

    def named(self) -> Naming:
        return Naming(self)

    def called(self, findings: Iterable[Finding]) -> list[Finding]:
        """Findings that name files as their owners do, and no folder of the server."""
        return [self._called(f) for f in findings]

    def _called(self, f: Finding) -> Finding:
        names = {str(path): self.names[role] for role, path in self.paths.items()}
        message, hint = f.message, f.hint
        for path, name in names.items():
            message, hint = message.replace(path, name), hint.replace(path, name)
        message, hint = (text.replace(str(self.folder), "") for text in (message, hint))
        return Finding(f.code, f.severity, message, hint, names.get(f.file or "", f.file), f.line)

    def renamed(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation with the files' own names."""
        names = {str(path): self.names[role] for role, path in self.paths.items()}
        inputs = [i | {"path": names.get(i["path"], i["path"])} for i in evaluation.provenance["inputs"]]
        systems = [replace(s, findings=self.called(s.findings)) for s in evaluation.systems]
        return replace(evaluation, systems=systems, provenance=evaluation.provenance | {"inputs": inputs})


class Naming:
    """Errors that pass through name files as their owners do."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError):
            raise InputError(self.inputs.called(error.findings)) from None


def evaluated(inputs: Inputs, asked: Mapping[str, Any], **more: Any) -> Evaluation:
    """The evaluation that a form or a request asks for."""
    systems = inputs.systems
    return evaluate(
        inputs.paths["gold"], [inputs.paths[r] for r in systems], names=[stem(inputs.names[r]) for r in systems],
        context=asked.get("context") or None, metrics=asked.get("metrics") or None, columns=asked.get("columns") or {},
        units=True, hashes=True, slices=asked.get("slices") or None, cluster_by=asked.get("cluster_by") or None,
        **asked.get("options", {}), **more,
    )  # fmt: skip


def stem(name: str) -> str:
    """A file's name without its endings.

    >>> stem("careful.tsv.gz"), stem(".tsv")
    ('careful', '.tsv')
    """
    return name.split(".")[0] or name


def looked_at(inputs: Inputs, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of files before they are evaluated."""
    try:
        evaluation = evaluated(inputs, asked)
    except InputError as error:
        findings = inputs.called(error.findings)
        return {
            "ready": False,
            "findings": findings,
            "lines": offending(inputs, findings),
            "context": asked.get("context"),
        }
    findings = inputs.called(evaluation.findings)
    return {
        "ready": True,
        "context": evaluation.context,
        "findings": findings,
        "lines": offending(inputs, findings),
        "metrics": list(context(evaluation.context).metrics),
        "computed": [str(m) for m in evaluation.metrics],
        "inputs": inputs.renamed(evaluation).provenance["inputs"],
        "coverage": {s.name: s.counts for s in evaluation.systems},
    }


def offending(inputs: Inputs, findings: Iterable[Finding]) -> dict[str, dict[str, str]]:
    """The lines that findings speak of, by file and number."""
    wanted: dict[str, set[int]] = {}
    for f in islice((f for f in findings if f.line and f.file), LINES):
        wanted.setdefault(str(f.file), set()).add(int(f.line or 0))
    out: dict[str, dict[str, str]] = {}
    for role, name in inputs.names.items():
        if name in wanted:
            with inputs.paths[role].open("rb") as file:
                near = ((n, line) for n, line in enumerate(islice(file, max(wanted[name])), 1) if n in wanted[name])
                out[name] = {str(n): line.decode("utf-8", "replace").rstrip("\r\n")[:WIDEST] for n, line in near}
    return out

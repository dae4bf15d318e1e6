# SPDX-License-Identifier: Apache-2.0
"""The poetry excerpt evaluation's interface: pages with reference excerpts and a system's spans.

    from karat.doors.poetry_spans import PageEvaluation, PageReferenceSpans, PageSystemSpans, write_page_evals

The numbers are the script's. What made it die is a finding: a page that the system file lacks counts as an empty
answer, and references that cannot cut a system span between them are scored (``strict=True`` raises, as it did).
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from karat.columns import Numbering
from karat.contexts.spans.excerpts import Excerpts, Pages, Rule, excerpts, score_pages
from karat.contexts.spans.span import Spans
from karat.doors.kit.differences import Difference
from karat.findings import Finding, InputError, finding, limited
from karat.read.fast.span_lines import Chosen, read_columns
from karat.read.source import Source
from karat.read.span_names import Names

COUNTS = {
    "n_span_matches": "matched",
    "n_span_misses": "missed",
    "n_span_spurious": "spurious",
    "n_poem_matches": "poems_matched",
    "n_poem_misses": "poems_missed",
    "n_poem_spurious": "poems_spurious",
}
COLUMNS = ["page_id", "precision", "recall", *COUNTS]
REVERSED = "Start index must be less than end index"

DIFFERENCES = [
    Difference("pages that the system file lacks", "a traceback and a partial CSV file", "empty answers, with one warning that counts them"),
    Difference("an empty reference file, a line that is no page, a weight outside [0, 1]", "a traceback, or a number without meaning", "findings with their lines, exit code 2, no file"),
    Difference("references that overlap and choose one span", "a traceback", "scored, with a warning; one that gets no piece of the span is in no pair (`strict=True` raises)"),
    Difference("the output file is there already", "exit code 1", "exit code 2; `--force` replaces it"),
    Difference("blank lines", "a traceback", "skipped"),
]  # fmt: skip


@dataclass
class Span:
    """The characters from ``start`` up to, not including, ``end`` of a page, and the poem that they are from."""

    start: int
    end: int
    label: Any

    def __post_init__(self) -> None:
        if not (isinstance(self.start, int) and isinstance(self.end, int)):
            raise TypeError(f"offsets must be whole numbers, not {self.start!r} and {self.end!r}")
        if self.end <= self.start:
            raise ValueError(REVERSED)
        if max(-self.start, self.end) >= 2**63:
            raise ValueError(f"offsets {self.start} and {self.end} are beyond 64 bits")

    def __len__(self) -> int:
        return self.end - self.start

    def has_overlap(self, other: Span, ignore_label: bool = False) -> bool:
        return self.overlap_length(other, ignore_label) > 0

    def is_exact_match(self, other: Span, ignore_label: bool = False) -> bool:
        same = (self.start, self.end) == (other.start, other.end)
        return same and (ignore_label or bool(self.label == other.label))

    def overlap_length(self, other: Span, ignore_label: bool = False) -> int:
        """Shared characters; 0 where the labels differ, unless they are ignored."""
        if not ignore_label and self.label != other.label:
            return 0
        return max(0, min(self.end, other.end) - max(self.start, other.start))

    def overlap_factor(self, other: Span, ignore_label: bool = False) -> float:
        """Shared characters over the longer of the two.

        >>> Span(0, 10, "a").overlap_factor(Span(5, 10, "a"))  # 5 of 10
        0.5
        """
        return self.overlap_length(other, ignore_label) / max(len(self), len(other))


def in_order(spans: Iterable[Span]) -> list[Span]:
    return sorted(spans, key=lambda span: (span.start, span.end))


def listed(page_json: Mapping[str, Any], count: str, field: str) -> Sequence[Mapping[str, Any]]:
    """The spans of a page; a count of 0 hides them, any other number is believed to be right."""
    if not isinstance(page_json, Mapping):
        raise TypeError(f"it is {json.dumps(page_json):.40}, not an object with fields")
    if not isinstance(page_json[count], (int, float)):
        raise TypeError(f"{count} is {page_json[count]!r}, not a number")
    spans = page_json[field] if page_json[count] > 0 else []
    if not isinstance(spans, (list, tuple)) or not all(isinstance(span, Mapping) for span in spans):
        raise TypeError(f"{field} is not a list of objects")
    return spans


class PageReferenceSpans:
    """A line of the reference file."""

    def __init__(self, page_json: Mapping[str, Any]) -> None:
        excerpts = listed(page_json, "n_excerpts", "excerpts")
        self.page_id = page_json["page_id"]
        self.spans = in_order(Span(span["start"], span["end"], span["poem_id"]) for span in excerpts)


class PageSystemSpans:
    """A line of the system file; without labels, spans that overlap are one."""

    def __init__(self, page_json: Mapping[str, Any]) -> None:
        spans = listed(page_json, "n_spans", "poem_spans")
        self.page_id = page_json["page_id"]
        self.labeled_spans = in_order(Span(span["page_start"], span["page_end"], span["ref_id"]) for span in spans)

    @property
    def unlabeled_spans(self) -> list[Span]:
        merged: list[Span] = []
        for span in self.labeled_spans:
            if merged and span.start < merged[-1].end:
                merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end), "")
            else:
                merged.append(Span(span.start, span.end, ""))
        return merged


@dataclass(eq=False)
class Both:
    """Many pages: their ids, and the references' and the system's spans over one list of labels."""

    ids: Sequence[Any]
    gold: Spans
    pred: Spans
    blank: int = -1
    """Code of the empty label."""

    @classmethod
    def of(cls, ids: Sequence[Any], gold: Sequence[list[Span]], pred: Sequence[list[Span]]) -> Both:
        codes = Codes()
        return cls(ids, columns(gold, codes), columns(pred, codes), codes.of(""))

    def matched(self, ignore_label: bool) -> Matching:
        matches = excerpts(self.gold, self.pred, Rule(ignore_label))
        unnamed = self.gold.unit[self.gold.label == self.blank] if ignore_label else []
        return Matching(matches, len(self.ids), ignore_label, unnamed)


@dataclass(eq=False)
class Matching:
    """Many pages matched at once."""

    excerpts: Excerpts
    size: int
    ignore_label: bool
    unnamed: Any
    """Pages with a reference without a name: without labels, what the system found is called the same."""

    def scored(self, weight: float) -> Pages:
        pages = score_pages(
            self.excerpts, self.size, partial_weight=weight, ignore_label=self.ignore_label, compat=True
        )
        pages.poems_spurious[self.unnamed] = 0
        return pages


class Codes:
    """Labels as numbers; whatever is equal is the same label, also 1 and 1.0."""

    def __init__(self) -> None:
        self._codes: dict[Any, int] = {}

    def of(self, label: Any) -> int:
        try:
            return self._codes.setdefault(label, len(self._codes))
        except TypeError:  # lists and objects
            return self._codes.setdefault(("json", json.dumps(label, sort_keys=True)), len(self._codes))


def columns(pages: Sequence[list[Span]], codes: Codes) -> Spans:
    rows = [(page, span.start, span.end, codes.of(span.label)) for page, spans in enumerate(pages) for span in spans]
    return Spans.of(*(zip(*rows, strict=True) if rows else ([], [], [], [])))


def columns_of(pages: Pages) -> dict[str, list[Any]]:
    """The scores and counts by page; a side without spans gives the whole number 1 or 0, as the script writes them."""
    sides = {"precision": (pages.pred, pages.gold), "recall": (pages.gold, pages.pred)}
    out = {name: getattr(pages, name).tolist() for name in sides} | {
        name: getattr(pages, field).tolist() for name, field in COUNTS.items()
    }
    for name, (mine, other) in sides.items():
        for page in np.flatnonzero(mine == 0).tolist():
            out[name][page] = int(not other[page])
    return out


class PageEvaluation:
    """One page: which reference found which span, and the scores."""

    def __init__(
        self,
        page_ref_spans: PageReferenceSpans,
        page_sys_spans: PageSystemSpans,
        ignore_label: bool = False,
        strict: bool = False,
    ) -> None:
        if page_ref_spans.page_id != page_sys_spans.page_id:
            raise ValueError("Reference and system spans must correspond to the same page")
        self.page_id, self.ignore_label = page_ref_spans.page_id, ignore_label
        self.ref_spans = page_ref_spans.spans
        self.sys_spans = page_sys_spans.unlabeled_spans if ignore_label else page_sys_spans.labeled_spans
        self._matching = Both.of([self.page_id], [self.ref_spans], [self.sys_spans]).matched(ignore_label)
        if strict and self._matching.scored(1).cut_wrong[0]:
            raise ValueError(REVERSED)

    @cached_property
    def ref_to_sys(self) -> list[int | None]:
        """For each reference the number of its system span."""
        return [choice if choice >= 0 else None for choice in self._matching.excerpts.choice.tolist()]

    @cached_property
    def sys_to_refs(self) -> list[list[int]]:
        """For each system span the references that chose it."""
        return [[ref for ref, row in enumerate(self.ref_to_sys) if row == nth] for nth in range(len(self.sys_spans))]

    @cached_property
    def span_pairs(self) -> list[tuple[Span, Span]]:
        """References with their (piece of a) system span, in the system's order; without those that got no piece."""
        matches = self._matching.excerpts
        pieces = zip(matches.rows.tolist(), matches.piece_start.tolist(), matches.piece_end.tolist(), strict=True)
        label = [span.label for span in self.sys_spans]
        return [
            (self.ref_spans[ref], Span(start, end, label[matches.choice[ref]]))
            for ref, start, end in pieces
            if start < end
        ]

    def precision(self, partial_match_weight: float = 1) -> float:
        return self._row(partial_match_weight)["precision"]

    def recall(self, partial_match_weight: float = 1) -> float:
        return self._row(partial_match_weight)["recall"]

    def evaluate(self, partial_match_weight: float = 1) -> dict[str, Any]:
        """The page's row; as in the script, what was spurious comes last here."""
        row = self._row(partial_match_weight)
        order = sorted(row, key=lambda name: name.endswith("_spurious"))
        return {"page_id": self.page_id} | {name: row[name] for name in order}

    def _row(self, weight: float) -> dict[str, Any]:
        return {name: column[0] for name, column in columns_of(self._matching.scored(weight)).items()}


def get_page_eval(
    ref_json: Mapping[str, Any], sys_json: Mapping[str, Any], ignore_label: bool = False, strict: bool = False
) -> PageEvaluation:
    return PageEvaluation(PageReferenceSpans(ref_json), PageSystemSpans(sys_json), ignore_label, strict)


def get_page_evals(
    ref_file: str | os.PathLike[str],
    sys_file: str | os.PathLike[str],
    ignore_label: bool = False,
    disable_progress: bool = True,
) -> Iterator[PageEvaluation]:
    """One evaluation a reference page; a page that the system file lacks has no spans."""
    refs, systems, findings = both_files(ref_file, sys_file)
    warn(findings)
    for ref in refs:
        yield PageEvaluation(ref, systems.get(ref.page_id) or nothing(ref.page_id), ignore_label)


def nothing(page_id: Any) -> PageSystemSpans:
    return PageSystemSpans({"page_id": page_id, "n_spans": 0})


def warn(findings: Iterable[Finding]) -> None:
    for f in findings:
        warnings.warn(str(f), stacklevel=3)


@dataclass(eq=False)
class FileScores:
    """A whole run: the nine columns of its pages, their means, and what was found on the way."""

    columns: dict[str, list[Any]]
    findings: list[Finding]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]

    @property
    def summary(self) -> str:
        pages = len(self.columns["page_id"])
        precision, recall = (sum(self.columns[name]) / pages for name in ("precision", "recall"))
        return f"Overall: {pages} Pages | Precision = {precision:.4g} | Recall = {recall:.4g}"

    def csv(self) -> str:
        """The rows as Python's csv module writes them."""
        ids, *numbers = self.columns.values()
        rows = zip(map(as_csv, ids), *map(as_texts, numbers), strict=True)
        return "".join(f"{line}\r\n" for line in (",".join(COLUMNS), *map(",".join, rows)))

    def write(self, out_csv: str | os.PathLike[str]) -> None:
        """The file appears whole or not at all."""
        target = Path(out_csv)
        partial = target.with_name(target.name + ".partial")
        try:
            partial.write_text(self.csv(), encoding="utf-8", newline="")
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)


def as_csv(value: Any) -> str:
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if re.search('[",\r\n]', text) else text


def as_texts(numbers: list[Any]) -> list[str]:
    """Numbers as Python writes them; the encoder does too, many times as fast, where Python writes no exponent."""
    if 0 < min(filter(None, numbers), default=1) < 1e-4:
        return list(map(repr, numbers))
    return msgspec.json.encode(numbers).decode()[1:-1].split(",")


def evaluate_files(
    ref_file: str | os.PathLike[str],
    sys_file: str | os.PathLike[str],
    ignore_label: bool = False,
    partial_match_weight: float = 1,
) -> FileScores:
    """All pages of two files at once."""
    if not 0 <= partial_match_weight <= 1:
        problem = f"weight {partial_match_weight} is not in [0, 1]"
        raise InputError([finding("bad-option", message=problem, way_out="give a share from 0 to 1")])
    both, findings = read_files(ref_file, sys_file)
    scores = both.matched(ignore_label).scored(partial_match_weight)
    cut = [both.ids[page] for page in np.flatnonzero(scores.cut_wrong).tolist()]
    findings += counted("excerpt-cut", ref_file, cut)
    return FileScores({"page_id": list(both.ids)} | columns_of(scores), findings)


def counted(code: str, file: str | os.PathLike[str], pages: Sequence[Any]) -> list[Finding]:
    """One finding for all pages of which something is to be said, with the first of them."""
    shown = ", ".join(map(str, pages[:3]))
    return [finding(code, os.fspath(file), count=len(pages), examples=shown)] if pages else []


def read_files(ref_file: str | os.PathLike[str], sys_file: str | os.PathLike[str]) -> tuple[Both, list[Finding]]:
    """The pages of two files, and what was found on the way."""
    if both := uniform_files(ref_file, sys_file):
        return both, []
    refs, systems, findings = both_files(ref_file, sys_file)
    answers = [systems.get(ref.page_id) or nothing(ref.page_id) for ref in refs]
    spans = [ref.spans for ref in refs], [page.labeled_spans for page in answers]
    return Both.of([ref.page_id for ref in refs], *spans), findings


REFERENCE: Chosen = (
    {"id": "page_id", "spans": "excerpts", "count": "n_excerpts"},
    {"start": "start", "end": "end", "label": "poem_id"},
)
SYSTEM: Chosen = (
    {"id": "page_id", "spans": "poem_spans", "count": "n_spans"},
    {"start": "page_start", "end": "page_end", "label": "ref_id"},
)


def uniform_files(ref_file: str | os.PathLike[str], sys_file: str | os.PathLike[str]) -> Both | None:
    """Two files of uniform lines about the same pages, if nothing is wrong with them."""
    with ExitStack() as stack:
        try:
            gold = read_columns(
                Source(ref_file, stack), lambda page: REFERENCE if _are_texts(page, *REFERENCE) else None
            )
            pred = read_columns(Source(sys_file, stack), lambda page: SYSTEM if _are_texts(page, *SYSTEM) else None)
        except InputError:
            return None
    if gold is None or pred is None or gold.ids != pred.ids or len(set(gold.ids)) < len(gold.ids):
        return None
    codes = Numbering()
    mine, theirs = (
        Spans(side.unit, side.start, side.end, codes.codes(side.labels, len(side.labels))[side.label]).in_place()
        for side in (gold, pred)
    )
    if np.any(mine.end <= mine.start) or np.any(theirs.end <= theirs.start):
        return None
    return Both(gold.ids, mine, theirs, codes.get("", -1))


def _are_texts(page: dict[str, Any], names: Names, places: Names) -> bool:
    spans = page[names["spans"]]
    values = (page[names["id"]], *(span[places["label"]] for span in spans))
    return bool(spans) and all(isinstance(value, str) for value in values)


def both_files(
    ref_file: str | os.PathLike[str], sys_file: str | os.PathLike[str]
) -> tuple[list[PageReferenceSpans], dict[Any, PageSystemSpans], list[Finding]]:
    """Reference pages in order, system pages by id (the last line of an id counts), and warnings."""
    refs, wrong = pages_of(ref_file, PageReferenceSpans)
    systems, wrong_too = pages_of(sys_file, PageSystemSpans)
    if wrong or wrong_too:
        raise InputError(wrong + wrong_too)
    by_id = {page.page_id: page for page in systems}
    missing = [ref.page_id for ref in refs if ref.page_id not in by_id]
    return refs, by_id, counted("page-missing", sys_file, missing)


def pages_of(path: str | os.PathLike[str], kind: type[Any]) -> tuple[list[Any], list[Finding]]:
    """A page for each line that is not blank; what cannot be read becomes a finding with its line."""
    pages: list[Any] = []
    wrong: list[Finding] = []
    try:
        with ExitStack() as stack:
            source = Source(path, stack)
            for number, line in enumerate(source.lines(), 1):
                try:
                    pages += [page_of(line, kind)] if line.strip() else []
                except (ValueError, TypeError, KeyError, RecursionError) as error:
                    wrong.append(finding("bad-page", source.name, number, reason=wording(error)))
    except InputError as error:
        return [], error.findings
    if not pages and not wrong:
        wrong = [finding("no-records", source.name)]
    return pages, limited(wrong)


def page_of(line: bytes, kind: type[Any]) -> Any:
    page = kind(msgspec.json.decode(line))
    if isinstance(page.page_id, (list, dict)):
        raise TypeError("page_id is a list or an object")
    return page


def wording(error: Exception) -> str:
    return f"no field {error}" if isinstance(error, KeyError) else str(error)


def write_page_evals(
    ref_file: str | os.PathLike[str],
    sys_file: str | os.PathLike[str],
    out_csv: str | os.PathLike[str],
    ignore_label: bool = False,
    partial_match_weight: float = 1,
    disable_progress: bool = True,
) -> FileScores:
    """Write the rows as CSV and print their means, as the script does."""
    scores = evaluate_files(ref_file, sys_file, ignore_label, partial_match_weight)
    scores.write(out_csv)
    warn(scores.findings)
    print(scores.summary)
    return scores

# SPDX-License-Identifier: Apache-2.0
"""The poetry excerpt evaluation's interface: pages with reference excerpts and a system's spans.

    from karat.doors.poetry_spans import PageEvaluation, PageReferenceSpans, PageSystemSpans, write_page_evals

The numbers are the script's. What made it die is a finding: a page that the system file lacks counts as an empty
answer, and references that cannot cut a system span between them are scored (``strict=True`` raises, as it did).
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from karat.contexts.spans.excerpts import Excerpts, Pages, Rule, excerpts, score_pages
from karat.contexts.spans.span import Spans
from karat.findings import Finding, InputError, finding
from karat.read.source import Source
from karat.read.spans_columns import Names
from karat.read.spans_uniform import read_named

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
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@dataclass(frozen=True)
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


class PageReferenceSpans:
    """A line of the reference file."""

    def __init__(self, page_json: Mapping[str, Any]) -> None:
        self.page_id = page_json["page_id"]
        found = page_json["excerpts"] if page_json["n_excerpts"] > 0 else []
        self.spans = in_order(Span(one["start"], one["end"], one["poem_id"]) for one in found)


class PageSystemSpans:
    """A line of the system file; without labels, spans that overlap are one."""

    def __init__(self, page_json: Mapping[str, Any]) -> None:
        self.page_id = page_json["page_id"]
        found = page_json["poem_spans"] if page_json["n_spans"] > 0 else []
        self.labeled_spans = in_order(Span(one["page_start"], one["page_end"], one["ref_id"]) for one in found)

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
        found = excerpts(self.gold, self.pred, Rule(ignore_label))
        unnamed = self.gold.unit[self.gold.label == self.blank] if ignore_label else []
        return Matching(found, len(self.ids), ignore_label, unnamed)


@dataclass(eq=False)
class Matching:
    """Many pages matched at once."""

    found: Excerpts
    size: int
    ignore_label: bool
    unnamed: Any
    """Pages with a reference without a name: without labels, what the system found is called the same."""

    def scored(self, weight: float) -> Pages:
        pages = score_pages(self.found, self.size, partial_weight=weight, ignore_label=self.ignore_label, compat=True)
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
    rows = [(page, one.start, one.end, codes.of(one.label)) for page, spans in enumerate(pages) for one in spans]
    return Spans.of(*(zip(*rows, strict=True) if rows else ([], [], [], [])))


def rows_of(pages: Pages) -> list[dict[str, Any]]:
    """A row a page; a side without spans gives the whole number 1 or 0, as the script writes them."""
    sides = ((pages.precision, pages.pred, pages.gold), (pages.recall, pages.gold, pages.pred))
    shares = [
        [share if mine else int(not other) for share, mine, other in zip(*(c.tolist() for c in side), strict=True)]
        for side in sides
    ]
    counted = [getattr(pages, name).tolist() for name in COUNTS.values()]
    return [dict(zip(COLUMNS[1:], row, strict=True)) for row in zip(*shares, *counted, strict=True)]


class PageEvaluation:
    """One page: which reference found which span, and the scores."""

    def __init__(
        self, ref: PageReferenceSpans, sys: PageSystemSpans, ignore_label: bool = False, strict: bool = False
    ) -> None:
        if ref.page_id != sys.page_id:
            raise ValueError("Reference and system spans must correspond to the same page")
        self.page_id, self.ignore_label = ref.page_id, ignore_label
        self.ref_spans = ref.spans
        self.sys_spans = sys.unlabeled_spans if ignore_label else sys.labeled_spans
        self._matching = Both.of([ref.page_id], [ref.spans], [self.sys_spans]).matched(ignore_label)
        if strict and self._matching.scored(1).cut_wrong[0]:
            raise ValueError(REVERSED)

    @cached_property
    def ref_to_sys(self) -> list[int | None]:
        """For each reference the number of its system span."""
        return [choice if choice >= 0 else None for choice in self._matching.found.choice.tolist()]

    @cached_property
    def sys_to_refs(self) -> list[list[int]]:
        """For each system span the references that chose it."""
        return [[ref for ref, one in enumerate(self.ref_to_sys) if one == nth] for nth in range(len(self.sys_spans))]

    @cached_property
    def span_pairs(self) -> list[tuple[Span, Span]]:
        """References with their (piece of a) system span, in the system's order."""
        found = self._matching.found
        pieces = zip(found.rows.tolist(), found.piece_start.tolist(), found.piece_end.tolist(), strict=True)
        label = [span.label for span in self.sys_spans]
        return [(self.ref_spans[ref], Span(start, end, label[found.choice[ref]])) for ref, start, end in pieces]

    def precision(self, partial_match_weight: float = 1) -> float:
        return self._row(partial_match_weight)["precision"]

    def recall(self, partial_match_weight: float = 1) -> float:
        return self._row(partial_match_weight)["recall"]

    def evaluate(self, partial_match_weight: float = 1) -> dict[str, Any]:
        """The page's row."""
        return {"page_id": self.page_id} | self._row(partial_match_weight)

    def _row(self, weight: float) -> dict[str, Any]:
        return rows_of(self._matching.scored(weight))[0]


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
    refs, systems, _ = both_files(Path(ref_file), Path(sys_file))
    for ref in refs:
        yield PageEvaluation(ref, systems.get(ref.page_id, nothing(ref.page_id)), ignore_label)


def nothing(page_id: Any) -> PageSystemSpans:
    return PageSystemSpans({"page_id": page_id, "n_spans": 0})


@dataclass
class FileScores:
    """A whole run: a row a page, their means, and what was found on the way."""

    rows: list[dict[str, Any]]
    findings: list[Finding]

    @property
    def summary(self) -> str:
        precision, recall = (sum(one[name] for one in self.rows) / len(self.rows) for name in ("precision", "recall"))
        return f"Overall: {len(self.rows):,} Pages | Precision = {precision:.4g} | Recall = {recall:.4g}"

    def csv(self) -> str:
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        writer.writerows(row.values() for row in self.rows)
        return text.getvalue()


def evaluate_files(
    ref_file: Path, sys_file: Path, ignore_label: bool = False, partial_match_weight: float = 1
) -> FileScores:
    """All pages of two files at once."""
    if not 0 <= partial_match_weight <= 1:
        problem = f"weight {partial_match_weight} is not in [0, 1]"
        raise InputError([finding("bad-option", message=problem, way_out="give a share from 0 to 1")])
    both, findings = read_files(ref_file, sys_file)
    scores = both.matched(ignore_label).scored(partial_match_weight)
    findings += [
        finding("excerpt-cut", ref_file.name, page=both.ids[page]) for page in np.flatnonzero(scores.cut_wrong).tolist()
    ]
    rows = zip(both.ids, rows_of(scores), strict=True)
    return FileScores([{"page_id": page_id} | row for page_id, row in rows], findings)


def read_files(ref_file: Path, sys_file: Path) -> tuple[Both, list[Finding]]:
    """The pages of two files, and what was found on the way."""
    if both := uniform_files(ref_file, sys_file):
        return both, []
    refs, systems, findings = both_files(ref_file, sys_file)
    found = [systems.get(ref.page_id) or nothing(ref.page_id) for ref in refs]
    spans = [ref.spans for ref in refs], [one.labeled_spans for one in found]
    return Both.of([ref.page_id for ref in refs], *spans), findings


REFERENCE = Names("page_id", "excerpts", None, "n_excerpts", {"start": "start", "end": "end", "label": "poem_id"})
SYSTEM = Names("page_id", "poem_spans", None, "n_spans", {"start": "page_start", "end": "page_end", "label": "ref_id"})


def uniform_files(ref_file: Path, sys_file: Path) -> Both | None:
    """Two files of uniform lines about the same pages, if nothing is wrong with them."""
    with ExitStack() as stack:
        try:
            gold, pred = (
                read_named(Source(path, stack), names) for path, names in ((ref_file, REFERENCE), (sys_file, SYSTEM))
            )
        except InputError:
            return None
    if gold is None or pred is None or gold.ids != pred.ids or len(set(gold.ids)) < len(gold.ids):
        return None
    mine, theirs = (side.spans.in_place() for side in (gold, pred) if side.spans is not None)
    if np.any(mine.end <= mine.start) or np.any(theirs.end <= theirs.start):
        return None
    code = {label: nth for nth, label in enumerate(gold.labels)}
    codes = np.array([code.setdefault(label, len(code)) for label in pred.labels], dtype=np.int64)
    return Both(
        list(gold.ids), mine, Spans(theirs.unit, theirs.start, theirs.end, codes[theirs.label]), code.get("", -1)
    )


def both_files(
    ref_file: Path, sys_file: Path
) -> tuple[list[PageReferenceSpans], dict[Any, PageSystemSpans], list[Finding]]:
    """Reference pages in order, system pages by id (the last line of an id counts), and warnings."""
    wrong: list[Finding] = []
    refs: list[PageReferenceSpans] = list(pages_of(ref_file, PageReferenceSpans, wrong))
    systems = {one.page_id: one for one in pages_of(sys_file, PageSystemSpans, wrong)}
    if not refs and not wrong:
        wrong.append(finding("no-records", ref_file.name))
    if wrong:
        raise InputError(wrong)
    missing = [ref.page_id for ref in refs if ref.page_id not in systems]
    return refs, systems, [finding("page-missing", sys_file.name, page=page) for page in missing]


def pages_of(path: Path, kind: type[Any], wrong: list[Finding]) -> Iterator[Any]:
    """A page for each line that is not blank; what cannot be read becomes a finding with its line."""
    try:
        with OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8") as lines:
            numbered = list(enumerate(lines, 1))
    except FileNotFoundError:
        wrong.append(finding("file-missing", path.name, path=str(path)))
        return
    except (OSError, EOFError, UnicodeDecodeError) as error:
        wrong.append(finding("file-unreadable", path.name, reason=str(error)))
        return
    for number, line in numbered:
        if line.strip():
            try:
                page = kind(json.loads(line))
                hash(page.page_id)
                yield page
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                wrong.append(finding("bad-page", path.name, number, reason=said(error)))


def said(error: Exception) -> str:
    return f"no field {error}" if isinstance(error, KeyError) else str(error)


def write_page_evals(
    ref_file: str | os.PathLike[str],
    sys_file: str | os.PathLike[str],
    out_csv: str | os.PathLike[str],
    ignore_label: bool = False,
    partial_match_weight: float = 1,
    disable_progress: bool = True,
) -> FileScores:
    """The rows as CSV; the file appears whole or not at all."""
    scores = evaluate_files(Path(ref_file), Path(sys_file), ignore_label, partial_match_weight)
    target = Path(out_csv)
    partial = target.with_name(target.name + ".partial")
    try:
        partial.write_text(scores.csv(), encoding="utf-8", newline="")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return scores

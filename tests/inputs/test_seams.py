# SPDX-License-Identifier: Apache-2.0
"""What is odd in a file is read, scored and said alike wherever it stands and however large the file is.

Each of the oddities of a reader stands first, in the middle and last, behind the records that a reader looks at to
learn what a file holds, and behind the bytes that it takes at once: by small blocks here, by large files in the sweep.
"""

from __future__ import annotations

import inspect
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import karat
import karat.columns
import karat.in_place
import karat.read
from karat.findings import Finding
from karat.read import FORMATS
from tests.fuzz.formats import has_spacy
from tests.inputs.odd_tables import TABLES
from tests.inputs.oddities import READERS as TEXTS
from tests.inputs.oddities import Reader

READERS = TEXTS | TABLES

QUICK = 8
"""Oddities of a reader that the normal run tries; the sweep tries all of them."""
LEAST = 60
NUMBER = re.compile(r"\b\d+\b")
"""Places in a file, which differ."""
THRESHOLDS = {
    "karat.read.table.WAITING": 6,
    "karat.read.json.BLOCK": 150,
    "karat.read.json.FIRST": 60,
    "karat.read.json.PART": 40,
    "karat.read.json.AT_ONCE": 2,
    "karat.read.json.NEAR": 40,
    "karat.read.source.HEAD": 150,
    "karat.read.conll.HEAD": 4,
    "karat.read.delimited.SAMPLE": 4,
    "karat.read.trec._BLOCK": 60,
    "karat.in_place.MOST_VALUES": 4,
    "karat.in_place.MOST_LONE": 4,
    "karat.read.spans.BLOCK": 150,
    "karat.read.spans.HEAD": 150,
    "karat.read.fast.uniform.BLOCK": 300,
    "karat.read.fast.span_lines.SAMPLE": 2,
    "karat.read.fast.trec.CHUNK": 60,
    "karat.read.source.BLOCK": 64,
    "karat.columns.BLOCK": 3,
    "karat.columns.ADDRESSES": 4,
    "karat.columns.HEAD": 2,
    "karat.read.fast.decimals._BLOCK": 3,
    "karat.read.fast.tag_bytes.BLOCK": 2,
}
"""What readers take at once, made small; the sweep passes them as they are."""
NO_SEAMS = {
    "karat.read.delimited.LONGEST_ROW": "of one row, said in a finding",
    "karat.read.fast.uniform.WIDEST": "of one text; longer ones are among the oddities",
    "karat.read.json.MOST_DIGITS": "of one number, said in a finding",
    "karat.read.pages.MOST_PAGES": "of one stream, said in a finding",
    "karat.read.roles.MOST_TEXTS": "of the texts beside the records, which no score reads",
    "karat.read.source.LEAST": "of what is unpacked, said in a finding",
    "karat.read.source.MOST": "of what is unpacked, said in a finding",
    "karat.read.source.LONGEST_RECORD": "of the first record",
}
"""Sizes of which the place of a record in a file is none, and what they are sizes of."""


def outcome(reader: Reader, folder: Path, records: list[Any], odd: Any, large: bool = True, **more: str) -> Any:
    """Findings about the file (lines counted from the odd record), or how the odd record scores."""
    path, other = folder / f"{'large' if large else 'small'}.{reader.suffix}", folder / f"other.{reader.suffix}"
    path.write_bytes(reader.file(records))
    if reader.other is not None:
        other.write_text(reader.other, encoding="utf-8")
    elif not large or reader.by_position:
        other.write_bytes(path.read_bytes())
    pair = (other, path) if reader.role == "pred" else (path, other)
    first = reader.line(records[: records.index(odd)])
    lines = range(first, first + reader.lines(odd))
    try:
        found = karat.evaluate(*map(str, pair), **{**reader.options, **more}).systems[0]
    except karat.InputError as error:
        return said([f for f in error.findings if f.file == str(path)] or error.findings, lines)
    scores = {score.metric.name: (score.value, score.undefined) for score in found}
    classes = {name: value for score in found for name, value in (score.by_class or {}).items()}
    aligned = None if reader.by_position else {k: v for k, v in found.counts.items() if k == "aligned"}
    return scores, sorted(classes), aligned, said([f for f in found.findings if f.file == str(path)], lines)


def said(findings: list[Finding], lines: range) -> Any:
    """Codes; and lines and words of those that name the odd record, for others stand on other lines."""
    errors = {f.code for f in findings if f.severity == "error"}
    here = {
        (f.code, f.line - lines.start, NUMBER.sub("#", f.message.split(" (column")[0]))
        for f in findings
        if f.line in lines
    }
    return sorted(errors - {"more"}), sorted(here)


PLACES = ("first", "in the middle", "last", "behind all thresholds")


def places(reader: Reader, odd: Any, few: list[Any], many: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    if reader.may_lead(odd):
        yield PLACES[0], [odd, *few]
    yield PLACES[1], [*few, odd, *many[3:8]]
    yield PLACES[2], [*many, odd]
    yield PLACES[3], [*many[:-4], odd, *many[-4:]]


def chosen(reader: str) -> list[str]:
    """Some of the oddities, others of each reader, but always the same."""
    odd = list(READERS[reader].odd)
    return random.Random(reader).sample(odd, QUICK)


QUICKLY = [pytest.param(name, odd, id=f"{name}-{odd}") for name in READERS for odd in chosen(name)]
ALL = [pytest.param(name, odd, id=f"{name}-{odd}") for name, reader in READERS.items() for odd in reader.odd]


def check(name: str, oddity: str, folder: Path, many: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    reader = READERS[name]
    odd, few = reader.odd[oddity], [reader.plain(n) for n in range(3)]
    expected = outcome(reader, folder, [*few, odd], odd, large=False)
    for place, records in places(reader, odd, few, many):
        # The first record tells what a file is, if nobody says it.
        named = {"format": reader.format} if place == "first" and reader.format else {}
        assert outcome(reader, folder, records, odd, **named) == expected, place
    monkeypatch.setattr("karat.read.fast.ON", False)
    assert outcome(reader, folder, [*few, odd], odd) == expected, "without fast readers"


@pytest.mark.parametrize(("name", "oddity"), QUICKLY)
def test_behind_small_blocks(name: str, oddity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for threshold, size in THRESHOLDS.items():
        monkeypatch.setattr(threshold, size)
    check(name, oddity, tmp_path, [READERS[name].plain(n) for n in range(40)], monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "oddity"), ALL)
def test_every_oddity_behind_small_blocks(name: str, oddity: str, tmp_path: Path, monkeypatch: Any) -> None:
    test_behind_small_blocks(name, oddity, tmp_path, monkeypatch)


def large(reader: Reader) -> list[Any]:
    """More records than any sample has, and more bytes than any block."""
    return [*(reader.plain(n) for n in range(21_000)), *(reader.fat(n) for n in range(21_000, 21_000 + 2600))]


@pytest.mark.parametrize("name", READERS)
def test_behind_16_megabytes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = large(READERS[name])
    file = READERS[name].file(many)
    assert len(zlib.decompress(file) if name == "docbin" else file) > 1 << 24
    check(name, chosen(name)[0], tmp_path, many, monkeypatch)


PARTS = 6


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", READERS)
def test_sixty_oddities_behind_16_megabytes(name: str, part: int, tmp_path: Path) -> None:
    """All of them would take hours, and behind small blocks all are tried."""
    reader = READERS[name]
    many, few = large(reader), [reader.plain(n) for n in range(3)]
    for oddity in random.Random(name).sample(list(reader.odd), LEAST)[part::PARTS]:
        odd = reader.odd[oddity]
        expected = outcome(reader, tmp_path, [*few, odd], odd, large=False)
        assert outcome(reader, tmp_path, [*many[:-4], odd, *many[-4:]], odd) == expected, oddity


@pytest.mark.parametrize("name", READERS)
def test_there_are_enough(name: str) -> None:
    """Not fewer than sixty oddities in each of the four places, for every reader."""
    reader = READERS[name]
    few = [reader.plain(n) for n in range(3)]
    count = Counter(place for odd in reader.odd.values() for place, _ in places(reader, odd, few, few))
    assert min(count[place] for place in PLACES) >= LEAST, count


def test_every_reader_is_swept() -> None:
    formats = {"span json": "spans", "span jsonl": "spans", "run": "trec-run", "qrels": "trec-qrels"}
    swept = {formats.get(name, name) for name in READERS} | (set() if has_spacy() else {"docbin"})
    assert swept == {*FORMATS}


def test_every_threshold_is_passed() -> None:
    """A size that a reader goes by is made small above, or it is said why no record can stand behind it."""
    modules = [import_module(name) for _, name, _ in walk_packages(karat.read.__path__, "karat.read.")]
    sizes = {
        f"{module.__name__}.{name}"
        for module in (karat.read, *modules, karat.columns, karat.in_place)
        for names in re.findall(r"^([A-Z_, ]+) = ", inspect.getsource(module), re.M)
        for name in names.split(", ")
        if isinstance(vars(module)[name], int) and vars(module)[name] > 255
    }
    assert sizes == THRESHOLDS.keys() | NO_SEAMS.keys()


@pytest.mark.parametrize("size", [10, 1 << 17])
def test_blank_space_behind_an_array_says_nothing(size: int, tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_text('[{"id": "1", "value": "A"}, {"id": "2", "value": "B"}]' + "\n" * size)
    assert karat.evaluate(str(path), {"1": "A", "2": "A"})["accuracy"].value == 0.5

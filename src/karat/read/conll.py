# SPDX-License-Identifier: Apache-2.0
"""CoNLL columns: a token a line, its tag in the last column, sentences apart by blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from karat.columns import Codes, starts
from karat.findings import InputError, finding, limited
from karat.read.documents import tag_entries
from karat.read.names import span_columns
from karat.read.source import Source
from karat.read.table import Engine, Read
from karat.side import Keys, Origin, Positions, Side

TAG = re.compile(r"O|[BIELSU]-\S+|[BIELSU]")
_FULL = re.compile(r"O|[BIELSU]-\S+")
DOCUMENT = "-DOCSTART-"
"""What the line before the first sentence of a document begins with."""


def is_conll(source: Source) -> bool:
    """Several columns apart by blanks, of which one holds tags on nine of ten lines of the head.

    In another than the last one there must be an O: ids of documents may look like `B-12`.
    """
    lines = source.head.decode(errors="replace").split("\n")[:200][: None if source.is_all_head() else -1]
    fields = [fields for _, fields in _rows(lines) if fields and fields != [DOCUMENT]]
    width = max(map(len, fields), default=0)
    last, *inner = ([f[column] for f in fields if len(f) > abs(column)] for column in (-1, *range(1, width)))
    return any(_mostly_tags(tags, len(fields)) for tags in (last, *(tags for tags in inner if "O" in tags)))


def _mostly_tags(values: Sequence[str], lines: int) -> bool:
    return bool(values) and 10 * sum(_FULL.fullmatch(value) is not None for value in values) >= 9 * lines


def _rows(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Number and columns of each line that is no comment; none where a line is blank or a document starts."""
    width = 0
    for number, line in enumerate(lines, 1):
        fields = line.split()
        # A line that begins with a lone # is a comment, unless it looks like a token of the others.
        comment = line.startswith(("# ", "#\t")) and not (len(fields) == (width or 2) and TAG.fullmatch(fields[-1]))
        if line.startswith(DOCUMENT):
            yield number, [DOCUMENT]
        elif not comment:
            width = width or len(fields)
            yield number, fields


def read_conll(engine: Engine, source: Source, read: Read) -> Side:
    """Sentences are numbered from 1; `--value N` takes the tags from the N-th column (negative: from the right)."""
    column = _column(read)
    if bad := source.encoding_findings():
        raise InputError(bad)
    if table := span_columns(re.split("[,;\\s]+", source.head.decode("utf-8-sig", "replace").partition("\n")[0])):
        raise InputError([finding("span-rows", read.name, 1, columns=table)])
    sentences: list[list[tuple[int, str, str]]] = [[]]
    short: list[int] = []
    head: list[list[str]] = []
    starts_at: list[int] = []
    for number, fields in _rows(source.bytes().decode("utf-8-sig").split("\n")):
        if not fields or fields == [DOCUMENT]:
            sentences += [[]] if sentences[-1] else []
            starts_at += [len(sentences) - 1] if fields else []
            continue
        if len(head) < HEAD:
            head.append(fields)
        if len(fields) < 2 or not -len(fields) <= column < len(fields):
            short.append(number)
        else:
            sentences[-1].append((number, fields[0], fields[column]))
    if short:
        _must_have(column, short, sentences, head, read)
        facts = {"reason": "no column with a tag", "expected": "a token and its tag"}
        raise InputError(limited(finding("bad-row", read.name, line, **facts) for line in short))
    filled = [sentence for sentence in sentences if sentence]
    if not filled:
        raise InputError([finding("no-records", read.name)])
    if "value" not in read.columns and read.role == "gold":
        _check_columns(head, read)
    side = _side(filled, starts_at, source, read)
    side.facts["value"] = f"column {column % len(head[0]) + 1}"
    return side


HEAD = 2_000
"""Tokens by which columns are told apart."""


def _must_have(
    column: int, short: Sequence[int], sentences: Sequence[Sequence[Any]], head: Sequence[Sequence[str]], read: Read
) -> None:
    """One finding, not one a line, where no line has the column that was named."""
    if "value" in read.columns and not any(sentences):
        width = max(map(len, head))
        message = f"there is no column {read.columns['value']}: the lines have {width} columns"
        way_out = f"name one of them: --{read.side or 'gold'}-value N, 1 being the first and -1 the last"
        raise InputError([finding("bad-option", read.name, message=message, way_out=way_out)])


def _check_columns(head: Sequence[Sequence[str]], read: Read) -> None:
    """Has a file one column of tags for gold and one for predictions? Then it must be known that both are meant."""
    last, before = ({f[at] for f in head if len(f) > 2} for at in (-1, -2))
    labels = [{tag[2:] for tag in tags if _FULL.fullmatch(tag) and tag != "O"} for tags in (last, before)]
    tags = all(TAG.fullmatch(tag) for tag in (*before, *last)) and bool(before)
    both = tags and 2 * len(labels[0] & labels[1]) >= min(map(len, labels)) and (all(labels) or "O" in before)
    facts: dict[str, Any] = {"columns": f"{len(head[0])} without names", "side": read.side or "gold"}
    if read.shared and not both:
        what = "the last two columns are not tags of the same labels, gold's and the predictions'"
        raise InputError([finding("value-column-unclear", read.name, **facts, what=what)])
    if both and not read.shared and read.side == "gold":
        what = "the last two columns hold tags of the same labels: the last one may be predictions"
        raise InputError([finding("value-column-unclear", read.name, **facts, what=what)])


def _side(
    sentences: Sequence[Sequence[tuple[int, str, str]]], documents: Sequence[int], source: Source, read: Read
) -> Side:
    """Sentences with their tokens; where the file tells documents apart, these are the clusters of sentences."""
    rows = len(sentences)
    entries, tags, length = tag_entries([[tag for _, _, tag in sentence] for sentence in sentences])
    lines = np.array([number for sentence in sentences for number, _, _ in sentence], np.int64)
    entries.columns["line"] = lines[starts(length)[entries.unit] + entries["place"]]
    first = lines[starts(length)].tolist()
    units = {"length": length, "text": [[token for _, token, _ in sentence] for sentence in sentences]}
    wanted = read.columns.get("cluster")
    if documents:
        document = np.searchsorted(documents, np.arange(rows), side="right")
        units["cluster"] = Codes.of([str(number) for number in document.tolist()])
    if wanted and read.role == "gold" and (wanted != "document" or not documents):
        shown = "document" if documents else f"no {DOCUMENT} lines"
        raise InputError([finding("cluster-column-missing", read.name, column=wanted, found=shown)])
    origin = Origin(read.name, read.role, "conll", first.__getitem__)
    keys = Keys(Codes.constant("", rows), Positions(rows))
    return Side(origin, "spans", keys, entries, {"tag": tags}, units, {}, None, rows, "spans", list(source.findings))


def _column(read: Read) -> int:
    name = read.columns.get("value")
    if name is None:
        return -2 if read.shared and read.role == "gold" else -1
    try:
        number = int(name)
    except ValueError:
        number = 0
    if number == 0:
        raise InputError(
            [
                finding(
                    "bad-option",
                    read.name,
                    message=f"the column {name!r}: CoNLL columns have numbers",
                    way_out="write 1 for the first column, -1 for the last",
                )
            ]
        )
    return number - 1 if number > 0 else number

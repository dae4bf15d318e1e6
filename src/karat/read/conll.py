# SPDX-License-Identifier: Apache-2.0
"""CoNLL columns: a token a line, its tag in the last column, sentences apart by blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.findings import InputError, finding, limited
from karat.read.relation import Engine
from karat.read.source import Source
from karat.read.spans import annotated_table
from karat.read.table import Read, Table

if TYPE_CHECKING:
    from karat.contexts.spans import Annotated

TAG = re.compile(r"O|[BIELSU]-\S+|[BIELSU]")
_FULL = re.compile(r"O|[BIELSU]-\S+")


def is_conll(source: Source) -> bool:
    """Several columns apart by blanks, of which one holds tags on nine of ten lines of the head.

    In another than the last one there must be an O: ids of documents may look like `B-12`.
    """
    lines = source.head.decode(errors="replace").split("\n")[:200][: -1 if len(source.head) == 1 << 16 else None]
    fields = [fields for _, fields in _rows(lines) if fields]
    width = max(map(len, fields), default=0)
    last, *inner = ([f[column] for f in fields if len(f) > abs(column)] for column in (-1, *range(1, width)))
    return any(_mostly_tags(tags, len(fields)) for tags in (last, *(tags for tags in inner if "O" in tags)))


def _mostly_tags(values: Sequence[str], lines: int) -> bool:
    return bool(values) and 10 * sum(_FULL.fullmatch(value) is not None for value in values) >= 9 * lines


def _rows(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Number and columns of each line that is no comment; none where a line is blank."""
    width = 0
    for number, line in enumerate(lines, 1):
        fields = line.split()
        # A line that begins with a lone # is a comment, unless it looks like a token of the others.
        comment = line.startswith(("# ", "#\t")) and not (len(fields) == (width or 2) and TAG.fullmatch(fields[-1]))
        if not comment and not line.startswith("-DOCSTART-"):
            width = width or len(fields)
            yield number, fields


def read_conll(engine: Engine, source: Source, read: Read) -> Table:
    """Sentences are numbered from 1; `--value N` takes the tags from the N-th column (negative: from the right)."""
    column = _column(read)
    if bad := source.encoding_findings():
        raise InputError(bad)
    sentences: list[list[tuple[int, str, str]]] = [[]]
    short: list[int] = []
    for number, fields in _rows(source.bytes().decode("utf-8-sig").split("\n")):
        if not fields:
            sentences += [[]] if sentences[-1] else []
        elif len(fields) < 2 or not -len(fields) <= column < len(fields):
            short.append(number)
        else:
            sentences[-1].append((number, fields[0], fields[column]))
    if short:
        facts = {"reason": "no column with a tag", "expected": "a token and its tag"}
        raise InputError(limited(finding("bad-row", read.name, line, **facts) for line in short))
    found = [sentence for sentence in sentences if sentence]
    if not found:
        raise InputError([finding("no-records", read.name)])
    return annotated_table(_annotated(found), read, "conll", lambda row: None, source.findings)


def _column(read: Read) -> int:
    said = read.columns.get("value")
    if said is None:
        return -1
    try:
        number = int(said)
    except ValueError:
        number = 0
    if number == 0:
        raise InputError(
            [
                finding(
                    "bad-option",
                    read.name,
                    message=f"--value {said}: CoNLL columns have numbers",
                    way_out="write 1 for the first column, -1 for the last",
                )
            ]
        )
    return number - 1 if number > 0 else number


def _annotated(sentences: Sequence[Sequence[tuple[int, str, str]]]) -> Annotated:
    from karat.contexts.spans.annotated import Annotated, Numbered
    from karat.contexts.spans.tag_codes import encode

    (tagged,) = encode([[[tag for _, _, tag in rows] for rows in sentences]])
    lines = np.array([number for rows in sentences for number, _, _ in rows], dtype=np.int64)
    return Annotated(
        Numbered(len(sentences)), tagged=tagged, token_lines=lines, lines=lines[tagged.begins],
        texts=[[token for _, token, _ in rows] for rows in sentences],
    )  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""CoNLL columns: a token a line, its tag in the last column, sentences apart by blank lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from karat.findings import InputError, finding
from karat.read.relation import Engine
from karat.read.source import Source
from karat.read.spans import annotated_table
from karat.read.table import Read, Table

if TYPE_CHECKING:
    from karat.contexts.spans import Annotated

TAG = re.compile(r"O|[BIELSU]-\S+|[BIELSU]")
_FULL = re.compile(r"O|[BIELSU]-\S+")


def is_conll(source: Source) -> bool:
    """Several columns apart by blanks, and the last one holds tags on every line of the head."""
    lines = source.head.decode(errors="replace").split("\n")[:200][: -1 if len(source.head) == 1 << 16 else None]
    fields = [line.split() for line in lines if line.strip() and not _skipped(line)]
    return bool(fields) and all(len(f) > 1 and _FULL.fullmatch(f[-1]) for f in fields)


def _skipped(line: str) -> bool:
    return line.startswith(("-DOCSTART-", "# ", "#\t"))


def read_conll(engine: Engine, source: Source, read: Read) -> Table:
    """Sentences are numbered from 1; `--value N` takes the tags from the N-th column (negative: from the right)."""
    column = _column(read)
    text = source.bytes().decode("utf-8-sig") if not source.encoding_findings() else ""
    if not text.strip():
        raise InputError(source.encoding_findings() or [finding("no-records", read.name)])
    sentences: list[list[str]] = [[]]
    tokens: list[list[str]] = [[]]
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            if sentences[-1]:
                sentences.append([])
                tokens.append([])
        elif not _skipped(line):
            fields = line.split()
            if len(fields) < 2 or not -len(fields) <= column < len(fields):
                raise InputError(
                    [
                        finding(
                            "bad-row", read.name, number, reason="no column with a tag", expected="a token and its tag"
                        )
                    ]
                )
            sentences[-1].append(fields[column])
            tokens[-1].append(fields[0])
            lines.append(number)
    if not sentences[-1]:
        sentences.pop()
    return annotated_table(_annotated(sentences, tokens, lines), read, "conll", lambda row: None, source.findings)


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


def _annotated(sentences: list[list[str]], tokens: list[list[str]], lines: list[int]) -> Annotated:
    from karat.contexts.spans.annotated import Annotated, Numbered
    from karat.contexts.spans.tag_codes import encode

    (tagged,) = encode([sentences])
    places = np.array(lines, dtype=np.int64)
    begins = tagged.begins
    return Annotated(
        Numbered(len(sentences)), tagged=tagged, token_lines=places,
        lines=places[np.minimum(begins, max(len(places) - 1, 0))], texts=tokens[: len(sentences)],
    )  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""Good files of every format, ways to damage them, and for some an independent reading that says what the score must be."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.broken import parquet

LABELS = {f"d{i}": "ABC"[i % 3] for i in range(12)} | {"d\u00fc": "Caf\u00e9", "d,x": 'say "A"'}
PRED = {id: label if i % 4 else "A" for i, (id, label) in enumerate(LABELS.items())}
Reading = Callable[[bytes], dict[str, str] | None]


@dataclass(frozen=True)
class Format:
    """Gold and prediction as bytes; how they are scored; and labels by id as another program reads them."""

    gold: bytes
    pred: bytes
    options: tuple[str, ...] = ()
    reading: Reading | None = None
    pieces: tuple[bytes, ...] = field(default=())


PIECES = (
    b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"{", b"}", b"[", b"]", b":", b"\\", b"\0", b"\xff", b"\xe9", b"\xef\xbb\xbf", b" ", b"-", b".",
    b"null", b"NaN", b"-Infinity", b"1e999", b"\\ud800", b"\\u0000", b"true", b'"value"', b'"id"', b"[" * 300, b"\xed\xa0\x80", b"1", b"0", b"-1", b"9" * 30,
    b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"#", b"O", b"B-", b"x" * 3000,
)  # fmt: skip


def damaged(content: bytes, rng: random.Random, pieces: tuple[bytes, ...]) -> bytes:
    """Some bytes put in, cut out, changed, doubled or flipped."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        low = rng.randrange(len(content) + 1)
        high = min(len(content), low + rng.choice((0, 1, 1, 4, 40)))
        piece = rng.choice((*PIECES, *pieces))
        way = rng.choice(("put", "cut", "swap", "twice", "flip", "flip", "end"))
        if way == "end":
            content = content[: max(low, 1)]
            continue
        flipped = bytes(b ^ (1 << rng.randrange(8)) for b in content[low : low + 1])
        middle = {
            "put": piece + content[low:high],
            "cut": b"",
            "swap": piece,
            "twice": content[low:high] * 2,
            "flip": flipped,
        }[way]
        content = content[:low] + middle + content[high if way != "flip" else low + 1 :]
    return content or b" "


# ---- other readings


def _labels(rows: list[Any]) -> dict[str, str] | None:
    """Labels by id where nothing about the records can be asked: two texts each, every id once."""
    out: dict[str, str] = {}
    for row in rows:
        if not isinstance(row, dict) or not {"id", "value"} <= row.keys() or len(row) != 2:
            return None
        id, value = row["id"], row["value"]
        if not isinstance(id, str) or not isinstance(value, str) or not id.strip() or not value.strip() or id in out:
            return None
        out[id] = value
    plain = all(text.strip()[:1] not in "[{" and not _number(text) for text in (*out, *out.values()))
    return out if plain and out else None


def _number(text: str) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def of_json(content: bytes) -> dict[str, str] | None:
    try:
        rows = json.loads(content.decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return _labels(rows) if isinstance(rows, list) else None


def of_lines(content: bytes) -> dict[str, str] | None:
    try:
        rows = [json.loads(line, object_pairs_hook=_once) for line in content.decode().split("\n") if line.strip()]
    except (ValueError, RecursionError):
        return None
    return _labels(rows)


def of_table(mark: str) -> Reading:
    def read(content: bytes) -> dict[str, str] | None:
        try:
            rows = list(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=mark, strict=True))
        except (ValueError, csv.Error):
            return None
        if not rows or rows[0] != ["id", "value"] or any(len(row) != 2 for row in rows):
            return None
        odd = any(text != text.strip() or set(text) & set("\r\n\0") for row in rows for text in row)
        return None if odd else _labels([dict(zip(rows[0], row, strict=True)) for row in rows[1:]])

    return read


def of_arrow(content: bytes) -> dict[str, str] | None:
    import pyarrow.ipc

    try:
        table = pyarrow.ipc.open_file(io.BytesIO(content)).read_all()
        table.validate(full=True)
        return _labels(table.to_pylist())
    except Exception:
        return None


# ---- good files


def _records(labels: dict[str, str]) -> list[dict[str, str]]:
    return [{"id": id, "value": label} for id, label in labels.items()]


def _csv(labels: dict[str, str], mark: str = ",") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=mark, lineterminator="\n").writerows([("id", "value"), *labels.items()])
    return out.getvalue().encode()


def _lines(records: list[Any]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def _both(write: Callable[[dict[str, str]], bytes], *options: str, reading: Reading | None = None) -> Format:
    return Format(write(LABELS), write(PRED), options, reading)


def _spans(labels: dict[str, str], name: str = "spans") -> list[dict[str, Any]]:
    return [
        {"id": id, name: [{"start": i, "end": i + 4, "label": label}]} for i, (id, label) in enumerate(labels.items())
    ]


def _arrow(columns: dict[str, list[Any]]) -> bytes:
    import pyarrow as pa

    table, out = pa.table(columns), io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def _columns(labels: dict[str, str], value: Callable[[str], Any] = str) -> dict[str, list[Any]]:
    return {"id": list(labels), "value": [value(label) for label in labels.values()]}


def _docbin(labels: dict[str, str]) -> bytes:
    import spacy
    from spacy.tokens import DocBin

    binary, nlp = DocBin(), spacy.blank("en")
    for i, label in enumerate(labels.values()):
        document = nlp("Ada met Bob in London")
        document.ents = [document.char_span(0, 3 if i % 2 else 7, label=label)]
        binary.add(document)
    return binary.to_bytes()


def has_spacy() -> bool:
    try:
        from spacy.tokens import DocBin  # noqa: F401
    except ImportError:
        return False
    return True


_SETS = lambda label: [label, "Z"]
_WEIGHTS = lambda label: {label: 0.75, "Z": 0.25}
_RUN = "".join(f"q{q} Q0 d{n} {n} {9.5 - n} t\n" for q in range(4) for n in range(5)).encode()
_QRELS = "".join(f"q{q} 0 d{n} {(q + n) % 3}\n" for q in range(4) for n in range(5)).encode()
_TOKENS = b"".join(
    f"w{i} {'B-PER' if i % 3 == 0 else 'I-PER' if i % 3 == 1 else 'O'}\n".encode() + b"\n" * (i % 5 == 4)
    for i in range(30)
)
_ANN = "".join(f"T{i}\tPER {9 * i} {9 * i + 4}\tAnna\n" for i in range(8)).encode()
_GRADES = json.dumps({f"q{q}": {f"d{n}": (q + n) % 3 for n in range(5)} for q in range(4)}).encode()
_SCORES = json.dumps({f"q{q}": {f"d{n}": 9.5 - n for n in range(5)} for q in range(4)}).encode()
_VOTES = "id,annotator,label\n" + "".join(f"{i},r{a},{'AB'[(i + a) % 2]}\n" for i in range(8) for a in range(3))
_PAGES = "document,page,first,category\n" + "".join(
    f"{d},{p},{int(p in (1, 3))},{'ab'[d % 2]}\n" for d in range(4) for p in range(1, 6)
)
_STREAMS = [{"id": str(d), "pages": [p % 3 == 0 for p in range(5)]} for d in range(4)]
_LUIS = [{"text": "fly to Rome", "entities": [{"entity": "city", "startPos": 7, "endPos": 10}]} for _ in range(5)]

PLAIN: dict[str, Format] = {
    "json": _both(lambda s: json.dumps(_records(s)).encode(), "-c", "monolabel", reading=of_json),
    "wide.json": _both(lambda s: json.dumps(_records(s), indent=2, ensure_ascii=False).encode(), "-c", "monolabel", reading=of_json),
    "jsonl": _both(lambda s: _lines(_records(s)), "-c", "monolabel", reading=of_lines),
    "csv": _both(_csv, "-c", "monolabel", reading=of_table(",")),
    "tsv": _both(lambda s: _csv(s, "\t"), "-c", "monolabel", reading=of_table("\t")),
    "parquet": _both(lambda s: parquet(_columns(s)), "-c", "monolabel"),
    "arrow": _both(lambda s: _arrow(_columns(s)), "-c", "monolabel", reading=of_arrow),
    "sets.json": _both(lambda s: json.dumps([{"id": id, "value": _SETS(v)} for id, v in s.items()]).encode()),
    "sets.parquet": _both(lambda s: parquet(_columns(s, _SETS))),
    "sets.arrow": _both(lambda s: _arrow(_columns(s, _SETS))),
    "weights.jsonl": _both(lambda s: _lines([{"id": id, "value": _WEIGHTS(v)} for id, v in s.items()])),
    "weights.arrow": _both(lambda s: _arrow(_columns(s, _WEIGHTS))),
    "votes.csv": Format(_VOTES.encode(), _VOTES.replace("A", "B", 5).encode()),
    "clusters.csv": _both(_csv, "-c", "clustering"),
    "spans.json": _both(lambda s: json.dumps(_spans(s)).encode()),
    "spans.jsonl": _both(lambda s: _lines(_spans(s))),
    "excerpts.jsonl": _both(lambda s: _lines(_spans(s, "excerpts"))),
    "luis.json": Format(json.dumps(_LUIS).encode(), json.dumps(_LUIS[::-1]).encode()),
    "conll": Format(_TOKENS, _TOKENS.replace(b"I-PER", b"O", 3)),
    "ann": Format(_ANN, _ANN.replace(b"PER", b"LOC", 2)),
    "run": Format(_QRELS, _RUN, pieces=(b" Q0 ", b" 0 ")),
    "rankings.json": Format(_GRADES, _SCORES, ("-c", "ranking")),
    "pages.csv": Format(_PAGES.encode(), _PAGES.replace(",3,1,", ",3,0,").encode()),
    "pages.jsonl": Format(_lines(_STREAMS), _lines(_STREAMS[::-1])),
}  # fmt: skip


def _zstd(content: bytes) -> bytes:
    import zstandard

    return zstandard.compress(content)


PACKINGS = {"gz": lambda c: gzip.compress(c, mtime=0), "bz2": bz2.compress, "xz": lzma.compress, "zst": _zstd}


def formats() -> dict[str, Format]:
    """Plain files, some of them packed, and spaCy's where it is installed."""
    out = dict(PLAIN)
    for name in ("json", "csv", "spans.jsonl", "run", "parquet"):
        for packing, pack in PACKINGS.items():
            plain = PLAIN[name]
            out[f"{name}.{packing}"] = Format(pack(plain.gold), pack(plain.pred), plain.options)
    if has_spacy():
        out["spacy"] = _both(_docbin)
    return out


def accuracy(gold: dict[str, str], pred: dict[str, str]) -> float:
    return sum(pred.get(id) == label for id, label in gold.items()) / len(gold)

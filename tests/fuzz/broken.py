"""Files broken in one place each, with the finding and the line that a reader must give."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LABELS = ("A", "B", "C")


@dataclass(frozen=True)
class Broken:
    """A file's bytes; the codes that are right for it, and the lines (None: the format has none)."""

    file: str
    content: bytes
    codes: frozenset[str]
    lines: frozenset[int | None]


def broken(file: str, content: str | bytes, codes: str, *lines: int | None) -> Broken:
    raw = content.encode() if isinstance(content, str) else content
    return Broken(file, raw, frozenset(codes.split("|")), frozenset(lines or (None,)))


def records(rng: random.Random, rows: int | None = None) -> list[dict[str, Any]]:
    return [{"id": f"d{i}", "value": rng.choice(LABELS)} for i in range(rows or rng.randint(6, 40))]


def texts(rng: random.Random) -> tuple[list[str], list[int]]:
    """The records of an array as texts, written over one line or several, and the line on which each begins."""
    wide = rng.random() < 0.5
    out = [json.dumps(r, indent=2 if wide else None) for r in records(rng)]
    starts = [2]
    for text in out:
        starts.append(starts[-1] + text.count("\n") + 1)
    return out, starts[:-1]


def array(parts: list[str]) -> str:
    return "[\n" + ",\n".join(parts) + "\n]\n"


def json_with(change: Callable[[random.Random], str], codes: str) -> Callable[[random.Random], Broken]:
    """One record of an array replaced by another text; the finding is at the line where it begins."""

    def make(rng: random.Random) -> Broken:
        parts, starts = texts(rng)
        at = rng.randrange(1, len(parts))
        parts[at] = change(rng)
        return broken("pred.json", array(parts), codes, starts[at])

    return make


def json_truncated(rng: random.Random) -> Broken:
    text = array([json.dumps(r) for r in records(rng)])
    cut = rng.randrange(12, len(text) - 4)
    while text[cut - 1] == "\n":
        cut += 1
    return broken("pred.json", text[:cut], "bad-json", text[:cut].count("\n") + 1)


def json_no_comma(rng: random.Random) -> Broken:
    parts, starts = texts(rng)
    at = rng.randrange(1, len(parts))
    text = "[\n" + ",\n".join(parts[:at]) + "\n" + ",\n".join(parts[at:]) + "\n]\n"
    return broken("pred.json", text, "bad-json", starts[at])


def json_trailing_comma(rng: random.Random) -> Broken:
    text = array([json.dumps(r) for r in records(rng)]).replace("}\n]", "},\n]")
    last = text.count("\n")
    return broken("pred.json", text, "bad-json", last, last - 1)


def json_two_arrays(rng: random.Random) -> Broken:
    text = array([json.dumps(r) for r in records(rng)])
    return broken("pred.json", text + text, "bad-json", text.count("\n") + 1)


def json_repeated(rng: random.Random) -> Broken:
    parts, starts = texts(rng)
    first, again = sorted(rng.sample(range(len(parts)), 2))
    parts[again] = parts[again].replace(f'"d{again}"', f'"d{first}"')
    return broken("pred.json", array(parts), "repeated-id", starts[again])


def json_latin(rng: random.Random) -> Broken:
    parts, starts = texts(rng)
    at = rng.randrange(len(parts))
    parts[at] = f'{{"id": "d{at}", "value": "Fran\u00e7ais"}}'
    return broken("pred.json", array(parts).encode("latin-1"), "not-utf8", starts[at])


def json_nul(rng: random.Random) -> Broken:
    parts, starts = texts(rng)
    at = rng.randrange(len(parts))
    parts[at] = f'{{"id": "d{at}", "value": "A\0"}}'
    return broken("pred.json", array(parts), "nul-byte", starts[at])


def json_no_value_column(rng: random.Random) -> Broken:
    return broken("pred.json", array([json.dumps({"id": r["id"]}) for r in records(rng)]), "missing-column")


def json_wrapped(rng: random.Random) -> Broken:
    text = json.dumps({"data": records(rng)}, indent=rng.choice([None, 2]))
    return broken("pred.json", text, "missing-column|not-records|bad-json", None, 1)


def json_single(content: str, codes: str, *lines: int | None) -> Callable[[random.Random], Broken]:
    return lambda rng: broken("pred.json", content, codes, *lines)


def jsonl_with(change: Callable[[random.Random, str], str], codes: str) -> Callable[[random.Random], Broken]:
    """One line changed, with blank lines before it at random."""

    def make(rng: random.Random) -> Broken:
        lines = [json.dumps(r) for r in records(rng)]
        for _ in range(rng.randint(0, 3)):
            lines.insert(rng.randrange(1, len(lines)), "")
        full = [i for i, line in enumerate(lines) if line]
        at = rng.choice(full[1:])
        lines[at] = change(rng, lines[at])
        end = rng.choice(["\n", "\r\n"])
        return broken("pred.jsonl", end.join(lines) + rng.choice(["", end]), codes, at + 1)

    return make


def jsonl_repeated(rng: random.Random) -> Broken:
    lines = [json.dumps(r) for r in records(rng)]
    first, again = sorted(rng.sample(range(len(lines)), 2))
    lines[again] = lines[first]
    lines.insert(0, "")
    return broken("pred.jsonl", "\n".join(lines), "repeated-id", again + 2)


def rows(rng: random.Random, mark: str) -> list[str]:
    """A header and rows; some fields quoted."""
    quote = lambda text: f'"{text}"' if rng.random() < 0.3 else text
    return [mark.join(("id", "value"))] + [mark.join((quote(r["id"]), quote(r["value"]))) for r in records(rng)]


def table_with(change: Callable[[random.Random, str, str], str], codes: str) -> Callable[[random.Random], Broken]:
    """One row changed; before it, at random, a row whose quoted label spans two lines, and blank lines."""

    def make(rng: random.Random) -> Broken:
        file, mark = rng.choice([("pred.csv", ","), ("pred.tsv", "\t"), ("pred.csv", ";")])
        lines = rows(rng, mark)
        at = rng.randrange(3, len(lines))
        line = at + 1
        lines[at] = change(rng, lines[at], mark)
        if rng.random() < 0.4:
            lines[1] = f'd0{mark}"A\nB"'
            line += 1
        if rng.random() < 0.4:
            lines.insert(2, "")
            line += 1
        end = rng.choice(["\n", "\r\n"])
        text = end.join(lines).replace("A\nB", f"A{end}B") + end
        bom = rng.choice(["", "\ufeff"])
        return broken(file, bom + text, codes, line)

    return make


def open_quote(rng: random.Random, row: str, mark: str) -> str:
    return mark.join(("dx", '"A'))


def csv_repeated(rng: random.Random) -> Broken:
    lines = rows(rng, ",")
    first, again = sorted(rng.sample(range(1, len(lines)), 2))
    lines[again] = lines[first]
    return broken("pred.csv", "\n".join(lines), "repeated-id", again + 1)


def csv_latin(rng: random.Random) -> Broken:
    lines = rows(rng, ",")
    at = rng.randrange(1, len(lines))
    lines[at] = f"d{at - 1},caf\u00e9"
    return broken("pred.csv", "\n".join(lines).encode("latin-1"), "not-utf8", at + 1)


def csv_nul(rng: random.Random) -> Broken:
    lines = rows(rng, rng.choice([",", "\t"]))
    at = rng.randrange(1, len(lines))
    lines[at] += "\0"
    return broken("pred.csv", "\n".join(lines), "nul-byte", at + 1)


def utf16_without_mark(rng: random.Random) -> Broken:
    return broken(
        "pred.csv", "\n".join(rows(rng, ",")).encode(rng.choice(["utf-16-le", "utf-16-be"])), "looks-utf16", 1
    )


def utf16_cut(rng: random.Random) -> Broken:
    return broken("pred.csv", "\n".join(rows(rng, ",")).encode("utf-16")[:-1], "file-unreadable")


def random_bytes(rng: random.Random) -> Broken:
    codes = "nul-byte|not-utf8|unknown-format|file-unreadable|looks-utf16"
    return broken("pred.bin", b"\x80" + rng.randbytes(rng.randint(1, 400)), codes, 1, 2, 3, 4, None)


def gz(rng: random.Random) -> bytes:
    return gzip.compress("\n".join(rows(rng, ",")).encode(), mtime=0)


def gz_truncated(rng: random.Random) -> Broken:
    whole = gz(rng)
    return broken("pred.csv.gz", whole[: rng.randrange(12, len(whole) - 9)], "file-unreadable")


def gz_garbled(rng: random.Random) -> Broken:
    whole = bytearray(gz(rng))
    at = rng.randrange(14, len(whole) - 8)
    whole[at] ^= 0xFF
    return broken("pred.csv.gz", bytes(whole), "file-unreadable")


def gz_of_broken(rng: random.Random) -> Broken:
    inner = json_truncated(rng)
    return Broken("pred.json.gz", gzip.compress(inner.content, mtime=0), inner.codes, inner.lines)


def zst(raw: bytes) -> bytes:
    import zstandard

    return zstandard.compress(raw)


def zst_truncated(rng: random.Random) -> Broken:
    whole = zst("\n".join(rows(rng, ",")).encode())
    return broken("pred.csv.zst", whole[: rng.randrange(6, len(whole) - 1)], "file-unreadable")


def zst_of_broken(rng: random.Random) -> Broken:
    inner = csv_repeated(rng)
    return Broken("pred.csv.zst", zst(inner.content), inner.codes, inner.lines)


def parquet(columns: dict[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def parquet_columns(rng: random.Random) -> dict[str, list[Any]]:
    found = records(rng)
    return {"id": [r["id"] for r in found], "value": [r["value"] for r in found]}


def parquet_truncated(rng: random.Random) -> Broken:
    whole = parquet(parquet_columns(rng))
    return broken("pred.parquet", whole[: rng.randrange(5, len(whole) - 1)], "file-unreadable")


def parquet_garbled(rng: random.Random) -> Broken:
    """The length of the metadata is a lie."""
    whole = bytearray(parquet(parquet_columns(rng)))
    whole[-8:-4] = rng.randbytes(3) + b"\x7f"
    return broken("pred.parquet", bytes(whole), "file-unreadable")


def parquet_pages_garbled(rng: random.Random) -> Broken:
    """The head and the foot are right; the pages between are noise."""
    whole = bytearray(parquet(parquet_columns(rng)))
    at = rng.choice([4, len(whole) // 3])
    whole[at : at + 56] = b"\xff" * 56
    return broken("pred.parquet", bytes(whole), "file-unreadable")


def parquet_with(field: str, value: Any, code: str) -> Callable[[random.Random], Broken]:
    def make(rng: random.Random) -> Broken:
        columns = parquet_columns(rng)
        at = rng.randrange(1, len(columns["id"]))
        columns[field][at] = columns[field][0] if value == "first" else value
        return broken("pred.parquet", parquet(columns), code, at + 1)

    return make


def parquet_no_value(rng: random.Random) -> Broken:
    return broken("pred.parquet", parquet({"id": parquet_columns(rng)["id"]}), "missing-column")


def parquet_dates(rng: random.Random) -> Broken:
    from datetime import datetime

    ids = parquet_columns(rng)["id"]
    return broken(
        "pred.parquet",
        parquet({"id": ids, "value": [{"a": [datetime(2020, 1, 1)]}] * len(ids)}),
        "wrong-values|mixed-contexts",
        1,
        None,
    )


def deep(rng: random.Random) -> str:
    depth = rng.choice([300, 2_000, 60_000])
    return '{"id": "deep", "value": ' + "[" * depth + "]" * depth + "}"


def dropped(field: str) -> Callable[[random.Random], str]:
    return lambda rng: json.dumps({k: v for k, v in {"id": "x", "value": "A"}.items() if k != field})


def holding(field: str, value: Any) -> Callable[[random.Random], str]:
    return lambda rng: json.dumps({"id": "x", "value": "A"} | {field: value})


def text(*choices: str) -> Callable[[random.Random], str]:
    return lambda rng: rng.choice(choices)


def line(*choices: str) -> Callable[[random.Random, str], str]:
    return lambda rng, old: rng.choice(choices)


def field(place: int, new: str) -> Callable[[random.Random, str, str], str]:
    """A row with one of its two fields replaced."""
    return lambda rng, row, mark: mark.join(new if i == place else "z1" for i in range(2))


WAYS: dict[str, Callable[[random.Random], Broken]] = {
    "empty": lambda rng: broken("pred.json", b"", "file-empty"),
    "blank": lambda rng: broken("pred.csv", rng.choice([" \n\n", "\n", "\ufeff", "\t\n"]), "file-empty|no-records"),
    "random-bytes": random_bytes,
    "json-truncated": json_truncated,
    "json-no-comma": json_no_comma,
    "json-trailing-comma": json_trailing_comma,
    "json-two-arrays": json_two_arrays,
    "json-repeated-id": json_repeated,
    "json-latin-1": json_latin,
    "json-nul": json_nul,
    "json-no-value-column": json_no_value_column,
    "json-wrapped": json_wrapped,
    "json-empty-array": json_single("[]", "no-records"),
    "json-of-numbers": json_single("[1, 2,\n3]", "not-records", 1, 2),
    "json-of-lists": json_single('[["d1", "A"],\n["d2", "B"]]', "not-records", 1, 2),
    "json-of-nulls": json_single("[null]", "not-records", 1),
    "json-of-empty-objects": json_single("[{},\n{}]", "missing-column|no-records"),
    "json-repeated-key": json_with(
        text('{"id": "x", "id": "y", "value": "A"}', '{"id": "x", "value": "A", "value": "B"}'), "bad-json"
    ),
    "json-deep": json_with(deep, "bad-json|wrong-type"),
    "json-nan": json_with(text('{"id": "x", "value": NaN}', '{"id": "x", "value": -Infinity}'), "bad-json|wrong-type"),
    "json-single-quotes": json_with(text("{'id': 'x', 'value': 'A'}"), "bad-json"),
    "json-bare-key": json_with(text('{id: "x", "value": "A"}'), "bad-json"),
    "json-comment": json_with(text('/* x */ {"id": "x", "value": "A"}', '// x\n{"id": "x", "value": "A"}'), "bad-json"),
    "json-bad-escape": json_with(text(r'{"id": "x", "value": "\q"}', r'{"id": "x", "value": "\u12"}'), "bad-json"),
    "json-lone-surrogate": json_with(text(r'{"id": "x", "value": "\ud800"}'), "bad-json"),
    "json-raw-newline": json_with(text('{"id": "x", "value": "A\nB"}'), "bad-json"),
    "json-not-a-record": json_with(text('"x"', "7", "true", '["x", "A"]'), "not-records"),
    "json-null-record": json_with(text("null"), "not-records"),
    "json-no-id": json_with(dropped("id"), "missing-field"),
    "json-no-value": json_with(dropped("value"), "missing-field"),
    "json-null-id": json_with(holding("id", None), "missing-field"),
    "json-null-value": json_with(holding("value", None), "missing-field"),
    "json-empty-id": json_with(holding("id", ""), "empty-value"),
    "json-empty-value": json_with(holding("value", ""), "empty-value"),
    "json-list-value": json_with(holding("value", ["A"]), "wrong-type"),
    "json-object-value": json_with(holding("value", {"A": 1}), "wrong-type"),
    "json-list-id": json_with(holding("id", ["x"]), "nested-id"),
    "json-object-id": json_with(holding("id", {"x": 1}), "nested-id"),
    "jsonl-bad-line": jsonl_with(
        line("oops", "{", "}", '{"id": "x" "value": "A"}', '{"id": "x",, "value": "A"}'), "bad-json"
    ),
    "jsonl-cut": jsonl_with(lambda rng, old: old[: rng.randrange(3, len(old) - 1)], "bad-json"),
    "jsonl-two-on-a-line": jsonl_with(lambda rng, old: old + " " + old, "bad-json"),
    "jsonl-not-a-record": jsonl_with(line('["x"]', '"x"', "3", "true"), "not-records"),
    "jsonl-null-record": jsonl_with(line("null"), "not-records"),
    "jsonl-nan": jsonl_with(line('{"id": "x", "value": NaN}'), "bad-json|wrong-type"),
    "jsonl-no-value": jsonl_with(line('{"id": "x"}', '{"id": "x", "value": null}'), "missing-field"),
    "jsonl-empty": jsonl_with(line('{"id": "x", "value": ""}'), "empty-value"),
    "jsonl-list-value": jsonl_with(line('{"id": "x", "value": ["A", "B"]}'), "wrong-type"),
    "jsonl-nul": jsonl_with(line('{"id": "x", "value": "A\0"}'), "nul-byte"),
    "jsonl-repeated-id": jsonl_repeated,
    "csv-few-fields": table_with(lambda rng, row, mark: "z1", "bad-row"),
    "csv-many-fields": table_with(lambda rng, row, mark: row + mark + "X", "bad-row"),
    "csv-other-mark": table_with(lambda rng, row, mark: row.replace('"', "").replace(mark, "|"), "bad-row"),
    "csv-open-quote": table_with(open_quote, "bad-quote"),
    "csv-text-after-quote": table_with(field(1, '"A"B'), "bad-quote"),
    "csv-empty-id": table_with(field(0, ""), "missing-field|empty-value"),
    "csv-empty-value": table_with(field(1, ""), "missing-field|empty-value"),
    "csv-quoted-empty": table_with(field(1, '""'), "empty-value"),
    "csv-blank-value": table_with(field(1, "  "), "empty-value"),
    "csv-repeated-id": csv_repeated,
    "csv-latin-1": csv_latin,
    "csv-nul": csv_nul,
    "csv-header-only": lambda rng: broken(
        "pred.csv", rng.choice(["id,value", "id,value\r\n", "\ufeffid,value\n"]), "no-records"
    ),
    "csv-two-id-columns": lambda rng: broken("pred.csv", "id,value,ID\na,A,b\n", "repeated-column", 1),
    "csv-no-value-column": lambda rng: broken("pred.csv", "id,colour,size\n1,A,x\n", "missing-column", 1, None),
    "utf-16-without-mark": utf16_without_mark,
    "utf-16-cut": utf16_cut,
    "gz-truncated": gz_truncated,
    "gz-garbled": gz_garbled,
    "gz-of-broken": gz_of_broken,
    "zst-truncated": zst_truncated,
    "zst-of-broken": zst_of_broken,
    "parquet-truncated": parquet_truncated,
    "parquet-garbled": parquet_garbled,
    "parquet-pages-garbled": parquet_pages_garbled,
    "parquet-null-value": parquet_with("value", None, "missing-field"),
    "parquet-null-id": parquet_with("id", None, "missing-field"),
    "parquet-empty-value": parquet_with("value", "", "empty-value"),
    "parquet-repeated-id": parquet_with("id", "first", "repeated-id"),
    "parquet-no-value": parquet_no_value,
    "parquet-nested": parquet_dates,
}
"""Ways to break a file, by name."""

# SPDX-License-Identifier: Apache-2.0
"""The fast way to read JSON spans: the engine unnests flat lists of spans into columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import msgspec
import numpy as np

from karat.contexts.spans import Annotated, Spans
from karat.read.relation import Engine, quoted
from karat.read.source import Source
from karat.read.spans import EXCERPTS, FIELDS, INCLUSIVE, PLACES, field_of
from karat.read.table import Read

_LAYOUT = {"json": "array", "jsonl": "newline_delimited"}
_SPAN = ("start", "end", "label")


def read_columns(engine: Engine, source: Source, read: Read, layout: str) -> Annotated | None:
    """The documents of a file in which every span is a flat object; None if it needs the slow and careful way."""
    try:
        names = names_of(_of_lines(source) if layout == "jsonl" else _of_array(engine, source), read)
        return None if names is None else _fetched(engine, source, read, layout, names)
    except Exception:
        return None  # the careful way says what is wrong, and where


SAMPLE = 1000
"""Records that show the fields; what is rarer must not be lost, see below."""

_RARE = ("test_case", "testcase", "intent", "intents", "Classification", "classes")

Fields = dict[str, dict[str, bool]]
"""A document's fields; for lists of objects also the objects' fields, and whether each holds whole numbers."""


def _of_lines(source: Source) -> Fields:
    records = msgspec.json.Decoder(dict[str, Any]).decode_lines(b"".join(islice(source.lines(), SAMPLE)))
    names = dict.fromkeys(chain.from_iterable(records))
    return {name: objects([r[name] for r in records if r.get(name) is not None]) for name in names}


def objects(values: list[Any]) -> dict[str, bool]:
    """The fields of the objects in lists, and whether each holds whole numbers."""
    items = list(chain.from_iterable(values)) if all(isinstance(v, list) for v in values) else []
    if not all(isinstance(item, dict) for item in items):
        return {}
    names = dict.fromkeys(chain.from_iterable(items))
    return {name: all(type(item.get(name, 0)) is int for item in items) for name in names}


def _of_array(engine: Engine, source: Source) -> Fields:
    how = f"format='array', records=true, map_inference_threshold=-1, sample_size={SAMPLE}"
    types = engine.types(f"read_json({source.sql}, {how})")
    whole = ("BIGINT", "UBIGINT", "INTEGER")
    return {
        name: {field: kind in whole for field, kind in _struct_fields(declared).items()}
        if declared.startswith("STRUCT(")
        else {}
        for name, declared in types.items()
    }


def _rare_inside(inner: dict[str, str]) -> str:
    """What children would be called beside these names (the engine's structures do not tell case apart)."""
    return "Children" if inner["start"][:1].isupper() else "children"


@dataclass(frozen=True)
class Names:
    """The file's own names of a document's fields, and of a span's."""

    id: str
    spans: str
    text: str | None
    count: str | None
    inner: dict[str, str]


def names_of(fields: Fields, read: Read) -> Names | None:
    """The names, if all spans are flat objects and nothing else needs care."""
    found = {role: field_of(fields, known) for role, known in FIELDS.items()}
    id, spans = read.columns.get("id") or found["id"], read.columns.get("value") or found["spans"]
    inner = fields.get(spans or "")
    if found["classes"] or id not in fields or found["test_case"] or not inner or "_task_hash" in fields:
        return None
    parts = {role: field_of(inner, known) for role, known in PLACES.items()}
    if parts["children"] or any(parts[role] is None for role in _SPAN):
        return None
    if not all(inner[str(parts[role])] for role in ("start", "end")):
        return None
    used = (*_SPAN, "text") if parts["text"] and found["text"] else _SPAN
    return Names(str(id), str(spans), found["text"], found["count"], {role: str(parts[role]) for role in used})


def _struct_fields(declared: str) -> dict[str, str]:
    """Top-level fields of `STRUCT(a BIGINT, "b" VARCHAR)[]`."""
    out, depth, field = {}, 0, ""
    for letter in declared.removeprefix("STRUCT(").removesuffix("[]").removesuffix(")") + ",":
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            name, _, kind = field.strip().rpartition(" ") if "(" not in field else field.strip().partition(" ")
            out[name.strip('"')] = kind
            field = ""
        else:
            field += letter
    return out


def _fetched(engine: Engine, source: Source, read: Read, layout: str, names: Names) -> Annotated | None:
    raw = quoted(f"raw {read.role} {read.name}")
    spans, text, count, inner = names.spans, names.text, names.count, names.inner
    kinds = {"start": "BIGINT", "end": "BIGINT", "label": "VARCHAR", "text": "VARCHAR"}
    struct = ", ".join(f"{quoted(name)} {kinds[role]}" for role, name in inner.items())
    struct += f", {_rare_inside(inner)} JSON"
    columns = {names.id: "VARCHAR", spans: f"STRUCT({struct})[]"}
    columns |= ({text: "VARCHAR"} if text else {}) | ({count: "BIGINT"} if count else {}) | dict.fromkeys(_RARE, "JSON")
    declared = ", ".join(f"{quoted(name)}: '{kind}'" for name, kind in columns.items())
    scan = f"read_json({source.sql}, format='{_LAYOUT[layout]}', records=true, columns={{{declared}}})"
    wanted = f"{quoted(names.id)} AS id, {quoted(spans)} AS spans, coalesce(len({quoted(spans)}), -1) AS n"
    wanted += f", coalesce({', '.join(map(quoted, _RARE))}) IS NOT NULL AS rare"
    wanted += (f", {quoted(count)} AS said" if count else "") + (f", {quoted(text)} AS text" if text else "")
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {raw} AS SELECT {wanted} FROM {scan}")
    return _columns(engine, raw, inner, spans in EXCERPTS)


def _columns(engine: Engine, raw: str, inner: dict[str, str], excerpts: bool) -> Annotated | None:
    """Documents and flat spans as arrays; None where something is missing or a count is wrong."""
    documents = engine.run(f"SELECT * EXCLUDE (spans) FROM {raw}")
    ids, number = documents["id"].tolist(), documents["n"]
    if (
        None in ids
        or np.any(documents["rare"])
        or np.any(number < 0)
        or not np.array_equal(documents.get("said", number), number)
    ):
        return None
    label = f"s.{quoted(inner['label'])}"
    flat = f"(SELECT unnest(spans) AS s FROM {raw})"
    places = ", ".join(f"s.{quoted(name)} AS {quoted(role)}" for role, name in inner.items() if role != "label")
    found = engine.run(
        f"SELECT {places}, s.{_rare_inside(inner)} IS NOT NULL AS rare, hash({label}) AS label FROM {flat}"
    )
    known = engine.run(f"SELECT DISTINCT {label} AS label, hash({label}) AS hash FROM {flat}")
    if (
        any(one is None or one.startswith(("[", "{")) for one in known["label"].tolist())
        or np.any(found["rare"])
        or any(column.dtype.kind == "f" for column in found.values())
    ):
        return None
    unit = np.repeat(np.arange(len(ids)), number)
    code, labels = _codes(found["label"], known["hash"], known["label"].tolist())
    return Annotated(
        ids, Spans.of(unit, found["start"], found["end"], code), labels,
        inclusive=inner["end"] in INCLUSIVE, excerpts=excerpts,
        texts=documents["text"].tolist() if "text" in documents else None,
        quotes=found["text"].tolist() if "text" in found else None,
    )  # fmt: skip


def _codes(hashes: Any, known: Any, labels: list[str]) -> tuple[Any, list[str]]:
    """Labels travel as hashes: an eighth of the cost of as many Python strings."""
    if len(set(known.tolist())) != len(labels):
        raise ValueError("two labels share a hash")
    order = np.argsort(known)
    return _places(hashes, known[order]), [labels[i] for i in order.tolist()]


def _places(hashes: Any, known: Any) -> Any:
    """Where the hashes stand among the sorted known ones: by their last bits, which almost always tell them apart."""
    bits = np.uint64((1 << 18) - 1)
    table = np.zeros(1 << 18, dtype=np.int64)
    table[known & bits] = np.arange(len(known))
    found = table[hashes & bits]
    if not len(known):
        return found
    alike = np.flatnonzero(known[found] != hashes)
    found[alike] = np.searchsorted(known, hashes[alike])
    return found

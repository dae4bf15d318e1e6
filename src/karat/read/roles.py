# SPDX-License-Identifier: Apache-2.0
"""From records with columns of any name to a side: which column is which, what the values are, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from karat import values
from karat.check import blank
from karat.columns import Codes, Ints, places, within
from karat.findings import Finding, InputError, finding, limited
from karat.read.names import (
    NUMBERS,
    TEXTS,
    check_value_column,
    match_columns,
    missing_column,
    rank_beside,
    span_columns,
)
from karat.read.scores import class_columns, read_wide
from karat.read.table import Read
from karat.side import Entries, Even, Keys, Origin, Positions, Side, units_of
from karat.values import KINDS, SAID, Column, Nested

LONG = {
    "annotator": ("annotator", "annotator_id", "rater", "coder", "worker", "worker_id"),
    "score": ("score", "weight", "probability", "prob", "confidence"),
}
"""Columns that make a table long: a row for each label of an item, or for each annotator."""
LONG_CONTEXTS = (None, "soft", "multilabel", "probabilities")
MOST_TEXTS = 200_000
"""Units whose texts are carried along; of larger data sets the texts stay where they are."""


@dataclass(eq=False)
class Records:
    """What a reader gives: columns under their own names, one value to a record."""

    origin: Origin
    columns: Mapping[str, Column]
    rows: int
    typed: bool = True
    """Whether numbers and texts are told apart: a text file cannot."""
    findings: list[Finding] = field(default_factory=list)

    def column(self, name: str, *, coded: bool = False) -> Column:
        """A column in Python's own types; where a file has only texts, numbers are spelt as numbers.

        ``coded``: its texts repeat, so that an engine that has them makes codes of them.
        """
        get = getattr(self.columns, "coded", self.columns.__getitem__) if coded else self.columns.__getitem__
        column = values.plain(get(name))
        return column if self.typed else values.as_numbers(values.texts_of(column))


@dataclass(eq=False)
class Meaning:
    """What the values of a side are."""

    kind: str
    """label, labels, weights, votes or number."""
    column: Column
    nested: Nested | None = None
    unsure: bool = False
    """Whether numbers may be labels as well as ranks or relevances."""
    truth: bool = False
    """Whether the labels are true and false."""
    numeric: bool = False
    """Whether the labels are numbers."""
    width: int = 0
    """How wide rows are that hold nothing but zeros and ones."""


def roles_of(records: Records, read: Read) -> dict[str, str]:
    """The columns that hold ids, values and test cases."""
    return match_columns(list(records.columns), read.columns, side=read.side)


def _beside_gold(records: Records, read: Read) -> Records:
    """Of one table with both sides, the columns that may hold the predictions; all, where no other could."""
    if not read.shared or read.side != "pred" or "value" in read.columns:
        return records
    golds = match_columns(list(records.columns), {}, side="gold").get("value")
    others = replace(records, columns={name: c for name, c in records.columns.items() if name != golds})
    roles = roles_of(others, read)
    return others if "value" in roles or class_columns(others.columns, records.typed, read, roles) else records


def read_side(records: Records, read: Read) -> Side:
    """The records as a side with one kind of value, or the findings that say why not."""
    findings, records = list(records.findings), _beside_gold(records, read)
    roles = roles_of(records, read)
    wide = class_columns(records.columns, records.typed, read, roles)
    if wide and records.rows:
        required_columns(records, read, roles, value=False)
        keyed = {role: records.column(name) for role, name in roles.items() if role != "value"}
        keys = _keys(keyed, records.rows)
        side = read_wide(records.origin, records.columns, keys, wide)
        side.findings += findings + _blank_keys(records, keys, keyed)
        used = {*wide, *(name for role, name in roles.items() if role != "value")}
        if ignored := [name for name in records.columns if name not in used and name.lower() not in TEXTS]:
            fields, chosen = ", ".join(ignored[:10]), ", ".join(wide[:10])
            side.findings.append(finding("extra-fields", read.name, fields=fields, chosen=chosen))
        return side
    if (annotators := annotator_columns(records, read, roles)) and records.rows:
        required_columns(records, read, roles, value=False)
        return _wide_votes(records, roles, annotators)
    required_columns(records, read, roles)
    if "value" not in read.columns:
        clusters = read.context == "clustering"
        findings += check_value_column(read.name, read.side, records.columns, roles, clusters)
    if not records.rows:
        raise InputError([finding("no-records", read.name)])
    columns = {role: records.column(name) for role, name in roles.items()}
    findings += _nested_ids(records, columns)
    meaning = _meaning(records, read, roles["value"], columns["value"], findings)
    if any(f.severity == "error" for f in findings):
        raise InputError(findings)
    keys = _keys(columns, records.rows)
    missing = _blank_keys(records, keys, columns)
    long = _long(records, read, roles, keys, meaning)
    carried = _carried(records, read, roles)
    used = {*roles.values(), *long.values(), *(() if long else carried.values())}
    extra = [name for name in records.columns if name not in used]
    if extra and read.context is None and span_columns(extra) and len({*keys.id}) < len(keys.id):
        raise InputError([finding("span-rows", read.name, columns=span_columns(records.columns))])
    if (unknown := [name for name in extra if name.lower() not in TEXTS]) and not read.chosen:
        findings.append(finding("extra-fields", read.name, fields=", ".join(unknown[:10]), chosen=roles["value"]))
    if long:
        side = _gathered(records, read, keys, meaning, long, findings + missing)
        return replace(side, facts={"value": roles["value"], "unread": extra, "test_case": roles.get("test_case")})
    entries, names = _entries(meaning, records.rows)
    side = Side(
        records.origin, meaning.kind, keys, entries, names, facts={"truth": meaning.truth, "unsure": meaning.unsure, "numeric": meaning.numeric, "width": meaning.width, "value": roles["value"], "unread": extra, "id": roles.get("id"), "test_case": roles.get("test_case")},
        records=records.rows, findings=findings, units=_units(records, read, carried),
    )  # fmt: skip
    if meaning.kind == "number":
        side.facts["column"] = roles["value"].strip().lower()
    missing += [] if read.drops else [*_without_value(side, meaning), *_blank_labels(side)]
    side.findings += sorted(missing, key=lambda entry: entry.line or records.rows * 1000)
    return side


def required_columns(records: Records, read: Read, roles: Mapping[str, str], value: bool = True) -> None:
    """Stop where a column is lacking that nothing can do without, or that the user named."""
    names = list(records.columns)
    head = 1 if records.origin.format in ("csv", "tsv") else None
    lost = [
        role
        for role in ("id", "value", "test_case")
        if role not in roles and (read.columns.get(role) or (value and role == "value"))
    ]
    bad = [missing_column(read, role, names, head) for role in lost]
    if bad:
        raise InputError(bad)


def _nested_ids(records: Records, columns: Mapping[str, Column]) -> list[Finding]:
    out: list[Finding] = []
    for role in ("id", "test_case"):
        column = columns.get(role)
        if isinstance(column, (list, Nested)) and values.types_in(column) & {list, tuple, dict}:
            rows = [i for i, value in enumerate(column) if isinstance(value, (list, tuple, dict))]
            out += limited(
                finding("nested-id", records.origin.name, records.origin.line_of(i), field=role) for i in rows
            )
    return out


# ---- what the values are


def _meaning(records: Records, read: Read, name: str, column: Column, findings: list[Finding]) -> Meaning:
    """What most values are; findings for those that are something else."""
    used = values.kinds_used(column)
    if not used:
        return Meaning("label", column)
    kind = max(used, key=lambda name: used[name])
    if len(used) > 1 and not {*used} <= {"truth", "number"}:
        findings += _wrong_kind(records, values.kinds_of(column), kind)
        return Meaning("label", column)
    if kind == "text":
        return _of_texts(records, read, name, column, findings)
    if {*used} == {"truth"}:
        ranked = read.wants_numbers(name)
        return Meaning("number", values.as_grades(column)) if ranked else Meaning("label", column, truth=True)
    if kind in ("number", "truth"):
        return _of_numbers(read, name, column)
    return _of_nested(records, column, kind == "object", findings)


def _wrong_kind(records: Records, kinds: Ints, kind: str) -> list[Finding]:
    """The values that are not of the kind that most of them are."""
    wrong = np.flatnonzero((kinds >= 0) & (kinds != KINDS.index(kind))).tolist()
    origin = records.origin
    return limited(
        finding(
            "wrong-type", origin.name, origin.line_of(i), found=_kind_said(KINDS[kinds[i]]), expected=_kind_said(kind)
        )
        for i in wrong
    )


def _kind_said(kind: str) -> str:
    return SAID[{"text": "label", "list": "labels", "object": "weights"}.get(kind, kind)]


def _of_numbers(read: Read, name: str, column: Column) -> Meaning:
    """Numbers are ranks or relevances in a column called so, labels in a column called label, class, …"""
    if read.wants_numbers(name):
        return Meaning("number", column)
    unsure = read.context is None and name.strip().lower() == "value"
    return Meaning("number" if unsure else "label", column, unsure=unsure, numeric=True)


def _of_texts(records: Records, read: Read, name: str, column: Column, findings: list[Finding]) -> Meaning:
    """Labels; or lists and objects that a text spells, if all are; or numbers, in a file that holds nothing but texts."""
    texts = values.texts_of(column)
    objects = {text.lstrip()[:1] for text in texts.names} == {"{"}
    named = not records.typed and name.strip().lower() in NUMBERS
    if not objects and (read.all_numbers or named):
        numbers, bad = values.numbers(texts)
        lines = [(records.origin.line_of(i), texts.text(i)) for i in bad.tolist()]
        findings += limited(
            finding("not-a-number", records.origin.name, line, field="value", text=text) for line, text in lines
        )
        gaps = texts.code < 0
        return Meaning("number", np.ma.masked_array(numbers, gaps).tolist() if gaps.any() else numbers)
    if (nested := _parted(records, read, texts, findings)) is not None:
        return Meaning("labels", column, nested)
    mark = {name.lstrip()[:1] for name in texts.names}
    if mark not in ({"["}, {"{"}) or read.context == "monolabel":
        wanted = read.wants_numbers(name) and not len(values.numbers(texts.names)[1])  # .9 is one where none is a label
        if not records.typed and (values.are_numbers(texts) or wanted):
            return _of_numbers(read, name, texts)
        return Meaning("label", texts, truth=not records.typed and {*texts.names} <= {"true", "false"})
    decoded = values.parsed(texts.names) or (values.literals(texts.names) if mark == {"["} else None)
    if decoded is None:
        broken = [code for code, name in enumerate(texts.names) if not values.is_json(name)]
        if len(broken) == len(texts.names) and read.context is None:
            return Meaning("label", column)
        kind = "labels" if mark == {"["} else "weights"
        rows = np.flatnonzero(np.isin(texts.code, broken)).tolist()
        facts = {"expected": SAID[kind], "example": _EXAMPLES[kind]}
        findings += limited(
            finding("wrong-values", records.origin.name, records.origin.line_of(i), **facts) for i in rows
        )
        return Meaning("label", column)
    whole: list[Any] = [decoded[code] if code >= 0 else None for code in texts.code.tolist()]
    return _of_nested(records, whole, mark == {"{"}, findings)


_EXAMPLES = {
    "labels": 'a list of texts, as ["A", "B"]',
    "weights": 'numbers by label, as {"A": 0.7, "B": 0.3}',
}


def _of_nested(records: Records, column: Any, objects: bool, findings: list[Finding]) -> Meaning:
    nested = column if isinstance(column, Nested) else values.taken_apart(column, objects)
    if objects and "text" not in values.kinds_used(nested.members):
        findings += _nameless(records, nested)
        return Meaning("weights", column, nested)
    if not objects and isinstance(nested.members, Codes):  # nothing but texts
        return Meaning("labels", column, nested)
    kinds = values.kinds_of(nested.members)
    if not objects:
        findings += _wrong_members(records, nested, kinds)
        return Meaning("labels", column, nested, width=_width(nested, kinds))
    findings += _nameless(records, nested)
    first = kinds[np.flatnonzero(np.append(True, np.diff(nested.row) > 0)[: len(kinds)])]
    votes = bool((first == KINDS.index("text")).all())
    return Meaning("votes" if votes else "weights", column, nested)


def _width(nested: Nested, kinds: Ints) -> int:
    """How wide rows of zeros and ones are, if that is all there is; else 0."""
    width = int(nested.size.max(initial=0))
    numbers = {KINDS.index("number"), KINDS.index("truth")}
    others = {*(np.flatnonzero(np.bincount(kinds + 1)) - 1).tolist()} - numbers
    if width < 2 or not nested.given.all() or (nested.size != width).any() or others:
        return 0
    return width if bool((values.flags(nested.members) >= 0).all()) else 0


_MEMBERS = {"text": "texts", "number": "numbers", "truth": "true or false", "list": "lists", "object": "objects"}


def _wrong_members(records: Records, nested: Nested, kinds: Ints) -> list[Finding]:
    """The lists that do not hold what most hold: texts, or numbers. As text, a list in a list would be a label."""
    counts = np.bincount(kinds[kinds >= 0], minlength=len(KINDS))
    plain = [i for i, name in enumerate(KINDS) if name not in ("list", "object") and counts[i]]
    used = np.flatnonzero(counts)
    if len(used) <= 1 and len(plain) == len(used):
        return []
    most = max(plain, key=lambda i: counts[i]) if plain else KINDS.index("text")
    wrong = sorted(
        {(int(r), KINDS[k]) for r, k in zip(nested.row.tolist(), kinds.tolist(), strict=True) if k not in (-1, most)}
    )
    origin = records.origin
    return limited(
        finding("wrong-type", origin.name, origin.line_of(row), found=f"a list that holds {_MEMBERS[kind]}", expected=f"lists of {_MEMBERS[KINDS[most]]}")
        for row, kind in wrong
    )  # fmt: skip


def _nameless(records: Records, nested: Nested) -> list[Finding]:
    """Objects of Python whose keys are None or NaN: nothing is called so in a file."""
    if nested.keys is None or (nested.keys.code >= 0).all():
        return []
    rows = np.unique(nested.row[nested.keys.code < 0]).tolist()
    origin = records.origin
    return limited(finding("missing-field", origin.name, origin.line_of(i), field="label") for i in rows)


# ---- keys


def _keys(columns: Mapping[str, Column], rows: int) -> Keys:
    """Test cases and ids as text; records without ids are paired by position."""
    case = values.spelt(columns["test_case"]) if "test_case" in columns else Codes.constant("", rows)
    if "test_case" in columns and (case.code < 0).any():
        case = Codes(np.where(case.code < 0, len(case.names), case.code), [*case.names, ""])
        case = Codes.of([name or "" for name in case.texts()]) if case.names.count("") > 1 else case
    if "id" not in columns:
        return Keys(case, Positions(rows))
    return Keys(case, _ids(columns["id"]))


def _ids(column: Column) -> list[str]:
    """Ids as texts; one that is missing is empty here, and has been said to be."""
    if isinstance(column, list) and values.types_in(column) == {str}:
        return column[:]
    return [text or "" for text in values.spelt(column).texts()]


def _blank_keys(records: Records, keys: Keys, columns: Mapping[str, Column]) -> list[Finding]:
    """Records without an id, and test cases that some have and others have not."""
    origin, out = records.origin, list[Finding]()
    if not keys.by_position and min(keys.id) < "!":
        kinds = values.kinds_of(columns["id"])
        for code, rows in (("missing-field", np.flatnonzero(kinds < 0)), ("empty-value", _blank_ids(keys, kinds))):
            out += limited(finding(code, origin.name, origin.line_of(i), field="id") for i in rows.tolist())
    empty = np.isin(keys.case.code, blank(keys.case.names)) if "test_case" in columns else np.zeros(0, bool)
    if empty.any() and not empty.all():
        lines = map(origin.line_of, np.flatnonzero(empty).tolist())
        out += limited(finding("some-without", origin.name, line, field="test_case") for line in lines)
    return out


def _blank_ids(keys: Keys, kinds: Ints) -> Ints:
    return np.array([i for i, id in enumerate(keys.id) if kinds[i] >= 0 and not id.strip(" \t\n\r")], np.int64)


# ---- entries


def _entries(meaning: Meaning, rows: int) -> tuple[Entries, dict[str, list[str]]]:
    """The values as entries of their records."""
    if meaning.kind == "label":
        column = meaning.column
        return _labels(column if isinstance(column, Codes) else values.spelt(column), rows)
    if meaning.kind == "number":
        # Codes of classes need not become numbers of other kinds to be found to be labels.
        whole = meaning.unsure and isinstance(meaning.column, np.ndarray) and meaning.column.dtype.kind in "iu"
        number = meaning.column if whole else values.numbers(meaning.column)[0]
        if isinstance(meaning.column, np.ndarray) and values.fractional(meaning.column):
            # Fractions are no labels, and to spell a million of them takes longer than to score them.
            return Even(rows, 1, {"number": number}), {}
        label = values.spelt(meaning.column)
        entries = Even(rows, 1, {"label": label.code, "number": number})
        given = None if isinstance(meaning.column, np.ndarray) else values.given(meaning.column)
        return entries if given is None or given.all() else entries.at(given), {"label": label.names}
    nested = meaning.nested
    assert nested is not None
    if meaning.kind == "labels":
        label = values.spelt(nested.members)
        return _members(nested, {"label": label.code, "place": places(nested.size)}), {"label": label.names}
    assert nested.keys is not None
    key = nested.keys
    if meaning.kind == "votes":
        label = values.spelt(nested.members)
        return _members(nested, {"label": label.code, "annotator": key.code}), {
            "label": label.names,
            "annotator": key.names,
        }
    weight = nested.members  # an array here is a reader's own, which nobody else changes
    number = weight if getattr(weight, "dtype", None) == np.float64 else values.numbers(weight)[0]
    return _members(nested, {"label": key.code, "number": number}), {"label": key.names}


def _members(nested: Nested, columns: dict[str, Any]) -> Entries:
    wide = int(nested.size[0]) if len(nested) else 0
    if wide and (nested.size == wide).all():
        return Even(len(nested), wide, columns)
    return Entries(nested.row, columns)


def _labels(label: Codes, rows: int) -> tuple[Entries, dict[str, list[str]]]:
    """One label to a record, and none where there is none."""
    if label.code.min(initial=0) >= 0:
        return Even(rows, 1, {"label": label.code}), {"label": label.names}
    has = np.flatnonzero(label.code >= 0)
    return Entries(has, {"label": label.code[has]}), {"label": label.names}


def _without_value(side: Side, meaning: Meaning) -> list[Finding]:
    if side.entries.single:
        return []
    given = meaning.nested.given if meaning.nested is not None else side.entries.sizes(len(side)) > 0
    rows = np.flatnonzero(~given).tolist()
    return limited(finding("missing-field", side.name, side.line(i), field="value") for i in rows)


def _blank_labels(side: Side) -> list[Finding]:
    if side.kind != "label" or not blank(side.names["label"]):
        return []
    rows = side.entries.unit[np.isin(side.entries["label"], blank(side.names["label"]))].tolist()
    return limited(finding("empty-value", side.name, side.line(i), field="value") for i in rows)


# ---- what rides along


def _carried(records: Records, read: Read, roles: Mapping[str, str]) -> dict[str, str]:
    """Columns that no metric of labels reads: texts (a prediction's where nothing else tells rows apart), clusters, ranks."""
    text = next((name for name in records.columns if name.lower() in TEXTS and name not in roles.values()), None)
    if read.role != "gold":
        rank = rank_beside(records.columns, roles["value"])
        return ({"rank": rank} if rank else {}) | ({"text": text} if text and "id" not in roles else {})
    out = {"text": text} if text else {}
    cluster = read.columns.get("cluster")
    if cluster is not None:
        if cluster not in records.columns:
            columns = ", ".join(records.columns)
            raise InputError([finding("cluster-column-missing", read.name, column=cluster, found=columns)])
        out["cluster"] = cluster
    return out


def _units(records: Records, read: Read, carried: Mapping[str, str]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for role, name in carried.items():
        column = records.column(name)
        if role == "rank":
            out[role] = values.numbers(column)[0]
        elif role == "cluster":
            out[role] = values.spelt(column)
        elif records.rows <= MOST_TEXTS:
            out[role] = values.spelt(column).texts()
    return out


# ---- tables with a column for each annotator


def annotator_columns(records: Records, read: Read, roles: Mapping[str, str]) -> list[str]:
    """The columns that use the same labels, in gold of disagreement that has no column of values."""
    if read.context != "soft" or not (read.role == "gold" or read.shared) or {"value"} & {*roles, *read.columns}:
        return []
    free = [name for name in records.columns if name not in roles.values() and name.strip().lower() not in TEXTS]
    labels = {name: {*values.spelt(records.column(name)).names} for name in free}
    alike = {name: [other for other in free if labels[name] & labels[other]] for name in free}
    found = max(alike.values(), key=len, default=[])
    return found if len(found) > 1 else []


def _wide_votes(records: Records, roles: Mapping[str, str], annotators: list[str]) -> Side:
    """The columns as votes, one where there is a label."""
    keyed = {role: records.column(name) for role, name in roles.items()}
    keys = _keys(keyed, records.rows)
    texts = [text for name in annotators for text in values.spelt(records.column(name)).texts()]
    label, rows = Codes.of(texts), np.tile(np.arange(records.rows), len(annotators))
    who = np.repeat(np.arange(len(annotators)), records.rows)
    given = np.flatnonzero(label.code >= 0)
    given = given[np.argsort(rows[given], kind="stable")]
    entries = Entries(rows[given], {"label": label.code[given], "annotator": who[given]})
    read = finding("annotator-columns", records.origin.name, columns=", ".join(annotators))
    findings = [*records.findings, read, *_blank_keys(records, keys, keyed)]
    return Side(
        records.origin, "votes", keys, entries, {"label": label.names, "annotator": annotators},
        records=records.rows, findings=findings,
    )  # fmt: skip


# ---- long tables


def _long(records: Records, read: Read, roles: Mapping[str, str], keys: Keys, meaning: Meaning) -> dict[str, str]:
    """The annotator or score column of a table with several rows to an item, where the context could mean it."""
    if meaning.kind not in ("label", "number") or keys.by_position or read.context not in LONG_CONTEXTS:
        return {}
    free = [name for name in records.columns if name not in roles.values()]
    if not free:
        return {}
    beside = match_columns(free, {k: v for k, v in read.columns.items() if k in LONG}, LONG)
    if not beside or "annotator" in beside:
        return {"annotator": beside["annotator"]} if beside else {}
    several = read.context == "soft" or len(set(keys.id)) < len(keys.id)
    return beside if several or _scored_labels(read, meaning) else {}


def _scored_labels(read: Read, meaning: Meaning) -> bool:
    """Is there a label beside each score, where scores of labels are asked for?"""
    return read.context == "probabilities" and read.role == "pred" and meaning.kind == "label"


def _gathered(
    records: Records, read: Read, keys: Keys, meaning: Meaning, long: Mapping[str, str], findings: list[Finding]
) -> Side:
    """Rows of an item and a label (with a score), or of an item and an annotator, as one unit per item."""
    votes = "annotator" in long
    label = values.spelt(meaning.column)
    given = records.column(long["annotator" if votes else "score"])
    other = values.spelt(given) if votes else None
    number, not_numbers = (np.zeros(records.rows), np.zeros(0, np.int64)) if votes else values.numbers(given)
    missing = (
        {"label": label.code < 0, "annotator": other.code < 0}
        if other is not None
        else {"label": label.code < 0, "score": np.isnan(number)}
    )
    origin = records.origin
    bad: list[Finding] = []
    for name, rows in missing.items():
        for row in np.flatnonzero(rows).tolist():
            worded = row in set(not_numbers.tolist())
            facts = {"field": name} | (
                {"text": str(given[row]) if not isinstance(given, Codes) else given.text(row)} if worded else {}
            )
            bad.append(
                finding("not-a-number" if worded else "missing-field", origin.name, origin.line_of(row), **facts)
            )
    if bad:
        raise InputError([*findings, *limited(bad)])
    unit, first = units_of(keys)
    key = other.code if other is not None else label.code
    columns: dict[str, Any] = (
        {"label": label.code, "annotator": key} if votes else {"label": label.code, "number": number}
    )
    # Of a label that is scored twice the best place counts, of an annotator's votes the first.
    order = np.lexsort((np.arange(records.rows), np.zeros(records.rows) if votes else -number, key, unit))
    again = np.append(False, (np.diff(unit[order]) == 0) & (np.diff(key[order]) == 0))
    if again.any():
        code = "repeated-vote" if votes else "repeated-label"
        repeats = _later(unit, key)
        findings.append(finding(code, origin.name, origin.line_of(int(repeats[0])), count=len(repeats)))
    kept = np.sort(order[~again])
    entries = Entries(unit[kept], {name: column[kept] for name, column in columns.items()})
    entries = entries.moved(np.arange(len(first)))
    names = {"label": label.names} | ({"annotator": other.names} if other is not None else {})
    return Side(
        origin, "votes" if votes else "weights", keys.take(first), entries, names, record=first, records=records.rows, findings=findings
    )  # fmt: skip


def _later(unit: Ints, key: Ints) -> Ints:
    """Records whose unit and key an earlier record has, in file order."""
    order = np.lexsort((np.arange(len(unit)), key, unit))
    again = np.append(False, (np.diff(unit[order]) == 0) & (np.diff(key[order]) == 0))
    return np.sort(order[again])


SEPARATORS = ("|", ";", ",")
"""Marks that may part the labels of a cell, surest first."""


def split_labels(side: Side, mark: str) -> Side:
    """Labels of which each holds several, as lists."""
    nested = _split(Codes(side.entries["label"], side.names["label"]), mark)
    unit = np.repeat(side.entries.unit, nested.size)
    entries = Entries(unit, {"label": nested.members.code, "place": places(nested.size)})
    return replace(side, kind="labels", entries=entries, names={**side.names, "label": nested.members.names})


def _split(cells: Codes, mark: str) -> Nested:
    """Cells as lists of their labels; one without a value has none."""
    parts = [[part.strip() for part in name.split(mark) if part.strip()] for name in cells.names]
    members = Codes.of([part for listed in parts for part in listed])
    sizes = np.array([*map(len, parts), 0], np.int64)
    size = sizes[cells.code]
    at = np.repeat((np.cumsum(sizes) - sizes)[cells.code], size) + within(size)
    return Nested(size, None, Codes(members.code[at], members.names), np.ones(len(cells), bool))


def _parted(records: Records, read: Read, texts: Codes, findings: list[Finding]) -> Nested | None:
    """Lists of labels where the user named what parts them, or the context has lists and the cells show it."""
    if read.separator:
        if not any(read.separator in name for name in texts.names):
            findings.append(finding("separator-absent", read.name, mark=read.separator))
        return _split(texts, read.separator)
    if read.context != "multilabel" or records.typed:
        return None
    for mark in SEPARATORS:
        names = [name for name in texts.names if mark in name]
        if names and not any(name.lstrip().startswith(("[", "{")) for name in texts.names):
            findings.append(finding("separator-found", read.name, mark=mark, label=names[0]))
            return _split(texts, mark)
    return None


def as_indicators(side: Side, width: int) -> Side:
    """Rows of zeros and ones as the sets of the columns that have a one."""
    ones = np.array([name in ("1", "true") for name in side.names["label"]])[side.entries["label"]]
    unit, column = side.entries.unit[ones], side.entries["place"][ones]
    entries = Entries(unit, {"label": column, "place": places(np.bincount(unit, minlength=len(side)))})
    return replace(side, entries=entries, names={**side.names, "label": [str(i) for i in range(width)]})


def as_labels(side: Side) -> Side:
    """Numbers as labels; what is no number is a missing value then."""
    of = side.entries
    if "label" not in of:
        label = values.spelt(of["number"])
        of = of.of({"label": label.code})
        side = replace(side, names={"label": label.names})
    entries = of.of({"label": of["label"]})
    if of["label"].min(initial=0) >= 0:
        return replace(side, kind="label", entries=entries)
    known = of["label"] >= 0
    bad = limited(finding("missing-field", side.name, side.line(i), field="value") for i in of.unit[~known].tolist())
    return replace(side, kind="label", entries=entries.at(np.flatnonzero(known)), findings=[*side.findings, *bad])

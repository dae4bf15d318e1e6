# SPDX-License-Identifier: Apache-2.0
"""From a relation with any column names to test_case, id and value: which column is which, and what the values are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from karat.findings import Finding, InputError, finding, limited
from karat.read.long import gather, is_long, long_columns
from karat.read.names import NUMBERS, match_columns, missing_column, rank_beside
from karat.read.table import Engine as Engine
from karat.read.table import Read, Table

SAID = {
    "label": "labels",
    "labels": "lists of labels",
    "weights": "weights by label",
    "votes": "votes by annotator",
    "number": "numbers",
    "truth": "true or false",
    "pages": "pages",
    "spans": "spans",
    "none": "nothing",
}
"""How the kinds of value are called in messages."""


TEXTS = ("text", "sentence", "tweet", "content", "body", "title", "question")
"""Names of columns that hold the text of an item."""


def quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def table_name(read: Read) -> str:
    """A name for the relation that no user's column or file can clash with."""
    return quoted(f"karat {read.role} {read.name}")


def normalise(
    engine: Engine, read: Read, relation: str, format: str, *,
    json_text: bool = False, line_of: Callable[[int], int | None] = lambda row: None, findings: list[Finding] | None = None,
) -> Table:  # fmt: skip
    """The relation as a table with our column names and one kind of value."""
    from karat.read import pages

    types = engine.types(relation)
    if shape := pages.shape_of(engine, relation, types, read):
        return pages.normalise_pages(engine, read, relation, format, shape, json_text, line_of, list(findings or ()))
    found = match_columns(types, read.columns, side=read.side)
    rows = int(engine.run(f"SELECT count(*) AS n FROM {relation}")["n"][0])
    findings = list(findings or ())
    if not rows:
        raise InputError([finding("no-records", read.name)])
    _required(read, types, found, format)
    table = Table(read.name, read.role, format, relation, types, "none", rows, line_of=line_of, findings=findings)
    text = json_text or types[found["value"]] == "JSON"
    kind, expression = _value(engine, read, table, found["value"], text)
    name = table_name(read)
    if any(f.severity == "error" for f in findings):
        raise InputError(findings)
    long = long_columns(read, types, found, kind)
    long = long if long and is_long(engine, read, relation, quoted(found["id"]), long) else {}
    findings += _extra(read, types, {**found, **long}, bool(long))
    if long:
        return gather(engine, table, name, _long_rows(relation, found, long, types, text), long)
    engine.execute(_made(read, relation, types, found, kind, expression))
    table.sql, table.kind, table.roles = name, kind, found
    _check_values(engine, table, relation, quoted(found["value"]), expression, read.drops)
    return table


def _made(
    read: Read, relation: str, types: Mapping[str, str], found: Mapping[str, str], kind: str, expression: str
) -> str:
    """The statement that gives the relation our column names. Objects are taken apart once: it costs most."""
    stored = "TABLE" if kind in ("weights", "votes") else "VIEW"
    return (
        f"CREATE OR REPLACE TEMP {stored} {table_name(read)} AS SELECT {_text(found.get('test_case'), types)} AS test_case,"
        f" {_id(found.get('id'), types)} AS id, {expression} AS value{_cluster(read, types)}{_carried(read, types, found)} FROM {relation}"
    )


def _extra(read: Read, types: Mapping[str, str], used: Mapping[str, str], long: bool = False) -> list[Finding]:
    """A finding for columns that nothing reads."""
    carried = () if long else _beside(read, types, used).values()
    extra = [c for c in types if c not in (*used.values(), *carried)]
    return [finding("extra-fields", read.name, fields=", ".join(extra[:10]), chosen=used["value"])] if extra else []


def _cluster(read: Read, types: Mapping[str, str]) -> str:
    """The column that says which units belong together, if one was named."""
    column = read.columns.get("cluster")
    if column is None or read.role != "gold":
        return ""
    if column not in types:
        raise InputError([finding("cluster-column-missing", read.name, column=column, found=", ".join(types))])
    return f", CAST({quoted(column)} AS VARCHAR) AS cluster"


def _carried(read: Read, types: Mapping[str, str], found: Mapping[str, str]) -> str:
    """The columns beside the values, as SQL."""
    casts = {"text": "CAST({} AS VARCHAR)", "rank": "coalesce(TRY_CAST({} AS DOUBLE), 'nan'::DOUBLE)"}
    return "".join(f", {casts[n].format(quoted(c))} AS {n}" for n, c in _beside(read, types, found).items())


def _beside(read: Read, types: Mapping[str, str], found: Mapping[str, str]) -> dict[str, str]:
    """Columns that no metric reads: gold's texts, for people who look at errors, and ranks to compare scores with."""
    gold = read.role == "gold"
    column = text_column(types, found) if gold else rank_beside(types, found.get("value", ""))
    return {"text" if gold else "rank": column} if column else {}


def text_column(types: Mapping[str, str], found: Mapping[str, str]) -> str | None:
    """The column that is called as texts usually are."""
    return next((c for c in types if c.lower() in TEXTS and c not in found.values()), None)


def _long_rows(
    relation: str, found: Mapping[str, str], long: Mapping[str, str], types: Mapping[str, str], json: bool
) -> str:
    """A query of one row per item and label (or annotator), from a long relation."""
    value = f"{quoted(found['value'])}->>'$'" if json else _spelt(found["value"], types)
    given = _spelt(long["annotator" if "annotator" in long else "score"], types)
    other = given if "annotator" in long else f"TRY_CAST({quoted(long['score'])} AS DOUBLE)"
    return (
        f"SELECT {_text(found.get('test_case'), types)} AS test_case, {_id(found['id'], types)} AS id,"
        f" {value} AS label, {other} AS other, {given} AS given FROM {relation}"
    )


def _required(read: Read, types: Mapping[str, str], found: Mapping[str, str], format: str) -> None:
    head = 1 if format in ("csv", "tsv") else None
    lost = [
        role for role in ("id", "value", "test_case") if role not in found and (role == "value" or role in read.columns)
    ]
    if lost:
        raise InputError([missing_column(read, role, types, head) for role in lost])


def _text(column: str | None, types: Mapping[str, str]) -> str:
    return "''" if column is None else f"coalesce({_spelt(column, types)}, '')"


def _spelt(column: str, types: Mapping[str, str]) -> str:
    """A column as text; whole numbers that are stored as floats (as pandas does beside a gap) lose their ``.0``."""
    text = f"CAST({quoted(column)} AS VARCHAR)"
    return f"regexp_replace({text}, '\\.0+$', '')" if types[column].startswith(("DOUBLE", "FLOAT", "DECIMAL")) else text


def _id(column: str | None, types: Mapping[str, str]) -> str:
    """Ids as text; records without ids are paired by position."""
    return "CAST(row_number() OVER () AS VARCHAR)" if column is None else _spelt(column, types)


def _value(engine: Engine, read: Read, table: Table, column: str, text: bool) -> tuple[str, str]:
    """The kind of the values and the expression that gives them."""
    c, declared = quoted(column), table.columns[column]
    if declared == "VARCHAR" and not text and (read.context == "ranking" or column.lower() in NUMBERS):
        return _number_text(engine, table, c)
    if text or declared == "VARCHAR":
        return _text_value(engine, read, table, c, text)
    if declared.endswith("[]"):
        return "labels", c if declared == "VARCHAR[]" else f"CAST({c} AS VARCHAR[])"
    if declared.startswith(("MAP", "STRUCT")):
        return _map_value(c, declared)
    graded = read.context == "ranking" or (read.context is None and column.lower() in NUMBERS)  # true is a grade, too
    if declared.startswith("ENUM") or (declared == "BOOLEAN" and not graded) or _is_label(column, read):
        return "label", _spelt(column, table.columns)
    return "number", f"CAST({c} AS DOUBLE)"


def _map_value(c: str, declared: str) -> tuple[str, str]:
    if declared.startswith("STRUCT"):
        kind = "votes" if "DOUBLE" not in declared and "VARCHAR" in declared else "weights"
        # Every row of a struct column has every field: null is a label that the row does not name.
        return kind, _cast(f"json_merge_patch('{{}}', to_json({c}))", kind, True)
    if declared.endswith(", VARCHAR)"):
        return "votes", _unless_null(c, f"{{'labels': map_keys({c}), 'votes': map_values({c})}}")
    numbers = f"CAST(map_values({c}) AS DOUBLE[])"
    return "weights", _unless_null(c, f"{{'labels': map_keys({c}), 'weights': {numbers}}}")


def _unless_null(c: str, expression: str) -> str:
    return f"CASE WHEN {c} IS NULL THEN NULL ELSE {expression} END"


def _is_label(column: str, read: Read) -> bool:
    """Numbers are ranks or relevances in a column called value, labels in a column called label, class, …"""
    return read.context in ("monolabel", "multilabel") or (
        read.context != "ranking" and column.lower() not in ("value", *NUMBERS)
    )


def _number_text(engine: Engine, table: Table, c: str) -> tuple[str, str]:
    """Numbers that a text file spells; what is none is said with its line."""
    rows = engine.run(
        f"SELECT nth, text FROM (SELECT row_number() OVER () - 1 AS nth, {c} AS text FROM {table.sql})"
        " WHERE text IS NOT NULL AND TRY_CAST(text AS DOUBLE) IS NULL ORDER BY nth"
    )
    bad = zip(rows["nth"].tolist(), rows["text"].tolist(), strict=True)
    table.findings += limited(
        finding("not-a-number", table.name, table.line(at), field="value", text=text) for at, text in bad
    )
    return "number", f"TRY_CAST({c} AS DOUBLE)"


_FIRST = {'"': "label", "[": "labels", "{": "weights", "t": "truth", "f": "truth"}


def _text_value(engine: Engine, read: Read, table: Table, c: str, json: bool) -> tuple[str, str]:
    first = f"left(ltrim({c}), 1)"
    found = engine.run(
        f"SELECT {first} AS first, count(*) AS n FROM {table.sql} WHERE {c} IS NOT NULL GROUP BY ALL ORDER BY n DESC, first"
    )
    if json:
        table.findings += _constants(engine, table, c, found["first"].tolist())
    kinds: dict[str, int] = {}
    for mark, n in zip(found["first"].tolist(), found["n"].tolist(), strict=True):
        kind = _FIRST.get(mark, "number") if json else {"[": "labels", "{": "weights"}.get(mark, "label")
        kinds[kind] = kinds.get(kind, 0) + n
    if not json and not _all_json(engine, read, table, c, kinds):
        kinds = {"label": table.rows}
    if not kinds:
        return "label", c
    kind = max(kinds, key=lambda k: kinds[k])
    if kinds.keys() == {"truth"} or (kinds.keys() == {"number"} and read.context in ("monolabel", "multilabel")):
        kind, kinds = "label", {"label": table.rows}
    if len(kinds) > 1:
        table.findings += _wrong_kind(engine, table, first, kind)
    elif kind == "labels" and not any(f.severity == "error" for f in table.findings):
        table.findings += _wrong_members(engine, table, c)
    if kind == "weights" and _are_votes(engine, table, c):
        kind = "votes"
    return kind, _cast(c, kind, json)


def _constants(engine: Engine, table: Table, c: str, firsts: list[str]) -> list[Finding]:
    """NaN and Infinity are no JSON, but the engine takes them."""
    if not set(firsts) & set("NnIi-"):
        return []
    found = f"(SELECT {c} AS text, row_number() OVER () - 1 AS nth FROM {table.sql})"
    rows = engine.run(f"SELECT text, nth FROM {found} WHERE text SIMILAR TO '-?[NnIi].*' ORDER BY nth")
    said = zip(rows["text"].tolist(), rows["nth"].tolist(), strict=True)
    return limited(
        finding("bad-json", table.name, table.line(at), reason=f"{text} is not a JSON number") for text, at in said
    )


def _are_votes(engine: Engine, table: Table, c: str) -> bool:
    """Do the first objects hold texts (annotator: label) in place of numbers?"""
    sample = f"(SELECT {c} AS text FROM {table.sql} WHERE {c} IS NOT NULL AND NOT regexp_matches({c}, '^\\s*\\{{\\s*\\}}') LIMIT 1000)"
    pattern = r'''^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*"'''
    found = engine.run(
        f"SELECT count(*) AS n, count(*) FILTER (WHERE regexp_matches(text, '{pattern}')) AS votes FROM {sample}"
    )
    return bool(found["n"][0]) and bool(found["votes"][0] == found["n"][0])


def _all_json(engine: Engine, read: Read, table: Table, c: str, kinds: Mapping[str, int]) -> bool:
    """Are text values that begin like lists or objects really JSON? If none is, and none should be, they are labels."""
    if set(kinds) == {"label"} or len(kinds) != 1:
        return False
    numbered = f"(SELECT {c} AS text, row_number() OVER () - 1 AS nth FROM {table.sql})"
    bad = engine.run(f"SELECT nth FROM {numbered} WHERE text IS NOT NULL AND NOT json_valid(text) ORDER BY nth")["nth"]
    if len(bad) == sum(kinds.values()) and read.context in (None, "monolabel"):
        return False
    (kind,) = kinds
    facts = {"expected": SAID[kind], "example": _EXAMPLES[kind]}
    table.findings += limited(finding("wrong-values", table.name, table.line(at), **facts) for at in bad.tolist())
    return True


def _cast(c: str, kind: str, json: bool) -> str:
    if kind == "label":
        return f"{c}->>'$'" if json else c
    if kind == "labels":
        return f"CAST(CAST({c} AS JSON) AS VARCHAR[])"
    if kind == "weights":
        numbers = f"TRY_CAST(json_extract_string({c}, '$.*') AS DOUBLE[])"
        return _unless_null(c, f"{{'labels': json_keys({c}), 'weights': {numbers}}}")
    if kind == "votes":
        return _unless_null(c, f"{{'labels': json_keys({c}), 'votes': json_extract_string({c}, '$.*')}}")
    return f"CAST({c} AS DOUBLE)"


def _wrong_kind(engine: Engine, table: Table, first: str, kind: str) -> list[Finding]:
    """The values of a JSON file that are not of the kind that most of them are."""
    kinds = " ".join(f"WHEN '{mark}' THEN '{name}'" for mark, name in _FIRST.items())
    said = f"SELECT row_number() OVER () - 1 AS nth, CASE {first} {kinds} ELSE 'number' END AS kind, {first} AS first FROM {table.sql}"
    rows = engine.run(f"SELECT nth, kind FROM ({said}) WHERE first IS NOT NULL AND kind <> '{kind}' ORDER BY nth")
    return limited(
        finding("wrong-type", table.name, table.line(at), found=SAID[k], expected=SAID[kind])
        for at, k in zip(rows["nth"].tolist(), rows["kind"].tolist(), strict=True)
    )


_MEMBERS = {"VARCHAR": "texts", "ARRAY": "lists", "OBJECT": "objects", "BOOLEAN": "true or false"}
"""What the members of a list are called; all else but null is a number."""


def _wrong_members(engine: Engine, table: Table, c: str) -> list[Finding]:
    """The lists that do not hold what most hold: texts, or numbers. As text, a list in a list would be a label."""
    suspect = f"regexp_matches({c}, '[\\[,]\\s*[^\\x22\\s\\]]')"
    if not engine.run(f"SELECT bool_or({suspect}) AS any FROM {table.sql}")["any"][0]:
        return []
    names = " ".join(f"WHEN '{kind}' THEN '{said}'" for kind, said in _MEMBERS.items())
    members = (
        f"SELECT nth, CASE kind {names} ELSE 'numbers' END AS said FROM (SELECT nth, unnest(json_type(text, '$[*]')) AS kind"
        f" FROM (SELECT {c} AS text, row_number() OVER () - 1 AS nth FROM {table.sql})) WHERE kind <> 'NULL'"
    )
    kinds = engine.run(f"SELECT said, count(*) AS n FROM ({members}) GROUP BY ALL ORDER BY n DESC, said")["said"]
    most = next((kind for kind in kinds.tolist() if kind not in ("lists", "objects")), "texts")
    rows = engine.run(f"SELECT DISTINCT nth, said FROM ({members}) WHERE said <> '{most}' ORDER BY nth, said")
    return limited(
        finding("wrong-type", table.name, table.line(at), found=f"a list that holds {k}", expected=f"lists of {most}")
        for at, k in zip(rows["nth"].tolist(), rows["said"].tolist(), strict=True)
    )


_EXAMPLES = {
    "label": "labels as text",
    "labels": 'a list of texts, as ["A", "B"]',
    "weights": 'numbers by label, as {"A": 0.7, "B": 0.3}',
    "number": "a number, as 1 or 0.5",
}


def _check_values(engine: Engine, table: Table, relation: str, column: str, expression: str, dropped: bool) -> None:
    """Find records without an id or value; stop at values that are not what the others are."""
    valued = dropped or (table.kind == "number" and table.format == "pandas")  # there NaN is null: the context says it
    rules = [r for r in _rules(table.kind) if r[1] != "value" or not valued]
    suspects = {
        "missing-field": "count(*) - count({})",
        "empty-value": "count(*) FILTER (WHERE {} < '!')",
        "some-without": "CAST(count(*) FILTER (WHERE {} < '!') BETWEEN 1 AND count(*) - 1 AS INTEGER)",
    }
    counts = ", ".join(f"{suspects[code].format(field)} AS r{i}" for i, (code, field, _) in enumerate(rules))
    try:
        found = engine.run(f"SELECT {counts} FROM {table.sql}")
    except Exception as error:
        if bad := _uncastable(engine, table, relation, column, expression):
            raise InputError([*table.findings, *bad]) from error
        raise
    for i, rule in enumerate(rules):
        table.findings += _broken(engine, table, rule) if found[f"r{i}"][0] else []


def _rules(kind: str) -> list[tuple[str, str, str]]:
    """Code, field and condition of what no record may be; a blank text sorts before the first letter or sign."""
    rules = [("missing-field", field, f"{field} IS NULL") for field in ("id", "value")]
    texts = {"test_case": "some-without", "id": "empty-value"} | ({"value": "empty-value"} if kind == "label" else {})
    return rules + [(code, field, f"({field} < '!' AND trim({field}, {SPACES}) = '')") for field, code in texts.items()]


SPACES = "' ' || chr(9) || chr(10) || chr(13)"


def _broken(engine: Engine, table: Table, rule: tuple[str, str, str]) -> list[Finding]:
    from karat.contexts.pairing import bad_rows

    code, field, where = rule
    return bad_rows(engine.run, table, code, where, field=field)


def _uncastable(engine: Engine, table: Table, relation: str, column: str, expression: str) -> list[Finding]:
    """The values that cannot be read as this file's kind of value."""
    tried = f"SELECT {column} AS given, TRY({expression}) AS got, row_number() OVER () - 1 AS nth FROM {relation}"
    rows = engine.run(f"SELECT nth FROM ({tried}) WHERE given IS NOT NULL AND got IS NULL ORDER BY nth")["nth"].tolist()
    facts = {"expected": SAID[table.kind], "example": _EXAMPLES[table.kind]}
    return limited(finding("wrong-values", table.name, table.line(at), **facts) for at in rows)

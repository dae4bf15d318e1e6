# SPDX-License-Identifier: Apache-2.0
"""Records that cannot be scored: with ``faulty=drop`` they are left out, and said to be.

Gold without a value leaves out its predictions too; an empty prediction is a missing one; of two predictions for
an id the first counts. A repeated gold id stays an error: nobody can say which of the two is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.findings import InputError, finding
from karat.read.relation import SPACES, quoted
from karat.read.table import Engine, Table

_EMPTY = {
    "label": f"value IS NULL OR trim(value, {SPACES}) = ''",
    "labels": "value IS NULL OR len(value) = 0",
    "weights": "value IS NULL OR len(value.labels) = 0",
}
_UNASKED = quoted("karat gold without a value")


class Rule(NamedTuple):
    """Which records are left out, and why."""

    what: str
    where: str


def leave_out(engine: Engine, gold: Table, systems: Sequence[Table], *, sets: bool) -> None:
    """Gold and predictions without the records that cannot be scored; of label ``sets`` a row may be one label."""
    if not {gold.kind, *(table.kind for table in systems)} <= _EMPTY.keys():
        return
    unasked = f"SELECT test_case, id FROM {gold.sql} GROUP BY ALL HAVING bool_and({_EMPTY[gold.kind]})"
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {_UNASKED} AS {unasked}")
    _without(engine, gold, [_empty_gold(gold, sets)])
    if not gold.rows:
        raise InputError([finding("no-records", gold.name)])
    for table in systems:
        _say_empty_labels(engine, table)
        _without(engine, table, _rules(table, sets))


def _empty_gold(table: Table, sets: bool) -> Rule:
    """Without a value; beside a record of the same id it would be a repeat, which is an error."""
    return Rule("without a value", f"({_EMPTY[table.kind]}) AND ({_is_long(table, sets)} OR others = 1)")


def _rules(table: Table, sets: bool) -> list[Rule]:
    empty = f"({_EMPTY[table.kind]})"
    nth_given = f"row_number() OVER (PARTITION BY test_case, id, {empty} ORDER BY nth)"
    return [
        Rule("without a value", empty),
        Rule("for gold records without a value", f"(test_case, id) IN (SELECT (test_case, id) FROM {_UNASKED})"),
        Rule("with the id of another", f"NOT {_is_long(table, sets)} AND {nth_given} > 1"),
    ]


def _is_long(table: Table, sets: bool) -> bool:
    """Do the rows of an id together make its set, so that ids repeat rightly?"""
    return sets and table.kind == "label"


def _numbered(table: Table) -> str:
    """The records with their place in the file; a predicted list is without its empty labels."""
    clean = table.kind == "labels" and table.role == "pred"
    value = " REPLACE (list_filter(value, lambda label: label <> '') AS value)" if clean else ""
    rows = f"(SELECT *{value}, row_number() OVER () - 1 AS nth FROM {table.sql})"
    return f"(SELECT *, count(*) OVER (PARTITION BY test_case, id) AS others FROM {rows})"


def _say_empty_labels(engine: Engine, table: Table) -> None:
    if table.kind != "labels":
        return
    labels = f"(SELECT unnest(value) AS label, row_number() OVER () - 1 AS nth FROM {table.sql})"
    found = engine.run(f"SELECT count(*) AS n, min(nth) AS first FROM {labels} WHERE label = '' OR label IS NULL")
    if n := int(found["n"][0]):
        line = table.line(int(found["first"][0]))
        table.findings.append(finding("left-out", table.name, line, count=n, what=f"empty {_number(n, 'label')}"))


def _number(n: int, noun: str) -> str:
    return noun if n == 1 else noun + "s"


def _without(engine: Engine, table: Table, rules: Sequence[Rule]) -> None:
    """The table without the records that the rules name, each left out for the first rule that it meets."""
    cases = " ".join(f"WHEN {rule.where} THEN {number}" for number, rule in enumerate(rules))
    name = quoted(f"karat kept {table.role} {table.name}")
    marked = f"SELECT *, CASE {cases} ELSE -1 END AS rule FROM {_numbered(table)}"
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM ({marked}) ORDER BY nth")
    left = engine.run(
        f"SELECT rule, count(*) AS n, min(nth) AS first FROM {name} WHERE rule >= 0 GROUP BY rule ORDER BY rule"
    )
    for rule, n, first in zip(*(left[k].tolist() for k in ("rule", "n", "first")), strict=True):
        what = f"{_number(n, 'record')} {rules[rule].what}"
        table.findings.append(finding("left-out", table.name, table.line(first), count=n, what=what))
    _narrow(engine, table, name)


def _narrow(engine: Engine, table: Table, name: str) -> None:
    """Go on with the kept records; lines stay those of the file."""
    table.sql = f"(SELECT * EXCLUDE (nth, others, rule) FROM {name} WHERE rule < 0 ORDER BY nth)"
    kept = engine.run(f"SELECT nth FROM {name} WHERE rule < 0 ORDER BY nth")["nth"].tolist()
    line_of = table.line_of
    table.rows, table.memo, table.keys = len(kept), {}, None
    table.line_of = lambda row: line_of(kept[row])

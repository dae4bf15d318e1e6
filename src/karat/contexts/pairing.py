# SPDX-License-Identifier: Apache-2.0
"""Gold and predictions side by side: by position where the ids agree, else by a join; and what is left over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.base import Run, Table
from karat.findings import LIMIT, Finding, finding
from karat.side import Side

_ON = "g.test_case = p.test_case AND g.id = p.id"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How the two sides meet."""

    gold: int
    pred: int
    aligned: int

    def counts(self) -> dict[str, int]:
        return {
            "gold": self.gold,
            "pred": self.pred,
            "aligned": self.aligned,
            "gold_only": self.gold - self.aligned,
            "pred_only": self.pred - self.aligned,
        }


def in_order(run: Run, gold: Table, pred: Table) -> bool:
    """Do both sides have the same ids in the same order? Then no join is needed."""
    if gold.rows != pred.rows:
        return False
    if gold.keys and pred.keys:
        return gold.keys == pred.keys
    differ = "g.id IS DISTINCT FROM p.id OR g.test_case IS DISTINCT FROM p.test_case"
    found = run(f"SELECT count(*) AS n FROM {gold.sql} g POSITIONAL JOIN {pred.sql} p WHERE {differ}")
    return not found["n"][0]


def joined(run: Run, gold: Table, pred: Table) -> str:
    """A FROM clause with gold as ``g`` and predictions as ``p``, whatever one side lacks being null."""
    if in_order(run, gold, pred):
        return f"{gold.sql} g POSITIONAL JOIN {pred.sql} p"
    return f"{gold.sql} g FULL JOIN {pred.sql} p ON {_ON}"


def coverage_findings(
    run: Run, gold: Table, pred: Table, coverage: Coverage, options: Mapping[str, Any]
) -> list[Finding]:
    """What the two sides do not share, said once each with examples."""
    counts, out = coverage.counts(), []
    if coverage.gold and coverage.pred and not coverage.aligned:
        first = {t.role: ", ".join(map(repr, _ids(run, f"SELECT id FROM {t.sql} LIMIT 3"))) for t in (gold, pred)}
        none = finding("no-common-ids", pred.name, gold=first["gold"], pred=first["pred"])
        return [none, *alike_ids(run, gold, pred)]
    if counts["gold_only"]:
        ids = _ids(run, f"SELECT g.id FROM {gold.sql} g ANTI JOIN {pred.sql} p ON {_ON} ORDER BY g.id LIMIT 3")
        code = "missing-predictions" if options["missing"] == "error" else "gold-only-ids"
        policy = {"wrong": "wrong", "skip": "not there at all"}.get(options["missing"], "wrong")
        facts: dict[str, Any] = {"count": counts["gold_only"], "total": coverage.gold, "policy": policy}
        out.append(finding(code, pred.name, examples=", ".join(ids), **facts))
    if counts["pred_only"]:
        ids = _ids(run, f"SELECT p.id FROM {pred.sql} p ANTI JOIN {gold.sql} g ON {_ON} ORDER BY p.id LIMIT 3")
        policy = "counted as wrong" if options.get("extra") == "wrong" else "left out"
        facts = {"count": counts["pred_only"], "policy": policy}
        out.append(finding("pred-only-ids", pred.name, examples=", ".join(ids), **facts))
    return out + (alike_ids(run, gold, pred) if counts["gold_only"] and counts["pred_only"] else [])


def alike_ids(run: Run, gold: Table, pred: Table) -> list[Finding]:
    """Ids of either side that would meet if they were spelt alike, or if the test cases were."""
    lone = {
        "g": f"(SELECT g.* FROM {gold.sql} g ANTI JOIN {pred.sql} p ON {_ON})",
        "p": f"(SELECT p.* FROM {pred.sql} p ANTI JOIN {gold.sql} g ON {_ON})",
    }
    fields = "min(g.id) AS gold, min_by(p.id, g.id) AS pred, count(DISTINCT g.id) AS n"
    near = run(
        f"SELECT {fields} FROM {lone['g']} g JOIN {lone['p']} p ON g.id <> p.id AND {_plain('g')} = {_plain('p')}"
    )
    fields = "min(g.id) AS id, min_by(g.test_case, g.id) AS gold, min_by(p.test_case, g.id) AS pred, count(DISTINCT g.id) AS n"
    same = run(f"SELECT {fields} FROM {lone['g']} g JOIN {lone['p']} p ON g.id = p.id")
    out = [("ids-alike", near, ("gold", "pred")), ("test-cases-differ", same, ("id", "gold", "pred"))]
    return [
        finding(code, pred.name, count=int(row["n"][0]), **{k: row[k][0] for k in keys})
        for code, row, keys in out
        if row["n"][0]
    ]


def _plain(side: str) -> str:
    """An id in small letters, without blanks, leading zeros or a final .0 (as ids get on their way through a sheet)."""
    return f"ltrim(regexp_replace(lower(trim({side}.id)), '\\.0+$', ''), '0')"


def _ids(run: Run, sql: str) -> list[str]:
    return [str(i) for i in run(sql)["id"].tolist()]


def repeated_ids(run: Run, table: Table, code: str = "repeated-id") -> list[Finding]:
    """Records whose (test case, id) an earlier record has."""
    if not (table.keys.repeat() if table.keys else _maybe(run, table)):
        return []
    numbered = f"(SELECT test_case, id, row_number() OVER () - 1 AS nth FROM {table.sql})"
    rows = run(
        f"SELECT r.test_case, r.id, r.nth, f.first FROM {numbered} r JOIN (SELECT test_case, id, min(nth) AS first"
        f" FROM {numbered} GROUP BY ALL HAVING count(*) > 1) f USING (test_case, id) WHERE r.nth > f.first ORDER BY r.nth"
    )
    found = [
        finding(code, table.name, table.line(at), id=i, where=_in(t), first=table.line(first), document=i, query=t)
        for t, i, at, first in list(zip(*(rows[k].tolist() for k in ("test_case", "id", "nth", "first")), strict=True))[
            :LIMIT
        ]
    ]
    return found + more(code, len(rows["nth"]), table)


def _maybe(run: Run, table: Table) -> bool:
    return maybe_repeated(run(f"SELECT hash(test_case, id) AS h FROM {table.sql}")["h"])


def maybe_repeated(hashes: NDArray[Any]) -> bool:
    """Are two of the hashes alike? Sorting 8-byte hashes needs a tenth of the memory of counting the ids."""
    ordered = np.sort(hashes)
    return bool((ordered[1:] == ordered[:-1]).any())


def _in(test_case: str) -> str:
    return f" of test case {test_case!r}" if test_case else ""


def more(kind: str, total: int, table: Table | Side) -> list[Finding]:
    """One finding that counts those past the limit."""
    return [finding("more", table.name, count=total - LIMIT, kind=kind)] if total > LIMIT else []


def bad_rows(run: Run, table: Table, code: str, where: str, **facts: Any) -> list[Finding]:
    """A finding with its line for each record of ``table`` that meets the condition ``where``."""
    rows = run(
        f"SELECT nth FROM (SELECT *, row_number() OVER () - 1 AS nth FROM {table.sql}) WHERE {where} ORDER BY nth"
    )
    lines = [table.line(at) for at in rows["nth"][:LIMIT].tolist()]
    return [finding(code, table.name, line, **facts) for line in lines] + more(code, len(rows["nth"]), table)

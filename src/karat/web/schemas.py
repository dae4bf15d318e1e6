# SPDX-License-Identifier: Apache-2.0
"""What operations answer, as JSON schemas: parts of the OpenAPI document."""

from __future__ import annotations

from typing import Any

import msgspec

from karat.findings import Finding
from karat.web.benchmarks import Settings

TEXT, NUMBER, WHOLE, YES = ({"type": t} for t in ("string", "number", "integer", "boolean"))
MAYBE_TEXT = {"type": ["string", "null"]}
SCORES = {"type": "object", "additionalProperties": {"type": ["number", "null"]}}


def _object(required: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": required | more}


def _list(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _part(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


RUN = _object(
    {
        "id": TEXT,
        "created": TEXT,
        "context": TEXT,
        "gold": TEXT,
        "systems": _list(TEXT),
        "tags": _list(TEXT),
        "scores": {"type": "object"},
    }
)
BENCHMARK = _object(
    {"id": TEXT, "created": TEXT, "open": MAYBE_TEXT, "title": TEXT, "context": TEXT, "metrics": _list(TEXT)},
    options={"type": "object"},
)
SUBMISSION = _object(
    {
        "id": TEXT,
        "benchmark": TEXT,
        "system": TEXT,
        "phase": TEXT,
        "sha256": TEXT,
        "received": TEXT,
        "state": {"enum": ["queued", "scored", "unscored", "refused", "failed", "withdrawn"]},
        "scores": SCORES,
        "findings": _list(_part("Finding")),
    },
    team=TEXT,
    run=MAYBE_TEXT,
    duplicate=YES,
    left=_object({"today": WHOLE, "in_all": WHOLE}),
)
BOARD_ROW = _object(
    {
        "rank": WHOLE,
        "team": TEXT,
        "system": TEXT,
        "scores": SCORES,
        "received": TEXT,
        "group": TEXT,
        "low": {"type": ["integer", "null"]},
        "high": {"type": ["integer", "null"]},
    }
)
PERSON = _object({"id": TEXT, "role": TEXT, "name": TEXT}, benchmark=TEXT, created=TEXT, revoked=MAYBE_TEXT, token=TEXT)
UNIT = _object(
    {
        "test_case": TEXT,
        "id": TEXT,
        "score": {"type": ["number", "null"]},
        "gold": TEXT,
        "pred": TEXT,
        "other": TEXT,
        "text": TEXT,
    }
)


def components() -> dict[str, Any]:
    """Every schema by its name."""
    _, structs = msgspec.json.schema_components((Finding, Settings), ref_template="#/components/schemas/{name}")
    return structs | {
        "Problem": _object({"type": TEXT, "title": TEXT, "status": WHOLE}, detail=TEXT, findings=_list(_part("Finding"))),
        "Run": _object({"id": TEXT, "tags": _list(TEXT), "whole": YES, "report": _object({"schema": WHOLE, "context": TEXT, "systems": _list({"type": "object"})})}),
        "Runs": _object({"total": WHOLE, "runs": _list(RUN)}),
        "Units": _object({"total": WHOLE, "metric": TEXT, "units": _list(UNIT)}),
        "Job": _object({"id": TEXT, "kind": TEXT, "state": {"enum": ["queued", "running", "done", "failed", "cancelled"]}, "created": TEXT, "before": WHOLE}),
        "Benchmark": BENCHMARK,
        "Benchmarks": _object({"total": WHOLE, "benchmarks": _list(_part("Benchmark"))}),
        "Gold": _object({"name": TEXT, "bytes": WHOLE, "sha256": TEXT, "state": TEXT, "good": {"type": ["boolean", "null"]}, "findings": _list(_part("Finding"))}),
        "Leaderboard": _object({"phase": TEXT, "metrics": _list(TEXT), "rows": _list(BOARD_ROW), "settled": YES}),
        "Submission": SUBMISSION,
        "Submissions": _object({"total": WHOLE, "submissions": _list(_part("Submission"))}),
        "Person": PERSON,
        "Teams": _object({"total": WHOLE, "teams": _list(_part("Person"))}),
        "Tokens": _object({"total": WHOLE, "tokens": _list(_part("Person"))}),
        "Audit": _object({"lines": _list(_object({"moment": TEXT, "who": TEXT, "address": TEXT, "action": TEXT, "subject": TEXT}))}),
        "Verification": _object({"id": TEXT, "whole": YES, "same": YES, "scores": _list({"type": "object"})}),
    }  # fmt: skip


ANSWERS = {
    "list_runs": "Runs", "get_run": "Run", "list_units": "Units", "evaluate_files": "Job", "get_job": "Job", "list_benchmarks": "Benchmarks",
    "create_benchmark": "Benchmark", "get_benchmark": "Benchmark", "change_benchmark": "Benchmark", "import_benchmark": "Benchmark",
    "get_gold": "Gold", "put_gold": "Benchmark", "get_board": "Leaderboard", "list_submissions": "Submissions", "submit": "Submission",
    "get_submission": "Submission", "act_on_submission": "Submission", "list_teams": "Teams", "invite_team": "Person", "list_tokens": "Tokens",
    "create_token": "Person", "get_audit": "Audit", "whoami": "Person", "verify_run": "Verification",
}  # fmt: skip
"""The schema of what each operation answers, by the name of its function."""

# SPDX-License-Identifier: Apache-2.0
"""Requests that nobody would send, made from the OpenAPI document: none of them makes the server fail."""

from __future__ import annotations

import re

import pytest

from tests.web.site import Visitor, labels, running, until
from tests.web.stories import benchmark, settled, submit, team


def test_answers_are_as_the_document_says(guarded, admin):
    """Real answers of every operation that is described, held against their schemas."""
    import jsonschema

    document = admin.get("/api").json
    assert document["openapi"].startswith("3.1")
    assert "<h1>REST</h1>" in admin.page("/api").text
    id = benchmark(admin)
    one = team(admin, id)
    good, bad = settled(one, submit(one, id, labels(60, wrong=4))), settled(one, submit(one, id, "id,value\ni1,\n"))
    job = admin.upload("/api/evaluations", gold=("g.csv", labels(30)), systems=("s.csv", labels(30, wrong=3))).json
    run = until(lambda: (j := admin.get(f"/api/jobs/{job['id']}").json)["state"] == "done" and j)["result"]["run"]
    places = {
        "/runs": "", "/runs/{run}": run, "/runs/{run}/units": run, "/runs/{run}/verify": run, "/jobs/{job}": job["id"], "/benchmarks": "",
        "/benchmarks/{id}": id, "/benchmarks/{id}/gold": id, "/benchmarks/{id}/leaderboard": id, "/benchmarks/{id}/submissions": id,
        "/benchmarks/{id}/teams": id, "/submissions/{id}": good["id"], "/tokens": "", "/audit": "", "/me": "",
    }  # fmt: skip
    for path, name in places.items():
        said = document["paths"][path]["get"]["responses"]["2XX"]["content"]["application/json"]["schema"]
        answer = admin.get("/api" + re.sub(r"\{\w+\}", name, path))
        assert answer.status == 200, (path, answer.text)
        jsonschema.validate(answer.json, document | said)
    jsonschema.validate(bad, document | {"$ref": "#/components/schemas/Submission"})
    problem = one.get("/api/runs").json
    jsonschema.validate(problem, document | {"$ref": "#/components/schemas/Problem"})


@pytest.mark.slow
@pytest.mark.parametrize("role", ["admin", "participant", "nobody"])
def test_no_request_makes_the_server_fail(tmp_path, role):
    import schemathesis
    from schemathesis.checks import not_a_server_error

    with running(tmp_path / "s.db", "--accounts") as site:
        admin = Visitor(site, site.admin)
        id = benchmark(admin)
        one = team(admin, id)
        settled(one, submit(one, id, labels(60)))
        token = {"admin": site.admin, "participant": one.token, "nobody": ""}[role]
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        schema = schemathesis.openapi.from_url(f"{site.url}/api/openapi.json", headers=headers)

        for operation in schema.get_all_operations():
            _tried(operation.ok().as_strategy(), headers, not_a_server_error)
        assert not [line for line in site.said if '"event":"error"' in line]


def _tried(strategy, headers, check) -> None:
    from hypothesis import HealthCheck, given, settings

    @given(case=strategy)
    @settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def once(case):
        case.call_and_validate(headers=headers, checks=[check])

    once()

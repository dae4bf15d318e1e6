# SPDX-License-Identifier: Apache-2.0
"""Requests that nobody would send, made from the OpenAPI document: none of them makes the server fail."""

from __future__ import annotations

import pytest

from tests.web.site import Visitor, labels, running
from tests.web.stories import benchmark, settled, submit, team


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

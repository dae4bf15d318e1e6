# SPDX-License-Identifier: Apache-2.0
"""Servers that the tests of the web application share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.store.conftest import fresh
from tests.store.conftest import postgres as postgres
from tests.web.site import Site, Visitor, running


@pytest.fixture(scope="session")
def guarded(tmp_path_factory) -> Iterator[Site]:
    """A server for people with tokens."""
    with running(tmp_path_factory.mktemp("guarded") / "store.db", "--accounts") as site:
        yield site


@pytest.fixture
def admin(guarded: Site) -> Visitor:
    return Visitor(guarded, guarded.admin)


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path) -> str:
    """An empty database of the kind that the test asks for."""
    kind = getattr(request, "param", "sqlite")
    return str(tmp_path / "store.db") if kind == "sqlite" else fresh(request.getfixturevalue("postgres"))

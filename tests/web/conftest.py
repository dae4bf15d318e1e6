# SPDX-License-Identifier: Apache-2.0
"""Servers that the tests of the web application share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from karat.store import open_store
from karat.web.demo import fill
from tests.store.conftest import fresh
from tests.store.conftest import postgres as postgres
from tests.web.site import Site, Visitor, running
from tests.web.stories import board


@pytest.fixture(scope="session")
def guarded(tmp_path_factory) -> Iterator[Site]:
    """A server for people with tokens."""
    with running(tmp_path_factory.mktemp("guarded") / "store.db", "--accounts") as site:
        yield site


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> Iterator[Site]:
    """An open server with an example of everything."""
    folder = tmp_path_factory.mktemp("demo")
    store = open_store(folder / "demo.db")
    fill(store, folder)
    store.close()
    with running(folder / "demo.db") as site:
        board(Visitor(site), "topics-of-short-notes", teams=3)
        yield site


@pytest.fixture
def admin(guarded: Site) -> Visitor:
    return Visitor(guarded, guarded.admin)


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path) -> str:
    """An empty database of the kind that the test asks for."""
    kind = getattr(request, "param", "sqlite")
    return str(tmp_path / "store.db") if kind == "sqlite" else fresh(request.getfixturevalue("postgres"))

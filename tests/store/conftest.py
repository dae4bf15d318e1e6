# SPDX-License-Identifier: Apache-2.0
"""Every test of the store runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, make_url, text

from karat.store import Store, open_store
from tests.store import server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with server.running() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    return fresh(request.getfixturevalue("postgres"))


def fresh(url: str) -> str:
    """A new database of the server."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        count = connection.execute(text("SELECT count(*) FROM pg_database")).scalar()
        connection.execute(text(f"CREATE DATABASE d{count}"))
    engine.dispose()
    return make_url(url).set(database=f"d{count}").render_as_string(hide_password=False)


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    found = open_store(address)
    yield found
    found.close()

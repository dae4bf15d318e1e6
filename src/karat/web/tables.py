# SPDX-License-Identifier: Apache-2.0
"""The server's own tables, which stand in the store's database beside the runs."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    func,
    select,
)

from karat.store import Store, StoreError
from karat.store.listing import moment

metadata = MetaData()

FORM = "1"
"""The form that these tables have; a later karat finds it here and knows what to change."""
LOCK = 0x6B61726175
"""Number of the advisory lock under which a PostgreSQL store is given these tables."""

HIDDEN = "hidden-gold"
"""Tag of runs against the gold of a benchmark, which only its organisers see."""

settings = Table(
    "web_settings", metadata, Column("name", String(64), primary_key=True), Column("value", Text, nullable=False)
)

tokens = Table(
    "web_tokens",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("name", String(128), nullable=False),
    Column("benchmark", String(64), nullable=False),
    Column("created", String(40), nullable=False),
    Column("revoked", String(40)),
)
"""``benchmark`` is empty where a token is not bound to one."""

sessions = Table(
    "web_sessions",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("token", String(16), nullable=False),
    Column("expires", String(40), nullable=False),
)

files = Table(
    "web_files",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", String(255), nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("created", String(40), nullable=False),
)

chunks = Table(
    "web_chunks",
    metadata,
    Column("file", String(32), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

jobs = Table(
    "web_jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("key", String(96), nullable=False),
    Column("state", String(16), nullable=False),
    Column("owner", String(16), nullable=False),
    Column("created", String(40), nullable=False),
    Column("payload", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("worker", String(32)),
    Column("lease", String(40)),
    Column("started", String(40)),
    Column("finished", String(40)),
    Column("step", String(128)),
    Column("result", LargeBinary),
    Column("problem", Text),
)
Index("web_jobs_by_state", jobs.c.state, jobs.c.created)
Index("web_jobs_by_key", jobs.c.key, jobs.c.created)

benchmarks = Table(
    "web_benchmarks",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("created", String(40), nullable=False),
    Column("owner", String(16), nullable=False),
    Column("title", String(255), nullable=False),
    Column("gold", String(32), nullable=False),
    Column("settings", Text, nullable=False),
)

submissions = Table(
    "web_submissions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("benchmark", String(64), nullable=False),
    Column("team", String(16), nullable=False),
    Column("system", String(128), nullable=False),
    Column("phase", String(128), nullable=False),
    Column("file", String(32), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("key", String(255)),
    Column("received", String(40), nullable=False),
    Column("state", String(16), nullable=False),
    Column("job", String(32), nullable=False),
    Column("run", String(16)),
    Column("scores", Text),
    Column("findings", Text),
    UniqueConstraint("benchmark", "team", "key"),
)
Index("web_submissions_of", submissions.c.benchmark, submissions.c.received)
Index("web_submissions_by_run", submissions.c.run)

boards = Table(
    "web_boards",
    metadata,
    Column("benchmark", String(64), primary_key=True),
    Column("phase", String(128), primary_key=True),
    Column("basis", String(64), nullable=False),
    Column("places", Text, nullable=False),
)

audit = Table(
    "web_audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("moment", String(40), nullable=False),
    Column("who", String(160), nullable=False),
    Column("address", String(64), nullable=False),
    Column("action", String(64), nullable=False),
    Column("subject", String(255), nullable=False),
)


def prepare(store: Store) -> None:
    """Give the store these tables, if it has them not."""
    with store.transaction(write=True) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
        metadata.create_all(connection)
        form = connection.execute(settings.select().where(settings.c.name == "form")).first()
        if form is None:
            connection.execute(settings.insert(), [{"name": "form", "value": FORM}])
        elif form.value != FORM:
            raise StoreError("a newer karat has served this store; upgrade karat to serve it")


def now() -> str:
    """This moment as the tables write it."""
    return moment(datetime.now(UTC))

# SPDX-License-Identifier: Apache-2.0
"""The tables of a store, as they are now; `migrations` says how older ones become these."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, Text

metadata = MetaData()

_RUN = ("runs.id",)

settings = Table(
    "settings", metadata, Column("name", String(64), primary_key=True), Column("value", Text, nullable=False)
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("created", String(40), nullable=False, index=True),
    Column("context", String(64), nullable=False),
    Column("gold", Text, nullable=False),
    Column("karat", String(32), nullable=False),
    Column("question", String(16), nullable=False, index=True),
    Column("plan", Text, nullable=False),
    Column("provenance", Text, nullable=False),
    Column("digest", String(32), nullable=False),
    Column("texts", LargeBinary),
)

systems = Table(
    "systems",
    metadata,
    Column("run_id", ForeignKey(*_RUN, ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("result", LargeBinary, nullable=False),
    Column("cells", LargeBinary, nullable=False),
)

tags = Table(
    "tags",
    metadata,
    Column("run_id", ForeignKey(*_RUN, ondelete="CASCADE"), primary_key=True),
    Column("tag", String(128), primary_key=True),
)

scores = Table(
    "scores",
    metadata,
    Column("run_id", ForeignKey(*_RUN, ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("metric", String(255), primary_key=True),
    Column("value", Float),
    Column("low", Float),
    Column("high", Float),
)

Index("scores_by_metric", scores.c.metric, scores.c.value)

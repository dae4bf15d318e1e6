# SPDX-License-Identifier: Apache-2.0
"""Steps that several tests take: a benchmark, its teams, their submissions."""

from __future__ import annotations

import json
import secrets
from typing import Any

from tests.web.site import Answer, Site, Visitor, labels, until

GOLD = labels(60)


def benchmark(admin: Visitor, gold: str = GOLD, **settings: Any) -> str:
    """The id of a new benchmark."""
    given = {"title": "Letters", "context": "monolabel", "metrics": ["accuracy", "f1"], "per_day": 50} | settings
    name = f"letters-{secrets.token_hex(3)}"
    made = admin.upload("/api/benchmarks", gold=("gold.csv", gold), settings=json.dumps(given), id=name)
    assert made.status == 201, made.text
    return made.json["id"]


def team(admin: Visitor, benchmark: str, name: str = "") -> Visitor:
    """A participant of it."""
    made = admin.ask("POST", f"/api/benchmarks/{benchmark}/teams", {"name": name or secrets.token_hex(4)})
    assert made.status == 201, made.text
    return Visitor(admin.site, made.json["token"])


def submit(who: Visitor, benchmark: str, content: str | bytes, name: str = "run.csv", **headers: str) -> Answer:
    body = content.encode() if isinstance(content, str) else content
    return who.ask("POST", f"/api/benchmarks/{benchmark}/submissions?name={name}", body, **headers)


def settled(who: Visitor, sent: Any) -> Any:
    """A submission once it is scored or refused."""
    id = sent.json["id"] if isinstance(sent, Answer) else sent["id"]

    def done() -> Any:
        found = who.get(f"/api/submissions/{id}").json
        return found if found["state"] != "queued" else None

    return until(done, f"submission {id}")


def board(who: Visitor, benchmark: str, settled: bool = True, teams: int = 0) -> Any:
    """The leaderboard, once its ranges are computed and so many teams are there."""

    def done() -> Any:
        found = who.get(f"/api/benchmarks/{benchmark}/leaderboard").json
        return found if (found["settled"] or not settled) and len(found["rows"]) >= teams else None

    return until(done, "the leaderboard")


def organiser(site: Site) -> Visitor:
    made = Visitor(site, site.admin).ask("POST", "/api/tokens", {"role": "organiser", "name": secrets.token_hex(4)})
    return Visitor(site, made.json["token"])

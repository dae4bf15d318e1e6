# SPDX-License-Identifier: Apache-2.0
"""A store with an example of every context and a benchmark, for a look around (``karat serve --demo``)."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat.api import evaluate
from karat.evaluation import Evaluation
from karat.store import Store
from karat.web import benchmarks, people, submissions, tables
from karat.web.people import LOCAL
from karat.web.work import Inputs

Records = list[dict[str, Any]]
Random = np.random.Generator

SUBJECTS = (
    "The ferry,Our train,The museum,This phone,The new driver,A long film,The hotel,Her garden,The harbour,My bank"
)
VERBS = "was late again,closed early,surprised everyone,kept its promise,lost the keys,looks better now,cost too much"
PLACES = "Lisbon,Oslo,Quito,Nairobi,Porto,Kyoto"
PEOPLE = "Ada Byron,Kofi Mensah,Mei Lin,Rosa Parks,Omar Haddad"
TOPICS = ("travel", "money", "culture", "technology", "home")


@dataclass(frozen=True)
class Example:
    """Gold, systems and how to evaluate them."""

    gold: Records
    systems: dict[str, Records]
    context: str


def _sentence(rng: Random) -> str:
    return f"{rng.choice(SUBJECTS.split(','))} in {rng.choice(PLACES.split(','))} {rng.choice(VERBS.split(','))}."


def _noisy(rng: Random, gold: Records, right: float, other: Callable[[], Any], missing: float = 0.0) -> Records:
    """Predictions that are right with this probability."""
    return [
        {"id": g["id"], "value": g["value"] if rng.random() < right else other()}
        for g in gold
        if rng.random() >= missing
    ]


def _labels(rng: Random) -> Example:
    gold: Records = [
        {"id": f"item-{i}", "value": str(rng.choice(TOPICS, p=[0.35, 0.25, 0.2, 0.12, 0.08])), "text": _sentence(rng)}
        for i in range(400)
    ]
    other = lambda: str(rng.choice(TOPICS))
    systems = {"careful": _noisy(rng, gold, 0.86, other), "hasty": _noisy(rng, gold, 0.66, other, 0.03)}
    return Example(gold, systems | {"steady": _noisy(rng, gold, 0.84, other)}, "monolabel")


def _sets(rng: Random) -> Example:
    def drawn() -> list[str]:
        return sorted(map(str, rng.choice(TOPICS, rng.integers(1, 4), replace=False)))

    gold: Records = [{"id": f"article-{i}", "value": drawn(), "text": _sentence(rng)} for i in range(180)]
    return Example(
        gold, {"wide": _noisy(rng, gold, 0.7, drawn), "narrow": _noisy(rng, gold, 0.55, drawn)}, "multilabel"
    )


def _weights(rng: Random) -> Example:
    def shares(sharp: float) -> dict[str, float]:
        yes, no = rng.dirichlet([sharp] * 3).round(3)[:2]
        return {"yes": float(yes), "no": float(no), "unsure": round(1 - float(yes) - float(no), 3)}

    gold: Records = [{"id": f"post-{i}", "value": shares(0.8), "text": _sentence(rng)} for i in range(150)]
    near = [{"id": g["id"], "value": {k: round(0.8 * v + 0.2 / 3, 4) for k, v in g["value"].items()}} for g in gold]
    return Example(gold, {"close": near, "vague": [{"id": g["id"], "value": shares(4)} for g in gold]}, "soft")


def _rankings(rng: Random) -> Example:
    grades = {f"query-{q}": rng.choice(4, 40, p=[0.62, 0.2, 0.13, 0.05]) for q in range(30)}
    gold = [{"query": q, "id": f"doc-{i}", "value": int(g)} for q, row in grades.items() for i, g in enumerate(row)]

    def run(noise: float) -> Records:
        return [
            {"query": q, "id": f"doc-{i}", "score": round(float(g + noise * rng.normal()), 4)}
            for q, row in grades.items()
            for i, g in enumerate(row)
        ]

    return Example(gold, {"dense": run(1.0), "keywords": run(2.5)}, "ranking")


def _spans(rng: Random) -> Example:
    gold: Records = []
    systems: dict[str, Records] = {"tagger": [], "rules": []}
    for i in range(80):
        person, place = str(rng.choice(PEOPLE.split(","))), str(rng.choice(PLACES.split(",")))
        text = f"{person} went to {place}. {_sentence(rng)}"
        at = len(person) + len(" went to ")
        marks = [
            {"start": 0, "end": len(person), "label": "PERSON"},
            {"start": at, "end": at + len(place), "label": "PLACE"},
        ]
        gold.append({"id": f"note-{i}", "text": text, "spans": marks})
        for name, right in (("tagger", 0.88), ("rules", 0.62)):
            systems[name].append({"id": f"note-{i}", "text": text, "spans": [*_slips(rng, marks, right)]})
    return Example(gold, systems, "spans")


def _slips(rng: Random, marks: Records, right: float) -> Iterator[dict[str, Any]]:
    """Spans with a wrong end or label here and there, and some that are missed."""
    for mark in marks:
        if rng.random() < right:
            yield mark
        elif rng.random() < 0.7:
            yield mark | [{"end": mark["end"] - 2}, {"label": "PLACE"}][int(rng.integers(0, 2))]


def _pages(rng: Random) -> Example:
    gold: Records = [
        {"bundle": f"scan-{b}", "page": p + 1, "first": bool(p == 0 or rng.random() < 0.3)}
        for b in range(14)
        for p in range(int(rng.integers(8, 24)))
    ]

    def cut(right: float) -> Records:
        return [g | {"first": g["first"] if g["page"] == 1 or rng.random() < right else not g["first"]} for g in gold]

    return Example(gold, {"knife": cut(0.95), "saw": cut(0.8)}, "splitting")


def _clusters(rng: Random) -> Example:
    gold = [{"id": f"photo-{i}", "value": f"place {rng.integers(0, 7)}", "text": _sentence(rng)} for i in range(160)]
    other = lambda: f"place {rng.integers(0, 10)}"
    systems = {"herd": _noisy(rng, gold, 0.85, other), "flock": _noisy(rng, gold, 0.55, other)}
    return Example(gold, systems, "clustering")


def _probabilities(rng: Random) -> Example:
    gold: Records = [{"id": f"mail-{i}", "value": str(rng.choice(["spam", "ham"], p=[0.3, 0.7])), "text": _sentence(rng)} for i in range(300)]  # fmt: skip

    def sure(sharp: float) -> Records:
        spam = [1 / (1 + np.exp(-sharp * ((1 if g["value"] == "spam" else -1) + rng.normal()))) for g in gold]
        return [
            {"id": g["id"], "value": {"spam": round(float(p), 4), "ham": round(1 - round(float(p), 4), 4)}}
            for g, p in zip(gold, spam, strict=True)
        ]

    return Example(gold, {"calm": sure(1.5), "loud": sure(6.0)}, "probabilities")


def _numbers(rng: Random) -> Example:
    stars = rng.normal(3.2, 1.1, 220).clip(1, 5).round(1)
    gold: Records = [{"id": f"review-{i}", "value": float(v), "text": _sentence(rng)} for i, v in enumerate(stars)]

    def near(noise: float, bias: float = 0.0) -> Records:
        return [{"id": g["id"], "value": round(float(g["value"] + bias + noise * rng.normal()), 2)} for g in gold]

    return Example(gold, {"fine": near(0.4), "generous": near(0.5, 0.6)}, "numbers")


EXAMPLES: dict[str, Callable[[Random], Example]] = {
    "labels": _labels, "label sets": _sets, "disagreement": _weights, "rankings": _rankings, "spans": _spans,
    "page streams": _pages, "clusters": _clusters, "probabilities": _probabilities, "numbers": _numbers,
}  # fmt: skip


def fill(store: Store, folder: Path) -> None:
    """Put an example of every context and a benchmark into the store."""
    tables.prepare(store)
    for i, (name, make) in enumerate(reversed(EXAMPLES.items())):
        store.save(_evaluated(make(np.random.default_rng(i)), folder), ["demo", name])
    _benchmark(store, _labels(np.random.default_rng(7)))


def _evaluated(example: Example, folder: Path) -> Evaluation:
    paths = []
    for name, records in {"gold": example.gold, **example.systems}.items():
        paths.append(folder / f"{name}.json")
        paths[-1].write_text(json.dumps(records), "utf-8")
    evaluation = evaluate(
        paths[0],
        paths[1:],
        names=list(example.systems),
        units=True,
        hashes=True,
        intervals=0.95,
        context=example.context,
    )
    inputs = Inputs(folder, {p.stem: p for p in paths}, {p.stem: p.name for p in paths})
    return inputs.renamed(evaluation)


def _benchmark(store: Store, example: Example) -> None:
    """A benchmark with three teams, whose submissions the workers find in the queue."""
    settings = {
        "title": "Topics of short notes", "context": "monolabel", "metrics": ["f1", "accuracy", "kappa"],
        "description": "Say what each note is about: *travel*, *money*, *culture*, *technology* or *home*.\n\n"
        "Submit `id` and `value`, one record a note.",
    }  # fmt: skip
    with store.transaction(write=True) as connection:
        gold = _file([{k: g[k] for k in ("id", "value")} for g in example.gold])
        benchmark = benchmarks.create(connection, LOCAL, settings, gold, "gold.json")
        for team, system in zip(("Aurora", "Borealis", "Cirrus"), example.systems, strict=True):
            person, _ = people.invite(connection, "participant", team, benchmark.id)
            submissions.take(connection, benchmark, person, _file(example.systems[system]), f"{system}.json", system)


def _file(records: Records) -> io.BytesIO:
    return io.BytesIO(json.dumps(records).encode())

# SPDX-License-Identifier: Apache-2.0
"""How the data in src/karat/examples were made: `python examples/bundled.py` writes them again.

Everything is invented. The reviews were written first and are not made here.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "src" / "karat" / "examples"

TREE = {
    "science": ["physics", "biology", "medicine"],
    "economy": ["markets", "labour"],
    "culture": ["film", "music", "books"],
}
OPENINGS = "After a long winter|In the second week|Without much noise|Against all forecasts|For the first time"
EVENTS = {
    "physics": "a laboratory cooled its mirrors to a millionth of a degree",
    "biology": "the cranes returned to the northern marshes",
    "medicine": "the clinic began to test a vaccine against sleeping sickness",
    "markets": "the price of wheat fell below that of barley",
    "labour": "the dockers agreed to a shorter week",
    "film": "a silent film sold out three cinemas",
    "music": "the orchestra played a piece for forty bells",
    "books": "a novel about lighthouse keepers won the prize",
}
QUERIES = (
    "tide tables|rye bread|slate roofs|bee swarms|canal locks|night trains|salt pans|letterpress|peat bogs|cable cars"
)
PEOPLE = "Ada Krol|Tomas Brandt|Mei Tanaka|Ines Duarte|Kofi Mensah|Lena Novak"
PLACES = "Lisbon|Ghent|Tartu|Bergen|Trieste"
FIRMS = "Halden Works|Orsa Bank|Meridian Press"
PATTERNS = (
    "{person} of {firm} wrote from {place} on Monday .",
    "Yesterday {person} met {person} in {place} .",
    "The letter to {firm} was signed in {place} .",
    "{person} left {firm} and moved to {place} .",
    "Nothing more was heard from {place} .",
)
KINDS = ("invoice", "contract", "letter", "receipt")
VOTERS = ("vera", "bill", "sana", "olof", "chen")


def lines(path: str, rows: Iterable[str]) -> None:
    target = FOLDER / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def records(path: str, rows: Iterable[dict[str, Any]]) -> None:
    lines(path, (json.dumps(row, ensure_ascii=False) for row in rows))


def topics(rng: random.Random) -> None:
    leaves = list(EVENTS)

    def draw() -> list[str]:
        return sorted(rng.sample(leaves, rng.choice((1, 1, 2, 2, 3))))

    gold = [{"id": f"article-{i:03}", "value": draw()} for i in range(90)]
    for row in gold:
        row["text"] = f"{rng.choice(OPENINGS.split('|'))} {' and '.join(EVENTS[t] for t in row['value'])}."
    records("topics/gold.jsonl", gold)
    siblings = {leaf: [s for s in group if s != leaf] for group in TREE.values() for leaf in group}

    def slip(label: str, right: float, near: float) -> str:
        if rng.random() < right:
            return label
        return rng.choice(siblings[label] if rng.random() < near else leaves)

    # Both err as often; one stays within the branch of the tree, which only hierarchical metrics see.
    for name, near in (("near", 0.9), ("far", 0.1)):
        rows = ({"id": g["id"], "value": sorted({slip(label, 0.72, near) for label in g["value"]})} for g in gold)
        records(f"topics/{name}.jsonl", rows)
    (FOLDER / "topics/tree.json").write_text(json.dumps(TREE, indent=1) + "\n", encoding="utf-8")


def comments(rng: random.Random) -> None:
    shares = [rng.betavariate(0.7, 0.9) for _ in range(80)]
    votes = [[("offensive" if rng.random() < share else "fine") for _ in VOTERS] for share in shares]
    rows = [
        {"id": f"comment-{i:03}", "value": {v: said for v, said in zip(VOTERS, row, strict=True) if rng.random() < 0.9}}
        for i, row in enumerate(votes)
    ]
    records("comments/gold.jsonl", rows)

    def predicted(guess: Callable[[float], float]) -> Iterable[dict[str, Any]]:
        for i, share in enumerate(shares):
            p = round(min(max(guess(share), 0.01), 0.99), 3)
            yield {"id": f"comment-{i:03}", "value": {"offensive": p, "fine": round(1 - p, 3)}}

    records("comments/listener.jsonl", predicted(lambda share: share + rng.gauss(0, 0.12)))
    records("comments/judge.jsonl", predicted(lambda share: 0.97 if share + rng.gauss(0, 0.12) > 0.5 else 0.03))


def search(rng: random.Random) -> None:
    judged: list[str] = []
    runs: dict[str, list[str]] = {"bm25": [], "dense": []}
    for number, query in enumerate(QUERIES.split("|"), 1):
        documents = {f"{query.replace(' ', '-')}-{i:02}": rng.choices((0, 1, 2), (70, 20, 10))[0] for i in range(30)}
        documents[next(iter(documents))] = 2
        judged += [f"q{number} 0 {doc} {grade}" for doc, grade in documents.items() if rng.random() < 0.9]
        for name, noise in (("bm25", 1.1), ("dense", 0.7)):
            scores = {doc: round(grade + rng.gauss(0, noise) + 5, 4) for doc, grade in documents.items()}
            best = sorted(scores.items(), key=lambda pair: -pair[1])[:20]
            runs[name] += [f"q{number} Q0 {doc} {place} {score} {name}" for place, (doc, score) in enumerate(best, 1)]
    lines("search/qrels.txt", judged)
    for name, rows in runs.items():
        lines(f"search/{name}.run", rows)


def letters(rng: random.Random) -> None:
    sides: dict[str, list[str]] = {"gold": [], "tagger": [], "rules": []}
    for _ in range(60):
        tokens = rng.choice(PATTERNS)
        found: list[tuple[str, str]] = []
        for word in tokens.split():
            kind = {"{person}": "PER", "{place}": "LOC", "{firm}": "ORG"}.get(word)
            names = {"PER": PEOPLE, "LOC": PLACES, "ORG": FIRMS}.get(kind or "", word).split("|")
            for i, part in enumerate(rng.choice(names).split()):
                found.append((part, f"{'I' if i else 'B'}-{kind}" if kind else "O"))
        sides["gold"] += [*(f"{word} {tag}" for word, tag in found), ""]
        for name, right in (("tagger", 0.93), ("rules", 0.75)):
            sides[name] += [
                *(f"{word} {tag}" for (word, _), tag in zip(found, slips(rng, found, right), strict=True)),
                "",
            ]
    for name, rows in sides.items():
        lines(f"letters/{name}.conll", rows)


def slips(rng: random.Random, found: Sequence[tuple[str, str]], right: float) -> list[str]:
    """Tags of which some spans have another label, lose a token or are missed."""
    tags = [tag for _, tag in found]
    for i, tag in enumerate(tags):
        if not tag.startswith("B-") or rng.random() < right:
            continue
        ends = next((j for j in range(i + 1, len(tags)) if not tags[j].startswith("I-")), len(tags))
        fault = rng.choice(("label", "end", "missed"))
        if fault == "label":
            other = rng.choice([label for label in ("PER", "LOC", "ORG") if label != tag[2:]])
            tags[i:ends] = [f"{t[:2]}{other}" for t in tags[i:ends]]
        elif fault == "end" and ends - i > 1:
            tags[ends - 1] = "O"
        else:
            tags[i:ends] = ["O"] * (ends - i)
    return tags


def scans(rng: random.Random) -> None:
    pages = []
    for bundle in range(12):
        for page in range(1, rng.randint(8, 20)):
            first = page == 1 or rng.random() < 0.35
            kind = rng.choice(KINDS) if first else pages[-1][3]
            pages.append((f"scan-{bundle:02}", page, first, kind))
    head = "document,page,is_first_page,category"
    lines("scans/gold.csv", [head, *(f"{d},{p},{str(f).lower()},{k}" for d, p, f, k in pages)])
    for name, spread in (("cutter", 0.9), ("knife", 1.6)):
        rows = []
        for document, page, first, kind in pages:
            sure = 1 / (1 + math.exp(-((2.2 if first else -2.2) + rng.gauss(0, spread))))
            sure = 0.99 if page == 1 else round(min(max(sure, 0.01), 0.99), 2)
            rows.append(f"{document},{page},{str(sure >= 0.5).lower()},{sure},{kind}")
        lines(f"scans/{name}.csv", ["document,page,is_first_page,confidence,category", *rows])


def people(rng: random.Random) -> None:
    names = [name for name in PEOPLE.split("|") for _ in range(rng.randint(8, 20))]
    rng.shuffle(names)
    lines("people/gold.csv", ["id,cluster", *(f"mention-{i:03},{name}" for i, name in enumerate(names))])
    for system, right in (("linker", 0.9), ("strings", 0.7)):
        rows = []
        for i, name in enumerate(names):
            group = name if rng.random() < right else f"{name.split()[-1]}?" if rng.random() < 0.7 else "unknown"
            rows.append(f"mention-{i:03},{group}")
        lines(f"people/{system}.csv", ["id,cluster", *rows])


def mail(rng: random.Random) -> None:
    spam = [rng.random() < 0.35 for _ in range(150)]
    lines("mail/gold.csv", ["id,label", *(f"mail-{i:03},{'spam' if s else 'ham'}" for i, s in enumerate(spam))])
    faint = [(1 if s else -1) + rng.gauss(0, 1) for s in spam]
    # The same order of mails, so the same ROC AUC; one is far too sure of itself.
    for name, sharp in (("calm", 1.8), ("loud", 7.0)):
        rows = []
        for i, seen in enumerate(faint):
            p = round(1 / (1 + math.exp(-sharp * seen)), 9)
            rows.append(f"mail-{i:03},{p},{round(1 - p, 9)}")
        lines(f"mail/{name}.csv", ["id,spam,ham", *rows])


def prices(rng: random.Random) -> None:
    true = [round(math.exp(rng.gauss(5.4, 0.35)), 1) for _ in range(100)]
    lines("prices/gold.csv", ["id,value", *(f"flat-{i:03},{v}" for i, v in enumerate(true))])
    for name, spread, bias in (("steady", 0.07, 0.0), ("eager", 0.06, 0.12)):
        rows = (f"flat-{i:03},{round(v * math.exp(rng.gauss(bias, spread)), 1)}" for i, v in enumerate(true))
        lines(f"prices/{name}.csv", ["id,value", *rows])


def main() -> None:
    for seed, make in enumerate((topics, comments, search, letters, scans, people, mail, prices), 1):
        make(random.Random(seed))


if __name__ == "__main__":
    main()

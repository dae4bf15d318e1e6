# SPDX-License-Identifier: Apache-2.0
"""Every block of code in the documentation is run: commands as they are typed, Python with the names that the page speaks of.

Consoles (``>>>``) are doctests, ``$`` is for tests/welcome, web pages for tests/web/test_documented.py.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from tests.welcome.test_pages import FOLLOWED

import karat
from karat.cli.main import karat as command

DOCS = Path(__file__).parents[2] / "docs"
MADE = {"commands.md", "python.md", "metrics.md", "findings.md", "formats.md"}
ELSEWHERE = {"plug-ins.md", "scale.md", "web.md", "web-organisers.md", "web-participants.md"}
"""Their blocks need a package, Spark or a server: tests/laws/test_plugin.py, tests/engines/test_documented.py, tests/web."""


class Block(NamedTuple):
    page: str
    language: str
    text: str


def blocks() -> list[Block]:
    pages = [p for p in sorted(DOCS.rglob("*.md")) if p.parent.name != "metrics" and p.name not in MADE]
    fence = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.M | re.S)
    return [
        Block(page.relative_to(DOCS).as_posix(), found[2], found[3])
        for page in pages
        for found in fence.finditer(page.read_text(encoding="utf-8"))
    ]


def typed(block: Block) -> bool:
    return not block.language and block.text.startswith("karat ")


def code(block: Block) -> bool:
    return block.language == "python" and not block.text.startswith(">>>")


def test_every_block_is_of_a_kind_that_is_run() -> None:
    """Text is what no test can do; files of GitHub are read by tests/package/test_action.py."""
    shown = [
        b for b in blocks() if b.text.startswith("$ ") and not b.page.startswith("start/") and b.page not in FOLLOWED
    ]
    assert shown == []
    other = [b for b in blocks() if not (typed(b) or code(b) or b.text.startswith(("$ ", ">>> ")))]
    assert {b.page for b in other if b.language not in ("text", "yaml", "toml", "nginx")} <= {"web-participants.md"}
    assert {b.page for b in blocks() if code(b)} <= {*NAMES, *ELSEWHERE}


# ---- commands


def commands(text: str) -> list[list[str]]:
    """The lines of a block as a shell would take them apart."""
    return [shlex.split(line, comments=True) for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def labels(seed: int, right: float, count: int = 120) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    gold = [("A", "B", "C")[i % 3] for i in range(count)]
    said = [g if rng.random() < right else "ABC"[(i + 1) % 3] for i, g in enumerate(gold)]
    facts = [{"document": f"d{i // 6}", "language": "de" if i % 2 else "en"} for i in range(count)]
    return [{"id": f"{i:03}", "value": value, **fact} for i, (value, fact) in enumerate(zip(said, facts, strict=True))]


RIGHT = {
    "gold": 1.0, "gold-so-far": 1.0, "new": 0.95, "system": 0.9, "old": 0.7, "released": 0.7, "a": 0.9, "b": 0.7, "judge": 0.85,
    **{f"n{i}": 0.94 for i in range(1, 6)}, **{f"o{i}": 0.75 for i in range(1, 6)}, **{f"ann{i}": 0.98 for i in range(1, 4)},
}  # fmt: skip


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with every file that the pages speak of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KARAT_STORE", str(tmp_path / "store.db"))
    for seed, (name, right) in enumerate(RIGHT.items()):
        rows = labels(seed, right, 180 if name in ("system", "judge") else 120)
        Path(f"{name}.json").write_text(json.dumps(rows))
        Path(f"{name}.tsv").write_text("id\tvalue\n" + "".join(f"{r['id']}\t{r['value']}\n" for r in rows))
    runs = [f"{r['id']}\t{r['value']}\t{seed}\n" for seed in range(3) for r in labels(50 + seed, 0.9)]
    Path("new.tsv").write_text("id\tvalue\tseed\n" + "".join(runs))
    Path("qrels.txt").write_text("".join(f"q{q} 0 d{d} {(d + q) % 3}\n" for q in range(5) for d in range(8)))
    Path("run.txt").write_text("".join(f"q{q} Q0 d{d} {d + 1} {9 - d} tag\n" for q in range(5) for d in range(8)))
    Path("reference.jsonl").write_text(json.dumps(REFERENCE) + "\n")
    Path("system.jsonl").write_text(json.dumps(FOUND) + "\n")
    return tmp_path


REFERENCE = {"page_id": "p_1", "n_excerpts": 1, "excerpts": [{"start": 0, "end": 10, "poem_id": "spring"}]}
FOUND = {"page_id": "p_1", "n_spans": 1, "poem_spans": [{"page_start": 0, "page_end": 5, "ref_id": "spring"}]}


@pytest.mark.parametrize("page", sorted({b.page for b in blocks() if typed(b)} - ELSEWHERE))
def test_commands_do_what_is_typed(page: str, desk: Path) -> None:
    for words in [words for b in blocks() if b.page == page and typed(b) for words in commands(b.text)]:
        done = CliRunner().invoke(command, words[1:])
        assert done.exit_code == 0, f"{shlex.join(words)}\n{done.output}\n{done.exception}"


# ---- Python


QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1, "d": 2}}
RUNS = [
    {q: {d: score + 0.1 * len(d + q) for d, score in docs.items()} for q, docs in QRELS.items()} for score in (1, 2)
]
TAGS = [["B-PER", "O"], ["B-LOC", "I-LOC"]]
LUIS = {
    "Classification": ["Book"],
    "Entities": [{"Name": "City", "StartPosition": 0, "EndPosition": 3, "Children": []}],
}
NAMES: dict[str, dict[str, Any]] = {
    "doors/class-reports.md": {
        "y_true": [0, 1, 1], "y_pred": [0, 1, 0], "names": ["no", "yes"], "tags": TAGS, "predicted_tags": TAGS[::-1], "true": TAGS, "pred": TAGS,
    },
    "doors/luis.md": {"test_data": [{"Text": "Rome please", "LabeledData": LUIS, "PredictedData": LUIS}]},
    "doors/poetry-spans.md": {"ref_json": REFERENCE, "sys_json": FOUND},
    "doors/pyevall.md": {},
    "doors/ranking-tools.md": {"qrels": QRELS, "run": RUNS[0], "one": RUNS[0], "two": RUNS[1]},
    "statistics.md": {},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("block", [b for b in blocks() if code(b) and b.page not in ELSEWHERE], ids=lambda b: b.page)
def test_python_runs(block: Block, desk: Path) -> None:
    for name in ("gold.json", "system.json"):  # PyEvALL's records have a test case, and nothing beside
        rows = json.loads(Path(name).read_text())[:30] if block.page == "doors/pyevall.md" else None
        if rows:
            Path(name).write_text(json.dumps([{"test_case": "T", "id": r["id"], "value": r["value"]} for r in rows]))
    names = dict(NAMES[block.page])
    exec(block.text, names)
    if "test_model" in names:
        names["test_model"](karat.assert_not_worse)

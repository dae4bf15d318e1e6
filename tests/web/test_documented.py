# SPDX-License-Identifier: Apache-2.0
"""What the pages about the server show is typed and run; `karat serve` never ends by itself, so of it the words are checked."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from karat.cli.main import karat as command
from karat.cli.serve import command as serve
from tests.web.site import Site

DOCS = Path(__file__).parents[2] / "docs"


def typed(page: str) -> list[list[str]]:
    text = (DOCS / page).read_text(encoding="utf-8")
    lines = (
        "".join(re.findall(r"^```\n((?:karat|export) .*?)^```$", text, re.M | re.S)).replace("\\\n", " ").splitlines()
    )
    return [shlex.split(line, comments=True) for line in lines]


@pytest.fixture
def desk(guarded: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KARAT_SERVER", guarded.url)
    monkeypatch.setenv("KARAT_TOKEN", guarded.admin)
    rows = "".join(f"{i}\t{'ABC'[i % 3]}\n" for i in range(40))
    for name in ("gold.tsv", "run.tsv"):
        (tmp_path / name).write_text("id\tvalue\n" + rows)
    (tmp_path / "topics.md").write_text("# Topics\n")
    return tmp_path


def run(words: list[str]) -> str:
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, f"karat {shlex.join(words)}\n{done.output}\n{done.exception}"
    return done.output


def test_what_organisers_type(desk: Path) -> None:
    lines = typed("web-organisers.md")
    assert len(lines) == 4
    for words in lines:
        run(words[1:])
    assert (desk / "topics.karat-benchmark").stat().st_size > 100


def test_what_participants_type_and_write(desk: Path, guarded: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    run(["benchmark", "create", "gold.tsv", "-c", "monolabel", "-m", "f1", "--title", "Topics of participants"])
    token = run(["benchmark", "invite", "topics-of-participants", "Us"]).split()[-1]
    monkeypatch.setenv("KARAT_TOKEN", token)
    (variables, submit) = typed("web-participants.md")
    assert [word.partition("=")[0] for word in variables] == ["export", "KARAT_SERVER", "KARAT_TOKEN"]
    run([word.replace("topics", "topics-of-participants") for word in submit[1:]])
    (block,) = re.findall(
        r"^```python\n(.*?)^```$", (DOCS / "web-participants.md").read_text(encoding="utf-8"), re.M | re.S
    )
    block = block.replace("https://eval.example.org", guarded.url).replace("karat_…", token)
    exec(block.replace('"topics"', '"topics-of-participants"'), {})


def test_what_is_typed_to_serve_is_understood() -> None:
    lines = typed("web.md")
    assert [words[:2] for words in lines] == [["karat", "serve"]] * 3
    for words in lines:
        serve.make_context("serve", words[2:])

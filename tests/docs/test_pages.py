# SPDX-License-Identifier: Apache-2.0
"""Documentation that can lie fails here."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from karat.cli.main import COMMANDS, karat
from karat.contexts import MODULES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def _generator():
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", sorted(_generator().PAGES))
def test_generated_pages_are_fresh(page):
    made = _generator().PAGES[page]()
    assert (DOCS / page).read_text(encoding="utf-8") == made, f"docs/{page} is stale: run `make docs`"


@pytest.mark.parametrize(
    "page", sorted(p.relative_to(ROOT).as_posix() for p in [*DOCS.rglob("*.md"), ROOT / "README.md"])
)
def test_links_lead_somewhere(page):
    path = ROOT / page
    text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (path.parent / target).exists(), f"{page} links to {target}"


PLACES = ("", "src/karat/", "tests/", "docs/")


@pytest.mark.parametrize(
    "page",
    sorted(p.relative_to(ROOT).as_posix() for p in [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]),
)
def test_files_of_the_project_that_are_named_exist(page):
    """`read/roles.py`, `tests/waist/test_aligned.py`: words about code outlive the code."""
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`([\w./-]+/[\w.*-]+\.(?:py|toml|json|md|sh))`", text)
    mine = [name for name in named if name.split("/")[0] in FOLDERS]
    found = {name: [p for place in PLACES for p in (ROOT / place).glob(name.replace("NAME", "*"))] for name in mine}
    assert [name for name, files in found.items() if not files] == []


FOLDERS = {p.name for place in PLACES for p in (ROOT / place).iterdir() if p.is_dir()} - {"build"}


def test_every_context_and_command_is_in_the_readme_or_docs():
    text = "\n".join(p.read_text(encoding="utf-8") for p in [ROOT / "README.md", *DOCS.rglob("*.md")])
    assert [c for c in MODULES if f"`{c}`" not in text] == []
    assert [c for c in COMMANDS if f"karat {c}" not in text] == []


SHOWN = re.findall(r"```\n\$ karat (.+)\n(.+\n(?s:.*?))```", (ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("command", "shown"), [s for s in SHOWN if not s[1].startswith("$")])
def test_the_readme_shows_what_is_printed(command, shown, monkeypatch):
    monkeypatch.chdir(ROOT / "src" / "karat" / "examples" / "reviews")
    printed = CliRunner().invoke(karat, command.split()).output
    if shown.endswith("…\n"):
        assert printed.startswith(shown.removesuffix("…\n"))
    else:
        assert printed == shown


@pytest.mark.parametrize("page", sorted(page for page in _generator().PAGES if page.startswith("metrics/")))
def test_every_metric_has_a_row_that_says_when_it_is_undefined(page):
    sections = (DOCS / page).read_text(encoding="utf-8").split("\n## ")[1:]
    rows = {s.split("\n")[0]: re.findall(r"^\| undefined \| (.+) \|$", s, re.M) for s in sections}
    assert [name for name, row in rows.items() if len(row) != 1] == []
    begins = re.compile(r"never|when|where|without|with|if|for|off")
    assert [name for name, (row,) in rows.items() if not begins.match(row)] == []

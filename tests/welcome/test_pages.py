"""The pages for newcomers say what happens."""

import re

import pytest

from tests.welcome.pages import DOCS, follow, steps, tutorial

PAGES = ("columns.md", "numbers.md", "organisers.md", "probabilities.md", "slices.md", "tools.md")
FOLLOWED = (*PAGES, "soft.md")


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_reader_sees_what_the_page_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert follow(DOCS / name) == []


@pytest.mark.parametrize("name", PAGES)
def test_the_page_has_commands(name):
    assert sum(step.typed.startswith("karat") for step in steps(DOCS / name)) >= 3


TUTORIALS = sorted(page.name for page in (DOCS / "start").glob("*.md"))


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_works(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert tutorial(DOCS / "start" / name) == []


def test_there_is_a_tutorial_for_everybody():
    assert len(TUTORIALS) >= 10


@pytest.mark.parametrize("name", TUTORIALS)
def test_every_block_of_a_tutorial_is_run(name):
    """Blocks are commands, Python, files of GitHub (tests/package/test_action.py) or things that a test cannot do, as text."""
    text = (DOCS / "start" / name).read_text(encoding="utf-8")
    heads = re.findall(r"^```(.*\n.*)$", re.sub(r"^```$\n(?=\n|\Z)", "", text, flags=re.M), flags=re.M)
    assert [h for h in heads if not h.startswith(("\n$ ", "python\n>>> ", "text\n", "yaml\n"))] == []

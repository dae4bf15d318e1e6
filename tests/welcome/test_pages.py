"""The pages for newcomers say what happens."""

import pytest

from tests.welcome.pages import DOCS, follow, steps

PAGES = ("columns.md", "organisers.md", "tools.md")


@pytest.mark.parametrize("name", PAGES)
def test_a_reader_sees_what_the_page_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert follow(DOCS / name) == []


@pytest.mark.parametrize("name", PAGES)
def test_the_page_has_commands(name):
    assert sum(step.typed.startswith("karat") for step in steps(DOCS / name)) >= 3

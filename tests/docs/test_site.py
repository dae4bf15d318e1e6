# SPDX-License-Identifier: Apache-2.0
"""The documentation site: it builds without a warning, needs nothing from elsewhere, and knows everything."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from benchmarks.table import differing_digit
from playwright.sync_api import sync_playwright
from tests.report.browser import PATIENCE

import karat
from karat.cli.main import COMMANDS
from karat.contexts import MODULES, catalogue, context
from karat.kinds import KINDS
from karat.metric import ALIASES
from karat.read import FORMATS

ROOT = Path(__file__).parents[2]
TEXT = {p.relative_to(ROOT / "docs").as_posix(): p.read_text(encoding="utf-8") for p in (ROOT / "docs").rglob("*.md")}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` does: a dead link, a dead anchor or a page outside the navigation is an error."""
    folder = tmp_path_factory.mktemp("site")
    here = os.environ | {"PYTHONPATH": str(Path(karat.__file__).parents[1]), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=here, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_navigation_has_every_part(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    tabs = re.findall(r'md-tabs__link">\s*(.*?)\s*</a>', index, re.S)
    expected = [
        "Start",
        "How it works",
        "Contexts",
        "Metrics",
        "Inputs",
        "Statistics",
        "Reference",
        "Web app",
        "Scale",
        "Doors",
    ]
    assert [re.sub(r"<.*?>|\s+", " ", tab).strip() for tab in tabs] == expected


def test_words_in_braces_are_shown(site: Path) -> None:
    page = html.unescape((site / "findings.html").read_text(encoding="utf-8"))
    assert "check the path: {path}" in page
    assert "the file cannot be read: {reason}" in page


def test_peers_have_the_figures_of_the_benchmarks_losses_included(site: Path) -> None:
    page = (site / "peers.html").read_text(encoding="utf-8")
    assert "karat runs list" in page
    assert "trec_eval" in page
    cases = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))["cases"]
    lost = [
        name
        for name, case in cases.items()
        for peer in case["sides"][1:]
        if "cpu" in peer and peer["cpu"] < 0.95 * case["sides"][0]["cpu"]
    ]
    assert page.count("(lost)") == len(lost)
    assert "filled in" not in page, "what a checkout says in place of the tables"
    peers = [(case["sides"][0], peer) for case in cases.values() for peer in case["sides"][1:] if "cpu" in peer]
    assert page.count("of the work, scaled)") == sum(peer.get("part", 1.0) < 1 for _, peer in peers)
    assert page.count("(answers differ") == sum(differing_digit(peer, ours) is not None for ours, peer in peers)


def test_examples_are_shown_as_a_console_shows_them(site: Path) -> None:
    page = html.unescape((site / "start" / "data-scientist.html").read_text(encoding="utf-8"))
    assert "language-pycon" in page
    assert "BLANKLINE" not in page
    assert "<msub>" in (site / "metrics" / "monolabel.html").read_text(encoding="utf-8")


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    """Links may lead out; what a page needs to be shown may not."""
    needs = re.compile(
        r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(?:https?:)?//|<link[^>]*\shref=["']?(?:https?:)?//"""
    )
    assert [p.name for p in site.rglob("*.html") if needs.search(p.read_text(encoding="utf-8"))] == []
    assert [
        p.name for p in site.rglob("*.css") if re.search(r"url\(['\"]?(?:https?:)?//", p.read_text(encoding="utf-8"))
    ] == []


def test_pages_are_read_and_searched_from_disk(site: Path) -> None:
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.get_by_role("textbox", name="Search").first.click()
        page.keyboard.type("krippendorff", delay=20)
        page.locator(".md-search-result__item").first.wait_for(timeout=60_000)
        assert "rippendorff" in page.locator(".md-search-result__list").inner_text()
        page.goto((site / "metrics" / "monolabel.html").as_uri())
        assert page.locator("math mfrac").count() > 5
        browser.close()
    assert [url for url in asked if not url.startswith("file:")] == []


def options(command: Any) -> set[str]:
    found = {o for p in command.params if isinstance(p, click.Option) and not p.hidden for o in p.opts}
    return found.union(*(options(inner) for inner in getattr(command, "commands", {}).values()))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_there(name: str) -> None:
    command = import_module(f"karat.cli.{name.replace('-', '_')}").command
    page = TEXT["commands.md"]
    assert f"## karat {name}\n" in page
    assert sorted(o for o in options(command) if not re.search(rf"{re.escape(o)}\b", page)) == []


def test_every_metric_finding_format_context_and_public_name_is_there() -> None:
    pages = {name: "\n".join(t for p, t in TEXT.items() if p == f"metrics/{name}.md") for name in MODULES}
    told = {d.name for name in MODULES for d in catalogue(name) if f"\n## {d.name}\n" in "\n".join(pages.values())}
    assert {d.name for name in MODULES for d in catalogue(name)} == told
    assert [code for code in KINDS if f"`{code}`" not in TEXT["findings.md"]] == []
    assert [name for name in [*FORMATS, *MODULES] if f"`{name}`" not in TEXT["formats.md"]] == []
    examples = [kind.example for kind in (*FORMATS.values(), *map(context, MODULES))]
    assert [
        example for example in examples if f"`{example.replace('|', chr(92) + '|')}`" not in TEXT["formats.md"]
    ] == []
    assert [name for name in karat.__all__ if f"\n## {name}\n" not in TEXT["python.md"]] == []


def test_the_page_of_python_has_what_users_need_and_nothing_of_lists_or_exceptions() -> None:
    page = TEXT["python.md"]
    section = {part.partition("\n")[0]: part for part in page.split("\n## ")}
    needed = {
        "Score": "value undefined interval by_class by_test_case slices",
        "Evaluation": "systems methods judged rejected findings to_pandas()",
        "Finding": "code severity message hint file line",
        "Comparison": "evaluation pairs leaderboards slices",
        "Client": "benchmarks() submission(id) change_benchmark(benchmark, import_benchmark(source) leaderboard(benchmark,",
    }
    assert [
        (name, one) for name, many in needed.items() for one in many.split() if f"| `{one}" not in section[name]
    ] == []
    assert "timeout: float = 60" in section["Client"]
    assert [noise for noise in ("append", "clear", "add_note", "with_traceback") if f"`{noise}" in page] == []
    assert re.findall(r"^\| `[^`]*\)` \|.*\|  \|$", page, flags=re.M) == [], "a method without a word"


def _agreements() -> Any:
    sys.path.insert(0, str(ROOT / "docs"))
    return import_module("making.agreements")


def test_other_tools_names_are_read_as_the_page_says() -> None:
    """Every alias has examples that it takes itself; of a list of names, each name is one."""
    _agreements()
    spellings = import_module("making.spellings")
    rows = list(spellings.rows())
    wrong = [(one, name) for _, name, spelt in rows for one in spelt if karat.parse(one) != karat.parse(name)]
    assert wrong == []
    shown = {pattern: [one for p, _, spelt in rows if p == pattern for one in spelt] for pattern in ALIASES}
    missed = {p: [e for e in found if not re.match(rf"(?:{p})(?:[(@]|$)", e)] for p, found in shown.items()}
    assert [p for p, found in shown.items() if not found or missed[p]] == []
    assert set(spellings.EXAMPLES) == {p for p in ALIASES if not spellings.plain(p)}
    assert not re.search(r"`[^`]*(?:\\d|\(\?)[^`]*`", TEXT["metrics.md"])


MODULE_OF = {
    "scikit-learn": "sklearn", "SciPy": "scipy", "NLTK": "nltk", "PyEvALL": "PyEvALL", "pytrec_eval": "pytrec_eval",
    "the poetry evaluation script": "poetry",
}  # fmt: skip


@pytest.mark.parametrize(
    "row", [*_agreements().AGREEMENTS, *_agreements().DISAGREEMENTS], ids=lambda row: f"{row.tool}-{row.context}"
)
def test_what_is_said_of_other_tools_has_a_test(row: Any) -> None:
    text = (ROOT / "tests" / row.test).read_text(encoding="utf-8")
    assert MODULE_OF.get(row.tool, row.tool) in text
    assert set(row.metrics.split()) <= {d.name for d in catalogue(row.context)}


@pytest.mark.slow
def test_pictures_are_taken_from_the_real_thing(tmp_path: Path) -> None:
    """What stands in docs/assets can be made again: the same pictures of the same size, and none that is blank."""
    sys.path.insert(0, str(ROOT / "docs"))
    pictures, image = import_module("making.pictures"), pytest.importorskip("PIL.Image")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        pictures.report(browser, tmp_path / "demo", tmp_path)
        pictures.web(browser, tmp_path, tmp_path)
        browser.close()
    kept = {p.name: image.open(p).size for p in (ROOT / "docs" / "assets").glob("*.png")}
    made = {p.name: image.open(p) for p in tmp_path.glob("*.png")}
    assert {name: picture.size for name, picture in made.items()} == kept
    assert all(len(picture.convert("RGB").getcolors(1 << 24)) > 20 for picture in made.values())

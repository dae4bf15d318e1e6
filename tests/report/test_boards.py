# SPDX-License-Identifier: Apache-2.0
"""A task of eighteen submissions: leaderboard first, few sentences, 80 columns, a page that can be published."""

from __future__ import annotations

import json
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.report import browser as chromium

import karat
from karat.report.text import width

SYSTEMS = 18
METRICS = ["f1", "accuracy", "kappa"]


def task(folder: Path, systems: int = SYSTEMS, n: int = 400) -> list[str]:
    """Gold, and systems of falling quality with names as teams give them, in no order."""
    rng = np.random.default_rng(3)
    labels = np.array(["favor", "against", "none", "sarcasm"])
    gold = labels[rng.integers(0, 4, n)]
    _write(folder / "gold.csv", gold)
    files = []
    for k in rng.permutation(systems).tolist():
        pred = np.where(rng.random(n) < 0.95 - 0.02 * k, gold, labels[rng.integers(0, 4, n)])
        name = folder / f"team{k:02d}_{'multilingual-large-v2' if k % 3 else 'run1'}.csv"
        _write(name, pred)
        files.append(str(name))
    return [str(folder / "gold.csv"), *files]


def _write(path: Path, labels) -> None:
    path.write_text("id,label\n" + "".join(f"tw{i},{label}\n" for i, label in enumerate(labels.tolist())))


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    gold, *files = task(tmp_path_factory.mktemp("task"))
    return karat.compare(gold, files, metrics=METRICS, draws=199)


def test_text_begins_with_the_leaderboard_and_fits_80_columns(compared):
    text = compared.render("table")
    lines = text.splitlines()
    assert lines[0] == "Leaderboard: F1 (macro, all classes)"
    assert lines[1].split() == ["rank", "system", "score", "range", "group", "P(best)"]
    assert max(map(width, lines)) <= 80
    places = next(iter(compared.leaderboards.values()))
    scores = [float(re.search(r"(0\.\d{4}) \[", line)[1]) for line in lines[3 : 3 + SYSTEMS]]
    assert scores == sorted(scores, reverse=True)
    assert [line.split()[0] for line in lines[3 : 3 + SYSTEMS]] == [str(p.rank) for p in places]
    assert "--show all" in text


def test_at_most_ten_sentences_follow(compared):
    after = str(compared).split("\n\n")[1]
    sentences = [line for line in after.splitlines() if not line.startswith("  ")]
    assert len(sentences) <= 10
    assert sentences[0].startswith("On F1 (macro, all classes) team")
    assert sum(line.startswith("On ") for line in sentences) == 3
    leader = next(iter(compared.leaderboards.values()))[0].system
    assert all(leader in re.sub(r"\n +", " ", s) for s in after.split("\n") if s.startswith("team"))


def test_everything_is_printed_to_those_who_ask(compared):
    text = compared.render("table", show=["all"])
    assert text.count("Pairs: ") == 3
    assert max(map(width, text.splitlines())) <= 80
    assert "--show all" not in text


def test_markdown_begins_with_the_leaderboard_and_folds_pairs(compared):
    text = compared.to_markdown()
    assert text.startswith("**Leaderboard: F1")
    assert text.count("<details>") >= 3
    assert text.index("**Leaderboard: F1") < text.index("- On F1") < text.index("<details>")


def test_few_systems_have_all_their_verdicts(compared):
    two = karat.compare(["a", "b"] * 40, {"x": ["a", "b"] * 40, "y": ["a", "a"] * 40}, metrics=["accuracy"])
    text = str(two)
    assert "On Accuracy x leads with 1.0000" in text
    assert "it is better than y" in text
    assert "x is better than y on Accuracy" in text
    assert "Pairs: Accuracy" in text


def test_baseline_is_what_the_sentence_is_about():
    gold = ["a", "b"] * 60
    systems = {"base": ["a", "a"] * 60, "new": gold, "same": ["a", "a"] * 59 + ["a", "b"]}
    c = karat.compare(gold, systems, metrics=["accuracy"], baseline="base")
    said = json.loads(c.to_json())["summary"]
    assert said[0].endswith("; 1 is better than base, 0 worse, 1 not told apart.")
    for other, end in (("new", "new is better than base."), ("same", "the tests do not tell same from base.")):
        two = karat.compare(gold, {n: systems[n] for n in ("base", other)}, metrics=["accuracy"], baseline="base")
        assert json.loads(two.to_json())["summary"][0].endswith(end)


def test_equal_scores_share_the_lead():
    """No system is told from itself, and of equal scores none is the best or the worst."""
    gold = ["a", "b"] * 60
    good, twin, bad = gold[:110] + ["a"] * 10, ["b"] * 10 + gold[10:], ["a"] * 120
    c = karat.compare(gold, {"good": good, "twin": twin, "bad": bad}, metrics=["accuracy"])
    assert json.loads(c.to_json())["summary"] == [
        "On Accuracy good and twin lead with 0.9583; they are better than bad."
    ]
    close = karat.compare(gold, {"good": good, "twin": twin, "near": gold[:106] + ["a"] * 14}, metrics=["accuracy"])
    said = "On Accuracy good and twin lead with 0.9583; the tests do not tell them from near."
    assert json.loads(close.to_json())["summary"] == [said]
    for systems, sentence in (
        ({"good": good, "twin": twin}, "2 systems have the same Accuracy, 0.9583."),
        ({"good": good, "twin": twin, "bad": bad}, "Of 3 systems good and twin have the best Accuracy, 0.9583; bad the worst, 0.5000."),
        ({"bad": bad, "worse": ["b"] * 120, "good": good}, "Of 3 systems good has the best Accuracy, 0.9583; bad and worse the worst, 0.5000."),
    ):  # fmt: skip
        assert sentence in karat.evaluate(gold, systems, metrics=["accuracy"]).to_html().replace("\u00a0", " ")


@pytest.fixture(scope="module")
def browser():
    with chromium.opened() as found:
        yield found


def test_page_of_eighteen_systems(browser, compared, tmp_path):
    html = compared.to_html()
    assert len(html.encode()) <= 300_000
    assert str(tmp_path.parent) not in html
    file = tmp_path / "board.html"
    file.write_text(html, encoding="utf-8")
    for size, scheme in ((1280, "light"), (360, "dark")):
        with chromium.page(browser, file, size, scheme) as (page, asked):
            assert chromium.violations(page) == []
            assert asked == [file.as_uri()]
            assert page.evaluate("document.documentElement.scrollWidth") <= size
            top = page.evaluate("document.querySelector('.board').getBoundingClientRect().top")
            assert top < 900  # on the first screen
            before = page.evaluate(
                "[...document.querySelectorAll('figure svg')].filter(s => s.compareDocumentPosition("
                "document.querySelector('.board')) & Node.DOCUMENT_POSITION_FOLLOWING).length"
            )
            assert before == 0
            assert page.locator(".verdicts li").count() <= 9  # and the one under the title
            score = page.locator(".board tbody td:nth-child(3)").first.bounding_box()
            assert score["x"] + score["width"] <= size
            table, chart = (page.locator(f".beside {what}").first.bounding_box() for what in ("table", "figure"))
            assert (chart["x"] > table["x"] + table["width"]) == (size == 1280)  # side by side, where there is room


@pytest.mark.parametrize("size", [360, 1280])
def test_charts_are_whole_at_any_width(browser, tmp_path, size):
    gold, *files = task(tmp_path, 3)
    file = tmp_path / "page.html"
    file.write_text(karat.evaluate(gold, files, intervals=0.9, units=True).to_html(), encoding="utf-8")
    with chromium.page(browser, file, size) as (page, _):
        boxes = page.evaluate(
            "[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().toJSON())"
        )
        assert boxes
        assert all(box["right"] <= size for box in boxes)
        if size == 1280:  # the panels of a system stand side by side
            assert max(box["right"] for box in boxes) > 0.6 * size


def test_units_are_searched_and_filtered_without_a_server(browser, tmp_path):
    gold, *files = task(tmp_path, 3)
    file = tmp_path / "page.html"
    file.write_text(karat.evaluate(gold, files[:1], units=True).to_html(), encoding="utf-8")
    with chromium.page(browser, file) as (page, asked):
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        rows = page.locator("table.texts tbody tr")
        every = rows.count()
        page.get_by_label("gold", exact=True).select_option("sarcasm")
        some = page.locator("table.texts tbody tr:not([hidden])")
        assert 0 < some.count() < every
        assert {t.split()[0] for t in page.locator(".search output").all_text_contents()} == {str(some.count())}
        page.get_by_label("gold", exact=True).select_option("any")
        first = rows.first.locator("th").text_content()
        page.get_by_role("searchbox").fill(first)
        assert first in some.all_text_contents()[0]
        assert some.count() < every
        assert asked == [file.as_uri()]


def test_pages_work_without_scripts(browser, tmp_path):
    gold, *files = task(tmp_path, 3)
    file = tmp_path / "page.html"
    file.write_text(karat.evaluate(gold, files[:1], units=True).to_html(), encoding="utf-8")
    page = browser.new_page(java_script_enabled=False)
    page.set_default_timeout(chromium.PATIENCE)
    page.goto(file.as_uri())
    assert page.locator(".search").count() == 0
    assert page.locator("table.texts tbody tr").count() > 10
    page.close()


def test_metrics_are_explained(browser, tmp_path):
    gold, *files = task(tmp_path, 3)
    file = tmp_path / "page.html"
    file.write_text(karat.evaluate(gold, files[:1], metrics=["f1", "mcc"]).to_html(), encoding="utf-8")
    with chromium.page(browser, file) as (page, _):
        assert (
            page.locator(".cards abbr").first.get_attribute("title").startswith("Harmonic mean of precision and recall")
        )
        terms = page.locator(".glossary dt").all_text_contents()
        assert terms == ["F1", "Matthews correlation"]
        assert "from −1 to 1, more is better" in page.locator(".glossary dd").nth(1).text_content().lower()
        assert page.locator(".summary").text_content().startswith("F1 (macro, all classes) is 0.")


def test_no_number_is_broken_in_print(browser, compared, tmp_path):
    file = tmp_path / "board.html"
    file.write_text(compared.to_html(), encoding="utf-8")
    with chromium.page(browser, file, 794) as (page, _):
        page.emulate_media(media="print")
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        broken = page.evaluate("""() => {
          const out = [], walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const node = walker.currentNode;
            if (!node.parentElement.closest('td,li,.summary')) continue;
            for (const found of node.data.matchAll(/[-−]?\\d[\\d.,]*(e-?\\d+)?/g)) {
              const range = document.createRange();
              range.setStart(node, found.index);
              range.setEnd(node, found.index + found[0].length);
              if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1) out.push(node.data);
            }
          }
          return out;
        }""")
        assert page.evaluate("document.documentElement.scrollWidth") <= 794
    assert [text for text in broken if not re.fullmatch(r"[0-9a-f]{64}", text)] == []


def test_no_table_is_cut_in_print(browser, tmp_path):
    """Eight metrics with intervals by slice are the widest table; what is wider than the paper is not printed."""
    gold, file, page_file = tmp_path / "gold.csv", tmp_path / "out.csv", tmp_path / "page.html"
    labels, countries = ["not applicable", "positive", "negative", "neutral"], ["es", "en"]
    rows = [(i, labels[i % 4], labels[(i + i % 5 // 4) % 4], countries[i // 3 % 2]) for i in range(80)]
    gold.write_text("id,label,country\n" + "".join(f"{i},{g},{c}\n" for i, g, _, c in rows), encoding="utf-8")
    file.write_text("id,label\n" + "".join(f"{i},{p}\n" for i, _, p, _ in rows), encoding="utf-8")
    e = karat.evaluate(gold, file, intervals=True, slices=["country"], resamples=200)
    page_file.write_text(e.to_html(), encoding="utf-8")
    with chromium.page(browser, page_file, 688) as (page, _):
        page.emulate_media(media="print")
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= 688


def compare_on_terminal(arguments: list[str]) -> tuple[str, str]:
    """What a comparison writes to stdout, and to a terminal that is its stderr."""
    import os

    at_once = "import karat.cli.progress as p; p.AFTER = p.BETWEEN = 0; from karat.cli.main import main; main()"
    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-c", at_once, "compare", *arguments], stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 4096)
        except OSError:
            break
    out = run.communicate()[0].decode()
    os.close(ours)
    assert run.returncode == 0
    return out, seen.decode()


def test_progress_is_shown_on_a_terminal_alone(tmp_path):
    arguments = [*task(tmp_path, 12), "-m", "f1"]
    out, terminal = compare_on_terminal(arguments)
    assert "pairs tested: " in terminal
    assert terminal.endswith("\r\x1b[2K")  # and gone at the end
    assert "pairs tested" not in out
    piped = subprocess.run([sys.executable, "-m", "karat", "compare", *arguments], capture_output=True, check=True)
    assert piped.stdout.decode() == out
    assert b"pairs tested" not in piped.stderr
    assert "pairs tested" not in compare_on_terminal([*arguments, "-q"])[1]

# SPDX-License-Identifier: Apache-2.0
"""The HTML report in a real browser: whole in itself, accessible, and with the JSON report's numbers."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.report import browser as chromium
from tests.report.examples import EXAMPLES

import karat
from karat.evaluation import Evaluation, Interval, Score
from karat.findings import finding
from karat.report.rows import number

METRICS = (
    "accuracy", "precision", "recall", "f1", "kappa", "mcc", "icm", "icm_norm", "balanced_accuracy", "jaccard",
)  # fmt: skip
SHOTS = os.environ.get("KARAT_SHOTS")
"""A folder to keep the screenshots in, to be looked at."""


def evaluation(folder: Path, systems: int, classes: int, n: int, cases: int, units: bool = False) -> Evaluation:
    """Systems of different quality, the later ones with predictions missing, all scores with intervals."""
    rng = np.random.default_rng(7)
    names = [f"class {chr(97 + i)}{i}" for i in range(classes)]
    gold = rng.integers(0, classes, n)

    def write(name: str, codes: np.ndarray, first: int = 0) -> str:
        text = (
            "\tthe text of a unit, as long as a message or the first lines of a letter are, so that it is cut where the page has no more room for it and the reader is told"
            if name == "gold.tsv" and units
            else ""
        )
        rows = [f"T{i % cases}\t{i}\t{names[c]}{text}\n" for i, c in enumerate(codes.tolist()) if i >= first]
        (folder / name).write_text(f"test_case\tid\tvalue{chr(9) + 'text' if text else ''}\n" + "".join(rows))
        return str(folder / name)

    files = [
        write(f"system-{k}.tsv", np.where(rng.random(n) < 0.5 + 0.04 * k, gold, rng.integers(0, classes, n)), 3 * k)
        for k in range(systems)
    ]
    found = karat.evaluate(write("gold.tsv", gold), files, metrics=METRICS, units=units)
    for system in found.systems:
        system.scores = {m: with_intervals(s) for m, s in system.scores.items()}
    return found


def with_intervals(score: Score) -> Score:
    def around(value: float | None) -> Interval:
        return Interval(0.95, (value or 0) - 0.02, (value or 0) + 0.03, "percentile", 999)

    return replace(
        score,
        interval=around(score.value),
        class_intervals={(p.test_case, p.label): around(p.value) for p in score.class_parts()},
        test_case_intervals={k: around(p.value) for k, p in score.by_test_case.items()},
    )


@pytest.fixture(scope="module")
def browser():
    with chromium.opened() as found:
        yield found


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """One system with one test case, and three systems with many."""
    out = {}
    for name, shape in {"one": (1, 5, 800, 1), "three": (3, 6, 3000, 60)}.items():
        folder = tmp_path_factory.mktemp(name)
        found = evaluation(folder, *shape)
        (folder / "report.html").write_text(found.to_html(), encoding="utf-8")
        out[name] = (folder / "report.html", found)
    return out


@pytest.mark.parametrize("name", ["one", "three"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_whole_and_accessible(browser, reports, name, width, scheme):
    file = reports[name][0]
    with chromium.page(browser, file, width, scheme) as (page, asked):
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert chromium.violations(page) == []
        assert asked == [file.as_uri()]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/{name}-{width}-{scheme}.png", full_page=True)


@pytest.mark.parametrize("name", EXAMPLES)
def test_pages_of_every_context(browser, tmp_path, name):
    file = tmp_path / "report.html"
    file.write_text(EXAMPLES[name](tmp_path).to_html(), encoding="utf-8")
    for width, scheme in product((360, 1280), ("light", "dark")):
        with chromium.page(browser, file, width, scheme) as (page, asked):
            page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            assert chromium.violations(page) == []
            assert asked == [file.as_uri()]
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if SHOTS:
                page.screenshot(path=f"{SHOTS}/{name}-{width}-{scheme}.png", full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_of_a_comparison(browser, tmp_path, scheme):
    evaluation(tmp_path, 3, 4, 900, 12)
    files = [str(tmp_path / f"system-{k}.tsv") for k in range(3)]
    found = karat.compare(str(tmp_path / "gold.tsv"), files, metrics=["f1"], draws=199)
    file = tmp_path / "comparison.html"
    file.write_text(found.render("html"), encoding="utf-8")
    with chromium.page(browser, file, 360, scheme) as (page, asked):
        assert chromium.violations(page) == []
        assert asked == [file.as_uri()]
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        said = page.evaluate(
            "[...document.querySelectorAll('.verdicts li')].map(x => x.textContent.replaceAll('\\u00a0', ' '))"
        )
        assert said == list(found.sentences())
        assert (
            page.locator(".summary").text_content().replace("\u00a0", " ") == json.loads(found.to_json())["summary"][0]
        )
        labels = page.evaluate("[...document.querySelectorAll('figure svg')].map(x => x.getAttribute('aria-label'))")
    assert any("p-values" in label for label in labels)
    assert any("mean ranks" in label for label in labels)
    assert any("Difference of" in label for label in labels)


def test_page_prints_light_and_unfolded(browser, reports):
    with chromium.page(browser, reports["three"][0], 800, "dark") as (page, _):
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("document.querySelectorAll('details:not([open])').length") == 0
        assert page.evaluate("getComputedStyle(document.querySelector('.karat-chart text')).fill") == "rgb(0, 0, 0)"
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/three-print.png", full_page=True)


def cells_of(page, selector: str) -> list[list[str]]:
    return page.evaluate(
        f"[...document.querySelectorAll({json.dumps(selector)})].map(r => [...r.cells].map(c => c.textContent.trim()))"
    )


def spoken(part: dict) -> str:
    interval = part["interval"]
    return f"{number(part['value'])} [{number(interval['low'])}, {number(interval['high'])}]"


def test_numbers_of_one_system_are_those_of_the_json_report(browser, reports):
    file, found = reports["one"]
    system = json.loads(found.to_json())["systems"][0]
    with chromium.page(browser, file) as (page, _):
        exact = page.evaluate("[...document.querySelectorAll('.cards data')].map(d => [d.value, d.textContent])")
        spans = page.evaluate("[...document.querySelectorAll('.cards .span')].map(d => d.textContent)")
        by_class = cells_of(page, "details:nth-of-type(1) table tr")
        matrix = cells_of(page, "figure + details table tr")
    assert [(float(v), t) for v, t in exact] == [(m["value"], number(m["value"])) for m in system["metrics"]]
    assert spans == [spoken(m).split(" ", 1)[1] for m in system["metrics"]]
    with_classes = [m for m in system["metrics"] if "by_class" in m]
    expected = [
        [p["class"], *(spoken(m["by_class"][i]) for m in with_classes)]
        for i, p in enumerate(with_classes[0]["by_class"])
    ]
    assert by_class[1 : 1 + len(expected)] == expected
    detail = next(d for d in system["details"] if d["name"] == "confusion")
    assert matrix[-len(detail["rows"]) :] == [[str(v) for v in row] for row in detail["rows"]]


def test_numbers_of_several_systems_are_those_of_the_json_report(browser, reports):
    file, found = reports["three"]
    systems = json.loads(found.to_json())["systems"]
    systems.sort(key=lambda s: -next(m["value"] for m in s["metrics"] if m["metric"] == "f1"))  # best first
    with chromium.page(browser, file) as (page, _):
        board = page.evaluate("[...document.querySelectorAll('.sortable data')].map(d => [+d.value, d.textContent])")
        counts = page.evaluate(
            "[...document.querySelectorAll('.coverage dd')].map(d => +d.textContent.replaceAll(',', ''))"
        )
    assert [tuple(x) for x in board] == [(m["value"], number(m["value"])) for s in systems for m in s["metrics"]]
    assert counts == [n for s in systems for n in s["counts"].values()]


def test_table_sorts_from_the_keyboard(browser, reports):
    with chromium.page(browser, reports["three"][0]) as (page, _):
        head = page.get_by_role("button", name="Accuracy", exact=True)
        head.focus()
        page.keyboard.press("Enter")
        rows = [row[0] for row in cells_of(page, ".sortable tbody tr")]
        assert rows == ["system-2", "system-1", "system-0"]
        assert page.get_by_role("columnheader", name="Accuracy", exact=True).get_attribute("aria-sort") == "descending"
        page.keyboard.press("Enter")
        assert [row[0] for row in cells_of(page, ".sortable tbody tr")] == rows[::-1]


def test_keyboard_reaches_the_scores_first(browser, reports):
    with chromium.page(browser, reports["one"][0]) as (page, _):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the scores"


def test_folded_tables_open_from_the_keyboard(browser, tmp_path):
    (tmp_path / "report.html").write_text(EXAMPLES["labels"](tmp_path).to_html(), encoding="utf-8")
    with chromium.page(browser, tmp_path / "report.html") as (page, _):
        total, reached = page.evaluate("document.querySelectorAll('summary').length"), 0
        for _ in range(200):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.tagName") == "SUMMARY":
                reached += 1
                assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
                page.keyboard.press("Enter")
            if reached == total:
                break
        assert page.evaluate("document.querySelectorAll('details:not([open])').length") == 0


@pytest.mark.parametrize("cases", [1, 12])
@pytest.mark.parametrize("units", [False, True])
def test_size_is_within_the_budget(tmp_path, units, cases):
    """Ten systems, ten metrics and twenty classes; with the worst and the disputed units and their texts."""
    html = evaluation(tmp_path, 10, 20, 20_000, cases, units).to_html()
    assert len(html.encode()) <= 300_000
    assert ("Worst units: system-9" in html) == units
    assert not any(mark in html for mark in ("http://", "https://", "src=", "@import")) or html.replace(
        'xmlns="http://www.w3.org/2000/svg"', ""
    ).count("http") == html.count("http-equiv")


def test_what_users_write_is_escaped():
    bad = '<script>alert("&")</script>\x00'
    html = karat.evaluate({"1": bad, "2": "B"}, {"1": "B", "2": bad}).to_html(title=bad)
    assert "<script>alert" not in html
    assert "\x00" not in html


def labelled(labels: list[str], systems: int = 2, n: int = 120) -> Evaluation:
    """Systems that take one label for the next now and then."""
    gold = [{"id": str(i), "value": labels[i % len(labels)]} for i in range(n)]
    wrong = {
        f"a system with a long name, number {k}": [
            g if i % (k + 2) else g | {"value": labels[(i + 1) % len(labels)]} for i, g in enumerate(gold)
        ]
        for k in range(systems)
    }
    return karat.evaluate(gold, wrong, metrics=["f1"], units=True)


def measured(browser, tmp_path, found: Evaluation, width: int = 1280) -> tuple[int, int]:
    """Height and width of the page; it is accessible."""
    (tmp_path / "report.html").write_text(found.to_html(), encoding="utf-8")
    with chromium.page(browser, tmp_path / "report.html", width) as (page, _):
        assert chromium.violations(page) == []
        return tuple(page.evaluate("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]"))


@pytest.mark.parametrize("width", [360, 1280])
def test_long_labels_have_room(browser, tmp_path, width):
    """Labels of 200 characters, with blanks or without: some lines each, not a letter to a line."""
    labels = [f"{i} " + "very long label " * 12 for i in range(3)] + [f"{i}" + "unbroken" * 25 for i in range(3)]
    height, wide = measured(browser, tmp_path, labelled(labels), width)
    assert height < (9_000 if width == 360 else 6_000)
    assert wide <= width


def test_a_phone_shows_heads_in_one_piece_and_where_the_warnings_are(browser, tmp_path):
    gold, file = {"1": "A", "2": "B", "3": "A"}, tmp_path / "page.html"
    for other, warned in (({"1": "A", "2": "B"}, True), (gold, False)):
        file.write_text(karat.evaluate(gold, [gold, other], names=["m1", "m2"]).to_html(), encoding="utf-8")
        with chromium.page(browser, file, 360) as (page, _):
            lines = page.evaluate(
                """() => { const text = document.createRange();
                text.selectNode(document.querySelector('.sortable thead button').firstChild); return text.getClientRects().length }"""
            )
            assert lines == 1
            assert page.locator("nav a[href='#findings']").count() == warned


def test_many_systems_are_folded_and_opened_by_their_links(browser, tmp_path):
    found = labelled(list("ABCD"), systems=30)
    assert measured(browser, tmp_path, found)[0] < 8_000
    with chromium.page(browser, tmp_path / "report.html") as (page, _):
        names = [row[0] for row in cells_of(page, ".sortable tbody tr")]
        assert names == [s.name for s in sorted(found.systems, key=lambda s: -s["f1"].value)]
        page.get_by_role("link", name="number 29").click()
        page.wait_for_selector(".system[open] h2", state="attached")  # a busy browser hears of the link later
        assert page.evaluate("[...document.querySelectorAll('.system[open] h2')].map(h => h.id)") == ["system-30"]
        assert page.evaluate("document.querySelector('.sortable th a').scrollWidth <= document.querySelector('.sortable tbody th').clientWidth")  # fmt: skip


def test_what_is_left_out_is_said():
    found = labelled([f"class {i}" for i in range(70)], n=700)
    html = found.to_html()
    assert "F1 by class (the 50 worst of 70)" in html
    worst = sorted(found.systems[0]["f1"].by_class.values(), key=lambda p: p.value)[0]
    assert f">{worst.label}<" in html
    one = finding("few-units", count=3, counted="units", units="units")
    found.systems[0].findings = [msgspec.structs.replace(one, file=f"{i}.csv") for i in range(1_000)]
    html = found.to_html()
    assert html.count('<li class="warning"') == 50
    assert "Left out: 950 few-units." in html


def test_reasons_of_several_systems_are_said():
    gold = [{"id": str(i), "value": "A"} for i in range(4)]
    html = karat.evaluate(gold, {"a": gold, "b": gold}, metrics=["kappa", "accuracy"]).to_html()
    assert "– Cohen&#39;s kappa: one label in use" in html


def test_signs_that_belong_to_words_are_kept():
    label = "10\u00a0000 \N{WOMAN}\u200d\N{GIRL} \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    html = karat.evaluate({"1": label, "2": "a\tb"}, {"1": "a\tb", "2": label}).to_html()
    assert label in html
    assert "a␉b" in html
    assert "\ufffd" not in html


def test_undefined_scores_say_why():
    found = karat.evaluate(["A", "A"], ["A", "A"], metrics=["kappa", "icm_norm"])
    html = found.to_html()
    assert "one label in use" in html
    assert ">nan<" not in html.lower()


def test_notebook_shows_scores():
    html = karat.evaluate(["A", "B"], ["A", "A"])._repr_html_()
    assert "0.5000" in html
    assert "<html" not in html


def test_a_card_in_a_notebook_has_its_colours(browser, tmp_path):
    """The sheet of the page holds inside a card, and only there."""
    card = karat.evaluate(["A", "B"], ["A", "A"])._repr_html_()
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><ul class='cards'><li>another's</li></ul>{card}", encoding="utf-8")
    with chromium.page(browser, file, 800, "light") as (page, _):
        drawn = page.evaluate(
            "[...document.querySelectorAll('.cards')].map(c => getComputedStyle(c.children[0]).borderTopStyle)"
        )
    assert drawn == ["none", "solid"]

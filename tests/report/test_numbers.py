# SPDX-License-Identifier: Apache-2.0
"""Every number on a page is one of the JSON report's, in every context; a wrong one is noticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report import browser as chromium
from tests.report.examples import EXAMPLES, labels, rankings
from tests.report.ledger import Ledger, planted, shown, unaccounted

import karat
from karat.report.rows import number


@pytest.fixture(scope="module")
def browser():
    with chromium.opened() as found:
        yield found


def on_page(browser, html: str, folder: Path) -> list:
    (folder / "page.html").write_text(html, encoding="utf-8")
    with chromium.page(browser, folder / "page.html") as (page, _):
        return shown(page)


def evaluation(name: str, folder: Path):
    intervals = None if name == "clusters" else 0.9  # B-cubed resamples take half a minute
    inputs = folder / "run 7 of 2026"  # no digit of a folder may count as one of the page
    inputs.mkdir()
    return EXAMPLES[name](inputs, intervals=intervals)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_number_is_the_json_reports(browser, tmp_path, name):
    found = evaluation(name, tmp_path)
    page, document = on_page(browser, found.to_html(), tmp_path), json.loads(found.to_json())
    assert unaccounted(page, document) == []
    texts = {s.text.strip() for s in page}
    for metric in (m for s in document["systems"] for m in s["metrics"]):
        assert metric["value"] is None or number(metric["value"]) in texts
        if metric["interval"]:
            assert f"[{number(metric['interval']['low'])}, {number(metric['interval']['high'])}]" in texts
    assert_changes_are_noticed(page, Ledger(document))


def assert_changes_are_noticed(page: list, ledger: Ledger) -> None:
    """Any digit, changed: all but one in fifty are strangers, since a wrong count may happen to be its neighbour's."""
    wrong = [p for p in map(planted, page) if p is not None]
    missed = [p for p in wrong if not ledger.strangers(p)]
    assert len(wrong) > 150
    assert len(missed) <= len(wrong) / 50
    assert [p for p in missed if p.text.strip()[-5:-4] == "."] == []


def test_a_wrong_number_in_the_file_is_noticed(browser, tmp_path):
    found = labels(tmp_path)
    right = number(found.systems[1]["kappa"].value)
    html = found.to_html().replace(f">{right}<", f">{number(float(right) + 0.0001)}<")
    assert len(unaccounted(on_page(browser, html, tmp_path), json.loads(found.to_json()))) == 1


def test_many_test_cases(browser, tmp_path):
    found = labels(tmp_path, n=600, cases=60, metrics=["f1"], intervals=0.9)
    assert unaccounted(on_page(browser, found.to_html(), tmp_path), json.loads(found.to_json())) == []


def test_one_system(browser, tmp_path):
    labels(tmp_path)
    found = karat.evaluate(str(tmp_path / "gold.json"), str(tmp_path / "hasty.json"), units=True, intervals=True)
    assert unaccounted(on_page(browser, found.to_html(), tmp_path), json.loads(found.to_json())) == []


@pytest.mark.parametrize("make", [labels, rankings])
def test_comparisons(browser, tmp_path, make):
    files = [str(tmp_path / f"{s.name}.json") for s in make(tmp_path).systems]
    if make is labels:
        rows = json.loads((tmp_path / "gold.json").read_text())
        (tmp_path / "constant.json").write_text(json.dumps([r | {"value": "cat"} for r in rows]))
        files.append(str(tmp_path / "constant.json"))
    found = karat.compare(
        str(tmp_path / "gold.json"), files, draws=199, rope=0.01, margin=0.02, detect=0.05, tests=["wilcoxon", "sign"],
        context="monolabel" if make is labels else "ranking",
    )  # fmt: skip
    page, document = on_page(browser, found.render("html"), tmp_path), json.loads(found.render("json"))
    assert unaccounted(page, document) == []
    wrong = [p for p in map(planted, page) if p is not None and p.part == "section" and "." in p.text]
    assert len([p for p in wrong if not Ledger(document).strangers(p)]) <= len(wrong) / 10

# SPDX-License-Identifier: Apache-2.0
"""Every link of the site leads somewhere, every mark of a chart to units, every table to its files."""

from __future__ import annotations

import json
import re
from html import unescape
from urllib.parse import urlsplit

from tests.web.site import Site, Visitor, labels, until
from tests.web.test_browser import paths

MOST = 260
"""Addresses that are asked for."""


def shape(path: str) -> str:
    """What addresses of one kind have in common: runs, units and pages are alike."""
    place = urlsplit(path)
    names = sorted({part.split("=")[0] for part in place.query.split("&")})
    known = re.sub(r"[0-9a-f]{12,24}|(?<=/metrics/)\w+", "ID", place.path)
    return known + "?" + "&".join(names)


def test_no_link_is_dead_and_every_download_is_a_file(demo: Site):
    who = Visitor(demo)
    seen, queue, shapes, downloads = set[str](), ["/"], dict[str, int](), 0
    while queue and len(seen) < MOST:
        path = queue.pop(0)
        shapes[shape(path)] = shapes.get(shape(path), 0) + 1
        if path in seen or shapes[shape(path)] > 3:
            continue
        seen.add(path)
        answer = until(lambda path=path: (a := who.page(path)) and "<title>Comparing" not in a.text and a, path)
        assert answer.status == 200, (path, answer.status, answer.text[:300])
        if "content-disposition" in answer.headers:
            downloads += 1
            assert answer.body
            if answer.headers["content-type"].startswith("application/json"):
                json.loads(answer.body)
            continue
        found = re.findall(r'<a [^>]*href="([^"]+)"', answer.text)
        queue += [unescape(link).split("#")[0] for link in found if link.startswith("/")]
        assert not [link for link in found if not link.startswith(("/", "#"))]
    assert downloads > 40
    assert {"/runs/ID/unit?case&id&kind&system", "/runs/ID/table.tex?system&table", "/compare?run"} & set(shapes)


CURVES = ("ROC curve", "Precision and recall", "Calibration")


def test_every_mark_of_a_chart_leads_to_its_units(demo: Site):
    who = Visitor(demo)
    for run in who.get("/api/runs?tag=demo&limit=50").json["runs"]:
        text = who.page(f"/runs/{run['id']}").text
        charts = re.findall(r'<svg[^>]*class="karat-chart(?: broad)?"[^>]*>.*?</svg>', text, re.S)
        assert charts
        for chart in charts:
            links = [unescape(link) for link in re.findall(r'<a href="([^"]+)"', chart)]
            if any(f'aria-label="{curve}' in chart for curve in CURVES):
                continue  # a point of a curve stands for all units beyond a threshold
            assert links, (run["context"], chart[:200])
            assert all(link.startswith(f"/runs/{run['id']}/units?") for link in links)
            assert who.page(links[-1]).status == 200


def test_a_cell_of_the_confusion_matrix_leads_to_as_many_units_as_it_says(demo: Site):
    who = Visitor(demo)
    run = who.get("/api/runs?tag=labels").json["runs"][0]["id"]
    cells = re.findall(
        r'<a href="([^"]+)" aria-label="gold (\w+), predicted (\w+): (\d+)"', who.page(f"/runs/{run}").text
    )
    assert len(cells) == 25 or len(cells) > 15
    for link, gold, pred, n in cells[:8]:
        units = who.get(unescape(link) + "&as=json").json
        assert (len(units), {u["gold"] for u in units} <= {gold}) == (int(n), True), (gold, pred)


def test_a_histogram_bar_leads_to_the_queries_it_counts(demo: Site):
    who = Visitor(demo)
    run = who.get("/api/runs?tag=rankings").json["runs"][0]["id"]
    bars = re.findall(r'<a href="([^"]+)" aria-label="(\w+): (\d+) from [^"]+"', who.page(f"/runs/{run}").text)
    assert bars
    for link, system, n in bars:
        units = who.get(unescape(link) + "&as=json").json
        assert len(units) == int(n), (system, link)


def sliced_run(who: Visitor) -> str:
    """A run with scores by language."""
    rows = "".join(f"i{k},{'ABC'[k % 3]},{('en', 'es', 'de', '')[k % 4]}\n" for k in range(200))
    files = {"gold": ("gold.csv", "id,value,language\n" + rows), "systems": ("one.csv", labels(200, wrong=40))}
    job = who.upload("/api/evaluations", **files, slices="language", context="monolabel").json
    done = until(lambda: (j := who.get(f"/api/jobs/{job['id']}").json)["state"] not in ("queued", "running") and j)
    return done["result"]["run"]


def test_a_slice_leads_to_as_many_units_as_it_says(demo: Site):
    who = Visitor(demo)
    run = sliced_run(who)
    page = who.page(f"/runs/{run}").text
    slices = re.findall(r'<a href="([^"]+slice=[^"]+)" aria-label="([^:"]+): [^"]*n (\d+)"', page)
    assert {name: int(n) for _, name, n in slices} == {"en": 50, "es": 50, "de": 50, "(no value)": 50}
    for link, name, n in slices:
        listed = who.get(unescape(link) + "&as=json").json
        rest = {"en": 0, "es": 1, "de": 2, "(no value)": 3}[name]
        assert {int(u["unit"][1:]) % 4 for u in listed} == {rest}
        assert len(listed) == int(n)
        text = who.page(unescape(link)).text
        assert f'<option selected value="language: {name}">' in text
    assert who.get(f"/api/runs/{run}/units?kind=all&slice=language:+es&limit=1").json["total"] == 50


IN_ONE_FILE = {"/metrics": 9, "/formats": 2}
"""Pages whose tables are one file together."""


def test_every_table_downloads(demo: Site):
    """As many lists of files as tables, on every page."""
    who = Visitor(demo)
    files = {"gold": [("gold.csv", labels(9))], "systems": [("one.csv", labels(9, wrong=2))]}
    place = who.form("/evaluate", **files).place
    until(lambda: "Ready to evaluate" in who.page(place).text, "the look at the files")
    listed = who.get(f"{place}?as=json").json
    assert [(f["file"], f["records"], f["in gold and predicted"]) for f in listed] == [("gold.csv", "9", ""), ("one.csv", "9", "9")]  # fmt: skip
    lacking = []
    compared = "/compare?run=" + who.get("/api/runs?tag=labels").json["runs"][0]["id"]
    until(lambda: "<title>Comparing" not in who.page(compared).text, "the comparison")
    for path in [*paths(demo), place, compared, f"/runs/{sliced_run(who)}"]:
        text = who.page(path).text
        tables, downloads = (len(re.findall(mark, text)) for mark in ("<table", '<p class="downloads"'))
        if tables > IN_ONE_FILE.get(path, 1) * downloads:
            lacking.append(
                (path, tables, downloads, re.findall(r'aria-label="([^"]+)"><table', text.replace("\n", "")))
            )
    assert not lacking, lacking

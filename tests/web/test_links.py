# SPDX-License-Identifier: Apache-2.0
"""Every link of the site leads somewhere, every mark of a chart to units, every table to its files."""

from __future__ import annotations

import json
import re
from html import unescape
from urllib.parse import urlsplit

from tests.web.site import Site, Visitor, until

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
        charts = re.findall(r'<svg[^>]*class="karat-chart"[^>]*>.*?</svg>', text, re.S)
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

# SPDX-License-Identifier: Apache-2.0
"""The timeline picture: well-formed, every file a bar, only wrong files red, names escaped."""

from __future__ import annotations

from xml.etree import ElementTree

import karat
from karat.report.charts.timeline import timeline

SVG = "{http://www.w3.org/2000/svg}"


def picture(gold, pred):
    e = karat.evaluate([{"id": "<a&b>", "pages": gold}], [{"id": "<a&b>", "pages": pred}])
    return ElementTree.fromstring(timeline(e.systems[0].detail("timeline")))


def test_bars_of_gold_and_predicted_files():
    bars = list(picture([True, False, True, False, True], [True, False, True, False, False]).iter(f"{SVG}rect"))
    assert [bar.find(f"{SVG}title").text for bar in bars] == [
        "gold file: pages 1-2",
        "gold file: pages 3-4",
        "gold file: page 5",
        "predicted file: pages 1-2",
        "predicted file: pages 3-5",
    ]
    assert ["bad" in bar.get("class") for bar in bars] == [False, True, True, False, True]


def test_long_bundles_are_broken_into_stretches():
    flags = [i == 0 for i in range(130)]
    texts = [t.text for t in picture(flags, flags).iter(f"{SVG}text")]
    assert texts[1:] == ["<a&b>", "<a&b> from 61", "<a&b> from 121"]

"""Every picture is an SVG that can be read as XML, says what it shows, and is saved as what its name ends in."""

from __future__ import annotations

import struct
import sys
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.report.examples import labels, probabilities, rankings

import karat
from karat.report.charts import svg
from karat.report.charts.lines import thinned
from karat.report.pictures import PAINTERS, PICTURES


@pytest.fixture(scope="module")
def evaluations(tmp_path_factory):
    rng = np.random.default_rng(0)
    gold = np.array(["no", "yes"])[rng.integers(0, 2, 200)]
    score = np.clip((gold == "yes") * 0.3 + rng.random(200) * 0.7, 0, 1)
    made = {name.__name__: name(tmp_path_factory.mktemp("files")) for name in (labels, probabilities, rankings)}
    return made | {"scores": karat.evaluate(gold, {"<sharp> & co": score, "dull": rng.random(200)})}


SHOWN = {
    "roc": "scores", "pr": "scores", "calibration": "scores", "thresholds": "scores", "confusion": "labels",
    "classes": "labels", "balance": "probabilities", "cutoff": "rankings",
}  # fmt: skip


def texts(drawn: str) -> str:
    return " ".join(text for element in ElementTree.fromstring(drawn).iter() for text in element.itertext())


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name, evaluations):
    evaluation = evaluations[SHOWN[name]]
    picture = evaluation.plot(name)
    assert picture._repr_svg_() == picture._repr_html_() == picture.svg
    shown = texts(picture.svg)
    if name not in ("confusion", "thresholds"):
        assert all(system.name in shown for system in evaluation.systems)


def test_the_area_in_the_picture_is_the_score(evaluations):
    shown = texts(evaluations["scores"].plot("roc").svg)
    for system in evaluations["scores"].systems:
        assert f"AUC {system['roc_auc'].value:.3f}" in shown
    shown = texts(evaluations["scores"].plot("pr").svg)
    for system in evaluations["scores"].systems:
        assert f"AP {system['average_precision'].value:.3f}" in shown
    shown = texts(evaluations["scores"].plot("calibration").svg)
    for system in evaluations["scores"].systems:
        assert f"ECE {system['ece'].value:.3f}" in shown


def test_pictures_of_other_contexts_are_refused(evaluations):
    with pytest.raises(karat.MetricError, match="no picture of context monolabel; it has confusion, classes, balance"):
        evaluations["labels"].plot("roc")
    with pytest.raises(karat.MetricError, match="did you mean roc"):
        evaluations["scores"].plot("rocc")
    assert evaluations["scores"].plot().name == "roc"


def test_saved_as_its_name_says(evaluations, tmp_path, monkeypatch):
    picture = evaluations["scores"].plot("roc")
    assert picture.save(tmp_path / "roc.svg").read_text(encoding="utf-8") == picture.svg
    with pytest.raises(karat.MetricError, match=r"as \.svg, \.png or \.html"):
        picture.save(tmp_path / "roc.jpeg")
    for name in PAINTERS:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(karat.MetricError, match=r"pip install 'karat\[png\]'"):
        picture.save(tmp_path / "roc.png")


@pytest.mark.parametrize("name", ["roc", "pr", "calibration", "thresholds"])
def test_pixels_are_those_of_the_picture(evaluations, name, tmp_path):
    """By the library of the extra `png`: twice the size of the drawing, on white, with curves and letters in it."""
    picture = evaluations["scores"].plot(name)
    data = picture.save(tmp_path / "x.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    wide, high = struct.unpack(">II", data[16:24])
    box = [float(x) for x in ElementTree.fromstring(picture.svg).attrib["viewBox"].split()]
    assert (wide, high) == (pytest.approx(2 * box[2], abs=1), pytest.approx(2 * box[3], abs=1))
    assert "var(--" not in svg.flattened(picture.svg)
    assert len(pixels(data)) > 20  # letters and curves are smoothed: many tones, not a blank sheet


def pixels(data: bytes) -> set[bytes]:
    """The distinct filtered pixels of a PNG: enough to tell a drawing from a blank sheet."""
    packed, at = b"", 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        packed += data[at + 8 : at + 8 + size] if data[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + size
    rows = zlib.decompress(packed)
    return {rows[i : i + 4] for i in range(1, len(rows), 4)}


def test_long_curves_are_thinned_and_keep_their_ends():
    x = np.linspace(0, 1, 100_000)
    few, y = thinned(x, np.sqrt(x))
    assert len(few) < 300
    assert (few[0], few[-1], y[-1]) == (0.0, 1.0, 1.0)
    assert np.abs(np.interp(x, few, y) - np.sqrt(x)).max() < 0.01


def test_a_million_scores_are_a_small_picture():
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 2, 20_000)
    e = karat.evaluate(gold, rng.random(20_000), context="probabilities", metrics=["roc_auc"])
    assert len(e.plot("roc").svg) < 12_000


def test_one_error_in_a_hundred_has_a_colour():
    gold = ["a"] * 200 + ["b"] * 200
    pred = ["b"] + ["a"] * 199 + ["b"] * 200
    shades = karat.evaluate(gold, pred).plot("confusion").svg
    assert shades.count("stroke-opacity") >= 2 or shades.count("fill-opacity") >= 2

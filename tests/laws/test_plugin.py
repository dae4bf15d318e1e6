"""A metric that an installed package offers is everywhere that karat's own metrics are."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command
from karat.contexts import catalogue
from tests.laws.laws import broken, symmetric_iff_declared, variants

MODULE = '''
from karat.cells import Weights
from karat.contexts.monolabel import MonoLabelCells
from karat.metric import metric
from karat.score import Values, ratio


@metric(MonoLabelCells, symmetric=True, reference="written by a test")
def coverage_of_hits(W: Weights, cells: MonoLabelCells) -> Values:
    """Share of gold items that are hit.

    C = hits / gold items. Undefined without gold items.
    """
    return ratio(W @ cells.hit, W @ cells.in_gold, "no gold items")
'''
NAME = "coverage_of_hits"


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package as pip leaves it: a module and the metadata that names its entry point."""
    (tmp_path / "hits_plugin.py").write_text(MODULE)
    info = tmp_path / "hits_plugin-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hits-plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[karat.metrics]\n{NAME} = hits_plugin:{NAME}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("hits_plugin", None)


@pytest.mark.usefixtures("plugin")
class TestPlugin:
    def test_in_the_catalogue_of_its_context_alone(self) -> None:
        assert catalogue("monolabel")[NAME].title == "Coverage of hits"
        assert NAME not in catalogue("multilabel").definitions

    def test_on_the_command_line(self, tmp_path: Path) -> None:
        (tmp_path / "gold.csv").write_text("id,value\n1,A\n2,B\n")
        listed = CliRunner().invoke(command, ["metrics"]).stdout
        assert NAME in listed
        assert "C = hits / gold items" in CliRunner().invoke(command, ["metrics", NAME]).stdout
        gold = str(tmp_path / "gold.csv")
        scored = CliRunner().invoke(
            command, ["evaluate", gold, gold, "--allow-same", "-m", NAME, "--fail-under", f"{NAME}=0.5"]
        )
        assert (scored.exit_code, "Coverage of hits" in scored.stdout) == (0, True)

    @pytest.mark.parametrize("report", ["table", "json", "markdown", "latex", "tsv", "csv"])
    def test_in_reports(self, report: str) -> None:
        text = karat.evaluate(["A", "B"], ["A", "A"], metrics=[NAME, "accuracy"]).render(report)
        assert "Coverage of hits" in text

    def test_under_the_laws(self) -> None:
        (subject,) = variants("monolabel", catalogue("monolabel")[NAME])
        assert broken(subject) == []
        symmetric_iff_declared(subject)

    def test_a_module_offers_all_its_metrics(self, tmp_path: Path) -> None:
        points = tmp_path / "hits_plugin-1.dist-info" / "entry_points.txt"
        points.write_text("[karat.metrics]\nhits = hits_plugin\n")
        assert catalogue("monolabel")[NAME].title == "Coverage of hits"

    @pytest.mark.parametrize(
        ("text", "said"),
        [("import nothing_of_that_name", "cannot be loaded: ModuleNotFoundError"), ("x = 1", "offers no metric")],
    )
    def test_a_broken_plugin_is_named(self, tmp_path: Path, text: str, said: str) -> None:
        points = tmp_path / "hits_plugin-1.dist-info" / "entry_points.txt"
        points.write_text("[karat.metrics]\nhits = hits_plugin\n")
        (tmp_path / "hits_plugin.py").write_text(text + "\n")
        with pytest.raises(karat.MetricError, match=f"the plug-in hits_plugin of hits-plugin {said}"):
            catalogue("monolabel")

    def test_a_second_metric_of_the_same_name_is_loud(self, tmp_path: Path) -> None:
        points = tmp_path / "hits_plugin-1.dist-info" / "entry_points.txt"
        (tmp_path / "hits_plugin.py").write_text(MODULE.replace(NAME, "accuracy"))
        points.write_text("[karat.metrics]\naccuracy = hits_plugin:accuracy\n")
        with pytest.raises(karat.MetricError, match="two metrics are called 'accuracy'"):
            catalogue("monolabel")


def test_the_documented_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "plug-ins.md").read_text(encoding="utf-8")
    (module,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (points,) = re.findall(r"```toml\n\[project\.entry-points\.\"(.*?)\"\]\n(.*?)```", page, re.DOTALL)
    (tmp_path / "our_metrics.py").write_text(module, encoding="utf-8")
    info = tmp_path / "our_metrics-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: our-metrics\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{points[0]}]\n{points[1].replace(chr(34), '')}")
    monkeypatch.syspath_prepend(str(tmp_path))
    e = karat.evaluate({"1": "A", "2": "B"}, {"1": "A"}, metrics=["abstention"], intervals=0.9)
    assert e["abstention"].value == 0.5
    assert (e["abstention"].better, e["abstention"].interval is not None) == ("lower", True)

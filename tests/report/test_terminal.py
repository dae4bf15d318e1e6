# SPDX-License-Identifier: Apache-2.0
"""Tables on terminals of any width: every number whole, every column there."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from tests.report.examples import EXAMPLES

from karat.report.mistakes import disagreement_grid, worst_grid
from karat.report.rich import print_grid
from karat.report.rows import Grid
from karat.report.terminal import tables


def printed(grid: Grid, width: int) -> str:
    out = io.StringIO()
    print_grid(grid, Console(file=out, width=width, color_system=None))
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_number_is_broken_or_left_out(tmp_path, name, width):
    found = EXAMPLES[name](tmp_path)
    a, b = (s.name for s in found.systems)
    some = [*tables(found, ["class"], 4, []), worst_grid(found, found.systems[0], None, 3), disagreement_grid(found, a, b, None, 3)]  # fmt: skip
    for grid in some:
        text = printed(grid, width)
        assert max(map(len, text.splitlines())) <= width
        wanted = re.findall(r"-?\d+\.\d{4}", " ".join(cell for row in grid.rows for cell in row))
        assert sorted(set(re.findall(r"-?\d+\.\d{4}", text))) == sorted(set(wanted))
        assert len(re.findall(r"-?\d+\.\d{4}", text)) >= len(wanted)


def test_thirty_systems_and_twelve_metrics():
    grid = Grid("Scores", ["system", *(f"metric {k}" for k in range(12))], [[f"system {i}", *(f"0.{i:02}{k:02}" for k in range(12))] for i in range(30)])  # fmt: skip
    text = printed(grid, 80)
    assert all(cell in text for row in grid.rows for cell in row)
    assert max(map(len, text.splitlines())) <= 80

# SPDX-License-Identifier: Apache-2.0
"""What docs/scale.md shows of Spark."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import karat
from karat.cli.main import karat as command

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
LABELS = [("1", ["a", "b"], ["a", "b"]), ("2", ["b"], ["a"])]


def test_python_on_dataframes(spark: Any) -> None:
    frames = {
        "gold": spark.createDataFrame([("1", "a"), ("2", "b")], ["id", "label"]),
        "predictions": spark.createDataFrame([("2", "b"), ("1", "b")], ["id", "prediction"]),
        "papers": spark.createDataFrame(LABELS, ["id", "labels", "predicted"]),
        "frame": spark.createDataFrame([(1.0, 1.0), (0.0, 1.0)], ["label", "prediction"]),
    }
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    names: dict[str, Any] = {"karat": karat, **frames}
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 2
    assert names["found"].context == "multilabel"
    assert f"str(evaluator)  # {str(names['evaluator'])!r}" in PAGE
    assert names["evaluator"].evaluation(frames["frame"])["accuracy"].value == 0.5


def test_commands_on_a_table(spark: Any, tmp_path: Path) -> None:
    table = str(tmp_path / "papers.parquet")  # Spark knows the folder in which it was started
    spark.createDataFrame(LABELS, ["id", "labels", "predicted"]).write.parquet(table)
    (block,) = re.findall(r"^```\n(karat .*?)^```$", PAGE, re.M | re.S)
    (words,) = [shlex.split(line, comments=True) for line in block.replace("\\\n", " ").splitlines()]
    done = CliRunner().invoke(command, [table if word == "papers.parquet" else word for word in words[1:]])
    assert done.exit_code == 0, done.output
    assert "Adjusted accuracy" in done.output

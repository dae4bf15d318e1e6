"""The notebooks in examples/, run by a real kernel, and kept without outputs."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

BOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    book = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "clear the outputs"
    NotebookClient(book, timeout=180, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [cell.outputs for cell in book.cells if cell.cell_type == "code"]
    assert any("text/html" in output.get("data", {}) for outputs in shown for output in outputs)


def test_there_are_notebooks():
    assert len(BOOKS) >= 3

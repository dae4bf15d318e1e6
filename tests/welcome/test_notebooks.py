"""A data scientist in a notebook, run by a real kernel."""

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = [
    "import karat\nimport pandas as pd",
    "test = pd.DataFrame({'id': [1, 2, 3, 4], 'text': list('wxyz'), 'label': ['pos', 'neg', 'pos', 'neg']})\n"
    "out = test.assign(prediction=['neg', 'neg', 'neg', 'pos'])\n"
    "print(karat.evaluate(test, out)['accuracy'].value, karat.evaluate(out)['accuracy'].value)",
    "karat.evaluate(out, metrics=['accuracy'])",
    "karat.evaluate(test, out.assign(prediction=['NEG', 'NEG', 'NEG', 'POS']), metrics=['accuracy'])",
    "print(karat.evaluate(test['label'], out['label'].iloc[::-1], metrics=['accuracy']))",
    "karat.compare(test, {'a': out, 'b': test.copy()}, columns={'pred_value': 'label'}, metrics=['accuracy'])",
    "try:\n    karat.evaluate(test, out, columns={'pred_value': 'predicton'})\nexcept karat.InputError as e:\n    print(e)",
    "repr(karat.evaluate(test, out))",
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path_factory.mktemp("book"))}}).execute()
    return [cell.outputs for cell in book.cells]


def text(outputs):
    return "".join(o.get("text", "") for o in outputs)


def page(outputs):
    return "".join(o.get("data", {}).get("text/html", "") for o in outputs)


def test_the_right_column(outputs):
    assert text(outputs[1]) == "0.25 0.25\n"


def test_a_card(outputs):
    assert "0.25" in page(outputs[2])


def test_a_card_shows_what_was_found(outputs):
    assert "no predicted label is in gold" in page(outputs[3])


def test_series_are_paired_by_their_index(outputs):
    assert "Accuracy  1.0000" in text(outputs[4])
    assert "paired by it" in text(outputs[4])


def test_a_comparison(outputs):
    assert "Accuracy" in page(outputs[5])
    assert "Leaderboard" in page(outputs[5])
    assert "<h1" not in page(outputs[5])  # a card, not a page in the middle of the notebook


def test_errors_speak_python(outputs):
    assert '\'prediction\' may be meant: columns={"pred_value": "prediction"}' in text(outputs[6])


def test_short(outputs):
    assert len(outputs[7][0]["data"]["text/plain"]) < 200

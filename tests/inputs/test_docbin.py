"""DocBin files as spaCy itself writes them."""

import pytest

import karat

spacy = pytest.importorskip("spacy", reason="spaCy takes a minute to install, so only the full run has it")

TEXT = "Ada Lovelace met Babbage in London."
GOLD = [(0, 12, "PER"), (17, 24, "PER"), (28, 34, "LOC")]
PRED = [(0, 3, "PER"), (17, 24, "PER"), (28, 34, "ORG")]


def write(path, spans, group=None):
    """A document with the spans as entities, or in a group; and one without any."""
    binary, nlp = spacy.tokens.DocBin(), spacy.blank("en")
    for text, found in ((TEXT, spans), ("No names here.", [])):
        document = nlp(text)
        made = [document.char_span(start, end, label=label) for start, end, label in found]
        if group is None:
            document.ents = made
        elif made:
            document.spans[group] = made
        binary.add(document)
    binary.to_disk(path)
    return path


def test_entities(tmp_path):
    gold, pred = write(tmp_path / "gold.spacy", GOLD), write(tmp_path / "pred.spacy", PRED)
    found = karat.evaluate(gold, pred, metrics=["precision", "muc_f1(reading=exact)"])
    assert found["precision"].value == 1 / 3
    assert found["muc_f1(reading=exact)"].value == 2 / 3
    rows = found.systems[0].detail("error-list").rows
    assert [(row[1], row[-1]) for row in rows] == [("boundary", "Ada Lovelace"), ("label", "London")]


def test_span_groups_may_overlap(tmp_path):
    path = write(tmp_path / "gold.spacy", [*GOLD, (0, 3, "GIVEN")], "sc")
    found = karat.evaluate(path, path, columns={"value": "sc"}, metrics=["f1"], allow_same=True)
    assert found["f1"].value == 1
    assert found.systems[0].counts["gold"] == 2
    assert len(found.systems[0].detail("error-list").rows) == 0


def test_a_group_that_is_not_there(tmp_path):
    path = write(tmp_path / "gold.spacy", GOLD, "sc")
    with pytest.raises(karat.InputError, match="no document has a span group 'ruler'; there are: sc"):
        karat.evaluate(path, path, columns={"value": "ruler"}, allow_same=True)


@pytest.mark.parametrize("content", [b"junk", b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_other_bytes(content, tmp_path):
    path = tmp_path / "gold.spacy"
    path.write_bytes(content)
    with pytest.raises(karat.InputError, match="no DocBin") as error:
        karat.evaluate(path, path, allow_same=True)
    assert {f.code for f in error.value.findings} == {"file-unreadable"}

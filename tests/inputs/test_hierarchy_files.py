"""Hierarchies as files: nested JSON, or rows of child and parent."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat
from karat.findings import InputError
from karat.hierarchy import Hierarchy
from karat.plan import read_hierarchy


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tree.tsv", "A\tletters, big\nB\tletters, big\n"),
        ("tree.csv", '"A","letters, big"\n"B","letters, big"\n'),
        ("tree.csv", '\ufeff"A","letters, big"\r\n"B","letters, big"\r\n\r\n'),
        ("tree.json", '{"letters, big": ["A", "B"]}'),
    ],
)
def test_parents_with_a_comma(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert read_hierarchy(path).parent == {"A": "letters, big", "B": "letters, big", "letters, big": None}


@pytest.mark.parametrize(
    ("text", "said"),
    [('{"A": ["B"], "A": ["C"]}', "'A' is there twice"), ("\n", "nothing in it"), ('{"A": ', "Expecting value")],
)
def test_what_cannot_be_read(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "tree"
    path.write_text(text)
    with pytest.raises(karat.InputError, match=said):
        read_hierarchy(path)


def test_a_long_chain_is_looked_through_once():
    """Looking along the way up at every step would take an hour for a file of two megabytes."""
    chain = [(f"n{k}", f"n{k + 1}") for k in range(100_000)]
    assert len(Hierarchy.of(chain).nodes) == 100_001
    with pytest.raises(InputError) as error:
        Hierarchy.of([*chain, ("n100000", "n99998")])
    assert [f.message for f in error.value.findings if f.code == "hierarchy-cycle"] == [
        "the classes n99998, n99999, n100000 form a cycle"
    ]

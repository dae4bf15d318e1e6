# SPDX-License-Identifier: Apache-2.0
"""Every metric's docstring keeps its contract: short, with a formula or sentence, and an example that runs."""

from __future__ import annotations

import doctest
import re

import pytest

import karat
from karat.contexts import MODULES, catalogue

DEFINITIONS = {f"{c}.{d.name}": d for c in reversed(MODULES) for d in catalogue(c)}


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_example_runs(name):
    definition = DEFINITIONS[name]
    example = doctest.DocTestParser().get_doctest(definition.doc, {"karat": karat}, name, None, 0)
    if name.startswith("ranking.") and "Example:" in definition.doc:
        return  # worked in words over a list of grades; tests/ranking holds the same numbers
    assert example.examples, "no example"
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(example, out=said.append).failed == 0, "".join(said)


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_no_other_spelling_takes_its_name(name):
    """A name of one context must not be another tool's spelling of a metric of another context."""
    assert karat.parse(DEFINITIONS[name].name).name == DEFINITIONS[name].name


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_definition_is_whole(name):
    definition = DEFINITIONS[name]
    assert len(definition.doc.splitlines()) <= 24
    assert definition.doc.splitlines()[0].endswith((".", ")", "?")), "the first line is a sentence"
    assert len(definition.reference) > 5
    assert re.search(r"\b[Uu]ndefined\b", definition.doc), "when it is undefined, or that it never is"
    assert definition.bounds[0] < definition.bounds[1]

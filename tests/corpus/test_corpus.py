"""What comes out of many small evaluations; `python -m tests.corpus` writes it anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.corpus.cases import cases, expected, outcome, rounded
from tests.corpus.data import CONTEXTS

CASES = {context: cases(context) for context in CONTEXTS}
EXPECTED = {context: expected(context) for context in CONTEXTS}


@pytest.mark.parametrize(("context", "name"), [(context, name) for context in CASES for name in CASES[context]])
def test_outcome(context: str, name: str, tmp_path: Path) -> None:
    found, kept = rounded(outcome(CASES[context][name], tmp_path)), EXPECTED[context][name]
    assert list(found) == list(kept)
    for part in found:
        assert differences(found[part], kept[part]) == []


def differences(found: Any, kept: Any, place: str = "") -> list[str]:
    """Where two outcomes differ by more than rounding does."""
    if isinstance(found, dict) and isinstance(kept, dict) and list(found) == list(kept):
        return [line for key in found for line in differences(found[key], kept[key], f"{place}/{key}")]
    if isinstance(found, list) and isinstance(kept, list) and len(found) == len(kept):
        return [line for n, pair in enumerate(zip(found, kept, strict=True)) for line in differences(*pair, f"{place}/{n}")]  # fmt: skip
    if isinstance(found, (int, float)) and isinstance(kept, (int, float)):
        return (
            [] if found == pytest.approx(kept, rel=1e-9, abs=1e-11, nan_ok=True) else [f"{place}: {found}, not {kept}"]
        )
    return [] if found == kept else [f"{place}: {found}, not {kept}"]


@pytest.mark.parametrize("context", CONTEXTS)
def test_nothing_is_left_over(context: str) -> None:
    assert list(EXPECTED[context]) == list(CASES[context])


def test_differences_are_told() -> None:
    assert differences({"a": [1.0, "x"]}, {"a": [1.0 + 1e-13, "x"]}) == []
    assert differences({"a": [1.0, "x"]}, {"a": [1.1, "y"]}) == ["/a/0: 1.0, not 1.1", "/a/1: x, not y"]
    assert differences([1], [1, 2]) == [": [1], not [1, 2]"]

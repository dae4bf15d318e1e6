"""Limits that say how much is done at once, or from what size on another way is quicker, change no outcome."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.cases import outcome, rounded
from tests.corpus.test_corpus import CASES, EXPECTED, differences

LIMITS: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {
    "contexts.splitting.metrics_thresholds:_BLOCK": ((1, 30), ("splitting",)),
    "contexts.ranking.rows:BLOCK": ((1, 7, 20), ("ranking",)),
    "contexts.ranking.metrics_browsing:_BLOCK": ((1, 3), ("ranking",)),
    "contexts.clustering.chance:PAIRS": ((0, 1, 4), ("clustering",)),
    "contexts.clustering.chance:BLOCK": ((1, 2, 5), ("clustering",)),
    "contexts.soft.information:DENSE": ((0, 1000), ("soft",)),
    "contexts.soft.information:RUN": ((0, 1, 1000), ("soft",)),
    "contexts.soft.aligned:BLOCK": ((1, 3), ("soft",)),
    "contexts.multilabel.context:MOST_BITS": ((0,), ("multilabel",)),
    "contexts.probabilities.context:MOST_GROUPS": ((0, 1, 5), ("probabilities",)),
    "contexts.curve:MOST_WRITTEN": ((1, 20), ("probabilities", "splitting")),
    "contexts.curve:LONG": ((0, 5), ("probabilities",)),
    "contexts.curve:PIECE": ((1, 2, 3), ("probabilities",)),
    "contexts.spans.matching:STEPS": ((0, 1), ("spans",)),
    "align:PACKED": ((1, 16), ("multilabel", "soft", "clustering", "probabilities")),
    "align:LARGEST_KEY": ((1, 1 << 12), ("monolabel", "multilabel", "numbers", "soft")),
    "columns:DENSE": ((0, 1000), ("clustering", "multilabel", "numbers", "ranking", "soft", "splitting")),
    "columns:BLOCK": ((1, 5), ("ranking",)),
    "columns:FIRST": ((1,), ("ranking",)),
    "columns:HEAD": ((1,), ("soft", "numbers", "probabilities")),
    "columns:PARTS": (((),), ("soft", "numbers", "probabilities")),
    "side:BLOCK": ((1, 4), ("ranking", "soft", "multilabel")),
}
"""Limits by module and name, values that reach their borders in small inputs, and the contexts that meet them."""


@pytest.mark.parametrize(
    ("limit", "value", "context"),
    [(limit, value, context) for limit, (some, contexts) in LIMITS.items() for value in some for context in contexts],
)
def test_limits_change_nothing(limit: str, value: Any, context: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    module, name = limit.split(":")
    monkeypatch.setattr(import_module(f"karat.{module}"), name, value)
    wanted = [case for case in CASES[context] if "scores" in EXPECTED[context][case]]
    plain = [case for case in wanted if "," not in case and "(" not in case][:5]
    more = [case for case in wanted if case.endswith((", weighted", ", intervals", ", units"))][:2]
    for case in plain + more:
        assert differences(rounded(outcome(CASES[context][case], tmp_path)), EXPECTED[context][case], case) == []

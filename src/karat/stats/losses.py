# SPDX-License-Identifier: Apache-2.0
"""Non-inferiority over a whole comparison: p-values corrected together, and verdicts that say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat.comparison import Pair
from karat.stats.corrections import correct
from karat.stats.settings import JOINT, ComparisonSettings
from karat.stats.wording import loss_words


def with_losses(pairs: Sequence[Pair], settings: ComparisonSettings) -> list[Pair]:
    """The pairs with corrected tests of non-inferiority, where these were asked for."""
    if "non-inferiority" not in settings.tests or settings.margin is None:
        return list(pairs)
    raw = np.array([np.nan if p.non_inferiority is None else p.non_inferiority.p for p in pairs])
    rule = "holm" if settings.correction in JOINT else settings.correction
    margin = settings.margin
    out = []
    for pair, p in zip(pairs, correct(raw, rule).tolist(), strict=True):
        corrected = pair.non_inferiority and replace(pair.non_inferiority, p=p)
        tested = replace(pair, non_inferiority=corrected)
        out.append(replace(tested, sentence=pair.sentence + loss_words(tested, margin, settings.alpha)))
    return out

# SPDX-License-Identifier: Apache-2.0
"""Scores of weighted labels from karat's soft context."""

from __future__ import annotations

from functools import partial
from typing import Any

from karat.contexts.soft.metrics import cross_entropy, mae
from karat.contexts.soft.metrics_contrast import icm_soft, icm_soft_norm
from karat.doors.pyevall.scores.counted import scorer
from karat.doors.pyevall.scores.labels import tree
from karat.doors.pyevall.scores.setting import Setting


def options(setting: Setting) -> dict[str, Any]:
    return {"hierarchy": tree(setting.hierarchy)}


soft = partial(scorer, "soft", "soft", options)
CONTRAST = {name: name for name in ("alpha_1", "alpha_2", "beta")}

SCORES = {
    "ICMSoft": soft(icm_soft, **CONTRAST),
    "ICMSoftNorm": soft(icm_soft_norm, **CONTRAST),
    "CrossEntropy": soft(cross_entropy),
    "MAE": soft(mae, variant="pyevall"),
}

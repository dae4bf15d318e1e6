# SPDX-License-Identifier: Apache-2.0
"""The scores: karat's metrics on karat's cells, and PyEvALL's own arithmetic where strict and different."""

from karat.doors.pyevall.scores.scorer import score
from karat.doors.pyevall.scores.setting import Scores, Setting

__all__ = ["Scores", "Setting", "score"]

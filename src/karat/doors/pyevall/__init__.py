# SPDX-License-Identifier: Apache-2.0
"""PyEvALL's interface on karat's engine: change the import, keep the script.

    from karat.doors.pyevall import MetricFactory, PyEvALLEvaluation, PyEvALLUtils

By default the scores that PyEvALL 0.2.11 gets wrong are right, and ``report.findings`` says which and why;
``PyEvALLEvaluation(strict=True)`` gives PyEvALL's numbers and statuses, bugs included.
"""

from karat.doors.pyevall.codes import PyEvALLReport
from karat.doors.pyevall.evaluation import PyEvALLEvaluation
from karat.doors.pyevall.names import MetricFactory, PyEvALLUtils

__all__ = ["MetricFactory", "PyEvALLEvaluation", "PyEvALLReport", "PyEvALLUtils"]

# SPDX-License-Identifier: Apache-2.0
"""An earlier address of `karat.doors.konfuzio`."""

from karat.doors.konfuzio import *  # noqa: F403

# SPDX-License-Identifier: Apache-2.0
"""Readers over bytes that exist for speed alone: each may be deleted without changing a number or a message.

A fast reader takes what is regular and gives None for anything else, faults among it: the plain reader then reads
the whole input and says what is wrong. ``KARAT_PLAIN=1`` in the environment turns all of them off.
"""

import os

ON = not os.environ.get("KARAT_PLAIN")
"""Whether fast readers are tried."""

# SPDX-License-Identifier: Apache-2.0
"""What a server allows: sizes, times and rates, all of them options of ``karat serve``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds on what visitors may send and workers may use."""

    upload: int = 64 << 20
    """Bytes of one request."""
    unpacked: int = 512 << 20
    """Bytes of one file once it is unpacked."""
    rows: int = 5_000_000
    """Lines of one file."""
    seconds: float = 600
    """Time of one job."""
    memory: int = 4 << 30
    """Address space of a worker."""
    patience: float = 30
    """Seconds that a request may say nothing while it is read."""
    attempts: int = 5
    """Workers that may die over a job before it is given up."""
    waiting: int = 200
    """Jobs of one person in the queue."""
    reads: int = 1200
    """Requests a minute of one address."""
    writes: int = 120
    """Uploads and changes a minute of one token or address."""
    logins: int = 10
    """Attempts to sign in a minute of one address."""

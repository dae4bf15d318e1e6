# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as RFC 9457 says it to programs and a page says it to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from karat.findings import Finding


class Problem(Exception):
    """A request that cannot be met, and the way out."""

    def __init__(
        self, status: int, code: str, title: str, detail: str = "", findings: Sequence[Finding] = (), **headers: str
    ) -> None:
        super().__init__(title)
        self.status, self.code, self.title, self.detail = status, code, title, detail
        self.findings, self.headers = list(findings), {k.replace("_", "-"): v for k, v in headers.items()}

    def document(self) -> dict[str, Any]:
        """The problem as a JSON object."""
        fields = {"type": f"urn:karat:problem:{self.code}", "title": self.title, "status": self.status}
        return (
            fields
            | ({"detail": self.detail} if self.detail else {})
            | ({"findings": [msgspec.structs.asdict(f) for f in self.findings]} if self.findings else {})
        )


def missing(what: str = "page") -> Problem:
    """Nothing here, or nothing that this visitor may know of: both are said alike."""
    return Problem(404, "not-found", f"There is no such {what}", "See that the address is right and that you are signed in.")  # fmt: skip


def refused(detail: str) -> Problem:
    return Problem(403, "refused", "This is not for you to do", detail)


def invalid(detail: str, findings: Sequence[Finding] = ()) -> Problem:
    return Problem(422, "invalid", "This cannot be taken as it is", detail, findings)

# SPDX-License-Identifier: Apache-2.0
"""What the report says about the two files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from karat.doors.pyevall import codes

STOP, CONTINUE = "STOP", "CONTINUE"


@dataclass
class Entry:
    """One file: its status and what was found in it."""

    name: str
    gold: bool
    status: str = "OK"
    errors: dict[str, dict[str, Any]] = field(default_factory=dict)


class Journal:
    """Both files' entries, under the keys that the report uses."""

    def __init__(self, pred: str, gold: str, strict: bool) -> None:
        gold_key = f"{gold}_duplicate_0" if pred == gold else gold
        self.entries = {pred: Entry(pred, False), gold_key: Entry(gold, True)}
        self.stopped = False
        # PyEvALL files gold's errors by the file's name, so under the prediction when both have the same name.
        self._of = {False: pred, True: gold if strict else gold_key}

    def note(self, gold: bool, code: str) -> None:
        """A format that was recognised; PyEvALL sets the status even where the file failed before."""
        entry = self._entry(gold)
        entry.errors.setdefault(code, {"status": CONTINUE})
        entry.status = "WARNING"

    def fail(self, gold: bool, code: str, exception: str | None = None) -> None:
        """The file cannot be used: nothing is evaluated."""
        self._entry(gold).errors.setdefault(code, {"exception": exception, "status": STOP})
        self._entry(gold).status = "FAIL"
        self.stopped = True

    def row(self, gold: bool, code: str, line: int) -> None:
        """A record with a fault; in gold all but an empty value stop the evaluation."""
        entry, warning = self._entry(gold), code == codes.EMPTY_VALUE
        stop = gold and not warning
        fault = entry.errors.setdefault(code, {"lines": [], "exception": None, "status": STOP if stop else CONTINUE})
        fault["lines"].append(line)
        entry.status = "FAIL" if entry.status == "FAIL" or not warning else "WARNING"
        self.stopped |= stop

    def test_case(self, gold: bool, code: str, name: str) -> None:
        """A test case that was left out; its status says STOP though the others go on."""
        fault = self._entry(gold).errors.setdefault(code, {"exception": None, "test_cases": [], "status": STOP})
        fault["test_cases"].append(name)
        self._entry(gold).status = "FAIL"

    def _entry(self, gold: bool) -> Entry:
        return self.entries[self._of[gold]]

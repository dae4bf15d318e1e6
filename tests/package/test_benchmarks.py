# SPDX-License-Identifier: Apache-2.0
"""What a run of the benchmarks says at its end."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.__main__ import keep, report
from benchmarks.case import Case, Data, Side


def case(target: float | None, *sides: dict[str, Any]) -> dict[str, Any]:
    return {"note": "", "target": target, "sides": list(sides)}


KARAT, PEER = {"side": "karat", "cpu": 2.0}, {"side": "peer", "cpu": 6.0}


def test_a_promise_that_is_missed_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    report({"a/kept": case(3, KARAT, PEER), "a/free": case(None, KARAT, PEER), "a/missed": case(3.5, KARAT, PEER)})
    assert capsys.readouterr().out == "promised and not reached: a/missed: peer 3.00× of 3.5×\n"


def test_a_side_that_failed_fails_the_run() -> None:
    with pytest.raises(SystemExit, match="a/b: peer: not installed"):
        report({"a/b": case(3, KARAT, {"side": "peer", "error": "not installed"})})


def test_a_peer_that_is_not_here_leaves_the_row_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    measured = Case("case", Data("none", lambda folder: None), Side("karat", lambda loaded: None))
    assert keep("a/case", measured, [KARAT, {"side": "peer", "absent": "it is not on the path"}]) is None
    assert capsys.readouterr().out == "not measured, kept as it was: a/case: peer: it is not on the path\n"

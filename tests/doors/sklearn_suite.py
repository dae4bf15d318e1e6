# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: scikit-learn's own tests, with the door's functions in the place of scikit-learn's."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sklearn.metrics

from karat.doors import sklearn as door

calls = 0
outcomes: dict[str, str] = {}
"""The tests that called a function of the door, and how they ended."""


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, and a note that it was called; its signature stays, which the tests read."""

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        global calls
        calls += 1
        return function(*args, **named)

    return call


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", help="where to write how the tests ended, as JSON")


def pytest_configure() -> None:
    """Before the tests import the names; scikit-learn's own modules have theirs already and keep them."""
    for name in door.__all__:
        setattr(sklearn.metrics, name, counted(getattr(door, name)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    global calls
    report: Any = yield
    if call.when == "setup":
        calls = 0
    elif call.when == "call" and (calls or report.failed):
        outcomes[item.name] = report.longreprtext if report.failed else report.outcome
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    Path(session.config.getoption("outcomes")).write_text(json.dumps(outcomes))

"""What tests of rankings share."""

import pytest

from karat.read import fast


@pytest.fixture(params=[True, False], ids=["fast", "plain"])
def readers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to read: numbers and messages are the same."""
    monkeypatch.setattr(fast, "ON", request.param)

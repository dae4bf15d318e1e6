# SPDX-License-Identifier: Apache-2.0
"""Pages about much: 100,000 units, 200 runs, 50 systems. Weights are asserted here, times by benchmarks/serving.py."""

from __future__ import annotations

import pytest
from benchmarks.serving import fill, places

from karat.store import open_store
from tests.web.site import Visitor, running, until


@pytest.mark.slow
def test_pages_about_much_stay_light(tmp_path):
    store = open_store(tmp_path / "store.db")
    ids = fill(store)
    store.close()
    with running(tmp_path / "store.db") as site:
        who = Visitor(site)
        for name, path in (places(ids) | {"comparison": f"/compare?run={ids['many']}&metric=accuracy"}).items():
            answer = until(lambda path=path: (a := who.page(path)) and "<title>Comparing" not in a.text and a, name)
            assert answer.status == 200, (name, answer.text[:300])
            assert len(answer.body) <= 300_000, (name, len(answer.body))

# SPDX-License-Identifier: Apache-2.0
"""Every recorded answer of PyEvALL 0.2.11, bugs included, comes out of the strict door."""

import gzip
import json
from pathlib import Path

import pytest

from tests.doors.pyevall_case import answer, differences

with gzip.open(Path(__file__).parent.parent / "data" / "pyevall.jsonl.gz", "rt", encoding="utf-8") as lines:
    RECORDS = [json.loads(line) for line in lines]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["name"])
def test_strict_report_is_pyevalls(record):
    ours = answer(record)
    if "exception" in record["report"]:
        assert ours == record["report"]
    assert list(differences(record["report"], ours)) == []

# SPDX-License-Identifier: Apache-2.0
"""The shape that every record must have."""

from __future__ import annotations

import re
from typing import Any

from karat.doors.pyevall.source import FIELDS


def violation(records: Any) -> str | None:
    """What is wrong with the first record that does not fit, with its number; nothing when all fit."""
    if not isinstance(records, list):
        return f"the file holds {kind(records)}, not an array of records"
    for number, record in enumerate(records, 1):
        if problem := fault(record):
            return f"record {number}: {problem}"
    return None


def fault(record: Any) -> str | None:
    if not isinstance(record, dict):
        return f"{kind(record)} stands where a record should"
    if missing := [name for name in FIELDS if name not in record]:
        return f"no {' or '.join(missing)}"
    if extra := [name for name in record if name not in FIELDS]:
        return f"unknown field {extra[0]!r}"
    if wrong := [name for name in FIELDS[:2] if not isinstance(record[name], str)]:
        return f"{wrong[0]} is {kind(record[wrong[0]])}, not text"
    return None if value_fits(record["value"]) else f"value is {kind(record['value'])} that fits no context"


def value_fits(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(member, str) for member in value)
    if isinstance(value, dict):
        # PyEvALL's schema checks keys by a pattern that does not match one with a line end inside.
        return all(number(weight) for key, weight in value.items() if re.search("^.*$", key))
    return isinstance(value, str) or (number(value) and value == value // 1)


def number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def kind(value: Any) -> str:
    names = {
        type(None): "null",
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "text",
        list: "an array",
        dict: "an object",
    }
    return names[type(value)]

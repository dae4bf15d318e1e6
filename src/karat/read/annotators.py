# SPDX-License-Identifier: Apache-2.0
"""What annotation tools wrap around a document and its spans: LUIS test examples, Prodigy's answers, Label Studio's tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Record = Mapping[str, Any]


def is_wrapped(record: Record) -> bool:
    """Is the document inside something that a tool has put around it?"""
    return "LabeledData" in record or "_task_hash" in record or is_task(record)


def unwrapped(record: Record, role: str, tasks: str) -> Record | None:
    """The document inside a wrapped record; None where the annotator left it out. `tasks` is what a task's spans are under."""
    if "LabeledData" in record:
        side = record["LabeledData" if role == "gold" else "PredictedData"]
        return {"text": record.get("Text"), **(side if isinstance(side, Mapping) else {})}
    return _task(record, tasks) if is_task(record) else _prodigy(record)


def is_task(record: Any) -> bool:
    """Is this a task of Label Studio?"""
    return isinstance(record, Mapping) and "data" in record and ("annotations" in record or "predictions" in record)


TASKS = {"gold": "annotations", "pred": "predictions"}
"""What of a task is meant on which side."""


def task_lists(records: Iterable[Any], role: str) -> str:
    """Gold has the annotations, a system the predictions, if any task of the file has them."""
    wanted, other = ("predictions", "annotations") if role == "pred" else ("annotations", "predictions")
    return wanted if any(list(_given(r, wanted)) for r in records if is_task(r)) else other


def _given(task: Record, name: str) -> Iterator[Record]:
    """A task's annotations or predictions, without what was cancelled."""
    entries = task.get(name)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and not entry.get("was_cancelled"):
            yield entry


def _task(task: Record, name: str) -> Record | None:
    """The first annotation of a task; without any it was skipped. A task without a prediction has no spans."""
    first = next(_given(task, name), None)
    if first is None and name == "annotations":
        return None
    results = (first or {}).get("result")
    spans = [_region(result) for result in results if _is_region(result)] if isinstance(results, list) else []
    data = task["data"] if isinstance(task["data"], Mapping) else {}
    text = next((value for value in data.values() if isinstance(value, str)), None)
    if any("globalOffsets" in span for span in spans):
        text = None  # what is there is HTML, in which the offsets do not count
    return {"text": text, "spans": spans} | ({"id": task["id"]} if "id" in task else {})


def _is_region(result: Any) -> bool:
    """Is this a labelled place? Choices, ratings, relations and texts about a region are not."""
    value = result.get("value") if isinstance(result, Mapping) else None
    return isinstance(value, Mapping) and "start" in value and any(key.endswith("labels") for key in value)


def _region(result: Record) -> Record:
    """Places in HTML are paths; the offsets in the text stand beside them."""
    value = result["value"]
    labels = next(names for key, names in value.items() if key.endswith("labels"))
    return {**value, **(value.get("globalOffsets") or {}), "labels": labels}


def _prodigy(record: Record) -> Record | None:
    """An accepted example; Prodigy leaves `spans` out where nothing was marked."""
    if record.get("answer") in ("reject", "ignore"):
        return None
    return {**record, "spans": record.get("spans") or []}

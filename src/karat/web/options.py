# SPDX-License-Identifier: Apache-2.0
"""Options of a context as clients give them: a label tree is sent, and is never the name of a file of the server."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from karat.contexts.options import OPTIONS, Option
from karat.findings import Finding, InputError
from karat.hierarchy import Hierarchy
from karat.plan import read_hierarchy
from karat.web.problems import invalid

LARGEST_TREE = 4 << 20
"""Bytes of a label tree."""
DEEPEST_TREE = 200
"""Levels of a label tree that is sent as data."""


def fields(context: str) -> list[Option]:
    """The options that a form asks for as text."""
    return [o for o in OPTIONS.get(context, ()) if o.choices is not Hierarchy]


def has_tree(context: str) -> bool:
    return any(o.choices is Hierarchy for o in OPTIONS.get(context, ()))


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a request: whatever would be read as a path is refused."""
    if isinstance(given.get("hierarchy"), str):
        raise invalid("Send the label tree itself: nested JSON, or the file as the field 'hierarchy' of a form.")
    if _depth(given.get("hierarchy")) > DEEPEST_TREE:
        raise invalid(f"A label tree has at most {DEEPEST_TREE} levels.")
    return {k: v for k, v in given.items() if v is not None}


def _depth(value: Any) -> int:
    """How deep data is nested, looked at level by level."""
    depth, level = 0, [value]
    while level and depth <= DEEPEST_TREE:
        level = [x for v in level if isinstance(v, (dict, list)) for x in (v.values() if isinstance(v, dict) else v)]
        depth += 1
    return depth


def tree(name: str, source: IO[bytes]) -> dict[str, Any]:
    """A label tree that was sent as a file, as nested data."""
    text = source.read(LARGEST_TREE + 1)
    if len(text) > LARGEST_TREE:
        raise invalid(f"A label tree has at most {LARGEST_TREE:,} bytes.")
    with tempfile.NamedTemporaryFile(prefix="karat-") as file:
        file.write(text)
        file.flush()
        try:
            return read_hierarchy(Path(file.name)).to_dict()
        except InputError as error:
            raise InputError([_called(f, file.name, name) for f in error.findings]) from None
        except RecursionError:
            raise invalid("The label tree is nested too deeply.") from None


def _called(f: Finding, path: str, name: str) -> Finding:
    return Finding(f.code, f.severity, f.message.replace(path, name), f.hint.replace(path, name), name, f.line)  # fmt: skip


def shown(options: Mapping[str, Any]) -> dict[str, str]:
    """Options as a page says them."""
    return {k.replace("_", " "): f"tree of {_labels(v)} labels" if isinstance(v, (dict, list)) else str(v) for k, v in options.items()}  # fmt: skip


def _labels(tree: Any) -> int:
    try:
        return len(Hierarchy.of(tree).nodes)
    except InputError:
        return 0

# SPDX-License-Identifier: Apache-2.0
"""What a class gives its users: fields with their types and the words below them, properties and methods."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

HIDDEN = {"check_state", "kind", "renderer"}
"""For karat itself."""


class Member(NamedTuple):
    name: str
    """As it is written behind an object: a method with its parameters."""
    typed: str
    said: str


def members(cls: type, inherited: bool = True) -> list[Member]:
    """Fields in their order, then properties and methods by name; nothing of what Python's own classes have."""
    classes = [base for base in cls.__mro__ if base.__module__.startswith("karat")] if inherited else [cls]
    return [*_fields(classes), *_others(cls, classes)]


def _fields(classes: list[type]) -> Iterator[Member]:
    """Those that a dataclass or a struct declares, its bases' before its own."""
    for base in reversed(classes):
        words = _words(base)
        for name, kind in vars(base).get("__annotations__", {}).items():
            if not name.startswith("_") and name not in HIDDEN and "ClassVar" not in kind:
                yield Member(name, kind, words.get(name, ""))


def _words(cls: type) -> dict[str, str]:
    """The text that stands below each field in the source."""
    body = next(n for n in ast.parse(inspect.getsource(cls)).body if isinstance(n, ast.ClassDef)).body
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def _others(cls: type, classes: list[type]) -> Iterator[Member]:
    names = {name for base in classes for name in vars(base) if not name.startswith("_")}
    for name in sorted(names - HIDDEN):
        thing = inspect.getattr_static(cls, name)
        said = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
        if isinstance(thing, (property, cached_property)):
            function: Any = thing.fget if isinstance(thing, property) else thing.func
            yield Member(name, inspect.signature(function).return_annotation, said)
        elif isinstance(thing, (staticmethod, classmethod)) or inspect.isfunction(thing):
            signature = inspect.signature(getattr(thing, "__func__", thing))
            returned = signature.return_annotation
            yield Member(f"{name}({_parameters(signature)})", "" if returned == "None" else returned, said)


def _parameters(signature: inspect.Signature) -> str:
    shown = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name not in ("self", "cls")]
    return str(inspect.Signature(shown))[1:-1]


def alternatives(typed: str) -> str:
    """A type without bars, which would end a cell.

    >>> alternatives("dict[str, Any] | None"), alternatives("list[int | None]"), alternatives("")
    ('`dict[str, Any]` or `None`', '`list[int or None]`', '')
    """
    parts = re.split(r" \| (?![^\[]*\])", typed)
    return " or ".join(f"`{part.replace(' | ', ' or ')}`" for part in parts if part)

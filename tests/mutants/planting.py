# SPDX-License-Identifier: Apache-2.0
"""Exchange the code of functions while they run: for one with a fault, or for one that says that it was called."""

from __future__ import annotations

import ast
import builtins
import gc
import importlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

from tests.mutants.mutation import Mutant, functions


def plant(mutant: Mutant, root: Path) -> bool:
    """The fault in the running code; False where no such function is there."""
    importlib.import_module(_module(mutant.path))
    code = dict(_codes(mutant.code()))[mutant.function]
    alike = _running(root / mutant.path).get(mutant.function, [])
    for function in alike:
        function.__code__ = code
    return bool(alike)


def watch(parts: list[Path], root: Path) -> set[str]:
    """Functions that were called, as a set that fills itself: ``path:function``."""
    seen: set[str] = set()
    builtins.__dict__["__called__"] = seen.add
    for part in parts:
        for path in sorted(part.rglob("*.py")) if part.is_dir() else [part]:
            _watch(path.relative_to(root), root)
    return seen


def _watch(path: Path, root: Path) -> None:
    importlib.import_module(_module(path))
    tree = ast.parse(path.read_text("utf-8"))
    for function, name in functions(tree):
        call = ast.parse(f"__called__({f'{path.as_posix()}:{name}'!r})").body
        at = 1 if ast.get_docstring(function, clean=False) is not None else 0
        function.body[at:at] = [ast.copy_location(call[0], function)]
    codes = dict(_codes(compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)))
    for name, alike in _running(root / path).items():
        for function_object in alike:
            if name in codes and codes[name].co_freevars == function_object.__code__.co_freevars:
                function_object.__code__ = codes[name]


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__")


def _running(file: Path) -> dict[str, list[FunctionType]]:
    """Functions of a module by their names: more than one where a decorator made others of it."""
    out: dict[str, list[FunctionType]] = defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == str(file):
            out[thing.__code__.co_qualname].append(thing)
    return out


def _codes(module: CodeType) -> Iterator[tuple[str, CodeType]]:
    for constant in module.co_consts:
        if isinstance(constant, CodeType):
            yield constant.co_qualname, constant
            yield from _codes(constant)

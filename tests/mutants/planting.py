# SPDX-License-Identifier: Apache-2.0
"""Exchange the code of functions while they run: for one with a fault, or for one that says where it has been."""

from __future__ import annotations

import ast
import builtins
import gc
import importlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

from tests.mutants.mutation import Mutant, blocks, functions

Key = tuple[str, int]
"""Name and first line."""
Running = dict[str, dict[Key, list[FunctionType]]]
"""Functions by file, and by name and line there: more than one where a decorator made others of it."""


def plant(mutant: Mutant, running: Running) -> bool:
    """The fault in the running code, also in what the function has made; False where no such function is there."""
    planted = False
    for (name, line), code in _codes(mutant.code()).items():
        if name == mutant.function or name.startswith(f"{mutant.function}.<locals>."):
            planted |= _exchanged(running[str(mutant.path)].get((name, line), []), code)
    return planted


def _exchanged(alike: list[FunctionType], code: CodeType) -> bool:
    fitting = [function for function in alike if function.__code__.co_freevars == code.co_freevars]
    for function in fitting:
        function.__code__ = code
    return bool(fitting)


def watch(running: Running) -> set[str]:
    """Blocks of code that were entered, as a set that fills itself."""
    seen: set[str] = set()
    builtins.__dict__["__entered__"] = seen.add
    for file, named in running.items():
        for key, code in _watched(Path(file)).items():
            _exchanged(named.get(key, []), code)
    return seen


def _watched(path: Path) -> dict[Key, CodeType]:
    tree = ast.parse(path.read_text("utf-8"))
    for function, name in functions(tree):
        for nth, block in list(enumerate(blocks(function))):
            mark = ast.copy_location(ast.parse(f"__entered__({f'{path.as_posix()}:{name}:{nth}'!r})").body[0], block[0])
            at = 1 if nth == 0 and ast.get_docstring(function, clean=False) is not None else 0
            block.insert(at, mark)
    return _codes(compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True))


def running(files: list[Path], root: Path) -> Running:
    """All functions of some modules, which are imported."""
    for file in files:
        importlib.import_module(_module(file))
    out: Running = {str(file): defaultdict(list) for file in files}
    names = {str(root / file): str(file) for file in files}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename in names:
            out[names[thing.__code__.co_filename]][_key(thing.__code__)].append(thing)
    return out


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__")


def _key(code: CodeType) -> Key:
    return code.co_qualname, code.co_firstlineno


def _codes(module: CodeType) -> dict[Key, CodeType]:
    """Codes of a module; of those that cannot be told apart (two lambdas on a line) none."""
    every = list(_inner(module))
    count = Counter(map(_key, every))
    return {_key(code): code for code in every if count[_key(code)] == 1}


def _inner(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inner(constant)

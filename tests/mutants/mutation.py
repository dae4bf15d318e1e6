# SPDX-License-Identifier: Apache-2.0
"""Small faults that a function could have, each a change of one place of its syntax tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

COMPARED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMBINED: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
CALLED = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sum": "max",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Mutant:
    """A changed function of a module, and what was changed."""

    path: Path
    function: str
    line: int
    way: str
    before: str
    after: str
    nth: int
    """Which of the places where the same is changed in the same way."""
    place: int
    """Which node of the module's syntax tree it is."""
    block: int
    """Which of the function's blocks it stands in."""

    @property
    def name(self) -> str:
        """A name that lines added elsewhere do not change."""
        return f"{self.path.as_posix()}:{self.function}:{self.way}:{self.before} → {self.after}:{self.nth}"

    def code(self) -> CodeType:
        """The module with the fault."""
        tree = ast.parse(self.path.read_text("utf-8"))
        node = list(ast.walk(tree))[self.place]
        if (other := dict(_ways(node))[self.way](node)) is not None:
            tree = _Exchange(node, other).visit(tree)
        return compile(ast.fix_missing_locations(tree), str(self.path), "exec", dont_inherit=True)


def mutants(path: Path) -> Iterator[Mutant]:
    """Every fault of a module's functions, in the order of its lines."""
    tree = ast.parse(path.read_text("utf-8"))
    place = {node: n for n, node in enumerate(ast.walk(tree))}
    seen: dict[tuple[str, ...], int] = {}
    for function, name in functions(tree):
        inside = _inside(function)
        for way, node, change in _changes(function):
            alike = copy.deepcopy(node)
            key = (name, way, _shown(node), _shown(change(alike) or alike))
            seen[key] = seen.get(key, 0) + 1
            yield Mutant(
                path, *key[:1], getattr(node, "lineno", function.lineno), *key[1:], seen[key], place[node], inside[node]
            )


def functions(tree: ast.Module) -> Iterator[tuple[Function, str]]:
    """Functions of the module and methods of its classes; what is inside of them belongs to them."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node, node.name
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, Function):
                    yield inner, f"{node.name}.{inner.name}"


def blocks(function: Function) -> Iterator[list[ast.stmt]]:
    """What runs as a whole or not at all, if nothing is raised: the body, and the bodies of what stands in it."""
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if block and isinstance(block, list) and not isinstance(node, ast.ClassDef):
                yield block


def _inside(function: Function) -> dict[ast.AST, int]:
    """The innermost block of each node."""
    out: dict[ast.AST, int] = {}
    for nth, block in enumerate(blocks(function)):
        for statement in block:
            out.update(dict.fromkeys(ast.walk(statement), nth))
    return out


Change = Callable[[ast.AST], ast.AST | None]


def _changes(function: Function) -> Iterator[tuple[str, ast.AST, Change]]:
    """Places of a function's body and what could be wrong there (None: the node itself is changed)."""
    for statement in function.body:
        strict = {key.value for key in ast.walk(statement) if isinstance(key, ast.keyword) and key.arg == "strict"}
        for node in ast.walk(statement):
            if node in strict:
                continue  # zip is strict to stop a fault of ours, which no input brings about
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # a docstring
            yield from ((way, node, change) for way, change in _ways(node))


def _ways(node: ast.AST) -> Iterator[tuple[str, Change]]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        yield "compare", _set("ops", [COMPARED[type(node.ops[0])]()])
    if (
        isinstance(node, ast.BinOp)
        and type(node.op) in COMBINED
        and not _is_text(node.left)
        and not _is_text(node.right)
    ):
        yield "combine", _set("op", COMBINED[type(node.op)]())
    if isinstance(node, ast.BoolOp):
        yield "both", _set("op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield "sign", lambda old: old.operand  # type: ignore[attr-defined]
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield "number", _set("value", node.value + 1)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "truth", _set("value", not node.value)
    if isinstance(node, (ast.If, ast.IfExp)):
        yield "negate", _negated
    if isinstance(node, ast.Call):
        yield from _called(node)
    if isinstance(node, (ast.AugAssign, ast.Raise)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield "drop", lambda old: ast.copy_location(ast.Pass(), old)


def _called(node: ast.Call) -> Iterator[tuple[str, Change]]:
    if isinstance(node.func, ast.Name) and node.func.id in CALLED:
        yield "call", lambda old: _renamed(old, "id")
    elif isinstance(node.func, ast.Attribute) and node.func.attr in CALLED:
        yield "call", lambda old: _renamed(old, "attr")


def _renamed(node: ast.AST, field: str) -> None:
    function = node.func  # type: ignore[attr-defined]
    setattr(function, field, CALLED[getattr(function, field)])


def _set(field: str, value: object) -> Change:
    return lambda node: setattr(node, field, value)


def _negated(node: ast.AST) -> None:
    test = node.test  # type: ignore[attr-defined]
    node.test = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)  # type: ignore[attr-defined]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _shown(node: ast.AST) -> str:
    head = copy.copy(node)
    if isinstance(head, ast.If):
        return f"if {ast.unparse(head.test)}"
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(head))).split())


class _Exchange(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)

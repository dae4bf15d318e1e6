"""Below the command line nothing prints, and nothing opens the network."""

from __future__ import annotations

import ast
import socket
from pathlib import Path

import pytest

import karat

SOURCE = Path(karat.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
PRINTING = {"print", "pprint", "input", "breakpoint"}
SOCKETS = {"socket", "urllib.request", "http.client", "requests", "httpx", "aiohttp", "ftplib", "smtplib"}
NETWORK = {"web", "client.py"}
"""What is made to open the network: the server, and the client that speaks to it."""
SPEAKS = {"cli", "web", "doors"}
"""Packages that talk to people: the command line, the web application, and doors that mimic tools which print."""


def names_called(tree: ast.AST) -> set[str]:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {f.id for f in calls if isinstance(f, ast.Name)}


def modules_imported(tree: ast.AST) -> set[str]:
    plain = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    return plain | {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_printing_and_no_network(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    part = path.relative_to(SOURCE).parts[0]
    assert part in SPEAKS or not names_called(tree) & PRINTING
    assert part in NETWORK or not modules_imported(tree) & SOCKETS


def test_no_socket_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*args: object, **named: object) -> None:
        raise AssertionError("karat opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    path = tmp_path / "gold.json"
    path.write_text('[{"id": "1", "value": "A"}, {"id": "2", "value": "B"}]')
    assert karat.evaluate(str(path), str(path), allow_same=True)["accuracy"].value == 1.0


def test_engine_never_fetches_extensions() -> None:
    """DuckDB would otherwise look for an extension as soon as a path looks like a web address."""
    from karat.engines.duckdb import Engine

    with Engine() as engine:
        names = ("autoinstall_known_extensions", "autoload_known_extensions")
        values = [engine.connection.execute(f"SELECT current_setting('{name}')").fetchone()[0] for name in names]
    assert values == [False, False]


def test_nothing_on_stdout_or_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    karat.evaluate(["A", "B"], ["A", "Z"], metrics=["all"])
    assert capfd.readouterr() == ("", "")

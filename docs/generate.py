# SPDX-License-Identifier: Apache-2.0
"""Write what is made from the code (`make docs`): metrics.md, findings.md, commands.md, the doors' differences."""

from __future__ import annotations

import inspect
import re
from functools import partial
from importlib import import_module
from pathlib import Path

import click

from karat.cli.main import COMMANDS, karat
from karat.cli.metrics import parameters
from karat.contexts import MODULES, catalogue
from karat.doors.kit.differences import table
from karat.findings import KINDS
from karat.metric import ALIASES, Definition

HERE = Path(__file__).parent
NOTE = "<!-- made by docs/generate.py; do not edit -->"


def metrics() -> str:
    """Every metric, each once, with the contexts that have it."""
    found: dict[int, tuple[Definition, list[str]]] = {}
    for name in MODULES:
        for definition in catalogue(name):
            found.setdefault(id(definition), (definition, []))[1].append(name)
    parts = [f"# Metrics\n\n{NOTE}\n\n{len(found)} metrics. `karat metrics NAME` prints the same."]
    for definition, where in sorted(found.values(), key=lambda pair: (pair[1][0], pair[0].name)):
        parts.append(_metric(definition, where))
    rows = "\n".join(f"| `{pattern.replace('|', '` `')}` | `{name}` |" for pattern, name in ALIASES.items())
    parts.append(f"## Other tools' names\n\n| spelling | karat |\n|---|---|\n{rows}")
    return "\n\n".join(parts) + "\n"


def _metric(definition: Definition, where: list[str]) -> str:
    low, high = (f"{b:g}".replace("inf", "∞").replace("-", "−") for b in definition.bounds)
    said = "; ".join(f"`{name}` = {values}" for name, values in parameters(definition, where).items()) or "none"
    return "\n".join(
        [
            f"## {definition.title} (`{definition.name}`: {', '.join(where)})",
            "",
            f"{low} to {high}, better: {definition.better}. Parameters: {said}.",
            f"Reference: {definition.reference}.",
            "",
            "```",
            inspect.cleandoc(definition.doc),
            "```",
        ]
    )


def findings() -> str:
    """Every finding code with its texts."""
    rows = [
        f"| `{code}` | {kind.severity} | {_cell(_plural(kind.message))} | {_cell(kind.hint)} |"
        for code, kind in KINDS.items()
    ]
    head = f"# Findings\n\n{NOTE}\n\nWords in braces are filled in.\n\n| code | severity | message | way out |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _plural(message: str) -> str:
    """The message as it reads for more than one thing."""
    return re.sub(r"\{\w+:[^|}]*\|([^}]*)\}", r"\1", message)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("{{", "{").replace("}}", "}")


def commands() -> str:
    """Every command with its help."""
    parts = [f"# Commands\n\n{NOTE}"]
    for name in COMMANDS:
        command = import_module(f"karat.cli.{name.replace('-', '_')}").command
        parts += _help(command, f"karat {name}")
    return "\n\n".join(parts) + "\n"


def _help(command: click.Command, path: str) -> list[str]:
    # The settings of `karat` too: click keeps the help option of whoever asks first.
    settings = {**karat.context_settings, "terminal_width": 100, "max_content_width": 100}
    with click.Context(command, info_name=path, **settings) as ctx:
        out = [f"## {path}\n\n```\n{command.get_help(ctx)}\n```"]
    for name, inner in getattr(command, "commands", {}).items():
        out += _help(inner, f"{path} {name}")
    return out


def differences(page: str) -> str:
    """A page of a door with its tables of what is other here, made from the door's own lists."""

    def rows(found: re.Match[str]) -> str:
        module, name, tool = found[1], found[2], found[3]
        return f"<!-- differences: {module} {name} {tool} -->\n{table(getattr(import_module(module), name), tool)}\n<!-- end -->"

    text = (HERE / page).read_text(encoding="utf-8")
    return re.sub(r"<!-- differences: (\S+) (\S+) ([^>]+) -->\n.*?<!-- end -->", rows, text, flags=re.DOTALL)


PAGES = {
    "metrics.md": metrics, "findings.md": findings, "commands.md": commands,
    **{f"doors/{name}.md": partial(differences, f"doors/{name}.md") for name in ("file-splitting", "luis", "poetry-spans", "pyevall")},
}  # fmt: skip


if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")

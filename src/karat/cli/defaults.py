# SPDX-License-Identifier: Apache-2.0
"""Defaults of a project: options of the commands in karat.toml, or under [tool.karat] in pyproject.toml.

Keys at the top hold for every command that has the option, a table for one command, as ``[evaluate]`` or ``[runs.list]``.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

FILES = ("karat.toml", "pyproject.toml")


def of_command(root: click.Group, context: click.Context, name: str) -> dict[str, Any]:
    """What the project's file says of a command, by parameter."""
    project = _project(Path.cwd())
    command = root.get_command(context, name)
    if project is None or command is None:
        return {}
    options, tables = project.parts(project.settings, root, context)
    return project.defaults(f"karat {name}", command, context, options, tables.get(name, {}))


@dataclass(frozen=True)
class Project:
    """A file with settings, and what it says."""

    path: Path
    settings: dict[str, Any]

    def defaults(
        self, title: str, command: click.Command, context: click.Context, common: dict[str, Any], table: dict[str, Any]
    ) -> dict[str, Any]:
        """Values by parameter; for a group of commands such values for each of them."""
        if isinstance(command, click.Group):
            options, tables = self.parts(table, command, context)
            return {
                name: self.defaults(f"{title} {name}", part, context, common | options, tables.get(name, {}))
                for name, part in command.commands.items()
            }
        params = _options(command)
        for key in table:
            if key not in params:
                raise self.wrong(f"`{title}` has no option {key!r}{_near(key, params)}")
        wanted = {key: value for key, value in common.items() if key in params} | table
        values = {str(params[key].name): self.value(key, value, params[key], context) for key, value in wanted.items()}
        return {name: value for name, value in values.items() if value is not None}

    def parts(
        self, settings: dict[str, Any], group: click.Group, context: click.Context
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The options for all commands of a group, and the tables of its commands; what is neither is an error."""
        tables = {key: value for key, value in settings.items() if isinstance(value, dict)}
        options = {key: value for key, value in settings.items() if key not in tables}
        names = group.list_commands(context)
        for key in tables:
            if key not in names:
                raise self.wrong(f"there is no command {key!r}{_near(key, names)}")
        for key in options:
            # Commands are looked at one by one: loading all of them costs more than most runs do.
            if not any(key in _options(group.get_command(context, name)) for name in names):
                if key in names:
                    raise self.wrong(f"write [{key}] as a table")
                every = {option for name in names for option in _options(group.get_command(context, name))}
                raise self.wrong(f"no command has an option {key!r}{_near(key, every)}")
        return options, tables

    def value(self, key: str, value: Any, param: click.Option, context: click.Context) -> Any:
        """As it would be typed, so that 0.5 is not taken for 0 nor true for 1; None where false asks for no value."""
        if isinstance(value, bool) and not param.is_flag and isinstance(param.flag_value, (float, int, str)):
            return param.flag_value if value else None
        listed = param.multiple or param.nargs != 1
        if isinstance(value, list) and not listed:
            raise self.wrong(f"{key} takes one value, not a list")
        texts = [self.placed(str(text), param) for text in (value if isinstance(value, list) else [value])]
        try:
            param.type_cast_value(context, texts if listed else texts[0])
        except click.BadParameter as error:
            raise self.wrong(f"{key}: {error.message}") from None
        return texts if listed else texts[0]

    def placed(self, text: str, param: click.Option) -> str:
        """A path that is relative is meant from the file, wherever the command is called."""
        if not isinstance(param.type, click.Path) and not (param.name == "store" and "://" not in text):
            return text
        folder = os.path.relpath(self.path.parent)
        return text if folder == "." else os.path.join(folder, text)

    def wrong(self, text: str) -> click.UsageError:
        return click.UsageError(f"{self.path.name}: {text}")


def _options(command: click.Command | None) -> dict[str, click.Option]:
    """Options by their long names; those of a group are those of its commands."""
    if isinstance(command, click.Group):
        return {key: option for part in command.commands.values() for key, option in _options(part).items()}
    params = command.params if command else []
    return {
        flag.removeprefix("--"): param
        for param in params
        if isinstance(param, click.Option)
        for flag in param.opts
        if flag.startswith("--")
    }


def _near(key: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, list(names), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _project(folder: Path) -> Project | None:
    """The nearest file at or above the folder that has settings; the folder of a repository is the last that is looked in."""
    for place in (folder, *folder.parents):
        for name in FILES:
            if (place / name).is_file() and (project := _read(place / name)) is not None:
                return project
        if (place / ".git").exists():
            return None
    return None


def _read(path: Path) -> Project | None:
    import tomllib  # most folders have no such file

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        if path.name == "pyproject.toml":  # whatever is wrong with it is not ours to say
            return None
        raise click.UsageError(f"{path.name} cannot be read: {error}") from None
    if path.name == "karat.toml":
        return Project(path, content)
    tools = content.get("tool")
    if not isinstance(tools, dict) or "karat" not in tools:
        return None
    if not isinstance(tools["karat"], dict):
        raise click.UsageError(f"{path.name}: write [tool.karat] as a table")
    return Project(path, tools["karat"])
